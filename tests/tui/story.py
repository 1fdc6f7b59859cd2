"""A team's afternoon on 1 to 16 GPUs, as the API tells it: what the views are tried on.

Scripted data in the shape of docs/api.md; the same second always gives the same answers.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta, timezone
from typing import Any

from roost.tui.source import SourceAwayError, SourceError

GIB = 1024**3
ZONE = timezone(timedelta(hours=8))
NOON = datetime(2026, 12, 2, 14, 2, 31, tzinfo=ZONE).timestamp()
"""The second at which the story is told."""

UUIDS = [f"GPU-{n:08x}-0000-4000-8000-000000000000" for n in range(32)]


def iso(at: float | None) -> str | None:
    return None if at is None else datetime.fromtimestamp(at, ZONE).isoformat()


def job(
    number: int,
    name: str,
    user: str,
    group: str,
    gpus: Sequence[int],
    *,
    klass: str = "regular",
    state: str = "RUNNING",
    asked: int | None = None,
    began: float | None = None,
    walltime_s: int | None = None,
    wait: str | None = None,
    command: str = "",
) -> dict[str, Any]:
    return {
        "job": number,
        "name": name,
        "user": user,
        "group": group,
        "class": klass,
        "state": state,
        "gpus": [UUIDS[g] for g in gpus],
        "request": {
            "gpus": asked if asked is not None else len(gpus),
            "gpu_memory_bytes": None,
            "cpus": 4,
            "memory_bytes": None,
            "walltime_s": walltime_s,
        },
        "submit_time": iso((began or NOON - 600) - 40),
        "start_time": iso(began),
        "end_time": None,
        "restarts": 0,
        "command": (command or f"python {name}.py").split(" "),
        "wait": wait,
    }


def holder(
    gpu: int,
    pid: int | None,
    user: str | None,
    gib: float,
    command: str | None,
    *,
    kind: str = "job",
    group: str | None = "cv",
    job: int | None = None,
    container: str | None = None,
    since: float = NOON - 3600,
    idle_s: float | None = 0.0,
    reason: str | None = None,
) -> dict[str, Any]:
    return {
        "gpu_index": gpu,
        "gpu_uuid": UUIDS[gpu],
        "pid": pid,
        "user": user,
        "group": group,
        "kind": kind,
        "container": container,
        "job": job,
        "booking": None,
        "memory_bytes": int(gib * GIB),
        "command": command,
        "since": iso(since),
        "idle_s": idle_s,
        "right": f"job {job}" if job else "no right: hand-started",
        "lawful": job is not None,
        "reason": reason,
        "reason_text": command if kind == "unattributed" else None,
        "until": None,
    }


def _jobs() -> list[dict[str, Any]]:
    return [
        job(41, "resnet-50", "alice", "cv", [0, 1], began=NOON - 11520, walltime_s=28800),
        job(44, "llama-sft", "bob", "nlp", [3, 4, 5], began=NOON - 2460, walltime_s=14400),
        job(45, "sweep-7", "carol", "nlp", [6], klass="background", began=NOON - 840),
        job(
            46, "diffusion", "li.wei", "cv", [], state="PENDING", asked=4, klass="regular",
            wait="Waits for 4 GPUs: 1 is free, alice's job 41 ends about 18:50, then yours starts.",
        ),
        job(
            47, "eval", "carol", "nlp", [], state="PENDING", asked=1, klass="background",
            wait="Waits for job 44 to complete (after).",
        ),
    ]  # fmt: skip


def _holders() -> list[dict[str, Any]]:
    return [
        holder(0, 21344, "alice", 61.2, "python train.py --model resnet50 --batch 512", job=41,
               since=NOON - 11500),
        holder(1, 21344, "alice", 60.8, "python train.py --model resnet50 --batch 512", job=41,
               since=NOON - 11500),
        holder(2, 30110, "li.wei", 38.4, "python -m ipykernel_launcher -f kernel-8c1f.json",
               kind="session", since=NOON - 19800, idle_s=5460.0),
        holder(2, 30254, "bob", 12.1, "python demo.py --share", kind="session", group="nlp",
               since=NOON - 4200, idle_s=640.0),
        holder(3, 28801, "bob", 70.3, "torchrun --nproc-per-node 3 sft.py llama-8b", job=44,
               group="nlp", since=NOON - 2440),
        holder(4, 28802, "bob", 70.1, "torchrun --nproc-per-node 3 sft.py llama-8b", job=44,
               group="nlp", since=NOON - 2440),
        holder(5, 28803, "bob", 70.2, "torchrun --nproc-per-node 3 sft.py llama-8b", job=44,
               group="nlp", since=NOON - 2440),
        holder(6, 29010, "carol", 22.5, "./sweep --trial 7 --seed 11", job=45, group="nlp",
               since=NOON - 820),
    ]  # fmt: skip


class Story:
    """The answers at `now`. Fields may be changed by a test while it runs."""

    def __init__(self, gpus: int = 8, model: str = "NVIDIA A100-SXM4-80GB") -> None:
        self.now = NOON
        self.gpus = gpus
        self.model = model
        self.jobs: list[dict[str, Any]] = []
        self.holders: list[dict[str, Any]] = []
        self.health: dict[int, str] = {}
        self.drained: dict[int, str] = {}
        self.bookings: dict[int, list[dict[str, Any]]] = {}
        self.driver_state = "simulated"
        self.driver_remedy: str | None = None
        self.me = "alice"
        self.operator = False
        if gpus >= 8:
            self.jobs, self.holders = _jobs(), _holders()
        elif gpus >= 1:
            self.jobs = [job(41, "resnet-50", "alice", "cv", [0], began=NOON - 300)]
            self.holders = [holder(0, 21344, "alice", 61.2, "python train.py", job=41)]
        if gpus >= 16:
            self.holders += [
                holder(8, 31000, "dave", 40.0, "vllm serve qwen2.5-32b", kind="container",
                       container="chat", group="serve", since=NOON - 86400 * 3),
                holder(9, 31000, "dave", 40.0, "vllm serve qwen2.5-32b", kind="container",
                       container="chat", group="serve", since=NOON - 86400 * 3),
                holder(10, None, None, 17.3, "held by workers whose parent died", group=None,
                       kind="unattributed", reason="worker_of_dead_parent"),
            ]  # fmt: skip
            self.jobs += [
                job(48, "pretrain", "wang", "nlp", [12, 13, 14, 15], began=NOON - 7200,
                    walltime_s=43200, klass="urgent"),
            ]  # fmt: skip
            self.holders += [
                holder(g, 32000 + g, "wang", 76.0, "python pretrain.py", job=48, group="nlp",
                       since=NOON - 7100)
                for g in range(12, 16)
            ]  # fmt: skip
            self.health[11] = "lost"

    def holders_told(self) -> list[dict[str, Any]]:
        """The holders with the end of their job, as the API tells it."""
        ends = {
            j["job"]: iso(
                datetime.fromisoformat(j["start_time"]).timestamp() + j["request"]["walltime_s"]
            )
            for j in self.jobs
            if j["start_time"] and j["request"]["walltime_s"]
        }
        return [{**h, "until": ends.get(h["job"])} for h in self.holders]

    def utilisation(self, gpu: int, at: float) -> int | None:
        """A plausible load: jobs work hard with dips, idle sessions do nothing."""
        if self.health.get(gpu):
            return None
        here = [h for h in self.holders if h["gpu_index"] == gpu]
        if not here or all((h["idle_s"] or 0) > 60 for h in here):
            return 0
        phase = at / 7 + gpu * 1.7
        wave = 78 + 16 * math.sin(phase / 3) + 10 * math.sin(phase)
        if gpu in (3, 4, 5) and int(at / 11) % 9 == 0:
            wave = 22 + 3 * gpu
        if gpu == 6:
            wave = 42 + 35 * math.sin(phase / 2)
        return max(0, min(100, round(wave)))

    def status(self) -> dict[str, Any]:
        return {
            "server": "gpu1",
            "driver_version": "570.86.15",
            "driver_state": self.driver_state,
            "driver_remedy": self.driver_remedy,
            "simulated": False,
            "time": iso(self.now),
            "queue": {
                "pending": sum(j["state"] == "PENDING" for j in self.jobs),
                "running": sum(j["state"] == "RUNNING" for j in self.jobs),
            },
            "gpus": [self._gpu(n) for n in range(self.gpus)],
        }

    def _gpu(self, n: int) -> dict[str, Any]:
        here = [h for h in self.holders_told() if h["gpu_index"] == n]
        used = sum(h["memory_bytes"] or 0 for h in here)
        busy = self.utilisation(n, self.now)
        lost = bool(self.health.get(n))
        return {
            "index": n,
            "uuid": UUIDS[n],
            "name": self.model,
            "memory_total_bytes": 80 * GIB,
            "memory_used_bytes": None if lost else used,
            "utilisation_percent": busy,
            "temperature_c": None if busy is None else 34 + busy * 3 // 10 + n % 3,
            "power_w": None if busy is None else 62.0 + busy * 3.2,
            "health": self.health.get(n, "ok"),
            "drained": n in self.drained,
            "drain_reason": self.drained.get(n),
            "holders": here,
            "bookings": self.bookings.get(n, []),
        }

    def ping(self) -> dict[str, Any]:
        return {
            "roost": "0.1.0",
            "server": "gpu1",
            "user": self.me,
            "uid": 1001,
            "operator": self.operator,
            "simulated": False,
            "time_zone": "Asia/Shanghai",
        }


class StorySource:
    """The `Source` protocol over a story: asked once a tick, away on demand, remembers acts."""

    def __init__(self, story: Story) -> None:
        self.story = story
        self.away = False
        self.cancelled: list[int] = []
        self.freed: list[tuple[int, list[Mapping[str, object]]]] = []
        self.plans: list[tuple[int, str | None]] = []
        self.asked = 0
        self.refuse = ""

    def _check(self) -> None:
        self.asked += 1
        if self.away:
            raise SourceAwayError("no Roost daemon at /run/roost/roost.sock")

    def whoami(self) -> Mapping[str, object]:
        self._check()
        return self.story.ping()

    def status(self) -> Mapping[str, object]:
        self._check()
        return self.story.status()

    def who(self) -> Mapping[str, object]:
        self._check()
        return {"holders": self.story.holders}

    def jobs(self) -> Mapping[str, object]:
        self._check()
        return {"jobs": self.story.jobs}

    def events(self) -> Iterator[tuple[str, Mapping[str, object]]] | None:
        return None

    def alive(self) -> Mapping[str, object]:
        return self.status()

    def cancel(self, job: int) -> Mapping[str, object]:
        self._check()
        if self.refuse:
            raise SourceError(self.refuse)
        self.cancelled.append(job)
        return {"job": job, "state": "CANCELLED"}

    def free_plan(self, gpu: int, user: str | None) -> Mapping[str, object]:
        self._check()
        self.plans.append((gpu, user))
        rows = [h for h in self.story.holders if h["gpu_index"] == gpu and h["pid"]]
        return {
            "gpu_index": gpu,
            "items": [
                {**row, "start_ticks": row["pid"] * 10, "why": f"opened /dev/nvidia{gpu}"}
                for row in rows
                if user is None or row["user"] == user
            ],
        }

    def free(self, gpu: int, items: Sequence[Mapping[str, object]]) -> Mapping[str, object]:
        self._check()
        self.freed.append((gpu, list(items)))
        return {
            "processes": [{**item, "outcome": "ended", "text": ""} for item in items],
            "memory_before_bytes": {UUIDS[gpu]: 50 * GIB},
            "memory_after_bytes": {UUIDS[gpu]: 0},
        }

    def close(self) -> None:
        pass
