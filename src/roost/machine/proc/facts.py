"""One process as `ProcessFacts`, read through one descriptor so that it is one process throughout.

What can wait for the process itself (command line, environment, mappings) is read in a guard; when
that is given up, the fields stay empty and the rest is as good.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from roost.core.observation import DeviceUse, Place, ProcessFacts
from roost.core.text.printable import printable
from roost.machine.guard import GivenUpError, Guard
from roost.machine.place import AUDIT_UNSET, cgroup_shown, place_of_cgroup, place_of_process
from roost.machine.proc.devices import DeviceMatcher
from roost.machine.proc.holding import (
    Holding,
    mapped_devices,
    open_devices,
    pending_descriptors,
)
from roost.machine.proc.read import (
    CLOCK_TICKS,
    PAGE_BYTES,
    GoneError,
    HiddenError,
    Stat,
    link_at,
    open_process,
    parse_stat,
    parse_status,
    read_at,
)

CMDLINE_BYTES = 16 * 1024
CMDLINE_PARTS = 256
ENVIRON_BYTES = 128 * 1024
GUARD_S = 0.5
MOST_HUNG = 1000


@dataclass(frozen=True, slots=True)
class Reader:
    """What reading needs to know of this host. `guard` runs what may hang; whose reads hung once is
    in `hung` (pid, start ticks) and is not asked again, so that one process costs one thread."""

    matcher: DeviceMatcher
    user_name: Callable[[int | None], str | None]
    guard: Guard
    proc: bytes = b"/proc"
    cgroup_mounts: tuple[bytes, ...] = (b"/sys/fs/cgroup",)
    roost_bases: Sequence[bytes] = ()
    hung: set[tuple[int, int]] = field(default_factory=set)


@dataclass(slots=True)
class _Slow:
    cmdline: tuple[str, ...] = ()
    tmux: bytes | None = None
    mapped: tuple[DeviceUse, ...] = ()
    deep: Holding | None = None


def read_process(
    reader: Reader,
    pid: int,
    boot_at: float,
    maps: bool = False,
    wanted_minor: int | None = None,
    sockets: bool = False,
) -> ProcessFacts:
    """All facts of `pid` now. Raises GoneError; a kernel thread counts as gone.

    `maps`: look at mappings too. `wanted_minor`: somebody says that it holds this GPU; where its
    descriptors do not show that, look deeper (every descriptor's number, mappings). `sockets`:
    count the descriptors under way in its sockets. `boot_at`: when the machine was booted.
    """
    try:
        directory = open_process(reader.proc, pid)
    except HiddenError as error:
        raise GoneError(str(error)) from error
    try:
        return _read(reader, pid, directory, boot_at, maps, wanted_minor, sockets)
    finally:
        os.close(directory)


def updated(facts: ProcessFacts, stat: Stat) -> ProcessFacts:
    """The same process with what `stat` says now; the same object where nothing shown changed."""
    cpu_s = stat.cpu_ticks / CLOCK_TICKS
    rss = stat.rss_pages * PAGE_BYTES
    if facts.cpu_s == cpu_s and facts.rss_bytes == rss and facts.state == stat.state:
        return facts
    return replace(facts, cpu_s=cpu_s, rss_bytes=rss, state=stat.state, threads=stat.threads)


def _read(
    reader: Reader,
    pid: int,
    directory: int,
    boot_at: float,
    maps: bool,
    wanted_minor: int | None,
    sockets: bool,
) -> ProcessFacts:
    stat = parse_stat(_must(directory, b"stat"))
    if stat.kernel_thread:
        raise GoneError("a kernel thread")
    status = parse_status(_or_empty(directory, b"status"))
    cgroup = _or_empty(directory, b"cgroup")
    holding = open_devices(directory, stat.state, stat.threads, reader.matcher)
    shown = any(use.minor == wanted_minor for use in holding.uses)
    deep = wanted_minor is not None and not shown
    slow = _read_slow(reader, pid, directory, stat, maps or deep, deep)
    if slow.deep is not None and slow.deep.uses:
        holding = slow.deep
    uses = dict.fromkeys(holding.uses)
    held = {use.minor for use in holding.uses}
    # A mapping of what is open anyway says nothing new.
    uses.update(dict.fromkeys(use for use in slow.mapped if use.minor not in held))
    audit_session = _number(_or_empty(directory, b"sessionid"))
    login_uid = _number(_or_empty(directory, b"loginuid"))
    if login_uid == AUDIT_UNSET:
        login_uid = None
    place = place_of_cgroup(cgroup, reader.roost_bases)
    place = place_of_process(place, slow.cmdline, slow.tmux, audit_session)
    facts = ProcessFacts(
        pid=pid,
        start_ticks=stat.start_ticks,
        ppid=stat.ppid,
        uid=status.uid,
        user=reader.user_name(status.uid),
        state=stat.state,
        threads=stat.threads,
        comm=printable(stat.comm),
        cmdline=slow.cmdline,
        cwd=_shown_link(directory, b"cwd"),
        started_at=round(boot_at + stat.start_ticks / CLOCK_TICKS, 2),
        cpu_s=stat.cpu_ticks / CLOCK_TICKS,
        rss_bytes=stat.rss_pages * PAGE_BYTES,
        session_id=stat.session,
        pid_namespace=_namespace(directory),
        ns_pids=status.ns_pids,
        cgroup=cgroup_shown(cgroup),
        wchan=_wchan(directory, stat.state),
        frozen=_frozen(reader.cgroup_mounts, cgroup),
        devices=tuple(uses),
        place=place,
        visible=holding.visible,
        login_uid=login_uid,
        login_user=reader.user_name(login_uid),
        pending_fds=pending_descriptors(directory, holding.sockets) if sockets else 0,
    )
    if parse_stat(_must(directory, b"stat")).start_ticks != stat.start_ticks:
        raise GoneError("became another process while it was read")
    return facts


def _read_slow(
    reader: Reader, pid: int, directory: int, stat: Stat, maps: bool, deep: bool
) -> _Slow:
    if stat.state == "Z" and stat.threads <= 1:
        return _Slow()  # memory and files are gone already
    if (pid, stat.start_ticks) in reader.hung:
        return _Slow()
    own = os.dup(directory)  # the guarded call keeps it while it hangs

    def read() -> _Slow:
        found = _Slow()
        try:
            found.cmdline = _split(_or_empty(own, b"cmdline", CMDLINE_BYTES))
            found.tmux = _variable(_or_empty(own, b"environ", ENVIRON_BYTES), b"TMUX")
            if deep:
                try:
                    found.deep = open_devices(own, stat.state, stat.threads, reader.matcher, True)
                except GoneError:
                    found.deep = None
            if maps:
                try:
                    found.mapped = mapped_devices(own, reader.matcher)
                except (GoneError, HiddenError):
                    found.mapped = ()
        finally:
            os.close(own)
        return found

    try:
        return reader.guard.run(read, GUARD_S)
    except GivenUpError:
        mark_hung(reader, pid, stat)
        return _Slow()


def mark_hung(reader: Reader, pid: int, stat: Stat) -> None:
    """Nothing that can hang is asked of this process any more."""
    if len(reader.hung) >= MOST_HUNG:
        reader.hung.clear()
    reader.hung.add((pid, stat.start_ticks))


def _must(directory: int, name: bytes) -> bytes:
    try:
        return read_at(directory, name)
    except HiddenError as error:
        raise GoneError(str(error)) from error


def _or_empty(directory: int, name: bytes, limit: int = 65536) -> bytes:
    try:
        return read_at(directory, name, limit)
    except (GoneError, HiddenError):
        return b""


def _split(raw: bytes) -> tuple[str, ...]:
    if not raw:
        return ()
    parts = raw.removesuffix(b"\0").split(b"\0", CMDLINE_PARTS)
    return tuple(printable(part) for part in parts[:CMDLINE_PARTS])


def _variable(environ: bytes, name: bytes) -> bytes | None:
    start = name + b"="
    for entry in environ.split(b"\0"):
        if entry.startswith(start):
            return entry[len(start) :]
    return None


def _number(raw: bytes) -> int | None:
    text = raw.strip()
    return int(text) if text.isdigit() else None


def _shown_link(directory: int, name: bytes) -> str | None:
    try:
        return printable(link_at(directory, name))
    except (GoneError, HiddenError):
        return None


def _namespace(directory: int) -> int | None:
    try:
        target = link_at(directory, b"ns/pid")
    except (GoneError, HiddenError):
        return None
    return _number(target.removeprefix(b"pid:[").removesuffix(b"]"))


def _wchan(directory: int, state: str) -> str | None:
    if state != "D":
        return None
    name = _or_empty(directory, b"wchan").strip(b"\0\n 0")
    return printable(name) or None


def _frozen(mounts: Sequence[bytes], cgroup: bytes) -> bool | None:
    """Whether its cgroup is frozen (v2 cgroup.events, v1 freezer.state); None: not to be read."""
    answer: bool | None = None
    for line in cgroup.split(b"\n"):
        number, _, tail = line.partition(b":")
        controllers, _, path = tail.partition(b":")
        if path in (b"", b"/"):
            continue
        v2 = number == b"0" and not controllers
        if not v2 and controllers != b"freezer":
            continue
        for mount in mounts:
            bases = (mount, mount + b"/unified") if v2 else (mount + b"/freezer",)
            name, sign = (b"cgroup.events", b"frozen 1") if v2 else (b"freezer.state", b"FROZEN")
            for base in bases:
                try:
                    with open(base + path + b"/" + name, "rb") as file:
                        text = file.read(256)
                except OSError:
                    continue
                answer = bool(answer) or sign in text
    return answer


def with_place(facts: ProcessFacts, place: Place) -> ProcessFacts:
    return facts if facts.place == place else replace(facts, place=place)
