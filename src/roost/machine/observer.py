"""Reads GPUs and the processes that matter for them into one `Observation`, cheaply, each second.

Each sample: NVML, and only `stat` of processes that are known by now. Every process is searched on
evidence alone (a claim that no process bears out, memory that nobody accounts for, a device file
opened), in slices; a rolling sweep passes each process within a minute. It explains nothing: that
is for core.attribution.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping, Set
from dataclasses import dataclass, field, replace

from roost.core.observation import (
    DriverReading,
    GpuReading,
    Observation,
    ProcessFacts,
)
from roost.machine.boot import boot_id, exists_unseen, in_init_pid_namespace
from roost.machine.containers import Containers
from roost.machine.evidence import Claims, Evidence
from roost.machine.gpu import GpuDriver
from roost.machine.guard import Guard
from roost.machine.hostgpus import HostGpus, host_gpus, same_bus
from roost.machine.kinship import with_attempt, with_earlier
from roost.machine.known import Known, Watched
from roost.machine.mps import mps_runs
from roost.machine.proc.devices import DeviceMatcher, DeviceNodes, device_nodes, node_minors
from roost.machine.proc.facts import Reader, read_process
from roost.machine.proc.read import GoneError, HiddenError, Stat, list_pids
from roost.machine.proc.users import UserNames
from roost.machine.search import Sighting, Wanted, look_at, search
from roost.machine.watch import DeviceWatch

SLOW_THINGS_S = 60.0


@dataclass(frozen=True, slots=True)
class ObserverConfig:
    """`sweep_s`: in how long the background sweep passes every process. `slice_s`: how much of a
    sample a search on evidence may take. `roost_bases`: cgroups below which jobs of Roost live."""

    server: str = ""
    deadline_s: float = 2.0
    sample_s: float = 1.0
    sweep_s: float = 60.0
    slice_s: float = 0.1
    nodes: DeviceNodes = field(default_factory=lambda: device_nodes(os.environ))
    proc: bytes = b"/proc"
    sys: bytes = b"/sys"
    roost_bases: tuple[bytes, ...] = ()


class Observer:
    """One for a machine. Not for several threads at once; `close` lets go of its descriptors."""

    def __init__(
        self,
        driver: GpuDriver,
        config: ObserverConfig | None = None,
        users: UserNames | None = None,
        containers: Containers | None = None,
    ) -> None:
        self.config = config or ObserverConfig()
        self._driver = driver
        self._users = users or UserNames()
        self._containers = containers or Containers()
        self._guard = Guard("process-reads")
        self._reader = Reader(
            matcher=DeviceMatcher(self.config.nodes),
            user_name=self._users.name,
            guard=self._guard,
            proc=self.config.proc,
            cgroup_mounts=(self.config.sys + b"/fs/cgroup",),
            roost_bases=self.config.roost_bases,
        )
        self._watched = Watched(self.config.proc)
        self._watch = DeviceWatch(self.config.nodes)
        self._evidence = Evidence()
        self._agent: frozenset[int] = frozenset({os.getpid()})
        self._own = self._agent
        self._attempts: Mapping[tuple[int, int], tuple[int, int]] = {}
        self._suspended: frozenset[tuple[int | None, int | None]] = frozenset()
        self._boot_id = boot_id(self.config.proc)
        self._init_namespace = in_init_pid_namespace(self.config.proc)
        self._minors = node_minors(self.config.nodes)
        self._host = HostGpus()
        self._mps = False
        self._slow_things_at = float("-inf")
        self._boot_at = 0.0
        self._search: Iterator[Sighting | None] | None = None
        self._scanned_at: float | None = None
        self._sweep: list[int] = []
        self._sweep_step = 1
        self._seen: set[int] = set()
        self._quick_at = float("-inf")
        self._hidden = False
        self._unseen: list[ProcessFacts] = []

    # -- what the agent tells ------------------------------------------------------------------

    def set_attempts(self, attempts: Mapping[tuple[int, int], tuple[int, int]]) -> None:
        """(pid, start ticks) of each running attempt's first process → (job, attempt)."""
        self._attempts = dict(attempts)

    def set_suspended(self, attempts: Set[tuple[int, int]]) -> None:
        """(job, attempt) of those that stand still because Roost suspended them."""
        self._suspended = frozenset(attempts)

    def set_own(self, pids: frozenset[int]) -> None:
        """Roost's own processes beside the driver's helper, which is known: nobody's use."""
        self._agent = pids | {os.getpid()}

    # -- looking -------------------------------------------------------------------------------

    def sample(self, now: float) -> Observation:
        """One look, within `deadline_s` and a slice: what is known by evidence and the sweep."""
        return self._observe(now, complete=False)

    def scan(self, now: float) -> Observation:
        """A complete look: every process is searched before it returns (0.1 ms each)."""
        return self._observe(now, complete=True)

    def close(self) -> None:
        self._watched.close()
        self._watch.close()
        self._guard.close()
        self._users.close()
        self._containers.close()

    # -- one look ------------------------------------------------------------------------------

    def _observe(self, now: float, complete: bool) -> Observation:
        began = time.monotonic()
        self._boot_at = now - time.clock_gettime(time.CLOCK_BOOTTIME)
        driver, gpus = self._driver.read(self.config.deadline_s)
        helper: int | None = getattr(self._driver, "helper_pid", None)
        self._own = self._agent | {helper} if helper is not None else self._agent
        self._look_at_slow_things(now)
        gpus = self._with_host(gpus)
        for entry in self._watched.look(now):
            self._read(entry.facts.pid, now)
        claims = Claims.of(gpus)
        self._unseen = []
        self._look_at_claims(claims, now)
        self._look_at_events(now)
        if complete:
            self._search_all(gpus, claims, now)
        else:
            self._search_slice(gpus, claims, now)
            self._sweep_slice(now)
        self._let_go(claims, now)
        return self._assemble(now, began, driver, gpus, complete)

    def _look_at_slow_things(self, now: float) -> None:
        if 0 <= now - self._slow_things_at < SLOW_THINGS_S:
            return
        self._slow_things_at = now
        self._host = host_gpus(self.config.sys, self.config.proc)
        self._mps = mps_runs(self.config.proc)
        self._minors = node_minors(self.config.nodes)
        self._watched.forget_old_former(now)

    def _with_host(self, gpus: tuple[GpuReading, ...]) -> tuple[GpuReading, ...]:
        if not self._host.numa_online:
            return gpus
        return tuple(
            replace(gpu, memory_is_numa_node=True)
            if any(same_bus(gpu.pci_bus_id, bus) for bus in self._host.numa_online)
            else gpu
            for gpu in gpus
        )

    def _look_at_claims(self, claims: Claims, now: float) -> None:
        """Each pid that NVML names is read when it is new, and again while it is not seen to hold
        the GPU that it is named for."""
        for pid, named in claims.by_pid.items():
            entry = self._watched.get(pid)
            if entry is None:
                wanted = next((c.minor for c in named if c.minor in self._minors), None)
                entry = self._read(pid, now, wanted)
                if entry is None:
                    if exists_unseen(pid):
                        self._unseen.append(ProcessFacts(pid, 0, visible=False))
                    continue
            for claim in named:
                if claim.minor not in self._minors:
                    entry.held.add(claim.gpu_uuid)  # it cannot be checked here
                elif _holds(entry.facts, claim.minor):
                    entry.held.add(claim.gpu_uuid)
                elif self._evidence.look_again(entry, claim.minor, now):
                    entry = self._read(pid, now, claim.minor) or entry
                    if _holds(entry.facts, claim.minor):
                        entry.held.add(claim.gpu_uuid)

    def _look_at_events(self, now: float) -> None:
        events = self._watch.events()
        if events.changed:
            self._minors = node_minors(self.config.nodes)
        if not (events.opened or events.closed) or 0 <= now - self._quick_at < 2.0:
            return
        self._quick_at = now
        if events.closed:
            for entry in list(self._watched):
                if now - entry.read_at > 1.0 and any(u.via != "map" for u in entry.facts.devices):
                    self._read(entry.facts.pid, now)
        pids = list_pids(self.config.proc)
        for pid in pids:
            if pid not in self._seen and pid not in self._watched:
                self._take(self._look(pid, Wanted()), now)
        self._seen = set(pids)

    def _search_slice(self, gpus: tuple[GpuReading, ...], claims: Claims, now: float) -> None:
        if self._search is None:
            if not self._evidence.wants_search(gpus, claims, self._watched, now):
                return
            self._search = self._whole_search(gpus, claims, now)
        until = time.monotonic() + self.config.slice_s
        for sighting in self._search:
            self._take(sighting, now)
            if time.monotonic() >= until:
                return
        self._search = None
        self._scanned_at = now
        self._evidence.searched(now)

    def _search_all(self, gpus: tuple[GpuReading, ...], claims: Claims, now: float) -> None:
        self._search = None
        for sighting in self._whole_search(gpus, claims, now):
            self._take(sighting, now)
        for entry in list(self._watched):
            if entry.read_at != now:
                self._read(entry.facts.pid, now)
        self._scanned_at = now
        self._evidence.searched(now)

    def _whole_search(
        self, gpus: tuple[GpuReading, ...], claims: Claims, now: float
    ) -> Iterator[Sighting | None]:
        """Descriptors of all; where that leaves memory unaccounted for, mappings of the family of
        the evidence; then mappings and sockets of everybody."""
        self._seen = set(list_pids(self.config.proc))
        yield from search(self._reader, Wanted(), self._skip, self._hide)
        if not self._evidence.unexplained(gpus, claims, self._watched):
            return
        family = self._family(claims)
        yield from search(self._reader, Wanted(family), self._skip, self._hide)
        if not self._evidence.unexplained(gpus, claims, self._watched):
            return
        yield from search(self._reader, Wanted(_everybody, sockets=True), self._skip, self._hide)

    def _family(self, claims: Claims) -> Callable[[int, Stat], bool]:
        sessions = {former.session_id for former in self._watched.former()}
        pids = set(claims.by_pid) | {former.pid for former in self._watched.former()}
        for entry in self._watched:
            sessions.add(entry.facts.session_id)
            pids.add(entry.facts.pid)

        def belongs(pid: int, stat: Stat) -> bool:
            return stat.session in sessions or stat.ppid in pids or pid in pids

        return belongs

    def _sweep_slice(self, now: float) -> None:
        """The share of one sample in passing every process within `sweep_s`."""
        if not self._sweep:
            pids = (pid for pid in list_pids(self.config.proc) if pid not in self._own)
            self._sweep = sorted(pids, reverse=True)  # the oldest first, at the end
            self._seen.intersection_update(self._sweep)
            share = self.config.sample_s / self.config.sweep_s
            self._sweep_step = max(1, round(len(self._sweep) * share))
        until = time.monotonic() + self.config.slice_s
        for _ in range(min(len(self._sweep), self._sweep_step)):
            if time.monotonic() >= until:
                return  # somebody's thousands of descriptors: the sweep takes longer then
            pid = self._sweep.pop()
            if pid in self._watched:
                self._read(pid, now)
            else:
                self._take(self._look(pid, Wanted()), now)
                self._seen.add(pid)

    # -- single processes ----------------------------------------------------------------------

    def _hide(self) -> None:
        self._hidden = True

    def _skip(self, pid: int) -> bool:
        return pid in self._own

    def _look(self, pid: int, wanted: Wanted) -> Sighting | None:
        if pid in self._own:
            return None
        try:
            return look_at(self._reader, pid, wanted)
        except HiddenError:
            self._hidden = True
            return None
        except GoneError:
            return None

    def _take(self, sighting: Sighting | None, now: float) -> None:
        if sighting is None:
            return
        entry = self._watched.get(sighting.pid)
        known = entry is not None and entry.facts.start_ticks == sighting.stat.start_ticks
        more = sighting.mapped or sighting.pending_fds
        if known and entry is not None and entry.read_at == now and not more:
            return
        self._read(sighting.pid, now, maps=sighting.mapped, sockets=sighting.pending_fds > 0)

    def _read(
        self,
        pid: int,
        now: float,
        wanted_minor: int | None = None,
        maps: bool = False,
        sockets: bool = False,
    ) -> Known | None:
        entry = self._watched.get(pid)
        if entry is not None:
            maps = maps or any(use.via == "map" for use in entry.facts.devices)
            sockets = sockets or entry.facts.pending_fds > 0
        try:
            facts = read_process(self._reader, pid, self._boot_at, maps, wanted_minor, sockets)
        except GoneError:
            if entry is not None:
                self._watched.lose(entry, now)
            return None
        if entry is not None and (pid, facts.start_ticks) in self._reader.hung:
            facts = with_earlier(facts, entry.facts)
        if facts.place.roost_job is None and self._attempts:
            facts = with_attempt(facts, self._attempts, self.config.proc)
        return self._watched.put(facts, now)

    def _let_go(self, claims: Claims, now: float) -> None:
        """Remembers what each known process holds; forgets who neither holds nor is named."""
        uuids = claims.uuid_of_minor
        for entry in list(self._watched):
            facts = entry.facts
            held = {uuids[use.minor] for use in facts.devices if use.minor in uuids}
            entry.held |= held
            if held or facts.pid in claims.by_pid or facts.pending_fds:
                continue
            if any(use.minor is not None for use in facts.devices):
                continue
            self._watched.forget(entry)

    # -- putting together ----------------------------------------------------------------------

    def _assemble(
        self,
        now: float,
        began: float,
        driver: DriverReading,
        gpus: tuple[GpuReading, ...],
        complete: bool,
    ) -> Observation:
        processes = list(self._unseen)
        inside: dict[str, list[ProcessFacts]] = {}
        for entry in self._watched:
            facts = entry.facts
            if facts.user is None and facts.uid is not None:
                name = self._users.name(facts.uid)
                if name is not None:
                    facts = entry.facts = replace(facts, user=name)
            place = facts.place
            if (place.roost_job, place.roost_attempt) in self._suspended:
                facts = replace(facts, suspended=True)
            processes.append(facts)
            if facts.place.container_id is not None:
                inside.setdefault(facts.place.container_id, []).append(facts)
        containers = []
        for container_id, members in inside.items():
            container = self._containers.facts(container_id, tuple(members))
            if container is not None:
                containers.append(container)
        processes.sort(key=_by_age)
        taken = time.monotonic() - began
        return Observation(
            taken_at=now,
            boot_id=self._boot_id,
            server=self.config.server,
            driver=driver,
            gpus=gpus,
            processes=tuple(processes),
            gone=tuple(self._watched.former()),
            containers=tuple(containers),
            scan_complete=complete,
            scanned_at=self._scanned_at,
            init_pid_namespace=self._init_namespace,
            can_see_all=not self._hidden and all(facts.visible for facts in processes),
            vm_gpus=self._host.in_vms,
            gpu_nodes=self._minors,
            sample_s=self.config.sample_s,
            late_s=round(max(0.0, taken - self.config.sample_s), 3),
            mps=self._mps,
        )


def _holds(facts: ProcessFacts, minor: int | None) -> bool:
    return any(use.minor == minor for use in facts.devices)


def _by_age(facts: ProcessFacts) -> tuple[int, int]:
    return facts.start_ticks, facts.pid


def _everybody(pid: int, stat: Stat) -> bool:
    return True
