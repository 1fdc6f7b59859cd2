"""Bookings as they stand beside each GPU: who has it now, and who next. Must not know routes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from roost.core.model import Gpu
from roost.server.api.render import iso
from roost.store.bookings import BOOKED, BookingRecord

AHEAD_S = 86400.0
MOST = 4
Rows = dict[str, list[dict[str, Any]]]


class Booked:
    """The rows by GPU, worked out again when bookings change or a second has passed: they are
    asked for with every status."""

    def __init__(self) -> None:
        self._of: tuple[object, object, int, str] | None = None
        self._rows: Rows = {}

    def rows(
        self, bookings: Mapping[int, BookingRecord], gpus: Mapping[str, Gpu], now: float, zone: str
    ) -> Rows:
        """By UUID of the GPU (of a MIG instance: its parent) what is on now, and what begins
        within a day, the first first. Purposes are not everybody's, and not in it."""
        of = self._of
        if of is None or of[0] is not bookings or of[1] is not gpus or of[2:] != (int(now), zone):
            self._rows = _rows(bookings, gpus, now, zone)
            self._of = (bookings, gpus, int(now), zone)
        return self._rows


def _rows(
    bookings: Mapping[int, BookingRecord], gpus: Mapping[str, Gpu], now: float, zone: str
) -> Rows:
    near = [
        one
        for one in bookings.values()
        if one.state == BOOKED and one.starts_at < now + AHEAD_S and now < one.ends_at
    ]
    found: Rows = {}
    for one in sorted(near, key=lambda one: (one.starts_at, one.id)):
        row = {
            "booking": one.id,
            "user": one.user,
            "start": iso(one.starts_at, zone),
            "end": iso(one.ends_at, zone),
            "on": one.starts_at <= now,
            "maintenance": one.maintenance,
            "gpu_memory_bytes": one.memory_bytes,
        }
        places = {(gpus[u].parent if u in gpus else None) or u for u in one.gpu_uuids}
        for uuid in places:
            rows = found.setdefault(uuid, [])
            if len(rows) < MOST:
                rows.append(row)
    return found


def free_until(rows: list[dict[str, Any]]) -> str | None:
    """When the first booking of the whole GPU begins, where none is on; None: none within a day."""
    whole = [row for row in rows if row["gpu_memory_bytes"] is None or row["maintenance"]]
    if not whole or whole[0]["on"]:
        return None
    start: str | None = whole[0]["start"]
    return start
