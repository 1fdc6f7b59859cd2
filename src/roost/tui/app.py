"""The Textual application: shows frames, hands on keys and clicks, carries out what was agreed.

Holds no knowledge of its own: `control` decides, `frame` draws, `feed` brings the pictures. All
that may block runs in threads, so the screen answers whatever the daemon does.
"""

from __future__ import annotations

import termios
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from typing import ClassVar

from textual import events
from textual.app import App, ComposeResult
from textual.binding import BindingType
from textual.geometry import Region
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from roost.tui.control import NORMAL_KEYS, OVERLAY_KEYS, act
from roost.tui.ending import ended, planned
from roost.tui.feed import Away, Feed, Fresh, News
from roost.tui.frame import Frame, draw
from roost.tui.history import History
from roost.tui.look import Look
from roost.tui.requests import AskFree, Do, Quit, Request, Theme
from roost.tui.scene import Lost, Scene
from roost.tui.source import Answer, Source, SourceError
from roost.tui.view import View
from roost.tui.when import zone_of

MESSAGE_S = 8.0
COALESCE_S = 0.1


class Canvas(Widget, can_focus=True):
    """The whole screen; only lines that changed are sent to the terminal."""

    ALLOW_SELECT = False

    def __init__(self) -> None:
        super().__init__()
        self.frame: Frame | None = None

    def show(self, frame: Frame) -> None:
        old, self.frame = self.frame, frame
        width = self.size.width
        if old is None or len(old.strips) != len(frame.strips):
            self.refresh()
            return
        changed = [
            Region(0, y, width, 1)
            for y, (a, b) in enumerate(zip(old.strips, frame.strips, strict=True))
            if a != b
        ]
        if changed:
            self.refresh(*changed)

    def render_line(self, y: int) -> Strip:
        if self.frame is None or y >= len(self.frame.strips):
            return Strip.blank(self.size.width)
        return self.frame.strips[y]


class TopApp(App[int]):
    """`roost top` over a source. `clock` is our own, in seconds since the epoch."""

    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[BindingType]] = []
    CSS = """
    Screen { background: #121212; overflow: hidden; }
    Screen.mono { background: ansi_default; }
    Canvas { width: 100%; height: 100%; }
    """

    class Got(Message):
        """News from a thread."""

        def __init__(self, news: News) -> None:
            super().__init__()
            self.news = news

    class Answered(Message):
        """The daemon answered a question (`asked`), or refused it with `error`."""

        def __init__(self, asked: AskFree | Do, answer: Answer, error: str = "") -> None:
            super().__init__()
            self.asked = asked
            self.answer = answer
            self.error = error

    def __init__(
        self,
        source: Source,
        look: Look,
        language: str,
        clock: Callable[[], float] = time.time,
        period_s: float = 1.0,
    ) -> None:
        super().__init__(ansi_color=look.theme == "mono")
        self.source = source
        self.look = look
        self.language = language
        self.clock = clock
        self.history = History()
        self.view = View()
        self.fresh: Fresh | None = None
        self.lost: Lost | None = None
        self.started_at = clock()
        self.feed = Feed(source, self._post, clock, period_s)
        self.canvas: Canvas | None = None
        self._drawing = False
        self._said_at = 0.0

    def compose(self) -> ComposeResult:
        self.canvas = Canvas()
        yield self.canvas

    def on_mount(self) -> None:
        self.screen.set_class(self.look.theme == "mono", "mono")
        assert self.canvas is not None
        self.canvas.focus()
        self.feed.start()
        self.set_interval(1.0, self._tick)
        self.redraw()

    def on_unmount(self) -> None:
        self.feed.stop()

    @property
    def scene(self) -> Scene:
        """All there is to draw now. The daemon's clock is carried on by ours between pictures."""
        picture = self.fresh.picture if self.fresh else None
        now = self.clock()
        if self.fresh is not None:
            now = self.fresh.picture.at + max(0.0, now - self.fresh.came_at)
        zone = zone_of(picture.time_zone, picture.time_sample) if picture else zone_of(None)
        return Scene(
            picture, self.view, self.history, self.look, self.language, zone, now, self.lost
        )

    def redraw(self) -> None:
        """Draw at once."""
        self._drawing = False
        size = self.size
        if self.canvas is None or size.width < 1 or size.height < 1:
            return
        frame = draw(self.scene, size.width, size.height)
        self.view = replace(self.view, offsets=(*self.view.offsets, *frame.offsets))
        self.view = replace(self.view, offsets=tuple(dict(self.view.offsets).items()))
        self.canvas.show(frame)

    def on_resize(self) -> None:
        self.redraw()

    def _soon(self) -> None:
        """Draw shortly, once for all that comes in until then."""
        if not self._drawing:
            self._drawing = True
            self.set_timer(COALESCE_S, self.redraw)

    def _tick(self) -> None:
        if not self.is_headless and _hung_up():
            self.exit(129)
            return
        if self.view.message and self.clock() - self._said_at > MESSAGE_S:
            self.view = replace(self.view, message="", message_alarm=False)
        self._soon()

    def _post(self, news: News) -> None:
        self.post_message(self.Got(news))

    def on_top_app_got(self, message: TopApp.Got) -> None:
        news = message.news
        if isinstance(news, Away):
            if self.lost is None:
                since = self.fresh.picture.at if self.fresh else news.at
                self.lost = Lost(since, news.text)
            else:
                self.lost = replace(self.lost, text=news.text)
        else:
            self.fresh = news
            stale = news.picture.stale_since_at
            self.lost = None if stale is None else Lost(stale, news.picture.driver_remedy)
            self.history.add(news.picture)
        self._soon()

    def on_key(self, event: events.Key) -> None:
        event.stop()
        event.prevent_default()
        if self.view.typing:
            self._type(event)
            return
        keys = OVERLAY_KEYS if self.view.overlay is not None else NORMAL_KEYS
        typed = event.character or ""
        action = keys.get(event.key) or keys.get(typed) or ""
        if typed.isalpha() and typed.isupper():
            action = keys.get(typed, "")
        if action:
            self.do(action)

    def _type(self, event: events.Key) -> None:
        """A key while the filter is being typed."""
        text = self.view.text
        if event.key in ("enter", "tab"):
            self.view = replace(self.view, typing=False)
        elif event.key == "escape":
            self.view = replace(self.view, typing=False, text="")
        elif event.key == "backspace":
            self.view = replace(self.view, text=text[:-1])
        elif event.key == "ctrl+c":
            self.exit(0)
        elif event.character and event.character.isprintable():
            self.view = replace(self.view, text=(text + event.character)[:80])
        self.redraw()

    def on_paste(self, event: events.Paste) -> None:
        if self.view.typing:
            text = "".join(c for c in event.text if c.isprintable())
            self.view = replace(self.view, text=(self.view.text + text)[:80])
            self.redraw()

    def on_click(self, event: events.Click) -> None:
        frame = self.canvas.frame if self.canvas else None
        action = frame.action_at(event.screen_x, event.screen_y) if frame else ""
        if action and action != "nothing":
            self.do(action)

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        self._wheel(event, 1)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        self._wheel(event, -1)

    def _wheel(self, event: events.MouseEvent, step: int) -> None:
        """Move the cursor of the pane under the mouse."""
        frame = self.canvas.frame if self.canvas else None
        if frame is None:
            return
        if self.view.overlay is not None:
            self.do(f"step:{step}")
            return
        parts = frame.action_at(event.screen_x, event.screen_y).split(":")
        if parts[0] == "row" and parts[1] != self.view.pane:
            self.do(f"pane:{parts[1]}")
        self.do(f"move:{step}")

    def do(self, action: str) -> None:
        """Carry out an action, draw what came of it, and take the request on."""
        scene = self.scene
        self.view, request = act(scene, action)
        if self.view.message:
            self._said_at = self.clock()
        if request is not None:
            self._take_on(request)
        self.redraw()

    def _take_on(self, request: Request) -> None:
        if isinstance(request, Quit):
            self.exit(0)
        elif isinstance(request, Theme):
            if self.look.theme != "mono":
                self.look = replace(
                    self.look, theme="light" if self.look.theme == "dark" else "dark"
                )
        else:
            text = self.scene.t("asking" if isinstance(request, AskFree) else "ending")
            self._say(text)
            threading.Thread(
                target=self._ask, args=(request,), name="roost-top-ask", daemon=True
            ).start()

    def _say(self, text: str, alarm: bool = False) -> None:
        self.view = replace(self.view, message=text, message_alarm=alarm)
        self._said_at = self.clock()

    def _ask(self, request: AskFree | Do) -> None:
        """In a thread: the daemon's answer, or what it said against it."""
        try:
            if isinstance(request, AskFree):
                answer = self.source.free_plan(request.gpu, request.user)
            elif request.act.job is not None:
                answer = self.source.cancel(request.act.job)
            else:
                assert request.act.gpu is not None
                items = [
                    {"pid": item.pid, "start_ticks": item.start_ticks} for item in request.act.items
                ]
                answer = self.source.free(request.act.gpu, items)
        except SourceError as error:
            self.post_message(self.Answered(request, {}, str(error)))
            return
        self.post_message(self.Answered(request, answer))

    def on_top_app_answered(self, message: TopApp.Answered) -> None:
        if message.error:
            self._say(message.error, alarm=True)
        elif isinstance(message.asked, AskFree):
            if self.view.overlay is None:
                self.view, _ = planned(self.scene, self.view, message.asked, message.answer)
                self._said_at = self.clock()
        else:
            self._say(ended(self.scene, message.asked.act, message.answer))
            self.feed.hurry()
        self.redraw()


def _hung_up() -> bool:
    """Whether the terminal has gone, where SIGHUP was ignored or went to somebody else (sudo).

    Reading a terminal that is gone ends at once with nothing, so a view would go on for nobody.
    """
    try:
        termios.tcgetattr(0)
    except (termios.error, OSError):
        return True
    return False
