"""The times of a series: rules of repetition as RFC 5545 (3.3.10) has them, in a zone's local time.

Run beside the control thread, and bounded whatever the rule says: a day, week, month or year is the
shortest step, and a rule that never fits any day ends. Knows no bookings.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, tzinfo
from itertools import islice

from dateutil.rrule import rrule, rrulestr

from roost.server.refusal import RefusalError

MOST_TIMES = 1000
MOST_EXCEPTIONS = 1000
LONGEST_S = 10 * 366 * 86400.0
_STEPS = ("DAILY", "WEEKLY", "MONTHLY", "YEARLY")
_PARTS = ("FREQ", "INTERVAL", "COUNT", "UNTIL", "WKST", "BYDAY", "BYMONTHDAY", "BYMONTH",
          "BYSETPOS", "BYYEARDAY", "BYWEEKNO")  # fmt: skip
_VALUE = re.compile(r"[A-Z0-9+,-]{1,200}")
_LEAST = {"INTERVAL": 1, "COUNT": 1}


@dataclass(frozen=True, slots=True)
class Times:
    """`spans` in whole seconds; `rule` with the end that the spans really have, as UNTIL in UTC;
    `days` the local dates left out."""

    spans: tuple[tuple[int, int], ...]
    rule: str
    days: tuple[str, ...]


def times(
    text: str, start: float, end: float, except_days: Sequence[str], zone: tzinfo, reach_s: float
) -> Times:
    """Every time of a series whose first is [start, end) or later. A rule without an end goes on
    for `reach_s`; of one with an end that lies beyond, one time beyond is among them.

    Each begins and ends at the same time on the wall. Where the clock skips that time it is as much
    later, where the hour comes twice it is the first. Raises RefusalError 422 for what is no rule.
    """
    parts = _read(text)
    first = datetime.fromtimestamp(start, zone).replace(tzinfo=None, fold=0)
    length = datetime.fromtimestamp(end, zone).replace(tzinfo=None, fold=0) - first
    if length <= timedelta(0):
        length = timedelta(seconds=end - start)
    without = _days(except_days)
    until = _until(text, parts.pop("UNTIL", None), zone)
    endless = until is None and "COUNT" not in parts
    last = start + min(reach_s, LONGEST_S)
    spans: list[tuple[int, int]] = []
    reached: datetime | None = None
    for begin in islice(_starts(text, parts, first), MOST_TIMES + len(without) + 1):
        at = begin.replace(tzinfo=zone).timestamp()
        if (until is not None and at > until) or (endless and at > last):
            break
        reached = begin
        if begin.date() not in without:
            spans.append((int(at), int(_end(begin, at, length, zone))))
        if at > last:
            break
    if not spans:
        raise RefusalError(422, "booking.no_times", {"key": "repeat"})
    if len(spans) > MOST_TIMES:
        raise RefusalError(
            422, "booking.too_many_times", {"key": "repeat", "limit": MOST_TIMES}, most=MOST_TIMES
        )
    assert reached is not None
    stop = reached.replace(tzinfo=zone).astimezone(UTC)
    parts.pop("COUNT", None)
    rule = ";".join(f"{name}={value}" for name, value in parts.items())
    return Times(
        tuple(spans), f"{rule};UNTIL={stop:%Y%m%dT%H%M%SZ}", tuple(sorted(map(str, without)))
    )


def _read(text: str) -> dict[str, str]:
    parts: dict[str, str] = {}
    for word in text.upper().removeprefix("RRULE:").strip().strip(";").split(";"):
        name, _, value = (side.strip() for side in word.partition("="))
        if name not in _PARTS or name in parts:
            raise _wrong(text, "part", part=word)
        if not _VALUE.fullmatch(value):
            raise _wrong(text, "value", part=word)
        if name in _LEAST and not (value.isdigit() and 1 <= int(value[:9]) == int(value)):
            raise _wrong(text, "value", part=word)
        parts[name] = value
    if parts.get("FREQ") not in _STEPS:
        raise _wrong(text, "step", part=parts.get("FREQ", "–"))
    if "COUNT" in parts and "UNTIL" in parts:
        raise _wrong(text, "both_ends")
    return parts


def _until(text: str, value: str | None, zone: tzinfo) -> float | None:
    """The last instant at which a time may begin. A date is that whole day, a time without Z is
    local."""
    if value is None:
        return None
    try:
        if "T" not in value:
            day = datetime.strptime(value, "%Y%m%d")  # noqa: DTZ007
            return day.replace(hour=23, minute=59, second=59, tzinfo=zone).timestamp()
        at = datetime.strptime(value.removesuffix("Z"), "%Y%m%dT%H%M%S")  # noqa: DTZ007
        return at.replace(tzinfo=UTC if value.endswith("Z") else zone).timestamp()
    except (ValueError, OverflowError):
        raise _wrong(text, "value", part=f"UNTIL={value}") from None


def _starts(text: str, parts: dict[str, str], first: datetime) -> Iterator[datetime]:
    """Local starts. The rule is followed in the last years that there are, which are the same as
    these (the calendar repeats every 400 years): dateutil looks for the next day up to year 9999.
    """
    later = (9999 - first.year) // 400 * 400
    try:
        rule = rrulestr(
            ";".join(f"{name}={value}" for name, value in parts.items()),
            dtstart=first.replace(year=first.year + later),
        )
        assert isinstance(rule, rrule)
        found = iter(rule)
        while (begin := next(found, None)) is not None:
            yield begin.replace(year=begin.year - later)
    except (ValueError, TypeError, IndexError, OverflowError) as error:
        raise _wrong(text, "dateutil", part=str(error)[:100]) from None


def _end(begin: datetime, at: float, length: timedelta, zone: tzinfo) -> float:
    end = (begin + length).replace(tzinfo=zone).timestamp()
    return end if end > at else at + length.total_seconds()


def _days(texts: Sequence[str]) -> frozenset[date]:
    days = set()
    for text in texts[:MOST_EXCEPTIONS]:
        try:
            days.add(date.fromisoformat(text))
        except ValueError:
            raise RefusalError(422, "booking.bad_day", {"key": "except"}, value=text[:40]) from None
    return frozenset(days)


def _wrong(text: str, problem: str, part: str = "") -> RefusalError:
    return RefusalError(
        422, f"booking.repeat_{problem}", {"key": "repeat"}, value=text[:200], part=part[:100]
    )
