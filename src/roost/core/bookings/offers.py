"""What can be had instead where there is no room: the nearest in time, on other GPUs, in parts."""

from __future__ import annotations

import itertools
from dataclasses import replace

from roost.core.bookings.assign import Timetable, assign, candidates
from roost.core.bookings.model import Offer, Site, Want

LEAST_S = 600.0
MOST_TRIED = 400
MOST_PARTS = 4


def offers(
    site: Site, table: Timetable, want: Want, start: float, end: float, now: float, latest: float
) -> list[Offer]:
    """Alternatives to [start, end), the nearest first; none begins before `now` or ends after
    `latest`. Only what is free at this moment."""
    found: list[Offer] = []
    other = replace(want, chosen=(), gpus=want.count)
    if want.chosen and (uuids := assign(site, table, other, start, end)):
        found.append(Offer("other", start, end, uuids))
    elif want.memory_bytes is None and (few := _fewer(site, table, other, start, end)):
        found.append(few)
    found += _shifted(site, table, want, start, end, now, latest)
    if (shorter := _shorter(site, table, want, start, end)) is not None:
        found.append(shorter)
    parts = _parts(site, table, want, start, end, now)
    if parts and not (shorter and len(parts) == 1):
        found += parts
    return found


def _fewer(site: Site, table: Timetable, want: Want, start: float, end: float) -> Offer | None:
    for count in range(want.gpus - 1, 0, -1):
        uuids = assign(site, table, replace(want, gpus=count), start, end)
        if uuids:
            return Offer("fewer", start, end, uuids)
    return None


def _shifted(
    site: Site, table: Timetable, want: Want, start: float, end: float, now: float, latest: float
) -> list[Offer]:
    """The next two later and the nearest earlier time of the same length."""
    length = end - start
    edges = table.edges()
    later = [at for at in edges if at > start and at + length <= latest][:MOST_TRIED]
    before = {at - length for at in edges if now <= at - length < start}
    earlier = sorted({*before, *(at for at in edges if now <= at < start)}, reverse=True)
    found: list[Offer] = []
    for at in later:
        if uuids := assign(site, table, want, at, at + length):
            found.append(Offer("later", at, at + length, uuids))
            if len(found) == 2:
                break
    for at in earlier[:MOST_TRIED]:
        if uuids := assign(site, table, want, at, at + length):
            found.append(Offer("earlier", at, at + length, uuids))
            break
    return sorted(found, key=lambda offer: (abs(offer.starts_at - start), offer.starts_at))


def _shorter(site: Site, table: Timetable, want: Want, start: float, end: float) -> Offer | None:
    ends = [at for at in table.edges() if start + LEAST_S <= at < end]
    for at in reversed(ends[-MOST_TRIED:]):
        if uuids := assign(site, table, want, start, at):
            return Offer("shorter", start, at, uuids)
    return None


def _parts(
    site: Site, table: Timetable, want: Want, start: float, end: float, now: float
) -> list[Offer]:
    """The free pieces of the time wanted, on the same GPUs where they can be: a week that is partly
    under maintenance is offered in parts."""
    if not candidates(site, want):
        return []
    inside = [at for at in table.edges() if max(start, now) < at < end][:MOST_TRIED]
    marks = [max(start, now), *inside, end]
    found: list[Offer] = []
    for begin, over in itertools.pairwise(marks):
        last = found[-1] if found else None
        if last is not None and last.ends_at == begin:
            whole = assign(site, table, want, last.starts_at, over)
            if whole:
                found[-1] = Offer("part", last.starts_at, over, whole)
                continue
        if uuids := assign(site, table, want, begin, over):
            found.append(Offer("part", begin, over, uuids))
    long = [one for one in found if one.ends_at - one.starts_at >= LEAST_S]
    return long[:MOST_PARTS]
