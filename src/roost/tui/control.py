"""What a key or click does: from a view and a picture to the next view, and what to ask outside.

Pure. Whether somebody may end something is said here so that the view can refuse with a reason;
the daemon decides it again.
"""

from __future__ import annotations

from dataclasses import replace

from roost.tui.details import about
from roost.tui.draw_time import horizon_of
from roost.tui.ending import end_under_cursor
from roost.tui.overlay import Overlay
from roost.tui.picture import Picture
from roost.tui.requests import Do, Quit, Step, Theme, under_cursor
from roost.tui.scene import Scene
from roost.tui.view import HORIZONS_S, PANES, SORTS, View, listed, moved, users_of

NORMAL_KEYS = {
    "q": "quit", "f10": "quit", "ctrl+c": "quit", "ctrl+q": "quit",
    "question_mark": "help", "f1": "help", "h": "help",
    "tab": "pane", "shift+tab": "pane_back",
    "slash": "filter", "f3": "filter", "f4": "filter",
    "u": "user", "f5": "group", "f6": "sort", "s": "sort", "I": "invert",
    "M": "by:memory", "T": "by:since", "P": "by:busy",
    "k": "end", "f9": "end", "enter": "details", "escape": "clear", "t": "theme",
    "plus": "zoom_out", "equals_sign": "zoom_out", "minus": "zoom_in",
    "up": "move:-1", "down": "move:1", "pageup": "move:-10", "pagedown": "move:10",
    "home": "move:-9999", "end": "move:9999", "left": "zoom_in", "right": "zoom_out",
}  # fmt: skip
"""Textual's names of keys (letters as they are typed) to actions."""

OVERLAY_KEYS = {
    "escape": "close", "q": "close", "n": "close", "f10": "close",
    "up": "step:-1", "left": "step:-1", "shift+tab": "step:-1", "down": "step:1",
    "right": "step:1", "tab": "step:1", "pageup": "step:-10", "pagedown": "step:10",
    "enter": "accept", "y": "yes", "ctrl+c": "quit", "ctrl+q": "quit",
}  # fmt: skip


def act(scene: Scene, action: str) -> Step:
    """Carry out an action on the scene's view."""
    view = replace(scene.view, message="", message_alarm=False)
    name, _, argument = action.partition(":")
    if view.overlay is not None:
        return _in_overlay(scene, view, view.overlay, name, argument)
    if name == "do":
        return act(scene, argument)
    if name == "quit":
        return view, Quit()
    if name == "theme":
        return view, Theme()
    if name == "help":
        lines = tuple(scene.t("help.text").split("\n"))
        return replace(view, overlay=Overlay("help", scene.t("help.title"), lines)), None
    if name == "filter":
        return replace(view, typing=True), None
    if name == "clear":
        return replace(view, text="", user="", typing=False), None
    if scene.picture is None:
        return view, None
    return _on_picture(scene, view, scene.picture, name, argument)


def _on_picture(scene: Scene, view: View, picture: Picture, name: str, argument: str) -> Step:
    if name in ("pane", "pane_back"):
        return _pane(view, argument, 1 if name == "pane" else -1, bool(picture.gpus)), None
    if name == "move":
        rows = listed(view, picture, view.pane)
        cursor = view.cursor(view.pane) or (rows[0].key if rows else "")
        return view.with_cursor(view.pane, moved(rows, cursor, int(argument))), None
    if name == "row":
        pane, _, key = argument.partition(":")
        chosen = replace(_pane(view, pane, 1, True), overlay=None).with_cursor(pane, key)
        if view.pane == pane and view.cursor(pane) == key:
            return _details(scene, chosen, picture), None
        return chosen, None
    if name == "user":
        people = users_of(picture)
        options = (("", scene.t("choose.everybody")), *((user, user) for user in people))
        at = [value for value, _ in options].index(view.user) if view.user in people else 0
        overlay = Overlay("choose", scene.t("choose.user"), (), options, at, "user")
        return replace(view, overlay=overlay), None
    if name in ("sort", "by", "invert"):
        return _sort(scene, view, name, argument), None
    if name == "group":
        return replace(view, grouped=not view.grouped), None
    if name in ("zoom_in", "zoom_out"):
        now = HORIZONS_S.index(horizon_of(picture, view.horizon_s))
        at = max(0, min(len(HORIZONS_S) - 1, now + (1 if name == "zoom_out" else -1)))
        return replace(view, horizon_s=HORIZONS_S[at]), None
    if name == "details":
        return _details(scene, view, picture), None
    if name == "end":
        return end_under_cursor(scene, view, picture)
    return view, None


def _pane(view: View, to: str, step: int, has_gpus: bool) -> View:
    panes = PANES if has_gpus else ("holders", "jobs")
    if to not in panes:
        at = panes.index(view.pane) if view.pane in panes else -1
        to = panes[(at + step) % len(panes)]
    return replace(view, pane=to, lower=to if to in ("holders", "jobs") else view.lower)


def _sort(scene: Scene, view: View, name: str, argument: str) -> View:
    pane = view.pane if view.pane in SORTS else "gpus"
    if name == "invert":
        return view.with_sort(pane, view.sort(pane)[0])
    if name == "by":
        wanted = {"busy": ("utilisation", "idle", "state")}.get(argument, (argument,))
        key = next((key for key in wanted if key in SORTS[pane]), None)
        return view if key is None else view.with_sort(pane, key)
    if argument:
        clicked, _, key = argument.partition(":")
        return view.with_sort(clicked, key) if key in SORTS.get(clicked, ()) else view
    options = tuple((key, scene.t(f"sort.{key}")) for key in SORTS[pane])
    at = SORTS[pane].index(view.sort(pane)[0])
    overlay = Overlay("choose", scene.t("choose.sort"), (), options, at, f"sort:{pane}")
    return replace(view, overlay=overlay)


def _in_overlay(scene: Scene, view: View, overlay: Overlay, name: str, argument: str) -> Step:
    if name == "quit":
        return view, Quit()
    if name == "step":
        return replace(view, overlay=overlay.moved(int(argument))), None
    if name == "pick":
        overlay = replace(overlay, cursor=int(argument))
        name = "accept"
    if name == "yes" and overlay.kind == "confirm":
        overlay, name = replace(overlay, cursor=1), "accept"
    closed = replace(view, overlay=None)
    if name in ("close", "accept") and (name == "close" or overlay.kind in ("help", "details")):
        return closed, None
    if name != "accept":
        return view, None
    if overlay.kind == "confirm":
        if overlay.cursor == 1 and overlay.act is not None:
            return replace(closed, message=scene.t("ending")), Do(overlay.act)
        return closed, None
    value = overlay.options[overlay.cursor][0]
    if overlay.purpose == "user":
        return replace(closed, user=value), None
    pane = overlay.purpose.partition(":")[2]
    return (closed if closed.sort(pane)[0] == value else closed.with_sort(pane, value)), None


def _details(scene: Scene, view: View, picture: Picture) -> View:
    row = under_cursor(view, picture)
    overlay = about(scene, row) if row is not None else None
    return view if overlay is None else replace(view, overlay=overlay)
