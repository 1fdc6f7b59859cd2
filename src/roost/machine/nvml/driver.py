"""`NvmlDriver`: the `GpuDriver` on NVIDIA cards. Asks a helper process and never waits too long.

At most one helper exists, so at most one hangs: it is killed when it does, and where the kernel
does not let it die, nothing else is started before it is gone. This process never loads NVML.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from roost.core.observation import DriverReading, DriverState, GpuReading, GpuState
from roost.machine.nvml.inventory import kernel_version, library_version
from roost.machine.nvml.known import KnownCards
from roost.machine.nvml.process import HelperProcess
from roost.machine.nvml.protocol import (
    IN_NO_CARD,
    Answer,
    Ask,
    Mapped,
    Probed,
    ReaderOptions,
    identity_of,
)

Readings = tuple[DriverReading, tuple[GpuReading, ...]]


@dataclass(frozen=True, slots=True)
class DriverOptions:
    """`kill_after_s`: how long a helper may hang. `start_s`: the same while it initialises, which
    takes seconds a card without persistence. `probe_s`, `probe_most_s`: after how long a card that
    hung is tried again, doubling. `restart_most_s`: longest wait after helpers that die."""

    kill_after_s: float = 5.0
    start_s: float = 60.0
    stop_s: float = 3.0
    probe_s: float = 30.0
    probe_most_s: float = 600.0
    restart_s: float = 1.0
    restart_most_s: float = 60.0
    reader: ReaderOptions = field(default_factory=ReaderOptions)


class NvmlDriver:
    """One for a process. Methods may be called from several threads; they wait for each other."""

    def __init__(
        self, options: DriverOptions | None = None, wall: Callable[[], float] = time.time
    ) -> None:
        """Starts nothing: the first `read` does. `wall` stamps since when a state holds."""
        self._options = options or DriverOptions()
        self._wall = wall
        self._lock = threading.Lock()
        self._helper: HelperProcess | None = None
        self._known = KnownCards(self._options.probe_s, self._options.probe_most_s)
        self._request = 0
        self._released = False
        self._mapped: Mapped | None = None
        self._last = DriverReading(DriverState.NOT_ANSWERING, remedy_code="starting")
        self._since = (DriverState.NOT_ANSWERING, self._wall())
        self._start_at = 0.0
        self._failures = 0

    def read(self, deadline_s: float) -> Readings:
        """See `GpuDriver`. Returns within `deadline_s`, but for some milliseconds."""
        until = time.monotonic() + deadline_s
        with self._lock:
            if self._released and self._stop():
                return self._stamp(
                    DriverReading(
                        DriverState.RELEASED,
                        self._last.driver_version,
                        self._last.cuda_version,
                        remedy_code="released",
                    ),
                    self._known.as_(GpuState.NOT_ANSWERING, "released"),
                )
            helper = self._ready()
            if isinstance(helper, DriverReading):
                return self._stamp(
                    helper, self._known.as_(GpuState.NOT_ANSWERING, helper.state.value)
                )
            return self._ask(helper, until)

    def release(self) -> None:
        """See `GpuDriver`. Reads go on to say NOT_ANSWERING where the helper cannot be ended."""
        with self._lock:
            self._released = True
            self._stop()

    def hold(self) -> None:
        """See `GpuDriver`."""
        with self._lock:
            self._released = False
            self._start_at = 0.0

    def close(self) -> None:
        """See `GpuDriver`. A helper that the kernel holds is left behind, killed."""
        with self._lock:
            self._released = True
            self._stop()

    @property
    def helper_pid(self) -> int | None:
        """The process that holds the driver, for a listing of who does; None for none."""
        helper = self._helper
        return None if helper is None else helper.pid

    # -- the helper's life ---------------------------------------------------------------------

    def _ready(self) -> HelperProcess | DriverReading:
        """A helper to ask, or what to say instead."""
        now = time.monotonic()
        helper = self._helper
        if helper is not None and helper.killed and not helper.gone():
            return self._no_answer(
                f"process {helper.pid} hangs in state {helper.kernel_state()} and cannot be ended",
                "unkillable",
            )
        if helper is not None and helper.status() is not None:
            self._bury(helper)
            helper = None
        if helper is not None and self._known.probe_hangs(helper, now):
            helper.kill()
            if not helper.gone(0.5):
                return self._no_answer("a probe hangs", "not_answering")
            self._bury(helper)
            helper = None
        if helper is not None and self._replaced():
            self._stop()
            helper = self._helper
            self._start_at = 0.0
            if helper is not None:
                return self._no_answer("the old helper hangs", "unkillable")
        if helper is not None:
            return helper
        if now < self._start_at:
            return self._last
        try:
            self._helper = HelperProcess(self._options.reader)
        except OSError as error:
            self._delay(now)
            return self._no_answer(f"no helper process can be started: {error}", "error")
        return self._helper

    def _bury(self, helper: HelperProcess) -> None:
        """Takes note of how it ended; one that keeps dying is started ever more slowly."""
        if helper.killed:
            self._start_at = 0.0
            self._last = self._no_answer("the helper that hung was ended", "not_answering")
        else:
            self._delay(time.monotonic())
            status = helper.status()
            words = helper.last_words()
            self._last = self._no_answer(
                f"the helper ended with {status}" + (f": {words}" if words else ""), "error"
            )
        self._known.probing = None
        helper.forget()
        self._helper = None
        self._mapped = None

    def _delay(self, now: float) -> None:
        options = self._options
        self._start_at = now + min(options.restart_s * 2**self._failures, options.restart_most_s)
        self._failures = min(self._failures + 1, 10)

    def _stop(self) -> bool:
        """Ends the helper cleanly, else by force. False when it lives on."""
        helper = self._helper
        if helper is None:
            return True
        if helper.killed and not helper.gone():
            return False
        if not helper.stop(0.0 if helper.asked_at is not None else self._options.stop_s):
            return False
        self._known.probing = None
        helper.forget()
        self._helper = None
        self._mapped = None
        return True

    # -- one question --------------------------------------------------------------------------

    def _ask(self, helper: HelperProcess, until: float) -> Readings:
        self._hear_what_is_there(helper)
        if helper.asked_at is None:
            now = time.monotonic()
            self._request += 1
            self._known.probing = self._known.due(now)
            helper.ask(Ask(self._request, self._known.hung_indices(), self._known.probing))
        while (said := helper.hear(until)) is not None:
            if isinstance(said, Probed):
                self._known.recovered(said.uuid)
                continue
            helper.asked_at = None
            helper.answers += 1
            return self._take(helper, said)
        return self._late(helper)

    def _hear_what_is_there(self, helper: HelperProcess) -> None:
        """Drops answers to questions of before: they tell of a time that has passed."""
        while (said := helper.hear(0.0)) is not None:
            if isinstance(said, Probed):
                self._known.recovered(said.uuid)
            else:
                helper.asked_at = None
                helper.answers += 1

    def _late(self, helper: HelperProcess) -> Readings:
        """The deadline has passed: the helper hangs, starts, or is dead."""
        index = helper.in_card()
        if helper.status() is not None or (helper.ended and helper.gone(0.5)):
            self._bury(helper)
            return self._stamp(
                self._last, self._known.as_(GpuState.NOT_ANSWERING, self._last.detail)
            )
        starting = helper.answers == 0 and index == IN_NO_CARD
        allowed = self._options.start_s if starting else self._options.kill_after_s
        if helper.silent_for() >= allowed:
            self._known.hangs(index, time.monotonic())
            helper.kill()
        if starting and not helper.killed:
            reading = self._no_answer("the driver is being initialised", "starting")
        else:
            where = "NVML" if index == IN_NO_CARD else f"a call to GPU {index}"
            reading = self._no_answer(f"{where} does not return", "not_answering")
        return self._stamp(reading, self._known.as_(GpuState.NOT_ANSWERING, reading.detail))

    def _take(self, helper: HelperProcess, answer: Answer) -> Readings:
        driver = answer.driver
        self._mapped = answer.library or self._mapped
        if driver.state is DriverState.OK:
            self._failures = 0
            driver = self._pending_update(driver)
            gpus = self._known.merge(answer.gpus)
        else:
            gpus = self._known.as_(GpuState.NOT_ANSWERING, driver.state.value)
        if driver.state is DriverState.NO_LIBRARY:
            self._stop()  # nothing to hold: no process stays on a machine without GPUs
            self._delay(time.monotonic())
            self._start_at = max(self._start_at, time.monotonic() + self._options.reader.retry_s)
        elif answer.last:
            self._stop()
        self._last = driver
        return self._stamp(driver, gpus)

    # -- what to say ---------------------------------------------------------------------------

    def _no_answer(self, detail: str, remedy: str) -> DriverReading:
        return DriverReading(
            DriverState.NOT_ANSWERING,
            self._last.driver_version,
            self._last.cuda_version,
            detail,
            remedy,
        )

    def _stamp(self, driver: DriverReading, gpus: tuple[GpuReading, ...]) -> Readings:
        if driver.state is not self._since[0]:
            self._since = (driver.state, self._wall())
        return replace(driver, since_at=self._since[1]), gpus

    # -- a library replaced on disk ------------------------------------------------------------

    def _replaced(self) -> bool:
        """Whether another library lies at the path and a new helper could work with it.

        An update under a running driver is not taken up: the old mapping works on, while a new
        process would only find the mismatch.
        """
        if self._mapped is None:
            return False
        there = identity_of(self._mapped.path)
        if there is None or there == self._mapped:
            return False
        if self._last.state is not DriverState.OK:
            return True
        new, running = self._versions_now()
        return new is None or running is None or new == running

    def _pending_update(self, driver: DriverReading) -> DriverReading:
        """The same reading, with the warning where new processes will fail."""
        if self._mapped is None or identity_of(self._mapped.path) == self._mapped:
            return driver
        new, running = self._versions_now()
        if new is None or running is None or new == running:
            return driver
        return replace(
            driver,
            detail=f"library {new} on disk, driver {running} running",
            remedy_code="update_pending",
        )

    def _versions_now(self) -> tuple[str | None, str | None]:
        assert self._mapped is not None
        return library_version(self._mapped.path), kernel_version(self._options.reader.proc)
