"""The lists: holders grouped by person, and jobs with their waits.

A list keeps its height, its cursor stays on its row, and its heading says what part of it shows.
"""

from __future__ import annotations

from rich.cells import cell_len
from rich.style import Style

from roost.core.colour import initials
from roost.tui.cells import Line, Row, wrapped
from roost.tui.picture import IDLE_FROM_S, Job, Process
from roost.tui.scene import Block, Hit, Scene
from roost.tui.view import Group, ListedRow, listed
from roost.tui.when import UNKNOWN, moment, size, span
from roost.tui.words import right_text, sort_mark

Columns = dict[str, int]


def draw_list(scene: Scene, pane: str, width: int, rows: int, tabs: bool) -> Block:
    """A heading and `rows` lines of "holders" or "jobs"; with `tabs` the heading offers both."""
    assert scene.picture is not None
    shown = listed(scene.view, scene.picture, pane)
    focused = scene.view.pane == pane
    columns = _holder_columns(width) if pane == "holders" else _job_columns(width)
    keys = [row.key for row in shown]
    cursor = scene.view.cursor(pane)
    at = keys.index(cursor) if cursor in keys else 0
    body = rows - 1
    text = _in_full(scene, shown[at], columns) if focused and shown and body >= 5 else None
    told = wrapped(text, width - 2)[:2] if text else []
    body -= len(told)
    first = max(0, min(scene.view.offset(pane), len(shown) - body))
    if focused and body > 0:
        first = max(at - body + 1, min(first, at), 0)
    block = Block(offset=first)
    _tabs(scene, block, pane, width, tabs, (first, min(len(shown), first + body), len(shown)))
    if rows > 0:
        block.below(_labels(scene, pane, columns, width))
    for row in shown[first : first + max(0, body)]:
        line = _line(scene, row, columns, width)
        if focused and row.key == keys[at]:
            line = scene.marked(line, True)
        block.hits.append(Hit(len(block.lines), 0, width, f"row:{pane}:{row.key}"))
        block.lines.append(line)
    if not shown and body > 0:
        block.lines.append(scene.row().put(f" {_empty(scene, pane)}", width, scene.s("dim")).parts)
    while len(block.lines) < 1 + rows - len(told):
        block.lines.append(scene.row().pad(width, scene.s("text")).parts)
    for part in told:
        block.lines.append(scene.row().put(f" {part}", width, scene.s("label")).parts)
    return block


def _in_full(scene: Scene, row: ListedRow, columns: Columns) -> str | None:
    """What the chosen row's last column says, where it is cut there: it gets a line of its own."""
    if row.job is not None:
        cut = cell_len(job_line(scene, row.job)) > columns["text"]
        return (scene.p(row.job.wait) or job_line(scene, row.job)) if cut else None
    if row.process is not None:
        text = _what(scene, row.process)
        return text if cell_len(text) > columns["command"] else None
    return None


def _empty(scene: Scene, pane: str) -> str:
    assert scene.picture is not None
    view = scene.view
    if view.text or view.user:
        return scene.t("empty.filtered")
    return scene.t(f"empty.{pane}")


def _tabs(
    scene: Scene, block: Block, pane: str, width: int, tabs: bool, part: tuple[int, int, int]
) -> None:
    """The heading: names of the lists, the filters in force, what part of the list shows."""
    style, on = scene.s("heading"), scene.s("title_strong")
    row = scene.row()
    for name in ("holders", "jobs") if tabs else (pane,):
        assert scene.picture is not None
        count = len(scene.picture.processes if name == "holders" else scene.picture.jobs)
        text = f" {scene.t(f'pane.{name}')} {count} "
        block.hits.append(Hit(0, row.width, row.width + cell_len(text), f"pane:{name}"))
        row.add(text, on if name == pane else style)
    filters = [f"/{scene.p(scene.view.text)}"] if scene.view.text else []
    filters += [scene.t("filter.user", user=scene.p(scene.view.user))] if scene.view.user else []
    if filters:
        row.add("  " + "  ".join(filters), scene.s("title_strong"))
    first, last, total = part
    more = scene.t("more", first=first + 1, last=last, total=total) if last - first < total else ""
    row.put("", width - row.width - cell_len(more) - 1, style)
    block.lines.append(row.put(more, cell_len(more), style).pad(width, style).parts)


def _labels(scene: Scene, pane: str, columns: Columns, width: int) -> Block:
    style = scene.s("dim") if scene.look.theme != "mono" else scene.s("heading")
    key, back = scene.view.sort(pane)
    row = scene.row().put("", 1, style)
    block = Block()
    for name, cells in columns.items():
        if not cells:
            continue
        text = "" if name == "chip" else scene.t(f"col.{name}")
        if _SHOWS.get(name, name) == key and not (key in ("gpu", "state") and not back):
            text += sort_mark(scene, key, back)
        block.hits.append(
            Hit(0, row.width, row.width + cells, f"sort:{pane}:{_SORT.get(name, name)}")
        )
        row.put(text, cells, style, ">" if name in _RIGHT else "<").put("", 1, style)
    block.lines.append(row.pad(width, style).parts)
    return block


_SHOWS = {"asked": "gpus"}
_RIGHT = {"memory", "idle", "since", "pid", "job"}
_SORT = {"chip": "user", "right": "user", "group": "user", "text": "since", "asked": "gpus"}


def _holder_columns(width: int) -> Columns:
    columns = {"chip": 2, "user": 8, "gpu": 6, "pid": 7, "memory": 6, "idle": 5, "right": 10}
    if width < 60:
        columns["idle"] = 0
        columns["right"] = 8
    if width >= 90:
        columns = {**columns, "user": 10, "right": 16}
        right = columns.pop("right")
        columns |= {"since": 5, "right": right}
    used = sum(columns.values()) + sum(1 for w in columns.values() if w) + 2
    return {**columns, "command": max(4, width - used)}


def _job_columns(width: int) -> Columns:
    columns = {"chip": 2, "user": 8, "job": 5, "class": 10, "state": 10, "asked": 5}
    if width < 70:
        columns["class"] = 0
    if width < 50:
        columns["user"] = 0
    if width >= 100:
        columns["user"] = 12
        columns["asked"] = 8
    used = sum(columns.values()) + sum(1 for w in columns.values() if w) + 2
    return {**columns, "text": max(4, width - used)}


def _line(scene: Scene, row: ListedRow, columns: Columns, width: int) -> Line:
    line = scene.row().put("", 1, scene.s("text"))
    if row.group is not None:
        _group(scene, line, row.group, columns)
    elif row.process is not None:
        _process(scene, line, row.process, columns, row.named)
    elif row.job is not None:
        _job(scene, line, row.job, columns)
    return line.pad(width, scene.s("text")).parts


def _group(scene: Scene, line: Row, group: Group, columns: Columns) -> None:
    """A person with several processes: what they hold together, in the same columns."""
    text, dim, strong = scene.s("text"), scene.s("dim"), scene.s("strong")
    count = len(group.gpus)
    some = scene.t("count.processes", n=len(group.processes))
    groups = sorted({p.group for p in group.processes if p.group})
    values = {
        "user": (scene.p(group.user) or scene.t("nobody"), strong),
        "gpu": (scene.t("count.gpu") if count == 1 else scene.t("count.gpus", n=count), text),
        "memory": (size(group.memory_bytes), text),
        "command": (_joined(scene, some, *(scene.p(g) for g in groups)), dim),
    }
    _put_chip(scene, line, group.user)
    _put_columns(line, columns, values, text)


def _put_chip(scene: Scene, line: Row, user: str) -> None:
    if user:
        line.put(scene.p(initials(user)), 2, scene.look.chip(user))
    else:
        line.put("??", 2, scene.look.hatched())
    line.put("", 1, scene.s("text"))


def _put_columns(
    line: Row, columns: Columns, values: dict[str, tuple[str, Style]], blank: Style
) -> None:
    """Everything right of the chip, each value in its column; blank where there is none."""
    for name, cells in columns.items():
        if name == "chip" or not cells:
            continue
        value, style = values.get(name, ("", blank))
        line.put(value, cells, style, ">" if name in _RIGHT else "<").put("", 1, blank)


def _joined(scene: Scene, *parts: str) -> str:
    return f" {scene.look.glyphs.dot} ".join(part for part in parts if part)


def _process(scene: Scene, line: Row, process: Process, columns: Columns, named: bool) -> None:
    """A process; `named` where no heading above says whose it is."""
    text, dim = scene.s("text"), scene.s("dim")
    if named:
        _put_chip(scene, line, process.user)
    else:
        line.put("", 3, text)
    idle, since = process.idle_s, process.since_at
    long_idle = idle is not None and idle >= IDLE_FROM_S
    pid = scene.unknown if process.pid is None else str(process.pid)
    values = {
        "user": ((scene.p(process.user) or scene.t("nobody")) if named else "", text),
        "gpu": (ranges(process.gpus), text),
        "pid": (pid, dim),
        "memory": (size(process.memory_bytes).replace(UNKNOWN, scene.unknown), text),
        "idle": (
            scene.unknown if idle is None or idle < 1 else span(idle),
            scene.s("strong") if long_idle else dim,
        ),
        "since": (scene.unknown if since is None else span(max(0.0, scene.now - since)), dim),
        "right": (right_text(scene, process), text),
        "command": (_what(scene, process), text if process.user else dim),
    }
    _put_columns(line, columns, values, dim)


def _what(scene: Scene, process: Process) -> str:
    """The command; for what belongs to nobody the reason, which is what there is to know."""
    if process.reason and not process.user:
        return scene.p(process.reason)
    if process.pid is None and process.job is not None:
        return scene.t("no_process")
    return scene.p(process.command) or scene.p(process.reason) or scene.unknown


def _job(scene: Scene, line: Row, job: Job, columns: Columns) -> None:
    text, dim, strong = scene.s("text"), scene.s("dim"), scene.s("strong")
    state, klass = f"state.{job.state}", f"class.{job.priority_class}"
    values = {
        "user": (scene.p(job.user), text),
        "job": (str(job.id), strong),
        "class": (
            scene.t(klass) if scene.has(klass) else scene.p(job.priority_class),
            strong if job.priority_class == "urgent" else dim,
        ),
        "state": (scene.t(state) if scene.has(state) else scene.p(job.state), text),
        "asked": (_gpus(scene, job), text),
        "text": (job_line(scene, job), text if job.holds else dim),
    }
    _put_chip(scene, line, job.user)
    _put_columns(line, columns, values, text)


def _gpus(scene: Scene, job: Job) -> str:
    """Which GPUs it holds, by index ("0-3"); how many or how much it asks for while it waits."""
    assert scene.picture is not None
    at = tuple(gpu.index for gpu in scene.picture.gpus if gpu.uuid in job.gpus)
    if at and job.holds:
        return ranges(at)
    if job.gpu_memory_bytes is not None:
        return size(job.gpu_memory_bytes)
    return scene.t("asks", n=job.gpus_asked)


def job_line(scene: Scene, job: Job) -> str:
    """What there is to say of a job: its name and end, or what it waits for."""
    name = scene.p(job.name) or scene.p(job.command)
    if not job.holds:
        return f"{name}: {scene.p(job.wait)}" if name and job.wait else scene.p(job.wait) or name
    if job.started_at is None:
        return name
    ran = span(max(0.0, scene.now - job.started_at))
    if job.ends_at is None:
        return scene.t("job.no_end", name=name, ran=ran)
    end = moment(job.ends_at, scene.now, scene.zone)
    return scene.t("job.ends", name=name, ran=ran, end=end)


def ranges(numbers: tuple[int, ...]) -> str:
    """ "0-3,6": indices in few cells; "" for none."""
    parts: list[str] = []
    rest = sorted(set(numbers))
    while rest:
        end = 1
        while end < len(rest) and rest[end] == rest[end - 1] + 1:
            end += 1
        parts.append(str(rest[0]) if end == 1 else f"{rest[0]}-{rest[end - 1]}")
        rest = rest[end:]
    return ",".join(parts)
