"""Who comes first: class, then fair share and age in one number, then size, then number.

The score of a job is weight × penalty of its user - age weight × days waited; lowest first. As age
counts the same for all, the order of two jobs of one user never changes.
"""

from __future__ import annotations

from heapq import heapify

from roost.core.scheduler.queue import Bucket
from roost.core.scheduler.state import State

DAY_S = 86400.0

# (class, score, submitted_at, gpus, job, bucket, position in the bucket)
Head = tuple[int, float, float, int, int, int, int]


class Order:
    """The order of this moment: penalties are worked out once, and heads compared by them."""

    def __init__(self, state: State) -> None:
        share = state.rules.fair_share
        self._age_per_s = share.age_weight_per_day / DAY_S
        self._weight = share.weight
        self._penalties = state.usage.penalties(state.rules.groups)

    def head(self, bucket: Bucket, number: int, position: int) -> Head:
        """The key of a bucket's job at `position`."""
        submitted_at, job = bucket.items[position]
        rank, group, user, gpus = bucket.key[:4]
        score = self._weight * self._penalties[group, user] + self._age_per_s * submitted_at
        return rank, score, submitted_at, gpus, job, number, position

    def heads(self, buckets: list[Bucket]) -> list[Head]:
        """A heap of the first job of each bucket."""
        found = [self.head(bucket, number, 0) for number, bucket in enumerate(buckets)]
        heapify(found)
        return found
