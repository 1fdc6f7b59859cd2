"""Hours into days and weekdays of the rules' zone: clock changes, gaps, parts that are due."""

from __future__ import annotations

from datetime import datetime
from zoneinfo import ZoneInfo

from roost.core.rules.load import load
from roost.server.api.team import _days, _groups, _heat, _hours

BERLIN = "Europe/Berlin"


def at(text: str) -> float:
    return datetime.fromisoformat(text).replace(tzinfo=ZoneInfo(BERLIN)).timestamp()


def test_days_of_a_clock_change_have_the_hours_that_they_had() -> None:
    spring = _hours([], {}, at("2026-03-28"), at("2026-03-30"))
    autumn = _hours([], {}, at("2026-10-25"), at("2026-10-26"))
    assert [(d["day"], d["hours"]) for d in _days(spring, BERLIN)] == [
        ("2026-03-28", 24), ("2026-03-29", 23),
    ]  # fmt: skip
    assert [d["hours"] for d in _days(autumn, BERLIN)] == [25]
    twice = {(h["weekday"], h["hour"]): h["hours"] for h in _heat(autumn, BERLIN)}
    assert (twice[6, 2], twice[6, 3], len(twice)) == (2, 1, 24)
    skipped = {(h["weekday"], h["hour"]) for h in _heat(spring, BERLIN)}
    assert (6, 2) not in skipped


def test_a_gap_is_a_gap_and_keeps_what_jobs_held() -> None:
    start = at("2026-11-02")
    rows = [{"hour": int(start), "held_s": 7200.0, "busy_s": 0.0, "lost_s": 0.0}]
    each = _hours(rows, {int(start) + 3600: 7200.0}, start, start + 7200)
    (day,) = _days(each, BERLIN)
    assert (day["hours"], day["gap_hours"], day["held_s"], day["observed_s"]) == (2, 1, 7200, 7200)
    assert [h["gap_hours"] for h in _heat(each, BERLIN)] == [1, 0]


def test_what_is_due_is_due_among_those_who_used_it() -> None:
    rules = load("[groups.cv]\nshare = 3\n[groups.nlp]\nshare = 1\n[groups.idle]\nshare = 9\n")

    def row(group: str, held_s: float) -> dict[str, object]:
        return {
            "user": "li", "group": group, "class": "regular",
            "held_s": held_s, "observed_s": 0.0, "busy_s": 1.0, "joules": 0.0,
        }  # fmt: skip

    rows = [row("cv", 100.0), row("nlp", 300.0), row("", 0.0)]
    found = {each["group"]: each for each in _groups(rows, rules)}
    assert set(found) == {"cv", "nlp"}
    assert (found["cv"]["due"], found["cv"]["part"]) == (0.75, 0.25)
    assert (found["nlp"]["due"], found["nlp"]["part"]) == (0.25, 0.75)
