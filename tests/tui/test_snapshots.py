"""The whole screen as text, kept in snapshots/: a change of looks is seen and agreed to.

To take new ones: ROOST_SNAPSHOTS=write pytest tests/tui/test_snapshots.py, then read the diff.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from roost.tui.control import act
from roost.tui.look import Look
from roost.tui.scene import Lost, Scene
from roost.tui.view import View
from tests.tui.scenes import drawn, scene
from tests.tui.story import NOON, Story

FOLDER = Path(__file__).parent / "snapshots"
ASCII = Look("mono", ascii_only=True)


def _no_driver() -> Scene:
    story = Story(0)
    story.driver_state = "not_loaded"
    story.driver_remedy = "Load it: modprobe nvidia"
    return scene(story)


def _without_picture() -> Scene:
    return replace(scene(Story(8)), picture=None)


def _mixed() -> Scene:
    story = Story(2)
    first = scene(story)
    assert first.picture is not None
    gpus = (first.picture.gpus[0], replace(first.picture.gpus[1], name="NVIDIA GeForce RTX 4090"))
    return replace(first, picture=replace(first.picture, gpus=gpus))


def _confirm() -> Scene:
    before = scene(Story(8), View(pane="jobs", lower="jobs"))
    view, _ = act(before, "end")
    return replace(before, view=view)


def _help() -> Scene:
    before = scene(Story(8))
    view, _ = act(before, "help")
    return replace(before, view=view)


SCREENS: dict[str, tuple[Callable[[], Scene], int, int]] = {
    "8-gpus-80x24": (lambda: scene(Story(8)), 80, 24),
    "8-gpus-200x50": (lambda: scene(Story(8)), 200, 50),
    "8-gpus-120x30": (lambda: scene(Story(8)), 120, 30),
    "16-gpus-80x24": (lambda: scene(Story(16)), 80, 24),
    "16-gpus-200x50": (lambda: scene(Story(16)), 200, 50),
    "1-gpu-80x24": (lambda: scene(Story(1)), 80, 24),
    "0-gpus-80x24": (_no_driver, 80, 24),
    "2-models-80x24": (_mixed, 80, 24),
    "8-gpus-80x24-ascii": (lambda: scene(Story(8), look=ASCII), 80, 24),
    "16-gpus-80x24-ascii": (lambda: scene(Story(16), look=ASCII), 80, 24),
    "8-gpus-80x24-no-colour": (lambda: scene(Story(8), look=Look("mono")), 80, 24),
    "8-gpus-80x24-zh": (lambda: scene(Story(8), language="zh"), 80, 24),
    "8-gpus-200x50-zh": (lambda: scene(Story(8), language="zh"), 200, 50),
    "jobs-80x24": (lambda: scene(Story(8), View(pane="jobs", lower="jobs")), 80, 24),
    "jobs-80x24-zh": (
        lambda: scene(Story(8), View(pane="jobs", lower="jobs"), language="zh"),
        80,
        24,
    ),
    "filtered-80x24": (lambda: scene(Story(8), View(pane="holders", text="sft")), 80, 24),
    "away-80x24": (lambda: scene(Story(8), lost=Lost(NOON - 12, "no Roost daemon")), 80, 24),
    "loading-80x24": (_without_picture, 80, 24),
    "confirm-80x24": (_confirm, 80, 24),
    "help-80x24": (_help, 80, 24),
    "8-gpus-60x15": (lambda: scene(Story(8)), 60, 15),
    "8-gpus-40x8": (lambda: scene(Story(8)), 40, 8),
}


@pytest.mark.parametrize("name", SCREENS)
def test_the_screen_looks_as_agreed(name: str) -> None:
    make, width, height = SCREENS[name]
    shown = drawn(make(), width, height)
    path = FOLDER / f"{name}.txt"
    if os.environ.get("ROOST_SNAPSHOTS") == "write":
        path.write_text(shown, encoding="utf-8")
    assert shown == path.read_text(encoding="utf-8")


def test_there_is_no_snapshot_without_a_screen() -> None:
    assert {path.stem for path in FOLDER.glob("*.txt")} == set(SCREENS)


@pytest.mark.parametrize("name", [name for name in SCREENS if name.endswith("ascii")])
def test_ascii_screens_are_ascii(name: str) -> None:
    make, width, height = SCREENS[name]
    assert drawn(make(), width, height).isascii()
