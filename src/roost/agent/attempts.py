"""The agent's table of attempts: launched once, followed through their supervisors, recovered.

What is on disk is the truth (docs/design/001); this table is rebuilt from it at every start. Runs
in the agent's event loop and blocks nowhere. Knows nothing of who asks.
"""

from __future__ import annotations

import asyncio
import os
import socket
import time
from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field

import msgspec
import structlog

from roost.agent import control, lost, record, runtime
from roost.agent.control import AnyOrder, Attach, Forget, Resume, Suspend
from roost.agent.forks import Forks
from roost.agent.record import Prepared, RecordError, Started, Suspended
from roost.agent.validate import RefusedError
from roost.core.model import EndReason
from roost.core.text import agent as text
from roost.machine import cgroup
from roost.machine.cgroup import Layout
from roost.wire.messages import AttemptEnd, AttemptState, GpuGrant

log = structlog.get_logger()
Key = tuple[int, int]
RETRY_S = 0.05
MOST_FORKS = 8
EXECUTING = ("running", "suspended")
MOST_FORGOTTEN = 100_000


@dataclass(slots=True)
class _Entry:
    state: AttemptState
    uid: int = -1
    pty: bool = False
    gpus: tuple[GpuGrant, ...] = ()
    connection: socket.socket | None = None
    waiting: list[AnyOrder] = field(default_factory=list)
    forks: int = 0
    asked: bool = False


class Attempts:
    """`changed` is called with every new state of an attempt."""

    def __init__(
        self,
        folder: str,
        runtime_folder: str,
        layout: Layout,
        boot_id: str,
        forks: Forks,
        changed: Callable[[AttemptState], None],
    ) -> None:
        self._folder = folder
        self._runtime = runtime_folder
        self._layout = layout
        self._boot_id = boot_id
        self._forks = forks
        self._changed = changed
        self._entries: dict[Key, _Entry] = {}
        self._newest: dict[int, int] = {}
        self._forgotten: OrderedDict[Key, None] = OrderedDict()
        self._loop = asyncio.get_running_loop()

    # -- what is known -------------------------------------------------------------------------

    def states(self) -> tuple[AttemptState, ...]:
        return tuple(entry.state for entry in self._entries.values())

    def state(self, key: Key) -> AttemptState | None:
        entry = self._entries.get(key)
        return entry.state if entry else None

    def uses(self) -> dict[str, list[tuple[int, int | None, bool]]]:
        """Who is on which GPU: UUID to (pid, bytes of its share or None, whether it works)."""
        found: dict[str, list[tuple[int, int | None, bool]]] = {}
        for entry in self._entries.values():
            state = entry.state
            if state.state in EXECUTING and state.pid:
                for gpu in entry.gpus:
                    used = state.pid, gpu.memory_bytes, state.state == "running"
                    found.setdefault(gpu.uuid, []).append(used)
        return found

    def newest(self, job: int) -> int | None:
        """The highest attempt known of the job."""
        return self._newest.get(job)

    def terminal(self, job: int) -> tuple[Key, int] | None:
        """Key and owner's uid of the job's living attempt that has a terminal."""
        key = (job, self._newest.get(job, 0))
        entry = self._entries.get(key)
        if entry is None or not entry.pty or entry.state.state == "ended":
            return None
        return key, entry.uid

    # -- orders --------------------------------------------------------------------------------

    def may_launch(self, key: Key) -> bool:
        """False when it is known: then what it does is the answer. Raises RefusedError."""
        job, attempt = key
        if key in self._entries:
            return False
        newest = self._newest.get(job)
        if key in self._forgotten or (newest is not None and newest > attempt):
            raise RefusedError("stale_attempt", job=job, newer=max(attempt, newest or 0))
        if newest is not None:
            before = self._entries.get((job, newest))
            if before is not None and before.state.state != "ended":
                raise RefusedError("still_running", job=job, attempt=newest)
        return True

    def launch(self, prepared: Prepared) -> None:
        """Records the attempt and has its supervisor forked. Raises RefusedError."""
        spec = prepared.spec
        key = (spec.job, spec.attempt)
        if not self.may_launch(key):
            return
        try:
            record.create(self._folder, prepared)
        except OSError as error:
            raise RefusedError(
                "no_space", detail=os.strerror(error.errno or 0), path=self._folder
            ) from error
        self._add(key, AttemptState(*key, state="preparing"), prepared)
        self._fork(key)

    def order(self, key: Key, order: AnyOrder) -> bool:
        """Hands an order to the attempt's supervisor, or keeps it until there is one. False when
        the attempt has ended. Raises RefusedError for one that is unknown."""
        entry = self._entries.get(key)
        if entry is None:
            raise RefusedError("unknown_attempt", job=key[0], attempt=key[1])
        if entry.state.state == "ended":
            return False
        if isinstance(order, Suspend | Resume):
            entry.asked = True  # its next state is the answer, be it the same
        if entry.connection is None or not self._send(key, entry, order):
            entry.waiting.append(order)
        return True

    def attach(self, key: Key, connection: socket.socket) -> bool:
        """Gives a person's connection to the supervisor; False when there is none to take it."""
        entry = self._entries.get(key)
        if entry is None or entry.connection is None:
            return False
        try:
            control.send_order(entry.connection, Attach(), [connection.fileno()])
        except OSError:
            return False
        return True

    def forget(self, key: Key) -> None:
        """The end is known for good: record and entry go. Raises RefusedError while it lives."""
        entry = self._entries.get(key)
        if entry is None:
            return
        if entry.state.state != "ended":
            raise RefusedError("still_running", job=key[0], attempt=key[1])
        if entry.connection is not None:
            with suppress(OSError):  # as a rule it has ended; it waits only while a disk is full
                control.send_order(entry.connection, Forget())
            self._disconnect(entry)
        record.remove(self._folder, *key)
        del self._entries[key]
        self._forgotten[key] = None
        if len(self._forgotten) > MOST_FORGOTTEN:
            old, _ = self._forgotten.popitem(last=False)
            if self._newest.get(old[0]) == old[1]:
                del self._newest[old[0]]

    def close(self) -> None:
        for entry in self._entries.values():
            self._disconnect(entry)

    # -- after a restart -----------------------------------------------------------------------

    def recover(self) -> None:
        """Takes up every attempt that is on disk, and ends what belongs to none."""
        for key in record.known(self._folder):
            try:
                self._recover(key)
            except OSError as error:
                log.error("attempt not recovered", job=key[0], attempt=key[1], error=str(error))
        for key in cgroup.jobs_in(self._layout) - set(self._entries):
            log.warning("orphaned cgroup", job=key[0], attempt=key[1])
            self._end_orphan(key)

    def _recover(self, key: Key) -> None:
        folder = record.open_folder(self._path(key))
        try:
            try:
                prepared = record.read_prepared(folder)
            except RecordError as error:
                log.warning("attempt without spec", job=key[0], attempt=key[1], error=str(error))
                record.remove(self._folder, *key)  # spec comes first: nothing was launched
                return
            state = record.read_end(folder)
            if state is None:
                state = self._state_without_end(key, folder)
        finally:
            os.close(folder)
        self._add(key, state, prepared)
        if state.state != "ended":
            self._look_after(key)

    def _state_without_end(self, key: Key, folder: int) -> AttemptState:
        try:
            started = record.read_started(folder)
        except RecordError:
            started = Started(0, 0, 0.0)
        if started is None:
            return AttemptState(*key, state="preparing")
        return _running(key, started, record.read_suspended(folder))

    def _end_orphan(self, key: Key) -> None:
        if key not in self._entries and not lost.end_group(self._layout, cgroup.name_of(*key)):
            self._loop.call_later(RETRY_S, self._end_orphan, key)

    # -- supervisors ---------------------------------------------------------------------------

    def _path(self, key: Key) -> str:
        return f"{self._folder}/{record.folder_name(*key)}"

    def _add(self, key: Key, state: AttemptState, prepared: Prepared) -> None:
        spec = prepared.spec
        self._entries[key] = _Entry(state, prepared.account.uid, spec.pty, spec.gpus)
        self._newest[key[0]] = max(key[1], self._newest.get(key[0], 0))

    def _fork(self, key: Key) -> None:
        entry = self._entries[key]
        entry.forks += 1
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        try:
            self._forks.fork(record.folder_name(*key), theirs)
        except OSError as error:
            entry.forks -= 1  # no try of it: the launcher is being started again
            log.info("launcher unreachable", error=str(error))
        finally:
            theirs.close()
        self._connect(key, entry, ours)

    def _connect(self, key: Key, entry: _Entry, connection: socket.socket) -> None:
        connection.setblocking(False)
        entry.connection = connection
        self._loop.add_reader(connection.fileno(), self._hear, key)
        waiting, entry.waiting = entry.waiting, []
        for order in waiting:
            if not self._send(key, entry, order):
                entry.waiting.append(order)

    def _send(self, key: Key, entry: _Entry, order: AnyOrder) -> bool:
        if entry.connection is None:
            return False
        try:
            control.send_order(entry.connection, order)
        except OSError as error:
            log.warning("order not taken", job=key[0], attempt=key[1], error=str(error))
            return False
        return True

    def _disconnect(self, entry: _Entry) -> None:
        if entry.connection is not None:
            self._loop.remove_reader(entry.connection.fileno())
            entry.connection.close()
            entry.connection = None

    def _hear(self, key: Key) -> None:
        entry = self._entries.get(key)
        if entry is None or entry.connection is None:
            return
        try:
            state = control.receive_state(entry.connection)
        except BlockingIOError:
            return
        except (OSError, msgspec.MsgspecError):
            state = None
        if state is None:
            self._disconnect(entry)
            if entry.state.state != "ended":
                self._look_after(key)
        elif (state.job, state.attempt) == key:
            self._take(key, entry, state)

    def _take(self, key: Key, entry: _Entry, state: AttemptState) -> None:
        if entry.state.state == "ended" or (state == entry.state and not entry.asked):
            return
        entry.asked = False
        entry.state = state
        self._changed(state)

    def _look_after(self, key: Key) -> None:
        """An attempt without a connection: what its folder says is what is to be done."""
        entry = self._entries.get(key)
        if entry is None or entry.state.state == "ended" or entry.connection is not None:
            return
        try:
            folder = record.open_folder(self._path(key))
        except OSError as error:
            log.error("attempt's folder is gone", job=key[0], attempt=key[1], error=str(error))
            self._finish_without_folder(key, entry)
            return
        try:
            self._look_into(key, entry, folder)
        except OSError as error:
            log.warning("attempt looked after later", job=key[0], error=str(error))
            self._loop.call_later(1.0, self._look_after, key)
        finally:
            os.close(folder)

    def _look_into(self, key: Key, entry: _Entry, folder: int) -> None:
        end = record.read_end(folder)
        if end is not None:
            self._take(key, entry, end)
            return
        lock = record.try_lock(folder)
        if lock is None:
            connection = control.reach(folder)
            if connection is None:
                self._loop.call_later(RETRY_S, self._look_after, key)
            else:
                self._connect(key, entry, connection)
            return
        try:
            # The end may have come between the look and the lock.
            end = record.read_end(folder)
            if end is not None:
                self._take(key, entry, end)
                return
            self._without_supervisor(key, entry, folder)
        finally:
            os.close(lock)

    def _without_supervisor(self, key: Key, entry: _Entry, folder: int) -> None:
        """The lock is ours, and there is no end: executed and lost, or never executed."""
        try:
            prepared = record.read_prepared(folder)
            started, suspended = record.read_started(folder), record.read_suspended(folder)
            executed = started is not None
        except RecordError as error:
            log.error("damaged record", job=key[0], attempt=key[1], error=str(error))
            prepared, started, suspended, executed = None, None, None, True
        rebooted = prepared is not None and prepared.boot_id != self._boot_id
        if executed or rebooted:
            if (
                prepared is not None
                and not rebooted
                and not lost.end_rest(prepared, started, suspended)
            ):
                self._loop.call_later(RETRY_S, self._look_after, key)
                return
            code = "lost_reboot" if rebooted else "lost_supervisor"
            self._finish(key, entry, folder, EndReason.LOST, code)
        elif not lost.end_group(self._layout, cgroup.name_of(*key)):
            self._loop.call_later(RETRY_S, self._look_after, key)
        elif entry.forks >= MOST_FORKS:
            self._finish(key, entry, folder, EndReason.LAUNCH_FAILED, "no_supervisor", detail="-")
        else:
            self._loop.call_later(RETRY_S * (1 + entry.forks), self._fork_again, key)

    def _fork_again(self, key: Key) -> None:
        entry = self._entries.get(key)
        if entry is not None and entry.connection is None and entry.state.state != "ended":
            self._fork(key)

    def _finish(
        self,
        key: Key,
        entry: _Entry,
        folder: int,
        reason: EndReason,
        code: str,
        **numbers: str,
    ) -> None:
        """Writes the end in the supervisor's place, under its lock."""
        state = self._ended(entry, reason, code, numbers)
        record.write_end(folder, state)
        runtime.remove(f"{self._runtime}/{record.folder_name(*key)}")
        self._take(key, entry, state)

    def _finish_without_folder(self, key: Key, entry: _Entry) -> None:
        if not lost.end_group(self._layout, cgroup.name_of(*key)):
            self._loop.call_later(RETRY_S, self._look_after, key)
            return
        self._take(key, entry, self._ended(entry, EndReason.LOST, "lost_supervisor", {}))

    def _ended(
        self, entry: _Entry, reason: EndReason, code: str, numbers: dict[str, str]
    ) -> AttemptState:
        end = AttemptEnd(
            reason=reason,
            ended_at=time.time(),
            text=text.MESSAGES[code][0].format(**numbers),
            message=f"agent.{code}",
            numbers=numbers,
        )
        return msgspec.structs.replace(entry.state, state="ended", end=end)


def _running(key: Key, started: Started, suspended: Suspended | None) -> AttemptState:
    return AttemptState(
        job=key[0],
        attempt=key[1],
        state="suspended" if suspended else "running",
        pid=started.pid,
        start_ticks=started.start_ticks,
        started_at=started.started_at,
        source_changed=started.source_changed,
        suspended_at=suspended.suspended_at if suspended else None,
        suspended_s=suspended.suspended_s if suspended else 0.0,
    )
