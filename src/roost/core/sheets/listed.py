"""A sheet with a booking on each row, below a row that names the columns."""

from __future__ import annotations

from dataclasses import dataclass

from roost.core.sheets.columns import field_of, is_cancelled
from roost.core.sheets.dates import Calendar
from roost.core.sheets.gpus import checked, read_gpus, server_name, with_server
from roost.core.sheets.model import (
    Draft,
    Phrase,
    Place,
    Rejected,
    Remark,
    Setting,
    Shape,
    UnreadError,
    Value,
    Wanted,
)
from roost.core.sheets.people import user_of
from roost.core.sheets.plain import cut, plain
from roost.core.sheets.rowtimes import Fields, times_of
from roost.core.sheets.table import Table, as_text, calendar_of, is_chinese

HEAD_ROWS = 60
DATED = ("start", "end", "date", "time")


@dataclass(frozen=True, slots=True)
class Found:
    """What a page gave."""

    shape: Shape
    bookings: tuple[Draft, ...] = ()
    rejected: tuple[Rejected, ...] = ()
    remarks: tuple[Remark, ...] = ()


def fields_of(table: Table, row: int) -> dict[str, tuple[int, ...]]:
    """The fields that a row names, with their columns; {} where the row is no head."""
    found: dict[str, tuple[int, ...]] = {}
    for column in range(table.columns):
        cell = table.at(row, column)
        if isinstance(cell.value, str) and not cell.struck and len(cell.value) < 60:
            name = field_of(cell.value)
            if name:
                found[name] = (*found.get(name, ()), column)
    timed = any(name in found for name in DATED)
    return found if "user" in found and timed and len(found) > 2 else {}


def head_row(table: Table) -> int | None:
    """The first row that names columns of a list."""
    rows = range(min(table.rows, HEAD_ROWS))
    return next((row for row in rows if fields_of(table, row)), None)


def read_list(table: Table, setting: Setting, head: int) -> Found:
    fields, first = _with_second_row(table, head, fields_of(table, head))
    heads = [table.text(head, column) for column in range(table.columns)]
    dated = [
        table.at(row, column).value
        for row in range(first, table.rows)
        for name in DATED
        for column in fields.get(name, ())
    ]
    titles = [table.page.name, *(table.text(r, c) for r in range(head) for c in table.filled(r))]
    calendar = calendar_of(setting, dated, titles, is_chinese(heads))
    shape = Shape(
        table.page.name,
        "list",
        head,
        tuple(sorted((c, name) for name, columns in fields.items() for c in columns)),
    )
    bookings: list[Draft] = []
    rejected: list[Rejected] = []
    remarks: list[Remark] = []
    section: str | None = setting.home if table.page.name not in setting.gpus else table.page.name
    section = None if section == setting.home else section
    for row in range(first, table.rows):
        again = fields_of(table, row)
        if again:
            fields = again
            continue
        place = Place(table.page.name, row)
        left_out = _left_out(table, row, fields, setting)
        if left_out:
            if left_out.code == "section":
                section = str(dict(left_out.numbers)["server"])
            elif left_out.code != "blank":
                remarks.append(Remark(place, left_out))
            continue
        try:
            bookings.append(_draft(table, row, fields, setting, calendar, section))
        except UnreadError as error:
            rejected.append(Rejected(place, error.phrase))
    return Found(shape, tuple(bookings), tuple(rejected), tuple(remarks))


def _with_second_row(
    table: Table, head: int, fields: dict[str, tuple[int, ...]]
) -> tuple[Fields, int]:
    """A second row of heads below the first ("时间" over "开始" and "结束") says more."""
    below: dict[int, str] = {}
    for column in table.filled(head + 1):
        if table.origin(head + 1, column)[0] <= head:
            continue
        name = field_of(table.text(head + 1, column))
        if name is None:
            return fields, head + 1
        below[column] = name
    if not below:
        return fields, head + 1
    columns = {c: name for name, all_of in fields.items() for c in all_of} | below
    merged: dict[str, tuple[int, ...]] = {}
    for column, name in sorted(columns.items()):
        merged[name] = (*merged.get(name, ()), column)
    return merged, head + 2


def _left_out(table: Table, row: int, fields: Fields, setting: Setting) -> Phrase | None:
    """Why a row is no booking and none that could not be read."""
    filled = table.filled(row)
    if not filled:
        return Phrase("blank")
    struck = [table.at(row, column).struck for column in filled]
    of_user = [table.at(row, column).struck for column in fields.get("user", ())]
    if all(struck) or any(of_user):
        return Phrase("struck")
    status = [table.text(row, column) for column in fields.get("status", ())]
    if any(is_cancelled(text) for text in status):
        return Phrase("cancelled")
    if len(filled) == 1:
        text = plain(table.text(row, filled[0]))
        name = server_name(text, setting.gpus)
        if name in setting.gpus:
            return Phrase("section", (("server", name),))
        return Phrase("alone", (("text", cut(text)),))
    return None


def _draft(
    table: Table,
    row: int,
    fields: Fields,
    setting: Setting,
    calendar: Calendar,
    section: str | None,
) -> Draft:
    def values(name: str) -> list[Value]:
        found = [table.value(row, column) for column in fields.get(name, ())]
        return [v for v in found if as_text(v).strip()]

    def text(name: str) -> str:
        return " ".join(plain(as_text(value)) for value in values(name))

    def written(name: str) -> str:
        return " ".join(" ".join(as_text(value).split()) for value in values(name))

    name = text("user")
    if not name:
        raise UnreadError("no_name")
    user = user_of(name, setting)
    server: str | None = None
    gpus = values("gpus")
    if len(gpus) == 1:
        server, gpus[0] = with_server(gpus[0], setting.gpus)
    if text("server"):
        server = server_name(text("server"), setting.gpus)
    server = server or section
    start, end = times_of({n: values(n) for n in (*DATED, "duration")}, fields, setting, calendar)
    known = setting.gpus.get(server or setting.home or "")
    wanted = _wanted(gpus, values("count"), fields, known)
    checked(wanted, None if server == setting.home else server, known)
    return Draft(
        user=user,
        name=name,
        server=server,
        wanted=wanted,
        start=start,
        end=end,
        purpose=written("purpose") if "purpose" in fields else written("note"),
        place=Place(table.page.name, row),
    )


def _wanted(gpus: list[Value], counts: list[Value], fields: Fields, known: int | None) -> Wanted:
    if gpus:
        parts = [read_gpus(value) for value in gpus]
        if len(parts) == 1:
            return parts[0]
        if all(part.these for part in parts):
            return Wanted(tuple(sorted({n for part in parts for n in part.these})))
        raise UnreadError("gpus_unread", text=cut(", ".join(as_text(v) for v in gpus)))
    if counts:
        return read_gpus(counts[0], counted=True)
    if known == 1 and "gpus" not in fields and "count" not in fields:
        return Wanted((0,))
    raise UnreadError("no_gpus")
