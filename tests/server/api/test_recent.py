"""The last hour of readings as short rows: means of what was read, gaps where nothing was."""

from __future__ import annotations

from roost.server.api.recent import means
from roost.server.board import Sample


def sample(at: float, utilisation: int | None, gpu: str = "GPU-a") -> Sample:
    return Sample(at, gpu, utilisation, 2**30, 100.0, None)


def test_a_step_is_the_mean_of_its_readings_and_a_step_without_any_is_unknown() -> None:
    rows = means([sample(0, 10), sample(5, 20), sample(25, 90)], 0.0, 10.0, 3)
    assert rows["GPU-a"]["utilisation_percent"] == [15.0, None, 90.0]
    assert rows["GPU-a"]["temperature_c"] == [None, None, None]


def test_an_unknown_reading_is_left_out_and_never_zero() -> None:
    rows = means([sample(1, None), sample(2, 40)], 0.0, 10.0, 1)
    assert rows["GPU-a"]["utilisation_percent"] == [40.0]


def test_readings_outside_the_hour_are_not_shown() -> None:
    assert means([sample(-1, 10), sample(30, 10)], 0.0, 10.0, 3) == {}


def test_each_gpu_has_rows_of_its_own() -> None:
    rows = means([sample(1, 10), sample(1, 80, "GPU-b")], 0.0, 10.0, 1)
    assert rows["GPU-b"]["utilisation_percent"] == [80.0]
