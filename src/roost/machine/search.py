"""Searching processes for GPU devices: one at a time, so that the work can be cut into slices.

A look costs about 0.1 ms a process; a whole search of 5,000 takes half a second of one core, which
is why it is made on evidence only and spread over time otherwise.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from roost.machine.guard import GivenUpError
from roost.machine.proc.facts import GUARD_S, Reader, mark_hung
from roost.machine.proc.holding import Holding, mapped_devices, open_devices, pending_descriptors
from roost.machine.proc.read import (
    GoneError,
    HiddenError,
    Stat,
    list_pids,
    open_process,
    parse_stat,
    read_at,
)


@dataclass(frozen=True, slots=True)
class Sighting:
    """A process that holds a GPU device in some way, or has descriptors under way to it."""

    pid: int
    stat: Stat
    holding: Holding
    mapped: bool = False
    pending_fds: int = 0


@dataclass(frozen=True, slots=True)
class Wanted:
    """How thoroughly to look. `family`: whose mappings to read; `sockets`: count what is under way.

    `family` is asked with (pid, stat) of processes that have no device open.
    """

    family: Callable[[int, Stat], bool] | None = None
    sockets: bool = False


def look_at(reader: Reader, pid: int, wanted: Wanted) -> Sighting | None:
    """What `pid` holds, None for nothing. Raises GoneError, and HiddenError for EACCES."""
    directory = open_process(reader.proc, pid)
    try:
        stat = parse_stat(read_at(directory, b"stat"))
        if stat.kernel_thread or (stat.state == "Z" and stat.threads <= 1):
            return None
        holding = open_devices(directory, stat.state, stat.threads, reader.matcher)
        if not holding.visible:
            raise HiddenError("descriptors of another user's process")
        if any(use.minor is not None for use in holding.uses):
            return Sighting(pid, stat, holding)
        hung = (pid, stat.start_ticks) in reader.hung
        if wanted.family is not None and not hung and wanted.family(pid, stat):
            own = os.dup(directory)

            def read() -> bool:
                try:
                    return bool(mapped_devices(own, reader.matcher))
                except (GoneError, HiddenError):
                    return False
                finally:
                    os.close(own)

            try:
                if reader.guard.run(read, GUARD_S):
                    return Sighting(pid, stat, holding, mapped=True)
            except GivenUpError:
                mark_hung(reader, pid, stat)
        if wanted.sockets and holding.sockets:
            pending = pending_descriptors(directory, holding.sockets)
            if pending:
                return Sighting(pid, stat, holding, pending_fds=pending)
        return None
    finally:
        os.close(directory)


def search(
    reader: Reader, wanted: Wanted, skip: Callable[[int], bool], hidden: Callable[[], None]
) -> Iterator[Sighting | None]:
    """Looks at every process that `skip` does not exclude, one for each step of the iterator.

    `hidden` is called for each that may not be looked into.
    """
    for pid in list_pids(reader.proc):
        if skip(pid):
            continue
        try:
            yield look_at(reader, pid, wanted)
        except HiddenError:
            hidden()
            yield None
        except GoneError:
            yield None
