"""Roost: a real root daemon on simulated GPUs, twenty accounts, a queue and bookings.

Every viewer signs in by a token of its account, as the page does by a session: the same door, the
same rights.
"""

from __future__ import annotations

import json
import pwd
import random
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from benchmarks.viewers.side import Ask, Headers, Side, free_port
from roost.client import Client, RoostError
from tests.real import rig

PEOPLE = 20
PREFIX = "rvb-"
# As an account: a token, then its jobs. Job lengths are such that a few end in every minute.
NEWCOMER = """\
import json, sys
from roost.client import Client, RoostError
with Client() as client:
    secret = client.make_token("viewer", ["read", "jobs"])["secret"]
    for job in json.load(sys.stdin):
        client.submit(job)
print(secret)
"""


class RoostSide(Side):
    name = "roost"

    def __init__(self, gpus: str, jobs: int, bookings: int) -> None:
        self.port = free_port()
        self._gpus, self._jobs, self._bookings = gpus, jobs, bookings
        self._kept = ExitStack()
        self._secrets: list[str] = []
        self._waiting = 0

    def start(self) -> None:
        folder = Path(self._kept.enter_context(tempfile.TemporaryDirectory(prefix="roost-bench-")))
        folder.chmod(0o755)
        people = self._kept.enter_context(
            rig.accounts(*(f"p{n:02}" for n in range(PEOPLE)), prefix=PREFIX)
        )
        (folder / "rules.toml").write_text("")
        self.daemon = rig.Daemon(
            folder,
            (
                "--simulate",
                self._gpus,
                "--http",
                f"127.0.0.1:{self.port}",
                "--rules",
                str(folder / "rules.toml"),
            ),
        )
        self._kept.callback(self._end)
        self.daemon.start()
        drawn = random.Random(1)
        with Client(str(self.daemon.socket)) as client:
            count = len(client.status()["gpus"])
            self._book(client, [one.name for one in people], count)
            works = [self._work(drawn, n) for n in range(count + self._jobs)]
            for number, person in enumerate(people):
                self._secrets.append(self._join(person.name, works[number::PEOPLE]))
            queue = client.status()["queue"]
            self._waiting = max(j["job"] for j in client.jobs(states=["PENDING"])["jobs"])
            print(f"roost: {count} GPUs, {queue['running']} jobs run, {queue['pending']} wait")

    def _work(self, drawn: random.Random, number: int) -> Any:
        seconds = drawn.randrange(120, 3600)
        return {
            "command": ["sleep", str(seconds)],
            "name": f"train-{number}", "gpus": 1, "walltime_s": 2 * seconds, "directory": "/",
            "output": "/dev/null",
        }  # fmt: skip

    def _book(self, client: Client, people: Sequence[str], gpus: int) -> None:
        start = datetime.now(UTC) + timedelta(days=1)
        wanted = [
            {
                "start": (start + timedelta(hours=2 * n)).isoformat(),
                "duration_s": 7200, "gpus": min(2, gpus), "user": people[n % len(people)],
                "purpose": f"paper, table {n}",
            }
            for n in range(self._bookings)
        ]  # fmt: skip
        if wanted:
            client.call("POST", "/v1/bookings/batch", {"bookings": wanted})

    def _join(self, user: str, works: Sequence[Any]) -> str:
        entry = pwd.getpwnam(user)
        done = subprocess.run(
            [rig.readable_python(), "-c", NEWCOMER], input=json.dumps(works), text=True,
            user=entry.pw_uid, group=entry.pw_gid, extra_groups=[], cwd="/",
            env={"ROOST_SOCKET": str(self.daemon.socket), "HOME": entry.pw_dir},
            capture_output=True,
        )  # fmt: skip
        if done.returncode:
            raise RuntimeError(f"{user} could not join: {done.stderr[-800:]}")
        return done.stdout.strip()

    def _end(self) -> None:
        try:
            if self.daemon.process is not None and self.daemon.process.poll() is None:
                self._cancel_all()
        finally:
            self.daemon.stop()

    def _cancel_all(self) -> None:
        """Those that wait first: none of them is started by the end of another."""
        with Client(str(self.daemon.socket)) as client:
            for job in sorted(client.jobs()["jobs"], key=lambda one: one["state"] != "PENDING"):
                with suppress(RoostError):  # it has ended meanwhile
                    client.cancel(job["job"])
            rig.wait_for(lambda: not client.jobs()["jobs"], "all jobs are over", 60)

    def stop(self) -> None:
        self._kept.close()

    def pids(self) -> Mapping[str, int]:
        found = {part: self.daemon.pid_of(part) for part in ("server", "agent")}
        return {part: pid for part, pid in found.items() if pid is not None}

    def headers(self, viewer: int) -> Headers:
        secret = self._secrets[viewer % len(self._secrets)]
        language = "zh-CN" if viewer % 4 == 3 else "en"
        return {"Authorization": f"Bearer {secret}", "Accept-Language": language}

    def asks(self) -> Sequence[Ask]:
        now = datetime.now(UTC)
        ends = (now + timedelta(days=7)).strftime("%Y-%m-%dT%H:%M:%SZ")
        return (
            Ask("status", "GET", "/v1/status", 10),
            Ask("jobs", "GET", "/v1/jobs", 3),
            Ask("who", "GET", "/v1/who", 2),
            Ask("bookings", "GET", f"/v1/bookings?to={ends}", 2),
            Ask("recent", "GET", "/v1/recent", 1),
            Ask("why", "GET", f"/v1/jobs/{self._waiting}/why", 1),
            Ask("ping", "GET", "/v1/ping", 1),
        )

    def stir(self, mark: str) -> Ask:
        job = {"command": ["true"], "name": mark, "gpus": 1, "directory": "/",
               "output": "/dev/null", "held": True}  # fmt: skip
        return Ask("submit", "POST", "/v1/jobs", 0, json.dumps(job))

    def still(self, answer: bytes) -> Ask | None:
        if not answer.startswith(b'{"job"'):
            return None
        return Ask("cancel", "POST", f"/v1/jobs/{json.loads(answer)['job']}/cancel", -1)

    def size_of(self, path: str) -> int:
        """Bytes of that answer to root, for the peer to answer as many."""
        with Client(str(self.daemon.socket)) as client:
            return len(
                json.dumps(client.call("GET", path), ensure_ascii=False, separators=(",", ":"))
            )
