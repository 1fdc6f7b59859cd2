"""Waiting jobs that nothing but room stands before, kept so that ten thousand cost like ten.

Jobs of one user, group and class with the same request lie in one bucket, in their turn: when the
first of them finds no room, none behind it does, and none is looked at.
"""

from __future__ import annotations

from bisect import bisect_left, insort
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
    no walltime here is shorter."""

    key: BucketKey
    priority_class: PriorityClass
    items: list[tuple[float, float, int]] = field(default_factory=list)
    walltimes: list[float] = field(default_factory=list)
    shortest_s: float = NEVER

    @property
    def size(self) -> tuple[int, PriorityClass]:
        """How many whole GPUs the jobs want, and their class."""
        return self.key[3], self.priority_class

    @property
    def head(self) -> tuple[int, float, float, int, int, Bucket, int]:
        """The first job, by its turn alone."""
        turn, submitted_at, job = self.items[0]
        return self.key[0], turn, submitted_at, 0, job, self, 0


# (class, score, submitted_at, gpus, job, bucket, position in the bucket)
Head = tuple[int, float, float, int, int, Bucket, int]


class Queue:
    """Buckets by key. Their order is that of insertion and decides nothing. `heads`: the first job
    of each, by class, turn, submission and number. `sizes`: how many buckets there are of each."""

    def __init__(self) -> None:
        self.buckets: dict[BucketKey, Bucket] = {}
        self.heads: list[Head] = []
        self.sizes: dict[tuple[int, PriorityClass], int] = {}
        self._where: dict[int, tuple[Bucket, float]] = {}

    def __contains__(self, number: int) -> bool:
        return number in self._where

    def __len__(self) -> int:
        return len(self._where)

    def bucket_of(self, number: int) -> Bucket:
        return self._where[number][0]

    def insert(self, job: Job, turn: float) -> None:
        if job.id in self._where:
            return
        key = bucket_key(job)
        bucket = self.buckets.get(key)
        if bucket is None:
            bucket = self.buckets[key] = Bucket(key, job.priority_class)
            self.sizes[bucket.size] = self.sizes.get(bucket.size, 0) + 1
        item = (turn, job.submitted_at, job.id)
        place = bisect_left(bucket.items, item)
        if not place and bucket.items:
            self._no_head(bucket)
        bucket.items.insert(place, item)
        if not place:
            insort(self.heads, bucket.head)
        walltime_s = job.request.walltime_s
        length_s = NEVER if walltime_s is None else walltime_s
        bucket.walltimes.insert(place, length_s)
        bucket.shortest_s = min(bucket.shortest_s, length_s)
        self._where[job.id] = bucket, turn

    def remove(self, job: Job) -> None:
        found = self._where.pop(job.id, None)
        if found is None:
            return
        bucket, turn = found
        place = bisect_left(bucket.items, (turn, job.submitted_at, job.id))
        if not place:
            self._no_head(bucket)
        del bucket.items[place], bucket.walltimes[place]
        if not bucket.items:
            del self.buckets[bucket.key]
            self.sizes[bucket.size] -= 1
            if not self.sizes[bucket.size]:
                del self.sizes[bucket.size]
        elif not place:
            insort(self.heads, bucket.head)

    def _no_head(self, bucket: Bucket) -> None:
        """Its first job is about to be another one."""
        del self.heads[bisect_left(self.heads, bucket.head)]
