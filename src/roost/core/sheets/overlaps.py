"""Bookings of one sheet against each other: the first of two that want the same GPUs has them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from datetime import datetime, timedelta

from roost.core.sheets.model import Draft, Phrase, Rejected, Setting, Wanted

LONGEST = timedelta(days=366)


def without_overlaps(
    drafts: Iterable[Draft], setting: Setting
) -> tuple[list[Draft], list[Rejected]]:
    """Those that can all be had together, in their order, and why each other one cannot. Requests
    for any so many GPUs are left to the server."""
    kept: list[Draft] = []
    refused: list[Rejected] = []
    by_day: dict[tuple[str, int], list[Draft]] = defaultdict(list)
    for draft in drafts:
        server = draft.server or setting.home or ""
        if draft.end - draft.start > LONGEST:
            refused.append(Rejected(draft.place, Phrase("too_long")))
            continue
        last = (draft.end - timedelta(microseconds=1)).toordinal()
        days = [(server, day) for day in range(draft.start.toordinal(), last + 1)]
        reason = next(
            (
                found
                for day in days
                for other in by_day[day]
                if (found := _against(draft, other, setting.gpus.get(server)))
            ),
            None,
        )
        if reason:
            refused.append(Rejected(draft.place, reason))
            continue
        kept.append(draft)
        for day in days:
            by_day[day].append(draft)
    return kept, refused


def _against(draft: Draft, other: Draft, count: int | None) -> Phrase | None:
    if not (draft.start < other.end and other.start < draft.end):
        return None
    if draft.wanted.count or other.wanted.count:
        return None
    mine, theirs = _numbers(draft.wanted, count), _numbers(other.wanted, count)
    until = until_text(draft.start, other.end)
    if mine is None or theirs is None:
        shared = mine or theirs
        if shared is None:
            return Phrase("server_taken", (("user", other.user), ("until", until)))
    else:
        shared = mine & theirs
    if not shared:
        return None
    same = (draft.user, draft.start, draft.end) == (other.user, other.start, other.end)
    if same and draft.wanted == other.wanted:
        return Phrase("repeated", (("row", other.place.row + 1),))
    return taken(sorted(shared), other.user, until)


def taken(numbers: list[int], user: str, until: str) -> Phrase:
    words = ", ".join(map(str, numbers))
    code = "gpu_taken" if len(numbers) == 1 else "gpus_taken"
    return Phrase(code, (("gpus", words), ("user", user), ("until", until)))


def until_text(start: datetime, end: datetime) -> str:
    """The time alone where it is on the day of the start."""
    return f"{end:%H:%M}" if end.date() == start.date() else f"{end:%Y-%m-%d %H:%M}"


def _numbers(wanted: Wanted, count: int | None) -> set[int] | None:
    """None: every GPU of a server of which is not known how many it has."""
    if not wanted.every:
        return set(wanted.these)
    return set(range(count)) if count is not None else None
