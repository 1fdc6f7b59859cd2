"""What an attempt's end means: one line a case."""

from __future__ import annotations

import pytest

from roost.core.model import EndReason as R
from roost.core.model import JobState as S
from roost.server.outcome import Outcome, outcome_of
from roost.store.records import AttemptRecord
from roost.wire.messages import AttemptEnd

CASES = [
    # reason, exit code, done, told to stop by, told to requeue, requeue wanted: state, requeue
    (R.EXITED, 0, False, None, None, True, S.COMPLETED, False),
    (R.EXITED, 3, False, None, None, True, S.FAILED, False),
    (R.EXITED, 0, False, R.PREEMPTED, True, True, S.COMPLETED, False),  # ended before the signal
    (R.SIGNALLED, None, False, None, None, True, S.FAILED, False),
    (R.TIMEOUT, None, False, None, None, True, S.TIMEOUT, False),
    (R.OUT_OF_MEMORY, None, False, None, None, True, S.OUT_OF_MEMORY, False),
    (R.LAUNCH_FAILED, None, False, None, None, True, S.FAILED, False),
    (R.CANCELLED, None, False, R.CANCELLED, False, True, S.CANCELLED, False),
    (R.PREEMPTED, 0, False, R.PREEMPTED, True, True, S.CANCELLED, True),  # asked to go: goes on
    (R.PREEMPTED, 0, True, R.PREEMPTED, True, True, S.COMPLETED, False),  # said that it is done
    (R.PREEMPTED, None, False, R.PREEMPTED, False, False, S.CANCELLED, False),
    (R.PREEMPTED, None, False, R.CANCELLED, False, True, S.CANCELLED, False),
    (R.LOST, None, False, None, None, True, S.NODE_FAIL, True),
    (R.LOST, None, False, None, None, False, S.NODE_FAIL, False),
    (R.LOST, None, False, R.CANCELLED, False, True, S.CANCELLED, False),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: "-".join(str(part) for part in case[:5]))
def test_outcome(case: tuple) -> None:
    reason, code, done, stop, stop_requeue, wanted, state, requeue = case
    attempt = AttemptRecord(
        job=1, attempt=1, decided_at=0.0, stop_reason=stop, stop_requeue=stop_requeue
    )
    end = AttemptEnd(reason=reason, ended_at=1.0, exit_code=code, done=done)
    outcome = outcome_of(attempt, end, wanted)
    assert isinstance(outcome, Outcome)
    assert outcome.requeue is requeue
    if not requeue:
        assert outcome.state is state


def test_every_reason_has_an_outcome() -> None:
    for reason in R:
        outcome_of(
            AttemptRecord(job=1, attempt=1, decided_at=0.0),
            AttemptEnd(reason=reason, ended_at=1.0),
            False,
        )
