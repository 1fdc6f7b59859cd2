"""GPUs, jobs and rights in a few words: who holds it, by what, until when.

The same words in every pane. Must not know where on the screen they stand.
"""

from __future__ import annotations

from rich.cells import cell_len

from roost.core.colour import initials
from roost.tui.cells import Row
from roost.tui.picture import Gpu, Job, Process
from roost.tui.scene import Scene
from roost.tui.when import moment, size, span

LARGEST_FIRST = frozenset({"memory", "utilisation", "idle", "temperature", "gpus"})


def short_model(name: str) -> str:
    """A model's name without what all have: "A100-SXM4-80GB", "RTX 4090"."""
    for prefix in ("NVIDIA ", "GeForce ", "Tesla ", "Quadro "):
        name = name.removeprefix(prefix)
    return name


def holder_text(scene: Scene, gpu: Gpu, width: int) -> str:
    """Who and by what: "alice  job 41 train", names first where several share it."""
    if len(gpu.people) > 1:
        names = ", ".join(gpu.people)
        return scene.p(names)
    what = what_text(scene, gpu)
    if not gpu.people:
        reason = next((p.reason for p in gpu.processes if p.reason), "")
        return f"{what}: {scene.p(reason)}" if reason else what
    name = scene.p(gpu.people[0])
    if gpu.jobs and width < 26:
        what = scene.t("what.job", job=gpu.jobs[0].id) if len(gpu.jobs) == 1 else what
    gap = max(cell_len(name), 8 if width >= 18 else 0) - cell_len(name)
    return f"{name}{' ' * gap} {what}" if what else name


def what_text(scene: Scene, gpu: Gpu) -> str:
    """The job, booking, container, session or reason behind it."""
    if len(gpu.jobs) == 1:
        return job_text(scene, gpu.jobs[0])
    if gpu.jobs:
        numbers = ", ".join(str(job.id) for job in gpu.jobs)
        return scene.t("what.jobs", numbers=numbers)
    named = [p for p in gpu.processes if p.user] or list(gpu.processes)
    return right_text(scene, named[0]) if named else ""


def job_text(scene: Scene, job: Job) -> str:
    name = f" {scene.p(job.name)}" if job.name else ""
    return scene.t("what.job", job=job.id) + name


def right_text(scene: Scene, process: Process) -> str:
    """The right that a process holds its GPU by, in a word or two."""
    if process.job is not None:
        return scene.t("what.job", job=process.job)
    if process.booking is not None:
        return scene.t("what.booking", booking=process.booking)
    kind = process.kind or "unknown"
    word = scene.t(f"kind.{kind}") if scene.has(f"kind.{kind}") else scene.p(kind)
    if kind == "container" and process.container:
        return f"{word} {scene.p(process.container)}"
    return word


def booked_text(scene: Scene, gpu: Gpu) -> str:
    """Who has booked it for now, or that it is under maintenance."""
    one = gpu.booked
    if one is None:
        return ""
    return scene.t("booked", user=scene.p(one.user)) if one.user else scene.t("maintenance")


def until_text(scene: Scene, gpu: Gpu, wide: bool) -> tuple[str, str]:
    """(text, role) of when it is free again, or how long it has idled."""
    if gpu.trouble:
        return "", "dim"
    if gpu.free or (gpu.booked and not gpu.people):
        ahead = (
            gpu.booked.end_at
            if gpu.booked
            else min((one.start_at for one in gpu.bookings), default=None)
        )
        if ahead is None:
            return "", "dim"
        text = moment(ahead, scene.now, scene.zone)
        return (text if wide or len(text) <= 8 else text[:5]), "text"
    idle = gpu.idle_s
    if idle is not None:
        return scene.t("until.idle", span=span(idle)), "strong"
    if gpu.until_at is not None:
        text = moment(gpu.until_at, scene.now, scene.zone)
        return (text if wide or len(text) <= 8 else text[:5]), "text"
    return scene.unknown, "dim"


def drained_text(scene: Scene, gpu: Gpu) -> str:
    reason = scene.p(gpu.drain_reason)
    return f"{scene.t('drained')}: {reason}" if reason else scene.t("drained")


def sort_mark(scene: Scene, key: str, back: bool) -> str:
    """An arrow up where the smallest stands first, down where the largest does."""
    down = (key in LARGEST_FIRST) != back
    return scene.look.glyphs.down if down else scene.look.glyphs.up


def memory_text(scene: Scene, used: int | None, total: int | None, wide: bool) -> str:
    """ "61/80G", with decimals where there is room."""
    if used is None or total is None:
        return scene.unknown
    if wide:
        return f"{used / 2**30:.1f}/{size(total)}"
    return f"{used / 2**30:.0f}/{total / 2**30:.0f}G"


def put_chip(scene: Scene, row: Row, gpu: Gpu) -> None:
    """Two cells: initials on the holder's colour, hatched for nobody's, blank for free."""
    if gpu.people:
        row.put(scene.p(initials(gpu.people[0])), 2, scene.look.chip(gpu.people[0]))
    elif gpu.processes:
        row.put("??", 2, scene.look.hatched())
    elif gpu.trouble:
        row.put(scene.look.glyphs.warn, 2, scene.s("alarm"), "^")
    else:
        row.put("", 2, scene.s("text"))


def put_holder(scene: Scene, row: Row, gpu: Gpu, width: int) -> None:
    """Who holds it, "free" so that it stands out, or what is wrong with it."""
    if gpu.trouble:
        code = f"health.{gpu.health}"
        word = scene.t(code) if scene.has(code) else ""
        text = scene.p(gpu.trouble)
        if word and gpu.trouble != gpu.health:
            text = f"{word}: {text}"
        row.put(word if gpu.trouble == gpu.health and word else text, width, scene.s("alarm"))
    elif gpu.drained and not gpu.people:
        row.put(drained_text(scene, gpu), width, scene.s("strong"))
    elif gpu.free:
        row.put(scene.t("free"), width, scene.s("free"))
    elif gpu.booked and not (gpu.people or gpu.processes):
        row.put(booked_text(scene, gpu), width, scene.s("strong"))
    else:
        row.put(holder_text(scene, gpu, width), width, scene.s("text"))
