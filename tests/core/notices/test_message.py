"""A notice as a subject and a few lines."""

from __future__ import annotations

from datetime import UTC
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from roost.core.notices.message import message_of
from roost.core.text.notice import MESSAGES

DETAIL: dict[str, Any] = {
    "booking": 7, "user": "li", "start_at": 1782975600, "end_at": 1782982800, "gpus": 2,
    "gpu_uuids": ["GPU-0", "GPU-1"], "purpose": "paper", "by": "mei",
}  # fmt: skip


def test_the_subject_says_what_and_when_in_the_zone_of_the_rules() -> None:
    subject, lines = message_of(
        "booking_starts", DETAIL, "en", ZoneInfo("Asia/Shanghai"), "Asia/Shanghai"
    )
    assert subject == "Your booking 7 begins 2026-07-02 15:00: 2 GPUs until 2026-07-02 17:00"
    assert "By rule: bookings.reminder" in lines
    assert any("roost book cancel 7" in line for line in lines)


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize(
    "kind", [k for k in MESSAGES if k.startswith("booking_")] + ["booking_new"]
)
def test_every_notice_has_at_most_five_lines_and_nothing_breaks_one(
    kind: str, language: str
) -> None:
    hostile = {**DETAIL, "purpose": "x\r\nBcc: all@example.org\u2028\x1b[2J", "by": "a\nTo: b"}
    subject, lines = message_of(kind, hostile, language, UTC, "UTC")
    assert len(lines) <= 5
    assert all(line.isprintable() for line in (subject, *lines))
