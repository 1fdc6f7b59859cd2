"""Messages about the posture of a machine: looking, mending, undoing."""

from __future__ import annotations

import msgspec

from roost.core.audit.facts import Facts
from roost.wire.base import ToAgent, ToServer


class AuditMachine(ToAgent, frozen=True, tag="audit_machine"):
    """Look at the machine, change nothing. `checks` empty: all. `user`, whose uid must be `uid`:
    only what is that account's, with its rights; "" the whole machine. `places`: shared folders."""

    checks: tuple[str, ...] = ()
    user: str = ""
    uid: int = -1
    places: tuple[str, ...] = ()
    request: int = 0


class MendMachine(ToAgent, frozen=True, tag="mend_machine"):
    """Mend these findings (check, subject), each only if the agent finds it itself now."""

    wanted: tuple[tuple[str, str], ...]
    places: tuple[str, ...] = ()
    enforcement: str = "observe"
    by: str = ""
    request: int = 0


class UndoMends(ToAgent, frozen=True, tag="undo_mends"):
    """Take back what was mended, of these checks or (empty) all."""

    checks: tuple[str, ...] = ()
    request: int = 0


class Audited(ToServer, frozen=True, tag="audited"):
    request: int
    facts: Facts


class MendOutcome(msgspec.Struct, frozen=True):
    """`outcome`: "done", "nothing", "not_fixable", "changed", "failed" or "undone"."""

    check: str
    subject: str
    outcome: str
    detail: str = ""


class Mended(ToServer, frozen=True, tag="mended"):
    request: int
    outcomes: tuple[MendOutcome, ...]
