"""One round of deciding: every waiting job in its order, started, given a claim, or left to wait.

Each outcome is one of the other modules' ideas; this one only says in which order they are asked.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from heapq import heappop, heappush

from roost.core.model import EndReason, Grant, JobState, PriorityClass
from roost.core.scheduler.decisions import Decision, Start, Stop, Warn
from roost.core.scheduler.elastic import sizes
from roost.core.scheduler.entry import Entry
from roost.core.scheduler.grants import claim_holds, find_grants
from roost.core.scheduler.limits import (
    UNITS,
    least_units,
    refusals,
    share_units,
)
from roost.core.scheduler.order import Order
from roost.core.scheduler.policy import Backfill
from roost.core.scheduler.pool import Pool
from roost.core.scheduler.preemption import plan
from roost.core.scheduler.queue import Bucket, BucketKey, Head
from roost.core.scheduler.reservation import Kind, kind_of, reserve
from roost.core.scheduler.reserved import NEVER, Reservation, in_the_way
from roost.core.scheduler.share_walls import by_right
from roost.core.scheduler.state import State
from roost.core.scheduler.suspending import give_way, resume
from roost.core.scheduler.taking import Victims


class Round:
    """`reservations` and `wanting` (a job that may preempt found nobody to) stay to be read.

    Room is kept for the first of a kind only when it is asked for: while nothing can start, nothing
    can delay it.
    """

    def __init__(self, state: State, out: list[Decision], victims: Victims) -> None:
        self._state = state
        self._out = out
        self._kept: list[Reservation] = []
        self._kinds: set[Kind] = set()
        self._blocked: list[Entry] = []
        # The last first: those that were not looked at, for nothing could start any more.
        self._rest: list[Head] | None = []
        # Only jobs of the bucket that last no longer are still looked at.
        self._most_s: dict[BucketKey, float] = {}
        self.wanting = False
        self._victims = victims
        self._seen: Pool | None = None
        self._reckoned: Order | None = None

    @property
    def _pool(self) -> Pool:
        if self._seen is None:
            self._seen = Pool(self._state)
        return self._seen

    @property
    def _order(self) -> Order:
        """The order of this moment, reckoned when it is first asked for."""
        if self._reckoned is None:
            self._reckoned = Order(self._state, self._state.policy)
        return self._reckoned

    @property
    def reservations(self) -> list[Reservation]:
        """The room that is kept for others, by jobs in their order."""
        if self._rest is None:
            self._rest = self._order.heads(self._state.queue)
        entries = self._state.entries
        blocked = [*self._blocked, *(entries[head[4]] for head in reversed(self._rest))]
        self._blocked, self._rest = [], []
        for entry in blocked:
            if not self._limited(entry):
                self._reserve(entry)
        return self._kept

    def run(self, earmarked: Sequence[int] = ()) -> None:
        """Decides for every job in the queue, then for those that are suspended."""
        self._decide(earmarked)
        if self._state.computing < len(self._state.active):
            resume(self._state, self._pool, self._out)

    def _decide(self, earmarked: Sequence[int]) -> None:
        """For every job in the queue. `earmarked`: jobs, restored, that others are
        already being preempted for; their claims are made again first."""
        state = self._state
        if state.leavings:
            self._tell_who_leaves()
        for number in list(state.claims):
            if not claim_holds(state, state.entries[number]):
                state.drop_claim(state.entries[number])
                self._pool.refresh()
        for number in earmarked:
            if number in state.queue and not self._limited(state.entries[number]):
                # Who gives way to it was told so a while ago.
                self._try(state.entries[number], (), told=True)
        for number in list(state.claims):
            entry = state.entries[number]
            if self._limited(entry):
                state.drop_claim(entry)
                self._pool.refresh()
            else:
                self._place(entry, ())
        if state.walls:
            self._use_bookings()
        if not len(state.queue):
            return
        if state.policy.backfill is Backfill.ALL:
            self._lay_out()
        else:
            self._walk()

    def _tell_who_leaves(self) -> None:
        """Jobs that must be gone soon are told: they have until then, and wait again."""
        state = self._state
        for number in list(state.leavings):
            entry = state.entries.get(number)
            leaving = None if entry is None else entry.leaving
            if entry is None or not entry.grants_held or entry.ending_by is not None:
                del state.leavings[number]
                continue
            warning = entry.warning
            if warning is not None and warning.notice_at <= state.now:
                entry.warning, entry.warned_of = None, warning.at
                about = (("close_at", warning.at),)
                self._out.append(Warn(number, entry.attempt, "closing", about, warning.rule))
            if leaving is None:
                if entry.warning is None:
                    del state.leavings[number]
            elif leaving.notice_at <= state.now:
                del state.leavings[number]
                grace_s = max(0.0, leaving.at - state.now)
                state.told_to_end(entry, JobState.COMPLETING, grace_s)
                self._out.append(
                    Stop(
                        number, entry.attempt, EndReason.PREEMPTED, grace_s, entry.job.requeue,
                        leaving.rule, leaving.booking,
                    )
                )  # fmt: skip

    def _use_bookings(self) -> None:
        """Who has GPUs booked for this moment starts on them by right, before the queue's turn and
        whatever window is shut; limits and CPUs count as always."""
        state = self._state
        users = state.walls.users_on(state.now)
        if not users:
            return
        buckets = [one for one in state.queue.buckets.values() if one.key[2] in users]
        for head in sorted(
            self._order.head(bucket, position)
            for bucket in buckets
            for position in range(len(bucket.items))
        ):
            entry = state.entries[head[4]]
            if entry.claim is not None or any(self._refusals(entry, least_units(entry.job))):
                continue
            own = state.walls.own(entry.job.user, state.now) | by_right(state, entry.job)
            if own and (entry.job.request.gpus or entry.job.request.shared):
                self._place(entry, (), own)

    def _walk(self) -> None:
        """In turn, one job of each bucket after another, until nothing can start any more."""
        state, queue = self._state, self._state.queue
        if not self._any_may_start():
            self._rest = None
            return
        heads = self._order.heads(queue)
        following: list[Head] = []
        strict = state.policy.backfill is Backfill.NONE
        while heads or following:
            if following and (not heads or following[0] < heads[-1]):
                head = heappop(following)
            else:
                head = heads.pop()
            bucket, entry = head[5], state.entries[head[4]]
            if not self._may_start(bucket) and entry.claim is None:
                if strict and not self._limited(entry):
                    return
                self._blocked.append(entry)
                continue
            told = len(self._out)
            position = self._consider(bucket, entry, head[6])
            if strict and entry.state is JobState.PENDING and not self._limited(entry):
                return
            if position is not None:
                heappush(following, self._order.head(bucket, position))
            if len(self._out) > told and not strict and self._nothing_more():
                self._rest = sorted([*heads, *following], reverse=True)
                return

    def _any_may_start(self) -> bool:
        """False where a glance shows that no job at all finds room, nor anybody to take it from."""
        state = self._state
        for gpus, which in state.queue.sizes:
            if self._could_hold(gpus, which):
                return True
        if not state.policy.preempts:
            return False
        self.wanting = True
        soonest = min(head[1] for head in state.queue.heads)
        return self._victims.any_after(soonest + state.policy.margin_s)

    def _lay_out(self) -> None:
        """Every job's place anew, in turn, beside the places that all others have: nobody's start
        is ever moved back. Who can start, does."""
        state, order = self._state, self._order
        heads = [
            order.head(bucket, position)
            for bucket in state.queue.buckets.values()
            for position in range(len(bucket.items))
        ]
        state.places = {n: place for n, place in state.places.items() if n in state.queue}
        for head in sorted(heads):
            entry = state.entries[head[4]]
            if entry.claim is not None or self._limited(entry):
                continue
            state.places.pop(entry.job.id, None)
            self._kept = list(state.places.values())
            found = reserve(state, self._pool, entry, self._kept)
            if found is not None and not self._settle_on(entry, found):
                state.places[entry.job.id] = found
        self._kept = list(state.places.values())

    def _settle_on(self, entry: Entry, found: Reservation) -> bool:
        """Starts the job on the very GPUs of a reservation that begins now; False where it does
        not, or one of them is not free yet."""
        if found.begins_at is None or found.begins_at > self._state.now:
            return False
        if entry.job.request.shared:
            way = in_the_way(self.reservations, self._state.now, entry.job.request.walltime_s)
            return self._place(entry, way)
        slots = sorted((self._state.slots[uuid] for uuid in found.slots), key=lambda s: s.order)
        if not all(slot.free for slot in slots):
            return False
        self._start(entry, tuple(Grant(slot.gpu.uuid) for slot in slots))
        return True

    def _nothing_more(self) -> bool:
        """Certainly no job finds room any more in this round, where only room counts."""
        state = self._state
        if state.claims or state.policy.preempts:
            return False
        return not any(self._could_hold(gpus, which) for gpus, which in state.queue.sizes)

    def _could_hold(self, gpus: int, which: PriorityClass) -> bool:
        """So many whole GPUs are free together, or the class may take them from others."""
        state = self._state
        return not gpus or state.nodes.could_hold(gpus) or bool(state.rules.classes[which].preempts)

    def _may_start(self, bucket: Bucket) -> bool:
        """False where a glance shows that no job of it finds room: not so many whole GPUs are
        free together, and there is nobody to take them from."""
        policy = self._state.policy
        if self._could_hold(bucket.key[3], bucket.priority_class):
            return True
        if not policy.preempts:
            return False
        self.wanting = True
        return self._victims.any_after(bucket.items[0][0] + policy.margin_s)

    def _takes(self, which: PriorityClass) -> bool:
        """Jobs of this class may end up with GPUs that others hold now."""
        return bool(self._state.rules.classes[which].preempts) or self._state.policy.preempts

    def _consider(self, bucket: Bucket, entry: Entry, position: int) -> int | None:
        """Tries one job; the position in its bucket from which to go on, None for nowhere."""
        if entry.claim is not None:
            return self._following(bucket, position + 1)
        if self._limited(entry):
            allowed_s = self._allowed_s(entry)
            if allowed_s is None:
                return None
            self._most_s[bucket.key] = min(self._most_s.get(bucket.key, NEVER), allowed_s)
            return self._following(bucket, position + 1)
        length_s = bucket.walltimes[position]
        way = in_the_way(self.reservations, self._state.now, entry.job.request.walltime_s)
        if not self._try(entry, way):
            self._blocked.append(entry)
            shorter_s = self._shorter(entry, length_s)
            if shorter_s is None or not self._may_start(bucket):
                return None
            self._most_s[bucket.key] = shorter_s
            position += 1
        elif entry.state is JobState.PENDING:
            position += 1
        return self._following(bucket, position)

    def _following(self, bucket: Bucket, position: int) -> int | None:
        """The next job of the bucket that is short enough to be looked at."""
        walltimes, most_s = bucket.walltimes, self._most_s.get(bucket.key, NEVER)
        if most_s == NEVER:
            return position if position < len(walltimes) else None
        if bucket.shortest_s > most_s:
            return None
        for at in range(position, len(walltimes)):
            if walltimes[at] <= most_s:
                return at
        return None

    def _shorter(self, entry: Entry, walltime_s: float) -> float | None:
        """What a job like one that failed with this walltime may last at most, to have fewer
        reservations or bookings in its way; None where it would have no fewer."""
        now = self._state.now
        spans = self._state.walls.spans(entry.job, now)
        spans += [r.begins_at - now for r in self._kept if r.begins_at is not None]
        return max((span_s for span_s in spans if span_s < walltime_s), default=None)

    def _limited(self, entry: Entry) -> bool:
        if self._state.unlimited and entry.job.array_limit is None:
            return False
        if self._state.hours.refusal(entry.job, self._state.now) is not None:
            return True
        return any(self._refusals(entry, least_units(entry.job)))

    def _allowed_s(self, entry: Entry) -> float | None:
        """What a job like one that is limited may last at most, to be let in; None: none is."""
        state, units = self._state, least_units(entry.job)
        most_s = NEVER
        for one in refusals(state.limits_of(entry.job), state.tallies.held, entry, units):
            if one.what != "walltime":
                return None
            most_s = min(most_s, one.most)
        over = state.budgets.overdraft(entry.job, units, state.now)
        return most_s if over is None else min(most_s, over.room_s)

    def _refusals(self, entry: Entry, units: int) -> list[str]:
        state = self._state
        found: list[str] = []
        if state.unlimited and entry.job.array_limit is None:
            return found
        applied = state.limits_of(entry.job)
        if applied or entry.job.array_limit is not None:
            found = [r.what for r in refusals(applied, state.tallies.held, entry, units)]
        if state.budgets.any and state.budgets.overdraft(entry.job, units, state.now) is not None:
            found.append("budget")
        return found

    def _try(self, entry: Entry, way: Sequence[Reservation], told: bool = False) -> bool:
        """Starts the job, or makes room for it; False where it has to wait for others. `told`:
        only of those who were asked to go for it before."""
        if self._place(entry, way):
            return True
        if not self._takes(entry.job.priority_class):
            return False
        # Who gives way takes a while.
        graces = (each.grace_s for each in self._state.rules.classes.values())
        banned = self._pool.barred(entry, way, 0.0 if told else max(graces))
        found = plan(self._state, self._pool, entry, banned, self._victims, self._order)
        if told and found is not None and found.victims:
            return False
        if found is None:
            self.wanting = True
            return False
        if self._refusals(entry, found.claim.units):
            return False
        self._state.make_claim(entry, found.claim)
        for number in found.victims:
            victim = self._state.entries[number]
            self._out.append(give_way(self._state, victim, entry, found.in_place))
        self._pool.refresh()
        if not found.claim.victims:
            self._place(entry, ())
        return True

    def _place(self, entry: Entry, way: Sequence[Reservation], only: Collection[str] = ()) -> bool:
        """`only`: on no other GPUs than these, where any are named."""
        request = entry.job.request
        need = request.memory_bytes or 0
        cpus, memory_bytes = self._pool.room_for(entry)
        for reservation in way:
            cpus = min(cpus, reservation.spare_cpus)
            memory_bytes = min(memory_bytes, reservation.spare_memory_bytes)
        if request.cpus > cpus or need > memory_bytes:
            return False
        grants = self._grants(entry, way, only)
        if grants is None:
            return False
        if request.shared:
            gpu = self._state.slots[grants[0].gpu_uuid].gpu
            if self._refusals(entry, share_units(request, gpu)):
                return False
        self._start(entry, grants)
        for reservation in way:
            reservation.take(request, grants)
        return True

    def _grants(
        self, entry: Entry, way: Sequence[Reservation], only: Collection[str]
    ) -> tuple[Grant, ...] | None:
        """Where the job can use more GPUs than it needs: as many as are free and allowed."""
        request = entry.job.request
        if request.gpus_most is None:
            return find_grants(self._pool, entry, way, only)
        free = len(self._pool.whole_for(entry, self._pool.barred(entry, way)))
        for count in sizes(entry, free):
            if count == request.gpus or not self._refusals(entry, count * UNITS):
                found = find_grants(self._pool, entry, way, only, count)
                if found is not None:
                    return found
        return None

    def _start(self, entry: Entry, grants: tuple[Grant, ...]) -> None:
        self._state.start(entry, grants)
        self._pool.refresh()
        self._out.append(Start(entry.job.id, entry.attempt, grants))

    def _keeps_room(self, entry: Entry) -> bool:
        """Also where jobs start wherever they fit: for one that all later ones may no longer pass,
        while some hold GPUs who never give them up to a turn. Else those could follow each other
        for ever."""
        policy, state = self._state.policy, self._state
        if policy.backfill is not Backfill.ANY:
            return policy.backfill is Backfill.FIRST
        passed_until = entry.job.submitted_at + entry.most_behind_s
        return policy.fair and state.unyielding > 0 and state.now >= passed_until

    def _reserve(self, entry: Entry) -> None:
        kind = kind_of(entry)
        if kind in self._kinds or not self._keeps_room(entry):
            return
        found = reserve(self._state, self._pool, entry, self._kept)
        if found is not None:
            self._kinds.add(kind)
            self._kept.append(found)
