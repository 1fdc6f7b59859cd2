"""The last hour of readings: means of what was read, gaps where nothing was, and no more memory
than at first."""

from __future__ import annotations

import random

from roost.core.observation import DriverReading, DriverState, GpuReading, Observation
from roost.server.board import Board
from roost.server.readings import HOUR_S, READINGS, SLOT_S, SLOTS, Readings

START = 1_800_000_000.0


def gpu(percent: int | None, uuid: str = "GPU-a", power_w: float | None = None) -> GpuReading:
    return GpuReading(
        uuid=uuid, index=0, name="GPU", utilisation_percent=percent, memory_used_bytes=2**30,
        power_w=power_w,
    )  # fmt: skip


def utilisation(readings: Readings, start: float, step_s: float, points: int) -> object:
    return readings.means(start, step_s, points)["GPU-a"]["utilisation_percent"]


def test_a_step_is_the_mean_of_its_readings_and_a_step_without_any_is_unknown() -> None:
    readings = Readings()
    for at, percent in ((0, 10), (5, 20), (25, 90)):
        readings.add(START + at, [gpu(percent)])
    rows = readings.means(START, 10.0, 3)
    assert rows["GPU-a"]["utilisation_percent"] == [15.0, None, 90.0]
    assert rows["GPU-a"]["temperature_c"] == [None, None, None]


def test_an_unknown_reading_is_left_out_and_never_zero() -> None:
    readings = Readings()
    readings.add(START + 1, [gpu(None)])
    readings.add(START + 2, [gpu(40)])
    assert utilisation(readings, START, 10.0, 1) == [40.0]


def test_readings_outside_the_hour_are_not_shown() -> None:
    readings = Readings()
    readings.add(START - 1, [gpu(10)])
    readings.add(START + 30, [gpu(10)])
    assert readings.means(START, 10.0, 3) == {}


def test_each_gpu_has_rows_of_its_own_and_one_can_be_asked_for() -> None:
    readings = Readings()
    readings.add(START + 1, [gpu(10), gpu(80, "GPU-b")])
    assert readings.means(START, 10.0, 1)["GPU-b"]["utilisation_percent"] == [80.0]
    assert list(readings.means(START, 10.0, 1, "GPU-b")) == ["GPU-b"]


def test_the_board_keeps_the_readings_of_a_look_for_an_hour() -> None:
    board = Board()
    for at in (0.0, HOUR_S, 1.5 * HOUR_S):
        seen = (gpu(round(at / 100)),)
        board.seen(Observation(START + at, "boot", "server", DriverReading(DriverState.OK), seen))
    rows = board.readings.means(START + 0.5 * HOUR_S, HOUR_S / 2, 3)
    assert rows["GPU-a"]["utilisation_percent"] == [None, 36.0, 54.0]
    assert board.readings.means(START, HOUR_S / 2, 1) == {}


def test_a_clock_that_was_set_back_by_hours_begins_anew() -> None:
    readings = Readings()
    readings.add(START + 9 * HOUR_S, [gpu(90)])
    readings.add(START, [gpu(10)])
    readings.add(START + 7, [gpu(20)])
    assert utilisation(readings, START, 10.0, 2) == [15.0, None]


def test_slots_say_what_a_list_of_all_looks_says() -> None:
    """At any time, with gaps of any length, for any number of points."""
    drawn = random.Random(3)
    for _ in range(60):
        readings, looks, at = Readings(), [], START + drawn.random() * 1000
        for _ in range(drawn.randrange(1, 400)):
            at += drawn.choice((0.2, 1.0, 1.0, 7.0, 30.0, 900.0, 5000.0)) * drawn.random()
            percent = drawn.choice((None, drawn.randrange(101)))
            looks.append((at, percent))
            readings.add(at, [gpu(percent)])
        points = drawn.choice((2, 7, 60, 333, 720))
        # An hour ago is never more than the newest slot says.
        now = at + drawn.choice((0.0, 3.0, 400.0)) * drawn.random()
        start, step_s = now - HOUR_S, HOUR_S / points
        sums: list[list[int]] = [[] for _ in range(points)]
        for when, value in looks:
            slot_at = when // SLOT_S * SLOT_S
            place = next(
                (
                    n
                    for n in range(points)
                    if start + step_s * n <= slot_at < start + step_s * (n + 1)
                ),
                None,
            )
            if place is not None and value is not None:
                sums[place].append(value)
        expected = [round(sum(one) / len(one), 1) if one else None for one in sums]
        found = readings.means(start, step_s, points).get("GPU-a")
        rows = found["utilisation_percent"] if found else [None] * points
        assert rows == expected


def test_a_day_takes_no_more_memory_than_an_hour_and_gpus_that_went_are_forgotten() -> None:
    readings = Readings()
    for at in range(0, 24 * 3600, 60):
        readings.add(START + at, [gpu(1, f"GPU-{n}") for n in range(at // 3600, at // 3600 + 4)])
        sizes = [
            len(ring)
            for kept in readings._gpus.values()
            for rings in (kept.sums, kept.counts)
            for ring in rings
        ]
        assert sizes == [SLOTS] * len(sizes)
        assert len(sizes) <= 2 * len(READINGS) * 6
