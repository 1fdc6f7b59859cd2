"""Roost: a real root daemon with eight GPUs of the fake NVML, and people's own commands.

Jobs run as the person who submitted them, each under a supervisor, in a cgroup with a device
filter: nothing is switched off for the measurement.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks.queue.side import (
    GPUS,
    Person,
    Side,
    UnavailableError,
    basic_environment,
    wait_until,
)
from roost.client import Client, RoostError
from tests.real.fakenvml.state import FakeState, environment
from tests.real.rig import Daemon, readable_python

PROGRAM = """\
#!{python}
import sys
from roost.cli.main import main
sys.exit(main())
"""

SUBMITTER = """\
import sys, time
from roost.client import Client
program, count = sys.argv[1], int(sys.argv[2])
began = time.monotonic()
with Client() as client:
    for _ in range(count):
        client.submit({"command": [program], "gpus": 1, "output": "/dev/null", "directory": "/"})
print(time.monotonic() - began)
"""


class RoostSide(Side):
    name = "roost"
    note = "own uid, cgroup, device filter and supervisor for each job"

    def start(self) -> str:
        state = self.folder / "gpus"
        FakeState.of("A100-80", GPUS).write(state)
        home = self.folder / "state"
        home.mkdir(mode=0o755)
        self.daemon = Daemon(home, arguments=(), environment=environment(state))
        self.program = self.folder / "roost"
        self.program.write_text(PROGRAM.format(python=readable_python()))
        self.program.chmod(0o755)
        try:
            self.daemon.start()
        except AssertionError as error:
            raise UnavailableError(str(error)) from error
        with Client(str(self.daemon.socket)) as client:
            if not wait_until(lambda: len(client.status()["gpus"]) == GPUS, 20):
                raise UnavailableError(f"Roost does not see {GPUS} GPUs: {self.daemon.log()}")
            return f"roost {client.ping()['roost']}"

    def stop(self) -> None:
        self.daemon.stop()

    def environment(self, person: Person) -> Mapping[str, str]:
        return {**basic_environment(person), "ROOST_SOCKET": str(self.daemon.socket)}

    def submit(self, program: Path) -> Sequence[str]:
        return [str(self.program), "run", "-g", "1", "-o", "/dev/null", "--", str(program)]

    def submit_many(self, program: Path, count: int) -> Sequence[str]:
        typed = list(self.submit(program))
        return [*typed[:2], "--array", f"1-{count}", *typed[2:]]

    def submitter(self, count: int) -> Sequence[str]:
        """A program of the person's that queues that many through roost.client."""
        return [readable_python(), "-c", SUBMITTER, str(self.place.job), str(count)]

    def looks(self) -> Mapping[str, Sequence[str]]:
        return {"status": [str(self.program), "status"], "jobs": [str(self.program), "jobs"]}

    def idle(self) -> bool:
        with Client(str(self.daemon.socket)) as client:
            queue = client.status()["queue"]
            return queue["pending"] + queue["running"] == 0

    def clear(self) -> None:
        with Client(str(self.daemon.socket)) as client:
            for job in client.jobs()["jobs"]:
                try:
                    client.cancel(job["job"])
                except RoostError:
                    continue  # it ended meanwhile
        end = time.monotonic() + 60
        while not self.idle() and time.monotonic() < end:
            time.sleep(0.2)
