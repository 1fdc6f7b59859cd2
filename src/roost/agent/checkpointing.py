"""One job's GPU memory out of its GPUs and back, in a process of its own that may take its time.

The supervisor hears everything else meanwhile. Knows no freezer and no order of things: see
`suspension`.
"""

from __future__ import annotations

import os
import selectors
import signal
import socket
from collections.abc import Callable
from contextlib import suppress
from typing import NoReturn

import msgspec

from roost.agent.child import Failure
from roost.agent.control import Suspend
from roost.agent.note import note
from roost.agent.reaper import JobProcesses
from roost.machine import cgroup, cuda_checkpoint, kernel
from roost.machine.cuda_checkpoint import Outcome, Tool
from roost.machine.proc.devices import DeviceMatcher, device_nodes

MIB = 1 << 20
MOST_BYTES = 1 << 20
CHANNEL = 3
_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(Outcome)
Work = Callable[[Callable[[], bool]], Outcome]


class Checkpointing:
    """`moved`: what the job had on its GPUs is in host memory. `looked`: so is all that it had when
    it was looked at, be it nothing."""

    def __init__(
        self,
        processes: JobProcesses,
        selector: selectors.BaseSelector,
        memory_limit: int | None,
        instances: bool,
    ) -> None:
        self._processes = processes
        self._selector = selector
        self._memory_limit = memory_limit
        self._instances = instances
        self._matcher = DeviceMatcher(device_nodes(os.environ))
        self._tool = Tool("")
        self._outcome = Outcome(False)
        self._link: socket.socket | None = None
        self._pidfd = -1

    @property
    def moved(self) -> bool:
        return bool(self._outcome.moved)

    @property
    def looked(self) -> bool:
        return self._outcome.done

    def refusal(self, order: Suspend) -> Failure | None:
        """Why the job cannot be checkpointed, as far as can be told without touching it."""
        why = order.lack
        if not why and not self._processes.layout.bases():
            why = "it runs in no cgroup"
        if not why and self._instances:
            why = "CUDA cannot checkpoint jobs on MIG instances"
        if why or not order.tool:
            return Failure("no_cuda_checkpoint", {"why": why or "-"})
        needed = sum(order.gpu_bytes.values())
        rooms = [("the server", cuda_checkpoint.memory_available())]
        if self._memory_limit is not None:
            layout, name = self._processes.layout, self._processes.name
            room = cgroup.memory_room(layout, name, self._memory_limit)
            if room is not None:
                rooms.append(("its memory limit", room))
        for where, room in rooms:
            if needed > room:
                numbers = {"needed": str(needed // MIB), "room": str(room // MIB), "where": where}
                return Failure("no_room_on_host", numbers)
        return None

    def move_out(self, order: Suspend, then: Callable[[Outcome], None]) -> None:
        """Raises OSError when no process can be started."""
        tool = self._tool = Tool.of(order.tool, order.call_s)

        def work(stop: Callable[[], bool]) -> Outcome:
            listed = self._processes.pids()
            try:
                found = cuda_checkpoint.holders(listed, self._matcher)
            except OSError as error:
                return Outcome(False, str(error))
            known = {process.pid for process in found}
            claimed = [pid for pid, size in order.gpu_bytes.items() if size and pid in listed]
            unseen = [pid for pid in claimed if pid not in known]
            if unseen:
                return Outcome(False, f"process {unseen[0]} holds GPU memory out of sight")
            return cuda_checkpoint.move_out(tool, found, claimed, stop)

        def keep(outcome: Outcome) -> None:
            if outcome.done:
                self._outcome = outcome
            then(outcome)

        self._start(work, keep)

    def bring_back(self, then: Callable[[Outcome], None]) -> None:
        """Raises OSError as above."""
        moved, tool = self._outcome.moved, self._tool
        self._outcome = Outcome(False)
        self._start(lambda stop: cuda_checkpoint.bring_back(tool, moved), then)

    def forget(self) -> None:
        """It is not brought back: the job is to end, and others may be on its GPUs by now."""
        self._outcome = Outcome(False)

    def newcomers(self) -> bool:
        """Whether the job has opened a GPU since, in a process that was not looked at."""
        seen = {*self._outcome.moved, *self._outcome.others}
        found = cuda_checkpoint.holders(self._processes.pids(), self._matcher)
        return any(process not in seen for process in found)

    def give_up(self) -> None:
        """What is being moved out is to be undone instead; `then` is called as usual."""
        if self._link is not None:
            with suppress(OSError):  # it has just answered
                self._link.send(b"x")

    def end(self) -> None:
        """The job is over: whatever is at work for it ends too."""
        if self._link is not None:
            with suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._pidfd, signal.SIGKILL)
            self._close()

    def _start(self, work: Work, then: Callable[[Outcome], None]) -> None:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        pid = os.fork()
        if pid == 0:
            try:
                _work(theirs.fileno(), work)
            except Exception as error:  # noqa: BLE001 - it is said, and the supervisor hears the end
                note("checkpoint helper failed", error=f"{type(error).__name__}: {error}")
            finally:
                os._exit(1)
        theirs.close()
        self._pidfd = os.pidfd_open(pid)  # it is reaped like every other child
        self._link = ours
        self._selector.register(ours, selectors.EVENT_READ, lambda: self._hear(ours, then))

    def _hear(self, link: socket.socket, then: Callable[[Outcome], None]) -> None:
        try:
            data = link.recv(MOST_BYTES)
        except OSError:
            data = b""
        self._close()
        outcome = Outcome(False, "its helper was killed", lost=True)
        with suppress(msgspec.MsgspecError):
            outcome = _decoder.decode(data) if data else outcome
        then(outcome)

    def _close(self) -> None:
        if self._link is not None:
            self._selector.unregister(self._link)
            self._link.close()
            os.close(self._pidfd)
            self._link = None


def _work(channel: int, work: Work) -> NoReturn:
    """The helper: it has nothing of its supervisor's but the channel, and ends with it."""
    kernel.die_with_parent()
    os.dup2(channel, CHANNEL, inheritable=False)
    kernel.close_from(CHANNEL + 1)
    kernel.set_name("roost-checkpoint")
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.set_wakeup_fd(-1)
    link = socket.socket(fileno=CHANNEL)

    def stop() -> bool:
        with suppress(BlockingIOError):
            link.recv(16, socket.MSG_DONTWAIT)
            return True
        return False

    try:
        outcome = work(stop)
    except OSError as error:
        outcome = Outcome(False, str(error), lost=True)
    link.send(_encoder.encode(outcome))
    os._exit(0)
