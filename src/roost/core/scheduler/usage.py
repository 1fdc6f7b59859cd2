"""Fair share: GPU seconds per user and group, of which each half-life leaves a half.

The formula is Slurm's classic fair share ("Multifactor Priority Plugin"): F = 2^(-Ue/S), where
S is the user's part of the shares and Ue the user's part of the use, mixed with the group's.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from roost.core.rules.model import FairShare, GroupRules
from roost.core.rules.shares import portions

MICRO = 1_000_000
# An hour of one GPU is added to the total, so that the first minutes after an installation, when
# somebody's ten seconds are all the use there is, decide nothing.
DAMPING_GPU_S = 3600.0
REBASE_HALF_LIVES = 32.0


class Usage:
    """Decayed use. Amounts are kept as of `_base`, scaled by 2^(t/half-life), so that time passing
    costs nothing for those who hold no GPU."""

    def __init__(self) -> None:
        self._half_life_s = FairShare().half_life_s
        self._base = 0.0
        self._at: float | None = None
        self._users: dict[str, float] = {}
        self._groups: dict[str, float] = {}
        self._user_rates: dict[str, int] = {}
        self._group_rates: dict[str, int] = {}
        self._live: dict[str, dict[str, int]] = {}

    def _scale(self, at: float) -> float:
        return math.pow(2.0, (at - self._base) / self._half_life_s)

    def advance(self, now: float) -> None:
        """Adds what was held since the last call."""
        if self._at is None:
            self._base = self._at = now
        while self._at < now:
            self._advance(min(now, self._at + REBASE_HALF_LIVES * self._half_life_s))

    def _advance(self, now: float) -> None:
        if self._user_rates:
            factor = self._half_life_s / math.log(2.0) / MICRO
            grown = factor * (self._scale(now) - self._scale(self._last))
            for user, rate in self._user_rates.items():
                self._users[user] = self._users.get(user, 0.0) + rate * grown
            for group, rate in self._group_rates.items():
                self._groups[group] = self._groups.get(group, 0.0) + rate * grown
        self._at = now
        if (now - self._base) / self._half_life_s >= REBASE_HALF_LIVES:
            self._rebase(self._half_life_s)

    @property
    def _last(self) -> float:
        return self._base if self._at is None else self._at

    def _rebase(self, half_life_s: float) -> None:
        scale = self._scale(self._last)
        self._users = {name: amount / scale for name, amount in self._users.items()}
        self._groups = {name: amount / scale for name, amount in self._groups.items()}
        self._base, self._half_life_s = self._last, half_life_s

    def set_half_life(self, half_life_s: float) -> None:
        if half_life_s != self._half_life_s:
            self._rebase(half_life_s)

    def restore(
        self, users: tuple[tuple[str, float], ...], groups: tuple[tuple[str, float], ...]
    ) -> None:
        """Sets past use, in GPU seconds decayed to now; replaces what was known."""
        scale = self._scale(self._last)
        self._users = {name: amount * scale for name, amount in users}
        self._groups = {name: amount * scale for name, amount in groups}

    def change_rate(self, group: str, user: str, units: int) -> None:
        """The user holds `units` millionths of a GPU more (or fewer) from now on."""
        for rates, name in ((self._user_rates, user), (self._group_rates, group)):
            rate = rates.get(name, 0) + units
            if rate:
                rates[name] = rate
            else:
                rates.pop(name, None)

    def enter(self, group: str, user: str) -> None:
        users = self._live.setdefault(group, {})
        users[user] = users.get(user, 0) + 1

    def leave(self, group: str, user: str) -> None:
        users = self._live[group]
        users[user] -= 1
        if not users[user]:
            del users[user]
            if not users:
                del self._live[group]

    def gpu_s(self) -> tuple[dict[str, float], dict[str, float]]:
        """Decayed GPU seconds by user and by group, as of the last `advance`, in name order."""
        scale = self._scale(self._last)
        users = {name: self._users[name] / scale for name in sorted(self._users)}
        return users, {name: self._groups[name] / scale for name in sorted(self._groups)}

    def penalties(self, groups: Mapping[str, GroupRules]) -> dict[tuple[str, str], float]:
        """For each (group, user) with a job: 0 who has used nothing, near 1 who used far more than
        their share. Shares are divided among the groups, and in a group equally among the users,
        that have a job now. Sums run in name order, so that no set order shows."""
        live = sorted(self._live)
        scale = self._scale(self._last)
        owed_by = portions(groups, live)
        names = sorted({user for users in self._live.values() for user in users})
        by_users = sum(self._users.get(user, 0.0) for user in names) + DAMPING_GPU_S * scale
        by_groups = sum(self._groups.get(name, 0.0) for name in live) + DAMPING_GPU_S * scale
        found = {}
        for name in live:
            users = self._live[name]
            owed = owed_by[name] / len(users)
            of_group = self._groups.get(name, 0.0) / by_groups
            for user in sorted(users):
                own = self._users.get(user, 0.0) / by_users
                used = own + (of_group - own) / len(users)
                found[name, user] = 1.0 - math.pow(2.0, -used / owed)
        return found
