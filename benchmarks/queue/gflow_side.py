"""gflow (PyPI: runqd), with its daemon on the fake NVML and jobs in tmux sessions.

Its daemon has no idea of accounts: all jobs run as the account that started it, whoever says they
submitted them. So both people's jobs run as the first person here.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from benchmarks.queue.side import (
    GPUS,
    Person,
    Side,
    UnavailableError,
    basic_environment,
    need,
    wait_until,
)
from benchmarks.queue.slurm_side import free_port
from tests.real.fakenvml.state import FakeState, environment
from tests.real.rig import processes_of

# One second is the shortest interval in which it looks whether a GPU has become free.
CONFIGURATION = """\
[daemon]
host = "localhost"
port = {port}
gpu_poll_interval_secs = 1
[executor]
type = "{executor}"
"""


class GflowSide(Side):
    """With its default executor: each job in a tmux session, which reports the job's end."""

    name = "gflow-tmux"
    note = "its default executor; jobs of all people run as the account of its daemon"
    executor = "tmux"
    patience = 0.5

    def start(self) -> str:
        need("tmux")
        self.programs = self._installed()
        state = self.folder / "gpus"
        FakeState.of("A100-80", GPUS).write(state)
        state.chmod(0o644)
        self.nvml = environment(state)
        self.home = self.folder / "home"
        self.port = free_port()
        (self.home / ".config/gflow").mkdir(parents=True)
        (self.home / ".config/gflow/gflow.toml").write_text(
            CONFIGURATION.format(port=self.port, executor=self.executor)
        )
        # Its jobs report their end by a command that their login shell must find.
        (self.home / ".profile").write_text(f"PATH={self.programs}:$PATH\n")
        owner = self.place.people[0]
        subprocess.run(["chown", "-R", f"{owner.uid}:{owner.gid}", str(self.home)], check=True)
        self.home.chmod(0o755)
        (self.home / ".config/gflow").chmod(0o755)
        self._as_owner("gflowd", "start")
        if not wait_until(lambda: "Running" in self._as_owner("gflowd", "status"), 10, 0.2):
            raise UnavailableError("gflowd did not start")
        if not wait_until(lambda: f"gpu        {GPUS}" in self._as_owner("ginfo"), 10, 0.2):
            raise UnavailableError(f"gflow does not see {GPUS} GPUs: {self._as_owner('ginfo')}")
        return self._as_owner("gflowd", "--version").strip()

    def _installed(self) -> Path:
        """gflow's programs, installed from the registry once, beside the benchmark's results."""
        cache = Path(os.environ.get("ROOST_TEST_CACHE", "/var/cache/roost-tests")) / "gflow"
        programs = cache / "bin"
        if not (programs / "gflowd").exists():
            cache.parent.mkdir(parents=True, exist_ok=True)
            subprocess.run([sys.executable, "-m", "venv", str(cache)], check=True)
            pip = [str(programs / "python"), "-m", "pip", "install", "--quiet", "runqd"]
            if subprocess.run(pip, check=False).returncode:
                shutil.rmtree(cache)
                raise UnavailableError("gflow (runqd) cannot be installed here")
        return programs

    def stop(self) -> None:
        self._as_owner("gflowd", "stop")
        self._as_owner("tmux", "kill-server")
        owner = self.place.people[0]
        if not wait_until(lambda: not processes_of(owner.uid), 5, 0.1):
            for pid in processes_of(owner.uid):
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)

    def environment(self, person: Person) -> Mapping[str, str]:
        """Everyone reads the one configuration; the name in USER is who gflow believes submits."""
        basic = basic_environment(person)
        return {
            **basic,
            "PATH": f"{self.programs}:{basic['PATH']}",
            "XDG_CONFIG_HOME": str(self.home / ".config"),
        }

    def submit(self, program: Path) -> Sequence[str]:
        return ["gbatch", "--auto-close", "--gpus", "1", str(program)]

    def submit_many(self, program: Path, count: int) -> Sequence[str]:
        return [*self.submit(program)[:-1], "--array", f"1-{count}", str(program)]

    def looks(self) -> Mapping[str, Sequence[str]]:
        return {"status": ["ginfo"], "jobs": ["gqueue"]}

    def idle(self) -> bool:
        listed = self._as_owner("gqueue", "-u", "all", "-o", "csv")
        return not any(",Queued," in line or ",Running," in line for line in listed.splitlines())

    def clear(self) -> None:
        """A fresh state: cancelling hundreds of jobs one by one takes it minutes."""
        self.stop()
        shutil.rmtree(self.home / ".local", ignore_errors=True)
        self._as_owner("gflowd", "start")
        wait_until(lambda: "Running" in self._as_owner("gflowd", "status"), 10, 0.2)

    def _as_owner(self, *command: str) -> str:
        owner = self.place.people[0]
        identity = self.identity(owner)
        variables = {**self.environment(owner), "HOME": str(self.home), **self.nvml}
        done = subprocess.run(
            command,
            **{**identity, "env": variables, "cwd": str(self.home)},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        return str(done.stdout + done.stderr)


class GflowProcessSide(GflowSide):
    """With its other executor, which starts sooner and notices an end every ten seconds."""

    name = "gflow-process"
    note = "its other executor, likewise"
    executor = "process"
