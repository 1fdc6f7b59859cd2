"""What people want done with bookings, as data, on its way to the control thread."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from roost.core.bookings.model import Want

if TYPE_CHECKING:
    from roost.server.intents import Person


@dataclass(frozen=True, slots=True)
class Owner:
    """Whose booking it is to be, where it is not the caller's own."""

    uid: int
    name: str
    groups: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Book:
    """`spans` in whole seconds: one, or each of a series (`rule`, `except_days`). `wait`: onto the
    waiting list where there is no room. `skip`: of a series, leave out what has no room. `over`: an
    operator's maintenance moves or cancels what is in its way. `dry_run` changes nothing. `key`:
    asked again with the same one, the person is given the bookings of the first time."""

    person: Person
    want: Want
    spans: tuple[tuple[int, int], ...]
    owner: Owner | None = None
    group: str | None = None
    purpose: str = ""
    public: bool = False
    maintenance: bool = False
    rule: str = ""
    except_days: tuple[str, ...] = ()
    wait: bool = False
    skip: bool = False
    over: bool = False
    dry_run: bool = False
    key: str | None = None


@dataclass(frozen=True, slots=True)
class BookAll:
    """Several at once, all or none: an operator's import. `skip`: leave out rows without room."""

    person: Person
    books: tuple[Book, ...]
    skip: bool = False
    dry_run: bool = False
    key: str | None = None


@dataclass(frozen=True, slots=True)
class Change:
    """Fields that are None stay. A new start alone moves it as long as it is; `length_s` stands in
    place of an end. GPUs are assigned anew where they do not do any more."""

    person: Person
    booking: int
    starts_at: int | None = None
    ends_at: int | None = None
    length_s: int | None = None
    gpus: int | None = None
    chosen: tuple[str, ...] | None = None
    memory_bytes: int | None = None
    model: str | None = None
    purpose: str | None = None
    public: bool | None = None
    dry_run: bool = False


@dataclass(frozen=True, slots=True)
class Close:
    """Cancels it, or gives back what is left of it; `series`: it and all that follow it."""

    person: Person
    booking: int
    series: bool = False


@dataclass(frozen=True, slots=True)
class Give:
    person: Person
    booking: int
    to: Owner


@dataclass(frozen=True, slots=True)
class Swap:
    """Two bookings change their owners, once both have said so (an operator's word is enough)."""

    person: Person
    booking: int
    other: int


BookingIntent = Book | BookAll | Change | Close | Give | Swap
