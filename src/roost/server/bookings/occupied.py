"""Who else is on the GPUs of a booking that begins: they are told before, its owner when it has
begun, and by rule what was started by hand is ended after its notice. Jobs of the queue leave by
the scheduler's word; nobody else is touched.
"""

from __future__ import annotations

import msgspec
import structlog

from roost.core.attribution.free import FreeProcess, free_plan
from roost.core.attribution.model import Holder, Sure
from roost.core.model import PriorityClass
from roost.server.bookings.room import strangers
from roost.server.engines.base import Engine
from roost.server.freeing import free_item
from roost.server.work import Work
from roost.store.bookings import BookingRecord
from roost.wire.messages import FreeProcesses

log = structlog.get_logger()
# Whoever leaves at the last moment is still seen for a look or two.
SETTLE_S = 5.0


def on_it(work: Work, record: BookingRecord) -> dict[str, list[Holder]]:
    """By GPU, who has no right to it and is in this booking's way without a job of the queue; of
    booked memory, only where too little of it is left."""
    seen = work.board.attribution
    if seen is None or work.books.watched_from is None:
        return {}
    found = {}
    others = strangers(seen, {record.user})
    for uuid in record.gpu_uuids:
        by_hand = [one for one in others.get(uuid, ()) if one.job is None and not one.right.lawful]
        used = sum(one.memory_bytes or 0 for one in by_hand)
        gpu = work.gpus.get(uuid)
        fits = (
            record.memory_bytes is not None
            and gpu is not None
            and used + record.memory_bytes <= gpu.memory_bytes
        )
        if by_hand and not fits:
            found[uuid] = by_hand
    return found


def look(work: Work, engine: Engine, record: BookingRecord) -> None:
    """Tells and ends what is due of a booking that is about to begin, or is on."""
    rules, now = work.rules.rules.bookings, work.now
    if now < record.starts_at - rules.background_notice_s:
        return
    found = on_it(work, record)
    for uuid, holders in found.items():
        for holder in holders:
            if holder.user is not None:
                _tell(work, record, uuid, holder)
    if now >= max(record.starts_at, record.made_at) + SETTLE_S:
        _tell_owner(work, record, found)
    if now >= record.starts_at and rules.occupied == "end" and not record.maintenance:
        for holders in found.values():
            _end(work, engine, record, holders)


def _key(holder: Holder) -> str:
    return f"{holder.gpu_uuid}:{holder.pid}:{holder.start_ticks}"


def _tell(work: Work, record: BookingRecord, uuid: str, holder: Holder) -> None:
    """Once for each of their processes; since when is kept: nothing is ended before its time."""
    work.books.told_at.setdefault((record.id, _key(holder)), work.now)
    own = holder.uid if holder.owner_evidence is None else None
    told = msgspec.structs.replace(record, user=holder.user, uid=own, purpose="")
    work.books.notice(
        work.now, "in_way", told, f"{holder.user}:{_key(holder)}", by=record.user,
        gpu=work.gpus[uuid].index if uuid in work.gpus else holder.gpu_index, pid=holder.pid,
    )  # fmt: skip


def _tell_owner(work: Work, record: BookingRecord, found: dict[str, list[Holder]]) -> None:
    held: list[tuple[str, str | None, str, int]] = [
        (uuid, holder.user, "pid", holder.pid)
        for uuid, holders in found.items()
        for holder in holders
    ]
    held += [
        (one.gpu_uuid, one.user, "job", one.job)
        for one in work.allocations.values()
        if one.to_at is None
        and one.gpu_uuid in record.gpu_uuids
        and one.user != record.user
        and record.memory_bytes is None
    ]
    if not held:
        return
    uuid, user, what, number = held[0]
    index = work.gpus[uuid].index if uuid in work.gpus else 0
    rows = [{"gpu_uuid": a, "user": b, c: d} for a, b, c, d in held]
    if work.books.notice(
        work.now, "occupied", record, f"{record.starts_at}", by=user or "?", gpu=index,
        held=rows, **{what: number},
    ):  # fmt: skip
        work.audit(
            None, "roost", "booking_occupied", subject=f"booking {record.id}", whom=record.user,
            outcome="told", detail=f"gpu {index}: {what} {number} of {user or '?'}",
        )  # fmt: skip


def _end(work: Work, engine: Engine, record: BookingRecord, holders: list[Holder]) -> None:
    """What was told so for as long as background jobs are, and is surely another person's."""
    rules, books, observation = work.rules.rules, work.books, work.board.observation
    notice_s = rules.bookings.background_notice_s
    due: set[tuple[int, int]] = set()
    for holder in holders:
        told_at = books.told_at.get((record.id, _key(holder)))
        if (
            told_at is None
            or work.now < told_at + notice_s
            or holder.owner_sure is not Sure.CERTAIN
        ):
            continue
        due.add((holder.pid, holder.start_ticks))
        due |= {(worker.pid, worker.start_ticks) for worker in holder.workers}
    seen = work.board.attribution
    if not due or observation is None or seen is None:
        return
    try:
        plan = free_plan(observation, seen, holders[0].gpu_uuid, "roost", True)
    except KeyError:
        return
    due -= books.ended
    going = [one for one in plan.processes if (one.pid, one.start_ticks) in due]
    if going:
        _send(work, engine, record, plan.gpu_uuid, going)


def _send(
    work: Work, engine: Engine, record: BookingRecord, uuid: str, going: list[FreeProcess]
) -> None:
    for one in going:
        work.books.ended.add((one.pid, one.start_ticks))
        work.audit(
            None, "roost", "booking_occupied", subject=f"gpu {uuid} pid {one.pid}",
            whom=one.user or "", outcome="ended",
            detail=f"for booking {record.id} of {record.user} (rules: bookings.occupied)",
        )  # fmt: skip
    items = tuple(free_item(uuid, one) for one in going)
    grace_s = work.rules.rules.classes[PriorityClass.BACKGROUND].grace_s
    asked = FreeProcesses(items=items, grace_s=grace_s, only_uid=None, request=0)
    ended = work.books.ended

    def send() -> None:
        def done(future: object) -> None:
            error = future.exception()  # type: ignore[attr-defined]
            if error is not None:
                log.warning("a booked GPU was not freed", booking=record.id, why=str(error))
                # It is looked at again, and asked again.
                ended.difference_update((one.pid, one.start_ticks) for one in going)

        engine.ask(asked).add_done_callback(done)

    work.sends.append(send)
