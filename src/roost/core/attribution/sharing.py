"""Who holds one GPU: claims given to living processes, the claims of dead ones to their heirs.

An innocent process that has a dead one's number by now gets nothing. Every byte of a claim goes to
one process; what cannot be given stays over.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from roost.core.attribution.claims import Claim, claims_of
from roost.core.attribution.host import (
    MPS_SERVER,
    Host,
    kernel_side,
    orphan,
    related,
    suspects_of,
    true_zombie,
)
from roost.core.attribution.model import Finding, Phrase, Reason, Sure, phrase
from roost.core.attribution.model import GpuMemory as Memory
from roost.core.observation import Ancestor, GpuReading, Identity, ProcessFacts


@dataclass(slots=True)
class Share:
    """A process's part of one GPU while it is worked out. `bytes` None: not said by the driver."""

    facts: ProcessFacts
    bytes: int | None
    claimed: int | None = None
    kinds: tuple[str, ...] = ()
    sm_percent: int | None = None
    finding: Finding | None = None
    workers: list[ProcessFacts] = field(default_factory=list)
    sure: Sure = Sure.CERTAIN
    instances: tuple[tuple[int, int | None], ...] = ()

    def add(self, amount: int | None) -> None:
        if amount is not None:
            self.bytes = (self.bytes or 0) + amount


@dataclass(slots=True)
class Split:
    """One GPU's memory split. `ownerless`: claims of dead processes without an heir. `openers`
    have it open and work on another one."""

    shares: list[Share]
    ownerless: list[tuple[Claim, Ancestor | None]]
    candidates: list[ProcessFacts]
    used: int | None
    index: int
    openers: list[ProcessFacts] = field(default_factory=list)
    overlap: int = 0

    @property
    def rest(self) -> int | None:
        if self.used is None:
            return None
        return self.used - sum(share.bytes or 0 for share in self.shares)


def split(gpu: GpuReading, host: Host, allowed_bytes: int, memory: Memory) -> Split:
    """Gives one GPU's memory to processes. `allowed_bytes`: what is nobody's as a rule."""
    shares: list[Share] = []
    dead: list[Claim] = []
    for claim in claims_of(gpu):
        facts = host.named(gpu, claim.pid)
        if facts is None:
            dead.append(claim)
        else:
            shares.append(
                Share(
                    facts,
                    claim.memory_bytes,
                    claim.memory_bytes,
                    claim.kinds,
                    claim.sm_percent,
                    instances=claim.instances,
                )
            )
    named = {share.facts.pid for share in shares}
    others = [facts for facts in host.on(gpu) if facts.pid not in named]
    openers = [facts for facts in others if host.works_elsewhere(facts, gpu)]
    free = [facts for facts in others if facts not in openers]
    free = _fold_children(shares, free, host)
    result = Split(shares, [], [], gpu.memory_used_bytes, gpu.index, openers)
    for claim in sorted(dead, key=lambda c: host.ancestor(gpu, c.pid) is None):
        free = _inherit(result, gpu, host, claim, free)
    free = _fold_relatives(shares, free)
    _take_rest(result, free, allowed_bytes)
    _even_out(result)
    for share in result.shares:
        if share.finding is None:
            share.finding = _state(share, memory, gpu.index)
    return result


def last_known(gpu: GpuReading, host: Host, memory: Memory) -> Split:
    """A GPU that does not answer: who held it before and has it open still, with memory unknown."""
    shares = [
        Share(facts, None, kinds=("compute",))
        for facts in host.on(gpu)
        if (facts.pid, facts.start_ticks) in memory.holders
    ]
    for share in shares:
        share.finding = _state(share, memory, gpu.index)
    return Split(shares, [], [], gpu.memory_used_bytes, gpu.index)


def _fold_children(shares: list[Share], free: list[ProcessFacts], host: Host) -> list[ProcessFacts]:
    """Forks of a living holder keep its memory alive too; they are told under it."""
    left = []
    for facts in free:
        elder = next((s for s in shares if host.descends(facts, s.facts)), None)
        if elder is None:
            left.append(facts)
        else:
            elder.workers.append(facts)
    return left


def _fold_relatives(shares: list[Share], free: list[ProcessFacts]) -> list[ProcessFacts]:
    """As children, where the parents between are gone: same account, same session or job, and not
    older than the holder."""
    left = []
    for facts in free:
        elder = next(
            (
                s
                for s in shares
                if s.claimed is not None
                and s.facts.uid == facts.uid
                and s.facts.start_ticks <= facts.start_ticks
                and related(s.facts, facts)
            ),
            None,
        )
        if elder is None or (orphan(facts) and elder.facts.place.roost_job is None):
            left.append(facts)
        else:
            elder.workers.append(facts)
    return left


def _inherit(
    result: Split, gpu: GpuReading, host: Host, claim: Claim, free: list[ProcessFacts]
) -> list[ProcessFacts]:
    """Gives a dead process's claim to those who keep its files open; returns who is left."""
    former = host.ancestor(gpu, claim.pid)
    heirs_before = [s for s in result.shares if s.claimed is None and s.finding is not None]
    pool = suspects_of(free)
    heirs, sure, reason = _heirs(claim.pid, former, pool)
    if not heirs:
        again = [s for s in heirs_before if former is None or related(former, s.facts)]
        if again:
            again[0].add(claim.memory_bytes)
        else:
            result.ownerless.append((claim, former))
        return free
    if len({facts.uid for facts in heirs}) > 1:
        result.ownerless.append((claim, former))
        result.candidates.extend(heirs)
        return free
    first, *others = heirs
    sign = _dead_sign(gpu, host, claim, former, first, reason)
    result.shares.append(
        Share(
            first,
            claim.memory_bytes,
            None,
            claim.kinds,
            claim.sm_percent,
            Finding(reason, sure, sign, phrase(f"remedy_{reason}", pid=first.pid, gpu=gpu.index)),
            others,
            sure,
            claim.instances,
        )
    )
    taken = {facts.pid for facts in heirs}
    return [facts for facts in free if facts.pid not in taken]


def _heirs(
    pid: int, former: Ancestor | None, pool: list[ProcessFacts]
) -> tuple[list[ProcessFacts], Sure, Reason]:
    """The closest relatives of a dead process among those who hold the device without a claim."""
    worker = Reason.WORKER_OF_DEAD_PARENT
    inside = [facts for facts in pool if pid in facts.ns_pids[1:]]
    if inside and former is None:
        return inside[:1], Sure.LIKELY, Reason.OTHER_PID_NAMESPACE
    if former is not None:
        close = [facts for facts in pool if related(former, facts)]
        if close:
            return close, Sure.CERTAIN, worker
        own = [facts for facts in pool if facts.uid == former.uid and facts.uid is not None]
        orphans = [facts for facts in own if orphan(facts)]
        return (orphans, Sure.LIKELY, worker) if orphans else (own, Sure.POSSIBLE, worker)
    session = [facts for facts in pool if facts.session_id == pid]
    if session:
        return session, Sure.CERTAIN, worker
    orphans = [facts for facts in pool if orphan(facts)]
    return (orphans, Sure.LIKELY, worker) if orphans else (pool, Sure.POSSIBLE, worker)


def _dead_sign(
    gpu: GpuReading,
    host: Host,
    claim: Claim,
    former: Ancestor | None,
    heir: ProcessFacts,
    reason: Reason,
) -> Phrase:
    if reason is Reason.OTHER_PID_NAMESPACE:
        return phrase("sign_namespace_pid", pid=claim.pid, heir=heir.pid)
    number = host.by_pid.get(claim.pid)
    whose = former.user or former.uid if former else None
    if number is not None and true_zombie(number):
        return phrase("sign_zombie_parent", pid=claim.pid, heir=heir.pid, gpu=gpu.index)
    if number is not None:
        return phrase(
            "sign_reused_pid",
            pid=claim.pid,
            other=number.user or number.uid,
            heir=heir.pid,
            gpu=gpu.index,
        )
    if former is not None:
        return phrase(
            "sign_dead_parent",
            pid=claim.pid,
            name=former.comm,
            user=whose,
            heir=heir.pid,
            gpu=gpu.index,
        )
    return phrase("sign_dead_unknown", pid=claim.pid, heir=heir.pid, gpu=gpu.index)


def _take_rest(result: Split, free: list[ProcessFacts], allowed_bytes: int) -> None:
    """Holders that NVML does not name: they get the memory that nobody else accounts for, if it is
    more than the driver takes for itself and only one person can be meant."""
    rest = result.rest
    suspects = suspects_of(free)
    unknown = [share for share in result.shares if share.bytes is None]
    owner: ProcessFacts | None = None
    if rest is not None and rest > allowed_bytes and not unknown:
        if len({facts.uid for facts in suspects}) == 1:
            orphans = [facts for facts in suspects if orphan(facts)]
            owner = (orphans or suspects)[0]
        elif suspects:
            result.candidates.extend(suspects)
    elif rest is not None and rest > 0 and len(unknown) == 1 and not result.ownerless:
        unknown[0].bytes = rest  # one process without a figure: it is what is left
    for facts in free:
        if owner is not None and facts is owner:
            reason = _unnamed_reason(facts)
            others = [f for f in suspects if f is not owner and related(owner, f)]
            sure = Sure.LIKELY if len(suspects) - len(others) == 1 else Sure.POSSIBLE
            finding = Finding(
                reason,
                sure,
                phrase("sign_unnamed_holder", pid=facts.pid),
                phrase(f"remedy_{reason}", pid=facts.pid, gpu=result.index),
            )
            result.shares.append(Share(facts, rest, None, finding=finding, workers=others))
        elif owner is None or facts not in suspects or not related(owner, facts):
            result.shares.append(Share(facts, 0, None))


def _unnamed_reason(facts: ProcessFacts) -> Reason:
    if facts.state == "Z":
        return Reason.ZOMBIE_LEADER
    if orphan(facts):
        return Reason.WORKER_OF_DEAD_PARENT
    if facts.place.container_id is not None:
        return Reason.CONTAINER
    if len(facts.ns_pids) > 1:
        return Reason.OTHER_PID_NAMESPACE
    return Reason.NO_CONTEXT_CLIENT


def _even_out(result: Split) -> None:
    """Memory shared by CUDA IPC is in both processes' figures: when they add up to more than is
    used, each is cut in proportion, to the byte, so that nobody pays for what does not exist."""
    rest = result.rest
    if rest is None or rest >= 0 or result.used is None:
        return
    result.overlap = -rest
    total = sum(share.bytes or 0 for share in result.shares)
    given = 0
    paying = [share for share in result.shares if share.bytes]
    for share in paying:
        part = (share.bytes or 0) * result.used // total
        share.bytes = part
        given += part
    paying.sort(key=lambda share: (-(share.bytes or 0), share.facts.pid))
    for number in range(result.used - given):
        paying[number % len(paying)].add(1)
    if len(paying) > 1:
        for share in paying:
            if share.finding is None and not share.facts.comm.startswith(MPS_SERVER):
                share.finding = Finding(
                    Reason.CUDA_IPC,
                    Sure.LIKELY,
                    phrase("sign_cuda_ipc", overlap=result.overlap),
                    phrase("remedy_cuda_ipc", pid=share.facts.pid, gpu=result.index),
                )


def _state(share: Share, memory: Memory, index: int) -> Finding | None:
    """What is odd about a holder that is otherwise in order."""
    facts = share.facts

    def found(reason: Reason, sure: Sure, sign: str, **values: object) -> Finding:
        said = phrase(sign, pid=facts.pid, **values)
        return Finding(reason, sure, said, phrase(f"remedy_{reason}", pid=facts.pid, gpu=index))

    if facts.state == "Z" and (facts.threads or 0) > 1:
        return found(
            Reason.ZOMBIE_LEADER, Sure.CERTAIN, "sign_zombie_leader", threads=facts.threads
        )
    if facts.suspended:
        return None  # it stands still on purpose, whatever the kernel calls that
    if facts.state == "D" and not facts.frozen:
        return found(
            Reason.UNINTERRUPTIBLE, Sure.CERTAIN, "sign_uninterruptible", wchan=facts.wchan or "?"
        )
    if facts.state in "Tt" or facts.frozen:
        sign = "sign_frozen" if facts.frozen else "sign_stopped"
        return found(Reason.STOPPED, Sure.CERTAIN, sign)
    if facts.comm.startswith(MPS_SERVER):
        return found(Reason.MPS_SERVER, Sure.CERTAIN, "sign_mps_server")
    if share.claimed is None and kernel_side(facts):
        return found(Reason.KERNEL_HOLDER, Sure.CERTAIN, "sign_kernel_holder", name=facts.comm)
    if share.kinds == ("graphics",):
        return found(Reason.GRAPHICS, Sure.CERTAIN, "sign_graphics")
    if share.claimed is None and not share.kinds:
        before = memory.holders.get((facts.pid, facts.start_ticks))
        grown = (facts.rss_bytes or 0) - (before.rss_bytes or 0) if before else 0
        if before and before.claimed_bytes and grown >= before.claimed_bytes // 2:
            return found(Reason.CHECKPOINTED, Sure.POSSIBLE, "sign_checkpointed", grown=grown)
        return found(Reason.NO_CONTEXT_CLIENT, Sure.CERTAIN, "sign_no_context_client")
    return None


def identities(processes: list[ProcessFacts]) -> tuple[Identity, ...]:
    return tuple(Identity(facts.pid, facts.start_ticks) for facts in processes)
