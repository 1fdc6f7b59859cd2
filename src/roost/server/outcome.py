"""What an attempt's end means for its job. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from roost.core.model import EndReason, JobState
from roost.store.records import AttemptRecord
from roost.wire.messages import AttemptEnd


@dataclass(frozen=True, slots=True)
class Outcome:
    """`requeue`: the job goes back to its place in the queue, and `state` is not its end."""

    state: JobState
    reason: EndReason
    requeue: bool = False


_STATES = {
    EndReason.SIGNALLED: JobState.FAILED,
    EndReason.TIMEOUT: JobState.TIMEOUT,
    EndReason.CANCELLED: JobState.CANCELLED,
    EndReason.OUT_OF_MEMORY: JobState.OUT_OF_MEMORY,
    EndReason.LAUNCH_FAILED: JobState.FAILED,
}


def outcome_of(attempt: AttemptRecord, end: AttemptEnd, requeue_wanted: bool) -> Outcome:
    """State, reason and requeue.

    A person's cancellation counts more than the preemption that came before it. A preempted job
    that exits with 0 within its grace was asked to go, so it is requeued, unless it said `done`.
    """
    reason = end.reason
    if reason is EndReason.PREEMPTED and attempt.stop_reason is EndReason.CANCELLED:
        reason = EndReason.CANCELLED
    if reason is EndReason.EXITED:
        return Outcome(JobState.COMPLETED if end.exit_code == 0 else JobState.FAILED, reason)
    if reason in (EndReason.PREEMPTED, EndReason.CANCELLED) and attempt.stop_requeue:
        if end.done:
            return Outcome(JobState.COMPLETED, EndReason.EXITED)
        return Outcome(JobState.CANCELLED, reason, requeue=True)
    if reason is EndReason.PREEMPTED:
        if end.done:
            return Outcome(JobState.COMPLETED, EndReason.EXITED)
        return Outcome(JobState.CANCELLED, reason, requeue=requeue_wanted)
    if reason is EndReason.LOST:
        cancelled = attempt.stop_reason is EndReason.CANCELLED and not attempt.stop_requeue
        if cancelled:
            return Outcome(JobState.CANCELLED, reason)
        return Outcome(JobState.NODE_FAIL, reason, requeue=requeue_wanted)
    return Outcome(_STATES[reason], reason)
