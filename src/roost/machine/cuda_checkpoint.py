"""NVIDIA's cuda-checkpoint: moves what a process holds on GPUs into host memory, and back.

Each process is locked, then checkpointed; brought back, then unlocked (NVIDIA/cuda-checkpoint,
README.md). It works through a thread inside the process, which must not be frozen meanwhile. The
exit code is CUDA's error number. Written from its documentation: no real GPU has seen this yet.
"""

from __future__ import annotations

import os
import re
import stat
import subprocess
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass

from roost.core.observation import Identity
from roost.core.text.printable import printable
from roost.machine import kernel
from roost.machine.proc.devices import DeviceMatcher
from roost.machine.proc.holding import open_devices
from roost.machine.proc.read import (
    GoneError,
    HiddenError,
    open_process,
    parse_stat,
    read_at,
    read_stat,
)

PLACES = ("/usr/bin/cuda-checkpoint", "/usr/local/bin/cuda-checkpoint")
LEAST_DRIVER = 570  # the first whose lock takes a time limit (README.md, "570 Features")
LOCK_S = 10.0
STATE_S = 10.0
KILLED_S = 2.0
WORDS_BYTES = 200
# cuda.h, CUresult: INVALID_VALUE and NOT_INITIALIZED are said of processes that use no CUDA
NO_CUDA = (1, 3)
RUNNING, LOCKED, CHECKPOINTED = "running", "locked", "checkpointed"


# -- whether it can be had ----------------------------------------------------------------------


def find(named: str | None, driver: str | None, machine: str | None = None) -> tuple[str, str]:
    """(path, "") of the program to be used here, or ("", why there is none, in English).

    `named` takes the place of `PLACES`; `driver` is the driver's version, None where unknown.
    """
    machine = machine or os.uname().machine
    if machine != "x86_64":
        return "", f"cuda-checkpoint works on x86_64 only, and this is {machine}"
    found = re.match(r"\d+", driver or "")
    if found is None:
        return "", "the version of the NVIDIA driver is not known"
    if int(found.group()) < LEAST_DRIVER:
        return "", f"the NVIDIA driver is {driver}, and {LEAST_DRIVER} is needed"
    for path in (named,) if named else PLACES:
        if os.path.exists(path):
            why = untrusted(path)
            return ("", why) if why else (path, "")
    where = named or " or ".join(PLACES)
    return "", f"cuda-checkpoint is not at {where}"


def untrusted(path: str) -> str:
    """Why root must not execute `path`; "" where only root can change it, or what leads to it."""
    if not os.path.isabs(path):
        return f"{path} is no absolute path"
    try:
        if not stat.S_ISREG(os.stat(path).st_mode) or not os.access(path, os.X_OK):
            return f"{path} is not executable"
        for way in (path, os.path.realpath(path)):
            above = way
            while True:
                status = os.lstat(above)
                loose = not stat.S_ISLNK(status.st_mode) and status.st_mode & 0o022
                sticky = stat.S_ISDIR(status.st_mode) and status.st_mode & stat.S_ISVTX
                if status.st_uid != 0 or (loose and not sticky):
                    return f"others than root may change {above}"
                if above == "/":
                    break
                above = os.path.dirname(above)
    except OSError as error:
        return f"{path} cannot be used: {os.strerror(error.errno or 0)}"
    return ""


# -- what a job holds ---------------------------------------------------------------------------


def holders(pids: Iterable[int], matcher: DeviceMatcher) -> tuple[Identity, ...]:
    """Those of the processes that have a GPU's device file open."""
    found = []
    for pid in pids:
        with suppress(GoneError, HiddenError):
            directory = open_process(b"/proc", pid)
            try:
                stat_now = parse_stat(read_at(directory, b"stat"))
                uses = open_devices(directory, stat_now.state, stat_now.threads, matcher).uses
            finally:
                os.close(directory)
            if any(use.minor is not None for use in uses):
                found.append(Identity(pid, stat_now.start_ticks))
    return tuple(found)


def memory_available() -> int:
    """Bytes that the host can still give (MemAvailable of /proc/meminfo); 0: it does not say."""
    with open("/proc/meminfo", "rb") as file:
        found = re.search(rb"^MemAvailable:\s+(\d+) kB", file.read(), re.MULTILINE)
    return int(found.group(1)) * 1024 if found else 0


# -- one call -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Answer:
    """`code` None: it did not end in its time, and was killed. `words` are what it said."""

    code: int | None
    words: str = ""

    @property
    def ok(self) -> bool:
        return self.code == 0


@dataclass(frozen=True, slots=True)
class Tool:
    """`call_s` bounds each checkpoint and each restoration: seconds, of the order of one for every
    two gigabytes. `lock_s` is given to the program, for what the GPU is at to end."""

    path: str
    call_s: float = 300.0
    lock_s: float = LOCK_S
    state_s: float = STATE_S

    @classmethod
    def of(cls, path: str, call_s: float) -> Tool:
        """The quick steps have no more time than the long ones."""
        return cls(path, call_s, min(LOCK_S, call_s), min(STATE_S, call_s))

    def state(self, process: Identity) -> Answer:
        """`words` is "running", "locked", "checkpointed" or "failed" where `code` is 0."""
        return self._call(process, self.state_s, "--get-state")

    def lock(self, process: Identity) -> Answer:
        limit = ("--timeout", str(round(self.lock_s * 1000)))
        return self._call(process, self.lock_s + self.state_s, "--action", "lock", *limit)

    def action(self, process: Identity, name: str) -> Answer:
        """`name`: "checkpoint", "restore" or "unlock"."""
        limit_s = self.state_s if name == "unlock" else self.call_s
        return self._call(process, limit_s, "--action", name)

    def _call(self, process: Identity, limit_s: float, *words: str) -> Answer:
        """Without a shell, with an environment of its own; the process is the same to the last."""
        if why := untrusted(self.path):
            return Answer(126, why)
        if not lives(process):
            return Answer(3, "the process has ended")
        try:
            started = subprocess.Popen(
                [self.path, *words, "--pid", str(process.pid)],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                env={"PATH": "/usr/bin:/bin", "LC_ALL": "C"},
                cwd="/",
                start_new_session=True,
                preexec_fn=kernel.die_with_parent,  # whoever ends this work ends this too
            )
        except OSError as error:
            return Answer(126, f"{self.path}: {os.strerror(error.errno or 0)}")
        try:
            said, _ = started.communicate(timeout=limit_s)
        except subprocess.TimeoutExpired:
            started.kill()
            with suppress(subprocess.TimeoutExpired):  # state D: init takes it in some day
                started.wait(KILLED_S)
            if started.stdout is not None:
                started.stdout.close()
            return Answer(None, f"no answer within {limit_s:g} s")
        return Answer(started.returncode, printable(said.strip()[:WORDS_BYTES]))


def lives(process: Identity) -> bool:
    with suppress(GoneError, HiddenError):
        now = read_stat(b"/proc", process.pid)
        return now.start_ticks == process.start_ticks and now.state not in "ZX"
    return False


# -- a whole job --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Outcome:
    """`done`: all of it was done; else `why` not, in English, and everything was undone, unless
    `lost`: some process's GPU state is in nobody's hands any more. `moved` are the processes that
    are checkpointed, `others` those that have a GPU open and use no CUDA."""

    done: bool
    why: str = ""
    lost: bool = False
    moved: tuple[Identity, ...] = ()
    others: tuple[Identity, ...] = ()


def move_out(
    tool: Tool,
    processes: Sequence[Identity],
    claimed: Iterable[int] = (),
    stop: Callable[[], bool] = lambda: False,
) -> Outcome:
    """Checkpoints all of the processes that use CUDA, or none.

    `claimed`: pids that the driver says hold memory; each must be among them. `stop()` is asked
    between calls: True gives up, and undoes it.
    """
    users, others = [], []
    for process in processes:
        answer = tool.state(process)
        if answer.code in NO_CUDA:
            others.append(process)
        elif not answer.ok:
            return Outcome(False, _why("get the state of", process, answer))
        elif answer.words != RUNNING:
            return Outcome(False, f"process {process.pid} is {answer.words or '?'} already")
        else:
            users.append(process)
    missing = sorted(set(claimed) - {process.pid for process in users})
    if missing:
        which = ", ".join(map(str, missing))
        return Outcome(False, f"process {which} holds GPU memory that cuda-checkpoint cannot move")
    reached: dict[Identity, str] = {}  # "" where a call failed on it: it may have done anything
    for step, after in ((tool.lock, LOCKED), (_checkpoint(tool), CHECKPOINTED)):
        name = "lock" if after == LOCKED else "checkpoint"
        for process in users:
            if stop():
                return _undo(tool, reached, "it was given up")
            reached[process] = ""
            answer = step(process)
            if not answer.ok:
                return _undo(tool, reached, _why(name, process, answer))
            reached[process] = after
    return Outcome(True, moved=tuple(users), others=tuple(others))


def _checkpoint(tool: Tool) -> Callable[[Identity], Answer]:
    return lambda process: tool.action(process, "checkpoint")


def bring_back(tool: Tool, processes: Sequence[Identity]) -> Outcome:
    """Restores and unlocks each; a process that has ended meanwhile needs nothing.

    A restoration that failed has failed for good (NVIDIA/cuda-checkpoint, issue 44): `lost`.
    """
    for name in ("restore", "unlock"):
        for process in processes:
            if not lives(process):
                continue
            answer = tool.action(process, name)
            if not answer.ok and lives(process):
                return Outcome(False, _why(name, process, answer), lost=True)
    return Outcome(True)


def _undo(tool: Tool, reached: dict[Identity, str], why: str) -> Outcome:
    """Everything back as it was. Where a process does not even say how it is, the others come
    first: those that share memory with it may be what it waits for (issue 30)."""
    left = dict(reversed(reached.items()))
    while left:
        before = len(left)
        for process, state in list(left.items()):
            if _undo_one(tool, process, state):
                del left[process]
        if len(left) == before:
            which = ", ".join(str(process.pid) for process in left)
            return Outcome(False, f"{why}; process {which} could not be brought back", lost=True)
    return Outcome(False, why)


def _undo_one(tool: Tool, process: Identity, state: str) -> bool:
    if not state:
        answer = tool.state(process)
        state = answer.words if answer.ok else ""
        if answer.code in NO_CUDA or not lives(process):
            return True
    if state == RUNNING:
        return True
    if state == CHECKPOINTED and not tool.action(process, "restore").ok:
        return not lives(process)
    if state in (LOCKED, CHECKPOINTED):
        return tool.action(process, "unlock").ok or not lives(process)
    return False


def _why(name: str, process: Identity, answer: Answer) -> str:
    code = "" if answer.code is None else f", code {answer.code}"
    return f"cuda-checkpoint could not {name} process {process.pid}: {answer.words or '?'}{code}"
