"""Which GPU devices a process holds: by descriptor, by mapping, or by a thread's descriptor.

An open file of the driver keeps GPU memory until its last reference goes (close or unmap), whoever
opened it; /dev/nvidiactl and nvidia-uvm are reported too, but name no GPU.
"""

from __future__ import annotations

import os
from dataclasses import dataclass

from roost.core.observation import DeviceUse
from roost.core.text.printable import printable
from roost.machine.proc.devices import DeviceMatcher
from roost.machine.proc.read import GoneError, HiddenError, read_at, translate

MAPS_LIMIT_BYTES = 64 * 1024 * 1024
MOST_DESCRIPTORS = 20_000


@dataclass(frozen=True, slots=True)
class Holding:
    """What was found. `sockets` are descriptor names of sockets; `visible` False: EACCES, or more
    descriptors than are worth looking through, and no device among the first of them."""

    uses: tuple[DeviceUse, ...]
    visible: bool = True
    descriptors: int = 0
    sockets: tuple[bytes, ...] = ()


NOTHING = Holding(())
UNSEEN = Holding((), visible=False)


def open_devices(
    directory: int, state: str, threads: int, matcher: DeviceMatcher, deep: bool = False
) -> Holding:
    """Devices that the process behind `directory` (a descriptor of /proc/PID) has open.

    When its own list is empty and threads are left, they are looked at: a process whose main thread
    has exited (state Z) shows its files only there. Raises GoneError.
    """
    try:
        found = _list(directory, b"fd", "fd", matcher, deep)
    except HiddenError:
        return UNSEEN
    if found.descriptors or threads <= 1:
        return found
    try:
        tasks = os.listdir(_sub(directory, b"task"))
    except OSError as error:
        raise translate(error) from error
    for task in tasks:
        try:
            by_thread = _list(
                directory, b"task/%s/fd" % os.fsencode(task), "task_fd", matcher, deep
            )
        except (GoneError, HiddenError):
            continue
        if by_thread.descriptors:
            return by_thread  # threads share one table as a rule; the first that has one shows it
    return found


def mapped_devices(directory: int, matcher: DeviceMatcher) -> tuple[DeviceUse, ...]:
    """Devices in its address space, which stay held after the descriptor was closed, and in a fork.

    May wait for the process's memory lock: call it where a wait can be given up. Raises GoneError,
    HiddenError.
    """
    text = read_at(directory, b"maps", MAPS_LIMIT_BYTES)
    if b"nvidia" not in text:
        return ()
    uses: dict[DeviceUse, None] = {}
    for line in text.split(b"\n"):
        if b"nvidia" not in line:
            continue
        parts = line.split(None, 5)
        match = matcher.by_name(parts[5]) if len(parts) == 6 else None
        if match:
            use = DeviceUse(printable(match.path), match.minor, "map")
            uses[use] = None
    return tuple(uses)


def pending_descriptors(directory: int, sockets: tuple[bytes, ...]) -> int:
    """How many descriptors lie unreceived in the queues of these sockets (fdinfo `scm_fds`, Linux
    5.6): nobody's list shows those, and they keep GPU memory all the same."""
    total = 0
    for name in sockets:
        try:
            text = read_at(directory, b"fdinfo/" + name)
        except (GoneError, HiddenError):
            continue
        for line in text.split(b"\n"):
            if line.startswith(b"scm_fds:"):
                total += int(line[8:])
    return total


def _list(directory: int, table: bytes, via: str, matcher: DeviceMatcher, deep: bool) -> Holding:
    try:
        descriptor = os.open(table, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=directory)
    except OSError as error:
        raise translate(error) from error
    try:
        names = os.listdir(descriptor)
        uses: dict[DeviceUse, None] = {}
        sockets = []
        for text in names[:MOST_DESCRIPTORS]:
            name = text.encode("ascii")
            try:
                target = os.readlink(name, dir_fd=descriptor)
            except OSError:
                continue  # closed in between
            if target.startswith(b"/"):
                if matcher.suspicious(target, deep):
                    match = matcher.decide(descriptor, name, target)
                    if match:
                        uses[DeviceUse(printable(match.path), match.minor, via)] = None
            elif target.startswith(b"socket:"):
                sockets.append(name)
        whole = len(names) <= MOST_DESCRIPTORS or any(use.minor is not None for use in uses)
        return Holding(tuple(uses), whole, len(names), tuple(sockets))
    except OSError as error:
        raise translate(error) from error
    finally:
        os.close(descriptor)


def _sub(directory: int, name: bytes) -> bytes:
    return b"/proc/self/fd/%d/%s" % (directory, name)
