"""The cells that are read, what must be known to read them, and what was understood.

Times are local ones of the rules' time zone, without a zone, as a sheet has them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta

from roost.core.text.catalogue import say

Value = str | float | int | bool | datetime | date | time | timedelta | None
Number = str | int


@dataclass(frozen=True, slots=True)
class Cell:
    """`struck`: crossed out. `uncomputed`: a formula whose value was never saved."""

    value: Value = None
    struck: bool = False
    uncomputed: bool = False


@dataclass(frozen=True, slots=True)
class Block:
    """Merged cells, from the first row and column to the last, counted from 0, all included."""

    top: int
    left: int
    bottom: int
    right: int


@dataclass(frozen=True, slots=True)
class Page:
    """One sheet: the cells that hold something, by row and column from 0, and its merged blocks."""

    name: str
    cells: Mapping[tuple[int, int], Cell]
    blocks: tuple[Block, ...] = ()


@dataclass(frozen=True, slots=True)
class Setting:
    """What a sheet leaves unsaid.

    `year`: of dates without one; None: the one that brings them nearest to the others, or to
    `today`. `order`: "mdy" or "dmy" for 2/12; None: as the sheet shows. `gpus`: how many each known
    server has; `home`: the server meant where a sheet names none. `aliases` and `accounts`: names
    on sheets to accounts, and the accounts there are. `slots`: minutes of the day by name, the end
    above 1440 where it is on the day after.
    """

    time_zone: str
    today: date
    year: int | None = None
    order: str | None = None
    gpus: Mapping[str, int] = field(default_factory=dict)
    home: str | None = None
    aliases: Mapping[str, str] = field(default_factory=dict)
    accounts: frozenset[str] = frozenset()
    slots: Mapping[str, tuple[int, int]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Phrase:
    """A message of the `sheet` catalogue with its numbers."""

    code: str
    numbers: tuple[tuple[str, Number], ...] = ()

    def text(self, language: str = "en") -> str:
        numbers = dict(self.numbers)
        for key in ("month", "weekday"):
            if key in numbers:
                numbers[key] = say(language, f"sheet.{key}.{numbers[key]}")
        return say(language, f"sheet.{self.code}", **numbers)


class UnreadError(ValueError):
    """A cell or row that cannot be read; `phrase` says why."""

    def __init__(self, code: str, **numbers: Number) -> None:
        super().__init__(code)
        self.phrase = Phrase(code, tuple(numbers.items()))


@dataclass(frozen=True, slots=True)
class Place:
    """A row (`column` None) or a cell of a page, counted from 0."""

    page: str
    row: int
    column: int | None = None

    def text(self, language: str = "en", named: bool = False) -> str:
        """ "row 8", "cell D4"; with `named` also of which sheet."""
        if self.column is None:
            words = say(language, "sheet.row", row=self.row + 1)
        else:
            words = say(language, "sheet.cell", cell=f"{letters(self.column)}{self.row + 1}")
        return say(language, "sheet.of_page", page=self.page, where=words) if named else words


def letters(column: int) -> str:
    """ "A" for 0, "AA" for 26."""
    name = ""
    at = column + 1
    while at:
        at, rest = divmod(at - 1, 26)
        name = chr(65 + rest) + name
    return name


@dataclass(frozen=True, slots=True)
class Wanted:
    """GPUs by number, or `count` of any, or every one of the server."""

    these: tuple[int, ...] = ()
    count: int = 0
    every: bool = False


@dataclass(frozen=True, slots=True)
class Draft:
    """A booking as the sheet has it. `name` as it is written there, `user` the account, or what
    its name would be; `server` None for the one at home."""

    user: str
    name: str
    server: str | None
    wanted: Wanted
    start: datetime
    end: datetime
    purpose: str
    place: Place


@dataclass(frozen=True, slots=True)
class Rejected:
    place: Place
    reason: Phrase


@dataclass(frozen=True, slots=True)
class Remark:
    """Something that the person should know of how the sheet was read."""

    place: Place | None
    phrase: Phrase


@dataclass(frozen=True, slots=True)
class Shape:
    """How a page was taken: "list" or "grid", and what each column was read as."""

    page: str
    kind: str
    header: int
    columns: tuple[tuple[int, str], ...]


@dataclass(frozen=True, slots=True)
class Understood:
    """`clashes` are of `bookings` of a grid that want a GPU which another of its cells has: slots
    may overlap (a night and the whole day after it), so that both are well written, but only one
    can be had."""

    bookings: tuple[Draft, ...]
    rejected: tuple[Rejected, ...]
    clashes: tuple[Rejected, ...]
    remarks: tuple[Remark, ...]
    shapes: tuple[Shape, ...]
    year: int
