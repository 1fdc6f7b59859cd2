"""From `[audit]`: which shared folders are searched, and which findings the team lives with.

Part of `roost.core.rules.load`.
"""

from __future__ import annotations

import posixpath

from roost.core.audit.judge import CHECKS
from roost.core.audit.model import Accept
from roost.core.rules.model import AuditRules
from roost.core.rules.read import Table, shown


def audit_of(table: Table, base: AuditRules) -> AuditRules:
    places = table.texts("places", base.places)
    for place in places:
        if not place.startswith("/") or place == "/" or posixpath.normpath(place) != place:
            table.wrong("places", "audit_place", value=shown(place))
    accept = tuple(_accept(one) for one in table.tables("accept"))
    table.close()
    return AuditRules(places, accept)


def _accept(table: Table) -> Accept:
    """A finding is accepted for a reason, which is shown with it."""
    check = table.text("check", "", tuple(CHECKS))
    if "check" not in table.names:
        table.wrong("check", "one_of", value='""', allowed=", ".join(CHECKS))
    reason = table.text("reason", "")
    if not reason.strip():
        table.wrong("reason", "audit_reason")
    subject = table.text("subject", "")
    table.close()
    return Accept(check, reason, subject)
