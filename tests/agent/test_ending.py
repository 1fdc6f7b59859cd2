"""Which of several truths about an end is told."""

from __future__ import annotations

import pytest

from roost.agent.child import Failure
from roost.agent.ending import Seen, end_of
from roost.core.model import EndReason
from roost.core.text.catalogue import say
from roost.machine.cgroup import Use

EXIT_3, KILLED = 3 << 8, 9


@pytest.mark.parametrize(
    ("seen", "reason", "exit_code", "signal"),
    [
        (Seen(True, EXIT_3, Use()), EndReason.EXITED, 3, None),
        (Seen(True, KILLED, Use()), EndReason.SIGNALLED, None, 9),
        (Seen(True, KILLED, Use(oom_kills=1)), EndReason.OUT_OF_MEMORY, None, 9),
        (Seen(True, EXIT_3, Use(oom_kills=1)), EndReason.OUT_OF_MEMORY, 3, None),
        (Seen(True, 0, Use(oom_kills=1)), EndReason.EXITED, 0, None),
        (Seen(True, 0, Use(), ordered=EndReason.PREEMPTED), EndReason.PREEMPTED, 0, None),
        (
            Seen(True, KILLED, Use(oom_kills=1), ordered=EndReason.CANCELLED),
            EndReason.CANCELLED,
            None,
            9,
        ),
        (Seen(True, 0, Use(), shutdown=True), EndReason.LOST, 0, None),
        (Seen(True, 0, Use(), shutdown=True, done=True), EndReason.EXITED, 0, None),
        (Seen(False, KILLED, Use(), ordered=EndReason.CANCELLED), EndReason.CANCELLED, None, None),
        (
            Seen(
                True, 127 << 8, Use(), failure=Failure("command_not_found", {"command": "x"}, 127)
            ),
            EndReason.LAUNCH_FAILED,
            127,
            None,
        ),
        (Seen(False, KILLED, Use(oom_kills=1)), EndReason.OUT_OF_MEMORY, None, None),
    ],
)
def test_the_reason_that_explains_most_is_told(
    seen: Seen, reason: EndReason, exit_code: int | None, signal: int | None
) -> None:
    end = end_of(seen, 1.0)
    assert (end.reason, end.exit_code, end.signal) == (reason, exit_code, signal)


def test_a_failure_is_told_in_both_languages() -> None:
    failure = Failure("directory_gone", {"path": "/x", "detail": "No such file"})
    end = end_of(Seen(False, None, Use(), failure=failure), 1.0)
    assert end.text == say("en", end.message, **end.numbers)
    assert "/x" in say("zh", end.message, **end.numbers)
