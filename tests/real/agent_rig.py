"""A real agent of its own (state, sockets, cgroups), and a server's side of the wire to talk to it.

Knows how to start, kill and question an agent; what is expected stands in the tests.
"""

from __future__ import annotations

import functools
import itertools
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from roost.agent.config import agent_config
from roost.machine import cgroup_base
from roost.wire.frames import answers, encode
from roost.wire.messages import (
    AgentMessage,
    AgentRequest,
    AttemptChanged,
    AttemptEnd,
    AttemptState,
    Done,
    ForgetJob,
    GpuGrant,
    Hello,
    Launch,
    LaunchSpec,
    Observed,
    Refused,
    Welcome,
)
from tests.real.rig import Account, processes_of, readable_python, wait_for

T = TypeVar("T", bound=AgentMessage)
JOBS = itertools.count(int(time.time()) % 1_000_000 * 1000 + 1)


class Wire:
    """A connection as the server has it. Every state of an attempt that was heard is kept."""

    def __init__(self, path: Path) -> None:
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.connect(os.fspath(path))
        self._reader = answers()
        self._heard: list[AgentMessage] = []
        self._requests = itertools.count(1)
        self.states: dict[tuple[int, int], AttemptState] = {}
        self.all_states: list[AttemptState] = []

    def send(self, message: AgentRequest) -> None:
        self._socket.sendall(encode(message))

    def close(self) -> None:
        self._socket.close()

    def hear(self, timeout_s: float = 0.2) -> None:
        """Takes in what comes within the time. Raises EOFError when the agent is gone."""
        self._socket.settimeout(timeout_s)
        try:
            data = self._socket.recv(1 << 20)
        except TimeoutError:
            return
        except ConnectionResetError:
            data = b""
        if not data:
            raise EOFError
        for message in self._reader.feed(data):
            if isinstance(message, AttemptChanged):
                state = message.attempt
                self.states[state.job, state.attempt] = state
                self.all_states.append(state)
            else:
                self._heard.append(message)

    def until(self, wanted: Callable[[AgentMessage], Any], what: str, timeout_s: float = 15) -> Any:
        """The first message heard for which `wanted` is true."""
        end = time.monotonic() + timeout_s
        while time.monotonic() < end:
            for message in list(self._heard):
                self._heard.remove(message)
                if wanted(message):
                    return message
            self.hear()
        raise AssertionError(f"not heard within {timeout_s:g} s: {what}")

    def ask(self, message: AgentRequest) -> AgentMessage:
        """The answer to a request: of the same number, whatever it is."""
        import msgspec

        number = next(self._requests)
        self.send(msgspec.structs.replace(message, request=number))
        answer = self.until(lambda m: getattr(m, "request", 0) == number, repr(message))
        assert isinstance(answer, AgentMessage)
        return answer

    def hello(self) -> Welcome:
        self.send(Hello(version=1, server_id="test"))
        welcome = self.until(lambda m: isinstance(m, Welcome), "welcome")
        assert isinstance(welcome, Welcome)
        return welcome

    def wait(self, job: int, state: str, attempt: int = 1, timeout_s: float = 15) -> AttemptState:
        end = time.monotonic() + timeout_s
        while time.monotonic() < end:
            known = self.states.get((job, attempt))
            if known is not None and (known.state == state or known.state == "ended"):
                assert known.state == state, known
                return known
            self.hear()
        raise AssertionError(f"job {job} not {state}: {self.states.get((job, attempt))}")

    def end(self, job: int, attempt: int = 1, timeout_s: float = 15) -> AttemptEnd:
        found = self.wait(job, "ended", attempt, timeout_s).end
        assert found is not None
        return found


@dataclass
class Agent:
    """A real agent process on a state folder of its own."""

    folder: Path
    environment: Mapping[str, str] = field(default_factory=dict)
    arguments: Sequence[str] = ("--simulate", "4xA100")
    process: subprocess.Popen[bytes] | None = None
    wire: Wire | None = None

    @property
    def state(self) -> Path:
        return self.folder / "state"

    @property
    def socket(self) -> Path:
        return self.state / "agent.sock"

    @property
    def attempts(self) -> Path:
        return self.state / "agent" / "attempts"

    def start(self, wait: bool = True) -> None:
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("ROOST_", "PYTHONPATH"))}
        source = str(Path(__file__).resolve().parents[2] / "src")
        with (self.folder / "agent.log").open("ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "roost.agent", "--state", str(self.state), *self.arguments],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env={**kept, "PYTHONPATH": source, **self.environment},
                cwd="/",
                start_new_session=True,
            )
        if wait:
            self.connect()

    def connect(self) -> Wire:
        def connected() -> Wire | None:
            assert self.process is not None
            assert self.process.poll() is None, self.log()
            with suppress(FileNotFoundError, ConnectionRefusedError, EOFError, BrokenPipeError):
                wire = Wire(self.socket)
                wire.hello()
                return wire
            return None

        self.wire = wait_for(connected, f"the agent answers\n{self.log()}")
        assert self.wire is not None
        return self.wire

    def log(self) -> str:
        path = self.folder / "agent.log"
        return path.read_text(errors="replace")[-5000:] if path.exists() else ""

    def kill(self) -> None:
        """SIGKILL, as it comes."""
        assert self.process is not None
        self.process.kill()
        self.process.wait(10)
        if self.wire is not None:
            self.wire.close()
            self.wire = None

    def stop(self) -> int:
        assert self.process is not None
        self.process.terminate()
        return self.process.wait(10)

    def spec(self, user: str, *argv: str | bytes, **more: Any) -> LaunchSpec:
        words = tuple(os.fsencode(word) for word in argv)
        gpus = tuple(GpuGrant(uuid) for uuid in more.pop("uuids", ()))
        defaults: dict[str, Any] = {
            "job": next(JOBS),
            "attempt": 1,
            "user": user,
            "group": "lab",
            "priority_class": "regular",
            "argv": words,
            "directory": b"/",
            "gpus": gpus,
        }
        return LaunchSpec(**{**defaults, **more})

    def launch(self, user: str, *argv: str | bytes, **more: Any) -> int:
        """Launches, and says its number; a refusal fails the test."""
        spec = self.spec(user, *argv, **more)
        answer = self.try_launch(spec)
        assert isinstance(answer, Done), answer
        return spec.job

    def try_launch(self, spec: LaunchSpec) -> AgentMessage:
        assert self.wire is not None
        return self.wire.ask(Launch(spec))

    def refusal(self, user: str, *argv: str, **more: Any) -> Refused:
        answer = self.try_launch(self.spec(user, *argv, **more))
        assert isinstance(answer, Refused), answer
        return answer

    def run(self, user: str, *argv: str | bytes, **more: Any) -> AttemptEnd:
        """Launches, waits for the end and has it forgotten."""
        job = self.launch(user, *argv, **more)
        end = self.end(job)
        assert self.wire is not None
        assert isinstance(self.wire.ask(ForgetJob(job, 1)), Done)
        return end

    def shell(self, user: str, script: str, output: Path | None = None, **more: Any) -> AttemptEnd:
        written = None if output is None else os.fsencode(output)
        return self.run(user, "/bin/sh", "-c", script, output=written, **more)

    def end(self, job: int, attempt: int = 1, timeout_s: float = 15) -> AttemptEnd:
        assert self.wire is not None
        return self.wire.end(job, attempt, timeout_s)

    def running(self, job: int) -> AttemptState:
        assert self.wire is not None
        return self.wire.wait(job, "running")

    def uuids(self) -> list[str]:
        """Of the GPUs, in order of their index."""
        assert self.wire is not None
        seen = self.wire.until(lambda m: isinstance(m, Observed), "a sample")
        return [gpu.uuid for gpu in sorted(seen.observation.gpus, key=lambda g: g.index)]

    def base(self) -> str | None:
        """Of its jobs' cgroups, as a path within each hierarchy."""
        config = agent_config(str(self.state), environment=self.environment)
        return cgroup_base.choose_base(config.cgroup, config.instance, root=os.geteuid() == 0)

    def cgroups(self) -> list[Path]:
        """Job cgroups that exist for this agent, in every hierarchy."""
        found = Path("/sys/fs/cgroup").glob(f"*{self.base()}/job_*")
        return [path for path in found if path.is_dir()]

    def clean(self) -> None:
        """Ends the agent and everything that it left, and removes it all."""
        if self.process is not None and self.process.poll() is None:
            self.process.kill()
            self.process.wait(10)
        layout = cgroup_base.prepare(self.base())
        for path in self.cgroups():
            wait_for(functools.partial(_end_cgroup, path), f"{path} ends", every_s=0.02)
        wait_for(lambda: cgroup_base.tidy(layout), "cgroups removed")
        shutil.rmtree(self.folder, ignore_errors=True)


def _end_cgroup(path: Path) -> bool:
    with suppress(OSError):
        for pid in (path / "cgroup.procs").read_text().split():
            with suppress(ProcessLookupError):
                os.kill(int(pid), signal.SIGKILL)
        path.rmdir()
    return not path.exists()


@contextmanager
def agent(environment: Mapping[str, str] | None = None, **more: Any) -> Iterator[Agent]:
    """A started agent; ended and cleaned up behind it."""
    folder = Path(tempfile.mkdtemp(prefix="roost-agent-"))
    folder.chmod(0o755)
    made = Agent(folder, dict(environment or {}), **more)
    made.state.mkdir(mode=0o755)
    try:
        made.start()
        yield made
    finally:
        made.clean()


@contextmanager
def as_user(account: Account) -> Iterator[Agent]:
    """An agent that an ordinary user started; ended and cleaned up behind it."""
    folder = Path(tempfile.mkdtemp(prefix="roost-agent-"))
    os.chown(folder, account.uid, account.gid)
    folder.chmod(0o755)
    made = Agent(folder)
    log = (folder / "agent.log").open("ab")
    made.process = subprocess.Popen(
        [readable_python(), "-m", "roost.agent", "--state", str(made.state),
         "--simulate", "2xA100"],
        user=account.uid, group=account.gid, cwd="/", stdin=subprocess.DEVNULL, stdout=log,
        stderr=log, env={"HOME": str(account.home), "PATH": "/usr/bin:/bin"},
    )  # fmt: skip
    try:
        made.connect()
        yield made
    finally:
        made.process.kill()
        made.process.wait()
        for pid in processes_of(account.uid):
            with suppress(ProcessLookupError):
                os.kill(pid, 9)
        subprocess.run(["rm", "-rf", str(folder)], check=True)
