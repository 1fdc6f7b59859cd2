"""Who comes first: class, then the job's turn mixed with fair share, then size, then number.

The score of a job is weight × penalty of its user + age weight × its turn; lowest first. The turn
is the instant of submission, or what the policy puts in its place. As age counts the same for all,
the order of two waiting jobs of one user never changes.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from roost.core.scheduler.policy import By, Policy
from roost.core.scheduler.queue import Bucket, Head, Queue

if TYPE_CHECKING:
    from roost.core.scheduler.entry import Entry
    from roost.core.scheduler.state import State

DAY_S = 86400.0
# What is expected of a job that says nothing and of whose kind nothing is known.
UNKNOWN_S = DAY_S


def expected_s(entry: Entry) -> float:
    """How long the job will run in all, as far as can be told; more than it has run already."""
    guess = entry.expected_s
    if guess is None:
        walltime_s = entry.job.request.walltime_s
        guess = UNKNOWN_S if walltime_s is None else walltime_s
    return max(guess, 1.0)


def remaining_s(entry: Entry, now: float) -> float:
    """What is left of it, as far as can be told."""
    return left_s(entry, expected_s(entry), now)


def left_s(entry: Entry, whole_s: float, now: float) -> float:
    """What is left of it where `whole_s` in all were expected. One that has outlived that is
    expected to go on for as long as it has outlived it."""
    done_s = entry.done_s
    if entry.grants_held:
        done_s += entry.ran_s(now)
    return max(1.0, abs(whole_s - done_s))


def turn_of(policy: Policy, entry: Entry, now: float) -> float:
    """Its turn, as of now; of a waiting job it stays as it is."""
    by = policy.by
    if by is By.SUBMISSION:
        return entry.job.submitted_at
    if by is By.WALLTIME:
        return expected_s(entry)
    left_s = remaining_s(entry, now)
    if by is By.REMAINING:
        return left_s
    gpus = max(1, entry.job.request.gpus)
    if by is By.REMAINING_AREA:
        return left_s * gpus
    behind_s = policy.stretch * left_s * math.pow(gpus, policy.width)
    return entry.job.submitted_at + min(behind_s, entry.most_behind_s) + policy.tail * left_s


class Order:
    """The order of this moment: penalties are worked out once, and heads compared by them."""

    def __init__(self, state: State, policy: Policy) -> None:
        share = state.rules.fair_share
        self._fair = policy.fair
        self._policy = policy
        self._age_per_s = share.age_weight_per_day / DAY_S if policy.fair else 1.0
        self._weight = share.weight
        self._penalties = state.usage.penalties(state.rules.groups) if policy.fair else {}

    def score(self, group: str, user: str, turn: float) -> float:
        if not self._fair:
            return turn
        return self._weight * self._penalties[group, user] + self._age_per_s * turn

    def before(self, entry: Entry, other: Entry, now: float) -> bool:
        """The entry would come before the other, were both waiting now."""
        return self._score_of(entry, now) < self._score_of(other, now)

    def _score_of(self, entry: Entry, now: float) -> float:
        job = entry.job
        return self.score(job.group, job.user, turn_of(self._policy, entry, now))

    def head(self, bucket: Bucket, position: int) -> Head:
        """The key of a bucket's job at `position`."""
        turn, submitted_at, job = bucket.items[position]
        rank, group, user, gpus = bucket.key[:4]
        if not self._fair:
            return rank, turn, submitted_at, 0, job, bucket, position
        return rank, self.score(group, user, turn), submitted_at, gpus, job, bucket, position

    def heads(self, queue: Queue) -> list[Head]:
        """The first job of each bucket, the last of them first."""
        if not self._fair:
            return queue.heads[::-1]
        weight, age_per_s = self._weight, self._age_per_s
        owed = {who: weight * penalty for who, penalty in self._penalties.items()}
        found = [
            (rank, owed[one.key[1:3]] + age_per_s * turn, submitted_at, one.key[3], job, one, 0)
            for rank, turn, submitted_at, _, job, one, _ in queue.heads
        ]
        found.sort(reverse=True)
        return found
