"""What the person has chosen to see: pane, cursor, order, filters, the dialog that is open.

Frozen state and pure functions over it and a Picture. Must not know how anything is drawn.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from roost.tui.overlay import Overlay
from roost.tui.picture import Gpu, Job, Picture, Process

PANES = ("gpus", "holders", "jobs", "time")
HORIZONS_S = (3600.0, 7200.0, 14400.0, 28800.0, 43200.0, 86400.0, 172800.0, 604800.0)
"""Spans of the time strip, one hour to a week."""

SORTS: dict[str, tuple[str, ...]] = {
    "gpus": ("gpu", "user", "memory", "utilisation", "idle", "temperature"),
    "holders": ("gpu", "user", "memory", "idle", "since", "pid", "command"),
    "jobs": ("state", "job", "user", "class", "gpus", "since"),
}
_STATE_ORDER = ("PREEMPTING", "RUNNING", "STARTING", "COMPLETING", "SUSPENDED", "PENDING")
_CLASS_ORDER = ("urgent", "regular", "background")


@dataclass(frozen=True, slots=True)
class View:
    """`cursors` and `offsets` are by pane; a cursor is the key of a row, so it stays on its row."""

    pane: str = "gpus"
    lower: str = "holders"
    cursors: tuple[tuple[str, str], ...] = ()
    offsets: tuple[tuple[str, int], ...] = ()
    sorts: tuple[tuple[str, str, bool], ...] = (
        ("gpus", "gpu", False),
        ("holders", "gpu", False),
        ("jobs", "state", False),
    )
    grouped: bool = True
    text: str = ""
    user: str = ""
    typing: bool = False
    horizon_s: float | None = None
    message: str = ""
    message_alarm: bool = False
    overlay: Overlay | None = None

    def cursor(self, pane: str) -> str:
        return dict(self.cursors).get(pane, "")

    def with_cursor(self, pane: str, key: str) -> View:
        return replace(self, cursors=tuple({**dict(self.cursors), pane: key}.items()))

    def offset(self, pane: str) -> int:
        return dict(self.offsets).get(pane, 0)

    def with_offset(self, pane: str, offset: int) -> View:
        return replace(self, offsets=tuple({**dict(self.offsets), pane: offset}.items()))

    def sort(self, pane: str) -> tuple[str, bool]:
        """(key, reversed) of a pane; the time strip goes with the GPUs."""
        return next(
            ((key, back) for name, key, back in self.sorts if name == pane),
            ("gpu", False),
        )

    def with_sort(self, pane: str, key: str) -> View:
        """Order a pane by `key`; the same key again turns the order round."""
        now, back = self.sort(pane)
        new = (pane, key, not back if now == key else False)
        return replace(self, sorts=(*(s for s in self.sorts if s[0] != pane), new))


@dataclass(frozen=True, slots=True)
class Group:
    """A person's rows among the holders; `user` "" are those of nobody."""

    user: str
    processes: tuple[Process, ...]

    @property
    def memory_bytes(self) -> int:
        return sum(p.memory_bytes or 0 for p in self.processes)

    @property
    def gpus(self) -> tuple[int, ...]:
        return tuple(sorted({g for p in self.processes for g in p.gpus}))


@dataclass(frozen=True, slots=True)
class ListedRow:
    """A row of a list: its key for the cursor, and what it stands for.

    `named`: a process without its person's heading above it, so that its row says whose it is.
    """

    key: str
    named: bool = True
    group: Group | None = None
    process: Process | None = None
    job: Job | None = None
    gpu: Gpu | None = None


def listed(view: View, picture: Picture, pane: str) -> list[ListedRow]:
    """The rows of a pane in their order, filtered."""
    if pane in ("gpus", "time"):
        return [ListedRow(key=g.uuid, gpu=g) for g in gpus_shown(view, picture)]
    if pane == "jobs":
        return [ListedRow(key=f"j{j.id}", job=j) for j in jobs_shown(view, picture)]
    rows: list[ListedRow] = []
    for group in groups_shown(view, picture):
        headed = view.grouped and len(group.processes) > 1
        if headed:
            rows.append(ListedRow(key=f"u{group.user}", group=group))
        rows += [ListedRow(key=p.key, process=p, named=not headed) for p in group.processes]
    return rows


def gpus_shown(view: View, picture: Picture) -> list[Gpu]:
    """All GPUs: filters only dim them (see `matches_gpu`), since the machine is the picture."""
    key, back = view.sort("gpus")
    order: dict[str, Callable[[Gpu], tuple[object, ...]]] = {
        "gpu": lambda g: (),
        "user": lambda g: (not g.people, g.people),
        "memory": lambda g: (-(g.memory_used_bytes or 0),),
        "utilisation": lambda g: (-(g.utilisation_percent or 0),),
        "idle": lambda g: (-(g.idle_s or 0.0),),
        "temperature": lambda g: (-(g.temperature_c or 0),),
    }
    return sorted(picture.gpus, key=lambda g: (order[key](g), g.index), reverse=back)


def groups_shown(view: View, picture: Picture) -> list[Group]:
    """Holders by person (all in one group where not grouped), nobody's last."""
    key, back = view.sort("holders")
    order: dict[str, Callable[[Process], tuple[object, ...]]] = {
        "gpu": lambda p: (p.gpus,),
        "user": lambda p: (not p.user, p.user),
        "memory": lambda p: (-(p.memory_bytes or 0),),
        "idle": lambda p: (-(p.idle_s or 0.0),),
        "since": lambda p: (p.since_at or 0.0,),
        "pid": lambda p: (p.pid or 0,),
        "command": lambda p: (p.command,),
    }
    shown = sorted(
        (p for p in picture.processes if matches_process(view, picture, p)),
        key=lambda p: (order[key](p), p.gpus, p.pid or 0),
        reverse=back,
    )
    if not view.grouped:
        return [Group(user="", processes=tuple(shown))] if shown else []
    users = list(dict.fromkeys(p.user for p in shown))
    if key == "memory":
        total = {u: sum(p.memory_bytes or 0 for p in shown if p.user == u) for u in users}
        users.sort(key=lambda u: -total[u], reverse=back)
    users.sort(key=lambda u: not u)
    return [Group(user=u, processes=tuple(p for p in shown if p.user == u)) for u in users]


def jobs_shown(view: View, picture: Picture) -> list[Job]:
    key, back = view.sort("jobs")
    order: dict[str, Callable[[Job], tuple[object, ...]]] = {
        "state": lambda j: (_place(_STATE_ORDER, j.state), _place(_CLASS_ORDER, j.priority_class)),
        "job": lambda j: (),
        "user": lambda j: (j.user,),
        "class": lambda j: (_place(_CLASS_ORDER, j.priority_class),),
        "gpus": lambda j: (-j.gpus_asked,),
        "since": lambda j: (j.started_at or j.submitted_at or 0.0,),
    }
    return sorted(
        (j for j in picture.jobs if matches_job(view, j)),
        key=lambda j: (order[key](j), j.id),
        reverse=back,
    )


def matches_process(view: View, picture: Picture, process: Process) -> bool:
    job = next((j for j in picture.jobs if j.id == process.job), None)
    words = (process.user, process.group, process.command, process.container, process.kind)
    return (not view.user or process.user == view.user) and _has(
        view.text,
        *words,
        str(process.pid or ""),
        f"job {process.job}" if process.job else "",
        job.name if job else "",
    )


def matches_job(view: View, job: Job) -> bool:
    return (not view.user or job.user == view.user) and _has(
        view.text,
        job.user,
        job.group,
        job.name,
        job.command,
        job.priority_class,
        job.state,
        f"job {job.id}",
    )


def matches_gpu(view: View, picture: Picture, gpu: Gpu) -> bool:
    """Whether a GPU is bright under the filters: something on it matches, or it is free."""
    if not view.text and not view.user:
        return True
    return any(matches_process(view, picture, p) for p in gpu.processes) or any(
        matches_job(view, j) for j in gpu.jobs
    )


def users_of(picture: Picture) -> list[str]:
    """Everybody in the picture, by name."""
    people = {p.user for p in picture.processes} | {j.user for j in picture.jobs}
    return sorted(people - {""})


def _has(text: str, *words: str) -> bool:
    text = text.casefold()
    return not text or any(text in word.casefold() for word in words)


def _place(order: tuple[str, ...], value: str) -> int:
    return order.index(value) if value in order else len(order)


def moved(rows: list[ListedRow], cursor: str, step: int) -> str:
    """The cursor `step` rows further, kept within the rows; "" where there are none."""
    if not rows:
        return ""
    keys = [row.key for row in rows]
    if cursor not in keys:
        return keys[0 if step > 0 else -1]
    return keys[max(0, min(len(keys) - 1, keys.index(cursor) + step))]
