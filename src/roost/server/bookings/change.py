"""What may become of a booking that is there: moved, longer or shorter, given back, given away,
swapped. What is over stays as it was; of one that is on, only what lies ahead can change.

Every handler checks first and changes afterwards: a RefusalError leaves no trace.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import msgspec

from roost.core.bookings.assign import assign
from roost.core.bookings.model import Want
from roost.core.rules import who
from roost.server.bookings.intents import Change, Close, Give, Swap
from roost.server.bookings.limits import check_limits, check_owner, check_spans
from roost.server.bookings.room import check_want, no_room, site_of, table_of
from roost.server.intents import Person
from roost.server.refusal import RefusalError
from roost.server.work import Work
from roost.store.bookings import BOOKED, WAITING, BookingRecord, find_booking

_replace = msgspec.structs.replace


def found(work: Work, numbers: Iterable[int]) -> list[BookingRecord]:
    """These bookings, live or over. Raises StoreError."""
    records = [work.books.records.get(number) for number in numbers]
    if None in records:
        with work.store.read() as connection:
            records = [
                record or find_booking(connection, number)
                for number, record in zip(numbers, records, strict=True)
            ]
    return [record for record in records if record is not None]


def may_change(person: Person, record: BookingRecord) -> bool:
    """Its owner, an operator, and who leads its group; a maintenance is the operators'."""
    return person.operator or (
        not record.maintenance and person.may_handle(record.uid, record.group)
    )


def _live(work: Work, person: Person, number: int, *, over_too: bool = False) -> BookingRecord:
    """A booking that the caller may change. Raises RefusalError: unknown, another's, over."""
    records = found(work, [number])
    if not records:
        raise RefusalError(404, "booking.no_booking", {"booking": number}, booking=number)
    record = records[0]
    if not may_change(person, record):
        raise RefusalError(
            403, "booking.not_yours", {"booking": number}, booking=number, user=record.user
        )
    if over_too:
        return record
    if not record.live or record.ends_at <= work.now:
        raise _over(record)
    return record


def _over(record: BookingRecord) -> RefusalError:
    state = "ended" if record.live else record.state
    return RefusalError(
        409, "booking.over", {"booking": record.id, "state": state.upper()},
        booking=record.id, state=state,
    )  # fmt: skip


def change(work: Work, wanted: Change) -> Callable[[], Any]:
    """Another time, other GPUs, another purpose: all that is asked, or nothing."""
    record, person = _live(work, wanted.person, wanted.booking), wanted.person
    start = record.starts_at if wanted.starts_at is None else wanted.starts_at
    end = record.ends_at if wanted.ends_at is None else wanted.ends_at
    if wanted.ends_at is None and wanted.length_s is not None:
        end = start + wanted.length_s
    elif wanted.ends_at is None and wanted.starts_at is not None:
        end = start + record.ends_at - record.starts_at
    begun = record.state == BOOKED and record.starts_at <= work.now
    if begun and start != record.starts_at:
        raise RefusalError(409, "booking.begun", {"key": "start"}, booking=record.id)
    want = _want(record, wanted)
    changes: dict[str, Any] = {}
    if (start, end) != (record.starts_at, record.ends_at) or want != record.want:
        changes = _elsewhere(work, person, record, want, start, end, begun)
    if wanted.purpose is not None:
        changes["purpose"] = wanted.purpose
    if wanted.public is not None:
        changes["public"] = wanted.public
    if wanted.dry_run or not changes:
        return lambda: _replace(record, **changes)
    changed = work.books.put(_replace(record, **changes))
    moved = (changed.starts_at, changed.ends_at, changed.gpu_uuids) != (
        record.starts_at, record.ends_at, record.gpu_uuids
    )  # fmt: skip
    if moved and person.uid != record.uid:
        work.books.notice(
            work.now, "moved", changed, f"{changed.revision}", by=person.name,
            old_start_at=record.starts_at, old_end_at=record.ends_at,
            old_gpu_uuids=list(record.gpu_uuids),
        )  # fmt: skip
    _by(work, person, "change", changed, f"{record.starts_at}–{record.ends_at} before")
    return lambda: changed


def _want(record: BookingRecord, wanted: Change) -> Want:
    """What was asked for at first, but for what is asked now. Raises RefusalError."""
    asked = (wanted.gpus is not None, bool(wanted.chosen), wanted.memory_bytes is not None)
    if sum(asked) > 1 and not (asked[1] and wanted.gpus == len(wanted.chosen or ())):
        raise RefusalError(422, "booking.gpus_or_memory", {"key": "gpus"})
    want = record.want
    if wanted.chosen:
        want = Want(len(wanted.chosen), wanted.chosen, None)
    elif wanted.memory_bytes is not None:
        want = Want(1, (), wanted.memory_bytes, want.model)
    elif wanted.gpus is not None and (wanted.gpus, None) != (want.gpus, want.memory_bytes):
        want = Want(wanted.gpus, (), None, want.model)
    return want if wanted.model is None else replace(want, chosen=(), model=wanted.model)


def _elsewhere(
    work: Work, person: Person, record: BookingRecord, want: Want, start: int, end: int, begun: bool
) -> dict[str, Any]:
    """The new interval and GPUs. It keeps its GPUs where they are free. Raises RefusalError."""
    spans = ((start, end),)
    check_spans(spans, work.now, least_s=0 if begun else None)
    if not record.maintenance and not person.operator:
        check_limits(work, record.user, want, spans, without=record.id)
    site = site_of(work, record.user)
    table = table_of(work, [record.id])
    same = Want(want.count, record.gpu_uuids, want.memory_bytes, want.model)
    uuids = None
    fits = len(record.gpu_uuids) == want.count and want.memory_bytes == record.memory_bytes
    if record.gpu_uuids and fits and (not want.chosen or set(want.chosen) == {*record.gpu_uuids}):
        uuids = assign(site, table, same, start, end)
    if uuids is None and begun and want.count == len(record.gpu_uuids):
        # Whoever is on it cannot be moved to other GPUs meanwhile.
        later = [(max(start, record.ends_at), end)]
        raise no_room(work, site, table, same, later, record.id)
    if uuids is None:
        check_want(site, want)
        uuids = assign(site, table, want, start, end)
    if uuids is None:
        raise no_room(work, site, table, want, spans, record.id)
    return {
        "starts_at": start, "ends_at": end, "gpu_uuids": uuids, "gpus": want.count,
        "chosen": want.chosen, "memory_bytes": want.memory_bytes, "gpu_model": want.model,
        "state": BOOKED,
    }  # fmt: skip


def close(work: Work, wanted: Close) -> Callable[[], Any]:
    """Cancels what has not begun, and gives back what is left of what is on. Of a series all that
    begins with that booking or later, also where it is over itself."""
    person = wanted.person
    first = _live(work, person, wanted.booking, over_too=wanted.series)
    records = [first]
    if wanted.series:
        records = [
            one
            for one in work.books.records.values()
            if one.ends_at > work.now
            and (one.id == first.id or (first.series is not None and one.series == first.series))
            and one.starts_at >= first.starts_at
        ]
    if not records:
        raise _over(first)
    done = [_close(work, person, record) for record in sorted(records, key=lambda one: one.id)]
    return lambda: done


def _close(work: Work, person: Person, record: BookingRecord) -> BookingRecord:
    closed = work.books.close(record, work.now)
    if person.uid != record.uid:
        work.books.notice(work.now, "cancelled", closed, "", by=person.name)
    _by(work, person, "end" if closed.state == "ended" else "cancel", closed)
    return closed


def give(work: Work, wanted: Give) -> Callable[[], Any]:
    """From now on it is another person's, who is told; the quota is the new person's."""
    record, person, to = _live(work, wanted.person, wanted.booking), wanted.person, wanted.to
    if record.maintenance:
        raise RefusalError(409, "booking.maintenance_stays", {"booking": record.id})
    if to.uid == record.uid:
        return lambda: record
    check_owner(to.uid)
    if not person.operator and record.state != WAITING:
        # How far ahead it is was allowed to the first person; how much is asked of the second.
        check_limits(work, to.name, record.want, ((record.starts_at, record.ends_at),))
    given = work.books.put(_to(work, record, to.name, to.uid, to.groups))
    work.books.notice(work.now, "given", given, f"{given.revision}", by=person.name,
                      old_user=record.user)  # fmt: skip
    if person.uid != record.uid:
        work.books.notice(
            work.now, "taken", _replace(given, user=record.user, uid=record.uid),
            f"{given.revision}", by=person.name, new_user=to.name,
        )  # fmt: skip
    _by(work, person, "give", given, f"from {record.user} to {to.name}", whom=to.name)
    return lambda: given


def swap(work: Work, wanted: Swap) -> Callable[[], Any]:
    """Exchanges the owners of two bookings when both have asked; the first to ask is remembered."""
    person = wanted.person
    mine = _live(work, person, wanted.booking)
    others = found(work, [wanted.other])
    if not others or not others[0].live:
        raise RefusalError(404, "booking.no_booking", {"booking": wanted.other},
                           booking=wanted.other)  # fmt: skip
    other = others[0]
    if other.uid == mine.uid or mine.maintenance or other.maintenance:
        raise RefusalError(422, "booking.no_swap", {"key": "with"}, one=mine.id, other=other.id)
    if other.swap_with != mine.id and not may_change(person, other):
        asked = work.books.put(_replace(mine, swap_with=other.id))
        work.books.notice(
            work.now, "swap_asked", other, f"{asked.id}:{asked.revision}", by=person.name,
            other=asked.id, other_start_at=asked.starts_at, other_end_at=asked.ends_at,
        )  # fmt: skip
        _by(work, person, "swap", asked, f"asked for booking {other.id}", whom=other.user)
        return lambda: [asked, other]
    first = work.books.put(_taken_over(mine, other))
    second = work.books.put(_taken_over(other, mine))
    for one, before in ((first, other), (second, mine)):
        if one.uid != person.uid:
            work.books.notice(work.now, "swapped", one, f"{one.revision}", by=person.name,
                              old=before.id)  # fmt: skip
    _by(work, person, "swap", first, f"with booking {second.id}", whom=first.user)
    return lambda: [first, second]


def _taken_over(record: BookingRecord, by: BookingRecord) -> BookingRecord:
    """The same booking, as the other's owner has it."""
    return _replace(
        record, user=by.user, uid=by.uid, group=by.group, purpose=by.purpose, public=by.public,
        used_at=None, swap_with=None, series=None,
    )  # fmt: skip


def _to(
    work: Work, record: BookingRecord, user: str, uid: int, groups: Iterable[str]
) -> BookingRecord:
    group = who.group_of(work.rules.rules, user, tuple(sorted(groups)))
    return _replace(
        record, user=user, uid=uid, group=group, used_at=None, swap_with=None, series=None
    )


def _by(
    work: Work, person: Person, action: str, record: BookingRecord, detail: str = "", whom: str = ""
) -> None:
    work.audit(
        person.uid, person.name, f"booking_{action}", subject=f"booking {record.id}",
        whom=whom or record.user, outcome=record.state, detail=detail,
    )  # fmt: skip
    work.topics |= {"bookings", "status"}
