"""How long things are kept: minutes 30 days, events a year, notices 60 days, what
jobs were made of a week.

Jobs, attempts, allocations, ledger, hours and audit are kept for ever (docs/storage.md).
"""

from __future__ import annotations

from sqlalchemy import Connection

from roost.store.bookings import drop_notices
from roost.store.jobs import drop_inputs
from roost.store.ledger import drop_minutes
from roost.store.log import drop_events
from roost.store.submissions import drop_submissions

DAY_S = 86400.0
RETENTION_EVERY_S = 3600.0
MINUTES_DAYS = 30
INPUT_DAYS = 7
EVENT_DAYS = 365
NOTICE_DAYS = 60


def clean(connection: Connection, now: float) -> None:
    """Removes what is older than its time."""
    drop_minutes(connection, now - MINUTES_DAYS * DAY_S)
    drop_inputs(connection, now - INPUT_DAYS * DAY_S)
    drop_events(connection, now - EVENT_DAYS * DAY_S)
    drop_notices(connection, now - NOTICE_DAYS * DAY_S)
    drop_submissions(connection, now)
