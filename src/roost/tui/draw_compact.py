"""GPUs several a line, for machines with more of them than the screen has lines.

Counted down the columns, 39 cells each. Must not know the other panes.
"""

from __future__ import annotations

from roost.tui.bars import memory_bar
from roost.tui.cells import Line
from roost.tui.picture import Gpu
from roost.tui.plan import COMPACT_WIDTH, Plan
from roost.tui.scene import Block, Hit, Scene
from roost.tui.view import ListedRow, listed
from roost.tui.words import put_chip, put_holder, until_text


def draw_compact(scene: Scene, layout: Plan) -> Block:
    """Several GPUs a line, counted down the columns."""
    assert scene.picture is not None
    rows = listed(scene.view, scene.picture, "gpus")
    width = layout.width // layout.columns
    _, cursor = window(scene, rows, len(rows))
    heading = scene.row()
    for _ in range(layout.columns):
        heading.extend(_compact_heading(scene, width))
    block = Block([heading.pad(layout.width, scene.s("heading")).parts])
    deep = layout.gpu_rows_wanted
    first = max(0, min(scene.view.offset("gpus"), deep - layout.gpu_rows))
    if cursor:
        at = [row.key for row in rows].index(cursor) % deep
        first = max(at - layout.gpu_rows + 1, min(first, at))
    block.offset = first
    for y in range(first, min(deep, first + layout.gpu_rows)):
        line = scene.row()
        for column in range(layout.columns):
            at = column * deep + y
            if at >= len(rows):
                line.put("", width, scene.s("text"))
                continue
            row = rows[at]
            assert row.gpu is not None
            part = _compact(scene, row.gpu, width)
            block.hits.append(
                Hit(len(block.lines), line.width, line.width + width, f"row:gpus:{row.key}")
            )
            line.extend(scene.marked(part, True) if row.key == cursor else part)
        block.lines.append(line.pad(layout.width, scene.s("text")).parts)
    return block


def _compact_heading(scene: Scene, width: int) -> Line:
    style = scene.s("heading")
    row = scene.row().put("GPU", 4, style).put("", 2, style)
    row.put(scene.t("col.holder"), 9 + width - COMPACT_WIDTH, style)
    row.put(scene.t("col.memory"), 9, style).put("", 1, style)
    row.put(scene.t("col.used"), 4, style, ">").put("", 1, style)
    return row.put(scene.t("col.until"), 8, style).pad(width, style).parts


def _compact(scene: Scene, gpu: Gpu, width: int) -> Line:
    """39 cells: index, chip, name, memory bar, utilisation, until; more go to the name."""
    text, dim = scene.s("text"), scene.s("dim")
    name = 8 + width - COMPACT_WIDTH
    row = scene.row().put(str(gpu.index), 3, scene.s("strong"), ">").put("", 1, text)
    put_chip(scene, row, gpu)
    row.put("", 1, text)
    if gpu.trouble or (gpu.drained and not gpu.people):
        put_holder(scene, row, gpu, width - row.width - 1)
        return row.pad(width, text).parts
    if gpu.people:
        row.put(scene.p(", ".join(gpu.people)), name, text)
    else:
        put_holder(scene, row, gpu, name)
    row.put("", 1, text)
    row.extend(memory_bar(gpu.shares, gpu.memory_total_bytes, 9, scene.look)).put("", 1, text)
    percent = gpu.utilisation_percent
    busy = scene.unknown if percent is None else f"{percent}%"
    row.put(busy, 4, text if percent else dim, ">").put("", 1, text)
    until, role = until_text(scene, gpu, False)
    return row.put(until, 8, scene.s(role)).pad(width, text).parts


def window(scene: Scene, rows: list[ListedRow], count: int) -> tuple[int, str]:
    """(first row of `count` to show, key under the cursor or "" without focus)."""
    focused = scene.view.pane == "gpus"
    cursor = scene.view.cursor("gpus")
    keys = [row.key for row in rows]
    at = keys.index(cursor) if cursor in keys else 0
    first = max(0, min(scene.view.offset("gpus"), len(rows) - count))
    if focused and rows:
        first = max(at - count + 1, min(first, at))
    return first, (keys[at] if focused and keys else "")
