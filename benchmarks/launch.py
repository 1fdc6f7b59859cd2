"""Launches a second and latency of the agent alone: trivial jobs, with all that walls them off.

    sudo python benchmarks/launch.py [--jobs 600] [--at-once 48] [--user NAME]

A real agent with simulated GPUs is started on a state of its own; the peer is plain `fork` and
`exec` of the same command by a Python process as the same user, without any of it: what the walls
cost is the ratio.
"""

from __future__ import annotations

import argparse
import os
import pwd
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

from roost.wire.frames import answers, encode
from roost.wire.messages import (
    AgentMessage,
    AttemptChanged,
    ForgetJob,
    GpuGrant,
    Hello,
    Launch,
    LaunchSpec,
    Observed,
    Refused,
)


class Talk:
    """The server's side of the wire, as thin as can be."""

    def __init__(self, path: Path) -> None:
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.connect(os.fspath(path))
        self._reader = answers()
        self._socket.settimeout(30)
        self.send(Hello(version=1, server_id="benchmark"))

    def send(self, message: object) -> None:
        self._socket.sendall(encode(message))  # type: ignore[arg-type]

    def hear(self) -> list[AgentMessage]:
        """Raises TimeoutError after half a minute of silence, RuntimeError for a refusal."""
        messages = self._reader.feed(self._socket.recv(1 << 20))
        for message in messages:
            if isinstance(message, Refused):
                raise RuntimeError(message.text)
        return messages


def spec(job: int, user: str, uuid: str, argv: tuple[bytes, ...], out: bytes | None) -> LaunchSpec:
    return LaunchSpec(
        job=job, attempt=1, user=user, group="benchmark", priority_class="regular", argv=argv,
        directory=b"/", output=out, gpus=(GpuGrant(uuid),),
    )  # fmt: skip


def throughput(talk: Talk, user: str, uuid: str, jobs: int, at_once: int) -> float:
    """Jobs a second, each launched, ended and forgotten."""
    sent = done = 0
    began = time.perf_counter()
    while done < jobs:
        while sent < jobs and sent - done < at_once:
            talk.send(
                Launch(spec(1_000 + sent, user, uuid, (b"/bin/true",), None), request=sent + 1)
            )
            sent += 1
        for message in talk.hear():
            if isinstance(message, AttemptChanged) and message.attempt.end is not None:
                if message.attempt.end.exit_code != 0:
                    raise RuntimeError(message.attempt.end.text)
                talk.send(ForgetJob(message.attempt.job, 1))
                done += 1
    return jobs / (time.perf_counter() - began)


def latencies(talk: Talk, user: str, uuid: str, first: int, count: int) -> list[float]:
    """Milliseconds from sending Launch to the job's process being there, one job at a time."""
    found = []
    for number in range(count):
        time.sleep(0.05)  # an idle machine: a burst would be quicker
        job = first + number
        sent = time.time()
        talk.send(Launch(spec(job, user, uuid, (b"/bin/true",), None), request=1))
        ended = False
        while not ended:
            for message in talk.hear():
                if isinstance(message, AttemptChanged) and message.attempt.job == job:
                    started = message.attempt.started_at
                    ended = message.attempt.end is not None
                    if ended and started is not None:
                        found.append((started - sent) * 1000)
        talk.send(ForgetJob(job, 1))
    return found


def peer(entry: pwd.struct_passwd, jobs: int, at_once: int) -> float:
    """Plain children of this process, as the user, a second."""
    running: set[int] = set()
    sent = done = 0
    began = time.perf_counter()
    while done < jobs:
        while sent < jobs and len(running) < at_once:
            pid = os.fork()
            if pid == 0:
                os.setgid(entry.pw_gid)
                os.setuid(entry.pw_uid)
                os.execv("/bin/true", ["true"])
            running.add(pid)
            sent += 1
        pid, _ = os.wait()
        running.discard(pid)
        done += 1
    return jobs / (time.perf_counter() - began)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=600)
    parser.add_argument("--at-once", type=int, default=48)
    parser.add_argument("--user", default=None, help="made for the run when not given")
    given = parser.parse_args()
    user = given.user or "roost-bench"
    if given.user is None:
        subprocess.run(["useradd", "-M", "-s", "/bin/sh", user], check=True)
    folder = Path(tempfile.mkdtemp(prefix="roost-bench-"))
    folder.chmod(0o755)
    words = [sys.executable, "-m", "roost.agent", "--state", str(folder), "--simulate", "4xA100"]
    with (folder / "log").open("wb") as log:
        agent = subprocess.Popen(words, stderr=log, cwd="/")
    try:
        talk = None
        for _ in range(200):
            with suppress(FileNotFoundError, ConnectionRefusedError):
                talk = Talk(folder / "agent.sock")
                break
            time.sleep(0.05)
        if talk is None:
            raise RuntimeError((folder / "log").read_text())
        uuid = ""
        while not uuid:
            for message in talk.hear():
                if isinstance(message, Observed):
                    uuid = message.observation.gpus[0].uuid
        latencies(talk, user, uuid, 800_000, 3)
        times = sorted(latencies(talk, user, uuid, 900_000, 40))
        rate = throughput(talk, user, uuid, given.jobs, given.at_once)
        plain = peer(pwd.getpwnam(user), given.jobs, given.at_once)
        load = os.getloadavg()[0]
        print(f"launched and ended: {rate:.0f} jobs/s ({given.jobs} jobs, {given.at_once} at once)")
        print(f"plain fork and exec: {plain:.0f}/s; ratio {rate / plain:.2f}")
        print(
            f"Launch to execution, one at a time: p50 {statistics.median(times):.1f} ms,"
            f" p90 {times[int(len(times) * 0.9)]:.1f} ms, worst {times[-1]:.1f} ms"
        )
        print(f"load average during the run: {load:.1f} on {os.cpu_count()} CPUs")
    finally:
        agent.terminate()
        agent.wait(10)
        shutil.rmtree(folder, ignore_errors=True)
        if given.user is None:
            subprocess.run(["userdel", user], check=False)


if __name__ == "__main__":
    main()
