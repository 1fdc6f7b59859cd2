"""Dialogs as boxes over the picture: help, choices, details, and the question before an end.

Text is wrapped and literal. What will be ended is listed in full; where the screen is too small
for that, the box says how many more there are, so that nobody agrees to what was not counted.
"""

from __future__ import annotations

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from roost.tui.cells import Line, Row, fit, wrapped
from roost.tui.overlay import Item, Overlay
from roost.tui.scene import Block, Hit, Scene
from roost.tui.when import size


def put_overlay(scene: Scene, block: Block, overlay: Overlay, width: int, height: int) -> None:
    """Draw the dialog into the block; clicks beside it close it, those below are covered."""
    inner = min(width - 4, max(44, min(76, _widest(scene, overlay) + 2)))
    body = _body(scene, overlay, inner, height - 6)
    top = max(0, (height - len(body) - 2) // 2)
    left = (width - inner - 2) // 2
    block.hits = [Hit(y, 0, width, "close") for y in range(height)]
    lines = [_edge(scene, overlay.title, inner, True)]
    lines += [_boxed(scene, line, inner) for line, _ in body]
    lines.append(_edge(scene, "", inner, False))
    for at, line in enumerate(lines):
        y = top + at
        if y >= height:
            break
        block.lines[y] = _over(block.lines[y], line, left, scene)
        block.hits.append(Hit(y, left, left + inner + 2, "nothing"))
        if 0 < at <= len(body):
            block.hits += [
                Hit(y, left + 1 + hit.x0, left + 1 + hit.x1, hit.action) for hit in body[at - 1][1]
            ]


def _widest(scene: Scene, overlay: Overlay) -> int:
    texts = [overlay.title, *overlay.lines, *(label for _, label in overlay.options)]
    return max((cell_len(scene.p(text)) for text in texts), default=0)


Body = list[tuple[Line, list[Hit]]]


def _body(scene: Scene, overlay: Overlay, inner: int, room: int) -> Body:
    box = scene.s("box")
    body: Body = []

    def say(text: str, style: str = "box") -> None:
        for part in wrapped(scene.p(text), inner - 2):
            body.append((scene.row().put(f" {part}", inner, _on_box(scene, style)).parts, []))

    if overlay.alarm:
        say(overlay.alarm, "alarm")
    for paragraph in overlay.lines:
        say(paragraph)
    if overlay.act is not None:
        _items(scene, overlay.act.items, inner, max(2, room - len(body) - 3), body)
    if overlay.kind == "confirm":
        body.append((scene.row().put("", inner, box).parts, []))
        body.append(_buttons(scene, overlay, inner))
    elif overlay.options:
        first = max(0, min(overlay.cursor - room + 3, len(overlay.options) - room))
        for at, (_, label) in enumerate(overlay.options[first : first + room]):
            style = scene.s("button_on") if first + at == overlay.cursor else box
            line = scene.row().put(f" {scene.p(label)}", inner, style).parts
            body.append((line, [Hit(0, 0, inner, f"pick:{first + at}")]))
    return body[: room + 2] if overlay.kind != "confirm" else body


def _items(scene: Scene, items: tuple[Item, ...], inner: int, room: int, body: Body) -> None:
    """Each process: pid, person, memory, command, and below it why it belongs there."""
    box, dim = scene.s("box"), _on_box(scene, "dim")
    per = 2 if all(item.why for item in items) and 2 * len(items) <= room else 1
    shown = items if per * len(items) <= room else items[: max(1, room - 1)]
    for item in shown:
        row = scene.row().put(f" {item.pid}", 9, scene.s("box"))
        row.put(scene.p(item.user), 9, box).put(size(item.memory_bytes), 7, box, ">").put(
            "", 2, box
        )
        body.append((row.put(scene.p(item.command), inner - row.width, box).parts, []))
        if per == 2:
            body.append((scene.row().put(f"          {scene.p(item.why)}", inner, dim).parts, []))
    if len(shown) < len(items):
        more = scene.t("confirm.more", n=len(items) - len(shown))
        body.append((scene.row().put(f" {more}", inner, box).parts, []))


def _buttons(scene: Scene, overlay: Overlay, inner: int) -> tuple[Line, list[Hit]]:
    box = scene.s("box")
    row = scene.row().put("", 1, box)
    hits: list[Hit] = []
    for at, (_, label) in enumerate(overlay.options):
        style = scene.s("button_on") if at == overlay.cursor else scene.s("button")
        text = f"[{label}]" if scene.look.theme == "mono" else f" {label} "
        hits.append(Hit(0, row.width, row.width + cell_len(text), f"pick:{at}"))
        row.add(text, style).put("", 2, box)
    return row.pad(inner, box).parts, hits


def _on_box(scene: Scene, role: str) -> Style:
    """The style of a role, on the ground of the box."""
    return scene.s(role) + Style(bgcolor=scene.s("box").bgcolor)


def _edge(scene: Scene, title: str, inner: int, top: bool) -> Line:
    ascii_only = scene.look.ascii_only
    left, right, flat = (
        ("+", "+", "-") if ascii_only else ("╭", "╮", "─") if top else ("╰", "╯", "─")
    )
    text = f"{flat} {scene.p(title)} " if title else ""
    text = fit(text, min(cell_len(text), inner))
    return [
        Segment(left, scene.s("box")),
        Segment(text, _on_box(scene, "strong")),
        Segment(flat * (inner - cell_len(text)), scene.s("box")),
        Segment(right, scene.s("box")),
    ]


def _boxed(scene: Scene, line: Line, inner: int) -> Line:
    side = Segment("|" if scene.look.ascii_only else "│", scene.s("box"))
    return [side, *line, side]


def _over(under: Line, line: Line, left: int, scene: Scene) -> Line:
    """`line` laid over `under` from cell `left` on; a wide character cut in half becomes blank."""
    width = sum(part.cell_length for part in line)
    total = sum(part.cell_length for part in under)
    before = Row().extend(_part(under, 0, left)).pad(left, scene.s("text")).parts
    return [*before, *line, *_part(under, left + width, total)]


def _part(line: Line, start: int, end: int) -> Line:
    return list(Strip(line).crop(start, end)) if end > start else []
