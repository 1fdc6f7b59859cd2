"""The server's GPUs as bookings see them, and the refusal that tells what there is instead."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any

from roost.core.attribution.model import Attribution, Holder, RightCode
from roost.core.bookings.assign import Timetable, candidates
from roost.core.bookings.model import Offer, Site, Want
from roost.core.bookings.offers import offers
from roost.core.model import Gpu
from roost.server.api.render import iso
from roost.server.refusal import RefusalError
from roost.server.work import Work
from roost.store.bookings import BookingRecord

MOST_CLASHES = 20


def site_of(work: Work, user: str) -> Site:
    """As they are to that person: their own jobs are in nobody's way."""
    marked = work.rules.rules.shared_gpus
    gpus = tuple(sorted(work.gpus.values(), key=lambda gpu: gpu.index))
    shared = {gpu.uuid for gpu in gpus if gpu.uuid in marked or str(gpu.index) in marked}
    unfit = {uuid for uuid, told in work.told_usable.items() if not told[0]}
    held: dict[str, float] = {}
    for allocation in work.allocations.values():
        job = work.jobs.get(allocation.job)
        if allocation.to_at is not None or allocation.user == user:
            continue
        walltime_s = None if job is None else job.request.walltime_s
        end = float("inf") if walltime_s is None else allocation.from_at + walltime_s
        held[allocation.gpu_uuid] = max(held.get(allocation.gpu_uuid, 0.0), end)
    seen = work.board.attribution
    for uuid, holders in ({} if seen is None else strangers(seen, {user})).items():
        if any(holder.job is None for holder in holders):
            held[uuid] = float("inf")
    return Site(gpus, frozenset(unfit), frozenset(shared), held)


def strangers(seen: Attribution, users: Collection[str]) -> dict[str, list[Holder]]:
    """Who else than these people really holds memory of each GPU or MIG instance, as far as they
    count as its use."""
    found: dict[str, list[Holder]] = {}
    for gpu in seen.gpus:
        for holder in gpu.holders:
            counts = holder.right.code not in (RightCode.IGNORED, RightCode.SYSTEM)
            if counts and holder.user not in users:
                for uuid in holder.mig_uuids or (gpu.uuid,):
                    found.setdefault(uuid, []).append(holder)
    return found


def table_of(work: Work, without: Iterable[int] = ()) -> Timetable:
    return Timetable(work.books.planned(), frozenset(without))


def check_want(site: Site, want: Want) -> None:
    """Refuses what this server could not give even if nobody had booked anything."""
    if want.memory_bytes is not None:
        largest = max((gpu.memory_bytes for gpu in candidates(site, want)), default=0)
        if not site.shared:
            raise RefusalError(422, "booking.none_shared", {"key": "gpu_memory_bytes"})
        if want.memory_bytes > largest:
            raise RefusalError(
                422, "booking.share_too_large", {"key": "gpu_memory_bytes", "available": largest},
                gib=f"{largest / 2**30:.1f}",
            )  # fmt: skip
        return
    there = len(candidates(site, want))
    if want.count > there:
        raise RefusalError(
            422, "booking.too_many_gpus", {"key": "gpus", "available": there},
            wanted=want.count, available=there,
        )  # fmt: skip


def offer_json(offer: Offer, gpus: dict[str, Gpu], zone: str) -> dict[str, Any]:
    return {
        "kind": offer.kind,
        "start": iso(offer.starts_at, zone),
        "end": iso(offer.ends_at, zone),
        "gpus": list(offer.gpu_uuids),
        "gpu_indices": [gpus[uuid].index for uuid in offer.gpu_uuids if uuid in gpus],
    }


def alternatives(
    work: Work, site: Site, table: Timetable, want: Want, start: float, end: float
) -> list[dict[str, Any]]:
    """What could be had instead of [start, end)."""
    rules, zone = work.rules.rules.bookings, work.rules.rules.time_zone
    latest = work.now + rules.horizon_s + (end - start)
    found = offers(site, table, want, start, end, float(int(work.now)), latest)
    return [offer_json(offer, work.gpus, zone) for offer in found]


def no_room(
    work: Work,
    site: Site,
    table: Timetable,
    want: Want,
    spans: Sequence[tuple[int, int]],
    without: int = 0,
) -> RefusalError:
    """409: who has it, and what is free instead (of the first span without room). `without`: the
    booking that is being moved is not in its own way."""
    start, end = spans[0]
    zone = work.rules.rules.time_zone
    uuids = {gpu.uuid for gpu in candidates(site, want)}
    in_the_way = [
        one for one in work.books.booked() if one.id != without and clashes(one, uuids, start, end)
    ]
    extra: dict[str, Any] = {
        "alternatives": alternatives(work, site, table, want, start, end),
        "conflicts": [clash_json(work, one) for one in in_the_way[:MOST_CLASHES]],
        "spans": [{"start": iso(a, zone), "end": iso(b, zone)} for a, b in spans[:MOST_CLASHES]],
    }
    free = sum(1 for uuid in uuids if table.free(uuid, start, end))
    code = "no_room_share" if want.memory_bytes is not None else "no_room"
    if want.chosen:
        code = "gpus_booked"
    return RefusalError(
        409, f"booking.{code}", extra, wanted=want.count, free=free,
        gpus=", ".join(str(gpu.index) for gpu in candidates(site, want)),
        start=_minute(start, zone), end=_minute(end, zone),
        user=in_the_way[0].user if in_the_way else "–",
        booking=in_the_way[0].id if in_the_way else 0,
    )  # fmt: skip


def clashes(one: BookingRecord, uuids: Iterable[str], start: float, end: float) -> bool:
    return one.starts_at < end and start < one.ends_at and not set(uuids).isdisjoint(one.gpu_uuids)


def clash_json(work: Work, one: BookingRecord) -> dict[str, Any]:
    zone = work.rules.rules.time_zone
    return {
        "booking": one.id, "user": one.user, "gpus": list(one.gpu_uuids),
        "gpu_indices": [work.gpus[u].index for u in one.gpu_uuids if u in work.gpus],
        "start": iso(one.starts_at, zone), "end": iso(one.ends_at, zone),
        "maintenance": one.maintenance,
    }  # fmt: skip


def _minute(at: float, zone: str) -> str:
    return (iso(at, zone) or "–")[:16].replace("T", " ")
