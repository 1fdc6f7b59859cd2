"""How an attempt ended, in the words of the wire, from what its supervisor saw. Pure."""

from __future__ import annotations

import os
from dataclasses import dataclass

from roost.agent.child import Failure
from roost.core.model import EndReason
from roost.machine.cgroup import Use
from roost.wire.messages import AttemptEnd


@dataclass(frozen=True, slots=True)
class Seen:
    """`status` is the wait status of the job's first process; None: there was none. `ordered` is
    why it was asked to stop, `told` the sentence for that; `failure` why it never executed.
    `shutdown`: the whole machine was being ended, so that what the processes did says nothing."""

    executed: bool
    status: int | None
    use: Use
    cpu_s: float | None = None
    ordered: EndReason | None = None
    told: Failure | None = None
    failure: Failure | None = None
    out_of_memory: bool = False
    done: bool = False
    shutdown: bool = False


def end_of(seen: Seen, now: float) -> AttemptEnd:
    """An order to stop goes before what became of the process, lack of memory before its signal."""
    code = None if seen.status is None else os.waitstatus_to_exitcode(seen.status)
    exit_code = code if code is not None and code >= 0 else None
    number = -code if code is not None and code < 0 else None
    short_of_memory = (seen.out_of_memory or seen.use.oom_kills > 0) and exit_code != 0
    said: Failure | None = None
    if seen.ordered is not None:
        reason, said = seen.ordered, seen.told
    elif seen.shutdown and seen.executed and not seen.done:
        reason, said = EndReason.LOST, Failure("lost_shutdown")
    elif short_of_memory:
        reason = EndReason.OUT_OF_MEMORY
    elif seen.failure is not None:
        reason, said = EndReason.LAUNCH_FAILED, seen.failure
        exit_code, number = seen.failure.exit_code, None
    else:
        reason = EndReason.EXITED if number is None else EndReason.SIGNALLED
    if not seen.executed and reason is not EndReason.LAUNCH_FAILED:
        exit_code = number = None
    return AttemptEnd(
        reason=reason,
        ended_at=now,
        exit_code=exit_code,
        signal=number,
        done=seen.done,
        peak_memory_bytes=seen.use.peak_memory_bytes,
        cpu_s=seen.cpu_s if seen.use.cpu_s is None else seen.use.cpu_s,
        text=said.text()[:1000] if said else "",
        message=f"agent.{said.code}" if said else "",
        numbers=said.numbers if said else {},
    )
