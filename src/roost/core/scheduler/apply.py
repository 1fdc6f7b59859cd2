"""What each event changes. An event about a job that is unknown, or about an attempt that is not
the job's last, changes nothing: it is late news of something that was already dealt with.
"""

from __future__ import annotations

from dataclasses import replace

from roost.core.model import EndReason, JobState
from roost.core.rules.model import Rules
from roost.core.scheduler import events as ev
from roost.core.scheduler.decisions import Decision, Finish, Stop
from roost.core.scheduler.eligibility import Begins, end_job, settle, unmet_of
from roost.core.scheduler.entry import STUCK_AFTER_S, Entry
from roost.core.scheduler.order import expected_s
from roost.core.scheduler.state import State
from roost.core.scheduler.suspending import goes_on, park, preempt
from roost.core.scheduler.use import charge, use_seen

RAN_THROUGH = (JobState.COMPLETED, JobState.FAILED, JobState.TIMEOUT)
STOPPABLE = (JobState.STARTING, JobState.RUNNING, JobState.SUSPENDED)


class Changes:
    """Takes a step's events into the state. `fresh` jobs have their dependencies looked up once
    all events are in, so that the order within a step does not matter to them."""

    def __init__(self, state: State, begins: Begins, out: list[Decision]) -> None:
        self._state, self._begins, self._out = state, begins, out
        self.fresh: list[tuple[int, bool]] = []
        self.earmarked: dict[int, None] = {}

    def apply(self, event: ev.Event) -> None:
        state = self._state
        state.advance(event.at)
        match event:
            case ev.JobSubmitted(job=job):
                if job.id not in state.entries and job.id not in state.ended:
                    state.add(Entry(job))
                    self.fresh.append((job.id, False))
            case ev.JobStarted():
                self._started(event)
            case ev.JobEnded():
                self._ended(event)
            case ev.JobCheckpointed(job=number):
                entry = state.entries.get(number)
                if entry is not None and entry.grants_held:
                    entry.safe_at = max(entry.safe_at, event.at)
            case ev.JobSuspended(job=number) | ev.JobNotSuspended(job=number):
                entry = state.entries.get(number)
                if entry is not None and entry.attempt == event.attempt and entry.suspend:
                    if isinstance(event, ev.JobSuspended):
                        park(state, entry)
                    else:
                        self._not_suspended(entry)
            case ev.JobCancelled(job=number):
                self._cancelled(number)
            case ev.JobHeld(job=number, held=held):
                entry = state.entries.get(number)
                if entry is not None:
                    entry.job = replace(entry.job, held=held)
                    if entry.state is JobState.PENDING:
                        settle(state, self._begins, entry)
            case ev.JobRequeued(job=number):
                entry = state.entries.get(number)
                if entry is not None and entry.state in STOPPABLE:
                    self._stop(entry, EndReason.PREEMPTED, requeue=True)
            case ev.GpuChanged(gpu_uuid=uuid, usable=usable, reason=reason):
                state.set_usable(uuid, usable, reason)
            case ev.ForeignUse(bytes_by_gpu=used):
                state.looked = True
                state.set_foreign(dict(used))
            case ev.BookingsChanged(bookings=bookings):
                state.set_bookings(bookings)
            case ev.GpuUse(busy=busy):
                use_seen(state, dict(busy), self._out)
            case ev.InventoryChanged():
                state.set_inventory(event.gpus, event.cpus, event.memory_bytes)
            case ev.RulesChanged(rules=rules):
                self._rules(rules)
            case ev.UsageRestored():
                state.usage.restore(event.gpu_s_by_user, event.gpu_s_by_group)
            case ev.BudgetsRestored(used_gpu_s=used_gpu_s):
                state.budgets.restore(used_gpu_s, state.now)
            case ev.HabitsRestored(runs=runs):
                for one in runs:
                    kind = one.user, one.group, one.gpus, one.walltime_s is not None
                    state.forecast.learn(kind, one.walltime_s, one.run_s)
            case ev.JobRestored():
                self._restored(event)
            case ev.TimeReached():
                pass

    def finish(self) -> None:
        """Looks up the dependencies of new jobs, and lets in those whose begin time has come."""
        state = self._state
        for number, restored in self.fresh:
            entry = state.entries.get(number)
            if entry is None:
                continue
            unmet, failed = unmet_of(state, entry.job, restored)
            if failed is not None and entry.state is JobState.PENDING:
                self._finish(entry, failed)
                continue
            entry.unmet = unmet
            for other in unmet:
                state.dependents.setdefault(other, []).append(number)
            settle(state, self._begins, entry)
        for number in self._begins.reached(state.now):
            if number in state.entries:
                settle(state, self._begins, state.entries[number])

    def _rules(self, rules: Rules) -> None:
        state = self._state
        charged = state.rules.fair_share.charge
        otherwise = state.set_rules(rules)
        if rules.fair_share.charge != charged:
            for number in state.active:
                if state.entries[number].parked_at is None:
                    charge(state, state.entries[number])
        for entry in state.entries.values():
            if entry.asked is not None and entry.state is JobState.PENDING:
                settle(state, self._begins, entry)
            if not otherwise:
                continue
            if state.foresees:
                state.foresee(entry)
            if entry.job.id in state.queue:
                state.queue.remove(entry.job)
                settle(state, self._begins, entry)

    def _started(self, event: ev.JobStarted) -> None:
        entry = self._state.entries.get(event.job)
        if entry is None or entry.attempt != event.attempt or not entry.grants_held:
            return
        if entry.state is JobState.STARTING:
            entry.state = JobState.RUNNING
            if event.at == entry.started_at:
                entry.safe_at = event.at
                return
            entry.started_at = entry.safe_at = event.at
            self._state.watch_leaving(entry)
            self._state.ends_otherwise(entry)

    def _ended(self, event: ev.JobEnded) -> None:
        entry = self._state.entries.get(event.job)
        if entry is None or entry.attempt != event.attempt or not entry.grants_held:
            return
        if event.requeue and entry.job.requeue:
            entry.done_s += max(0.0, entry.safe_at - entry.started_at)
        elif not event.requeue and event.state in RAN_THROUGH:
            run_s = entry.done_s + entry.ran_s(event.at)
            self._state.forecast.ended(entry.job, run_s, expected_s(entry))
        self._state.free_gpus(entry)
        if event.requeue and not entry.cancelled:
            self._state.back_to_queue(entry)
            settle(self._state, self._begins, entry)
        elif event.requeue:
            self._finish(entry, "cancelled")
        else:
            self._end(entry, event.state)

    def _cancelled(self, number: int) -> None:
        entry = self._state.entries.get(number)
        if entry is None:
            return
        if entry.state is JobState.PENDING:
            self._finish(entry, "cancelled")
        elif not entry.cancelled:
            entry.cancelled = True
            if entry.state is not JobState.COMPLETING:
                self._stop(entry, EndReason.CANCELLED, requeue=False)

    def _stop(self, entry: Entry, reason: EndReason, requeue: bool) -> None:
        """A job that is in its grace already is not given a second one."""
        state = self._state
        grace_s = state.rules.classes[entry.job.priority_class].grace_s
        state.told_to_end(entry, JobState.COMPLETING, grace_s)
        self._out.append(Stop(entry.job.id, entry.attempt, reason, grace_s, requeue))

    def _not_suspended(self, entry: Entry) -> None:
        """It goes back to the queue instead, where somebody still waits for its GPUs."""
        state = self._state
        entry.stays, entry.ending_by = True, None
        claimant = state.entries.get(entry.preempted_for or 0)
        claim = None if claimant is None else claimant.claim
        if claimant is None or claim is None or entry.job.id not in claim.victims:
            goes_on(state, entry)
            return
        self._out.append(preempt(state, entry, claimant))

    def _finish(self, entry: Entry, code: str) -> None:
        self._out.append(Finish(entry.job.id, code))
        self._end(entry, JobState.CANCELLED)

    def _end(self, entry: Entry, final: JobState) -> None:
        followers: list[Finish] = []
        end_job(self._state, self._begins, entry, final, followers)
        self._out.extend(followers)

    def _restored(self, event: ev.JobRestored) -> None:
        state, job = self._state, event.job
        if job.id in state.entries or job.id in state.ended:
            return
        if event.state.ended:
            state.ended[job.id] = event.state
            return
        entry = Entry(job, event.state, event.attempt)
        state.add(entry)
        self.fresh.append((job.id, True))
        if not event.state.holds_gpus:
            return
        entry.started_at = event.at if event.started_at is None else event.started_at
        entry.safe_at = max(entry.started_at, event.checkpointed_at or entry.started_at)
        entry.parked_at = event.suspended_at
        if event.state is JobState.SUSPENDED and entry.parked_at is None:
            entry.parked_at = event.at
        state.hold_gpus(entry, event.grants)
        if event.state in (JobState.PREEMPTING, JobState.COMPLETING):
            grace_s = state.rules.classes[job.priority_class].grace_s
            gone_by = event.at + grace_s if event.gone_by is None else event.gone_by
            entry.ending_by = gone_by + STUCK_AFTER_S
            entry.suspend = event.suspend
            state.ends_otherwise(entry)
        if event.preempt_by is not None:
            entry.preempted_for = event.preempt_by
            if entry.parked_at is None:
                self.earmarked[event.preempt_by] = None
