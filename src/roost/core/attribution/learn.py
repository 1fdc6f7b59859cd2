"""What is learned of a GPU from one attribution to the next: idle times, and the driver's overhead.

Pure: the memory goes in and comes out anew. The overhead is learned only while nothing else could
explain memory without an owner, and only downwards, so that a leak is never taken for normal.
"""

from __future__ import annotations

from roost.core.attribution.model import GpuMemory, HolderMemory
from roost.core.attribution.sharing import Share, Split
from roost.core.observation import GpuReading

MIB = 1024 * 1024
DEFAULT_BASELINE_BYTES = 64 * MIB
DEFAULT_PER_CONTEXT_BYTES = 64 * MIB
MOST_BASELINE_BYTES = 256 * MIB
MOST_PER_CONTEXT_BYTES = 512 * MIB
MARGIN_BYTES = 32 * MIB
STABLE_S = 10.0
HISTORY_S = 30.0


def allowed_overhead(memory: GpuMemory, contexts: int) -> int:
    """Bytes without an owner that this GPU has as a rule, with that many contexts on it."""
    baseline = memory.baseline_bytes
    per_context = memory.per_context_bytes
    base = DEFAULT_BASELINE_BYTES if baseline is None else baseline + MARGIN_BYTES
    each = DEFAULT_PER_CONTEXT_BYTES if per_context is None else per_context
    margin = 0 if per_context is None or not contexts else MARGIN_BYTES
    return base + each * contexts + margin


def stable(rests: tuple[tuple[float, int], ...], now: float, seconds: float = STABLE_S) -> bool:
    """Whether the rest has stayed the same, within 16 MiB, for that long."""
    recent = [amount for at, amount in rests if now - at <= seconds]
    covered = bool(rests) and now - rests[0][0] >= seconds
    return covered and bool(recent) and max(recent) - min(recent) <= 16 * MIB


def idle_seconds(
    gpu: GpuReading, share: Share, before: HolderMemory | None, now: float
) -> float | None:
    """Seconds since the process was last seen to work, None where that is not measured."""
    busy = _busy(gpu, share)
    if busy is None:
        return None
    if busy or before is None:
        return 0.0
    return max(0.0, now - (before.busy_at if before.busy_at is not None else before.first_seen_at))


def learned(
    gpu: GpuReading, result: Split, memory: GpuMemory, now: float, first_look: bool
) -> GpuMemory:
    """The memory after this look. `first_look`: nothing was known of this machine before, so that
    who is there now may have been there for long."""
    holders: dict[tuple[int, int], HolderMemory] = {}
    for share in result.shares:
        key = (share.facts.pid, share.facts.start_ticks)
        before = memory.holders.get(key)
        first = now
        if before is not None:
            first = before.first_seen_at
        elif first_look and share.facts.started_at is not None:
            first = min(now, share.facts.started_at)
        busy = _busy(gpu, share)
        busy_at = before.busy_at if before is not None else now
        if busy:
            busy_at = now
        claimed = share.claimed
        rss = share.facts.rss_bytes
        if claimed is None and before is not None and before.claimed_bytes:
            claimed, rss = before.claimed_bytes, before.rss_bytes  # as it was when it let go
        holders[key] = HolderMemory(first, busy_at, claimed, rss)
    ended = [m for key, m in memory.holders.items() if key not in holders]
    last_end_at, last_end_bytes = memory.last_end_at, memory.last_end_bytes
    if ended:
        last_end_at = now
        last_end_bytes = sum(m.claimed_bytes or 0 for m in ended)
    rests = memory.rests
    rest = result.rest
    if rest is not None:
        rests = (*(r for r in rests if now - r[0] <= HISTORY_S), (now, rest))
    baseline, per_context = memory.baseline_bytes, memory.per_context_bytes
    calm = rest is not None and not result.ownerless and not result.candidates and not ended
    if calm and rest is not None and rest >= 0 and stable(rests, now):
        contexts = sum(1 for share in result.shares if share.claimed is not None)
        odd = any(s.claimed is None for s in result.shares)
        if not contexts and not odd and rest <= MOST_BASELINE_BYTES:
            baseline = rest if baseline is None else min(baseline, rest)
        elif contexts and not odd:
            each = max(0, rest - (baseline or 0)) // contexts
            if each <= MOST_PER_CONTEXT_BYTES:
                per_context = each if per_context is None else min(per_context, each)
    return GpuMemory(
        holders=holders,
        rests=rests,
        last_end_at=last_end_at,
        last_end_bytes=last_end_bytes,
        baseline_bytes=baseline,
        per_context_bytes=per_context,
    )


def _busy(gpu: GpuReading, share: Share) -> bool | None:
    if share.sm_percent is not None:
        return share.sm_percent > 0
    if gpu.utilisation_percent is None:
        return None
    return gpu.utilisation_percent > 0
