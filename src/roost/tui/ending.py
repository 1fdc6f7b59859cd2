"""Ending one's own: what `k` would end, the question that shows it exactly, what became of it.

Whether somebody may is said here so that the view can refuse with a reason; the daemon decides it
again. Processes are ended by the identities of the daemon's own plan, never by what is on screen.
"""

from __future__ import annotations

from dataclasses import replace

from roost.tui.draw_lists import ranges
from roost.tui.overlay import Act, Item, Overlay
from roost.tui.picture import Gpu, Job, Picture, Process
from roost.tui.requests import AskFree, Step, under_cursor
from roost.tui.scene import Scene
from roost.tui.source import Answer
from roost.tui.view import View
from roost.tui.when import size, span


def end_under_cursor(scene: Scene, view: View, picture: Picture) -> Step:
    """The question for the row under the cursor, or the reason why not."""
    row = under_cursor(view, picture)
    if scene.lost is not None:
        return _refused(view, scene.t("refused.away"))
    if row is None:
        return _refused(view, scene.t("refused.nothing"))
    if row.group is not None:
        return _refused(view, scene.t("refused.group", user=row.group.user or "?"))
    if row.gpu is not None:
        return _end_on_gpu(scene, view, picture, row.gpu)
    if row.process is not None:
        return _end_process(scene, view, picture, row.process)
    assert row.job is not None
    return _end_job(scene, view, picture, row.job)


def _refused(view: View, text: str) -> Step:
    return replace(view, message=text, message_alarm=True), None


def _end_on_gpu(scene: Scene, view: View, picture: Picture, gpu: Gpu) -> Step:
    """Of a GPU: one's own job there, else one's own processes, else (an operator) what is there."""
    own_jobs = [job for job in gpu.jobs if job.user == picture.me]
    if own_jobs:
        return _end_job(scene, view, picture, own_jobs[0])
    if any(p.user == picture.me for p in gpu.processes):
        return view, AskFree(gpu.index, picture.me, None)
    if gpu.jobs:
        return _end_job(scene, view, picture, gpu.jobs[0])
    if not gpu.processes:
        return _refused(view, scene.t("refused.nothing"))
    if picture.operator:
        return view, AskFree(gpu.index, None, None)
    return _end_process(scene, view, picture, gpu.processes[0])


def _end_process(scene: Scene, view: View, picture: Picture, process: Process) -> Step:
    job = next((j for j in picture.jobs if j.id == process.job), None)
    if job is not None:
        return _end_job(scene, view, picture, job)
    if process.pid is None or not process.user:
        return _refused(view, scene.t("refused.nobody", reason=process.reason or scene.unknown))
    if not picture.may_end(process.user):
        what = scene.t("what.process", pid=process.pid)
        return _refused(view, scene.t("refused.others", what=what, user=process.user))
    return view, AskFree(process.gpus[0], process.user, process.pid)


def _end_job(scene: Scene, view: View, picture: Picture, job: Job) -> Step:
    if not picture.may_end(job.user):
        what = scene.t("details.job", job=job.id)
        return _refused(view, scene.t("refused.others", what=what, user=job.user))
    at = ranges(tuple(gpu.index for gpu in picture.gpus if gpu.uuid in job.gpus))
    code = "confirm.job.running" if job.holds else "confirm.job.waiting"
    ran = span(scene.now - job.started_at) if job.started_at is not None else scene.unknown
    klass = f"class.{job.priority_class}"
    line = scene.t(
        code,
        job=job.id,
        name=job.name or job.command,
        user=job.user,
        klass=scene.t(klass) if scene.has(klass) else job.priority_class,
        span=ran,
        gpus=at or scene.unknown,
    )
    items = tuple(
        Item(p.pid, 0, p.user, p.command, p.memory_bytes, "")
        for p in picture.processes
        if p.job == job.id and p.pid is not None
    )
    return _confirm(
        scene, view, scene.t("confirm.title.job", job=job.id), line, Act(job=job.id, items=items),
        () if job.user == picture.me else (job.user,),
    )  # fmt: skip


def planned(scene: Scene, view: View, asked: AskFree, answer: Answer) -> Step:
    """The question that the daemon's plan leads to."""
    me = scene.picture.me if scene.picture else ""
    items = tuple(i for i in items_of(answer) if asked.pid is None or i.pid == asked.pid)
    view = replace(view, message="")
    if not items:
        return _refused(view, left_alone(answer, asked.pid) or scene.t("refused.gone"))
    title = (
        scene.t("confirm.title.process", pid=asked.pid)
        if asked.pid is not None
        else scene.t("confirm.title.gpu", gpu=asked.gpu)
    )
    others = tuple(dict.fromkeys(item.user for item in items if item.user and item.user != me))
    line = scene.t("confirm.processes", gpu=asked.gpu)
    return _confirm(scene, view, title, line, Act(gpu=asked.gpu, items=items), others)


def _confirm(
    scene: Scene, view: View, title: str, line: str, what: Act, others: tuple[str, ...]
) -> Step:
    overlay = Overlay(
        kind="confirm",
        title=title,
        lines=(line,),
        options=(("keep", scene.t("confirm.keep")), ("end", scene.t("confirm.end"))),
        act=what,
        alarm=scene.t("confirm.others", user=", ".join(others)) if others else "",
    )
    return replace(view, overlay=overlay), None


def items_of(answer: Answer) -> tuple[Item, ...]:
    """The processes of a `free-plan` answer; those without an identity cannot be ended."""
    rows = answer.get("items")
    out: list[Item] = []
    for row in rows if isinstance(rows, list) else []:
        if not isinstance(row, dict) or row.get("allowed") is False:
            continue
        pid, ticks, memory = row.get("pid"), row.get("start_ticks"), row.get("memory_bytes")
        if not isinstance(pid, int) or not isinstance(ticks, int):
            continue
        why = next(
            (text for k in ("why", "text", "evidence") if (text := _sentence(row.get(k)))), ""
        )
        out.append(
            Item(
                pid,
                ticks,
                str(row.get("user") or ""),
                str(row.get("command") or ""),
                memory if isinstance(memory, int) else None,
                why,
            )
        )
    return tuple(out)


def left_alone(answer: Answer, pid: int | None) -> str:
    """Why the daemon would leave that process (None: the first one) alone, in its words."""
    rows = answer.get("others")
    for row in rows if isinstance(rows, list) else []:
        if isinstance(row, dict) and pid in (None, row.get("pid")):
            text = _sentence(row.get("why")) or _sentence(row.get("text"))
            if text:
                return text
    return ""


def _sentence(value: object) -> str:
    """A text, or several of them."""
    if isinstance(value, list):
        return "; ".join(str(part) for part in value)
    return value if isinstance(value, str) else ""


def ended(scene: Scene, what: Act, answer: Answer) -> str:
    """What to say after the daemon did it."""
    if what.job is not None:
        return scene.t("ended.job", job=what.job)
    rows = answer.get("processes")
    outcomes = (
        [r.get("outcome") for r in rows if isinstance(r, dict)] if isinstance(rows, list) else []
    )
    done = sum(outcome in ("ended", "gone") for outcome in outcomes)
    before, after = _total(answer, "memory_before_bytes"), _total(answer, "memory_after_bytes")
    memory = ""
    if before is not None and after is not None:
        memory = scene.t("ended.memory", before=size(before), after=size(after))
    return scene.t(
        "ended.processes", gpu=what.gpu, ended=done, total=len(what.items), memory=memory
    )


def _total(answer: Answer, key: str) -> int | None:
    value = answer.get(key)
    if isinstance(value, dict):
        numbers = [v for v in value.values() if isinstance(v, int)]
        return sum(numbers) if numbers else None
    return value if isinstance(value, int) else None
