"""A server on which time passes by itself: jobs end when they have lasted, who is told to go goes
at the end of the grace. Driven by the decisions alone, as a daemon would, step by step.
"""

from __future__ import annotations

from collections.abc import Callable

from roost.core.model import JobState
from roost.core.scheduler.decisions import Preempt, Resume, Start, Stop, Suspend
from roost.core.scheduler.events import Event, JobEnded, TimeReached
from tests.core.scheduler.pictures import World

NEVER = float("inf")
# From a job's number and now, at its start: when it ends.
EndsAt = Callable[[int, float], float]


class LivingWorld(World):
    """`first_start`: by job. `gone_at`: (instant, whether it goes back) of those told to go."""

    def __init__(self, *args: object, **more: object) -> None:
        self.first_start: dict[int, float] = {}
        self.gone_at: dict[int, tuple[float, bool]] = {}
        self.ends_at: dict[int, float] = {}
        self.left_s: dict[int, float] = {}
        self.at_once: list[int] = []
        self.read = 0
        super().__init__(*args, **more)  # type: ignore[arg-type]

    def live(self, until: float, ends_at: EndsAt, most_steps: int = 2000) -> None:
        """Until that instant, or until nothing happens any more."""
        for _ in range(most_steps):
            self._hear(ends_at)
            if self.at_once:
                self.suspend(self.at_once.pop(0))
                continue
            at = self._next()
            if at > until or at == NEVER:
                break
            self.now = max(self.now, at)
            events = self._ends()
            self.step(*(events or [TimeReached(self.now)]))
            self.run_all()
        if until != NEVER:
            self.now = max(self.now, until)

    def _hear(self, ends_at: EndsAt) -> None:
        """What was decided since the last look, all of it at this instant."""
        for decision in self.log[self.read :]:
            match decision:
                case Start(job=number):
                    self.first_start.setdefault(number, self.now)
                    self.ends_at[number] = ends_at(number, self.now)
                case Preempt(job=number, grace_s=grace_s):
                    self._told(number, grace_s, self.jobs[number].requeue)
                case Suspend(job=number):
                    self.left_s[number] = self.ends_at.pop(number) - self.now
                    self.at_once.append(number)
                case Resume(job=number):
                    self.first_start.setdefault(number, self.now)
                    self.ends_at[number] = self.now + self.left_s.pop(number)
                case Stop(job=number, grace_s=grace_s, requeue=back):
                    self._told(number, grace_s, back)
                case _:
                    pass
        self.read = len(self.log)

    def _told(self, number: int, grace_s: float, back: bool) -> None:
        before = self.gone_at.get(number, (NEVER, back))
        self.gone_at[number] = min(before[0], self.now + grace_s), back

    def _next(self) -> float:
        ends = [self.ends_at.get(number, NEVER) for number in self.held]
        ends += [at for at, _ in self.gone_at.values()]
        due = self.scheduler.next_time()
        return min([*ends, NEVER if due is None else due])

    def _ends(self) -> list[Event]:
        """Those whose time has come, as events."""
        found: list[tuple[float, int, bool]] = []
        for number in self.held:
            gone_at = self.gone_at.get(number, (NEVER, False))[0]
            end = self.ends_at.get(number, NEVER)
            if min(end, gone_at) <= self.now:
                found.append((min(end, gone_at), number, gone_at < end))
        events: list[Event] = []
        for _, number, told in sorted(found):
            back = self.gone_at.pop(number, (NEVER, False))[1] and told
            self.gone(number)
            state = JobState.CANCELLED if told else JobState.COMPLETED
            self.states[number] = JobState.PENDING if back else state
            events.append(JobEnded(self.now, number, self.attempts[number], state, back))
        return events

    def waiting(self) -> list[int]:
        """Also those that are suspended, for when they go on."""
        return [n for n, state in self.states.items() if state.waits]
