"""The control loop: one thread that owns scheduler, ledger and every write.

Whatever is queued is handled together and stored in one transaction; only then are engine and
callers told. If storing fails nothing happened: memory is read anew from the database, people are
told, and what the engine said is handled again when storing works.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from queue import Empty, SimpleQueue
from typing import Any

import structlog
from sqlalchemy import Connection

from roost.core.attribution.model import Memory
from roost.core.observation import Observation
from roost.core.scheduler.decisions import Decision
from roost.core.scheduler.events import Event, InventoryChanged, TimeReached
from roost.server import attempts, desk, told, watch
from roost.server.board import Board, RulesInForce
from roost.server.bookings import due as bookings
from roost.server.deciding import carry_out, explained
from roost.server.engines.base import (
    Changed,
    Connected,
    Disconnected,
    Engine,
    EngineEvent,
    LaunchRefused,
    Saw,
)
from roost.server.foresight import Foresight
from roost.server.intents import Intent, Submit
from roost.server.record import Recorder
from roost.server.refusal import RefusalError
from roost.server.restore import restore
from roost.server.retention import RETENTION_EVERY_S, clean
from roost.server.use import UseMeter
from roost.server.work import Work
from roost.store.database import Store
from roost.store.errors import StoreError
from roost.store.submissions import recent_submissions

log = structlog.get_logger()
FLUSH_EVERY_S = 10.0
MAX_BATCH = 500
RETRY_S = 1.0
EXPLAIN_MOST = 5_000
EXPLAIN_WITHIN_S = 3.0


class Control:
    """One a server. What other threads may call is said below; the rest is its own thread's."""

    def __init__(
        self,
        store: Store,
        board: Board,
        engine: Engine,
        rules: RulesInForce,
        clock: Callable[[], float] = time.time,
        recorder: Recorder | None = None,
    ) -> None:
        self._store = store
        self._board = board
        self._engine = engine
        self._clock = clock
        self._recorder = recorder
        self.foresight = Foresight()
        self._queue: SimpleQueue[tuple[Intent, Future[Any]] | EngineEvent | None] = SimpleQueue()
        self._again: list[EngineEvent] = []
        self._memory = Memory()
        self._foreign: dict[str, int] | None = None
        self._strays: set[tuple[int, int, str]] = set()
        self._strangers: set[str] = set()
        self._use = UseMeter()
        self._recent: deque[Observation] = deque(maxlen=900)
        self._flushed_at = self._cleaned_at = 0.0
        self._last_at = 0.0
        self._rest_s = 1.0
        self._ticked = 0.0
        self._explain_due = False
        self._explain_at = 0.0
        self._rules = rules
        self._work = self._rebuild()
        self._thread = threading.Thread(target=self._run, name="control", daemon=True)

    # -- from other threads ----------------------------------------------------------------------

    def start(self) -> None:
        self._thread.start()
        self._engine.start(self)

    def close(self) -> None:
        """Stores what was observed and ends the thread. Jobs go on."""
        self._engine.close()
        self._queue.put(None)
        if self._thread.is_alive():
            self._thread.join(30.0)
        self.foresight.close()
        if self._recorder is not None:
            self._recorder.close()

    def submit(self, intent: Intent) -> Future[Any]:
        """Queues what a person wants. The future's value comes after the commit; it raises
        RefusalError or StoreError when nothing was changed."""
        future: Future[Any] = Future()
        self._queue.put((intent, future))
        return future

    def engine_said(self, event: EngineEvent) -> None:
        self._queue.put(event)

    def samples_wanted_since(self) -> float:
        through = self._work.ledger.through
        # Nothing was ever counted: there is nothing to go on from.
        return self._clock() if through is None else through

    @property
    def alive(self) -> bool:
        return self._thread.is_alive()

    # -- the loop --------------------------------------------------------------------------------

    def _run(self) -> None:
        while True:
            batch = self._next_batch()
            stopping = None in batch
            items = [item for item in batch if item is not None]
            self._work.flush = stopping or self._clock() - self._flushed_at >= FLUSH_EVERY_S
            try:
                self._handle(items)
            except Exception:
                # A fault of ours: said, told to those who asked, and memory made anew.
                log.exception("control loop")
                self._fail(items, StoreError("failed", where=self._store.where, detail="internal"))
            if stopping:
                return

    def _next_batch(self) -> list[tuple[Intent, Future[Any]] | EngineEvent | None]:
        batch: list[tuple[Intent, Future[Any]] | EngineEvent | None] = []
        try:
            batch.append(self._queue.get(timeout=RETRY_S if self._again else self._rest_s))
            while len(batch) < MAX_BATCH:
                batch.append(self._queue.get_nowait())
        except Empty:
            pass
        again, self._again = self._again, []
        return [*again, *batch]

    def _now(self) -> float:
        self._last_at = max(self._last_at, self._clock())
        return self._last_at

    def _handle(self, items: Sequence[tuple[Intent, Future[Any]] | EngineEvent]) -> None:
        work = self._work
        work.now = self._now()
        replies: list[tuple[Future[Any], Callable[[], Any]]] = []
        refused: list[tuple[Future[Any], Exception]] = []
        try:
            for item in items:
                if not isinstance(item, tuple):
                    self._engine_event(item)
                    continue
                intent, future = item
                if isinstance(intent, Submit) and work.events and self._queue_is_limited():
                    self._decide()
                try:
                    replies.append((future, desk.handle(work, self._engine, intent)))
                except RefusalError as no:
                    refused.append((future, no))
            bookings.due(work, self._engine)
            told.due(work)
            self._decide()
            if work.events:  # something that was decided cannot be done
                self._decide()
            if work.now - self._cleaned_at > RETENTION_EVERY_S:
                self._cleaned_at = work.now
                work.extra.append(self._clean)
            if work.flush:
                for allocation in list(work.allocations.values()):
                    if allocation.to_at is None:
                        work.put_allocation(work.ledger.held(allocation, work.now))
            if work.dirty:
                flushed = work.flush
                with self._store.write() as connection:
                    work.save(connection)
                if flushed:
                    self._flushed_at = work.now
                    self._recent.clear()
        except StoreError as error:
            self._fail(items, error)
            for future, refusal in refused:
                future.set_exception(refusal)
            return
        work.committed()
        self._rules = work.rules
        for future, refusal in refused:
            future.set_exception(refusal)
        for future, reply in replies:
            future.set_result(reply())
        self._explain()

    def _decide(self) -> None:
        """One step of the scheduler with all that happened, or with the time alone."""
        work = self._work
        began = time.perf_counter()
        events = work.events
        work.events = []
        if not events:
            soonest = work.scheduler.next_time()
            due = soonest is not None and soonest <= work.now
            if work.now < self._ticked + self._rest_s and not due:
                return
            events = [TimeReached(work.now)]
        self._ticked = work.now
        carry_out(work, self._engine, self._step(work, events))
        if not self._explain_due:
            self._explain_due = True
            self._explain_at = max(self._explain_at, work.now)
        # A long queue is looked at less often, so that looking never fills the day.
        self._rest_s = min(10.0, max(1.0, 20.0 * (time.perf_counter() - began)))

    def _step(self, work: Work, events: Sequence[Event]) -> list[Decision]:
        decisions = work.scheduler.step(events)
        if self._recorder is not None:
            self._recorder.step(events, decisions)
        return decisions

    def _queue_is_limited(self) -> bool:
        """Whether some rule limits how many may wait, so that each submission must be counted
        before the next is looked at."""
        limits = self._work.rules.rules.limits
        tables = (limits.classes, limits.per_user_of_class, limits.groups, limits.users,
                  limits.group_of_class)  # fmt: skip
        every = [limits.per_user, *(one for table in tables for one in table.values())]
        return any(one.max_queued is not None for one in every)

    def _clean(self, connection: Connection) -> None:
        clean(connection, self._work.now)
        self._work.submitted = recent_submissions(connection, self._work.now)

    def _explain(self) -> None:
        """Why each job waits, for the lists: after all answers, when nobody else waits for one, and
        seldom enough that it never fills the day."""
        work = self._work
        late_s = work.now - self._explain_at
        if not self._explain_due or late_s < 0:
            return
        if late_s < EXPLAIN_WITHIN_S and not self._queue.empty():
            return
        began = time.perf_counter()
        self._explain_due = False
        waiting = [job for job in work.jobs.values() if job.state.waits]
        waits = [work.scheduler.explain(job.id) for job in waiting[:EXPLAIN_MOST]]
        seen = self.foresight.latest
        for job, wait in zip(waiting, waits, strict=False):
            explained(work, job, wait if seen is None else seen.known(wait))
        work.publish_waits()
        if self.foresight.wanted(len(waiting)):
            self.foresight.work_out(work.scheduler.future(), waits, self._explain_again)
        self._explain_at = work.now + max(0.5, 20.0 * (time.perf_counter() - began))

    def _explain_again(self) -> None:
        """More is known of the same moment. From another thread."""
        self._explain_due = True

    def _engine_event(self, event: EngineEvent) -> None:
        work = self._work
        match event:
            case Connected():
                self._connected(event)
            case Disconnected():
                self._board.connected = False
                bookings.unwatched(work)
                work.event("agent_away", "", text=event.text)
                work.topics.add("status")
            case Changed():
                attempts.attempt_changed(work, self._engine, event.attempt, self._strangers)
            case LaunchRefused():
                attempts.launch_refused(work, self._engine, event)
            case Saw():
                self._saw(event.observation)

    def _connected(self, event: Connected) -> None:
        work = self._work
        ends = {(a.job, a.attempt): a.end.ended_at for a in event.attempts if a.end is not None}
        for sample in event.samples:
            self._count(sample, ends)
        if work.host is None or work.host.boot_id != event.host.boot_id:
            work.event("boot", event.host.server, boot_id=event.host.boot_id)
        if work.host != event.host:
            desk.keep_host(work, event.host)
            if work.gpus:
                work.events.append(
                    InventoryChanged(
                        work.now, tuple(work.gpus.values()), event.host.cpus,
                        event.host.memory_bytes,
                    )
                )  # fmt: skip
        work.event("agent_connected", event.host.server)
        self._board.host = event.host
        self._board.connected = True
        work.topics |= {"status", "who"}
        attempts.reconcile(work, self._engine, event.attempts, self._strangers)
        if event.samples:
            self._look(event.samples[-1])

    def _saw(self, observation: Observation) -> None:
        through = self._work.ledger.through
        if through is not None and observation.taken_at <= through:
            return
        self._count(observation, {})
        self._look(observation)

    def _count(self, observation: Observation, ends: dict[tuple[int, int], float]) -> None:
        work = self._work
        attribution, self._memory = watch.explain(work, observation, self._memory)
        work.ledger.observe(observation, attribution, list(work.allocations.values()), ends)
        self._recent.append(observation)
        self._board.seen(observation)
        self._board.observation, self._board.attribution = observation, attribution

    def _look(self, observation: Observation) -> None:
        work = self._work
        attribution = self._board.attribution
        watch.inventory_seen(work, observation)
        watch.fitness_seen(work, observation)
        if attribution is not None:
            self._foreign = watch.foreign_seen(work, attribution, self._foreign)
            watch.strays_seen(work, attribution, self._strays)
            bookings.seen(work, attribution)
        report = self._use.add(observation, work.rules.rules, work.now)
        if report is not None:
            work.events.append(report)
        work.topics |= {"status", "who"}

    # -- when storing fails ----------------------------------------------------------------------

    def _fail(
        self, items: Sequence[tuple[Intent, Future[Any]] | EngineEvent], error: StoreError
    ) -> None:
        log.error("nothing could be stored", code=error.code, why=str(error))
        self._board.trouble = error.code
        # Samples are counted again from `_recent`; what the engine said of attempts, from here.
        self._again = [i for i in items if not isinstance(i, tuple | Saw)]
        for item in items:
            if isinstance(item, tuple) and not item[1].done():
                item[1].set_exception(error)
        try:
            self._work = self._rebuild()
        except StoreError as again:
            log.error("memory could not be read anew", why=str(again))

    def _rebuild(self) -> Work:
        now = self._now()
        work = restore(self._store, self._board, self._rules, now)
        events, work.events = work.events, []
        if self._recorder is not None:
            self._recorder.fresh(look_first=True)
        carry_out(work, self._engine, self._step(work, events))
        self._foreign = None
        self._flushed_at = now
        through = work.ledger.through or 0.0
        self._work = work
        for sample in [s for s in self._recent if s.taken_at > through]:
            attribution, self._memory = watch.explain(work, sample, self._memory)
            work.ledger.observe(sample, attribution, list(work.allocations.values()))
        return work
