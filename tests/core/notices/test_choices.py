"""What goes how to which channel, and when the day's summary is due."""

from __future__ import annotations

from datetime import datetime
from zoneinfo import ZoneInfo

from roost.core.notices.choices import Choices, next_digest

BERLIN = ZoneInfo("Europe/Berlin")


def test_who_chose_nothing_has_what_everybody_has_and_who_chose_has_that_alone() -> None:
    assert Choices().way("mail", "job_failed") == "now"
    assert Choices().way("mail", "job_ended") is None
    chosen = Choices(wanted={"mail": {"job_ended": "digest"}})
    assert chosen.way("mail", "job_ended") == "digest"
    assert chosen.way("mail", "job_failed") is None
    assert chosen.way("another", "job_failed") == "now"


def test_the_summary_comes_at_the_hour_of_the_zones_clock_also_where_days_have_25_hours() -> None:
    def at(text: str) -> float:
        return datetime.fromisoformat(text).replace(tzinfo=BERLIN).timestamp()

    assert next_digest(at("2026-10-24 07:59"), 8, BERLIN) == at("2026-10-24 08:00")
    assert next_digest(at("2026-10-24 08:00"), 8, BERLIN) == at("2026-10-25 08:00")
    assert next_digest(at("2026-10-25 08:01"), 8, BERLIN) == at("2026-10-26 08:00")
