"""Waiting jobs that nothing but room stands before, kept so that ten thousand cost like ten.

Jobs of one user, group and class with the same request lie in one bucket, in their turn: when the
first of them finds no room, none behind it does, and none is looked at.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, field

from roost.core.model import Job, PriorityClass
from roost.core.scheduler.reserved import NEVER

# (class, group, user, gpus, gpu_memory, model, cpus, memory, array, goes back to the queue,
# gpu_compute)
BucketKey = tuple[int, str, str, int, int, str, int, int, int, bool, int]


def bucket_key(job: Job) -> BucketKey:
    """Equal for jobs that differ in nothing but number, name, time and walltime."""
    request = job.request
    limited = job.array_id is not None and job.array_limit is not None
    return (
        job.priority_class.rank,
        job.group,
        job.user,
        0 if request.shared else request.gpus,
        -1 if request.gpu_memory_bytes is None else request.gpu_memory_bytes,
        request.gpu_model or "",
        request.cpus,
        request.memory_bytes or 0,
        job.array_id if limited and job.array_id is not None else -1,
        job.requeue,
        request.gpu_compute_percent or 0,
    )


@dataclass(slots=True)
class Bucket:
    """`items` are (turn, submitted_at, id), first turn first, and `walltimes` theirs. `shortest_s`:
    no walltime here is shorter; `most_s`: only those no longer are looked at in this round."""

    key: BucketKey
    priority_class: PriorityClass
    items: list[tuple[float, float, int]] = field(default_factory=list)
    walltimes: list[float] = field(default_factory=list)
    shortest_s: float = NEVER
    most_s: float = NEVER


class Queue:
    """Buckets by key. Their order is that of insertion and decides nothing."""

    def __init__(self) -> None:
        self.buckets: dict[BucketKey, Bucket] = {}
        self._where: dict[int, tuple[BucketKey, float]] = {}

    def __contains__(self, number: int) -> bool:
        return number in self._where

    def __len__(self) -> int:
        return len(self._where)

    def bucket_of(self, number: int) -> Bucket:
        return self.buckets[self._where[number][0]]

    def insert(self, job: Job, turn: float) -> None:
        if job.id in self._where:
            return
        key = bucket_key(job)
        bucket = self.buckets.get(key)
        if bucket is None:
            bucket = self.buckets[key] = Bucket(key, job.priority_class)
        item = (turn, job.submitted_at, job.id)
        place = bisect_left(bucket.items, item)
        bucket.items.insert(place, item)
        walltime_s = job.request.walltime_s
        length_s = NEVER if walltime_s is None else walltime_s
        bucket.walltimes.insert(place, length_s)
        bucket.shortest_s = min(bucket.shortest_s, length_s)
        self._where[job.id] = key, turn

    def remove(self, job: Job) -> None:
        found = self._where.pop(job.id, None)
        if found is None:
            return
        key, turn = found
        bucket = self.buckets[key]
        place = bisect_left(bucket.items, (turn, job.submitted_at, job.id))
        del bucket.items[place], bucket.walltimes[place]
        if not bucket.items:
            del self.buckets[key]
