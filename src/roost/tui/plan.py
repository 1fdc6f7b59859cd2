"""Where things stand on the screen, from its size and the number of GPUs alone.

Numbers that change never move the layout, because no number but these comes in here.
"""

from __future__ import annotations

from dataclasses import dataclass

COMPACT_WIDTH = 39
"""Cells of a GPU where several stand side by side."""

WIDE = 150
"""From here on holders and jobs stand side by side."""


@dataclass(frozen=True, slots=True)
class Plan:
    """Rows of each part, headings not counted; 0 leaves the part out, with its heading.

    `columns` GPUs stand side by side, `tall` gives each two lines, `wide` shows holders and jobs
    at once. `gpu_rows` are lines on the screen, all GPUs need `gpu_rows_wanted`.
    """

    width: int
    height: int
    gpu_rows: int
    gpu_rows_wanted: int
    columns: int
    tall: bool
    list_rows: int
    strip_rows: int
    wide: bool

    @property
    def list_top(self) -> int:
        return 1 + 1 + self.gpu_rows

    @property
    def strip_top(self) -> int:
        return self.list_top + (1 + self.list_rows if self.list_rows else 0)


def plan(width: int, height: int, gpus: int) -> Plan:
    """Share out a screen of `width` by `height` cells among `gpus` GPUs, lists and time strip."""
    room = height - 2  # the title and the keys
    strip = min(gpus, 5 if height < 36 else 8 if height < 48 else 16)
    if height < 18:
        strip = 0

    def rest(gpu_rows: int, strip_rows: int) -> int:
        return room - (1 + gpu_rows) - (1 + strip_rows if strip_rows else 0) - 1

    tall = gpus > 0 and width >= 120 and rest(2 * gpus, strip) >= 12
    columns = 1
    if not tall:
        most = max(1, width // COMPACT_WIDTH)
        while columns < most and rest(_rows(gpus, columns), strip) < 5:
            columns += 1
    wanted = 2 * gpus if tall else _rows(gpus, columns) if gpus else 3
    rows = max(1, wanted)
    while strip > 2 and rest(rows, strip) < 5:
        strip -= 1
    lists = rest(rows, strip)
    if lists < 3:
        # GPUs come first: the lists keep three rows only while half of the GPUs still show
        rows = max(min(rows, room - 1), 1) if room < 10 else max(1, min(rows, rows + lists - 3))
        lists = rest(rows, strip)
    if lists < 1:
        lists, strip = 0, 0
        rows = max(1, min(max(1, wanted), room - 1))
    if strip == 0 and lists:
        lists = rest(rows, 0)
    return Plan(
        width=width,
        height=height,
        gpu_rows=rows,
        gpu_rows_wanted=max(1, wanted),
        columns=columns,
        tall=tall,
        list_rows=lists,
        strip_rows=strip,
        wide=width >= WIDE,
    )


def _rows(gpus: int, columns: int) -> int:
    return -(-gpus // columns)
