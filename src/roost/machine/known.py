"""The processes that matter, kept between samples: read again cheaply, remembered when gone.

A descriptor of each one's `stat` stays open: reading it costs one call and fails once that very
process is gone, whoever has its number now.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from roost.core.observation import Ancestor, ProcessFacts
from roost.machine.proc.facts import updated
from roost.machine.proc.read import GoneError, Stat, parse_stat

_ODD = frozenset("ZTtD")
MOST_OPEN = 400
MOST_FORMER = 1024
FORMER_FOR_S = 7 * 86400.0


@dataclass(slots=True)
class Known:
    """One process under watch. `held` are the GPUs that it was seen to hold, for its memory."""

    facts: ProcessFacts
    read_at: float
    stat_fd: int = -1
    held: set[str] = field(default_factory=set)
    comm: bytes | None = None
    looked_for: dict[int, tuple[float, int]] = field(default_factory=dict)

    def stat(self, proc: bytes) -> Stat:
        """Its `stat` now. Raises GoneError if this process is no more."""
        try:
            if self.stat_fd >= 0:
                raw = os.pread(self.stat_fd, 4096, 0)
            else:
                with open(b"%s/%d/stat" % (proc, self.facts.pid), "rb", buffering=0) as file:
                    raw = file.read(4096)
        except OSError as error:
            raise GoneError(str(error)) from error
        stat = parse_stat(raw)
        if stat.start_ticks != self.facts.start_ticks:
            raise GoneError("another process has its number")
        return stat


class Watched:
    """All known processes by pid, and the former ones, newest last."""

    def __init__(self, proc: bytes) -> None:
        self._proc = proc
        self._known: dict[int, Known] = {}
        self._former: dict[tuple[int, int], Ancestor] = {}
        self._open = 0

    def __iter__(self) -> Iterator[Known]:
        return iter(self._known.values())

    def __contains__(self, pid: int) -> bool:
        return pid in self._known

    def get(self, pid: int) -> Known | None:
        return self._known.get(pid)

    def former(self) -> Iterable[Ancestor]:
        return self._former.values()

    def put(self, facts: ProcessFacts, now: float) -> Known:
        """Takes up a process, or renews what is known of it; another one of that number is gone."""
        old = self._known.get(facts.pid)
        if old is not None:
            if old.facts.start_ticks == facts.start_ticks:
                old.facts, old.read_at = facts, now
                return old
            self.lose(old, now)
        entry = Known(facts, now, self._open_stat(facts.pid))
        self._known[facts.pid] = entry
        return entry

    def look(self, now: float) -> list[Known]:
        """Reads the `stat` of each; who is gone is remembered. Returns those that changed so much
        (name, parent, or state to or from an odd one) that they ought to be read anew."""
        changed = []
        for entry in list(self._known.values()):
            try:
                stat = entry.stat(self._proc)
            except GoneError:
                self.lose(entry, now)
                continue
            before = entry.facts
            turned = stat.state != before.state and (stat.state in _ODD or before.state in _ODD)
            renamed = entry.comm is not None and entry.comm != stat.comm
            entry.comm = stat.comm
            if turned or renamed or stat.ppid != before.ppid:
                changed.append(entry)
            entry.facts = updated(before, stat)
        return changed

    def lose(self, entry: Known, now: float) -> None:
        """The process is no more: remembers it if it held a GPU."""
        facts = entry.facts
        self._drop(entry)
        if not entry.held:
            return
        key = (facts.pid, facts.start_ticks)
        self._former.pop(key, None)
        ancestor = Ancestor(
            pid=facts.pid,
            start_ticks=facts.start_ticks,
            uid=facts.uid,
            user=facts.user,
            comm=facts.comm,
            place=facts.place,
            seen_at=now,
            gpu_uuids=tuple(sorted(entry.held)),
            session_id=facts.session_id,
            cgroup=facts.cgroup,
        )
        self._former[key] = ancestor
        while len(self._former) > MOST_FORMER:
            self._former.pop(next(iter(self._former)))

    def forget(self, entry: Known) -> None:
        """The process lives but holds no GPU any more."""
        self._drop(entry)

    def forget_old_former(self, now: float) -> None:
        for key, former in list(self._former.items()):
            if now - former.seen_at <= FORMER_FOR_S:
                break
            del self._former[key]

    def close(self) -> None:
        for entry in list(self._known.values()):
            self._drop(entry)

    def _open_stat(self, pid: int) -> int:
        if self._open >= MOST_OPEN:
            return -1
        try:
            descriptor = os.open(b"%s/%d/stat" % (self._proc, pid), os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            return -1
        self._open += 1
        return descriptor

    def _drop(self, entry: Known) -> None:
        if self._known.get(entry.facts.pid) is entry:
            del self._known[entry.facts.pid]
        if entry.stat_fd >= 0:
            os.close(entry.stat_fd)
            entry.stat_fd = -1
            self._open -= 1
