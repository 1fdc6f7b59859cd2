"""A notice of a job as a subject and a few lines, and which of them pass quiet hours."""

from __future__ import annotations

from datetime import UTC
from typing import Any

import pytest

from roost.core.notices.kinds import ON, TOPICS, is_urgent, topic_of
from roost.core.notices.message import message_of

DETAIL: dict[str, Any] = {
    "job": 42, "name": "train", "class": "regular", "gpus": 2, "for_job": 50, "for_user": "mei",
    "grace_s": 60.0, "rule": "classes.urgent.preempts", "requeue": True, "end_at": 1782982800,
}  # fmt: skip
KINDS = [kind for kinds in TOPICS.values() for kind in kinds if not kind.startswith("booking")]


def test_who_gives_way_is_told_for_whom_by_what_rule_and_where_it_goes_on() -> None:
    subject, lines = message_of("job_preempted", DETAIL, "en", UTC, "UTC")
    assert subject == "Job 42 gives way to job 50 of mei, in 1m"
    assert "By rule: classes.urgent.preempts" in lines
    assert any("its place in the queue" in line for line in lines)
    _, lines = message_of("job_preempted", {**DETAIL, "requeue": False}, "en", UTC, "UTC")
    assert any("did not ask to be queued again" in line for line in lines)


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"state": "FAILED", "exit_code": 3}, "exit code 3"),
        ({"state": "FAILED", "signal": 11}, "signal 11"),
        ({"state": "FAILED"}, "could not be started"),
        ({"state": "TIMEOUT", "signal": 9}, "time limit"),
        ({"state": "OUT_OF_MEMORY", "signal": 9}, "out of memory"),
        ({"state": "NODE_FAIL"}, "lost"),
    ],
)
def test_a_bad_end_says_which(more: dict[str, Any], said: str) -> None:
    assert said in message_of("job_failed", {**DETAIL, **more}, "en", UTC, "UTC")[0]


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("kind", [*KINDS, "job_of_tomorrow"])
def test_every_notice_has_at_most_five_lines_and_nothing_breaks_one(
    kind: str, language: str
) -> None:
    hostile = "x\r\nBcc: all@example.org\u2028\x1b[2J"
    said = {"message": "job.idle", "numbers": {"idle_s": "1800", "stop_at": "1e9", "rule": "r"}}
    for more in ({}, {"said": said}):
        detail = {**DETAIL, "name": hostile, "by": hostile, "for_user": hostile, **more}
        subject, lines = message_of(kind, detail, language, UTC, "UTC")
        assert len(lines) <= 5
        assert all(line.isprintable() for line in (subject, *lines))


def test_every_kind_has_a_topic_and_good_ends_are_not_told_unasked() -> None:
    assert all(topic_of(kind) == topic for topic, kinds in TOPICS.items() for kind in kinds)
    assert "job_ended" not in ON
    assert topic_of("booking_of_tomorrow") == "booking_changed"


def test_urgent_is_what_happens_to_an_urgent_job() -> None:
    assert is_urgent("job_failed", {"class": "urgent"})
    assert not is_urgent("job_failed", {"class": "regular"})
    assert not is_urgent("job_ended", {"class": "urgent"})
    assert not is_urgent("booking_starts", {})
