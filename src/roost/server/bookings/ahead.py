"""Whom a maintenance concerns: who has a job, a booking or a process on its GPUs, or waits because
of it. They are told ahead, also who comes to be concerned later; everybody else sees it where they
look.
"""

from __future__ import annotations

import msgspec

from roost.server.bookings.room import strangers
from roost.server.work import Work
from roost.store.bookings import BookingRecord


def tell(work: Work, record: BookingRecord) -> None:
    """Once to each, from `bookings.maintenance_notice` before it begins."""
    notice_s = work.rules.rules.bookings.maintenance_notice_s
    if not notice_s or work.now < record.starts_at - notice_s:
        return
    for uid, user in sorted(concerned(work, record).items()):
        told = msgspec.structs.replace(record, uid=uid, user=user)
        work.books.notice(work.now, "maintenance", told, f"{record.starts_at}")


def concerned(work: Work, record: BookingRecord) -> dict[int, str]:
    """Their names by uid."""
    uuids = set(record.gpu_uuids)
    whole = uuids >= work.gpus.keys()
    found: dict[int, str] = {}
    for job in work.jobs.values():
        if job.state.holds_gpus:
            on_it = any(grant.gpu_uuid in uuids for grant in job.granted)
            ends = job.latest_end
            hit = (on_it or (whole and not job.granted)) and (
                ends is None or ends > record.starts_at
            )
        else:
            reasons = job.wait.reasons if job.wait is not None else ()
            hit = any(record.id in reason.blocking_bookings for reason in reasons)
        if hit:
            found[job.uid] = job.user
    for one in work.books.booked():
        if (
            not one.maintenance
            and one.starts_at < record.ends_at
            and not uuids.isdisjoint(one.gpu_uuids)
        ):
            found[one.uid] = one.user
    seen = work.board.attribution
    for uuid, holders in ({} if seen is None else strangers(seen, ())).items():
        for holder in holders:
            if uuid in uuids and holder.user and holder.uid and holder.owner_evidence is None:
                found[holder.uid] = holder.user
    return found
