"""What was seen lately comes back as it was, for as long as it is kept, in little memory."""

from __future__ import annotations

import tracemalloc

from roost.agent.lately import Lately
from roost.core.observation import (
    DriverReading,
    DriverState,
    GpuProcess,
    GpuReading,
    Observation,
)


def look(at: float, gpus: int = 2) -> Observation:
    readings = tuple(
        GpuReading(uuid=f"GPU-{n}", index=n, name="NVIDIA A100", memory_used_bytes=2**30 + n,
                   utilisation_percent=None, power_w=61.5 + at % 7, temperature_c=40,
                   processes=(GpuProcess(pid=1000 + n, memory_bytes=2**29),))
        for n in range(gpus)
    )  # fmt: skip
    return Observation(at, "boot", "server", DriverReading(DriverState.OK), readings)


def test_looks_come_back_as_they_were_those_after_a_time_oldest_first() -> None:
    lately, looks = Lately(600.0), [look(float(at)) for at in range(20)]
    for one in looks:
        lately.add(one)
    assert lately.since(-1.0) == tuple(looks)
    assert lately.since(17.0) == tuple(looks[18:])
    assert lately.since(19.0) == ()
    assert lately.newest is looks[-1]


def test_what_is_older_goes() -> None:
    lately = Lately(600.0)
    for at in range(0, 5000, 10):
        lately.add(look(float(at)))
    times = [one.taken_at for one in lately.since(0.0)]
    assert times == [float(at) for at in range(4390, 5000, 10)]


def test_ten_minutes_of_many_gpus_are_a_few_megabytes() -> None:
    lately = Lately(600.0)
    tracemalloc.start()
    try:
        for at in range(600):
            lately.add(look(float(at), gpus=32))
        used, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert used < 3_000_000
