"""The whole screen from a Scene: title, GPUs, lists, time strip, keys, and the dialog over it.

Pure: the same scene gives the same lines. The application only shows them and asks what was hit.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from rich.cells import cell_len
from rich.segment import Segment
from textual.strip import Strip

from roost.tui.cells import Line, Row, strip_of
from roost.tui.draw_gpus import draw_gpus
from roost.tui.draw_lists import draw_list
from roost.tui.draw_overlay import put_overlay
from roost.tui.draw_time import draw_time
from roost.tui.picture import Picture
from roost.tui.plan import Plan, plan
from roost.tui.scene import Block, Hit, Scene
from roost.tui.when import clock, span
from roost.tui.words import short_model

KEYS = (
    ("F1", "help"),
    ("/", "filter"),
    ("u", "user"),
    ("F5", "group"),
    ("F6", "sort"),
    ("Tab", "pane"),
    ("k", "end"),
    ("q", "quit"),
)


LEAST = (20, 6)
"""Cells and lines below which nothing useful can be said."""


@dataclass(frozen=True, slots=True)
class Frame:
    """Exactly `height` strips, what clicks on them mean, and where lists now begin."""

    strips: tuple[Strip, ...]
    hits: tuple[Hit, ...]
    offsets: tuple[tuple[str, int], ...]
    layout: Plan

    def action_at(self, x: int, y: int) -> str:
        """What a click there means; the last drawn wins; "" for nothing."""
        return next(
            (h.action for h in reversed(self.hits) if h.y == y and h.x0 <= x < h.x1),
            "",
        )


def draw(scene: Scene, width: int, height: int) -> Frame:
    """The screen of `width` by `height` cells."""
    if width < LEAST[0] or height < LEAST[1]:
        return _too_small(scene, width, height)
    picture = scene.picture
    layout = plan(width, height, len(picture.gpus) if picture else 0)
    calm = scene if scene.lost is None else replace(scene, look=scene.look.faded())
    block = Block([_title(scene, width)])
    offsets: dict[str, int] = {}
    gpus = draw_gpus(calm, layout)
    offsets["gpus"] = gpus.offset
    block.below(gpus)
    if picture is not None and layout.list_rows:
        _lists(calm, layout, block, offsets)
    if picture is not None and layout.strip_rows:
        strip = draw_time(calm, width, layout.strip_rows)
        block.below(strip)
    while len(block.lines) < height - 1:
        block.lines.append(scene.row().pad(width, scene.s("text")).parts)
    del block.lines[height - 1 :]
    block.below(_foot(scene, width))
    if scene.view.overlay is not None:
        put_overlay(scene, block, scene.view.overlay, width, height)
    ground = scene.s("text")
    return Frame(
        strips=tuple(strip_of(line, width, ground) for line in block.lines),
        hits=tuple(block.hits),
        offsets=tuple(offsets.items()),
        layout=layout,
    )


def _too_small(scene: Scene, width: int, height: int) -> Frame:
    ground = scene.s("text")
    lines = [scene.row().put(scene.t("too_small"), width, ground).parts]
    lines += [scene.row().pad(width, ground).parts] * (height - 1)
    strips = tuple(strip_of(line, width, ground) for line in lines[:height])
    return Frame(strips, (), (), plan(LEAST[0], LEAST[1], 0))


def _lists(scene: Scene, layout: Plan, block: Block, offsets: dict[str, int]) -> None:
    """Holders and jobs side by side, or the one chosen with the other as a tab."""
    if not layout.wide:
        pane = scene.view.pane if scene.view.pane in ("holders", "jobs") else scene.view.lower
        one = draw_list(scene, pane, layout.width, layout.list_rows, tabs=True)
        offsets[pane] = one.offset
        block.below(one)
        return
    half = (layout.width - 1) // 2
    left = draw_list(scene, "holders", half, layout.list_rows, tabs=False)
    right = draw_list(scene, "jobs", layout.width - half - 1, layout.list_rows, tabs=False)
    offsets["holders"], offsets["jobs"] = left.offset, right.offset
    both = Block(
        [
            [*a, Segment(" ", scene.s("text")), *b]
            for a, b in zip(left.lines, right.lines, strict=True)
        ],
        [*left.hits, *(Hit(h.y, h.x0 + half + 1, h.x1 + half + 1, h.action) for h in right.hits)],
    )
    block.below(both)


def _title(scene: Scene, width: int) -> Line:
    """Server, GPUs, how many are free, who is looking, the time; or that the daemon is away."""
    picture = scene.picture
    if scene.lost is not None:
        return _away(scene, width)
    plain = scene.s("title")
    if picture is None:
        right = f"{clock(scene.now, scene.zone, seconds=True)} "
        row = scene.row().add(" roost ", scene.s("title_strong"))
        return row.put("", width - row.width - len(right), plain).add(right, plain).parts
    # What is said first is never left out; of the rest as much as fits.
    for models, me, server in (
        (True, True, True), (True, False, True), (False, True, True), (False, False, True),
        (False, False, False),
    ):  # fmt: skip
        left, right = _title_parts(scene, picture, models, me, server)
        if left.width + cell_len(right) < width:
            left.put("", width - left.width - cell_len(right), plain).add(right, plain)
            return left.parts
    return strip_of(left.parts, width, plain).crop(0, width)._segments


def _title_parts(
    scene: Scene, picture: Picture, models: bool, me: bool, server: bool
) -> tuple[Row, str]:
    plain, strong = scene.s("title"), scene.s("title_strong")
    dot = f" {scene.look.glyphs.dot} "
    row = scene.row().add(" roost", strong)
    row.add(f" {scene.p(picture.server)}" if server else "", plain)
    row.add(dot + (_models(scene) if models else _count(scene, picture)), plain)
    if picture.gpus:
        free = scene.t("title.free", n=picture.free) if picture.free else scene.t("title.none_free")
        row.add(dot, plain).add(free, scene.s("title_free") if picture.free else strong)
    row.add(dot + scene.t("title.waiting", n=picture.pending), plain)
    if picture.simulated:
        row.add(dot + scene.t("title.simulated"), plain)
    right = f"{clock(scene.now, scene.zone, seconds=True)} "
    if me:
        role = f" ({scene.t('operator')})" if picture.operator else ""
        right = f"{scene.p(picture.me)}{role}  {right}"
    return row, right


def _count(scene: Scene, picture: Picture) -> str:
    count = len(picture.gpus)
    if not count:
        return scene.t("title.no_gpu")
    return scene.t("count.gpu") if count == 1 else scene.t("count.gpus", n=count)


def _models(scene: Scene) -> str:
    assert scene.picture is not None
    names = [short_model(gpu.name) for gpu in scene.picture.gpus]
    if not names:
        return scene.t("title.no_gpu")
    kinds = dict.fromkeys(names)
    return ", ".join(
        scene.t("title.models", n=names.count(name), model=scene.p(name)) for name in kinds
    )


def _away(scene: Scene, width: int) -> Line:
    assert scene.lost is not None
    style = scene.s("title_alarm")
    text = scene.t(
        "away" if scene.picture else "away.never",
        since=clock(scene.lost.since_at, scene.zone, seconds=True),
        span=span(scene.now - scene.lost.since_at),
    )
    if width >= 120 and scene.lost.text:
        text += f"  ({scene.p(scene.lost.text)})"
    return scene.row().put(f" {text}", width, style).parts


def _foot(scene: Scene, width: int) -> Block:
    """The keys; or what is being typed; or what was last said to the person."""
    block = Block()
    text, key_style = scene.s("title"), scene.s("title_strong")
    row = scene.row()
    if scene.view.typing:
        row.add(f" {scene.t('filter.prompt')} ", key_style)
        row.add(f"{scene.p(scene.view.text)}", scene.s("strong")).add(
            "_" if scene.look.ascii_only else "▏", scene.s("strong")
        )
        row.put(f"  {scene.t('filter.hint')}", width - row.width, scene.s("dim"))
    elif scene.view.message:
        role = "alarm" if scene.view.message_alarm else "strong"
        row.put(f" {scene.p(scene.view.message)}", width, scene.s(role))
    else:
        for key, action in KEYS:
            label = scene.t(f"key.{action}")
            cells = 1 + len(key) + 1 + cell_len(label) + 1
            if row.width + cells > width:
                continue
            block.hits.append(Hit(0, row.width, row.width + cells, f"do:{action}"))
            row.add(f" {key}", key_style).add(f" {label} ", text)
    block.lines.append(row.pad(width, text if not scene.view.message else scene.s("text")).parts)
    return block
