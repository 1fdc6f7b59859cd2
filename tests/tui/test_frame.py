"""Laws of the screen, whatever the data say: exact size, nothing that is not text, no jumping."""

from __future__ import annotations

import unicodedata
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from roost.tui.control import act
from roost.tui.frame import draw
from roost.tui.look import Look
from roost.tui.picture import picture_of
from roost.tui.scene import Lost, Scene
from roost.tui.view import View
from tests.tui.scenes import drawn, picture, scene
from tests.tui.story import GIB, NOON, Story, holder, iso, job

LOOKS = [(Look("dark"), "en"), (Look("light"), "zh"), (Look("mono", ascii_only=True), "en")]
SIZES = [(80, 24), (200, 50), (40, 8), (20, 5), (120, 36), (81, 25), (300, 90)]

json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["text", "code", "gpus", "pid", "user"]), inner, max_size=3
        )
    ),
    max_leaves=6,
)
rows = st.lists(
    st.dictionaries(
        st.sampled_from(
            [
                "index", "uuid", "name", "memory_total_bytes", "memory_used_bytes", "health",
                "utilisation_percent", "temperature_c", "power_w", "gpu_index", "gpu_uuid", "pid",
                "user", "group", "kind", "memory_bytes", "command", "since", "idle_s", "reason",
                "job", "state", "gpus", "request", "start_time", "wait", "class", "container",
            ]
        ),
        json,
        max_size=12,
    ),
    max_size=5,
)  # fmt: skip
answers = st.fixed_dictionaries({"gpus": rows, "holders": rows, "jobs": rows}) | st.dictionaries(
    st.sampled_from(["gpus", "holders", "jobs", "time", "driver_state"]), json
)


def _with(a_scene: Scene, **changes: object) -> Scene:
    return replace(a_scene, **changes)  # type: ignore[arg-type]


@pytest.mark.parametrize("gpus", [0, 1, 2, 8, 16, 32])
@pytest.mark.parametrize(("width", "height"), SIZES)
def test_every_line_is_exactly_as_wide_as_the_screen(width: int, height: int, gpus: int) -> None:
    base = scene(Story(gpus), history_s=3)
    for look, language in LOOKS:
        frame = draw(_with(base, look=look, language=language), width, height)
        assert len(frame.strips) == height
        assert {strip.cell_length for strip in frame.strips} == {width}


@given(answer=answers, width=st.integers(1, 220), height=st.integers(3, 60))
@settings(max_examples=60)
def test_whatever_the_daemon_says_is_drawn_without_fault(
    answer: dict[str, object], width: int, height: int
) -> None:
    now = picture_of(answer, answer, answer, answer, NOON)
    base = scene(Story(1), history_s=0)
    for pane in ("gpus", "holders", "jobs"):
        shown = _with(base, picture=now, now=now.at, view=View(pane=pane, lower="jobs"))
        frame = draw(shown, width, height)
        assert {strip.cell_length for strip in frame.strips} == {width}
        for action in ("end", "details", "sort", "user", "help"):
            view, _ = act(shown, action)
            overlaid = draw(_with(shown, view=view), width, height)
            assert {strip.cell_length for strip in overlaid.strips} == {width}


@given(st.text(max_size=60))
@settings(max_examples=60)
def test_no_name_can_write_to_the_terminal(text: str) -> None:
    story = Story(2)
    story.holders = [holder(0, 7, text, 10, text, container=text, kind=text, reason=text)]
    story.jobs = [job(1, text, text, text, [1], wait=text, command=text or "x")]
    story.me = text
    for look in (Look(), Look("mono", ascii_only=True)):
        for width in (80, 200):
            shown = drawn(scene(story, View(pane="jobs", lower="jobs"), look, history_s=0), width)
            for character in set(shown) - {"\n"}:
                assert unicodedata.category(character) not in ("Cc", "Cf", "Cs", "Zl", "Zp")
            assert shown.isascii() or not look.ascii_only


@pytest.mark.parametrize("width", [80, 200])
def test_markup_in_a_command_is_shown_as_it_is(width: int) -> None:
    story = Story(1)
    story.holders[0]["command"] = "[red]x[/red] [@click=app.bell]y[/]"
    frame = draw(scene(story, history_s=0), width, 24)
    line = next(strip for strip in frame.strips if "[red]" in "".join(p.text for p in strip))
    part = next(p for p in line if "[red]x[/red] [@click=app" in p.text)
    assert part.style is not None
    assert part.style.color is not None
    assert part.style.color.name == "#dadada"
    assert not part.style.meta


@given(
    load=st.lists(st.integers(0, 100) | st.none(), min_size=8, max_size=8),
    memory=st.lists(st.integers(0, 80 * GIB), min_size=8, max_size=8),
    heat=st.integers(0, 110),
    power=st.floats(0, 1500),
)
@settings(max_examples=60)
def test_numbers_that_change_do_not_move_the_layout(
    load: list[int | None], memory: list[int], heat: int, power: float
) -> None:
    """Where things stand, and so what a click hits, depends on no reading."""
    before = scene(Story(8), history_s=0)
    assert before.picture is not None
    gpus = tuple(
        replace(
            gpu,
            utilisation_percent=load[n],
            memory_used_bytes=memory[n],
            temperature_c=heat,
            power_w=power,
        )
        for n, gpu in enumerate(before.picture.gpus)
    )
    after = _with(before, picture=replace(before.picture, gpus=gpus))
    for width, height in ((80, 24), (200, 50)):
        one, two = draw(before, width, height), draw(after, width, height)
        assert one.layout == two.layout
        assert one.hits == two.hits


def test_a_picture_of_the_past_has_no_colours_left() -> None:
    """Without the daemon everything but the alarm above is grey: nobody takes it for now."""
    frame = draw(scene(Story(8), lost=Lost(NOON - 5, "away")), 80, 24)
    greys = set()
    for strip in frame.strips[2:-1]:
        for part in strip:
            if part.style and part.style.color:
                red, green, blue = part.style.color.get_truecolor()
                greys.add((red, green, blue))
    assert greys
    assert all(red == green == blue for red, green, blue in greys)


def test_without_colour_no_colour_is_sent() -> None:
    for gpus in (8, 16):
        frame = draw(scene(Story(gpus), look=Look("mono")), 80, 24)
        for strip in frame.strips:
            for part in strip:
                assert part.style is None or (
                    part.style.color is None and part.style.bgcolor is None
                )


def test_what_has_no_name_still_has_a_row() -> None:
    story = Story(1)
    story.holders = [holder(0, None, None, 3.0, None, kind="unattributed", reason="CUDA IPC")]
    story.jobs = []
    shown = drawn(scene(story, history_s=0))
    assert "nobody" in shown
    assert "CUDA IPC" in shown


def test_a_gpu_held_by_a_job_without_processes_is_not_free() -> None:
    story = Story(2)
    story.holders = []
    story.jobs = [job(9, "slow-start", "bob", "nlp", [1], state="STARTING")]
    story.holders = [holder(1, None, "bob", 0, None, job=9)]
    now = picture(story)
    assert "has not opened its GPU" in drawn(scene(story, history_s=0))
    assert [gpu.free for gpu in now.gpus] == [True, False]
    assert now.gpus[1].people == ("bob",)


def test_memory_that_no_process_answers_for_is_hatched() -> None:
    story = Story(1)
    story.holders[0]["memory_bytes"] = 20 * GIB
    answer = story.status()
    answer["gpus"][0]["memory_used_bytes"] = 60 * GIB
    now = picture_of(story.ping(), answer, {"holders": story.holders}, {"jobs": []}, NOON)
    assert now.gpus[0].shares[0] == ("", "unattributed", 40 * GIB)
    assert "▒" in drawn(replace(scene(story, history_s=0), picture=now))


def test_a_drained_gpu_is_not_free_and_says_why() -> None:
    story = Story(2)
    story.holders, story.jobs = [], []
    story.drained[1] = "new fan"
    now = picture(story)
    assert [gpu.free for gpu in now.gpus] == [True, False]
    assert "drained: new fan" in drawn(scene(story, history_s=0))


def test_a_drained_gpu_with_a_job_still_shows_whose_it_is() -> None:
    story = Story(1)
    story.drained[0] = "new fan"
    assert "alice    job 41" in drawn(scene(story, history_s=0))


def test_a_booked_gpu_is_not_free_and_the_next_booking_ends_what_is() -> None:
    story = Story(3)
    story.holders, story.jobs = [], []
    row = {"booking": 7, "user": "li", "maintenance": False, "gpu_memory_bytes": None}
    story.bookings[0] = [{**row, "start": iso(NOON - 60), "end": iso(NOON + 3600), "on": True}]
    story.bookings[1] = [{**row, "start": iso(NOON + 1800), "end": iso(NOON + 7200), "on": False}]
    story.bookings[2] = [{**story.bookings[0][0], "maintenance": True}]
    now = picture(story)
    assert [gpu.free for gpu in now.gpus] == [False, True, False]
    shown = drawn(scene(story, history_s=0))
    assert shown.count("booked by li") == 3, "as a holder, on the time line, and as what comes"
    assert shown.count("maintenance") == 2
    assert "free               14:32" in shown
