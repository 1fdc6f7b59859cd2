"""What server and agent say to each other of accounts: a look, and steps of the closed list of
`roost.core.accounts.model.Do`. The agent checks each step again."""

from __future__ import annotations

import msgspec

from roost.core.accounts.model import AccountSeen, HostSeen, Step
from roost.wire.base import ToAgent, ToServer


class LookAtAccounts(ToAgent, frozen=True, tag="look_at_accounts"):
    """What the machine has of these accounts and Linux groups; `everybody`: and of all people in
    its own file of accounts."""

    users: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    everybody: bool = False
    request: int = 0


class ChangeAccounts(ToAgent, frozen=True, tag="change_accounts"):
    """Do these steps in order, up to the first that fails."""

    steps: tuple[Step, ...]
    request: int = 0


class ListDisabled(ToAgent, frozen=True, tag="list_disabled"):
    """Which accounts Roost has disabled."""

    request: int = 0


class DisabledListed(ToServer, frozen=True, tag="disabled_listed"):
    """Names with their uids."""

    request: int
    users: dict[str, int]


class AccountsSeen(ToServer, frozen=True, tag="accounts_seen"):
    """Those that are there, and the machine."""

    request: int
    accounts: tuple[AccountSeen, ...]
    host: HostSeen


class StepOutcome(msgspec.Struct, frozen=True):
    """ "done", "failed", or "not_done": one before it failed. `why` is for a person, in English."""

    outcome: str
    why: str = ""


class AccountsChanged(ToServer, frozen=True, tag="accounts_changed"):
    """What became of each step, in their order."""

    request: int
    outcomes: tuple[StepOutcome, ...]
