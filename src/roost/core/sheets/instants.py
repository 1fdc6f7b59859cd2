"""Local times of a sheet and the instants that they are."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo


def as_utc(local: datetime, zone: ZoneInfo) -> datetime:
    """Of an hour that comes twice the first, unless `fold` is 1."""
    return local.replace(tzinfo=zone).astimezone(UTC)


def as_local(instant: datetime, zone: ZoneInfo) -> datetime:
    """Without a zone; `fold` is 1 in the second of an hour that comes twice."""
    return instant.astimezone(zone).replace(tzinfo=None)
