"""The rules as data, every field with its default: an empty file is a working set of rules.

`roost.core.rules.load` makes these from TOML and names what is wrong; the scheduler and the server
read them. Periods stay text here; `roost.core.rules.calendar` says when they are open.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from roost.core.audit.model import Accept
from roost.core.environments.names import OWN_ROOT
from roost.core.model import PriorityClass


@dataclass(frozen=True, slots=True)
class ClassRules:
    """`preempts`: classes that a job of this class may take GPUs from when none is free.

    `budget_gpu_s`: GPU seconds of each user in a calendar month, None without limit. `give_way`:
    how a job gives its GPUs up, "requeue", "suspend" or "checkpoint"; `suspend_bytes`: a suspended
    one may keep so much memory of each GPU. `idle_for_s`: only on GPUs that nobody used for so
    long.
    """

    preempts: tuple[PriorityClass, ...] = ()
    min_run_s: float = 0.0
    grace_s: float = 60.0
    budget_gpu_s: float | None = None
    require_reason: bool = False
    give_way: str = "requeue"
    suspend_bytes: int | None = None
    idle_for_s: float = 0.0


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
    `during`: by period, what holds besides these while it is open (no `during` of its own).
    """

    per_user: Limit = Limit()
    classes: Mapping[PriorityClass, Limit] = field(default_factory=dict)
    per_user_of_class: Mapping[PriorityClass, Limit] = field(default_factory=dict)
    groups: Mapping[str, Limit] = field(default_factory=dict)
    users: Mapping[str, Limit] = field(default_factory=dict)
    group_of_class: Mapping[tuple[str, PriorityClass], Limit] = field(default_factory=dict)
    during: Mapping[str, Limits] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class GroupRules:
    """`members` are Linux accounts, and with `@name` Linux groups; `share` weighs fair share
    among the groups of the same `parent`, None at the top. `leads`, named as members are, may
    handle the jobs that the group is charged for."""

    members: tuple[str, ...] = ()
    share: float = 1.0
    parent: str | None = None
    leads: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FairShare:
    """`charge`: "held" counts GPUs while they are held, "busy" while they also compute."""

    half_life_s: float = 7 * 86400.0
    weight: float = 1.0
    age_weight_per_day: float = 0.1
    charge: str = "held"


@dataclass(frozen=True, slots=True)
class Scheduling:
    """`mode` "fair": who used least and waits longest comes first, and holes are filled behind the
    first in line. "throughput": short jobs come first too, and running jobs of the same class give
    way to shorter ones after `min_run_s` (signal, grace, back to the queue).

    In throughput, jobs may pass one that came up to so much earlier: `stretch` × its expected
    remaining time × GPUs^`width`, at most `delay_s` + `delay_factor` × the time in which the queue
    that it found drains, and `tail` × its expected remaining time. Turns that differ by less than
    `margin_s` take nothing away.

    `elastic_wait_s`: for so long after its submission a job that can use 2 to 8 GPUs waits for all
    8; then it takes what is there.
    """

    mode: str = "fair"
    stretch: float = 10.0
    width: float = 0.3
    tail: float = 0.17
    delay_s: float = 33 * 3600.0
    delay_factor: float = 0.7
    margin_s: float = 3600.0
    min_run_s: float = 600.0
    elastic_wait_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Days:
    """`holidays` and `working_days` (worked although at a weekend or holiday): dates as
    "2026-10-01" or "2026-10-01..2026-10-07"."""

    holidays: tuple[str, ...] = ()
    working_days: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Window:
    """When long jobs may start: those above `jobs_over_s`, and those without a walltime.

    `open`: periods; empty `classes` and `groups` stand for all. `at_close`: "finish" lets the job
    run, "warn" gives notice `notice_s` before, "end" also ends it at the close.
    """

    jobs_over_s: float = 0.0
    open: tuple[str, ...] = ()
    exempt: tuple[PriorityClass, ...] = ()
    classes: tuple[PriorityClass, ...] = ()
    groups: tuple[str, ...] = ()
    at_close: str = "finish"
    notice_s: float = 1800.0


@dataclass(frozen=True, slots=True)
class IdleReclaim:
    """A held GPU below `below_percent` for `after_s` is warned of, and freed `warn_s` later."""

    enabled: bool = False
    after_s: float = 1800.0
    below_percent: float = 5.0
    warn_s: float = 600.0
    exempt_users: tuple[str, ...] = ()
    exempt_groups: tuple[str, ...] = ()
    exempt_classes: tuple[PriorityClass, ...] = ()


@dataclass(frozen=True, slots=True)
class BookingRules:
    """How far ahead and how long GPUs may be booked. `no_show_s` after its start an unused booking
    is given up; `background_notice_s` before it background jobs on its GPUs are told to leave.
    `reminder_s` before its start and its end the person is reminded, `maintenance_notice_s` before
    a maintenance everybody is. `repeat`: who may repeat a booking, "all", "operators" or "nobody",
    at most `repeat_horizon_s` ahead.

    `occupied`: what becomes of processes started by hand that are in a booking's way, once they
    were told for `background_notice_s`: "leave" or "end".

    `aliases`: names on a team's spreadsheet, to accounts. `slots`: its words for times of the day,
    to "08:00-12:00"."""

    horizon_s: float = 14 * 86400.0
    longest_s: float = 3 * 86400.0
    per_user_gpu_s: float | None = None
    no_show_s: float = 900.0
    reminder_s: float = 900.0
    background_notice_s: float = 600.0
    maintenance_notice_s: float = 86400.0
    occupied: str = "leave"
    repeat: str = "all"
    repeat_horizon_s: float = 182 * 86400.0
    aliases: Mapping[str, str] = field(default_factory=dict)
    slots: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class NoticeRules:
    """When a job is worth a notice: it started after waiting `long_wait_s`, ended well after
    `long_run_s`, or its walltime is over in `time_limit_s`. 0: never, always, never."""

    long_wait_s: float = 3600.0
    long_run_s: float = 600.0
    time_limit_s: float = 900.0


@dataclass(frozen=True, slots=True)
class AuditRules:
    """`places`: shared folders that the audit searches, each within its own file system. `accept`:
    what it finds and the team lives with."""

    places: tuple[str, ...] = ("/data", "/scratch", "/shared", "/srv")
    accept: tuple[Accept, ...] = ()


@dataclass(frozen=True, slots=True)
class EnvironmentRules:
    """`directory`: where a person's environments lie, "~/…" or absolute with "{user}" in it.
    `share_bytes`: the most that one person's shared environments may hold."""

    directory: str = OWN_ROOT
    share_bytes: int = 100 * 2**30


@dataclass(frozen=True, slots=True)
class DataRules:
    """`path`: where registered data sets and models lie. `add`: who may add one, "all" or
    "operators"."""

    path: str = "/srv/roost/data"
    add: str = "all"


@dataclass(frozen=True, slots=True)
class IgnoreRule:
    """Processes that are shown but do not count as a foreign occupation of a GPU."""

    command: str | None = None
    user: str | None = None
    below_bytes: int | None = None


@dataclass(frozen=True, slots=True)
class OidcRules:
    """Who says who somebody is, besides PAM. `claim` of the provider's word is looked up in `users`
    (claim to account) and, where `exact`, is the account's name itself. `secret_file`: None for a
    client without a secret. `hosts`: where its addresses may lead besides the issuer's own host.
    `name`: what the page calls it."""

    issuer: str
    client_id: str
    secret_file: str | None = None
    claim: str = "preferred_username"
    exact: bool = False
    users: Mapping[str, str] = field(default_factory=dict)
    hosts: tuple[str, ...] = ()
    name: str = ""


@dataclass(frozen=True, slots=True)
class Rules:
    time_zone: str = "UTC"
    operators: tuple[str, ...] = ("@sudo", "@wheel")
    viewers: tuple[str, ...] = ()
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
    scheduling: Scheduling = Scheduling()
    shared_gpus: tuple[str, ...] = ()
    enforcement: str = "observe"
    ignore: tuple[IgnoreRule, ...] = ()
    max_array: int = 10_000
    sample_s: float = 1.0
    stray_gpu_use: str = "warn"
    days: Days = Days()
    periods: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    windows: Mapping[str, Window] = field(default_factory=dict)
    idle_reclaim: IdleReclaim = IdleReclaim()
    bookings: BookingRules = BookingRules()
    notices: NoticeRules = NoticeRules()
    audit: AuditRules = AuditRules()
    environments: EnvironmentRules = EnvironmentRules()
    data: DataRules = DataRules()
    oidc: OidcRules | None = None
