"""Bookings as entries of a calendar, in the words of its owner, who sees no more than elsewhere.

Each occurrence of a series is an entry of its own, as it is a booking of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from roost.core.text.catalogue import say
from roost.server.feeds.document import Entry
from roost.store.bookings import BOOKED, BookingRecord

SHOWN = (BOOKED, "ended", "no_show", "cancelled")


@dataclass(frozen=True, slots=True)
class Reader:
    """Whose calendar it is, and of which bookings that person may know the purpose. `domain` makes
    the numbers of this server's bookings different from those of any other."""

    uid: int
    language: str
    server: str
    domain: str
    may_handle: Callable[[int, str], bool]


def entries(
    bookings: Sequence[BookingRecord], reader: Reader, indices: Mapping[str, int]
) -> list[Entry]:
    """Those that have or had GPUs; `indices` of the GPUs by UUID."""
    found = []
    for one in bookings:
        if one.state not in SHOWN or not one.gpu_uuids or one.ends_at <= one.starts_at:
            continue
        mine = one.uid == reader.uid
        shown = one.public or one.maintenance or reader.may_handle(one.uid, one.group)
        purpose = one.purpose if shown else ""
        found.append(
            Entry(
                uid=f"booking-{one.id}@{reader.domain}",
                starts_at=float(one.starts_at),
                ends_at=float(one.ends_at),
                summary=_summary(one, reader, mine, purpose, indices),
                description=_description(one, reader, purpose),
                location=reader.server,
                sequence=one.revision,
                created_at=one.made_at,
                changed_at=max(one.made_at, one.closed_at or 0.0),
                cancelled=one.state == "cancelled",
                maintenance=one.maintenance,
            )
        )
    return found


def _summary(
    one: BookingRecord, reader: Reader, mine: bool, purpose: str, indices: Mapping[str, int]
) -> str:
    numbers = sorted(indices[uuid] for uuid in one.gpu_uuids if uuid in indices)
    words = ",".join(map(str, numbers)) or str(len(one.gpu_uuids))
    code = "maintenance" if one.maintenance else "mine" if mine else "theirs"
    text = say(reader.language, f"feed.{code}", user=one.user, gpus=words)
    if one.memory_bytes is not None:
        text += f" ({one.memory_bytes / 2**30:.0f} GiB)"
    return f"{text} · {purpose}" if purpose else text


def _description(one: BookingRecord, reader: Reader, purpose: str) -> str:
    text = say(
        reader.language, "feed.description", booking=one.id, user=one.user, group=one.group,
        server=reader.server,
    )  # fmt: skip
    return f"{purpose}\n{text}" if purpose else text
