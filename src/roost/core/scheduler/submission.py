"""What is wrong with a submission, before it becomes a job: at once, with what there is instead."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from roost.core.model import Gpu, Job
from roost.core.rules.model import Rules
from roost.core.rules.who import groups_of, known_group
from roost.core.scheduler.limits import UNITS, Key, applied_limits, least_units
from roost.core.scheduler.placement import model_matches

MOST = 2**53


@dataclass(frozen=True, slots=True)
class Inventory:
    """What the server has, however it is used now."""

    gpus: tuple[Gpu, ...] = ()
    cpus: int = 0
    memory_bytes: int = 0


@dataclass(frozen=True, slots=True)
class SubmissionFacts:
    """What only the caller knows: the account's Linux groups, how many jobs come at once, which of
    the `after` jobs exist (None: not looked up). `queued`: how many wait already by limit key."""

    linux_groups: tuple[str, ...] = ()
    array_size: int = 1
    queued: Mapping[Key, int] = field(default_factory=dict)
    known_jobs: frozenset[int] | None = None


@dataclass(frozen=True, slots=True)
class Problem:
    """`code` names a message of the `submit` catalogue, which `numbers` fill; `key` is the part
    of the request that is wrong; `rule` the key of the rules file behind it, or ""."""

    code: str
    key: str
    numbers: tuple[tuple[str, str | int | float], ...] = ()
    rule: str = ""


def check_submission(
    rules: Rules, inventory: Inventory, job: Job, facts: SubmissionFacts
) -> list[Problem]:
    """Everything that stands against the job (or each of an array of `facts.array_size`), the
    gravest first. Empty: it may be queued, and can start some day."""
    checks = (_group(rules, job, facts), _sizes(rules, inventory, job), _times(job, facts))
    problems = [problem for found in checks for problem in found]
    problems += _array(rules, job, facts)
    if not problems:
        problems += _limits(rules, inventory, job, facts)
    return problems


def _problem(code: str, key: str, behind: str = "", **numbers: str | int | float) -> Problem:
    """`behind` is the key of the rule."""
    return Problem(code, key, tuple(numbers.items()), behind)


def _group(rules: Rules, job: Job, facts: SubmissionFacts) -> list[Problem]:
    allowed = groups_of(rules, job.user, facts.linux_groups)
    if job.group in allowed:
        return []
    code = "group_not_yours" if known_group(rules, job.group) else "group_unknown"
    return [
        _problem(
            code, "group", "groups", group=job.group, user=job.user, allowed=", ".join(allowed)
        )
    ]


def _sizes(rules: Rules, inventory: Inventory, job: Job) -> list[Problem]:
    request = job.request
    found = []
    if not 0 <= request.cpus <= MOST:
        found.append(_problem("cpus_few", "cpus", given=request.cpus))
    elif request.cpus > inventory.cpus:
        found.append(_problem("cpus_many", "cpus", given=request.cpus, total=inventory.cpus))
    memory_bytes = request.memory_bytes
    if memory_bytes is not None and memory_bytes <= 0:
        found.append(_problem("memory_few", "memory_bytes", given=memory_bytes))
    elif memory_bytes is not None and memory_bytes > inventory.memory_bytes:
        found.append(
            _problem(
                "memory_many", "memory_bytes", given_bytes=memory_bytes,
                total_bytes=inventory.memory_bytes,
            )
        )  # fmt: skip
    parents = {gpu.parent for gpu in inventory.gpus if gpu.parent is not None}
    gpus = [gpu for gpu in inventory.gpus if gpu.uuid not in parents]
    if request.gpu_compute_percent is not None and not request.shared:
        percent = request.gpu_compute_percent
        return [*found, _problem("compute_alone", "gpu_compute_percent", given=percent)]
    return found + (_share(rules, gpus, job) if request.shared else _whole(gpus, job))


def _models(gpus: Sequence[Gpu]) -> str:
    """ "8 × NVIDIA A100, 2 × NVIDIA L4": what there is instead."""
    counts: dict[str, int] = {}
    for gpu in gpus:
        counts[gpu.model] = counts.get(gpu.model, 0) + 1
    return ", ".join(f"{count} × {model}" for model, count in counts.items()) or "0"


def _whole(gpus: Sequence[Gpu], job: Job) -> list[Problem]:
    request = job.request
    if request.gpus <= 0:
        return [_problem("gpus_few", "gpus", given=request.gpus, total=len(gpus))]
    if request.gpus_most is not None and request.gpus_most < request.gpus:
        most = request.gpus_most
        return [_problem("gpus_range", "gpus_most", given=request.gpus, most=most)]
    right = list(gpus)
    if request.gpu_model is not None:
        right = [gpu for gpu in gpus if model_matches(gpu.model, request.gpu_model)]
        if not right:
            models = _models(gpus)
            return [_problem("model", "gpu_model", given=request.gpu_model, models=models)]
        if request.gpus > len(right):
            return [
                _problem(
                    "gpus_many_model", "gpus", given=request.gpus, total=len(right),
                    model=request.gpu_model, models=_models(gpus),
                )
            ]  # fmt: skip
    if request.gpus > len(right):
        code = "gpus_many" if right else "gpus_none"
        return [_problem(code, "gpus", given=request.gpus, total=len(right))]
    return []


def _share(rules: Rules, gpus: Sequence[Gpu], job: Job) -> list[Problem]:
    request = job.request
    need = request.gpu_memory_bytes or 0
    if need <= 0:
        return [_problem("share_few", "gpu_memory_bytes", given=need)]
    if request.gpus_most is not None:
        return [_problem("share_range", "gpus_most", given_bytes=need, most=request.gpus_most)]
    percent = request.gpu_compute_percent
    if percent is not None and not 1 <= percent <= 100:
        return [_problem("compute_range", "gpu_compute_percent", given=percent)]
    marked = [g for g in gpus if g.uuid in rules.shared_gpus or str(g.index) in rules.shared_gpus]
    if not marked:
        return [_problem("share_none", "gpu_memory_bytes", "shared_gpus", given_bytes=need)]
    if request.gpu_model is not None:
        right = [gpu for gpu in marked if model_matches(gpu.model, request.gpu_model)]
        if not right:
            models = _models(marked)
            return [_problem("share_model", "gpu_model", given=request.gpu_model, models=models)]
        marked = right
    largest = max(gpu.memory_bytes for gpu in marked)
    if need > largest:
        return [
            _problem(
                "share_many", "gpu_memory_bytes", "shared_gpus", given_bytes=need,
                total_bytes=largest,
            )
        ]  # fmt: skip
    return []


def _times(job: Job, facts: SubmissionFacts) -> list[Problem]:
    found = []
    walltime_s = job.request.walltime_s
    if walltime_s is not None and walltime_s <= 0:
        found.append(_problem("walltime_few", "walltime_s", given=walltime_s))
    if facts.known_jobs is not None:
        found += [
            _problem("after_unknown", "after", job=other)
            for other in job.after
            if other not in facts.known_jobs or other == job.id
        ]
    return found


def _array(rules: Rules, job: Job, facts: SubmissionFacts) -> list[Problem]:
    found = []
    if facts.array_size < 1:
        found.append(_problem("array_empty", "array"))
    elif facts.array_size > rules.max_array:
        most = rules.max_array
        found.append(
            _problem("array_many", "array", "max_array", given=facts.array_size, most=most)
        )
    if job.array_limit is not None and job.array_limit < 1:
        found.append(_problem("array_limit", "array", given=job.array_limit))
    return found


def _limits(rules: Rules, inventory: Inventory, job: Job, facts: SubmissionFacts) -> list[Problem]:
    request, which = job.request, job.priority_class
    gpus = 0 if request.shared else request.gpus
    about: dict[str, str | int | float] = {
        "priority_class": which.value,
        "user": job.user,
        "group": job.group,
    }
    tightest: dict[str, Problem] = {}
    best: dict[str, int] = {}
    for one in applied_limits(rules, job.user, job.group, which):
        limit = one.limit
        of_user = "user" if one.key[0] == "user" else "group"
        waiting = facts.queued.get(one.key, 0)
        refused: list[tuple[str, str, int | None, float]] = [
            ("max_gpus", "gpus", limit.max_gpus, gpus),
            ("max_walltime", "walltime_s", limit.max_walltime_s, request.walltime_s or 0),
            ("max_jobs", "jobs", limit.max_jobs, 1),
            ("max_queued", "jobs", limit.max_queued, waiting + facts.array_size),
        ]
        for name, key, most, given in refused:
            if most is None:
                continue
            missing = name == "max_walltime" and request.walltime_s is None
            if (given <= most and not missing) or best.get(name, most + 1) <= most:
                continue
            best[name] = most
            code = f"{name}_missing" if missing else f"{name}_{of_user}"
            rule = f"{one.path}.{name}"
            numbers = {
                **about, "given": given, "most": most, "waiting": waiting,
                "total": len(inventory.gpus), "rule": rule,
            }  # fmt: skip
            tightest[name] = Problem(code, key, tuple(numbers.items()), rule)
    return [*tightest.values(), *_budget(rules, job)]


def _budget(rules: Rules, job: Job) -> list[Problem]:
    """A class with a budget asks for a walltime, for only so can it be kept."""
    which, request = job.priority_class, job.request
    budget_s = rules.classes[which].budget_gpu_s
    if budget_s is None or not (request.gpus or request.shared):
        return []
    rule = f"classes.{which.value}.budget"
    given_h = (request.walltime_s or 0.0) * least_units(job) / UNITS / 3600.0
    numbers: dict[str, str | int | float] = {
        "priority_class": which.value, "user": job.user, "most_h": _plain(budget_s / 3600.0),
        "given_h": _plain(given_h), "rule": rule,
    }  # fmt: skip
    if request.walltime_s is None:
        return [_problem("budget_walltime", "walltime_s", rule, **numbers)]
    if given_h * 3600.0 > budget_s:
        return [_problem("budget_over", "walltime_s", rule, **numbers)]
    return []


def _plain(hours: float) -> int | float:
    return int(hours) if hours == int(hours) else round(hours, 2)
