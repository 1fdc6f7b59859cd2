"""Why a job waits, with the numbers: asked for when somebody wants to know, from the last round.

Reads the state and changes nothing; answers for equal requests are worked out once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from roost.core.model import Job, JobState
from roost.core.rules.windows import Refusal
from roost.core.scheduler.booked import booked_reasons
from roost.core.scheduler.budgets import Overdraft
from roost.core.scheduler.decisions import Reason, Wait
from roost.core.scheduler.elastic import waits_until
from roost.core.scheduler.entry import Entry
from roost.core.scheduler.grants import find_grants
from roost.core.scheduler.idle import idle_for_s, lately_used
from roost.core.scheduler.limits import (
    UNITS,
    least_units,
    refusals,
    share_units,
)
from roost.core.scheduler.limits import (
    Refusal as LimitRefusal,
)
from roost.core.scheduler.pool import Pool
from roost.core.scheduler.queue import BucketKey
from roost.core.scheduler.reservation import end_for
from roost.core.scheduler.reserved import NEVER, Reservation, in_the_way
from roost.core.scheduler.sharers import compute_reasons
from roost.core.scheduler.slot import Slot
from roost.core.scheduler.state import State
from roost.core.scheduler.suspending import waits_for

MOST_JOBS_NAMED = 3
Numbers = dict[str, str | int | float]


def _reason(
    code: str, rule: str = "", jobs: Sequence[int] = (), **numbers: str | int | float
) -> Reason:
    return _reason_of(code, numbers, rule, jobs)


def _reason_of(code: str, numbers: Numbers, rule: str = "", jobs: Sequence[int] = ()) -> Reason:
    return Reason(code, tuple(numbers.items()), rule, tuple(jobs))


class Explainer:
    """Explains one moment; made anew after each step."""

    def __init__(self, state: State, reservations: Sequence[Reservation]) -> None:
        self._state = state
        self._reservations = reservations
        self._pool = Pool(state)
        self._known: dict[tuple[BucketKey, float | None], tuple[tuple[Reason, ...], int]] = {}

    def wait(self, job: int) -> Wait:
        entry = self._state.entries.get(job)
        if entry is not None and entry.state is JobState.SUSPENDED:
            return Wait(job, (waits_for(self._state, self._pool, entry),))
        if entry is None or entry.state is not JobState.PENDING:
            return Wait(job)
        reasons = self._not_eligible(entry)
        if reasons:
            return Wait(job, tuple(reasons))
        if entry.claim is not None:
            return self._claiming(entry)
        walltime_s = entry.job.request.walltime_s
        key = (self._state.queue.bucket_of(job).key, walltime_s)
        own = next((r for r in self._reservations if r.job == job), None)
        if own is not None or key not in self._known:
            found = self._limits(entry, least_units(entry.job)) or self._room(entry)
            answer = tuple(found), self._startable(entry)
            if own is not None:
                return Wait(job, answer[0], own.begins_at, answer[1])
            self._known[key] = answer
        return Wait(job, self._known[key][0], None, self._known[key][1])

    def _not_eligible(self, entry: Entry) -> list[Reason]:
        job, state = entry.job, self._state
        found = []
        if job.held:
            found.append(_reason("held"))
        if entry.unmet:
            first = state.entries[entry.unmet[0]]
            code = "after_running" if first.state is not JobState.PENDING else "after_waiting"
            found.append(
                _reason(
                    code, jobs=entry.unmet, job=first.job.id, user=first.job.user,
                    count=len(entry.unmet),
                )
            )  # fmt: skip
        if job.begin_at is not None and job.begin_at > state.now:
            found.append(_reason("begin", begin_at=job.begin_at))
        shut = state.hours.refusal(job, state.now)
        if shut is not None:
            found.append(self._shut(entry, shut))
        return found

    def _shut(self, entry: Entry, shut: Refusal) -> Reason:
        """The window that is closed to a job of this length."""
        over_s = self._state.rules.windows[shut.window].jobs_over_s
        numbers: Numbers = {"window": shut.window, "over_s": over_s}
        rule = f"windows.{shut.window}.open"
        if shut.opens_at is None:
            return _reason_of("window_never", numbers, rule)
        return _reason_of("window", {**numbers, "opens_at": shut.opens_at}, rule)

    def _claiming(self, entry: Entry) -> Wait:
        claim, state = entry.claim, self._state
        jobs = [n for n in (claim.victims if claim else ()) if state.ending_soon(n)]
        ends = [state.entries[n].ends_at or state.now for n in jobs]
        by = max(ends, default=state.now)
        which = entry.job.priority_class
        victims = [n for n in jobs if state.entries[n].preempted_for == entry.job.id]
        preempted = bool(victims)
        by_class = any(state.entries[n].job.priority_class is not which for n in victims)
        rule = f"classes.{which.value}.preempts" if by_class else "scheduling.mode"
        reason = _reason(
            "preempting" if preempted else "ending",
            rule if preempted else "",
            jobs,
            count=len(jobs),
            gpus=entry.job.request.gpus,
            end_at=by,
        )
        return Wait(entry.job.id, (reason,), max(by, state.now))

    def _limits(self, entry: Entry, units: int) -> list[Reason]:
        job = entry.job
        applied = self._state.limits_of(job)
        found = [
            self._limit(entry, refusal)
            for refusal in refusals(applied, self._state.tallies.held, entry, units)
        ]
        over = self._state.budgets.overdraft(job, units, self._state.now)
        return found if over is None else [*found, _budget(job, over)]

    def _limit(self, entry: Entry, refusal: LimitRefusal) -> Reason:
        kind, name, which = refusal.key
        if kind == "array":
            return _reason("array", most=refusal.most, array=name)
        code = f"limit_{refusal.what}_never" if refusal.never else f"limit_{refusal.what}"
        scope = f"{kind}_{'class' if which and kind != 'class' else 'all'}"
        if refusal.what == "walltime":
            scope = "class_each" if kind == "class" else scope
            return _reason(
                code, refusal.rule, scope=scope, name=name, priority_class=which,
                longest_s=refusal.most,
            )  # fmt: skip
        return _reason(
            code,
            refusal.rule,
            self._holding(entry, refusal),
            scope=scope,
            name=name,
            priority_class=which,
            most=refusal.most,
            held=_number(refusal.held),
            need=_number(refusal.need),
        )

    def _holding(self, entry: Entry, refusal: LimitRefusal) -> tuple[int, ...]:
        """The running jobs that count towards that limit."""
        found = []
        for number in self._state.active:
            job = self._state.entries[number].job
            if refusal.key in self._state.tallies.keys_of(job):
                found.append(number)
        return tuple(sorted(found))

    # -- room ----------------------------------------------------------------------------------

    def _room(self, entry: Entry) -> list[Reason]:
        state, request = self._state, entry.job.request
        if not state.known or not state.looked:
            return [_reason("no_inventory")]
        way = self._way(entry)
        found: list[Reason] = []
        grants = find_grants(self._pool, entry, ())
        if grants and request.shared:
            # How much of a GPU a share is, shows only on the GPU.
            gpu = state.slots[grants[0].gpu_uuid].gpu
            found += self._limits(entry, share_units(request, gpu))
        if grants is None and (request.gpus or request.shared):
            found += self._share(entry) if request.shared else self._whole(entry)
        cpus, memory_bytes = self._pool.room_for(entry)
        if request.cpus > cpus:
            found.append(_reason("cpus", need=request.cpus, free=max(0, cpus), total=state.cpus))
        if (request.memory_bytes or 0) > memory_bytes:
            found.append(
                _reason(
                    "memory", need_bytes=request.memory_bytes or 0,
                    free_bytes=max(0, memory_bytes), total_bytes=state.memory_bytes,
                )
            )  # fmt: skip
        if found and not request.shared and not any(r.code.endswith("never") for r in found):
            found += self._who(entry)
        until = waits_until(state, entry)
        if found and until is not None and entry.asked is not None:
            found.append(
                _reason("elastic", "scheduling.elastic_wait", begin_at=until, need=entry.asked.gpus)
            )
        found += booked_reasons(self._state, self._pool, entry)
        if not found or way:
            found += [self._behind(r) for r in way]
        return found

    def _way(self, entry: Entry) -> list[Reservation]:
        """Reservations of other jobs that come before this one and stand in its way."""
        request = entry.job.request
        walltime_s = request.walltime_s
        found = []
        for one in in_the_way(self._reservations, self._state.now, walltime_s):
            if one.job == entry.job.id:
                break
            short = request.cpus > one.spare_cpus
            short = short or (request.memory_bytes or 0) > one.spare_memory_bytes
            wanted = (request.gpus or request.shared) and any(
                self._pool.fits(self._state.slots[uuid], entry) for uuid in one.slots
            )
            wanted = wanted and not one.lets_in(request)
            if short or wanted:
                found.append(one)
        return found

    def _behind(self, one: Reservation) -> Reason:
        other = self._state.entries[one.job].job
        numbers: Numbers = {"job": one.job, "user": other.user, "gpus": len(one.slots)}
        if one.begins_at is None:
            return _reason_of("behind", numbers, jobs=(one.job,))
        numbers["begin_at"] = one.begins_at
        return _reason_of("behind_until", numbers, jobs=(one.job,))

    def _whole(self, entry: Entry) -> list[Reason]:
        request = entry.job.request
        model = request.gpu_model or ""
        slots = [slot for slot in self._pool.slots if slot.present and not slot.split]
        right = [slot for slot in slots if self._right_model(slot, entry)]
        if len(right) < request.gpus:
            code = "gpus_never_model" if model else "gpus_never"
            return [_reason(code, need=request.gpus, total=len(right), model=model)]
        free = self._pool.whole_for(entry, self._pool.barred(entry, ()))
        code = "gpus_model" if model else "gpus"
        found = [_reason(code, need=request.gpus, free=len(free), model=model)]
        out = [slot for slot in right if not slot.usable]
        if out:
            why = next((slot.why for slot in out if slot.why), "")
            numbers: Numbers = {"count": len(out), "gpus": _indices(out), "why": why}
            found.append(_reason_of("gpus_out_why" if why else "gpus_out", numbers))
        strange = [slot for slot in right if slot.usable and slot.foreign_bytes and slot.empty]
        if strange:
            found.append(
                _reason(
                    "gpus_foreign", count=len(strange), gpus=_indices(strange),
                    used_bytes=sum(slot.foreign_bytes for slot in strange),
                )
            )  # fmt: skip
        lately = [slot for slot in lately_used(self._state, entry) if slot in right]
        if lately:
            which = entry.job.priority_class.value
            idle_s = idle_for_s(self._state, entry)
            found.append(
                _reason(
                    "idle_for", f"classes.{which}.idle_for", gpus=_indices(lately),
                    priority_class=which, idle_s=idle_s,
                    begin_at=min(slot.used_until for slot in lately) + idle_s,
                )
            )  # fmt: skip
        found += self._claimed(right, entry)
        return found

    def _claimed(self, slots: Sequence[Slot], entry: Entry) -> list[Reason]:
        """GPUs that other jobs are being given."""
        claims = {s.claim for s in slots if s.claim is not None and s.claim != entry.job.id}
        found = []
        for number in sorted(claims)[:MOST_JOBS_NAMED]:
            user = self._state.entries[number].job.user
            count = sum(slot.claim == number for slot in slots)
            found.append(_reason("claimed", jobs=(number,), job=number, user=user, gpus=count))
        return found

    def _right_model(self, slot: Slot, entry: Entry) -> bool:
        return self._pool.fits(slot, entry) or (
            not slot.usable and self._pool.model_fits(slot, entry)
        )

    def _share(self, entry: Entry) -> list[Reason]:
        need = entry.job.request.gpu_memory_bytes or 0
        slots = [s for s in self._pool.slots if s.shared and self._right_model(s, entry)]
        if not slots:
            return [_reason("share_none", "shared_gpus", need_bytes=need)]
        largest = max(slot.gpu.memory_bytes for slot in slots)
        if largest < need:
            return [_reason("share_never", "shared_gpus", need_bytes=need, total_bytes=largest)]
        compute = compute_reasons(self._state, self._pool, entry, slots)
        if compute:
            return [*compute, *self._claimed(slots, entry)]
        best = max(slots, key=lambda slot: (slot.open, slot.free_bytes, -slot.order))
        free = best.free_bytes if best.open else 0
        jobs = tuple(sorted({number for slot in slots for number in slot.occupants}))
        share = _reason(
            "share", jobs=jobs, need_bytes=need, free_bytes=free, gpu=best.gpu.index,
            used_bytes=best.foreign_bytes,
        )  # fmt: skip
        return [share, *self._claimed(slots, entry)]

    def _who(self, entry: Entry) -> list[Reason]:
        """The jobs whose end or preemption makes the room, soonest first, as far as needed."""
        state, request = self._state, entry.job.request
        gpus: dict[int, int] = {}
        barred = self._pool.barred(entry, ())
        for slot in self._pool.slots:
            kept = slot.claim not in (None, entry.job.id) or slot.gpu.uuid in barred
            if self._pool.fits(slot, entry) and not slot.foreign_bytes and not kept:
                # One that is suspended there has its turn after the others.
                for number in slot.occupants if slot.frozen is None else (slot.frozen,):
                    gpus[number] = gpus.get(number, 0) + 1
        ends = sorted(
            (end_for(state, state.entries[number], entry), number) for number in state.active
        )
        need = request.gpus - len(self._pool.whole_for(entry, barred))
        cpus_short = request.cpus - self._pool.room_for(entry)[0]
        found: list[Reason] = []
        ready: dict[int, int] = {}
        for end, number in ends:
            if need <= 0 and cpus_short <= 0:
                break
            other = state.entries[number]
            brings = gpus.get(number, 0)
            if not (brings and need > 0) and cpus_short <= 0:
                continue
            need -= brings
            cpus_short -= other.cpus_held
            if end <= state.now and self._preempts(entry, other) and other.ending_by is None:
                ready[number] = brings
            elif len(found) < MOST_JOBS_NAMED:
                found.append(self._ending(entry, other, end, brings))
        if ready:
            found.append(
                _reason("preempts", jobs=tuple(ready), count=len(ready), gpus=sum(ready.values()))
            )
        return found

    def _preempts(self, entry: Entry, other: Entry) -> bool:
        preempts = self._state.rules.classes[entry.job.priority_class].preempts
        return other.job.priority_class in preempts

    def _ending(self, entry: Entry, other: Entry, end: float, gpus: int) -> Reason:
        number, user = other.job.id, other.job.user
        numbers: Numbers = {"job": number, "user": user, "gpus": gpus}
        if other.ending_by is not None:
            return _reason_of("job_ending", numbers, jobs=(number,))
        if other.parked_at is not None:
            return _reason_of("job_suspended", numbers, jobs=(number,))
        if end == NEVER:
            return _reason_of("job_open", numbers, jobs=(number,))
        if self._preempts(entry, other):
            rule = f"classes.{other.job.priority_class.value}.min_run"
            return _reason_of("min_run", {**numbers, "begin_at": end}, rule, (number,))
        return _reason_of("job_ends", {**numbers, "end_at": end}, jobs=(number,))

    def _startable(self, entry: Entry) -> int:
        """How many whole GPUs the same user could have at once in this class, all else equal."""
        state, job = self._state, entry.job
        if job.request.cpus > self._pool.room_for(entry)[0]:
            return 0
        others = [one for one in self._reservations if one.job != job.id]
        way = in_the_way(others, state.now, job.request.walltime_s)
        if any(job.request.cpus > one.spare_cpus for one in way):
            return 0
        request = replace(job.request, gpus=0, gpu_memory_bytes=None, gpu_compute_percent=None)
        whole = replace(entry, job=replace(job, request=request))
        count = len(self._pool.whole_for(whole, self._pool.barred(whole, way)))
        applied = state.limits_of(job)
        if any(refusals(applied, state.tallies.held, whole, 0)):
            return 0
        for one in applied:
            if one.limit.max_gpus is not None:
                left = one.limit.max_gpus * UNITS - state.tallies.held.units(one.key)
                count = min(count, max(0, left) // UNITS)
        return count


def _budget(job: Job, over: Overdraft) -> Reason:
    """What the person used of this month's budget, in GPU hours."""
    which = job.priority_class.value
    return _reason(
        "budget_never" if over.never else "budget", f"classes.{which}.budget",
        user=job.user, priority_class=which, budget_h=_hours(over.budget_s),
        used_h=_hours(over.used_s), planned_h=_hours(over.planned_s), need_h=_hours(over.need_s),
        renewed_at=over.renewed_at,
    )  # fmt: skip


def _hours(gpu_s: float) -> int | float:
    return _number(round(gpu_s / 3600.0, 1))


def _number(value: float) -> int | float:
    return int(value) if value == int(value) else round(value, 2)


def _indices(slots: Sequence[Slot]) -> str:
    """ "0, 3, 5": as people name GPUs."""
    return ", ".join(str(slot.gpu.index) for slot in slots)
