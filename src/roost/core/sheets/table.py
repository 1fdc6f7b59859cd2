"""A page as rows and columns with merged cells filled out, and the dates that are certain in it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import date, datetime

from roost.core.sheets.dates import SERIAL_FIRST, SERIAL_LAST, Calendar, bounds, order_shown, scan
from roost.core.sheets.model import Block, Cell, Page, Setting, UnreadError, Value
from roost.core.sheets.plain import folded
from roost.core.sheets.whens import week_of

MOST_MERGED = 200_000
_CJK = re.compile("[\u3400-\u9fff]")
_MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
_MONTH = re.compile(
    r"(?P<y1>\d{4})\s*[年/.-]\s*(?P<m1>\d{1,2})\s*月?(?![\d/.-]|\s*\d)"
    r"|(?<!\d)(?P<m2>\d{1,2})\s*月(?!\s*\d)"
    r"|\b(?P<mon>jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?(?:[\s,]*(?P<y3>\d{4}))?(?!\s*\d)"
)
_WEEK = re.compile(
    r"(?:\d{4}\s*[-年]?\s*)?(?:第\s*\d{1,2}\s*[周週]|\b(?:week|kw|cw|w)\s*\d{1,2}\b)"
)
EMPTY = Cell()


class Table:
    """`rows` and `columns` bound what holds something. `at` looks through merged cells."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.cells = {at: cell for at, cell in page.cells.items() if _holds(cell)}
        self.rows = max((row for row, _ in self.cells), default=-1) + 1
        self.columns = max((column for _, column in self.cells), default=-1) + 1
        self._origin: dict[tuple[int, int], tuple[int, int]] = {}
        self.blocks: dict[tuple[int, int], Block] = {}
        for block in page.blocks:
            if (block.top, block.left) in self.cells:
                self._fill(block)

    def _fill(self, block: Block) -> None:
        self.rows, self.columns = max(self.rows, 0), max(self.columns, 0)
        if (block.bottom - block.top + 1) * (block.right - block.left + 1) > MOST_MERGED:
            block = replace(
                block,
                bottom=min(block.bottom, self.rows - 1),
                right=min(block.right, self.columns - 1),
            )
        top = (block.top, block.left)
        self.blocks[top] = block
        self.rows = max(self.rows, block.bottom + 1)
        self.columns = max(self.columns, block.right + 1)
        for row in range(block.top, block.bottom + 1):
            for column in range(block.left, block.right + 1):
                self._origin[row, column] = top
        if len(self._origin) > MOST_MERGED:
            raise UnreadError("merged_many", most=MOST_MERGED)

    def origin(self, row: int, column: int) -> tuple[int, int]:
        return self._origin.get((row, column), (row, column))

    def at(self, row: int, column: int) -> Cell:
        return self.cells.get(self.origin(row, column), EMPTY)

    def value(self, row: int, column: int) -> Value:
        """None also where it is struck out. Raises UnreadError for a formula without a value."""
        cell = self.at(row, column)
        if cell.uncomputed:
            raise UnreadError("uncomputed")
        return None if cell.struck else cell.value

    def text(self, row: int, column: int) -> str:
        return as_text(self.at(row, column).value)

    def filled(self, row: int) -> list[int]:
        """The columns of a row in which something stands, merged cells at their first only."""
        return [
            column
            for column in range(self.columns)
            if self.origin(row, column) in self.cells
            and (column == 0 or self.origin(row, column) != self.origin(row, column - 1))
        ]

    def span(self, row: int, column: int) -> Block:
        at = self.origin(row, column)
        return self.blocks.get(at, Block(at[0], at[1], at[0], at[1]))


def _holds(cell: Cell) -> bool:
    return cell.uncomputed or (
        cell.value is not None and (not isinstance(cell.value, str) or bool(cell.value.strip()))
    )


def as_text(value: Value) -> str:
    """As the person would see it."""
    if value is None:
        return ""
    if isinstance(value, float) and value == int(value) and abs(value) < 1e15:
        return str(int(value))
    return str(value)


def is_chinese(texts: Iterable[str]) -> bool:
    return any(_CJK.search(text) for text in texts)


def calendar_of(
    setting: Setting, dated: Sequence[Value], titles: Sequence[str], chinese: bool
) -> Calendar:
    """What the sheet itself says about its dates: the certain ones among `dated`, and the month or
    week that a title or the sheet's name gives."""
    today = setting.today
    order = setting.order
    found = [scan(folded(v)) for v in dated if isinstance(v, str) and len(v) < 60]
    written = [each[0] for each in found if each]
    if order is None:
        order = order_shown(written) or ("mdy" if chinese else None)
    first = Calendar(today, today, setting.year, order, zone=setting.time_zone)
    sure: list[date] = []
    for value in dated:
        if isinstance(value, datetime):
            sure.append(value.date())
        elif isinstance(value, date):
            sure.append(value)
        elif isinstance(value, int | float) and SERIAL_FIRST <= value <= SERIAL_LAST:
            sure.append(date.fromordinal(date(1899, 12, 30).toordinal() + int(value)))
    sure += _days(first, [w for w in written if w.year and not w.open])
    if not sure:
        sure = _days(first, [w for w in written if w.month and not w.open])
    start, end = bounds(sure, today)
    calendar = replace(first, first=start, last=end)
    for title in titles:
        calendar = _told(calendar, folded(title))
    return calendar


def _days(calendar: Calendar, written: Iterable[object]) -> list[date]:
    days = []
    for each in written:
        try:
            days.append(calendar.day(each))  # type: ignore[arg-type]
        except UnreadError:
            continue
    return days


def _told(calendar: Calendar, title: str) -> Calendar:
    if calendar.week is None:
        week = _WEEK.search(title)
        monday = week_of(week[0].strip(), calendar) if week else None
        begun = re.search(r"\d", title) if monday is None else None
        if begun:
            found = scan(title, begun.start())
            ends = found and re.search(r"\s*[-~至到]", title[found[1] :])
            if found and ends and found[0].month:
                day = _days(calendar, [found[0]])
                monday = day[0] if day and day[0].weekday() == 0 else None
        if monday:
            calendar = replace(calendar, week=monday)
    if calendar.month is None:
        month = month_of(title, calendar)
        if month:
            calendar = replace(calendar, month=month)
    return calendar


def month_of(text: str, calendar: Calendar) -> tuple[int, int] | None:
    """Year and month that a folded text names ("2026年12月", "12月", "Dec")."""
    match = _MONTH.search(text)
    if match is None:
        return None
    name = match["mon"]
    month = _MONTHS.index(name) + 1 if name else int(match["m1"] or match["m2"])
    if not 1 <= month <= 12:
        return None
    year = match["y1"] or match["y3"]
    if year:
        return int(year), month
    if calendar.year:
        return calendar.year, month
    middle = calendar.first.toordinal()
    years = range(calendar.first.year - 1, calendar.last.year + 2)
    return min(years, key=lambda y: abs(date(y, month, 15).toordinal() - middle)), month
