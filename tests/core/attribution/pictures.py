"""Small words for observations: tests of attribution read as what is on a GPU."""

from __future__ import annotations

from dataclasses import replace

from roost.core.attribution import Attribution, Known, Memory, attribute
from roost.core.observation import (
    Ancestor,
    ContainerFacts,
    DeviceUse,
    DriverReading,
    DriverState,
    GpuProcess,
    GpuReading,
    Observation,
    Place,
    ProcessFacts,
)

MIB = 1 << 20
GIB = 1 << 30
UIDS = {"root": 0, "persist": 120, "alice": 1001, "bob": 1002, "carol": 1003}


def gpu(index: int = 0, used: int | None = 0, *claims: GpuProcess, **more: object) -> GpuReading:
    """GPU `index` with minor = index, 80 GiB, 512 MiB of reserve."""
    reading = GpuReading(
        uuid=f"GPU-{index}",
        index=index,
        name="A100",
        minor=index,
        memory_total_bytes=80 * GIB,
        memory_used_bytes=used,
        memory_reserved_bytes=512 * MIB,
        utilisation_percent=0,
        display_active=False,
        processes=claims,
    )
    return replace(reading, **more)  # type: ignore[arg-type]


def claim(pid: int, memory: int | None = GIB, **more: object) -> GpuProcess:
    return GpuProcess(pid, memory, **more)  # type: ignore[arg-type]


def process(
    pid: int,
    user: str = "alice",
    *minors: int,
    via: str = "fd",
    paths: tuple[str, ...] = (),
    **more: object,
) -> ProcessFacts:
    """A process of `user` that holds the GPUs of these minors; older with a smaller pid."""
    uses = [DeviceUse(f"/dev/nvidia{minor}", minor, via) for minor in minors]
    uses += [DeviceUse(path, None, "fd") for path in paths]
    facts = ProcessFacts(
        pid=pid,
        start_ticks=pid * 10,
        ppid=50,
        uid=UIDS[user],
        user=user,
        state="S",
        threads=1,
        comm="python",
        cmdline=("python", "train.py"),
        started_at=1000.0,
        session_id=pid,
        ns_pids=(pid,),
        cgroup="/",
        devices=tuple(uses),
    )
    return replace(facts, **more)  # type: ignore[arg-type]


def former(pid: int, user: str = "alice", *gpus: int, **more: object) -> Ancestor:
    """A remembered process that held these GPUs."""
    gone = Ancestor(
        pid=pid,
        start_ticks=pid * 10,
        uid=UIDS[user],
        user=user,
        comm="python",
        place=Place(),
        seen_at=900.0,
        gpu_uuids=tuple(f"GPU-{index}" for index in gpus),
        session_id=pid,
        cgroup="/",
    )
    return replace(gone, **more)  # type: ignore[arg-type]


def seen(
    *things: GpuReading | ProcessFacts | Ancestor | ContainerFacts,
    at: float = 2000.0,
    **more: object,
) -> Observation:
    """An observation of those things; every GPU has its device file."""
    gpus = tuple(t for t in things if isinstance(t, GpuReading))
    observation = Observation(
        taken_at=at,
        boot_id="boot",
        server="s1",
        driver=DriverReading(DriverState.OK),
        gpus=gpus,
        processes=tuple(t for t in things if isinstance(t, ProcessFacts)),
        gone=tuple(t for t in things if isinstance(t, Ancestor)),
        containers=tuple(t for t in things if isinstance(t, ContainerFacts)),
        scan_complete=True,
        scanned_at=at,
        gpu_nodes=tuple(g.minor for g in gpus if g.minor is not None),
    )
    return replace(observation, **more)  # type: ignore[arg-type]


def explain(
    observation: Observation, known: Known | None = None, memory: Memory | None = None
) -> Attribution:
    """Attribution, with the law that holders and rest are all of the memory used."""
    answer, _ = attribute(observation, known or Known(), memory or Memory())
    hold_sums(answer)
    return answer


def hold_sums(answer: Attribution) -> None:
    for explained in answer.gpus:
        if explained.used_bytes is None:
            continue
        parts = sum(holder.memory_bytes or 0 for holder in explained.holders)
        rest = explained.rest.memory_bytes if explained.rest else 0
        assert parts + rest == explained.used_bytes
        assert all((holder.memory_bytes or 0) >= 0 for holder in explained.holders)
        assert rest >= 0


def picture(answer: Attribution, index: int = 0) -> str:
    """ "alice:100=3072 bob:200=1024 -=512(context_overhead)": user, pid, MiB, reason."""
    words = []
    explained = answer.gpus[index]
    for holder in sorted(explained.holders, key=lambda h: h.pid):
        memory = "?" if holder.memory_bytes is None else str(holder.memory_bytes // MIB)
        mark = f"({holder.finding.reason})" if holder.finding else ""
        words.append(f"{holder.user}:{holder.pid}={memory}{mark}")
    if explained.rest is not None:
        reason = explained.rest.finding.reason
        words.append(f"-={explained.rest.memory_bytes // MIB}({reason})")
    return " ".join(words)
