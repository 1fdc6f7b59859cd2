"""What keys and the mouse do, in the running application over the story."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import pytest
from textual.pilot import Pilot

from roost.tui.app import TopApp
from roost.tui.look import Look
from tests.tui.story import GIB, NOON, Story, StorySource, holder


class Screen:
    """The application as a person meets it: keys in, text out."""

    def __init__(self, app: TopApp, pilot: Pilot[int], source: StorySource) -> None:
        self.app, self.pilot, self.source = app, pilot, source

    def text(self) -> str:
        frame = self.app.canvas.frame if self.app.canvas else None
        assert frame is not None
        return "\n".join("".join(p.text for p in strip) for strip in frame.strips)

    def line(self, part: str) -> int:
        return next(n for n, line in enumerate(self.text().split("\n")) if part in line)

    async def keys(self, *keys: str) -> None:
        await self.pilot.press(*keys)

    async def until(self, holds: Callable[[], bool]) -> None:
        end = time.monotonic() + 10
        while not holds():
            assert time.monotonic() < end, self.text()
            await self.pilot.pause(0.02)

    async def shows(self, *parts: str) -> None:
        await self.until(lambda: all(part in _trimmed(self.text()) for part in parts))


def _trimmed(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.split("\n"))


@asynccontextmanager
async def screen(
    story: Story | None = None, width: int = 80, height: int = 24, look: Look | None = None
) -> AsyncIterator[Screen]:
    source = StorySource(story or Story(8))
    app = TopApp(source, look or Look(), "en", period_s=0.05)
    async with app.run_test(size=(width, height)) as pilot:
        shown = Screen(app, pilot, source)
        await shown.until(lambda: app.fresh is not None)
        app.redraw()
        yield shown


def run(behaviour: Callable[[], Awaitable[None]]) -> None:
    asyncio.run(behaviour())  # type: ignore[arg-type]


def test_the_first_screen_answers_whether_a_gpu_is_free_and_whose_the_others_are() -> None:
    async def behaviour() -> None:
        async with screen() as s:
            text = s.text()
            assert "1 free" in text
            assert "alice    job 41    18:50" in text
            assert any("7" in line and "free" in line for line in text.split("\n")[2:10])

    run(behaviour)


def test_sorting_by_memory_puts_the_largest_first_and_again_the_smallest() -> None:
    async def behaviour() -> None:
        async with screen() as s:
            await s.keys("M")
            assert s.text().split("\n")[2].startswith("  3 BO")
            await s.keys("M")
            assert s.text().split("\n")[2].startswith("  7    free")

    run(behaviour)


def test_the_sort_dialog_and_a_click_on_a_heading_order_the_rows() -> None:
    async def behaviour() -> None:
        async with screen() as s:
            await s.keys("f6", "down", "down", "enter")
            assert s.app.view.sort("gpus") == ("memory", False)
            heading = s.text().split("\n")[1]
            await s.pilot.click(offset=(heading.index("UTIL"), 1))
            assert s.app.view.sort("gpus") == ("utilisation", False)

    run(behaviour)


def test_the_cursor_stays_on_its_row_when_the_order_changes() -> None:
    async def behaviour() -> None:
        async with screen() as s:
            await s.keys("down", "down")
            chosen = s.app.view.cursor("gpus")
            await s.keys("M", "I")
            assert s.app.view.cursor("gpus") == chosen

    run(behaviour)


def test_a_filter_shows_what_contains_the_text_and_escape_shows_all() -> None:
    async def behaviour() -> None:
        async with screen() as s:
            await s.keys("slash", *"sft", "enter", "tab")
            await s.shows("/sft", "torchrun")
            assert "ipykernel" not in s.text()
            await s.keys("escape")
            await s.shows("ipykernel")

    run(behaviour)


def test_a_filter_without_matches_says_how_to_get_out() -> None:
    async def behaviour() -> None:
        async with screen() as s:
            await s.keys("slash", *"zzz", "enter")
            await s.shows("Nothing matches the filter; Esc clears it.")

    run(behaviour)


def test_one_persons_rows_are_shown_after_u() -> None:
    async def behaviour() -> None:
        async with screen() as s:
            await s.keys("u")
            await s.shows("Show one person", "everybody", "li.wei")
            await s.keys("down", "down", "enter")
            assert s.app.view.user == "bob"
            await s.keys("tab")
            await s.shows("user bob", "demo.py")
            assert "21344" not in s.text()

    run(behaviour)


def test_tab_goes_round_the_panes_and_jobs_say_what_they_wait_for() -> None:
    async def behaviour() -> None:
        async with screen() as s:
            await s.keys("tab", "tab")
            assert s.app.view.pane == "jobs"
            await s.shows("Waits for 4 GPUs")
            await s.keys("end", "up")
            await s.shows("1 is free, alice's job 41 ends about 18:50, then yours\n starts.")
            await s.keys("shift+tab")
            assert s.app.view.pane == "holders"

    run(behaviour)


def test_ending_a_job_shows_exactly_what_ends_and_asks() -> None:
    async def behaviour() -> None:
        async with screen() as s:
            await s.keys("k")
            await s.shows("End job 41?", "resnet-50 of alice", "21344", "Keep (Esc)")
            await s.keys("enter")
            await s.pilot.pause(0.1)
            assert s.source.cancelled == []
            assert s.app.view.overlay is None
            await s.keys("k", "y")
            await s.until(lambda: s.source.cancelled == [41])
            await s.shows("Job 41 is cancelled.")

    run(behaviour)


def test_another_persons_job_is_refused_with_the_reason() -> None:
    async def behaviour() -> None:
        async with screen() as s:
            await s.keys("tab", "tab", "down", "k")
            await s.shows("Job 44 is bob's: only bob or an operator can end it.")
            await s.keys("y")
            await s.pilot.pause(0.1)
            assert s.app.view.overlay is None
            assert s.source.cancelled == []
            assert s.source.freed == []

    run(behaviour)


def test_another_persons_process_is_refused_with_the_reason() -> None:
    async def behaviour() -> None:
        async with screen() as s:
            await s.keys("tab", "down", "k")
            await s.shows("Process 30110 is li.wei's: only li.wei or an operator can end it.")
            assert s.source.plans == []

    run(behaviour)


def test_an_operator_is_told_whose_it_is_before_it_ends() -> None:
    async def behaviour() -> None:
        story = Story(8)
        story.me, story.operator = "root", True
        async with screen(story) as s:
            await s.keys("tab", "tab", "down", "k")
            await s.shows("This is bob's, not yours: you act as an operator")
            await s.keys("y")
            await s.until(lambda: s.source.cancelled == [44])

    run(behaviour)


def test_ending_a_process_ends_that_one_by_the_identity_in_the_daemons_plan() -> None:
    async def behaviour() -> None:
        story = Story(8)
        story.holders += [holder(2, 777, "alice", 1, "python a.py", kind="session"),
                          holder(2, 778, "alice", 1, "python b.py", kind="session")]  # fmt: skip
        async with screen(story) as s:
            await s.keys("tab", "slash", *"b.py", "enter", "home", "k")
            await s.shows("End process 778?", "opened /dev/nvidia2", "python b.py")
            assert "python a.py" not in s.text()
            await s.keys("y")
            await s.until(lambda: bool(s.source.freed))
            assert s.source.freed == [(2, [{"pid": 778, "start_ticks": 7780}])]
            await s.shows("GPU 2: 1 of 1 ended, memory 50.0G → 0.0G.")

    run(behaviour)


def test_what_the_daemon_refuses_is_said_in_its_words() -> None:
    async def behaviour() -> None:
        async with screen() as s:
            s.source.refuse = "job 41 has ended already"
            await s.keys("k", "y")
            await s.shows("job 41 has ended already")

    run(behaviour)


def test_a_process_that_is_gone_by_then_is_not_asked_about() -> None:
    async def behaviour() -> None:
        story = Story(8)
        story.holders += [holder(2, 777, "alice", 1, "python a.py", kind="session")]
        async with screen(story) as s:
            await s.keys("tab", "slash", *"a.py", "enter", "home")
            await s.shows("python a.py")
            s.source.free_plan = lambda gpu, user: {"items": []}  # type: ignore[method-assign]
            await s.keys("k")
            await s.shows("It is gone already")

    run(behaviour)


def test_the_daemon_lost_and_back() -> None:
    async def behaviour() -> None:
        async with screen() as s:
            s.source.away = True
            await s.shows("No readings since 14:02:31", "alice    job 41")
            await s.keys("k")
            await s.shows("The daemon is away: nothing can be ended now.")
            s.source.away = False
            s.source.story.now = NOON + 60
            await s.until(lambda: "14:03:3" in s.text() and "No readings" not in s.text())

    run(behaviour)


def test_no_daemon_from_the_start_is_said_and_mended() -> None:
    async def behaviour() -> None:
        source = StorySource(Story(8))
        source.away = True
        app = TopApp(source, Look(), "en", period_s=0.05)
        async with app.run_test(size=(80, 24)) as pilot:
            s = Screen(app, pilot, source)
            await s.until(lambda: app.lost is not None)
            await s.shows("No answer from the daemon since", "roost serve")
            source.away = False
            await s.shows("alice    job 41")

    run(behaviour)


def test_help_lists_the_keys_and_any_of_them_closes_it() -> None:
    async def behaviour() -> None:
        async with screen() as s:
            await s.keys("question_mark")
            await s.shows("Green is free.", "end your own job or process")
            await s.keys("escape")
            assert "Green is free." not in s.text()

    run(behaviour)


def test_enter_shows_all_about_a_row() -> None:
    async def behaviour() -> None:
        async with screen() as s:
            await s.keys("tab", "enter")
            await s.shows("Process 21344", "Command: python train.py --model resnet50 --batch 512")

    run(behaviour)


def test_the_mouse_chooses_rows_tabs_and_keys() -> None:
    async def behaviour() -> None:
        async with screen() as s:
            line = s.text().split("\n")[10]
            await s.pilot.click(offset=(line.index("Jobs"), 10))
            assert s.app.view.pane == "jobs"
            await s.pilot.click(offset=(20, s.line("llama-sft  ends")))
            assert s.app.view.cursor("jobs") == "j44"
            foot = s.text().split("\n")[23]
            await s.pilot.click(offset=(foot.index("Help"), 23))
            await s.shows("Green is free.")
            await s.pilot.click(offset=(0, 0))
            assert s.app.view.overlay is None

    run(behaviour)


def test_the_strip_zooms() -> None:
    async def behaviour() -> None:
        async with screen() as s:
            assert "18:00" in s.text()
            await s.keys("minus", "minus")
            assert "18:00" not in s.text()
            await s.keys("plus", "plus", "plus", "plus")
            assert "12-03" in s.text()

    run(behaviour)


def test_a_resize_draws_anew() -> None:
    async def behaviour() -> None:
        async with screen() as s:
            await s.pilot.resize_terminal(200, 50)
            await s.until(lambda: len(s.text().split("\n")) == 50)
            await s.shows("Holders 7", "Jobs 5", "since 3h12")

    run(behaviour)


@pytest.mark.parametrize("key", ["q", "f10", "ctrl+c"])
def test_it_leaves(key: str) -> None:
    async def behaviour() -> None:
        async with screen() as s:
            await s.keys(key)
            await s.until(lambda: s.app.return_value == 0)

    run(behaviour)


def test_sparklines_grow_while_it_runs() -> None:
    async def behaviour() -> None:
        async with screen() as s:
            for second in range(1, 60, 4):
                s.source.story.now = NOON + second
                await s.until(lambda: s.app.history.last_at == s.source.story.now)
            s.app.redraw()
            marks = set("▁▂▃▄▅▆▇█")
            spark = s.text().split("\n")[2][-15:-5]
            assert sum(character in marks for character in spark) >= 2

    run(behaviour)


def test_dark_and_light() -> None:
    async def behaviour() -> None:
        async with screen() as s:
            await s.keys("t")
            assert s.app.look.theme == "light"
            await s.keys("t")
            assert s.app.look.theme == "dark"

    run(behaviour)


def test_a_gpus_own_processes_are_ended_from_its_row() -> None:
    async def behaviour() -> None:
        story = Story(8)
        story.jobs, story.holders = [], [
            holder(0, 10, "alice", 1, "python a.py", kind="session"),
            holder(0, 11, "bob", 1, "python b.py", kind="session"),
        ]  # fmt: skip
        async with screen(story) as s:
            await s.keys("k")
            await s.shows("End your processes on GPU 0?", "python a.py")
            assert s.source.plans == [(0, "alice")]
            await s.keys("y")
            await s.until(lambda: s.source.freed == [(0, [{"pid": 10, "start_ticks": 100}])])

    run(behaviour)


def test_memory_is_told_in_gib() -> None:
    async def behaviour() -> None:
        story = Story(1)
        story.holders[0]["memory_bytes"] = GIB * 5 // 2
        async with screen(story) as s:
            await s.shows("2.5G")

    run(behaviour)
