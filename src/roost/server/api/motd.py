"""What one should know at login, in one small answer from memory. Must not know how it is shown."""

from __future__ import annotations

from fastapi import APIRouter, Response

from roost.core.model import JobState
from roost.server.api.context import Caller, answer
from roost.server.api.render import iso
from roost.server.api.shapes import Out
from roost.store.bookings import BOOKED, BookingRecord
from roost.store.notify import unread

router = APIRouter(prefix="/v1", tags=["notifications"])


class NextBookingOut(Out):
    booking: int
    gpus: int
    start: str
    end: str
    on: bool


class MaintenanceOut(Out):
    start: str
    end: str
    gpus: int


class MotdOut(Out):
    booking: NextBookingOut | None
    running: int
    waiting: int
    maintenance: list[MaintenanceOut]
    unread: int


@router.get("/motd", response_model=MotdOut)
async def motd(call: Caller) -> Response:
    """The caller's next booking or the one that is on, jobs, unread notices; maintenance ahead."""
    context, person = call.context, call.person
    now, zone = context.clock(), context.time_zone
    ahead = [
        one for one in context.board.bookings.values() if one.state == BOOKED and one.ends_at > now
    ]
    mine = [one for one in ahead if one.uid == person.uid and not one.maintenance]
    jobs = [job for job in context.board.jobs.copy().values() if job.uid == person.uid]
    first = min(mine, key=lambda one: (one.starts_at, one.id), default=None)
    within_s = context.board.rules.rules.bookings.maintenance_notice_s
    soon = [one for one in ahead if one.maintenance and one.starts_at < now + within_s]

    def look() -> int:
        with context.store.read() as connection:
            return unread(connection, person.uid, person.name)

    def span(one: BookingRecord) -> dict[str, object]:
        return {"start": iso(one.starts_at, zone), "end": iso(one.ends_at, zone),
                "gpus": len(one.gpu_uuids) or one.gpus}  # fmt: skip

    return answer(
        {
            "booking": None if first is None
            else {"booking": first.id, "on": first.starts_at <= now, **span(first)},
            "running": sum(job.state is not JobState.PENDING for job in jobs),
            "waiting": sum(job.state is JobState.PENDING for job in jobs),
            "maintenance": [span(one) for one in sorted(soon, key=lambda one: one.starts_at)][:3],
            "unread": await context.in_thread(look),
        }
    )  # fmt: skip
