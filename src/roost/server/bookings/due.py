"""What becomes due by time alone: reminders, ends, releases of what nobody uses, the waiting list's
turn. Each is put down in the same transaction as the notice of it, so that it is told once.
"""

from __future__ import annotations

import msgspec

from roost.core.attribution.model import Attribution, RightCode
from roost.core.bookings.assign import assign
from roost.core.model import JobState
from roost.core.scheduler.events import BookingsChanged
from roost.server.bookings import ahead, occupied
from roost.server.bookings.room import site_of, table_of
from roost.server.engines.base import Engine
from roost.server.work import Work
from roost.store.bookings import BOOKED, WAITING, BookingRecord
from roost.store.records import JobRecord

EVERY_S = 5.0
LEAST_LEFT_S = 600
_replace = msgspec.structs.replace


def due(work: Work, engine: Engine) -> None:
    """Does what is due now, and tells the scheduler where bookings changed since the last time."""
    books = work.books
    if work.now >= books.next_due:
        books.next_due = work.now + EVERY_S
        for record in list(books.records.values()):
            _one(work, engine, record)
        _turns(work)
        books.next_due = min(work.now + EVERY_S, _next(work))
    if books.moved:
        books.moved = False
        work.events.append(BookingsChanged(work.now, books.planned()))
        work.topics |= {"bookings", "status"}


def _next(work: Work) -> float:
    """When the next booking begins or ends, or is looked at for who is still on its GPUs."""
    times = [
        at
        for one in work.books.records.values()
        for at in (
            one.starts_at,
            one.ends_at,
            max(one.starts_at, one.made_at) + occupied.SETTLE_S,
        )
    ]
    return min((at for at in times if at > work.now), default=float("inf"))


def _one(work: Work, engine: Engine, record: BookingRecord) -> None:
    books, rules, now = work.books, work.rules.rules.bookings, work.now
    if record.ends_at <= now:
        state = "ended" if record.state == BOOKED else "expired"
        closed = books.put(_replace(record, state=state, closed_at=float(record.ends_at)))
        if state == "expired":
            books.notice(now, "expired", closed, "")
        return
    if record.state != BOOKED:
        return
    occupied.look(work, engine, record)
    if record.maintenance:
        ahead.tell(work, record)
        return
    starts, ends = record.starts_at, record.ends_at
    early_s = rules.reminder_s
    # Who books at short notice need not be told what they just did.
    known = record.made_at < starts - early_s
    if early_s and known and starts - early_s <= now < starts:
        books.notice(now, "starts", record, f"{starts}")
    if early_s and ends - starts > 2 * early_s and max(starts, ends - early_s) <= now:
        books.notice(now, "ends", record, f"{ends}")
    if starts <= now and record.used_at is None:
        _unused(work, record)


def _unused(work: Work, record: BookingRecord) -> None:
    """Gives up a booking that nobody has used since it began, as long as somebody was looking."""
    books, rules, now = work.books, work.rules.rules.bookings, work.now
    if _has_job(work, record):
        _used(work, record)
        return
    watched = books.watched_from
    if not rules.no_show_s or watched is None:
        return
    since = max(watched, record.starts_at, record.made_at)
    if now < since + rules.no_show_s or _waits(work, record) or occupied.on_it(work, record):
        return
    closed = books.put(_replace(record, state="no_show", ends_at=int(now), closed_at=now))
    books.notice(now, "no_show", closed, "", old_end_at=record.ends_at)
    work.audit(
        None, "roost", "booking_no_show", subject=f"booking {record.id}", whom=record.user,
        outcome="released", detail="rules: bookings.no_show",
    )  # fmt: skip


def _has_job(work: Work, record: BookingRecord) -> bool:
    return any(
        one.user == record.user and one.to_at is None and one.gpu_uuid in record.gpu_uuids
        for one in work.allocations.values()
    )


def _waits(work: Work, record: BookingRecord) -> bool:
    """The person has a job in the queue that would run on it: they have come, and it is not they
    whom anybody waits for."""
    return any(
        job.user == record.user and job.state is JobState.PENDING and not job.held
        and not job.after and 0 < job.request.gpus <= len(record.gpu_uuids)
        and (job.begin_at is None or job.begin_at <= work.now)
        for job in work.jobs.values()
    )  # fmt: skip


def _used(work: Work, record: BookingRecord) -> None:
    work.books.put(_replace(record, used_at=work.now), quiet=True)


def started(work: Work, job: JobRecord) -> None:
    """The job was given GPUs: who booked them for now has come, however soon the job is over."""
    held = {grant.gpu_uuid for grant in job.granted}
    for record in work.books.on(work.now):
        unused = record.used_at is None and not record.maintenance
        if unused and record.user == job.user and not held.isdisjoint(record.gpu_uuids):
            _used(work, record)


def seen(work: Work, attribution: Attribution) -> None:
    """Which bookings that are on are used: the person has a process on one of the GPUs."""
    books = work.books
    if books.watched_from is None:
        books.watched_from = work.now
    unused = [one for one in books.on(work.now) if one.used_at is None and not one.maintenance]
    if not unused:
        return
    users: dict[str, set[str | None]] = {}
    for gpu in attribution.gpus:
        users[gpu.uuid] = {
            holder.user
            for holder in gpu.holders
            if holder.pid is not None and holder.right.code is not RightCode.IGNORED
        }
    for record in unused:
        if any(record.user in users.get(uuid, ()) for uuid in record.gpu_uuids):
            _used(work, record)


def unwatched(work: Work) -> None:
    """Nobody can say any more whether a booking is used."""
    work.books.watched_from = None


def _turns(work: Work) -> None:
    """Whoever waits longest for room that is there now gets it."""
    books, now = work.books, int(work.now)
    waiting = [one for one in books.records.values() if one.state == WAITING]
    for record in sorted(waiting, key=lambda one: (one.made_at, one.id)):
        start = max(record.starts_at, now)
        if record.ends_at - start < LEAST_LEFT_S and record.starts_at < now:
            continue
        site = site_of(work, record.user)
        uuids = assign(site, table_of(work), record.want, start, record.ends_at)
        if uuids is None:
            continue
        got = books.put(_replace(record, state=BOOKED, starts_at=start, gpu_uuids=uuids))
        books.notice(work.now, "turn", got, f"{got.revision}")
        work.audit(
            None, "roost", "booking_turn", subject=f"booking {got.id}", whom=got.user,
            outcome=BOOKED,
        )  # fmt: skip
