"""The time strip: GPUs as rows, time to the right, now as a line, free room standing out.

Running jobs are drawn to the end that their walltime gives; what has no known end fades.
Neighbours with the same future share a row where there are fewer rows than GPUs.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta, tzinfo

from rich.cells import cell_len
from rich.style import Style

from roost.core.colour import initials
from roost.tui.cells import Row
from roost.tui.draw_lists import ranges
from roost.tui.picture import Gpu, Picture
from roost.tui.scene import Block, Hit, Scene
from roost.tui.view import HORIZONS_S
from roost.tui.words import put_holder, what_text

LABEL = 6
PAST = 0.12
"""Part of the strip that is past, so that one sees since when."""

_STEPS_S = (300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400)


@dataclass(frozen=True, slots=True)
class Lane:
    """GPUs that are drawn as one row: the first stands for all."""

    gpus: tuple[Gpu, ...]

    @property
    def first(self) -> Gpu:
        return self.gpus[0]


def lanes(picture: Picture, rows: int) -> tuple[list[Lane], int]:
    """The lanes to draw in `rows` rows, and how many are left out.

    One lane a GPU if they fit, else GPUs with the same future together; if these are still too
    many, those go first whose end nobody knows, since they say least about free room.
    """
    if len(picture.gpus) <= rows:
        return [Lane((gpu,)) for gpu in picture.gpus], 0
    together: dict[object, list[Gpu]] = {}
    for gpu in picture.gpus:
        together.setdefault(_future(gpu), []).append(gpu)
    out = [Lane(tuple(gpus)) for gpus in together.values()]
    told = sorted(range(len(out)), key=lambda n: (_says_little(out[n].first), n))[:rows]
    return [out[n] for n in sorted(told)], len(out) - len(told)


def _says_little(gpu: Gpu) -> int:
    """0 for free GPUs, 1 for those with a known end, 2 for the others, 3 for those in trouble."""
    if gpu.trouble or gpu.drained:
        return 3
    return 0 if gpu.free else 1 if gpu.until_at is not None else 2


def _future(gpu: Gpu) -> object:
    processes = tuple((p.user, p.kind) for p in gpu.processes) if not gpu.jobs else ()
    return (
        gpu.people,
        tuple(j.id for j in gpu.jobs),
        processes,
        gpu.trouble,
        gpu.drained,
        gpu.bookings,
    )


def horizon_of(picture: Picture | None, chosen: float | None) -> float:
    """The span shown to the right of now: the chosen one, else one that all known ends fit in."""
    if chosen is not None:
        return chosen
    if picture is None:
        return HORIZONS_S[2]
    ends = [job.ends_at - picture.at for job in picture.jobs if job.ends_at is not None]
    latest = min(max(ends, default=0.0) * 1.1, HORIZONS_S[5])
    return next(h for h in HORIZONS_S[2:] if h >= latest)


def draw_time(scene: Scene, width: int, rows: int) -> Block:
    """A heading with the hours, and `rows` lines."""
    assert scene.picture is not None
    cells = width - LABEL - 1
    horizon = horizon_of(scene.picture, scene.view.horizon_s)
    past = max(2, round(cells * PAST))
    per_cell = horizon / max(1, cells - past)
    start = scene.now - past * per_cell
    shown, left_out = lanes(scene.picture, rows)
    note = scene.t("strip.more", n=left_out) if left_out else ""
    axis = _axis(scene, cells - cell_len(note), start, per_cell, past)
    axis.put("", width - axis.width - cell_len(note) - 1, scene.s("heading"))
    block = Block([axis.add(note, scene.s("heading")).pad(width, scene.s("heading")).parts])
    block.hits.append(Hit(0, 0, width, "pane:time"))
    for lane in shown:
        row = scene.row().put(
            ranges(tuple(gpu.index for gpu in lane.gpus)), LABEL - 1, scene.s("dim"), ">"
        )
        row.put("", 1, scene.s("text"))
        _lane(scene, row, lane.first, cells, start, per_cell, past)
        block.hits.append(Hit(len(block.lines), 0, width, f"row:gpus:{lane.first.uuid}"))
        block.lines.append(row.pad(width, scene.s("text")).parts)
    while len(block.lines) < 1 + rows:
        block.lines.append(scene.row().pad(width, scene.s("text")).parts)
    return block


def _axis(scene: Scene, cells: int, start: float, per_cell: float, past: int) -> Row:
    """Hours over the strip; "now" stands over the line, and no label touches another."""
    heading = scene.s("heading")
    on = scene.s("title_strong") if scene.view.pane == "time" else heading
    marks: list[tuple[int, str, Style]] = [(past, scene.t("strip.now"), scene.s("title_strong"))]
    step = next((s for s in _STEPS_S if s / per_cell >= 9), _STEPS_S[-1])
    tick = _midnight(scene.now, scene.zone)
    while tick < start + cells * per_cell:
        x = round((tick - start) / per_cell)
        text = _tick_text(tick, step, scene.zone)
        if x >= 0 and x + len(text) < cells and not _near(marks, x, len(text)):
            marks.append((x, text, heading))
        tick += step
    row = scene.row().put(f" {scene.t('pane.time')}", LABEL, on)
    for x, text, style in sorted(marks, key=lambda m: m[0]):
        row.put("", LABEL + x - row.width, heading).add(text, style)
    return row


def _near(marks: list[tuple[int, str, Style]], x: int, length: int) -> bool:
    return any(x < at + cell_len(text) + 1 and at < x + length + 1 for at, text, _ in marks)


def _midnight(now: float, zone: tzinfo) -> float:
    """The midnight before last, from which ticks are counted in the rules' time zone."""
    day = datetime.fromtimestamp(now, zone).replace(hour=0, minute=0, second=0, microsecond=0)
    return (day - timedelta(days=1)).timestamp()


def _tick_text(tick: float, step: int, zone: tzinfo) -> str:
    at = datetime.fromtimestamp(tick, zone)
    if at.hour == 0 and at.minute == 0:
        return at.strftime("%m-%d")
    return at.strftime("%H:%M") if step < 86400 else at.strftime("%m-%d")


def _lane(
    scene: Scene, row: Row, gpu: Gpu, cells: int, start: float, per_cell: float, past: int
) -> None:
    """The past up to now, the line, and what is known of the future."""
    glyphs = scene.look.glyphs
    begin = gpu.since_at
    x0 = past if begin is None else max(0, min(past, int((begin - start) / per_cell)))
    nobody = not gpu.people and not (gpu.booked and gpu.processes)
    if gpu.free or ((gpu.trouble or gpu.drained or gpu.booked) and nobody):
        row.put("", past, scene.s("text"))
        row.put(glyphs.now, 1, scene.s("now"))
        left = cells - past - 1
        if not gpu.free:
            row.put("", 1, scene.s("text"))
            put_holder(scene, row, gpu, left - 1)
            return
        ahead = next(iter(gpu.bookings), None)
        open_cells = left if ahead is None else int((ahead.start_at - scene.now) / per_cell)
        if ahead is None or open_cells >= left:
            _room(scene, row, left)
            return
        _room(scene, row, max(0, open_cells))
        text = scene.t("booked", user=scene.p(ahead.user)) if ahead.user else scene.t("maintenance")
        row.put(text, left - max(0, open_cells), scene.s("strong"))
        return
    who = gpu.people[0] if gpu.people else ""
    chip = scene.look.chip(who) if who else scene.look.hatched()
    fill = (
        glyphs.hatch
        if not who
        else glyphs.used
        if scene.look.ascii_only and scene.look.theme == "mono"
        else " "
    )
    row.put("", x0, scene.s("text"))
    row.put(fill * (past - x0), past - x0, chip)
    row.put(glyphs.now, 1, scene.s("now"))
    end = gpu.until_at
    left = cells - past - 1
    label = _label(scene, gpu)
    if end is None:
        text = f" {label} "
        if cell_len(text) > left:
            text = f"{label}"
        row.put(text, min(left, cell_len(text)), scene.look.ink(who) if who else scene.s("dim"))
        rest = cells - (row.width - LABEL)
        row.put(glyphs.open_end * rest, rest, scene.look.ink(who) if who else scene.s("dim"))
        return
    bar = max(1, min(left, round((end - scene.now) / per_cell)))
    if bar >= cell_len(label) + 1:
        row.put(f"{label}", bar, chip)
        _room(scene, row, left - bar)
    else:
        row.put(fill * bar, bar, chip)
        after = f" {label} "
        row.put(after, min(left - bar, cell_len(after)), scene.s("text"))
        _room(scene, row, cells - (row.width - LABEL))


def _label(scene: Scene, gpu: Gpu) -> str:
    who = scene.p(initials(gpu.people[0]).strip()) if gpu.people else "??"
    dot = scene.look.glyphs.dot
    if gpu.jobs:
        job = gpu.jobs[0]
        name = f" {scene.p(job.name)}" if job.name else ""
        end = "" if job.ends_at is not None else f" {dot} {scene.t('strip.no_end')}"
        return f"{who} {job.id}{name}{end}"
    return f"{who} {what_text(scene, gpu)} {dot} {scene.t('strip.no_end')}"


def _room(scene: Scene, row: Row, cells: int) -> None:
    """Free room: the word, and dots as far as it goes."""
    if cells <= 0:
        return
    word = f" {scene.t('free')} "
    if cell_len(word) > cells:
        word = ""
    dots = scene.look.glyphs.room * (cells - cell_len(word))
    row.add(word + dots, scene.s("free"))
