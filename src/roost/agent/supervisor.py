"""One job's supervisor: starts it once, watches it, ends all of it, and records how it ended.

The order of lock, started, executing and end is the protocol of docs/design/001; whoever changes it
here changes it there. It lives through the death of agent and server and takes orders through its
socket. Knows no queue and no other job.
"""

from __future__ import annotations

import os
import selectors
import signal
import socket
import time
from collections.abc import Callable
from contextlib import suppress

import msgspec

from roost.agent import child, control, record, runtime, shutdown
from roost.agent.checkpointing import Checkpointing
from roost.agent.ending import Seen, end_of
from roost.agent.environment import environment_of
from roost.agent.link import AgentLinks
from roost.agent.note import note
from roost.agent.reaper import JobProcesses
from roost.agent.record import Prepared, Started
from roost.agent.reports import Reports
from roost.agent.runtime import JobFolder
from roost.agent.shortage import Shortage
from roost.agent.suspension import Stillness, Suspension, Told
from roost.agent.terminal import Terminal, open_pair, tty_group
from roost.agent.watchdog import Act, Terms, Watchdog
from roost.core.model import EndReason
from roost.machine import cgroup
from roost.machine.proc.read import GoneError, HiddenError, read_stat
from roost.wire.messages import AttemptEnd, AttemptState

PUSH_EVERY_S = 1.0
RETRY_END_S = 1.0
HANG_UP_AGAIN_S = 2.0


class Supervisor:
    def __init__(
        self, folder_fd: int, prepared: Prepared, agent: socket.socket | None, children: int
    ) -> None:
        self._folder_fd = folder_fd
        self._prepared = prepared
        spec = prepared.spec
        self._state = AttemptState(job=spec.job, attempt=spec.attempt, state="preparing")
        self._processes = JobProcesses(prepared.layout, cgroup.name_of(spec.job, spec.attempt))
        self._children = children
        self._selector = selectors.DefaultSelector()
        self._timers: dict[str, tuple[float, Callable[[], None]]] = {}
        self._watchdog = Watchdog(Terms(None, None, spec.kill_wait_s, spec.saving_limit_s), 0.0)
        self._suspension = Suspension(
            self._processes,
            Checkpointing(
                self._processes,
                self._selector,
                spec.memory_bytes,
                any(gpu.uuid.startswith("MIG-") for gpu in spec.gpus),
            ),
            self._after,
            Told(self._stands_still, self._goes_on, self._broken),
        )
        self._stillness = Stillness(folder_fd)
        self._reports: Reports | None = None
        self._folder: JobFolder | None = None
        self._terminal: Terminal | None = None
        self._slave: int | None = None
        self._shortage: Shortage | None = None
        self._sync: socket.socket | None = None
        self._failure: child.Failure | None = None
        self._told: child.Failure | None = None
        self._done = self._checkpointed = self._out_of_memory = False
        self._killing = self._forgotten = self._running = False
        self._links = AgentLinks(folder_fd, self._selector, self._state, self._take_order)
        if agent is not None:
            self._links.add(agent)

    # -- the whole life ------------------------------------------------------------------------

    def run(self) -> None:
        try:
            self._links.listen()
            self._selector.register(self._children, selectors.EVENT_READ, self._reap)
            self._prepare()
            while not self._over():
                self._turn()
        except child.LaunchError as error:
            self._failure = error.failure
        except OSError as error:
            detail = os.strerror(error.errno) if error.errno else str(error)
            about = f" ({error.filename})" if error.filename else ""
            self._failure = child.Failure(
                "setup_failed", {"step": "supervisor", "detail": detail + about}
            )
        self._finish()

    def close(self) -> None:
        """Lets go of every descriptor: this process may see another job through."""
        self._links.close()
        self._selector.close()
        if self._sync is not None:
            self._sync.close()
        for part in (self._reports, self._shortage):
            if part is not None:
                part.close()
        if self._slave is not None:
            os.close(self._slave)

    def _prepare(self) -> None:
        """Cgroup, folder, terminal, and the child up to the point where it waits for the word."""
        prepared, spec = self._prepared, self._prepared.spec
        limits = cgroup.Limits(
            cpus=spec.cpus,
            memory_bytes=spec.memory_bytes,
            processes=spec.max_processes or prepared.max_processes,
        )
        name = self._processes.name
        if prepared.layout.bases():
            try:
                cgroup.create(prepared.layout, name, limits, prepared.devices)
            except OSError as error:
                raise child.LaunchError(
                    "no_cgroup", detail=f"{os.strerror(error.errno or 0)}: {error.filename}"
                ) from error
        self._folder = runtime.make(prepared)
        self._reports = Reports(self._folder.status, self._selector, self._after, self._status_line)
        if spec.pty:
            owner = prepared.account.uid if prepared.as_root else None
            group = tty_group() if prepared.as_root else None
            master, self._slave = open_pair(spec.rows, spec.columns, owner, group)
            self._terminal = Terminal(master, spec.job, spec.attempt)
        self._fork(self._folder)
        if spec.memory_bytes is not None and prepared.layout.bases():
            self._shortage = Shortage(
                self._processes, self._selector, self._after, self._short_of_memory
            )

    def _fork(self, folder: JobFolder) -> None:
        spec, account = self._prepared.spec, self._prepared.account
        environment = environment_of(spec, account, folder.status_path)
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        pid = os.fork()
        if pid == 0:
            try:
                child.run(self._prepared, environment, folder.script, theirs, self._slave)
            finally:
                os._exit(125)
        theirs.close()
        if self._slave is not None:
            os.close(self._slave)
            self._slave = None
        self._processes.main = pid
        # The walltime counts here too: a folder that does not answer must not keep a GPU for ever.
        terms = Terms(spec.walltime_s, None, spec.kill_wait_s, spec.saving_limit_s)
        self._watchdog = Watchdog(terms, time.monotonic())
        self._sync = ours
        self._selector.register(ours, selectors.EVENT_READ, self._hear_child)

    def _over(self) -> bool:
        """The main process has ended, and nobody is left who was given time to finish."""
        if self._failure is not None:
            return True
        if self._processes.main_status is None or self._sync is not None:
            return False
        return not self._watchdog.stopping or self._killing or self._processes.gone()

    # -- one turn of the loop ------------------------------------------------------------------

    def _turn(self) -> None:
        times = [at for at, _ in self._timers.values()]
        next_at = self._watchdog.next_at()
        if next_at is not None:
            times.append(next_at)
        timeout = max(0.0, min(times) - time.monotonic()) if times else None
        for key, _ in self._selector.select(timeout):
            key.data()
        now = time.monotonic()
        for name, (at, action) in list(self._timers.items()):
            if now >= at:
                del self._timers[name]
                action()
        for act in self._watchdog.due(now):
            self._act(act)

    def _after(self, name: str, seconds: float, action: Callable[[], None]) -> None:
        self._timers[name] = (time.monotonic() + seconds, action)

    def _act(self, act: Act) -> None:
        spec = self._prepared.spec
        if act is not Act.WARN:
            self._suspension.release()
        if act is Act.KILL or not self._running:
            self._killing = True
            self._processes.kill_round()
        elif act is Act.ASK:
            self._ask_by_terminal()  # a shell there ignores SIGTERM
            self._processes.signal(spec.stop_signal)
            self._processes.signal(signal.SIGCONT)  # a stopped process hears nothing else
        elif act is Act.WARN and spec.warn_signal is not None:
            self._processes.warn(spec.warn_signal)

    # -- the child -----------------------------------------------------------------------------

    def _hear_child(self) -> None:
        """Ready, a failure, or the end of the channel: it has executed, or died before."""
        sync = self._sync
        if sync is None:
            return
        try:
            data = sync.recv(65536)
        except OSError:
            data = b""
        if data[:1] == b"r" and not self._watchdog.stopping:
            self._start(sync, msgspec.msgpack.decode(data[1:], type=child.Ready))
            return
        if data[:1] == b"f":
            self._failure = msgspec.msgpack.decode(data[1:], type=child.Failure)
        self._selector.unregister(sync)
        sync.close()
        self._sync = None
        if not data and not self._running and not self._watchdog.stopping:
            self._failure = child.Failure(
                "setup_failed", {"step": "start", "detail": "the process died"}
            )

    def _start(self, sync: socket.socket, ready: child.Ready) -> None:
        """`started` is on disk before the word is given: from here on it has been executed."""
        spec, pid = self._prepared.spec, self._processes.main or 0
        started = Started(pid, _start_ticks(pid), time.time(), ready.source_changed)
        try:
            record.write_started(self._folder_fd, started)
        except OSError as error:
            raise child.LaunchError(
                "no_space", detail=os.strerror(error.errno or 0), path="the state directory"
            ) from error
        with suppress(OSError):  # killed just now: the end of the channel tells
            sync.send(b"g")
        self._running = True
        warned = spec.warn_before_s if spec.warn_signal is not None else None
        terms = Terms(spec.walltime_s, warned, spec.kill_wait_s, spec.saving_limit_s)
        self._watchdog = Watchdog(terms, time.monotonic())
        self._state = msgspec.structs.replace(
            self._state,
            state="running",
            pid=pid,
            start_ticks=started.start_ticks,
            started_at=started.started_at,
            source_changed=ready.source_changed,
        )
        self._push()
        if self._terminal is not None and not self._terminal.attached_once:
            self._after("terminal", self._prepared.terminal_wait_s, self._terminal_unused)

    def _reap(self) -> None:
        with suppress(BlockingIOError):
            os.read(self._children, 4096)
        self._processes.reap()

    def _short_of_memory(self) -> None:
        """v1 ends one process; the job is over all the same, as it is on v2."""
        self._out_of_memory = True
        self._processes.kill_round()

    # -- what the job reports ------------------------------------------------------------------

    def _status_line(self, line: str) -> None:
        if line == "saving":
            self._watchdog.saw_saving()
        elif line == "saved":
            self._watchdog.saw_saved(time.monotonic())
            self._state = msgspec.structs.replace(self._state, checkpointed_at=time.time())
            if "push" not in self._timers:
                self._after("push", PUSH_EVERY_S if self._checkpointed else 0.0, self._push)
            self._checkpointed = True
        elif line == "done":
            self._done = True

    def _push(self) -> None:
        self._links.say(self._state)

    # -- orders --------------------------------------------------------------------------------

    def _take_order(self, order: control.AnyOrder, descriptors: list[int]) -> None:
        if isinstance(order, control.Stop):
            self._watchdog.stop(order.reason, order.grace_s, time.monotonic())
        elif isinstance(order, control.Signal):
            if self._running and self._suspension.keeps_signals and order.signal != signal.SIGKILL:
                self._suspension.keep(order.signal)
            elif self._running:
                self._processes.deliver(order.signal)
        elif isinstance(order, control.Suspend):
            self._suspend(order)
        elif isinstance(order, control.Resume):
            self._suspension.resume()
        elif isinstance(order, control.Forget):
            self._forgotten = True
        elif descriptors:
            self._attach(descriptors.pop())

    def _suspend(self, order: control.Suspend) -> None:
        self._state = msgspec.structs.replace(self._state, refusal="")
        if self._running and not self._watchdog.stopping:
            self._suspension.suspend(order)
        else:
            self._goes_on(child.Failure("not_suspended_yet" if not self._running else "is_ending"))

    def _stands_still(self) -> None:
        self._watchdog.pause(time.monotonic())
        self._state = self._stillness.begin(self._state, self._suspension.stopped())
        self._push()

    def _goes_on(self, why: child.Failure | None) -> None:
        self._watchdog.go_on(time.monotonic())
        self._state = self._stillness.end(self._state, why)
        self._push()

    def _broken(self, why: child.Failure) -> None:
        if not self._watchdog.stopping:
            self._told = why
        self._watchdog.stop(EndReason.SIGNALLED, 0.0, time.monotonic())

    def _attach(self, descriptor: int) -> None:
        if self._terminal is None:
            os.close(descriptor)
            return
        client = self._terminal.attach(descriptor)
        if client is not None:
            self._timers.pop("terminal", None)
            self._selector.register(client, selectors.EVENT_READ, lambda: self._hear_client(client))

    def _hear_client(self, client: socket.socket) -> None:
        terminal, number = self._terminal, client.fileno()
        if terminal is None or not terminal.gone(client):
            return
        self._selector.unregister(number)
        if terminal.abandoned and not self._watchdog.stopping:
            self._close_terminal(child.Failure("terminal_closed"))

    def _terminal_unused(self) -> None:
        if self._stillness.now:  # nobody could answer there
            self._after("terminal", self._prepared.terminal_wait_s, self._terminal_unused)
            return
        seconds = f"{self._prepared.terminal_wait_s:g}"
        self._close_terminal(child.Failure("terminal_unused", {"seconds": seconds}))

    def _close_terminal(self, why: child.Failure) -> None:
        """Asks by SIGHUP, as a terminal does; the stop signal is not sent as well."""
        self._told = why
        self._suspension.release()
        wait_s = self._prepared.spec.kill_wait_s
        self._watchdog.stop(EndReason.CANCELLED, wait_s, time.monotonic())
        if self._running:
            self._ask_by_terminal()
            self._watchdog.asked()

    def _ask_by_terminal(self) -> None:
        self._hang_up()
        if self._terminal is not None:  # a shell just going to its prompt may miss the first
            self._after("hang up", HANG_UP_AGAIN_S, self._hang_up)

    def _hang_up(self) -> None:
        if self._running and self._terminal is not None and self._processes.main is not None:
            self._terminal.hang_up(self._processes.main, self._processes.signal_group)

    # -- the end -------------------------------------------------------------------------------

    def _finish(self) -> None:
        """Ends what is left, removes cgroup and folder, and makes the end known for good."""
        self._processes.end_all()
        self._suspension.end()
        if self._reports is not None:
            self._reports.last()
        end = self._end()
        if not self._processes.remove():
            note("cgroup could not be removed", cgroup=self._processes.name)
        if self._folder is not None:
            runtime.remove(self._folder.path)
        self._state = msgspec.structs.replace(self._state, state="ended", end=end)
        self._keep_end()
        self._push()
        if self._terminal is not None:
            self._terminal.ended(end)

    def _end(self) -> AttemptEnd:
        seen = Seen(
            executed=self._running,
            status=self._processes.main_status,
            use=self._processes.use(),
            cpu_s=self._processes.cpu_s(),
            ordered=self._watchdog.reason,
            told=self._told,
            failure=self._failure,
            out_of_memory=self._out_of_memory,
            done=self._done,
            shutdown=shutdown.going_on(),
        )
        return end_of(seen, time.time())

    def _keep_end(self) -> None:
        """Writes `end`; while the disk refuses it, the agent is told all the same and this process
        stays, with the end in memory, until it is written or the agent says that it is known."""
        while not self._forgotten:
            try:
                record.write_end(self._folder_fd, self._state)
                return
            except OSError as error:
                note("end not written yet", job=self._state.job, error=str(error))
                if os.fstat(self._folder_fd).st_nlink == 0:
                    return  # the folder was removed: nobody will ask for this end
            self._push()
            until = time.monotonic() + RETRY_END_S
            while (left := until - time.monotonic()) > 0 and not self._forgotten:
                for key, _ in self._selector.select(left):
                    key.data()


def _start_ticks(pid: int) -> int:
    try:
        return read_stat(b"/proc", pid).start_ticks
    except (GoneError, HiddenError):
        return 0
