"""The scheduler: events in, decisions out. No clock, no chance, no I/O: the same events give the
same decisions, to the byte, in production, in a replay and in a test.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from roost.core.model import Job, JobState, PriorityClass
from roost.core.scheduler.apply import Changes
from roost.core.scheduler.decisions import Decision, Wait
from roost.core.scheduler.eligibility import Begins
from roost.core.scheduler.events import Event, TimeReached
from roost.core.scheduler.explain import Explainer
from roost.core.scheduler.future import Future
from roost.core.scheduler.idle import idle_enough_at
from roost.core.scheduler.policy import Policy
from roost.core.scheduler.round import Round
from roost.core.scheduler.snapshot import Snapshot, snapshot_of
from roost.core.scheduler.state import State
from roost.core.scheduler.submission import (
    Inventory,
    Problem,
    SubmissionFacts,
    check_submission,
)
from roost.core.scheduler.taking import Victims
from roost.core.scheduler.twin import twin_of


class Scheduler:
    """One server's queue. Not for use by several threads at once.

    `look_first`: nothing starts before the first `ForeignUse` has said where strangers are. For a
    real machine, of which a scheduler that was just made knows only what the database knew.
    `policy`: a textbook order in place of that of the rules, for the replay to compare with.
    """

    def __init__(self, look_first: bool = False, policy: Policy | None = None) -> None:
        self._state = State(policy)
        self._state.looked = not look_first
        self._victims = Victims(self._state)
        self._earmarked: dict[int, None] = {}
        self._begins = Begins()
        self._round: Round | None = None
        self._wanting = False
        self._explainer: Explainer | None = None
        self._future: Future | None = None

    @property
    def now(self) -> float:
        """The time of the latest event; it never goes back."""
        return self._state.now

    def step(self, events: Sequence[Event]) -> list[Decision]:
        """Takes the events in, then decides. Why a job waits is asked for by `explain`.

        All jobs of a rebuilt state (JobRestored) belong into one step.
        """
        out: list[Decision] = []
        changes = Changes(self._state, self._begins, out)
        for event in events:
            changes.apply(event)
        changes.finish()
        self._earmarked.update(changes.earmarked)
        one = Round(self._state, out, self._victims)
        if self._state.looked:
            one.run(tuple(self._earmarked))
            self._earmarked.clear()
        self._round = one
        self._wanting = one.wanting
        self._explainer = None
        if out or not all(isinstance(event, TimeReached) for event in events):
            self._future = None
        return out

    def budgets_used_s(self) -> dict[tuple[PriorityClass, str], float]:
        """GPU seconds of this month by class and person, as of the last step."""
        return self._state.budgets.used_s(self._state.now)

    def next_time(self) -> float | None:
        """When a TimeReached could change something though nothing happens; None: never."""
        state = self._state
        times = [self._begins.soonest()]
        for number in state.claims:
            claim = state.entries[number].claim
            for victim in claim.victims if claim is not None else ():
                entry = state.entries.get(victim)
                times.append(None if entry is None else entry.ending_by)
        if self._wanting:
            times += self._minimum_runs()
        for number in state.leavings:
            entry = state.entries[number]
            times += [one.notice_at for one in (entry.leaving, entry.warning) if one is not None]
        if len(state.queue):
            times.append(state.hours.next_change(state.now))
            times.append(state.walls.next_change(state.now))
            times.append(state.budgets.next_change(state.now))
            if state.idles:
                times.append(idle_enough_at(state))
        soonest = None
        for at in times:
            if at is not None and at > state.now and (soonest is None or at < soonest):
                soonest = at
        return soonest

    def _minimum_runs(self) -> list[float]:
        """When running jobs will have run long enough to be asked to give way."""
        state = self._state
        spans = {which: rules.min_run_s for which, rules in state.rules.classes.items()}
        if state.policy.preempts:
            spans = {which: min(span, state.policy.min_run_s) for which, span in spans.items()}
        longest_s = max(spans.values())
        found = []
        # They are kept in the order of their starts.
        for number in reversed(state.active):
            entry = state.entries[number]
            if entry.started_at + longest_s <= state.now:
                break
            if entry.ending_by is None:
                found.append(entry.started_at + spans[entry.job.priority_class])
        return found

    def explain(self, job: int) -> Wait:
        """Why the job waits, as of the last step; no reasons for one that is not waiting.

        Equal requests of one user share the work, so that a long list costs little.
        """
        if self._explainer is None:
            kept = () if self._round is None else tuple(self._round.reservations)
            self._explainer = Explainer(self._state, kept)
        wait = self._explainer.wait(job)
        if wait.forecast_start_at is None:
            return wait
        return replace(wait, forecast_latest_at=wait.forecast_start_at)

    def forecast(self, job: int) -> Wait:
        """Why the job waits, when it is likely to start and when at the latest. What `future` costs
        is paid by the first who asks after something has happened."""
        return self.future().told(self.explain(job))

    def future(self) -> Future:
        """What is to come if nobody else does, for all waiting jobs. It stands apart: it may be
        asked in another thread, while this scheduler goes on. Kept until something happens."""
        if self._future is None or self.now >= self._future.until:
            leave = (self._round, self._explainer, self._future)
            self._future = Future(*twin_of((self, self._state), leave))
        return self._future

    def check_submission(
        self,
        job: Job,
        linux_groups: tuple[str, ...] = (),
        array_size: int = 1,
        known_jobs: frozenset[int] | None = None,
    ) -> list[Problem]:
        """What stands against queueing the job (see `submission.check_submission`), by the rules,
        the machine and the waiting jobs of this scheduler."""
        state = self._state
        gpus = tuple(slot.gpu for slot in state.slots.values() if slot.present)
        inventory = Inventory(gpus, state.cpus, state.memory_bytes)
        waiting = {key: state.tallies.waiting.jobs(key) for key in state.tallies.keys_of(job)}
        facts = SubmissionFacts(linux_groups, array_size, waiting, known_jobs)
        return check_submission(state.rules, inventory, job, facts)

    def state_of(self, job: int) -> JobState | None:
        """The job's state as the scheduler knows it; None for one it does not know (any more)."""
        entry = self._state.entries.get(job)
        return self._state.ended.get(job) if entry is None else entry.state

    def snapshot(self) -> Snapshot:
        """Everything that decides what comes next, as plain sorted data, to compare and to show."""
        return snapshot_of(self._state, self._begins)
