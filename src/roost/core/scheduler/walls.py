"""Bookings as walls: on a booked GPU nobody else's job starts that would run into the booking, and
who is still there when it begins is told to go in time.

Pure questions about bookings and jobs; who starts is decided elsewhere. How it is meant:

- A job of another starts on the GPU only where its walltime and grace end before the booking
  begins. One without a walltime does not start there as long as a booking lies ahead.
- A background job that can go back to the queue may use it until shortly before, and is told then.
- Booked memory of a shared GPU is a wall for whole GPUs; shares come beside it (`share_walls`).
- The person who booked starts there by right, before the queue's turn and whatever window is shut;
  what runs on it by the booking leaves when the booking ends.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from roost.core.model import Booking, Job, PriorityClass
from roost.core.rules.model import Rules
from roost.core.scheduler.leaving import Leaving
from roost.core.scheduler.reserved import NEVER, Kept

if TYPE_CHECKING:
    from roost.core.scheduler.entry import Entry

NOTHING: frozenset[str] = frozenset()
_Asked = tuple[str, PriorityClass, bool, float | None, float, bool]


class Walls:
    """All bookings that are not over. `now` never goes back."""

    def __init__(self) -> None:
        self._rules = Rules()
        self._all: tuple[Booking, ...] = ()
        self.shares: dict[str, list[Booking]] = {}
        self._barred: dict[_Asked, frozenset[str]] = {}
        self._asked_at = -NEVER

    def set_rules(self, rules: Rules) -> None:
        self._rules = rules
        self._barred.clear()

    def take(self, bookings: Sequence[Booking]) -> None:
        self._all = tuple(sorted(bookings, key=lambda b: (b.starts_at, b.id)))
        self.shares = {}
        for one in self._all:
            if _is_share(one):
                self.shares.setdefault(one.gpu_uuids[0], []).append(one)
        self._barred.clear()

    def __bool__(self) -> bool:
        return bool(self._all)

    def against(self, job: Job, now: float) -> list[Booking]:
        """The bookings, now and ahead, that are walls for the job."""
        return [
            one
            for one in self._all
            if one.ends_at > now and (one.maintenance or one.user != job.user)
        ]

    def barred(self, job: Job, now: float, slack_s: float = 0.0) -> frozenset[str]:
        """GPUs on which the job may not start now, nor up to `slack_s` later. For a share only
        those that are booked whole: `share_walls` tells of the others."""
        if not self._all:
            return NOTHING
        if now != self._asked_at:
            self._barred.clear()
            self._asked_at = now
        request = job.request
        key = (
            job.user, job.priority_class, job.requeue, request.walltime_s, slack_s, request.shared
        )  # fmt: skip
        found = self._barred.get(key)
        if found is None:
            last = now + slack_s + self.lead_s(job)
            found = self._barred[key] = NOTHING.union(
                *(
                    one.gpu_uuids
                    for one in self.against(job, now)
                    if last > one.starts_at and not (request.shared and _is_share(one))
                )
            )
        return found

    def shut(self, job: Job, now: float) -> bool:
        """A maintenance ahead or under way that the job would run into; matters to jobs without
        GPUs, which no booking of a GPU stops."""
        last = now + self.lead_s(job)
        return any(one.maintenance and last > one.starts_at for one in self.against(job, now))

    def kept(self, job: Job, now: float, full: frozenset[str]) -> list[Kept]:
        """What is booked, for finding when and where the job could start. `full`: where a share
        does not fit beside the memory that is booked."""
        if not self._all:
            return []
        lead_s = self.lead_s(job)
        return [
            Kept(one.gpu_uuids, one.starts_at, one.ends_at, lead_s)
            for one in self.against(job, now)
            if not (job.request.shared and _is_share(one) and full.isdisjoint(one.gpu_uuids))
        ]

    def spans(self, job: Job, now: float) -> list[float]:
        """What walltimes end before each booking ahead."""
        if not self._all:
            return []
        grace_s = self._rules.classes[job.priority_class].grace_s
        return [one.starts_at - now - grace_s for one in self.against(job, now)]

    def own(self, user: str, now: float) -> frozenset[str]:
        """GPUs that the person has booked whole for this moment."""
        mine = [one for one in self._all if self._is_on(one, now) and not _is_share(one)]
        return NOTHING.union(
            *(one.gpu_uuids for one in mine if one.user == user and not one.maintenance)
        )

    def users_on(self, now: float) -> set[str]:
        """Who has a booking at this moment."""
        if not self._all:
            return set()
        return {one.user for one in self._all if self._is_on(one, now) and not one.maintenance}

    def leaving(self, entry: Entry, now: float, stays: Callable[[Booking], bool]) -> Leaving | None:
        """When the job that holds GPUs must be off them for a booking. `stays`: whether its share
        fits beside memory that another has booked."""
        if not self._all:
            return None
        held = {grant.gpu_uuid for grant in entry.grants}
        found = [
            self._leaving(one, entry, now)
            for one in self._all
            if one.ends_at > now and not held.isdisjoint(one.gpu_uuids)
            if not (_is_share(one) and self._beside(one, entry.job, stays))
        ]
        return min((one for one in found if one is not None), key=lambda one: one.at, default=None)

    def next_change(self, now: float) -> float | None:
        """When the next booking begins or ends."""
        if not self._all:
            return None
        times = [at for one in self._all for at in (one.starts_at, one.ends_at)]
        return min((at for at in times if at > now), default=None)

    def _is_on(self, one: Booking, now: float) -> bool:
        return one.starts_at <= now < one.ends_at

    def _beside(self, one: Booking, job: Job, stays: Callable[[Booking], bool]) -> bool:
        """Booked memory is nothing to the job: there is room for both, or it is a whole GPU's job
        of the same person, there by another right."""
        if one.user == job.user:
            return not job.request.shared
        return job.request.shared and stays(one)

    def _leaving(self, one: Booking, entry: Entry, now: float) -> Leaving | None:
        job = entry.job
        grace_s, notice_s = self._spans_of(job)
        if one.maintenance or one.user != job.user:
            rule, at = "bookings.background_notice", one.starts_at
            if at <= now:
                # It was booked under the running job, who is told now.
                told = entry.leaving
                if told is not None and told.booking == one.id and told.notice_at <= now:
                    return told
                return Leaving(now + notice_s, now, rule, one.id)
        elif self._is_on(one, entry.started_at - entry.parked_s) and not self._goes_on(one):
            rule, at = "bookings", one.ends_at
        else:
            return None
        walltime_s = job.request.walltime_s
        planned = walltime_s is not None and entry.started_at + walltime_s + grace_s <= at
        return Leaving(at, at - (grace_s if planned else notice_s), rule, one.id)

    def _goes_on(self, one: Booking) -> bool:
        """The same person has the same GPUs straight afterwards."""
        after = NOTHING.union(
            *(
                other.gpu_uuids
                for other in self._all
                if other.user == one.user
                and not other.maintenance
                and other.starts_at <= one.ends_at < other.ends_at
            )
        )
        return after.issuperset(one.gpu_uuids)

    def _spans_of(self, job: Job) -> tuple[float, float]:
        """Grace, and how long before a booking a job is told."""
        grace_s = self._rules.classes[job.priority_class].grace_s
        return grace_s, max(grace_s, self._rules.bookings.background_notice_s)

    def lead_s(self, job: Job) -> float:
        """How long before a booking begins the job must start at the latest."""
        walltime_s = job.request.walltime_s
        grace_s, notice_s = self._spans_of(job)
        whole_s = NEVER if walltime_s is None else walltime_s + grace_s
        if job.priority_class is not PriorityClass.BACKGROUND or not job.requeue:
            return whole_s
        return min(whole_s, notice_s + self._rules.classes[job.priority_class].min_run_s)


def _is_share(one: Booking) -> bool:
    """Of a GPU's memory; a maintenance is the whole GPU's."""
    return one.memory_bytes is not None and not one.maintenance
