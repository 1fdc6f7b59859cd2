"""Where a grid's heads are, and what each row and column of it stands for: a GPU, a day, a slot, a
server, in whatever order the team has laid them out."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime

from roost.core.sheets.clock import RANGE, scan_clock, slot_of
from roost.core.sheets.columns import field_of
from roost.core.sheets.dates import SERIAL_FIRST, SERIAL_LAST, Calendar, Written, scan
from roost.core.sheets.gpus import head_gpus, read_gpus, server_name, with_server
from roost.core.sheets.model import Setting, UnreadError, Value, Wanted
from roost.core.sheets.plain import folded, plain
from roost.core.sheets.table import Table, month_of
from roost.core.sheets.whens import read_when

HEAD_ROWS = 60
AXES = ("gpu", "day", "slot", "server", "number", "span")
_ONE_WORD = re.compile(r"[A-Za-z0-9_.-]+|[\u3400-\u9fff]{0,6}\d+[\u3400-\u9fff]{0,6}")
_SPAN = re.compile(r"\d{1,2}\s*[-~]\s*\d{1,2}")
_MONTH_ONLY = re.compile(r"(?:\d{4}\s*[年/.-]\s*)?\d{1,2}\s*月|[a-z]{3,9}\.?(?:\s+\d{4})?")


@dataclass(frozen=True, slots=True)
class Head:
    """What a row or column says of its cells; None where it says nothing."""

    gpus: Wanted | None = None
    server: str | None = None
    first: date | None = None
    last: date | None = None
    slot: tuple[int, int] | None = None
    month: tuple[int, int] | None = None

    def over(self, inner: Head) -> Head:
        return Head(
            inner.gpus or self.gpus,
            inner.server or self.server,
            inner.first or self.first,
            inner.last or self.last,
            inner.slot or self.slot,
            inner.month or self.month,
        )


@dataclass(frozen=True, slots=True)
class Layout:
    """`heads`: the rows of column heads; `left`: the columns of row heads, with their kinds."""

    heads: tuple[int, ...]
    left: tuple[tuple[int, str], ...]
    body: tuple[int, ...]
    kinds: tuple[tuple[int, str], ...]


def kind_of(value: Value, setting: Setting) -> str | None:
    """What a cell could be the head of: one of AXES, "month", "label" (it names what is below or
    beside it), or None."""
    if isinstance(value, datetime | date):
        return "day"
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, int | float):
        if SERIAL_FIRST <= value <= SERIAL_LAST:
            return "day"
        return "number" if value == int(value) and 0 <= value < 1024 else None
    if not isinstance(value, str) or len(value) > 60:
        return None
    word = folded(value)
    if word in {name.casefold() for name in setting.gpus}:
        return "server"
    server, rest = with_server(value, setting.gpus)
    if server and isinstance(rest, str) and (rest.isdecimal() or head_gpus(rest)):
        return "gpu"
    if word.isdecimal() and len(word) < 4:
        return "number"
    if _SPAN.fullmatch(word):
        return "span"
    if head_gpus(word):
        return "gpu"
    return _kind_of_time(word, setting) or ("label" if field_of(word) else None)


def _kind_of_time(word: str, setting: Setting) -> str | None:
    try:
        if slot_of(word, setting.slots):
            return "slot"
        begun = scan(word)
        if begun and (begun[1] == len(word) or _is_day_range(word, begun[1])):
            return "day"
        if _is_clock_range(word):
            return "slot"
        named = month_of(word, Calendar(setting.today, setting.today))
        return "month" if named and _MONTH_ONLY.fullmatch(word) else None
    except UnreadError:
        return None


def _is_day_range(word: str, at: int) -> bool:
    to = RANGE.match(word, at)
    if to is None:
        return False
    second = scan(word, to.end())
    return (second is not None and second[1] == len(word)) or word[to.end() :].isdecimal()


def _is_clock_range(word: str) -> bool:
    first = scan_clock(word)
    if first is None:
        return False
    to = RANGE.match(word, first[1])
    second = scan_clock(word, to.end()) if to else None
    return second is not None and second[1] == len(word)


def find_layout(table: Table, setting: Setting, start: int = 0) -> Layout | None:
    """The first row from `start` on that is the head of a grid, with what belongs to it."""
    for row in range(start, min(table.rows, start + HEAD_ROWS)):
        kind, columns = main_kind(table, row, setting)
        if kind is None:
            continue
        if len(columns) < 2 and not (kind == "gpu" and _dated_below(table, row, columns, setting)):
            continue
        if kind in ("number", "span") and not _dated_left(table, row, columns[0], setting):
            continue
        return _layout(table, row, kind, columns, setting)
    return None


def main_kind(table: Table, row: int, setting: Setting) -> tuple[str | None, list[int]]:
    """The commonest kind of head in a row, and its columns."""
    kinds = [
        (column, kind)
        for column in table.filled(row)
        if (kind := kind_of(table.at(row, column).value, setting)) in AXES
    ]
    if not kinds:
        return None, []
    best = max(Counter(kind for _, kind in kinds).items(), key=lambda each: each[1])[0]
    columns = [column for column, kind in kinds if kind == best]
    others = [c for c in table.filled(row) if c > columns[0] and c not in columns]
    names = [c for c in others if kind_of(table.at(row, c).value, setting) is None]
    return (best, columns) if len(names) <= len(columns) else (None, [])


def _dated_below(table: Table, row: int, columns: Sequence[int], setting: Setting) -> bool:
    return any(
        kind_of(table.at(below, column).value, setting) in ("day", "slot")
        for below in range(row + 1, min(row + 4, table.rows))
        for column in range(columns[0])
    )


def _dated_left(table: Table, row: int, first: int, setting: Setting) -> bool:
    """Whether the column heads are bare numbers of something: beside days or GPUs."""
    below = range(row + 1, min(row + 12, table.rows))
    return any(
        kind_of(table.at(r, column).value, setting) in ("day", "slot", "gpu", "server", "number")
        for r in below
        for column in range(first)
    )


def _layout(table: Table, row: int, kind: str, columns: Sequence[int], setting: Setting) -> Layout:
    first = columns[0]
    above: list[int] = []
    for r in range(row - 1, max(row - 3, -1), -1):
        kinds = [
            kind_of(table.at(r, c).value, setting)
            for c in table.filled(r)
            if table.span(r, c).right >= first and table.span(r, c).left >= min(first, 1)
        ]
        if not kinds or not all(k in (*AXES, "month", "label") for k in kinds):
            break
        if not any(k in (*AXES, "month") for k in kinds):
            break
        above.insert(0, r)
    heads = [*above, row]
    for r in range(row + 1, min(row + 3, table.rows)):
        body = [c for c in table.filled(r) if c >= first and table.origin(r, c)[0] == r]
        kinds = [kind_of(table.at(r, c).value, setting) for c in body]
        if len(body) < 2 or not all(k in AXES for k in kinds):
            break
        heads.append(r)
    kinds_of = [(r, kind if r == row else _commonest(table, r, first, setting)) for r in heads]
    kinds_of = [(r, _settled(table, k, None, setting, kinds_of)) for r, k in kinds_of]
    across = {k for _, k in kinds_of}
    left = []
    for column in range(first):
        found = Counter(
            k
            for r in range(heads[-1] + 1, table.rows)
            if table.origin(r, column) in table.cells
            and (k := kind_of(table.at(r, column).value, setting)) is not None
        )
        if not found:
            continue
        commonest = found.most_common(1)[0][0]
        label = field_of(table.text(heads[-1], column))
        settled = _of_label(commonest, label, across)
        if settled:
            left.append((column, settled))
    return Layout(tuple(heads), tuple(left), tuple(range(first, table.columns)), tuple(kinds_of))


def _commonest(table: Table, row: int, first: int, setting: Setting) -> str:
    kinds = Counter(
        kind
        for column in table.filled(row)
        if table.span(row, column).right >= first
        and (kind := kind_of(table.at(row, column).value, setting)) in (*AXES, "month")
    )
    return kinds.most_common(1)[0][0] if kinds else ""


def _settled(
    table: Table, kind: str, label: str | None, setting: Setting, rows: Sequence[tuple[int, str]]
) -> str:
    """Bare numbers in a row of heads are days below a month, else GPUs."""
    if kind == "number":
        return "day" if any(k == "month" for _, k in rows) else "gpu"
    return "gpu" if kind == "span" else kind


def _of_label(kind: str, label: str | None, across: set[str]) -> str | None:
    if kind in ("number", "span"):
        if label in ("gpus", "count"):
            return "gpu"
        if label == "date":
            return "day"
        if label == "time" or kind == "span":
            return "slot" if "slot" not in across else None
        return "gpu" if "gpu" not in across else "day"
    if label == "server" and kind in ("gpu", "label"):
        return "server"
    return kind if kind in AXES else None


def head_of(value: Value, kind: str, setting: Setting, calendar: Calendar) -> Head:
    """Raises UnreadError for what is none, such as a 32nd of December."""
    if value is None or value == "":
        return Head()
    found = kind_of(value, setting)
    if kind == "server":
        word = plain(str(value))
        named = found == "server" or (found != "label" and _ONE_WORD.fullmatch(word))
        return Head(server=server_name(word, setting.gpus)) if named else Head()
    if kind == "month" and isinstance(value, str):
        return Head(month=month_of(folded(value), calendar))
    if kind == "gpu" and found in ("gpu", "number", "span"):
        server, rest = with_server(value, setting.gpus)
        return Head(gpus=read_gpus(rest), server=server)
    if kind == "slot" and found in ("slot", "span", "number"):
        when = read_when(value, calendar, setting.slots, "time")
        if when.start is not None and when.end is not None:
            return Head(slot=(when.start, when.end))
        return Head()
    if kind == "day" and found in ("day", "number"):
        if isinstance(value, str) and value.strip().isdecimal() and len(value.strip()) < 3:
            return Head(first=calendar.day(Written(value, day=int(value))))
        when = read_when(value, calendar, setting.slots, "date")
        slot = (when.start, when.end) if when.start is not None and when.end is not None else None
        return Head(first=when.first, last=when.last, slot=slot)
    if kind == "day" and found in ("server", "slot"):
        return head_of(value, found, setting, calendar)
    return Head()
