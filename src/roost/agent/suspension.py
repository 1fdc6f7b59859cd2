"""Suspends one job where it is, and lets it go on: a state machine over freezer and checkpoint.

The newest order counts: one that comes while another is being carried out is seen to after it.
Knows no wire, no record and no walltime: its owner is told when the job stands still and goes on.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum

import msgspec

from roost.agent import record
from roost.agent.checkpointing import Checkpointing
from roost.agent.child import Failure
from roost.agent.control import Suspend
from roost.agent.note import note
from roost.agent.reaper import JobProcesses
from roost.core.text.printable import printable
from roost.machine.cuda_checkpoint import Outcome
from roost.machine.proc.read import GoneError, HiddenError, read_stat
from roost.wire.messages import AttemptState

FREEZE_S = 10.0
FIRST_PAUSE_S = 0.001
LONGEST_PAUSE_S = 0.1
TEND_S = 1.0

After = Callable[[str, float, Callable[[], None]], None]


class Stillness:
    """How long the job has stood still, in its state and in its record on disk."""

    def __init__(self, folder_fd: int) -> None:
        self._folder_fd = folder_fd
        self._since: float | None = None

    @property
    def now(self) -> bool:
        return self._since is not None

    def begin(self, state: AttemptState, stopped: tuple[tuple[int, int], ...] = ()) -> AttemptState:
        """`state` as of a job that stands still, from now on if it has not before."""
        if self._since is None:
            self._since, now = time.monotonic(), time.time()
            state = msgspec.structs.replace(state, state="suspended", suspended_at=now)
            self._write(state, record.Suspended(now, state.suspended_s, stopped))
        return state

    def end(self, state: AttemptState, why: Failure | None) -> AttemptState:
        """`state` as of a job that runs; `why` is what kept it from standing still."""
        if self._since is not None:
            total = state.suspended_s + time.monotonic() - self._since
            self._since = None
            state = msgspec.structs.replace(
                state, state="running", suspended_at=None, suspended_s=total
            )
            self._write(state, None)
        return msgspec.structs.replace(state, refusal=why.text() if why else "")

    def _write(self, state: AttemptState, suspended: record.Suspended | None) -> None:
        try:
            record.write_suspended(self._folder_fd, suspended)
        except OSError as error:  # the supervisor tells it too, as soon as it is heard
            note("suspension not recorded", job=state.job, error=str(error))


class Phase(Enum):
    RUNNING = "running"
    MOVING_OUT = "moving out"
    FREEZING = "freezing"
    STILL = "still"
    BRINGING_BACK = "bringing back"


@dataclass(frozen=True, slots=True)
class Told:
    """What the owner is told. `stands()`: the job stands still, and that was asked. `goes_on(why)`:
    it runs; `why` is what kept it from standing. `broken(why)`: it cannot go on as it was."""

    stands: Callable[[], None]
    goes_on: Callable[[Failure | None], None]
    broken: Callable[[Failure], None]


class Suspension:
    """`after(name, seconds, action)` sets a timer.

    GPU memory is moved out first, since that needs a job that runs, and brought back last.
    """

    def __init__(
        self,
        processes: JobProcesses,
        checkpointing: Checkpointing,
        after: After,
        told: Told,
    ) -> None:
        self._processes = processes
        self._freezer = processes.freezer()
        self._checkpointing = checkpointing
        self._after = after
        self._told = told
        self._phase = Phase.RUNNING
        self._wanted: Suspend | None = None
        self._until = 0.0
        self._pause_s = FIRST_PAUSE_S
        self._kept: list[int] = []

    @property
    def keeps_signals(self) -> bool:
        """Whether a signal sent now has to wait here until the job goes on."""
        stands = self._phase in (Phase.FREEZING, Phase.STILL)
        return stands and not self._freezer.keeps_signals

    def stopped(self) -> tuple[tuple[int, int], ...]:
        """(pid, start ticks) of each process that would stand still without this one."""
        return self._freezer.stopped()

    def keep(self, number: int) -> None:
        """A signal to be sent when the job goes on; each once, as the kernel does it."""
        if number not in self._kept:
            self._kept.append(number)

    # -- orders --------------------------------------------------------------------------------

    def suspend(self, order: Suspend) -> None:
        self._wanted = order
        if self._phase is Phase.STILL:
            self._told.stands()
        elif self._phase is Phase.RUNNING:
            self._begin(order)

    def resume(self) -> None:
        """Whatever is under way towards standing still is undone."""
        self._wanted = None
        if self._phase is Phase.MOVING_OUT:
            self._checkpointing.give_up()
        elif self._phase is not Phase.BRINGING_BACK:
            self._go_on(None)

    def release(self) -> None:
        """The job is to end: it goes on at once, for what it does about that. Idempotent.

        What it had on its GPUs stays in host memory when it stood still: they may be others' now.
        """
        self._wanted = None
        if self._phase is Phase.MOVING_OUT:
            self._checkpointing.give_up()
        elif self._phase in (Phase.FREEZING, Phase.STILL):
            if self._phase is Phase.STILL:
                self._checkpointing.forget()
            self._go_on(None)

    def end(self) -> None:
        """Nothing of the job is left."""
        self._checkpointing.end()
        self._checkpointing.forget()
        self.release()

    # -- standing still ------------------------------------------------------------------------

    def _begin(self, order: Suspend) -> None:
        if order.how != "checkpoint":
            self._freeze()
            return
        why = self._checkpointing.refusal(order)
        if why is None:
            self._phase = Phase.MOVING_OUT
            try:
                self._checkpointing.move_out(order, self._moved)
                return
            except OSError as error:
                why = Failure("not_checkpointed", {"why": str(error)})
        self._phase = Phase.RUNNING
        self._wanted = None
        self._told.goes_on(why)

    def _moved(self, outcome: Outcome) -> None:
        if self._phase is not Phase.MOVING_OUT:
            return
        if outcome.done and self._wanted is not None:
            self._freeze()
            return
        asked = self._wanted is not None
        why = Failure("not_checkpointed", {"why": outcome.why}) if asked else None
        if outcome.done:
            self._go_on(None)
        else:
            self._over(outcome, why)

    def _freeze(self) -> None:
        self._phase = Phase.FREEZING
        self._until = time.monotonic() + FREEZE_S
        self._pause_s = FIRST_PAUSE_S
        self._press()

    def _press(self) -> None:
        if self._phase is not Phase.FREEZING:
            return
        try:
            self._freezer.press()
        except OSError as error:
            self._go_on(Failure("not_frozen", {"why": str(error)}))
            return
        if self._freezer.still():
            self._stand()
        elif time.monotonic() > self._until:
            self._go_on(Failure("not_still", {"which": self._moving()}))
        else:
            self._after("freeze", self._pause_s, self._press)
            self._pause_s = min(LONGEST_PAUSE_S, self._pause_s * 2)

    def _stand(self) -> None:
        if self._checkpointing.looked and self._checkpointing.newcomers():
            why = "another process of it took a GPU meanwhile"
            self._go_on(Failure("not_checkpointed", {"why": why}))
            return
        self._phase = Phase.STILL
        self._after("tend", TEND_S, self._tend)
        self._told.stands()

    def _moving(self) -> str:
        names = []
        for pid in self._freezer.moving()[:3]:
            with suppress(GoneError, HiddenError):
                names.append(f"{pid} ({printable(read_stat(b'/proc', pid).comm)})")
        return ", ".join(names) or "-"

    def _tend(self) -> None:
        if self._phase is Phase.STILL and self._processes.main is not None:
            with suppress(OSError):  # its cgroup is gone: it is just ending
                self._freezer.tend(self._processes.main)
            self._after("tend", TEND_S, self._tend)

    # -- going on ------------------------------------------------------------------------------

    def _go_on(self, why: Failure | None) -> None:
        if why is not None:
            self._wanted = None
        if self._phase is not Phase.RUNNING:
            self._freezer.release()
        kept, self._kept = self._kept, []
        for number in kept:
            self._processes.deliver(number)
        if not self._checkpointing.moved:
            self._checkpointing.forget()
            self._phase = Phase.RUNNING
            self._told.goes_on(why)
            return
        self._phase = Phase.BRINGING_BACK
        try:
            self._checkpointing.bring_back(lambda outcome: self._over(outcome, why))
        except OSError as error:
            self._over(Outcome(False, str(error), lost=True), why)

    def _over(self, outcome: Outcome, why: Failure | None) -> None:
        """It runs again, as it was or broken; an order that came meanwhile is seen to now."""
        self._phase = Phase.RUNNING
        self._told.goes_on(why)
        if outcome.lost:
            self._told.broken(Failure("gpu_state_lost", {"why": outcome.why}))
        elif self._wanted is not None and why is None:
            self._begin(self._wanted)
        else:
            self._wanted = None
