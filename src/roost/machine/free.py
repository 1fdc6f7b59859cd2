"""Ends exactly the processes that hold a GPU, one by one, each known by pid and start time.

Before every signal identity, owner and hold on the GPU are looked at again; signals go through a
pidfd, so that they can reach no other process. Never a group, never by name, never on NVML's word
where the device file can be seen.
"""

from __future__ import annotations

import os
import select
import signal
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from roost.core.observation import GpuReading, ProcessFacts
from roost.machine.proc.devices import node_minors
from roost.machine.proc.facts import Reader, read_process
from roost.machine.proc.read import GoneError, parse_stat
from roost.wire.messages import Freed, FreeItem, FreeResult

KILL_WAIT_S = 5.0
MEMORY_WAIT_S = 10.0
MOST_GRACE_S = 600.0
SETTLED_READS = 12


@dataclass(slots=True)
class _Target:
    item: FreeItem
    pidfd: int
    signalled: bool = False
    outcome: str | None = None
    text: str = ""


@dataclass(frozen=True, slots=True)
class Freeing:
    """What freeing needs. `read_gpus` reads all GPUs now; `stop_container(id, grace_s)` asks the
    engine and raises OSError where it refuses; `protected` are pids that are never ended."""

    reader: Reader
    read_gpus: Callable[[], Sequence[GpuReading]]
    stop_container: Callable[[str, float], None] | None = None
    protected: frozenset[int] = frozenset()
    memory_wait_s: float = MEMORY_WAIT_S
    clock: Callable[[], float] = field(default=time.monotonic)
    sleep: Callable[[float], None] = field(default=time.sleep)


def free(
    means: Freeing,
    items: Sequence[FreeItem],
    grace_s: float,
    only_uid: int | None,
    request: int = 0,
) -> FreeResult:
    """SIGTERM, up to `grace_s`, SIGKILL; then waits up to ten seconds for the memory.

    Blocks for as long: call it in a thread. `only_uid` None is an operator's call. Raises nothing:
    what became of each process is in the answer.
    """
    gpus = {gpu.uuid: gpu for gpu in means.read_gpus()}
    before = _used(tuple(gpus.values()))
    grace_s = min(max(grace_s, 0.0), MOST_GRACE_S)
    targets = [_open(means, item, gpus, only_uid) for item in items]
    try:
        _stop_containers(means, targets, grace_s)
        for target in targets:
            if target.outcome is None:
                _signal(means, target, gpus, only_uid, signal.SIGTERM)
        _wait(means, targets, grace_s)
        for target in targets:
            if target.outcome is None:
                _signal(means, target, gpus, only_uid, signal.SIGKILL)
        _wait(means, targets, KILL_WAIT_S)
        for target in targets:
            if target.outcome is None:
                target.outcome, target.text = "survived", _why_alive(means, target.item.pid)
    finally:
        for target in targets:
            if target.pidfd >= 0:
                os.close(target.pidfd)
    after = _wait_for_memory(means, targets, before)
    uuids = {item.gpu_uuid for item in items}
    return FreeResult(
        request=request,
        processes=tuple(
            Freed(t.item.pid, t.item.start_ticks, t.outcome or "survived", t.text) for t in targets
        ),
        memory_before_bytes={uuid: before[uuid] for uuid in uuids if uuid in before},
        memory_after_bytes={uuid: after[uuid] for uuid in uuids if uuid in after},
    )


def _open(
    means: Freeing, item: FreeItem, gpus: dict[str, GpuReading], only_uid: int | None
) -> _Target:
    """A target with a pidfd, or with its outcome already."""
    target = _Target(item, -1)
    if item.pid <= 1 or item.pid == os.getpid() or item.pid in means.protected:
        target.outcome, target.text = "refused", "a process of the system or of Roost itself"
        return target
    try:
        target.pidfd = os.pidfd_open(item.pid)
    except ProcessLookupError:
        target.outcome, target.text = "gone", "it had ended before"
        return target
    except (OSError, OverflowError) as error:
        target.outcome, target.text = "refused", f"cannot be reached: {error}"
        return target
    _check(means, target, gpus, only_uid)
    return target


def _check(
    means: Freeing, target: _Target, gpus: dict[str, GpuReading], only_uid: int | None
) -> bool:
    """Whether it is still that process, of that owner, on that GPU; else sets the outcome.

    The pidfd was opened before: when the process of that number has the expected start time now,
    the pidfd can only mean that one.
    """
    item = target.item
    gpu = gpus.get(item.gpu_uuid)
    if gpu is None:
        target.outcome, target.text = "refused", f"there is no GPU {item.gpu_uuid} here"
        return False
    checkable = gpu.minor is not None and gpu.minor in node_minors(means.reader.matcher.nodes)
    try:
        wanted = gpu.minor if checkable else None
        facts = read_process(means.reader, item.pid, 0.0, maps=True, wanted_minor=wanted)
    except GoneError:
        target.outcome = "ended" if target.signalled else "gone"
        return False
    if facts.start_ticks != item.start_ticks:
        target.outcome = "ended" if target.signalled else "gone"
        target.text = "its number belongs to another process now, which was left alone"
        return False
    if only_uid is not None and facts.uid != only_uid:
        target.outcome, target.text = "refused", "it belongs to another account"
        return False
    if not _on_gpu(facts, gpu, checkable, means):
        if target.signalled:
            target.outcome, target.text = "ended", "it let go of the GPU and was spared the rest"
        else:
            target.outcome, target.text = "refused", f"it does not hold GPU {gpu.index} (any more)"
        return False
    return True


def _on_gpu(facts: ProcessFacts, gpu: GpuReading, checkable: bool, means: Freeing) -> bool:
    if checkable:
        return any(use.minor == gpu.minor for use in facts.devices)
    for now in means.read_gpus():
        if now.uuid == gpu.uuid:
            return any(process.pid == facts.pid for process in now.processes)
    return False


def _signal(
    means: Freeing,
    target: _Target,
    gpus: dict[str, GpuReading],
    only_uid: int | None,
    number: signal.Signals,
) -> None:
    if not _check(means, target, gpus, only_uid):
        return
    try:
        signal.pidfd_send_signal(target.pidfd, number)
        target.signalled = True
        if number is signal.SIGTERM:
            # A stopped process handles a signal only when it goes on.
            signal.pidfd_send_signal(target.pidfd, signal.SIGCONT)
    except ProcessLookupError:
        target.outcome = "ended" if target.signalled else "gone"
    except PermissionError:
        target.outcome, target.text = "refused", "the kernel does not let this agent signal it"


def _stop_containers(means: Freeing, targets: list[_Target], grace_s: float) -> None:
    """Asks the engine to stop containers whose main process is a target; where it cannot, the
    process is signalled like any other."""
    for target in targets:
        container = target.item.container_id
        if container is None or target.outcome is not None or means.stop_container is None:
            continue
        try:
            facts = read_process(means.reader, target.item.pid, 0.0)
        except GoneError:
            continue
        if facts.place.container_id != container or facts.ns_pids[-1:] != (1,):
            continue  # not what the caller thought: only the process itself is dealt with
        try:
            means.stop_container(container, grace_s)
        except OSError as error:
            target.text = f"the container's engine did not stop it ({error}); ended directly"
        else:
            target.signalled = True
            target.text = f"container {container[:12]} was stopped"


def _wait(means: Freeing, targets: list[_Target], seconds: float) -> None:
    """Until all have ended, or `seconds` have passed. A pidfd is readable once it has ended."""
    poll = select.poll()
    waiting = {t.pidfd: t for t in targets if t.outcome is None and t.pidfd >= 0}
    for descriptor in waiting:
        poll.register(descriptor, select.POLLIN)
    until = means.clock() + seconds
    while waiting and (left := until - means.clock()) > 0:
        for descriptor, _ in poll.poll(min(left, 1.0) * 1000):
            waiting.pop(descriptor).outcome = "ended"
            poll.unregister(descriptor)


def _why_alive(means: Freeing, pid: int) -> str:
    try:
        facts = read_process(means.reader, pid, 0.0)
    except GoneError:
        return "it ended a moment later"
    if facts.state == "D":
        return f"it hangs in the kernel ({facts.wchan or 'unknown place'}) and cannot be ended"
    if facts.frozen:
        return "its cgroup is frozen: thaw it, then it ends"
    return f"it is in state {facts.state} and has not ended yet"


def _used(gpus: Sequence[GpuReading]) -> dict[str, int]:
    return {gpu.uuid: gpu.memory_used_bytes for gpu in gpus if gpu.memory_used_bytes is not None}


def _wait_for_memory(
    means: Freeing, targets: list[_Target], before: dict[str, int]
) -> dict[str, int]:
    """Reads until no ended process is listed on its GPU any more and the memory has fallen by
    about what was listed for them, at most `memory_wait_s`."""
    ended = {(t.item.gpu_uuid, t.item.pid) for t in targets if t.outcome == "ended"}
    gpus = means.read_gpus()
    if not ended:
        return _used(gpus)
    until = means.clock() + means.memory_wait_s
    last, same = _used(gpus), 0
    while True:
        listed = {(gpu.uuid, process.pid) for gpu in gpus for process in gpu.processes}
        fell = all(_used(gpus).get(uuid, 0) < before.get(uuid, 1) for uuid, _ in ended)
        same = same + 1 if _used(gpus) == last else 0
        last = _used(gpus)
        # A process without memory of its own frees none: then a settled figure is the answer.
        done = not ended & listed and ((fell and same) or same >= SETTLED_READS)
        if done or means.clock() >= until:
            return last
        means.sleep(0.25)
        gpus = means.read_gpus()


def start_ticks_of(pid: int, proc: bytes = b"/proc") -> int | None:
    """Start time of a process now, None if it is gone."""
    try:
        with open(b"%s/%d/stat" % (proc, pid), "rb") as file:
            return parse_stat(file.read(4096)).start_ticks
    except (OSError, GoneError):
        return None
