"""Limits of the rules: what is held is counted per user, group and class, and compared.

GPUs are counted in millionths, so that shares of one add exactly.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from roost.core.model import Gpu, Grant, Job, PriorityClass, Request
from roost.core.rules.model import Limit, Limits, Rules
from roost.core.rules.who import lineage

if TYPE_CHECKING:
    from roost.core.scheduler.entry import Entry

UNITS = 1_000_000
Key = tuple[str, str, str]


class HasGpu(Protocol):
    @property
    def gpu(self) -> Gpu: ...


def share_units(request: Request, gpu: Gpu) -> int:
    """What a share of that GPU counts, in millionths of a GPU, rounded up: its part of the memory
    or of the compute, whichever is larger, for that much of the GPU nobody else can use.

    So Ghodsi et al. count what a user holds ("Dominant Resource Fairness", NSDI 2011, section 4).
    """
    if gpu.memory_bytes <= 0:
        return UNITS
    of_memory = -(-(request.gpu_memory_bytes or 0) * UNITS // gpu.memory_bytes)
    return min(UNITS, max(of_memory, _compute_units(request)))


def part_of(request: Request, gpu: Gpu) -> float:
    """The same as a part of that GPU, 0 to 1, as the ledger has it."""
    if gpu.memory_bytes <= 0:
        return 1.0
    of_memory = (request.gpu_memory_bytes or 0) / gpu.memory_bytes
    return min(1.0, max(of_memory, (request.gpu_compute_percent or 0) / 100))


def _compute_units(request: Request) -> int:
    return (request.gpu_compute_percent or 0) * UNITS // 100


def units_of(grants: tuple[Grant, ...], slots: Mapping[str, HasGpu], request: Request) -> int:
    """What a job with that request counts while it holds these."""
    total = 0
    for grant in grants:
        if grant.memory_bytes is None or grant.gpu_uuid not in slots:
            total += UNITS
        else:
            total += share_units(request, slots[grant.gpu_uuid].gpu)
    return total


def least_units(job: Job) -> int:
    """What the job will hold at least: its GPUs; of a share its compute, or only that it is
    something: what part of the memory it is, shows on the GPU."""
    if job.request.shared:
        return max(1, _compute_units(job.request))
    return job.request.gpus * UNITS


def array_key(array_id: int) -> Key:
    return "array", str(array_id), ""


def limit_keys(rules: Rules, user: str, group: str, which: PriorityClass) -> tuple[Key, ...]:
    """What a job of this user, group and class counts towards: also every group above its own."""
    name = which.value
    keys: list[Key] = [("user", user, ""), ("user", user, name), ("class", "", name)]
    for each in lineage(rules, group):
        keys += [("group", each, ""), ("group", each, name)]
    return tuple(keys)


@dataclass(slots=True)
class Cell:
    """What is held or claimed under one key: GPUs in millionths, and jobs."""

    units: int = 0
    jobs: int = 0


class Counts:
    """A cell for each key. Who counts often under the same keys keeps their `cells` and changes
    those; an array, which ends some day, is counted by its key and forgotten when it is over."""

    def __init__(self) -> None:
        self._cells: dict[Key, Cell] = {}

    def cells(self, keys: Sequence[Key]) -> tuple[Cell, ...]:
        """Those of the keys, made where there was none."""
        return tuple([self._cells.setdefault(key, Cell()) for key in keys])

    def change(self, key: Key, units: int, jobs: int) -> None:
        cell = self._cells.setdefault(key, Cell())
        cell.units += units
        cell.jobs += jobs
        if not cell.jobs:
            del self._cells[key]

    def units(self, key: Key) -> int:
        found = self._cells.get(key)
        return 0 if found is None else found.units

    def jobs(self, key: Key) -> int:
        found = self._cells.get(key)
        return 0 if found is None else found.jobs

    def held(self) -> dict[Key, int]:
        """GPUs in millionths by key, where there is a job."""
        return {key: cell.units for key, cell in self._cells.items() if cell.jobs}


@dataclass(frozen=True, slots=True)
class Applied:
    """A limit that fits a job: what it counts, and its place in the rules file."""

    key: Key
    limit: Limit
    path: str


def applied_limits(
    rules: Rules, user: str, group: str, which: PriorityClass, periods: Sequence[str] = ()
) -> list[Applied]:
    """Every limit of the rules that fits, the narrowest last; then those of the open periods."""
    groups = lineage(rules, group)[::-1]
    found = _of(rules.limits, "limits", user, groups, which)
    for period in periods:
        inner = rules.limits.during[period]
        found += _of(inner, f"limits.during.{period}", user, groups, which)
    return found


def _of(
    limits: Limits, path: str, user: str, groups: Sequence[str], which: PriorityClass
) -> list[Applied]:
    name = which.value
    found: list[tuple[Key, Limit | None, str]] = [
        (("class", "", name), limits.classes.get(which), name)
    ]
    for each in groups:
        of_class = limits.group_of_class.get((each, which))
        found += [
            (("group", each, ""), limits.groups.get(each), f"groups.{each}"),
            (("group", each, name), of_class, f"groups.{each}.{name}"),
        ]
    found += [
        (("user", user, ""), limits.per_user, "per_user"),
        (("user", user, name), limits.per_user_of_class.get(which), f"{name}.per_user"),
        (("user", user, ""), limits.users.get(user), f"users.{user}"),
    ]
    return [
        Applied(key, limit, f"{path}.{inner}")
        for key, limit, inner in found
        if limit is not None and limit != Limit()
    ]


@dataclass(frozen=True, slots=True)
class Refusal:
    """A limit that stands before a start: `most` allowed, `held` now, `need` more."""

    key: Key
    what: str
    most: int
    held: float
    need: float
    rule: str

    @property
    def never(self) -> bool:
        """Not even alone, at any time."""
        return self.need > self.most and ".during." not in self.rule


def refusals(applied: list[Applied], counts: Counts, entry: Entry, units: int) -> Iterator[Refusal]:
    """The limits that a start with `units` would break. A claim of the job counts already."""
    claimed = entry.claim.units if entry.claim is not None else 0
    jobs = 0 if entry.claim is not None else 1
    for one in applied:
        most, most_jobs = one.limit.max_gpus, one.limit.max_jobs
        longest_s, walltime_s = one.limit.max_walltime_s, entry.job.request.walltime_s
        if longest_s is not None and (walltime_s is None or walltime_s > longest_s):
            rule = one.path + ".max_walltime"
            yield Refusal(one.key, "walltime", longest_s, 0.0, walltime_s or 0.0, rule)
        if most is not None and units:
            held = counts.units(one.key) - claimed
            if held + units > most * UNITS:
                rule = one.path + ".max_gpus"
                yield Refusal(one.key, "gpus", most, held / UNITS, units / UNITS, rule)
        if most_jobs is not None:
            running = counts.jobs(one.key)
            if running + jobs > most_jobs:
                yield Refusal(one.key, "jobs", most_jobs, running, jobs, one.path + ".max_jobs")
    job = entry.job
    if job.array_limit is not None and job.array_id is not None:
        key = array_key(job.array_id)
        running = counts.jobs(key)
        if running + jobs > max(1, job.array_limit):
            yield Refusal(key, "array", max(1, job.array_limit), running, 1, "")
