"""Points in time as people write them, in the time zone of the rules. Pure: the caller says when
now is.

"18:00" is the next 18:00; a local time that the clock skips (summer time begins) is that much
later, one that comes twice is the first.
"""

from __future__ import annotations

from datetime import UTC, datetime, time, timedelta, tzinfo

from roost.cli.values import UsageError, duration

_DAYS = {"today": 0, "今天": 0, "tomorrow": 1, "明天": 1, "后天": 2}
_WEEKDAYS = (
    ("monday", "mon", "周一", "星期一"),
    ("tuesday", "tue", "周二", "星期二"),
    ("wednesday", "wed", "周三", "星期三"),
    ("thursday", "thu", "周四", "星期四"),
    ("friday", "fri", "周五", "星期五"),
    ("saturday", "sat", "周六", "星期六"),
    ("sunday", "sun", "周日", "星期日", "星期天", "周天"),
)


def point(name: str, text: str, now: datetime, zone: tzinfo) -> datetime:
    """An aware time in `zone` for "18:00", "tomorrow 9:00", "fri 20:00", "+2h", "now", ISO 8601.

    Raises UsageError. It may be past where it was written in full.
    """
    words = text.strip().lower().split()
    now = now.astimezone(zone)
    if not words:
        raise UsageError("not_a_time", option=name, given=text)
    if words == ["now"]:
        return now
    if words[0].startswith("+") and len(words) == 1:
        try:
            span = timedelta(seconds=duration(name, words[0][1:]))
        except UsageError:
            raise UsageError("not_a_time", option=name, given=text) from None
        return (now.astimezone(UTC) + span).astimezone(zone)
    if len(words) == 1 and (clock := _clock(words[0])) is not None:
        found = _local(now, clock, 0, zone)
        return found if found > now else _local(now, clock, 1, zone)
    day = _day(words[0], now)
    if day is not None and len(words) <= 2:
        clock = _clock(words[1]) if len(words) == 2 else time(0, 0)
        if clock is not None:
            found = _local(now, clock, day, zone)
            weekday = words[0] not in _DAYS
            return _local(now, clock, day + 7, zone) if weekday and found <= now else found
    try:
        written = datetime.fromisoformat(text.strip())
    except ValueError:
        raise UsageError("not_a_time", option=name, given=text) from None
    if written.tzinfo is not None:
        return written.astimezone(zone)
    return _settle(written, zone)


def _clock(text: str) -> time | None:
    parts = text.split(":")
    if len(parts) not in (2, 3) or not all(p.isascii() and p.isdigit() for p in parts):
        return None
    if any(len(part) > 2 for part in parts):
        return None
    numbers = [int(part) for part in parts]
    if numbers[0] > 23 or any(number > 59 for number in numbers[1:]):
        return None
    return time(numbers[0], numbers[1], numbers[2] if len(numbers) > 2 else 0)


def _day(word: str, now: datetime) -> int | None:
    """Days from today until the named day."""
    if word in _DAYS:
        return _DAYS[word]
    for weekday, names in enumerate(_WEEKDAYS):
        if word in names:
            return (weekday - now.weekday()) % 7
    return None


def _local(now: datetime, clock: time, days: int, zone: tzinfo) -> datetime:
    return _settle(datetime.combine(now.date() + timedelta(days=days), clock), zone)


def _settle(local: datetime, zone: tzinfo) -> datetime:
    """The local time as one that exists."""
    return local.replace(tzinfo=zone).astimezone(UTC).astimezone(zone)
