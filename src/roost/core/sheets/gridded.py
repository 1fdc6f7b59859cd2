"""A sheet with names in a grid of GPUs, days and slots: each name has what its row and column say.

Neighbouring cells of one person, and slots and days that touch, are one booking.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta

from roost.core.sheets.clock import DAY
from roost.core.sheets.dates import Calendar
from roost.core.sheets.gpus import checked, read_gpus
from roost.core.sheets.heads import Head, Layout, find_layout, head_of, main_kind
from roost.core.sheets.listed import Found
from roost.core.sheets.model import (
    Draft,
    Phrase,
    Place,
    Rejected,
    Remark,
    Setting,
    Shape,
    UnreadError,
    Wanted,
)
from roost.core.sheets.people import is_free, parts_of, user_of
from roost.core.sheets.plain import cut
from roost.core.sheets.table import Table, as_text, calendar_of, is_chinese
from roost.core.sheets.whens import read_when

Rank = tuple[str | None, Wanted]


@dataclass(frozen=True, slots=True)
class Piece:
    """One name in one cell or merged block, with the ranks of its GPUs among the heads."""

    draft: Draft
    ranks: tuple[int, int]


def read_grid(table: Table, setting: Setting, layout: Layout) -> Found:
    """Raises nothing: what cannot be read is among the rejected."""
    titles = [
        table.page.name,
        *(table.text(r, c) for r in range(layout.heads[0]) for c in table.filled(r)),
    ]
    dated = [table.at(r, c).value for r, kind in layout.kinds for c in layout.body if kind == "day"]
    dated += [
        table.at(r, c).value for c, kind in layout.left if kind == "day" for r in range(table.rows)
    ]
    heads = [table.text(r, c) for r in layout.heads for c in range(table.columns)]
    chinese = is_chinese([*heads, *(as_text(v) for v in dated)])
    reader = _Reader(table, setting, calendar_of(setting, dated, titles, chinese))
    reader.read(layout)
    return reader.found(layout)


class _Reader:
    """One pass over one page; the heads change where another block of the grid begins."""

    def __init__(self, table: Table, setting: Setting, calendar: Calendar) -> None:
        self.table, self.setting, self.calendar = table, setting, calendar
        self.columns: dict[int, Head] = {}
        self.rows: dict[int, Head] = {}
        self.pieces: list[Piece] = []
        self.rejected: list[Rejected] = []
        self.remarks: list[Remark] = []
        self.ranks: dict[Rank, int] = {}
        own = table.page.name in setting.gpus and table.page.name != setting.home
        self.server = table.page.name if own else None

    def read(self, layout: Layout) -> None:
        self._heads(layout)
        above: dict[int, Head] = {}
        end = self.table.rows
        row = layout.heads[-1] + 1
        while row < end:
            if self.table.filled(row):
                again = self._next_block(row, layout)
                if again:
                    layout = again
                    self._heads(layout)
                    above = {}
                    row = layout.heads[-1] + 1
                    continue
                try:
                    self.rows[row] = self._row(row, layout, above)
                except UnreadError as error:
                    self.rejected.append(Rejected(self._place(row), error.phrase))
            row += 1
        self._body(layout)

    def _next_block(self, row: int, layout: Layout) -> Layout | None:
        kind, columns = main_kind(self.table, row, self.setting)
        if kind is None or len(columns) < 2 or columns[0] != layout.body[0]:
            return None
        if kind not in {k for _, k in layout.kinds} - {"number"}:
            return None
        self._body(layout)
        return find_layout(self.table, self.setting, row)

    def _place(self, row: int, column: int | None = None) -> Place:
        return Place(self.table.page.name, row, column)

    def _heads(self, layout: Layout) -> None:
        self.columns, self.rows = {}, {}
        for column in layout.body:
            head = Head()
            for row, kind in layout.kinds:
                try:
                    head = head.over(self._column_head(row, column, kind, layout, head))
                except UnreadError as error:
                    self.rejected.append(Rejected(self._place(row, column), error.phrase))
            if head == Head() or (head.month and not head.first and head.gpus is None):
                self._aside(column, layout)
            else:
                self.columns[column] = head
                if head.gpus:
                    self._rank(head)

    def _column_head(self, row: int, column: int, kind: str, layout: Layout, so_far: Head) -> Head:
        value = self.table.at(row, column).value
        if value is None and len(layout.heads) > 1 and row != layout.heads[-1]:
            for left in range(column - 1, layout.body[0] - 1, -1):
                value = self.table.at(row, left).value
                if value is not None:
                    break
        calendar = self.calendar
        if so_far.month:
            calendar = replace(calendar, month=so_far.month)
        return head_of(value, kind, self.setting, calendar)

    def _aside(self, column: int, layout: Layout) -> None:
        texts = [
            self.table.text(row, column) for row in range(layout.heads[-1] + 1, self.table.rows)
        ]
        if any(texts):
            head = self.table.text(layout.heads[-1], column)
            place = self._place(layout.heads[-1], column)
            self.remarks.append(Remark(place, Phrase("column_aside", (("head", cut(head)),))))

    def _rank(self, head: Head) -> int:
        assert head.gpus is not None
        key = (head.server, head.gpus)
        return self.ranks.setdefault(key, len(self.ranks))

    def _row(self, row: int, layout: Layout, above: dict[int, Head]) -> Head:
        """What stands to the left of a row; a day, server or GPU holds on below itself."""
        head = Head()
        own = {}
        for column, kind in layout.left:
            value = self.table.value(row, column)
            if value is not None:
                own[column] = head_of(value, kind, self.setting, self.calendar)
                above[column] = own[column]
                for other, _ in layout.left:
                    if other > column:
                        above.pop(other, None)
        for column, kind in layout.left:
            if column in own:
                head = head.over(own[column])
            elif own and kind != "slot" and column in above:
                head = head.over(above[column])
        if head.gpus:
            self._rank(head)
        return head

    def _body(self, layout: Layout) -> None:
        done: set[tuple[int, int]] = set()
        for row, row_head in sorted(self.rows.items()):
            for column in self.columns:
                at = self.table.origin(row, column)
                if at in done or at not in self.table.cells:
                    continue
                done.add(at)
                cell = self.table.cells[at]
                text = as_text(cell.value)
                if cell.struck:
                    self.remarks.append(Remark(self._place(*at), Phrase("struck")))
                    continue
                if is_free(text) and not cell.uncomputed:
                    continue
                self._cell(at, row, column, row_head, text)
        self.rows = {}

    def _cell(self, at: tuple[int, int], row: int, column: int, row_head: Head, text: str) -> None:
        block = self.table.span(row, column)
        try:
            if self.table.cells[at].uncomputed:
                raise UnreadError("uncomputed")
            rows = [self.rows[r] for r in range(block.top, block.bottom + 1) if r in self.rows]
            columns = [
                self.columns[c] for c in range(block.left, block.right + 1) if c in self.columns
            ]
            heads = [c.over(r) for r in rows for c in columns]
            if not heads:  # of two merged blocks over each other
                raise UnreadError("no_day")
            for name, rest in parts_of(text, self.setting):
                self.pieces.append(self._piece(self._place(*at), heads, name, rest))
        except UnreadError as error:
            self.rejected.append(Rejected(self._place(*at), error.phrase))

    def _piece(self, place: Place, heads: Sequence[Head], name: str, rest: str) -> Piece:
        user = user_of(name, self.setting)
        servers = {head.server or self.server for head in heads}
        if len(servers) > 1:
            raise UnreadError("several_servers")
        server = servers.pop()
        known = self.setting.gpus.get(server or self.setting.home or "")
        ranks = [self._rank(head) for head in heads if head.gpus]
        wanted = _together([head.gpus for head in heads if head.gpus])
        if wanted is None:
            wanted, rest = self._gpus_of_rest(server, rest, known)
        start, end, purpose = self._when(heads, rest)
        checked(wanted, None if server == self.setting.home else server, known)
        draft = Draft(user, name, server, wanted, start, end, purpose, place)
        return Piece(draft, (min(ranks, default=0), max(ranks, default=0)))

    def _gpus_of_rest(self, server: str | None, rest: str, known: int | None) -> tuple[Wanted, str]:
        """Where no head names GPUs: those named beside the name, else all of the named server."""
        if rest:
            try:
                return read_gpus(rest), ""
            except UnreadError:
                pass
        if server:
            return Wanted(every=True), rest
        if known == 1:
            return Wanted((0,)), rest
        raise UnreadError("no_gpus")

    def _when(self, heads: Sequence[Head], rest: str) -> tuple[datetime, datetime, str]:
        """The time of all the heads together, or what the cell says of it; and what is left."""
        spans = []
        for head in heads:
            if head.first is None:
                raise UnreadError("no_day")
            first, last = head.slot or (0, DAY)
            spans.append((_at(head.first, first), _at(head.last or head.first, last)))
        spans = sorted(set(spans))
        start, end = spans[0][0], max(end for _, end in spans)
        at = start
        for begin, finish in spans:
            if begin > at and not _within(begin, at):
                raise UnreadError("apart")
            at = max(at, finish)
        if rest and len(spans) == 1:
            try:
                when = read_when(rest, self.calendar, self.setting.slots, "time")
            except UnreadError:
                return start, end, rest
            if when.first is None and when.start is not None and when.end is not None:
                day = start.date()
                return _at(day, when.start), _at(day, when.end), ""
        return start, end, rest

    def found(self, layout: Layout) -> Found:
        bookings = sorted(_joined(self.pieces), key=lambda d: (d.place.row, d.place.column or 0))
        columns = [(column, _words(head)) for column, head in sorted(self.columns.items())]
        shape = Shape(self.table.page.name, "grid", layout.heads[-1], (*layout.left, *columns))
        return Found(shape, tuple(bookings), tuple(self.rejected), tuple(self.remarks))


def _at(day: date, minutes: int) -> datetime:
    return datetime.combine(day, time()) + timedelta(minutes=minutes)


def _within(begin: datetime, at: datetime) -> bool:
    return begin <= at


def _together(parts: Sequence[Wanted]) -> Wanted | None:
    if not parts:
        return None
    if any(part.every for part in parts):
        return Wanted(every=True)
    return Wanted(tuple(sorted({n for part in parts for n in part.these})))


def _words(head: Head) -> str:
    words = []
    if head.server:
        words.append(head.server)
    if head.gpus:
        numbers = ",".join(map(str, head.gpus.these))
        words.append("all GPUs" if head.gpus.every else f"GPU {numbers}")
    if head.first:
        words.append(str(head.first))
    if head.slot:
        words.append(f"{head.slot[0] // 60:02d}:{head.slot[0] % 60:02d}")
    return " ".join(words)


def _joined(pieces: Sequence[Piece]) -> list[Draft]:
    """First neighbouring GPUs of one time, then touching times of the same GPUs."""
    wide: list[Draft] = []
    same_time: dict[tuple[object, ...], list[Piece]] = defaultdict(list)
    for piece in pieces:
        d = piece.draft
        same_time[d.user, d.server, d.start, d.end, d.purpose].append(piece)
    for group in same_time.values():
        group.sort(key=lambda piece: piece.ranks)
        run = [group[0]]
        for piece in group[1:]:
            last = run[-1]
            joins = piece.ranks[0] <= last.ranks[1] + 1 and not last.draft.wanted.every
            if joins and not piece.draft.wanted.count and not last.draft.wanted.count:
                gpus = _together([last.draft.wanted, piece.draft.wanted])
                assert gpus is not None
                ranks = (last.ranks[0], max(last.ranks[1], piece.ranks[1]))
                place = min(
                    last.draft.place, piece.draft.place, key=lambda p: (p.row, p.column or 0)
                )
                run[-1] = Piece(replace(last.draft, wanted=gpus, place=place), ranks)
            else:
                run.append(piece)
        wide += [piece.draft for piece in run]
    long: list[Draft] = []
    same_gpus: dict[tuple[object, ...], list[Draft]] = defaultdict(list)
    for draft in wide:
        same_gpus[draft.user, draft.server, draft.wanted, draft.purpose].append(draft)
    for drafts in same_gpus.values():
        drafts.sort(key=lambda d: d.start)
        for draft in drafts:
            if long and drafts[0] is not draft and long[-1].end == draft.start:
                long[-1] = replace(long[-1], end=draft.end)
            else:
                long.append(draft)
    return long
