"""All that is known about one row, as the lines of a dialog."""

from __future__ import annotations

from roost.tui.draw_lists import ranges
from roost.tui.overlay import Overlay
from roost.tui.picture import Gpu, Job, Process
from roost.tui.scene import Scene
from roost.tui.view import ListedRow
from roost.tui.when import moment, size, span
from roost.tui.words import right_text


def about(scene: Scene, row: ListedRow) -> Overlay | None:
    """The dialog about a GPU, process or job; None for a person's heading."""
    if row.gpu is not None:
        title, pairs = scene.t("details.gpu", gpu=row.gpu.index), _gpu(scene, row.gpu)
    elif row.process is not None:
        title = scene.t("details.process", pid=row.process.pid or scene.unknown)
        pairs = _process(scene, row.process)
    elif row.job is not None:
        title, pairs = scene.t("details.job", job=row.job.id), _job(scene, row.job)
    else:
        return None
    return Overlay(
        "details", title, tuple(f"{scene.t(code)}: {text}" for code, text in pairs if text)
    )


def _gpu(scene: Scene, gpu: Gpu) -> list[tuple[str, str]]:
    used, total = size(gpu.memory_used_bytes, wide=True), size(gpu.memory_total_bytes, wide=True)
    shares = ", ".join(
        f"{user or scene.t('kind.unattributed')} {size(memory)}" for user, _, memory in gpu.shares
    )
    return [
        ("about.model", gpu.name),
        ("about.uuid", gpu.uuid),
        ("about.trouble", gpu.trouble),
        ("about.drained", (gpu.drain_reason or scene.t("drained")) if gpu.drained else ""),
        ("about.memory", f"{used} / {total}"),
        ("about.shares", shares),
        ("about.jobs", ", ".join(f"{job.id} {job.name} ({job.user})" for job in gpu.jobs)),
        ("about.temperature", _unit(gpu.temperature_c, " °C")),
        ("about.power", _unit(gpu.power_w, " W")),
        ("about.idle", "" if gpu.idle_s is None else span(gpu.idle_s)),
    ]


def _process(scene: Scene, process: Process) -> list[tuple[str, str]]:
    return [
        ("about.user", process.user),
        ("about.group", process.group),
        ("about.gpus", ranges(process.gpus)),
        ("about.memory", size(process.memory_bytes, wide=True)),
        ("about.right", process.right or right_text(scene, process)),
        ("about.container", process.container),
        ("about.since", _moment(scene, process.since_at)),
        ("about.idle", "" if not process.idle_s else span(process.idle_s)),
        ("about.reason", process.reason),
        ("about.sign", process.sign if process.sign != process.reason else ""),
        ("about.remedy", process.remedy),
        ("about.command", process.command if process.user else ""),
    ]


def _job(scene: Scene, job: Job) -> list[tuple[str, str]]:
    klass, state = f"class.{job.priority_class}", f"state.{job.state}"
    memory = ""
    if job.gpu_memory_bytes is not None:
        percent = "" if job.gpu_compute_percent is None else f", {job.gpu_compute_percent}%"
        memory = f" ({size(job.gpu_memory_bytes, wide=True)}{percent})"
    return [
        ("about.name", job.name),
        ("about.user", job.user),
        ("about.group", job.group),
        ("about.class", scene.t(klass) if scene.has(klass) else job.priority_class),
        ("about.state", scene.t(state) if scene.has(state) else job.state),
        ("about.gpus", f"{job.gpus_asked}{memory}"),
        ("about.submitted", _moment(scene, job.submitted_at)),
        ("about.started", _moment(scene, job.started_at)),
        ("about.ends", _moment(scene, job.ends_at)),
        ("about.restarts", str(job.restarts) if job.restarts else ""),
        ("about.wait", job.wait),
        ("about.command", job.command),
    ]


def _moment(scene: Scene, at: float | None) -> str:
    return "" if at is None else moment(at, scene.now, scene.zone)


def _unit(value: float | None, unit: str) -> str:
    return "" if value is None else f"{value:.0f}{unit}"
