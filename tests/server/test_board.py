"""What the API reads: live jobs, and raw readings for an hour."""

from __future__ import annotations

from roost.core.observation import DriverReading, DriverState, GpuReading, Observation
from roost.server.board import RAW_S, Board


def look(at: float, *used: int | None) -> Observation:
    gpus = tuple(
        GpuReading(uuid=f"G{n}", index=n, name="GPU", utilisation_percent=percent)
        for n, percent in enumerate(used)
    )
    return Observation(at, "boot", "server", DriverReading(DriverState.OK), gpus)


def test_raw_readings_are_kept_for_an_hour() -> None:
    board = Board()
    for at in range(0, 2 * int(RAW_S), 10):
        board.seen(look(float(at), 50, None))
    assert len(board.samples) == RAW_S / 10 + 1
    assert board.samples[0][0].at == board.samples[-1][0].at - RAW_S
    assert [s.utilisation_percent for s in board.samples[0]] == [50, None]


def test_a_look_without_gpus_keeps_nothing() -> None:
    board = Board()
    board.seen(look(1.0))
    board.seen(look(2.0, 5))
    assert [len(each) for each in board.samples] == [1]
