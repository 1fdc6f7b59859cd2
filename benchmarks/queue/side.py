"""What every contestant offers to the benchmark, and the job that all of them run.

A side starts a real system with eight GPUs on this machine and knows its own commands. It measures
nothing: all sides are measured by the same code.
"""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

GPUS = 8


class UnavailableError(Exception):
    """This side cannot be started here; the text says what is missing."""


@dataclass(frozen=True, slots=True)
class Person:
    """A real account of this machine that submits jobs."""

    name: str
    uid: int
    gid: int
    home: str

    @classmethod
    def named(cls, name: str) -> Person:
        entry = pwd.getpwnam(name)
        return cls(name, entry.pw_uid, entry.pw_gid, entry.pw_dir)


@dataclass(slots=True)
class Workplace:
    """The folder of one run: two people, the two job programs, and what the jobs write."""

    folder: Path
    people: tuple[Person, Person]
    done: Path = field(init=False)
    first: Path = field(init=False)
    job: Path = field(init=False)
    clock: Path = field(init=False)

    def __post_init__(self) -> None:
        self.done, self.first = self.folder / "done", self.folder / "first"
        self.job, self.clock = self.folder / "job.sh", self.folder / "clock.sh"
        self.folder.chmod(0o755)
        for path in (self.done, self.first):
            path.touch()
            path.chmod(0o666)
        self.job.write_text(f"#!/bin/sh\nprintf . >>{self.done}\n")
        # bash knows the time without starting a process for it
        self.clock.write_text(f"#!/bin/bash\necho $EPOCHREALTIME >>{self.first}\n")
        for path in (self.job, self.clock):
            path.chmod(0o755)

    def reset(self) -> None:
        self.done.write_bytes(b"")
        self.first.write_bytes(b"")

    def ended(self) -> int:
        """How many jobs have run to their end since the last reset: each appends one byte."""
        return self.done.stat().st_size


class Side(ABC):
    """One contestant. Commands are argument lists, to be typed by a person."""

    name: str
    note: str = ""
    # Which part of the time limit a run of this side gets: enough where its rate is long known.
    patience: float = 1.0

    def __init__(self, place: Workplace) -> None:
        self.place = place
        self.folder = place.folder / self.name
        self.folder.mkdir(mode=0o755)

    @abstractmethod
    def start(self) -> str:
        """Starts the system, waits until it takes jobs; its version. Raises UnavailableError."""

    @abstractmethod
    def stop(self) -> None:
        """Ends what `start` started, by its pids."""

    @abstractmethod
    def environment(self, person: Person) -> Mapping[str, str]:
        """What the person's shell has set."""

    @abstractmethod
    def submit(self, program: Path) -> Sequence[str]:
        """The command that queues one one-GPU job of that program."""

    @abstractmethod
    def submit_many(self, program: Path, count: int) -> Sequence[str]:
        """The one command that queues that many."""

    @abstractmethod
    def looks(self) -> Mapping[str, Sequence[str]]:
        """The commands people look with: "status" (the GPUs) and "jobs" (the queue)."""

    @abstractmethod
    def idle(self) -> bool:
        """Whether nothing is queued or running."""

    @abstractmethod
    def clear(self) -> None:
        """Takes everything out of the queue."""

    def typed(self, person: Person, command: Sequence[str]) -> subprocess.CompletedProcess[str]:
        """That command, run with that person's identity."""
        return subprocess.run(command, **self.identity(person), capture_output=True, text=True,
                              check=False)  # fmt: skip

    def identity(self, person: Person) -> dict[str, Any]:
        return {
            "user": person.uid,
            "group": person.gid,
            "extra_groups": os.getgrouplist(person.name, person.gid),
            "cwd": person.home,
            "env": dict(self.environment(person)),
        }


def basic_environment(person: Person) -> dict[str, str]:
    return {
        "HOME": person.home,
        "USER": person.name,
        "LOGNAME": person.name,
        "SHELL": "/bin/bash",
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "LC_ALL": "C.UTF-8",
    }


def need(*programs: str) -> None:
    """Raises UnavailableError where one of them is not installed."""
    absent = [name for name in programs if shutil.which(name) is None]
    if absent:
        raise UnavailableError(f"not installed: {', '.join(absent)}")


def wait_until(condition: Callable[[], bool], limit_s: float, every_s: float = 0.05) -> bool:
    end = time.monotonic() + limit_s
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(every_s)
    return False
