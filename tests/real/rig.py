"""What tests of the whole daemon stand on: real accounts, a real `roost serve`, typed commands.

Knows how to start and kill Roost's processes and how to type commands as a user; it knows nothing
of what a test expects.
"""

from __future__ import annotations

import functools
import hashlib
import json
import os
import pwd
import shutil
import signal
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

SOURCE = Path(__file__).resolve().parents[2] / "src"


@dataclass(frozen=True)
class Account:
    name: str
    uid: int
    gid: int
    home: Path


def open_to_all(folder: Path) -> None:
    """Every account may enter a folder of pytest's, and read it."""
    temporary = Path(tempfile.gettempdir()).resolve()
    for one in (folder, *folder.parents):
        if temporary in one.resolve().parents:
            one.chmod(0o755)


@contextmanager
def accounts(*names: str, prefix: str) -> Iterator[list[Account]]:
    """Real Linux accounts `PREFIX-NAME` with private homes; removed with all their processes."""
    made: list[Account] = []
    try:
        for name in names:
            login = f"{prefix}{name}"
            if not _exists(login):
                # A home that was left, busy when its account went, belongs to another uid.
                shutil.rmtree(f"/home/{login}", ignore_errors=True)
                subprocess.run(["useradd", "-m", "-s", "/bin/bash", login], check=True)
            entry = pwd.getpwnam(login)
            home = Path(entry.pw_dir)
            home.chmod(0o700)
            made.append(Account(login, entry.pw_uid, entry.pw_gid, home))
        yield made
    finally:
        for account in made:
            end_processes_of(account.uid)
            subprocess.run(["userdel", "-r", "-f", account.name], check=False, capture_output=True)


def _exists(login: str) -> bool:
    try:
        pwd.getpwnam(login)
    except KeyError:
        return False
    return True


def processes_of(uid: int) -> list[int]:
    """Live processes (no zombies) whose real uid it is."""
    found = []
    for entry in os.listdir("/proc"):
        if not entry.isdigit():
            continue
        with suppress(OSError):
            status = Path(f"/proc/{entry}/status").read_text(errors="replace")
            fields = dict(line.split(":\t", 1) for line in status.splitlines() if ":\t" in line)
            if int(fields["Uid"].split()[0]) == uid and not fields["State"].startswith("Z"):
                found.append(int(entry))
    return found


def end_processes_of(uid: int) -> None:
    for _ in range(50):
        pids = processes_of(uid)
        if not pids:
            return
        for pid in pids:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.02)


@functools.cache
def readable_python() -> str:
    """A Python with Roost that every account can execute.

    The environment under test may lie under a home that others cannot enter; then its packages and
    the source are copied once, by content, to a folder that everyone can read.
    """
    probe = [sys.executable, "-c", "import roost.cli.main"]
    if subprocess.run(probe, user=65534, group=65534, cwd="/", capture_output=True).returncode == 0:
        return sys.executable
    packages = Path(sysconfig.get_path("purelib"))
    digest = hashlib.sha256()
    for path in sorted(SOURCE.rglob("*.py")):
        digest.update(path.read_bytes())
    digest.update(repr(sorted(p.name for p in packages.iterdir())).encode())
    target = Path(tempfile.gettempdir()) / f"roost-test-env-{digest.hexdigest()[:16]}"
    python = target / "bin" / "python"
    if not (target / "complete").exists():
        shutil.rmtree(target, ignore_errors=True)
        base = "/usr/bin/python3" if Path("/usr/bin/python3").exists() else sys.executable
        subprocess.run([base, "-m", "venv", "--without-pip", str(target)], check=True)
        site = next((target / "lib").glob("python*/site-packages"))
        shutil.copytree(packages, site, dirs_exist_ok=True, ignore=_editable)
        shutil.copytree(SOURCE / "roost", site / "roost", dirs_exist_ok=True)
        subprocess.run(["chmod", "-R", "a+rX", str(target)], check=True)
        (target / "complete").touch()
    return str(python)


def _editable(_folder: str, names: list[str]) -> set[str]:
    return {name for name in names if "roost" in name and name.endswith((".pth", ".py"))}


def instant(text: str) -> float:
    """Seconds since the epoch of a time as the API writes it."""
    return datetime.fromisoformat(text).timestamp()


def wait_for(
    condition: Callable[[], Any], what: str, timeout_s: float = 20.0, every_s: float = 0.05
) -> Any:
    """The first true value of `condition`; an AssertionError that says `what` was waited for."""
    end = time.monotonic() + timeout_s
    while time.monotonic() < end:
        value = condition()
        if value:
            return value
        time.sleep(every_s)
    raise AssertionError(f"not within {timeout_s:g} s: {what}")


@dataclass
class Daemon:
    """A real `roost serve` with its own state and sockets, and its agent and server processes."""

    state: Path
    arguments: Sequence[str] = ("--simulate", "8xA100")
    environment: Mapping[str, str] = field(default_factory=dict)
    process: subprocess.Popen[bytes] | None = None

    @property
    def socket(self) -> Path:
        return self.state / "roost.sock"

    def _environment(self) -> dict[str, str]:
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("ROOST_", "LC_", "LANG"))}
        return {**kept, "LC_ALL": "C.UTF-8", **self.environment}

    def start(self, timeout_s: float = 30.0) -> None:
        log = (self.state / "serve.log").open("ab")
        self.process = subprocess.Popen(
            [readable_python(), "-m", "roost", "serve", "--state", str(self.state),
             "--socket", str(self.socket), *self.arguments],
            stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=self._environment(), cwd="/",
            start_new_session=True,
        )  # fmt: skip
        self.wait_ready(timeout_s)

    def wait_ready(self, timeout_s: float = 30.0) -> None:
        def ready() -> bool:
            assert self.process is not None
            assert self.process.poll() is None, self.log()
            done = self.cli("root", "status", "--json", check=False)
            seen = done.returncode == 0 and json.loads(done.stdout)["gpus"]
            return bool(seen) or (done.returncode == 0 and "--simulate" not in self.arguments)

        wait_for(ready, f"the daemon answers; its log:\n{self.log()}", timeout_s)

    def log(self) -> str:
        path = self.state / "serve.log"
        return path.read_text(errors="replace")[-6000:] if path.exists() else ""

    def pid_of(self, part: str) -> int | None:
        """pid of the "agent" or "server" child of `roost serve`, None while there is none."""
        assert self.process is not None
        for entry in os.listdir("/proc"):
            if entry.isdigit():
                with suppress(OSError, IndexError):
                    stat = Path(f"/proc/{entry}/stat").read_text(errors="replace")
                    parent = int(stat.rsplit(")", 1)[1].split()[1])
                    words = Path(f"/proc/{entry}/cmdline").read_bytes().split(b"\0")
                    if parent == self.process.pid and part.encode() in words:
                        return int(entry)
        return None

    def kill(self, part: str) -> bool:
        """SIGKILL to agent or server; False when it was not there at that instant."""
        pid = self.pid_of(part)
        if pid is None:
            return False
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
            return True
        return False

    def stop(self) -> None:
        if self.process is None:
            return
        with suppress(ProcessLookupError):
            self.process.terminate()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait(5)
        self.process = None

    def cli(
        self,
        user: str,
        *words: str | bytes,
        check: bool = True,
        timeout_s: float = 60.0,
        environment: Mapping[str, str] | None = None,
        cwd: str | Path | None = None,
        text_input: str | None = None,
    ) -> subprocess.CompletedProcess[str]:
        """`roost WORDS` typed by that account, with its uid, gid and groups."""
        entry = pwd.getpwnam(user)
        groups = os.getgrouplist(user, entry.pw_gid)
        full = {
            "HOME": entry.pw_dir, "USER": user, "LOGNAME": user, "SHELL": "/bin/bash",
            "PATH": "/usr/local/bin:/usr/bin:/bin", "LC_ALL": "C.UTF-8",
            "ROOST_SOCKET": str(self.socket), **(environment or {}),
        }  # fmt: skip
        done = subprocess.run(
            [readable_python(), "-m", "roost", *words],
            user=entry.pw_uid, group=entry.pw_gid, extra_groups=groups, env=full,
            cwd=cwd or entry.pw_dir, capture_output=True, timeout=timeout_s,
            input=text_input.encode() if text_input is not None else None, umask=0o022,
            stdin=subprocess.DEVNULL if text_input is None else None,
        )  # fmt: skip
        out, err = done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")
        if check and done.returncode != 0:
            raise AssertionError(f"roost {words!r} as {user}: {done.returncode}\n{out}\n{err}")
        return subprocess.CompletedProcess(done.args, done.returncode, out, err)

    def json(self, user: str, *words: str | bytes, **options: Any) -> Any:
        return json.loads(self.cli(user, *words, "--json", **options).stdout)

    def run(self, user: str, *words: str | bytes, **options: Any) -> int:
        """Submit with `roost run WORDS`; the job's number."""
        number = json.loads(self.cli(user, "run", "--json", *words, **options).stdout)["job"]
        assert isinstance(number, int)
        return number

    def job(self, number: int, user: str = "root") -> dict[str, Any]:
        found = self.json(user, "show", str(number))["jobs"]
        assert len(found) == 1
        return dict(found[0])

    def wait_state(self, number: int, *states: str, timeout_s: float = 30.0) -> dict[str, Any]:
        def reached() -> dict[str, Any] | None:
            seen.update(self.job(number))
            return seen if seen["state"] in states else None

        seen: dict[str, Any] = {}
        try:
            return dict(wait_for(reached, f"job {number} is {' or '.join(states)}", timeout_s))
        except AssertionError as error:
            raise AssertionError(f"{error}; it is {seen}") from None


@contextmanager
def daemon(
    *arguments: str, environment: Mapping[str, str] | None = None, rules: str | None = None
) -> Iterator[Daemon]:
    """A started daemon in a state folder of its own; stopped, its jobs ended, at the end."""
    state = Path(tempfile.mkdtemp(prefix="roost-test-"))
    state.chmod(0o755)
    words = list(arguments) or ["--simulate", "8xA100"]
    if rules is not None:
        path = state / "rules.toml"
        path.write_text(rules)
        words += ["--rules", str(path)]
    running = Daemon(state, words, dict(environment or {}))
    try:
        running.start()
        yield running
    finally:
        if running.process is not None and running.process.poll() is None:
            listed = running.cli("root", "jobs", "--json", check=False)
            if listed.returncode == 0:
                for job in json.loads(listed.stdout)["jobs"]:
                    running.cli("root", "cancel", str(job["job"]), check=False)
                deadline = time.monotonic() + 10
                while time.monotonic() < deadline:
                    if not running.json("root", "jobs")["jobs"]:
                        break
                    time.sleep(0.1)
        running.stop()
        shutil.rmtree(state, ignore_errors=True)
