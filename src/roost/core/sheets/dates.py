"""Dates as people write them: 2026-12-07, 12/7, Dec 7, 12月7日 周一, 46363, "7." and "Mon".

`scan` finds one in a text; a `Calendar` says which day is meant, or why none is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta

from roost.core.sheets.model import UnreadError
from roost.core.sheets.plain import cut

SERIAL_FIRST, SERIAL_LAST = 36526, 73050  # Excel's days of 2000-01-01 and 2099-12-31
BEFORE_DAYS, AFTER_DAYS = 31, 92  # around the certain dates, where an uncertain one may lie
YEAR_DAYS = 200  # from them, where a weekday may choose the year
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = (
    r"(?P<mon>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?"
    r"|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)(?![a-z])\.?"
)
_WEEKDAY = (
    r"(?:(?:周|星期|礼拜)(?P<zh>[一二三四五六日天])"
    r"|(?P<en>mon|tue|wed|thu|fri|sat|sun)(?:day|s|sday|nesday|rs|rsday|urday)?(?![a-z])\.?)"
)
_YEAR = r"(?P<y>\d{4})"
_BEFORE_WEEKDAY = re.compile(rf"\(?{_WEEKDAY}\)?\s*[,:]?\s*")
_AFTER_WEEKDAY = re.compile(rf"\s*,?\s*\(?{_WEEKDAY}\)?")
_FORMS = tuple(
    re.compile(form)
    for form in (
        rf"{_YEAR}\s*(?P<sep>[-/.年])\s*(?P<m>\d{{1,2}})\s*[-/.月]\s*(?P<d>\d{{1,2}})(?!\d)\s*[日号]?",
        r"(?P<y>20\d{2})(?P<m>\d{2})(?P<d>\d{2})(?!\d)",
        r"(?P<m>\d{1,2})\s*月\s*(?P<d>\d{1,2})(?!\d)\s*[日号]?",
        rf"{_MONTH}\s*(?P<d>\d{{1,2}})(?:st|nd|rd|th)?(?![\d:])(?:\s*,?\s*{_YEAR}(?![\d:]))?",
        rf"(?P<d>\d{{1,2}})(?:st|nd|rd|th)?\.?[\s-]*(?:of\s+)?{_MONTH}"
        rf"(?:[\s,-]*{_YEAR}(?![\d:]))?",
        r"(?P<a>\d{1,2})/(?P<b>\d{1,2})/(?P<y>\d{4}|\d{2})(?!\d)",
        r"(?P<a>\d{1,2})-(?P<b>\d{1,2})-(?P<y>\d{4})(?!\d)",
        r"(?P<d>\d{1,2})\.(?P<m>\d{1,2})\.(?:(?P<y>\d{4}|\d{2})(?![\d:]))?",
        r"(?P<a>\d{1,2})/(?P<b>\d{1,2})(?![\d/:])",
        r"(?P<m>\d{1,2})\.(?P<d>\d{1,2})(?![\d.:])",
    )
)
_DASHED = re.compile(r"(?P<m>\d{1,2})-(?P<d>\d{1,2})(?![\d:点时-])")
_DAY_ONLY = re.compile(r"(?P<d>\d{1,2})\s*[日号]")
_SERIAL = re.compile(r"(\d{5})(\.\d+)?(?![\d])")


@dataclass(frozen=True, slots=True)
class Written:
    """A date as it stands there; what is None was not said. `open`: month and day may be meant the
    other way round. `text` is for messages."""

    text: str
    month: int | None = None
    day: int | None = None
    year: int | None = None
    weekday: int | None = None
    open: bool = False
    serial: int | None = None


def scan(text: str, at: int = 0, dashed: bool = False) -> tuple[Written, int] | None:
    """The date that begins at `at` of a folded text, and where it ends. `dashed` takes "12-7"."""
    weekday = None
    begin = at
    match = _BEFORE_WEEKDAY.match(text, at)
    if match:
        weekday, at = _weekday(match), match.end()
    forms = (*_FORMS, _DASHED) if dashed else _FORMS
    for form in (*forms, _DAY_ONLY):
        found = form.match(text, at)
        if found:
            break
    else:
        serial = _SERIAL.match(text, at)
        if serial and SERIAL_FIRST <= int(serial[1]) <= SERIAL_LAST:
            return Written(serial[0], serial=int(serial[1])), serial.end(1)
        if weekday is None:
            return None
        return Written(cut(text[begin : at or None].strip(" ,:()")), weekday=weekday), at
    at = found.end()
    match = _AFTER_WEEKDAY.match(text, at)
    if match:
        weekday, at = _weekday(match), match.end()
    parts = found.groupdict()
    written = Written(cut(text[begin:at].strip()), year=_year(parts.get("y")), weekday=weekday)
    if parts.get("a"):
        return replace(written, month=int(parts["a"]), day=int(parts["b"]), open=True), at
    name = parts.get("mon")
    month = _MONTHS.index(name[:3]) + 1 if name else None
    if month is None and parts.get("m"):
        month = int(parts["m"])
    return replace(written, month=month, day=int(parts["d"])), at


def _weekday(match: re.Match[str]) -> int:
    if match["zh"]:
        return "一二三四五六日".find(match["zh"].replace("天", "日"))
    return ("mon", "tue", "wed", "thu", "fri", "sat", "sun").index(match["en"])


def _year(text: str | None) -> int | None:
    if not text:
        return None
    return int(text) if len(text) == 4 else 2000 + int(text)


def weekdays_only(text: str) -> int | None:
    """The weekday (0 is Monday) that is the whole of a folded text."""
    match = _BEFORE_WEEKDAY.fullmatch(text)
    return _weekday(match) if match else None


@dataclass(frozen=True, slots=True)
class Calendar:
    """What decides the rest of a date: the first and last certain day of the sheet (or today), the
    year and order that were asked for, and for days alone the month or the week they are of."""

    first: date
    last: date
    year: int | None = None
    order: str | None = None
    month: tuple[int, int] | None = None
    week: date | None = None
    zone: str = "UTC"

    def day(self, written: Written) -> date:
        """Raises UnreadError for a day that there is not, or that may be one of two."""
        if written.serial is not None:
            return date(1899, 12, 30) + timedelta(days=written.serial)
        if written.month is None:
            return self._without_month(written)
        assert written.day is not None
        if not written.open:
            return self._placed(written, written.month, written.day)
        ways = self._ways(written, written.month, written.day)
        if len(ways) == 1:
            return self._placed(written, *ways[0])
        days = [self._placed(written, *way) for way in ways]
        near = [day for day in days if self._near(day)]
        if written.weekday is not None or len(near) == 1 or days[0] == days[1]:
            return near[0] if near else days[0]
        raise UnreadError("two_days", text=written.text, one=str(days[0]), other=str(days[1]))

    def _ways(self, written: Written, a: int, b: int) -> list[tuple[int, int]]:
        """Month and day, as 12/7 may be meant."""
        ways = []
        if self.order != "dmy":
            ways.append((a, b))
        if self.order != "mdy":
            ways.append((b, a))
        good = [way for way in ways if 1 <= way[0] <= 12 and 1 <= way[1] <= _longest(way[0])]
        if not good:
            raise UnreadError("no_date", text=written.text)
        if written.weekday is not None and len(good) == 2:
            fit = []
            for way in good:
                try:
                    self._placed(written, *way)
                    fit.append(way)
                except UnreadError:
                    continue
            return fit or good
        return good

    def _near(self, day: date) -> bool:
        return (
            self.first - timedelta(days=BEFORE_DAYS)
            <= day
            <= self.last + timedelta(days=AFTER_DAYS)
        )

    def _without_month(self, written: Written) -> date:
        if written.day is None:
            if self.week is None:
                raise UnreadError("no_week", text=written.text)
            assert written.weekday is not None
            return self.week + timedelta(days=written.weekday)
        if self.month is None:
            raise UnreadError("no_month", text=written.text)
        year, month = self.month
        return self._placed(replace(written, year=year), month, written.day)

    def _placed(self, written: Written, month: int, day: int) -> date:
        """The day of that month in the year that was said, or else in the fitting one."""
        if not 1 <= month <= 12:
            raise UnreadError("no_date", text=written.text)
        if not 1 <= day <= _longest(month):
            raise UnreadError("no_such_day", day=day, month=month)
        year = written.year or self.year
        found = _on(year, month, day) if year else None
        if year is None:
            years = (self.first.year - 1, self.first.year, self.last.year, self.last.year + 1)
            days = [each for y in dict.fromkeys(years) if (each := _on(y, month, day))]
            fit = [d for d in days if d.weekday() == written.weekday and self._far(d) < YEAR_DAYS]
            days = fit or days
            found = min(days, key=self._far, default=None)
        if found is None:
            raise UnreadError("no_leap_day", year=year or self.first.year)
        if written.weekday not in (None, found.weekday()):
            raise UnreadError("other_weekday", text=written.text, day=str(found),
                              weekday=found.weekday())  # fmt: skip
        return found

    def _far(self, day: date) -> int:
        return max((self.first - day).days, (day - self.last).days, 0)


def _longest(month: int) -> int:
    return 29 if month == 2 else 30 if month in (4, 6, 9, 11) else 31


def _on(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None


def order_shown(written: Iterable[Written]) -> str | None:
    """ "mdy" or "dmy" where dates such as 13/2 or 2/13 show it and none shows the other."""
    shown = set()
    for each in written:
        if each.open and each.month and each.day:
            if each.month > 12 >= each.day:
                shown.add("dmy")
            elif each.day > 12 >= each.month:
                shown.add("mdy")
    return shown.pop() if len(shown) == 1 else None


def bounds(days: Sequence[date], today: date) -> tuple[date, date]:
    """The first and last of the certain days, today where there is none."""
    return (min(days), max(days)) if days else (today, today)
