"""Scenes of the story, drawn to text: shared by the tests of the views."""

from __future__ import annotations

from roost.tui.frame import Frame, draw
from roost.tui.history import History
from roost.tui.look import Look
from roost.tui.picture import Picture, picture_of
from roost.tui.scene import Lost, Scene
from roost.tui.view import View
from roost.tui.when import zone_of
from tests.tui.story import NOON, Story


def picture(story: Story) -> Picture:
    return picture_of(
        story.ping(), story.status(), {"holders": story.holders}, {"jobs": story.jobs}, story.now
    )


def scene(
    story: Story,
    view: View | None = None,
    look: Look | None = None,
    language: str = "en",
    lost: Lost | None = None,
    history_s: int = 360,
) -> Scene:
    """The story at noon, after `history_s` seconds of watching."""
    history = History()
    for before in range(history_s, -1, -1):
        story.now = NOON - before
        history.add(picture(story))
    now = picture(story)
    zone = zone_of(now.time_zone, now.time_sample)
    return Scene(now, view or View(), history, look or Look(), language, zone, NOON, lost)


def text_of(frame: Frame) -> str:
    return "\n".join("".join(part.text for part in strip) for strip in frame.strips) + "\n"


def drawn(a_scene: Scene, width: int = 80, height: int = 24) -> str:
    return text_of(draw(a_scene, width, height))
