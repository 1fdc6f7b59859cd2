"""The dialog over the picture, as data: help, a choice, what is about to be ended, details.

Must not know the picture below it nor how it is drawn.
"""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class Item:
    """One process that would be ended, as `free-plan` named it: by pid and start time."""

    pid: int
    start_ticks: int
    user: str
    command: str
    memory_bytes: int | None
    why: str


@dataclass(frozen=True, slots=True)
class Act:
    """What is done on "yes": cancel a job, or end exactly `items` on a GPU."""

    job: int | None = None
    gpu: int | None = None
    items: tuple[Item, ...] = ()


@dataclass(frozen=True, slots=True)
class Overlay:
    """`kind` is "help", "choose", "confirm" or "details".

    `lines` are paragraphs, literally; `options` are (value, label) of a choice, `cursor` the one
    marked. For "confirm", cursor 0 keeps and 1 ends: it opens on keeping.
    """

    kind: str
    title: str
    lines: tuple[str, ...] = ()
    options: tuple[tuple[str, str], ...] = ()
    cursor: int = 0
    purpose: str = ""
    act: Act | None = None
    alarm: str = ""

    def moved(self, step: int) -> Overlay:
        if not self.options:
            return self
        return replace(self, cursor=max(0, min(len(self.options) - 1, self.cursor + step)))
