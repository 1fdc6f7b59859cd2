"""Who a holder is and by what right: person, group, kind, job or booking.

A container's process runs as root as a rule: the person is then whom the engine's facts, or the
login that started it, point to, with how sure that is.
"""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase

from roost.core.attribution.host import FIRST_PERSON_UID, kernel_side
from roost.core.attribution.model import (
    Allocation,
    Kind,
    Known,
    Phrase,
    Right,
    RightCode,
    Sure,
    phrase,
)
from roost.core.observation import ContainerFacts, GpuReading, ProcessFacts
from roost.core.rules.model import IgnoreRule

NOBODY_UID = 65534


@dataclass(frozen=True, slots=True)
class Person:
    """`user` is a name, or the uid as text where there is none. `evidence` None: it is the owner
    of the process itself."""

    user: str | None
    evidence: Phrase | None = None
    sure: Sure = Sure.CERTAIN


def person_of(facts: ProcessFacts, container: ContainerFacts | None) -> Person:
    """The account of the process; behind root's, and behind uids without a name in a container,
    the person who logged in or whom the engine's facts name."""
    own = facts.user or (str(facts.uid) if facts.uid is not None else None)
    in_container = facts.place.container_id is not None
    has_own_name = facts.user is not None and (facts.uid or 0) >= FIRST_PERSON_UID
    if facts.uid == NOBODY_UID or facts.uid is None:
        has_own_name = False
    pointed_to = container.owner if container is not None else None
    if (
        has_own_name
        and container is not None
        and pointed_to not in (None, facts.user)
        and container.owner_sure in ("certain", "likely")
    ):
        # The number may be the image's own: 1000 inside is whoever has 1000 out here.
        evidence = phrase("owner_container", evidence=container.owner_evidence or "")
        return Person(pointed_to, evidence, Sure.LIKELY)
    if has_own_name or (facts.uid != 0 and not in_container):
        return Person(own)
    if facts.login_user is not None and facts.login_uid not in (None, 0):
        evidence = phrase("owner_login", user=facts.login_user, pid=facts.pid)
        return Person(facts.login_user, evidence, Sure.LIKELY)
    if container is not None and container.owner is not None:
        sure = Sure(container.owner_sure) if container.owner_sure else Sure.POSSIBLE
        evidence = phrase("owner_container", evidence=container.owner_evidence or "")
        return Person(container.owner, evidence, sure)
    return Person(own)


def kind_of(facts: ProcessFacts, right: Right) -> Kind:
    """A job before a container before a booking before a service before a session."""
    place = facts.place
    if place.roost_job is not None:
        return Kind.JOB
    if place.container_id is not None:
        return Kind.CONTAINER
    if right.code is RightCode.BOOKING:
        return Kind.BOOKING
    logged_in = place.login_session is not None or place.tmux is not None
    daemon = facts.uid is not None and facts.uid < FIRST_PERSON_UID and facts.login_uid is None
    unit = place.systemd_unit is not None and place.systemd_unit.endswith(".service")
    own_manager = "/user@" in (facts.cgroup or "")
    if unit and not logged_in and (daemon or not own_manager):
        return Kind.SERVICE
    if daemon and facts.uid != 0 and not logged_in:
        return Kind.SERVICE
    return Kind.SESSION


def right_of(
    facts: ProcessFacts,
    user: str | None,
    gpu: GpuReading,
    instances: frozenset[str],
    memory_bytes: int | None,
    known: Known,
) -> Right:
    """The right of this process to this GPU now, or which one it lacks.

    `instances`: UUIDs of the MIG instances that it is on; a grant of those is a right, too.
    """
    job = facts.place.roost_job
    if job is not None:
        grants = [a for a in known.allocations if a.job == job]
        if any(_covers(a, gpu, instances) for a in grants):
            return Right(RightCode.JOB, phrase("right_job", job=job), True)
        if grants:
            said = phrase("right_not_granted", job=job, gpu=gpu.index)
            return Right(RightCode.NOT_GRANTED, said, False)
        return Right(RightCode.ENDED_JOB, phrase("right_ended_job", job=job), False)
    own = [a for a in known.allocations if a.user == user and _covers(a, gpu, instances)]
    for allocation in own:
        if allocation.booking is not None:
            said = phrase("right_booking", booking=allocation.booking)
            return Right(RightCode.BOOKING, said, True)
    if own and own[0].job is not None:
        return Right(RightCode.JOB, phrase("right_beside_job", job=own[0].job), True)
    for rule in known.ignore:
        if _ignored(rule, facts, user, memory_bytes):
            return Right(RightCode.IGNORED, phrase("right_ignored"), True)
    if kernel_side(facts):
        return Right(RightCode.SYSTEM, phrase("right_system"), True)
    if facts.place.container_id is not None:
        return Right(RightCode.NONE, phrase("right_none_container"), False)
    if facts.place.slurm_job is not None:
        said = phrase("right_none_slurm", job=facts.place.slurm_job)
        return Right(RightCode.NONE, said, False)
    return Right(RightCode.NONE, phrase("right_none"), False)


def job_allocation(facts: ProcessFacts, known: Known) -> Allocation | None:
    job = facts.place.roost_job
    return next((a for a in known.allocations if job is not None and a.job == job), None)


def booking_of(
    user: str | None, gpu: GpuReading, instances: frozenset[str], known: Known
) -> int | None:
    mine = (a for a in known.allocations if a.user == user and _covers(a, gpu, instances))
    return next((a.booking for a in mine if a.booking is not None), None)


def instances_of(gpu: GpuReading, ids: tuple[tuple[int, int | None], ...]) -> frozenset[str]:
    """UUIDs of the MIG instances with these (GPU instance, compute instance) ids."""
    return frozenset(
        mig.uuid
        for mig in gpu.mig_instances
        if any(
            gi == mig.gpu_instance_id and ci in (None, mig.compute_instance_id) for gi, ci in ids
        )
    )


def _covers(allocation: Allocation, gpu: GpuReading, instances: frozenset[str]) -> bool:
    """Whether an allocation entitles to this GPU: whole, or to every instance that is used; where
    the driver does not say which those are, to any instance of it."""
    granted = allocation.gpu_uuids
    if gpu.uuid in granted:
        return True
    if instances:
        return instances <= set(granted)
    return any(mig.uuid in granted for mig in gpu.mig_instances)


def command_of(facts: ProcessFacts) -> str:
    """The command line, or the kernel's short name in brackets where there is none."""
    return " ".join(facts.cmdline)[:4096] if facts.cmdline else f"[{facts.comm}]"


def _ignored(
    rule: IgnoreRule, facts: ProcessFacts, user: str | None, memory_bytes: int | None
) -> bool:
    if rule.command is None and rule.user is None and rule.below_bytes is None:
        return False
    if rule.command is not None:
        names = {facts.comm}
        if facts.cmdline:
            names |= {facts.cmdline[0], facts.cmdline[0].rpartition("/")[2]}
        if not any(fnmatchcase(name, rule.command) for name in names):
            return False
    if rule.user is not None and rule.user not in (user, facts.user):
        return False
    if rule.below_bytes is not None:
        return memory_bytes is not None and memory_bytes < rule.below_bytes
    return True
