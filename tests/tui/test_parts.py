"""The parts that screens are put together from: cells, bars, sparklines, plans, times, ranges."""

from __future__ import annotations

import string
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from roost.core.text.top import MESSAGES
from roost.tui.bars import memory_bar, sparkline
from roost.tui.cells import fit, plain, wrapped
from roost.tui.details import about
from roost.tui.draw_lists import ranges
from roost.tui.draw_time import lanes
from roost.tui.history import History, Spark, step_for
from roost.tui.look import Look
from roost.tui.picture import Picture, picture_of
from roost.tui.plan import plan
from roost.tui.start import light_terminal
from roost.tui.view import ListedRow
from roost.tui.when import epoch_of, moment, size, span, zone_of
from tests.tui.scenes import picture, scene
from tests.tui.story import GIB, NOON, UUIDS, Story, holder, iso, job

users = st.sampled_from(["alice", "bob", "王伟", "", "x", "li.wei"])


@given(st.text(max_size=30), st.integers(0, 40), st.sampled_from("<>^"))
def test_fitted_text_has_exactly_its_cells(text: str, width: int, align: str) -> None:
    assert cell_len(fit(plain(text), width, align)) == width


@given(st.text(max_size=80), st.integers(2, 40))
def test_wrapped_text_loses_nothing_and_keeps_its_width(text: str, width: int) -> None:
    text = plain(text)
    lines = wrapped(text, width)
    assert all(cell_len(line) <= width for line in lines)
    assert "".join(lines).replace(" ", "") == text.replace(" ", "")


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("a\x1b[31mb", "a\\x1b[31mb"),
        ("a\nb", "a\\x0ab"),
        ("x\u202etxt.exe", "x\\u202etxt.exe"),
        ("训练", "训练"),
        ("[bold]x", "[bold]x"),
        ("\udcff", "\\udcff"),
    ],
)
def test_what_could_deceive_a_terminal_is_escaped(raw: str, shown: str) -> None:
    assert plain(raw) == shown


@given(
    st.lists(st.tuples(users, st.integers(0, 200 * GIB)), max_size=8),
    st.integers(0, 60),
    st.sampled_from([None, 0, 80 * GIB]),
)
def test_a_bar_is_as_wide_as_asked(
    shares: list[tuple[str, int]], width: int, total: int | None
) -> None:
    named = [(user, "", memory) for user, memory in shares]
    for look in (Look(), Look("mono"), Look("mono", ascii_only=True)):
        assert sum(cell_len(part.text) for part in memory_bar(named, total, width, look)) == width


def test_everybody_on_a_gpu_has_a_cell_in_its_bar() -> None:
    shares = [("alice", "", 79 * GIB), ("bob", "", GIB // 100), ("", "", GIB // 100)]
    line = memory_bar(shares, 80 * GIB, 10, Look())
    colours = {part.style.color.name for part in line if part.style and part.style.color}
    assert len(colours) >= 3


def test_a_sparkline_tells_idle_from_unread() -> None:
    cells = [Spark(None), Spark(0), Spark(50), Spark(100)]
    assert "".join(p.text for p in sparkline(cells, Look())[0]) == " ▁▄█"
    assert "".join(p.text for p in sparkline(cells, Look("mono", True))[0]) == " 059"
    upper, lower = sparkline(cells, Look(), rows=2)
    assert "".join(p.text for p in upper) == "   █"
    assert "".join(p.text for p in lower) == " ▁██"


@pytest.mark.parametrize("gpus", [0, 1, 2, 4, 8, 16, 32, 64])
@pytest.mark.parametrize("height", [8, 12, 18, 24, 30, 40, 50, 80])
@pytest.mark.parametrize("width", [40, 80, 120, 200])
def test_the_parts_of_a_plan_fill_the_screen_and_no_more(
    width: int, height: int, gpus: int
) -> None:
    p = plan(width, height, gpus)
    used = 2 + 1 + p.gpu_rows
    used += 1 + p.list_rows if p.list_rows else 0
    used += 1 + p.strip_rows if p.strip_rows else 0
    assert used <= height
    assert p.list_rows >= 0
    assert p.gpu_rows >= 1
    if height >= 24 and gpus <= 16 and width >= 80:
        assert p.gpu_rows == p.gpu_rows_wanted, "all GPUs show"
        assert p.list_rows >= 5
        assert p.strip_rows >= min(gpus, 2)
        assert used == height


def test_on_a_small_screen_free_room_is_never_left_out_of_the_strip() -> None:
    now = picture(Story(16))
    shown, left_out = lanes(now, 5)
    assert len(shown) == 5
    assert left_out > 0
    assert any(lane.first.free for lane in shown)
    assert sum(lane.first.until_at is not None for lane in shown) == 3


def test_history_holds_an_hour_and_forgets_a_clock_set_back() -> None:
    history, story = History(), Story(1)
    for second in range(0, 4000, 10):
        story.now = NOON + second
        history.add(picture(story))
    assert len(history.samples[UUIDS[0]]) == 361
    story.now = NOON
    history.add(picture(story))
    assert len(history.samples[UUIDS[0]]) == 1


def test_a_sparkline_moves_in_whole_cells() -> None:
    """Between two cells' borders the line stands still but for its last cell."""
    history, story = History(), Story(1)
    for second in range(300):
        story.now = NOON + second
        history.add(picture(story))
    start = (NOON + 250) // 10 * 10
    first = history.cells(UUIDS[0], start + 1, 20, 10)
    assert history.cells(UUIDS[0], start + 9, 20, 10) == first
    assert history.cells(UUIDS[0], start + 11, 20, 10)[:-1] == first[1:]


def test_a_line_shows_about_five_minutes() -> None:
    assert [round(cells * step_for(cells) / 60) for cells in (10, 20, 60, 120)] == [5, 5, 5, 4]


def test_a_process_on_several_gpus_is_one_row() -> None:
    now = picture(Story(8))
    both = next(p for p in now.processes if p.pid == 21344)
    assert both.gpus == (0, 1)
    assert both.memory_bytes == int(61.2 * GIB) + int(60.8 * GIB)


def test_an_unattributed_holder_is_nobodys_even_if_a_name_is_given() -> None:
    story = Story(1)
    story.holders = [holder(0, None, "erin", 5, None, kind="unattributed", reason="left by erin")]
    story.jobs = []
    now = picture(story)
    assert now.processes[0].user == ""
    assert now.gpus[0].people == ()
    assert not now.gpus[0].free


def test_infinite_and_odd_numbers_are_not_known() -> None:
    odd = {"gpus": [{"index": float("nan"), "power_w": float("inf"), "temperature_c": True}]}
    gpu = picture_of({}, odd, {}, {}, NOON).gpus[0]
    assert (gpu.index, gpu.power_w, gpu.temperature_c) == (0, None, None)


def test_a_server_without_its_agent_shows_the_past() -> None:
    story = Story(1)
    answer = {**story.status(), "agent": False, "observed_time": "2026-12-02T14:00:00+08:00"}
    now = picture_of(story.ping(), answer, {}, {}, NOON)
    assert now.stale_since_at == epoch_of("2026-12-02T14:00:00+08:00")
    assert picture(story).stale_since_at is None


def test_readings_that_grow_old_are_of_the_past_though_the_agent_is_connected() -> None:
    story = Story(1)
    for old, stale in ((2, False), (30, True)):
        answer = {**story.status(), "agent": True, "observed_time": iso(NOON - old)}
        now = picture_of(story.ping(), answer, {}, {}, NOON)
        assert (now.stale_since_at is not None) is stale


def test_an_empty_picture_has_nothing_free() -> None:
    assert Picture(at=0).free == 0


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [(0, "0s"), (59, "59s"), (60, "1m"), (3599, "59m"), (11520, "3h12"), (86400, "1d00"),
     (86400 * 120, "120d")],
)  # fmt: skip
def test_spans(seconds: float, shown: str) -> None:
    assert span(seconds) == shown
    assert len(span(seconds)) <= 5


def test_sizes_and_moments() -> None:
    assert (size(None), size(0), size(GIB * 61), size(GIB // 100)) == ("–", "0.0G", "61.0G", "10M")
    zone = zone_of("Asia/Shanghai")
    assert moment(NOON + 3600, NOON, zone) == "15:02"
    assert moment(NOON + 36000, NOON, zone) == "00:02"
    assert moment(NOON + 50000, NOON, zone) == "12-03 03:55"
    assert zone_of("No/Where", "2026-12-02T14:00:00+05:30").utcoffset(
        datetime(2026, 1, 1, tzinfo=UTC)
    ) == zone_of("Asia/Kolkata").utcoffset(datetime(2026, 1, 1, tzinfo=UTC))


@pytest.mark.parametrize("value", [None, "soon", True, [], "2026-13-99"])
def test_what_is_no_time_is_not_known(value: object) -> None:
    assert epoch_of(value) is None


def test_ranges_of_indices() -> None:
    assert ranges((0, 1, 2, 5, 7, 8)) == "0-2,5,7-8"
    assert ranges(()) == ""


def test_the_terminals_ground() -> None:
    assert light_terminal("0;15")
    assert not light_terminal("15;0")
    assert not light_terminal("")


@pytest.mark.parametrize("code", MESSAGES)
def test_both_languages_take_the_same_numbers(code: str) -> None:
    english, chinese = (
        sorted(name for _, name, _, _ in string.Formatter().parse(text) if name)
        for text in MESSAGES[code]
    )
    assert english == chinese


def test_the_dialog_about_a_job_tells_its_share_of_memory_and_compute() -> None:
    story = Story(1)
    row = job(7, "train", "alice", "cv", (), state="PENDING", asked=0)
    row["request"] |= {"gpu_memory_bytes": 10 * GIB, "gpu_compute_percent": 30}
    story.jobs = [row]
    found = scene(story, history_s=0)
    (waiting,) = picture(story).jobs
    dialog = about(found, ListedRow("j7", job=waiting))
    assert dialog is not None
    assert any("(10.0 GiB, 30%)" in line for line in dialog.lines), dialog.lines
