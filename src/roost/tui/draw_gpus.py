"""The GPUs: index, holder, until when, memory by holder, utilisation, trouble.

One line each, or two where there is room, or several side by side. Free ones stand out.
"""

from __future__ import annotations

from dataclasses import replace

from rich.cells import cell_len

from roost.tui.bars import memory_bar, sparkline
from roost.tui.cells import Line, Row, wrapped
from roost.tui.draw_compact import draw_compact, window
from roost.tui.history import step_for
from roost.tui.picture import Gpu
from roost.tui.plan import Plan
from roost.tui.scene import Block, Hit, Scene
from roost.tui.view import listed, matches_gpu
from roost.tui.when import size, span
from roost.tui.words import (
    drained_text,
    memory_text,
    put_chip,
    put_holder,
    short_model,
    sort_mark,
    until_text,
)

HOT_C = 88
"""Where the card does not say at which temperature it slows down (NVIDIA's are 85 to 95)."""


def gpu_columns(width: int, models: int, tall: bool) -> dict[str, int]:
    """Cells of each column for `width` cells; `models` are those of names, 0 for one model."""
    columns = {
        "index": 2, "chip": 2, "model": models, "holder": 18, "until": 8, "bar": 15,
        "memory": 7, "used": 4, "spark": 10, "temperature": 4, "power": 0,
    }  # fmt: skip

    def spare() -> int:
        shown = [w for w in columns.values() if w]
        return width - 2 - sum(shown) - (len(shown) - 1)

    for name, least in (("temperature", 0), ("spark", 0), ("bar", 8), ("until", 0), ("model", 0)):
        if spare() < 0:
            columns[name] = min(columns[name], max(least, columns[name] + spare()))
            columns[name] = 0 if columns[name] < 4 else columns[name]
    if spare() < 0:
        columns["bar"] = 0
    if spare() < 0:
        columns["holder"] = max(6, columns["holder"] + spare())
    if spare() >= 10:
        columns["power"] = 5
    if spare() >= 10:
        columns["until"] = 11
        columns["memory"] = 12
    extra = max(0, spare())
    if extra and not columns["spark"]:
        columns["holder"] += extra
    elif extra:
        holder = min(extra * 4 // 10, 30)
        bar = min(extra * 3 // 10, 30)
        columns["holder"] += holder
        columns["bar"] += bar
        columns["spark"] += extra - holder - bar
    return columns


def draw_gpus(scene: Scene, layout: Plan) -> Block:
    """The heading and `layout.gpu_rows` lines."""
    picture = scene.picture
    if picture is None or not picture.gpus:
        return _none(scene, layout)
    if layout.columns > 1:
        return draw_compact(scene, layout)
    rows = listed(scene.view, picture, "gpus")
    models = {gpu.name for gpu in picture.gpus}
    wide = max(cell_len(short_model(name)) for name in models) if len(models) > 1 else 0
    columns = gpu_columns(layout.width, min(wide, 10), layout.tall)
    block = Block([_heading(scene, columns, layout)], _sort_hits(scene, columns))
    per = 2 if layout.tall else 1
    first, cursor = window(scene, rows, layout.gpu_rows // per)
    block.offset = first
    for row in rows[first : first + layout.gpu_rows // per]:
        assert row.gpu is not None
        lines = _gpu_lines(scene, row.gpu, columns, layout)
        if row.key == cursor:
            lines = [scene.marked(line, True) for line in lines]
        for line in lines:
            block.hits.append(Hit(len(block.lines), 0, layout.width, f"row:gpus:{row.key}"))
            block.lines.append(line)
    return block


def _heading(scene: Scene, columns: dict[str, int], layout: Plan) -> Line:
    row = scene.row().put("", 1, scene.s("heading"))
    key, back = scene.view.sort("gpus")
    sorted_by = {"gpu": "index", "user": "holder", "utilisation": "used", "idle": "until"}.get(
        key, key
    )
    step = step_for(columns["spark"])
    minutes = round(columns["spark"] * step / 60)
    labels = {"index": "GPU", "chip": "", "model": scene.t("col.model"),
        "holder": scene.t("col.holder"), "until": scene.t("col.until"),
        "bar": scene.t("col.memory"), "memory": "", "used": scene.t("col.used"),
        "spark": scene.t("col.minutes", minutes=minutes), "temperature": "°C",
        "power": "W"}  # fmt: skip
    if scene.look.ascii_only:
        labels["temperature"] = "C"
    right = {"memory", "used", "temperature", "power"}
    for name, width in columns.items():
        if not width:
            continue
        text = labels[name]
        if name == "chip":
            row.put("", 3, scene.s("heading"))
            continue
        if name == "index":
            mark = sort_mark(scene, key, back) if key == "gpu" and back else ""
            row.put(text[: 3 - len(mark)] + mark, 3, scene.s("heading"))
            continue
        if sorted_by == name and key != "gpu":
            text += sort_mark(scene, key, back)
        row.put(text, width, scene.s("heading"), ">" if name in right else "<")
        row.put("", 1, scene.s("heading"))
    shown = layout.gpu_rows // (2 if layout.tall else 1)
    assert scene.picture is not None
    total = len(scene.picture.gpus)
    if shown < total:
        first = scene.view.offset("gpus")
        text = scene.t("more", first=first + 1, last=min(total, first + shown), total=total)
        return _with_right(scene, row, text, layout.width)
    return row.pad(layout.width, scene.s("heading")).parts


def _with_right(scene: Scene, row: Row, text: str, width: int) -> Line:
    whole = "".join(part.text for part in row.parts)
    room = width - cell_len(text) - 1
    again = scene.row().put(whole, room, scene.s("heading"))
    return again.add(text, scene.s("heading")).pad(width, scene.s("heading")).parts


def _sort_hits(scene: Scene, columns: dict[str, int]) -> list[Hit]:
    keys = {"index": "gpu", "holder": "user", "until": "idle", "bar": "memory", "memory": "memory",
        "used": "utilisation", "spark": "utilisation", "temperature": "temperature"}  # fmt: skip
    hits: list[Hit] = []
    x = 1
    for name, width in columns.items():
        if width:
            if name in keys:
                hits.append(Hit(0, x, x + width, f"sort:gpus:{keys[name]}"))
            x += width + 1
    return hits


def _gpu_lines(scene: Scene, gpu: Gpu, columns: dict[str, int], layout: Plan) -> list[Line]:
    assert scene.picture is not None
    bright = matches_gpu(scene.view, scene.picture, gpu)
    if not bright:
        scene = replace(scene, look=scene.look.faded())
    sparks = sparkline(
        scene.history.cells(gpu.uuid, scene.now, columns["spark"], step_for(columns["spark"])),
        scene.look,
        rows=2 if layout.tall else 1,
    ) if columns["spark"] else [[], []]  # fmt: skip
    first = _first_line(scene, gpu, columns, sparks[0])
    lines = [first.pad(layout.width, scene.s("text")).parts]
    if layout.tall:
        lines.append(_second_line(scene, gpu, columns, sparks[1], layout.width))
    return lines


def _first_line(scene: Scene, gpu: Gpu, columns: dict[str, int], spark: Line) -> Row:
    text, dim = scene.s("text"), scene.s("dim")
    row = scene.row().put("", 1, text)
    row.put(str(gpu.index), columns["index"], scene.s("strong"), ">").put("", 1, text)
    put_chip(scene, row, gpu)
    row.put("", 1, text)
    if columns["model"]:
        row.put(scene.p(short_model(gpu.name)), columns["model"], dim).put("", 1, text)
    put_holder(scene, row, gpu, columns["holder"])
    row.put("", 1, text)
    if columns["until"]:
        until, role = until_text(scene, gpu, columns["until"] >= 11)
        row.put(until, columns["until"], scene.s(role)).put("", 1, text)
    if columns["bar"]:
        row.extend(memory_bar(gpu.shares, gpu.memory_total_bytes, columns["bar"], scene.look))
        row.put("", 1, text)
    used, total = gpu.memory_used_bytes, gpu.memory_total_bytes
    row.put(memory_text(scene, used, total, columns["memory"] >= 12), columns["memory"], dim, ">")
    row.put("", 1, text)
    percent = gpu.utilisation_percent
    busy = scene.unknown if percent is None else f"{percent}%"
    row.put(busy, columns["used"], text if percent else dim, ">").put("", 1, text)
    if columns["spark"]:
        row.extend(spark).put("", 1, text)
    if columns["temperature"]:
        heat, role = _heat(scene, gpu)
        row.put(heat, columns["temperature"], scene.s(role), ">").put("", 1, text)
    if columns["power"]:
        power, role = _power(scene, gpu)
        row.put(power, columns["power"], scene.s(role), ">")
    return row


def _heat(scene: Scene, gpu: Gpu) -> tuple[str, str]:
    """(text, role) of the temperature; an alarm from five degrees below its slow-down on."""
    if gpu.temperature_c is None:
        return scene.unknown, "dim"
    slow = gpu.temperature_slowdown_c
    hot = gpu.temperature_c >= (slow - 5 if slow else HOT_C)
    degree = "" if scene.look.ascii_only else "°"
    return f"{gpu.temperature_c}{degree}", "alarm" if hot else "dim"


def _power(scene: Scene, gpu: Gpu) -> tuple[str, str]:
    """(text, role) of the power; an alarm only beyond the limit, which is where busy cards work."""
    if gpu.power_w is None:
        return scene.unknown, "dim"
    over = gpu.power_limit_w is not None and gpu.power_w > gpu.power_limit_w * 1.05
    return f"{gpu.power_w:.0f}W", "alarm" if over else "dim"


def _second_line(scene: Scene, gpu: Gpu, columns: dict[str, int], spark: Line, width: int) -> Line:
    """What stands under the first: since when and by which class, the bar's legend."""
    text, dim = scene.s("text"), scene.s("dim")
    row = scene.row().put("", 1 + columns["index"] + 1 + 3, text)
    if columns["model"]:
        row.put("", columns["model"] + 1, text)
    row.put(_since(scene, gpu), columns["holder"] + 1 + columns["until"], dim).put("", 1, text)
    room = columns["bar"] + 1 + columns["memory"]
    _legend(scene, row, gpu, room)
    row.put("", 1 + columns["used"] + 1, text).extend(spark)
    return row.pad(width, text).parts


def _since(scene: Scene, gpu: Gpu) -> str:
    parts: list[str] = []
    if gpu.since_at is not None and not gpu.free:
        parts.append(scene.t("since", span=span(scene.now - gpu.since_at)))
    parts += [scene.t(f"class.{job.priority_class}") for job in gpu.jobs[:1]]
    if gpu.drained and gpu.people:
        parts.append(drained_text(scene, gpu))
    groups = [p.group for p in gpu.processes if p.group] or [j.group for j in gpu.jobs if j.group]
    parts += [scene.p(groups[0])] if groups else []
    return (" - " if scene.look.ascii_only else " · ").join(parts)


def _legend(scene: Scene, row: Row, gpu: Gpu, room: int) -> None:
    end = row.width + room
    if len(gpu.shares) > 1:
        for user, _, memory in gpu.shares:
            word = scene.p(user) if user else scene.t("kind.unattributed")
            entry = f"{word} {size(memory)}  "
            if row.width + cell_len(entry) > end:
                break
            row.add(entry, scene.s("dim"))
    row.pad(end, scene.s("text"))


def _none(scene: Scene, layout: Plan) -> Block:
    """No GPU, or nothing known yet: why, and what to do."""
    text = scene.s("text")
    block = Block([scene.row().put(" GPU", layout.width, scene.s("heading")).parts])
    if scene.picture is None:
        lines = [scene.t("loading") if scene.lost is None else scene.t("never_seen")]
    else:
        state = scene.picture.driver_state
        code = f"driver.{state}"
        lines = [
            scene.t(code) if scene.has(code) else scene.t("driver.other", state=scene.p(state))
        ]
        if scene.picture.driver_remedy:
            lines.append(scene.p(scene.picture.driver_remedy))
    told = [part for line in lines for part in wrapped(line, layout.width - 2)]
    for line in told[: layout.gpu_rows]:
        block.lines.append(scene.row().put(f" {line}", layout.width, text).parts)
    while len(block.lines) < 1 + layout.gpu_rows:
        block.lines.append(scene.row().pad(layout.width, text).parts)
    return block
