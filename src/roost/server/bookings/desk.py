"""Bookings that people ask for: checked against rules and room, assigned, put down.

Every handler checks first and changes afterwards: a RefusalError leaves no trace.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from roost.core.bookings.assign import assign
from roost.core.rules import who
from roost.server.api.render import iso
from roost.server.bookings import change
from roost.server.bookings.intents import (
    Book,
    BookAll,
    BookingIntent,
    Change,
    Close,
    Give,
    Swap,
)
from roost.server.bookings.limits import check_limits, check_owner, check_spans
from roost.server.bookings.maintenance import clear
from roost.server.bookings.room import check_want, no_room, site_of, table_of
from roost.server.refusal import RefusalError
from roost.server.work import Work
from roost.store.bookings import BOOKED, WAITING, BookingRecord, SeriesRecord

KEY = "booking\n"


def handle(work: Work, intent: BookingIntent) -> Callable[[], Any]:
    """Does it in memory; what is returned gives the caller's answer after the commit.

    Raises RefusalError, StoreError.
    """
    match intent:
        case Book():
            return _once(work, intent.person.uid, intent.key, lambda: book(work, intent))
        case BookAll():
            return _once(work, intent.person.uid, intent.key, lambda: _all(work, intent))
        case Change():
            return change.change(work, intent)
        case Close():
            return change.close(work, intent)
        case Give():
            return change.give(work, intent)
        case Swap():
            return change.swap(work, intent)


def _once(
    work: Work, uid: int, key: str | None, make: Callable[[], list[BookingRecord]]
) -> Callable[[], Any]:
    """Makes the bookings, or finds those made under the same key within the hour."""
    if key is None:
        made = make()
        return lambda: made
    whole = (uid, KEY + key)
    known = work.submitted.get(whole) or work.new_submissions.get(whole)
    if known is not None:
        first, count = known
        numbers = range(first, first + count)
        return lambda: change.found(work, numbers)
    made = make()
    if made and made[0].id:
        work.new_submissions[whole] = (made[0].id, len(made))
    return lambda: made


def book(work: Work, wanted: Book) -> list[BookingRecord]:
    """The bookings made, by start; of a dry run what they would be, without numbers.

    Raises RefusalError.
    """
    person, rules = wanted.person, work.rules.rules
    user, uid, groups = _owner(wanted)
    group = wanted.group or who.group_of(rules, user, groups)
    if uid != person.uid and not person.may_handle(uid, group):
        raise RefusalError(403, "booking.for_others", {"key": "user"}, user=user, group=group)
    theirs = wanted.group is None or person.operator
    if not theirs and not who.may_charge(rules, user, groups, group):
        raise RefusalError(403, "booking.group_not_yours", {"key": "group"}, group=group, user=user)
    check_owner(uid, wanted.maintenance)
    _check(work, wanted, user)
    site = site_of(work, user)
    check_want(site, wanted.want)
    if wanted.maintenance and wanted.over and not wanted.dry_run:
        clear(work, person, wanted.want, wanted.spans)
    table = table_of(work)
    given, without = [], []
    for start, end in wanted.spans:
        uuids = assign(site, table, wanted.want, start, end)
        if uuids is None:
            without.append((start, end))
        else:
            given.append((start, end, uuids))
            if len(wanted.spans) > 1:  # a series may reach into itself
                table.take(uuids, start, end, wanted.want.memory_bytes)
    if without and not wanted.wait and not (wanted.skip and given):
        raise no_room(work, site, table, wanted.want, without)
    spans: list[tuple[int, int, tuple[str, ...]]] = given
    if wanted.wait:
        spans = sorted([*given, *((start, end, ()) for start, end in without)])
    want = wanted.want
    records = [
        BookingRecord(
            id=0, user=user, uid=uid, group=group, starts_at=start, ends_at=end,
            made_at=work.now, made_by=person.name, state=BOOKED if uuids else WAITING,
            gpus=want.count, gpu_uuids=uuids, chosen=want.chosen,
            memory_bytes=want.memory_bytes, gpu_model=want.model, purpose=wanted.purpose,
            public=wanted.public, maintenance=wanted.maintenance,
        )
        for start, end, uuids in spans
    ]  # fmt: skip
    if wanted.dry_run:
        return records
    return _put_down(work, wanted, records, [] if wanted.wait else without)


def _put_down(
    work: Work, wanted: Book, records: list[BookingRecord], skipped: list[tuple[int, int]]
) -> list[BookingRecord]:
    books, person = work.books, wanted.person
    series = books.next_number if wanted.rule else None
    made = []
    for record in records:
        one = books.add(msgspec.structs.replace(record, series=series))
        made.append(one)
        if one.user != person.name:
            books.notice(work.now, "made", one, "", by=person.name)
    if series is not None:
        zone = work.rules.rules.time_zone
        days = {*wanted.except_days, *((iso(start, zone) or "")[:10] for start, _ in skipped)}
        books.series.append(
            SeriesRecord(
                id=series, rule=wanted.rule, except_days=tuple(sorted(days)), time_zone=zone
            )
        )
    subject = f"booking {made[0].id}"
    if len(made) > 1:
        subject = f"bookings {made[0].id} to {made[-1].id}"
    work.audit(
        person.uid, person.name, "maintenance" if wanted.maintenance else "book",
        subject=subject, whom=made[0].user, outcome=made[0].state, detail=wanted.purpose,
    )  # fmt: skip
    work.topics |= {"bookings", "status"}
    return made


def _all(work: Work, wanted: BookAll) -> list[BookingRecord]:
    """All or none: what was put down before the refusal is taken back."""
    if not wanted.person.operator:
        raise RefusalError(403, "problem.operators_only")
    books = work.books
    mark, audits = books.mark(), len(work.audits)
    made: list[BookingRecord] = []
    rows: dict[int, int] = {}
    for place, one in enumerate(wanted.books):
        try:
            new = book(work, one)
        except RefusalError as no:
            if wanted.skip and no.status == 409:
                continue
            books.undo(mark)
            del work.audits[audits:]
            raise _of_row(no, place, rows) from None
        rows.update((each.id, place) for each in new)
        made += new
    if wanted.dry_run:
        books.undo(mark)
        del work.audits[audits:]
        return [msgspec.structs.replace(one, id=0, series=None) for one in made]
    if not made:
        raise RefusalError(409, "booking.no_rows")
    return made


def _of_row(no: RefusalError, place: int, rows: dict[int, int]) -> RefusalError:
    """The refusal of one row, naming the other row where that is what stands in the way."""
    no.extra["row"] = place
    for clash in no.extra.get("conflicts", ()):
        other = rows.get(clash["booking"])
        if other is not None:
            numbers = ", ".join(map(str, clash["gpu_indices"]))
            start, end = (str(clash[key])[:16].replace("T", " ") for key in ("start", "end"))
            extra = {**no.extra, "other_row": other, "conflicts": [], "alternatives": []}
            return RefusalError(
                409, "booking.rows_clash", extra, row=place + 1, other=other + 1, gpus=numbers,
                start=start, end=end,
            )  # fmt: skip
    return no


def _owner(wanted: Book) -> tuple[str, int, tuple[str, ...]]:
    person, owner = wanted.person, wanted.owner
    if owner is None or owner.uid == person.uid:
        if not person.known:
            raise RefusalError(422, "problem.no_account", {"uid": person.uid}, uid=person.uid)
        return person.name, person.uid, tuple(sorted(person.groups))
    return owner.name, owner.uid, tuple(sorted(owner.groups))


def _check(work: Work, wanted: Book, user: str) -> None:
    """What is wrong with the times, by themselves and by the rules."""
    rules, person = work.rules.rules.bookings, wanted.person
    if not work.gpus:
        raise RefusalError(503, "problem.agent_away")
    check_spans(wanted.spans, work.now)
    if (
        wanted.rule
        and rules.repeat != "all"
        and not (rules.repeat == "operators" and person.operator)
    ):
        raise RefusalError(
            403, f"booking.repeat_{rules.repeat}", {"key": "repeat", "rule": "bookings.repeat"}
        )
    if wanted.maintenance:
        if not person.operator:
            raise RefusalError(403, "problem.operators_only")
        return
    check_limits(work, user, wanted.want, wanted.spans, repeated=bool(wanted.rule))
