"""What the API said, as frozen data to draw from. Tolerant: what is missing or odd is None.

One Picture is one moment. Must not know how it came here nor how it is drawn.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from roost.tui.when import epoch_of

HOLDING = frozenset({"STARTING", "RUNNING", "PREEMPTING", "SUSPENDED", "COMPLETING"})
IDLE_FROM_S = 300.0
"""From here on a process that computes nothing is called idle: five minutes."""

STALE_S = 10.0
"""Readings older than this are of the past; they come once a second."""

_MOST = 2**62
"""Larger numbers, and infinite ones, are no readings."""

WELL = frozenset({"", "ok", "healthy", "OK"})


@dataclass(frozen=True, slots=True)
class Process:
    """A GPU process, or memory attributed to nobody; one entry over all GPUs that it holds.

    `user` "" is nobody. `since_at`, `idle_s`, `memory_bytes` None: not known. `reason` says in
    words why it is nobody's or strange, `sign` what was seen of that, `remedy` what would mend it.
    `ignored`: shown, but by the rules no use of the GPU.
    """

    key: str
    pid: int | None
    user: str
    group: str
    kind: str
    gpus: tuple[int, ...]
    gpu_uuids: tuple[str, ...]
    memory_by_gpu: tuple[int | None, ...]
    command: str = ""
    container: str = ""
    job: int | None = None
    booking: int | None = None
    since_at: float | None = None
    idle_s: float | None = None
    right: str = ""
    reason: str = ""
    sign: str = ""
    remedy: str = ""
    ignored: bool = False

    @property
    def memory_bytes(self) -> int | None:
        known = [value for value in self.memory_by_gpu if value is not None]
        return sum(known) if known else None


@dataclass(frozen=True, slots=True)
class Job:
    """A live job. `ends_at` None: no walltime was given, or it does not run yet."""

    id: int
    name: str
    user: str
    group: str
    priority_class: str
    state: str
    gpus: tuple[str, ...]
    gpus_asked: int
    gpu_memory_bytes: int | None
    submitted_at: float | None
    started_at: float | None
    walltime_s: float | None
    wait: str
    command: str = ""
    restarts: int = 0
    gpu_compute_percent: int | None = None
    suspended_s: float = 0.0

    @property
    def holds(self) -> bool:
        return self.state in HOLDING

    @property
    def ends_at(self) -> float | None:
        if not self.holds or self.started_at is None or self.walltime_s is None:
            return None
        if self.state == "SUSPENDED":
            return None
        return self.started_at + self.suspended_s + self.walltime_s


@dataclass(frozen=True, slots=True)
class Booked:
    """A booking of a whole GPU, now (`on`) or next; `user` "" for a maintenance."""

    user: str
    start_at: float
    end_at: float
    on: bool


@dataclass(frozen=True, slots=True)
class Gpu:
    """A GPU now. `shares` are (user, kind, bytes) of its memory, largest first; user "" is nobody.

    `people` are those who hold it, by a job first, then by memory. `trouble` is what is wrong with
    it, in words; `drained` that no job may start on it, by `drain_reason`.
    """

    uuid: str
    index: int
    name: str
    memory_total_bytes: int | None
    memory_used_bytes: int | None
    utilisation_percent: int | None
    temperature_c: int | None
    temperature_slowdown_c: int | None
    power_w: float | None
    power_limit_w: float | None
    health: str
    trouble: str
    drained: bool = False
    drain_reason: str = ""
    shares: tuple[tuple[str, str, int], ...] = ()
    people: tuple[str, ...] = ()
    jobs: tuple[Job, ...] = ()
    processes: tuple[Process, ...] = ()
    bookings: tuple[Booked, ...] = ()

    @property
    def free(self) -> bool:
        counted = [each for each in self.processes if not each.ignored]
        return not (self.people or counted or self.trouble or self.drained or self.booked)

    @property
    def booked(self) -> Booked | None:
        """Whose it is now by a booking."""
        return next((one for one in self.bookings if one.on), None)

    @property
    def idle_s(self) -> float | None:
        """How long nobody on it has computed, None where it is in use, free or not known."""
        spans = [p.idle_s for p in self.processes]
        if not spans or any(s is None for s in spans):
            return None
        least = min(s for s in spans if s is not None)
        return least if least >= IDLE_FROM_S else None

    @property
    def since_at(self) -> float | None:
        starts = [j.started_at for j in self.jobs if j.started_at is not None]
        starts = starts or [p.since_at for p in self.processes if p.since_at is not None]
        return min(starts) if starts else None

    @property
    def until_at(self) -> float | None:
        """When it is free again by its jobs' walltimes; None where that cannot be said."""
        ends = [j.ends_at for j in self.jobs]
        if not ends or any(p.job is None for p in self.processes):
            return None
        return max(e for e in ends if e is not None) if None not in ends else None


@dataclass(frozen=True, slots=True)
class Picture:
    """Everything to draw, at `at` (seconds since the epoch, the daemon's clock).

    `stale_since_at`: the server has had no readings since then, though it answers; else None.
    """

    at: float
    server: str = ""
    me: str = ""
    operator: bool = False
    simulated: bool = False
    driver_state: str = "ok"
    driver_remedy: str = ""
    time_zone: str | None = None
    time_sample: str | None = None
    stale_since_at: float | None = None
    gpus: tuple[Gpu, ...] = ()
    processes: tuple[Process, ...] = ()
    jobs: tuple[Job, ...] = field(default=())

    @property
    def free(self) -> int:
        return sum(gpu.free for gpu in self.gpus)

    @property
    def pending(self) -> int:
        return sum(job.state == "PENDING" for job in self.jobs)

    def may_end(self, user: str) -> bool:
        return self.operator or (bool(user) and user == self.me)


def picture_of(
    me: Mapping[str, object],
    status: Mapping[str, object],
    who: Mapping[str, object],
    jobs: Mapping[str, object],
    now: float,
) -> Picture:
    """One picture from the answers of `/v1/ping`, `/v1/status`, `/v1/who` and `/v1/jobs`."""
    at = epoch_of(status.get("time"))
    live = tuple(_job(row) for row in _rows(jobs, "jobs"))
    processes = _processes(_rows(who, "holders"))
    return Picture(
        at=now if at is None else at,
        server=_text(status, "server") or _text(me, "server"),
        me=_text(me, "user"),
        operator=me.get("operator") is True,
        simulated=status.get("simulated") is True or me.get("simulated") is True,
        driver_state=_text(status, "driver_state") or "ok",
        driver_remedy=_text(status, "driver_remedy"),
        time_zone=_text(me, "time_zone") or None,
        time_sample=_text(status, "time") or None,
        stale_since_at=_stale(status, at),
        gpus=tuple(
            sorted(
                (_gpu(row, processes, live) for row in _rows(status, "gpus")),
                key=lambda gpu: gpu.index,
            )
        ),
        processes=processes,
        jobs=live,
    )


def _stale(status: Mapping[str, object], at: float | None) -> float | None:
    """Since when nobody has read the GPUs: the agent is away, or hangs; None while all is well."""
    observed = epoch_of(status.get("observed_time"))
    if not status.get("gpus") or (observed is None and status.get("agent") is not False):
        return None
    if status.get("agent") is False:
        return observed or at
    return observed if at is not None and observed and at - observed > STALE_S else None


def _gpu(row: Mapping[str, object], processes: Sequence[Process], jobs: Sequence[Job]) -> Gpu:
    uuid = _text(row, "uuid")
    here = tuple(p for p in processes if uuid in p.gpu_uuids)
    held = tuple(job for job in jobs if job.holds and uuid in job.gpus)
    memory: dict[tuple[str, str], int] = {}
    for process in here:
        share = process.memory_by_gpu[process.gpu_uuids.index(uuid)]
        key = (process.user, "" if process.user else "unattributed")
        memory[key] = memory.get(key, 0) + (share or 0)
    used, total = _whole(row, "memory_used_bytes"), _whole(row, "memory_total_bytes")
    rest = (used or 0) - sum(memory.values())
    if total and rest > total // 100:
        key = ("", "unattributed")
        memory[key] = memory.get(key, 0) + rest
    shares = sorted(((u, k, b) for (u, k), b in memory.items()), key=lambda s: (-s[2], s[0]))
    people = list(dict.fromkeys(job.user for job in held))
    counted = {process.user for process in here if not process.ignored}
    people += [user for user, _, _ in shares if user in counted - {"", *people}]
    health = _text(row, "health")
    return Gpu(
        uuid=uuid,
        index=_whole(row, "index") or 0,
        name=_text(row, "name"),
        memory_total_bytes=total,
        memory_used_bytes=used,
        utilisation_percent=_whole(row, "utilisation_percent"),
        temperature_c=_whole(row, "temperature_c"),
        temperature_slowdown_c=_whole(row, "temperature_slowdown_c"),
        power_w=_number(row, "power_w"),
        power_limit_w=_number(row, "power_limit_w"),
        health="" if health in WELL else health,
        trouble="" if health in WELL else _text(row, "health_text") or health,
        drained=row.get("drained") is True,
        drain_reason=_text(row, "drain_reason"),
        shares=tuple(shares),
        people=tuple(people),
        jobs=held,
        processes=here,
        bookings=tuple(
            Booked(
                "" if one.get("maintenance") else _text(one, "user"),
                epoch_of(one.get("start")) or 0.0,
                epoch_of(one.get("end")) or 0.0,
                one.get("on") is True,
            )
            for one in _rows(row, "bookings")
            if one.get("maintenance") or one.get("gpu_memory_bytes") is None
        ),
    )


def _processes(rows: Sequence[Mapping[str, object]]) -> tuple[Process, ...]:
    """One entry a process: what it holds on several GPUs is put together."""
    together: dict[str, list[Mapping[str, object]]] = {}
    for row in rows:
        pid, job = _whole(row, "pid"), _whole(row, "job")
        gpu = _whole(row, "gpu_index")
        key = f"p{pid}" if pid is not None else f"n{gpu}" if job is None else f"g{job}"
        together.setdefault(key, []).append(row)
    return tuple(_process(key, same) for key, same in together.items())


def _process(key: str, rows: Sequence[Mapping[str, object]]) -> Process:
    rows = sorted(rows, key=lambda row: _whole(row, "gpu_index") or 0)
    first = rows[0]
    idle = [_number(row, "idle_s") for row in rows]
    return Process(
        key=key,
        pid=_whole(first, "pid"),
        user=_text(first, "user") if _text(first, "kind") != "unattributed" else "",
        group=_text(first, "group"),
        kind=_text(first, "kind"),
        gpus=tuple(_whole(row, "gpu_index") or 0 for row in rows),
        gpu_uuids=tuple(_text(row, "gpu_uuid") for row in rows),
        memory_by_gpu=tuple(_whole(row, "memory_bytes") for row in rows),
        command=_text(first, "command"),
        container=_text(first, "container"),
        job=_whole(first, "job"),
        booking=_whole(first, "booking"),
        since_at=epoch_of(first.get("since")),
        idle_s=None if None in idle else min(i for i in idle if i is not None),
        right=_text(first, "right"),
        reason=_reason(first),
        sign=_text(first, "sign"),
        remedy=_text(first, "remedy"),
        ignored=first.get("ignored") is True,
    )


def _reason(row: Mapping[str, object]) -> str:
    """Why it is nobody's, as a sentence: such a row has it where others have their command."""
    said = _text(row, "reason_text")
    if _text(row, "kind") == "unattributed":
        return said or _text(row, "command") or _text(row, "reason")
    return said or _text(row, "sign") or _text(row, "reason")


def _job(row: Mapping[str, object]) -> Job:
    request = row.get("request")
    asked: Mapping[str, object] = request if isinstance(request, Mapping) else {}
    gpus = row.get("gpus")
    uuids = tuple(str(g) for g in gpus) if isinstance(gpus, list) else ()
    wait = row.get("wait")
    return Job(
        id=_whole(row, "job") or 0,
        name=_text(row, "name"),
        user=_text(row, "user"),
        group=_text(row, "group"),
        priority_class=_text(row, "class"),
        state=_text(row, "state"),
        gpus=uuids,
        gpus_asked=_whole(asked, "gpus") or len(uuids),
        gpu_memory_bytes=_whole(asked, "gpu_memory_bytes"),
        submitted_at=epoch_of(row.get("submit_time")),
        started_at=epoch_of(row.get("start_time")),
        walltime_s=_number(asked, "walltime_s"),
        wait=_text(wait, "text") if isinstance(wait, Mapping) else _text(row, "wait"),
        command=_command(row.get("command")),
        restarts=_whole(row, "restarts") or 0,
        gpu_compute_percent=_whole(asked, "gpu_compute_percent"),
        suspended_s=_number(row, "suspended_s") or 0.0,
    )


def _command(value: object) -> str:
    if isinstance(value, list):
        return " ".join(str(part) for part in value)
    return value if isinstance(value, str) else ""


def _rows(answer: Mapping[str, object], key: str) -> list[Mapping[str, object]]:
    value = answer.get(key)
    return [row for row in value if isinstance(row, Mapping)] if isinstance(value, list) else []


def _text(row: Mapping[str, object], key: str) -> str:
    value = row.get(key)
    return value if isinstance(value, str) else ""


def _whole(row: Mapping[str, object], key: str) -> int | None:
    value = row.get(key)
    number = _number(row, key)
    return None if number is None else int(value) if isinstance(value, int) else int(number)


def _number(row: Mapping[str, object], key: str) -> float | None:
    value = row.get(key)
    if isinstance(value, bool) or not isinstance(value, int | float) or abs(value) > _MOST:
        return None
    return float(value) if value == value else None
