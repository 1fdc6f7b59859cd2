"""The rules as data, every field with its default: an empty file is a working set of rules.

`roost.core.rules.load` makes these from TOML and names what is wrong; the scheduler and the server
read them. Sections on windows, bookings and prices will stand beside these.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from roost.core.model import PriorityClass


@dataclass(frozen=True, slots=True)
class ClassRules:
    """`preempts`: classes that a job of this class may take GPUs from when none is free."""

    preempts: tuple[PriorityClass, ...] = ()
    min_run_s: float = 0.0
    grace_s: float = 60.0


@dataclass(frozen=True, slots=True)
class Limit:
    """What may be held or queued at once. None: no limit."""

    max_gpus: int | None = None
    max_jobs: int | None = None
    max_queued: int | None = None
    max_walltime_s: int | None = None


@dataclass(frozen=True, slots=True)
class Limits:
    """All that fit are applied; the key of the one that refuses is `limits.PATH.max_…`.

    `classes` limits a whole class, `per_user_of_class` each user within it; the same for groups.
    """

    per_user: Limit = Limit()
    classes: Mapping[PriorityClass, Limit] = field(default_factory=dict)
    per_user_of_class: Mapping[PriorityClass, Limit] = field(default_factory=dict)
    groups: Mapping[str, Limit] = field(default_factory=dict)
    users: Mapping[str, Limit] = field(default_factory=dict)
    group_of_class: Mapping[tuple[str, PriorityClass], Limit] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class GroupRules:
    """`members` are Linux accounts, and with `@name` Linux groups; `share` weighs fair share."""

    members: tuple[str, ...] = ()
    share: float = 1.0


@dataclass(frozen=True, slots=True)
class FairShare:
    half_life_s: float = 7 * 86400.0
    weight: float = 1.0
    age_weight_per_day: float = 0.1


@dataclass(frozen=True, slots=True)
class IgnoreRule:
    """Processes that are shown but do not count as a foreign occupation of a GPU."""

    command: str | None = None
    user: str | None = None
    below_bytes: int | None = None


@dataclass(frozen=True, slots=True)
class Rules:
    time_zone: str = "UTC"
    operators: tuple[str, ...] = ("@sudo", "@wheel")
    groups: Mapping[str, GroupRules] = field(default_factory=dict)
    default_group: str = "default"
    default_class: PriorityClass = PriorityClass.REGULAR
    classes: Mapping[PriorityClass, ClassRules] = field(
        default_factory=lambda: {
            PriorityClass.URGENT: ClassRules(preempts=(PriorityClass.BACKGROUND,)),
            PriorityClass.REGULAR: ClassRules(min_run_s=600.0),
            PriorityClass.BACKGROUND: ClassRules(min_run_s=60.0),
        }
    )
    limits: Limits = Limits()
    fair_share: FairShare = FairShare()
    shared_gpus: tuple[str, ...] = ()
    enforcement: str = "observe"
    ignore: tuple[IgnoreRule, ...] = ()
    max_array: int = 10_000
    sample_s: float = 1.0
    stray_gpu_use: str = "warn"
