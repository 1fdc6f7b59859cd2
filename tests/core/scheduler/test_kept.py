"""What is kept between rounds decides as if all were worked out anew: beside a slow round that
sorts every bucket each time and asks each of them, and a slow choice of servers, on random input.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from heapq import heapify, heappop, heappush

import pytest

from roost.core.model import Job, JobState, PriorityClass, Request
from roost.core.replay.layout import layout
from roost.core.rules.load import load
from roost.core.scheduler import scheduler as module
from roost.core.scheduler.decisions import Decision, Preempt, Start
from roost.core.scheduler.events import (
    Event,
    InventoryChanged,
    JobCancelled,
    JobEnded,
    JobHeld,
    JobStarted,
    JobSubmitted,
    RulesChanged,
    TimeReached,
)
from roost.core.scheduler.nodes import Nodes
from roost.core.scheduler.placement import choose_servers
from roost.core.scheduler.policy import BASELINES, Backfill, Policy
from roost.core.scheduler.queue import Head
from roost.core.scheduler.round import Round
from roost.core.scheduler.scheduler import Scheduler
from roost.core.scheduler.slot import Slot

RULES = {
    "default rules": "",
    "limits": "[limits.per_user]\nmax_gpus = 5\n[limits.background]\nmax_jobs = 3\n",
    "throughput": '[scheduling]\nmode = "throughput"\n',
    "urgent takes": '[classes.urgent]\npreempts = ["background"]\n',
}
# "conservative" lays out every job anew in any case.
ORDERS = [name for name in BASELINES if name != "conservative"]
STEPS = 160


class SlowRound(Round):
    """Keeps nothing: all heads anew, sorted, and each of them looked at."""

    def _walk(self) -> None:
        state, order = self._state, self._order
        buckets = list(state.queue.buckets.values())
        if not any(self._may_start(bucket) for bucket in buckets):
            self._rest = sorted((order.head(one, 0) for one in buckets), reverse=True)
            return
        heads: list[Head] = [order.head(bucket, 0) for bucket in buckets]
        heapify(heads)
        strict = state.policy.backfill is Backfill.NONE
        while heads:
            *_, number, bucket, position = heappop(heads)
            entry = state.entries[number]
            if not self._may_start(bucket) and entry.claim is None:
                if strict and not self._limited(entry):
                    return
                self._blocked.append(entry)
                continue
            following = self._consider(bucket, entry, position)
            if strict and entry.state is JobState.PENDING and not self._limited(entry):
                return
            if following is not None:
                heappush(heads, order.head(bucket, following))


def slow_take(nodes: Nodes, count: int) -> list[Slot] | None:
    chosen = choose_servers({n.name: len(n.free) for n in nodes.all}, count, nodes.largest)
    if chosen is None:
        return None
    free = {node.name: node.free for node in nodes.all}
    return [nodes.slots[order] for order in sorted(o for n, k in chosen for o in free[n][:k])]


def job(chance: random.Random, number: int, now: float) -> Job:
    walltime_s = chance.choice((None, 600.0, 3600.0, 7200.0, 86_400.0))
    request = Request(chance.choice((0, 1, 1, 1, 2, 4, 8, 16)), walltime_s=walltime_s)
    return Job(
        number, f"u{chance.randrange(4)}", f"g{chance.randrange(2)}",
        chance.choice((*PriorityClass, PriorityClass.REGULAR)), request, now,
        requeue=chance.random() < 0.8,
    )  # fmt: skip


def lived(seed: int, policy: Policy | None, rules: str) -> list[object]:
    """Every decision, next time and reason of a random life on four servers of four GPUs."""
    chance, told = random.Random(seed), list[object]()
    scheduler = Scheduler(policy=policy)
    scheduler.step(
        [InventoryChanged(0.0, layout("4x4"), 1 << 40, 1 << 60), RulesChanged(0.0, load(rules))]
    )
    now, number, running, more = 0.0, 0, dict[int, int](), list[Event]()
    for _ in range(STEPS):
        now += chance.choice((0.0, 1.0, 60.0, 900.0))
        events: list[Event] = [*more, TimeReached(now)]
        for _ in range(chance.choice((0, 1, 1, 3))):
            number += 1
            events.append(JobSubmitted(now, job(chance, number, now)))
        if running and chance.random() < 0.7:
            gone = chance.choice(sorted(running))
            events.append(JobEnded(now, gone, running.pop(gone), JobState.COMPLETED))
        if number and chance.random() < 0.1:
            events.append(JobHeld(now, chance.randint(1, number), chance.random() < 0.5))
        if number and chance.random() < 0.05:
            events.append(JobCancelled(now, chance.randint(1, number)))
        decided = scheduler.step(events)
        more = _follow(decided, running, now)
        told += [decided, scheduler.next_time(), scheduler.explain(chance.randint(1, number + 1))]
    return [*told, scheduler.snapshot()]


def _follow(decided: Sequence[Decision], running: dict[int, int], now: float) -> list[Event]:
    more: list[Event] = []
    for one in decided:
        if isinstance(one, Start):
            running[one.job] = one.attempt
            more.append(JobStarted(now, one.job, one.attempt))
        elif isinstance(one, Preempt):
            del running[one.job]
            more.append(JobEnded(now, one.job, one.attempt, JobState.CANCELLED, requeue=True))
    return more


@pytest.mark.parametrize("how", [*ORDERS, *RULES])
def test_decides_as_if_all_were_worked_out_anew(how: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for seed in range(3):
        about = seed, BASELINES.get(how), RULES.get(how, "")
        quick = lived(*about)
        with monkeypatch.context() as patch:
            patch.setattr(module, "Round", SlowRound)
            patch.setattr(Nodes, "_take_any", slow_take)
            slow = lived(*about)
        assert quick == slow
        assert sum(isinstance(d, Start) for one in quick if isinstance(one, list) for d in one) > 20


def test_the_first_of_each_bucket_is_kept() -> None:
    chance, number = random.Random(3), 0
    scheduler = Scheduler()
    queue = scheduler._state.queue
    here = dict[int, Job]()
    for _ in range(2000):
        if not here or chance.random() < 0.55:
            number += 1
            here[number] = job(chance, number, float(chance.randrange(50)))
            queue.insert(here[number], chance.choice((0.0, 1.0, 2.0)))
        else:
            queue.remove(here.pop(chance.choice(sorted(here))))
        assert queue.heads == sorted(bucket.head for bucket in queue.buckets.values())
        sizes = [bucket.size for bucket in queue.buckets.values()]
        assert queue.sizes == {size: sizes.count(size) for size in sizes}
