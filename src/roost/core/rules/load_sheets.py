"""From `[bookings.aliases]` and `[bookings.slots]`: names on a team's spreadsheet, and its words
for times of the day. Part of `roost.core.rules.load`."""

from __future__ import annotations

import re

from roost.core.rules.periods import PeriodError, parse_span
from roost.core.rules.read import Table, shown

_TIMES = re.compile(r"\d{1,2}:\d{2}-\d{1,2}:\d{2}", re.ASCII)
_ACCOUNT = re.compile(r"[^\s:/,\x00-\x1f]{1,64}")


def aliases_of(table: Table) -> dict[str, str]:
    """Names as sheets have them, to accounts."""
    found = {}
    for name in table.names:
        account = table.text(name, "")
        if account and not _ACCOUNT.fullmatch(account):
            table.wrong(name, "alias", value=shown(account))
        elif account:
            found[name] = account
        elif table.is_text(name):
            table.wrong(name, "alias", value='""')
    return found


def slots_of(table: Table) -> dict[str, str]:
    """Names of slots, to their times as "08:00-12:00"."""
    found = {}
    for name in table.names:
        times = table.text(name, "")
        if not table.is_text(name):
            continue
        try:
            slot_minutes(times)
        except PeriodError as error:
            table.wrong(name, error.code, value=shown(times))
            continue
        found[name] = times.strip()
    return found


def slot_minutes(times: str) -> tuple[int, int]:
    """Minutes of the day; the end is above 1440 where it is on the next. Raises PeriodError."""
    if not _TIMES.fullmatch(times.strip()):
        raise PeriodError("slot", times)
    span = parse_span(times)
    return span.start, span.end
