"""The contract of `GpuDriver`, held by both drivers: NVML on the fake library, and simulated."""

from __future__ import annotations

import dataclasses
import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import msgspec
import pytest

from roost.core.observation import DriverReading, DriverState, GpuReading, GpuState
from roost.machine.gpu import GpuDriver
from roost.machine.nvml import NvmlDriver
from roost.machine.nvml.driver import DriverOptions
from roost.machine.nvml.protocol import ReaderOptions
from roost.machine.simulated import SimulatedDriver
from roost.machine.simulation import SimulatedLoad
from tests.real.fakenvml.state import FakeProcess, FakeState, environment

PID = os.getpid()


@dataclass
class Case:
    """A driver of four A100 with one process on GPU 1, and how to give it faults."""

    driver: GpuDriver
    works: DriverState
    lose: Callable[[int], None]
    hang: Callable[[], None]
    break_driver: Callable[[], None]
    heal: Callable[[], None]


def on_fake_library(directory: Path, monkeypatch: pytest.MonkeyPatch) -> Case:
    path = directory / "state"
    state = FakeState.of("A100-80", 4)
    state.gpus[1].processes = [FakeProcess(PID, 30 << 30, sm=80)]
    state.write(path)
    for key, value in environment(path).items():
        monkeypatch.setenv(key, value)
    options = ReaderOptions(retry_s=0.0, recheck_s=0.0, reload_s=0.0, slow_s=0.0)

    def lose(index: int) -> None:
        state.gpus[index].errors = ["* GPU_IS_LOST"]
        state.write(path)

    def hang() -> None:
        state.hangs = ["DeviceGetCount"]
        state.write(path)

    def break_driver() -> None:
        state.errors = ["* LIB_RM_VERSION_MISMATCH"]
        state.epoch += 1
        state.stale_error = "UNKNOWN"
        state.write(path)

    def heal() -> None:
        state.hangs, state.errors = [], []
        for gpu in state.gpus:
            gpu.errors = []
        state.write(path)

    driver = NvmlDriver(DriverOptions(kill_after_s=0.3, reader=options))
    return Case(driver, DriverState.OK, lose, hang, break_driver, heal)


def simulated(directory: Path, monkeypatch: pytest.MonkeyPatch) -> Case:
    path = directory / "simulate.toml"
    driver = SimulatedDriver("4xA100", str(path))
    driver.set_load({driver.read(1.0)[1][1].uuid: [SimulatedLoad((PID,))]})

    def write(text: str) -> None:
        path.with_suffix(".new").write_text(text)
        path.with_suffix(".new").rename(path)

    return Case(
        driver,
        DriverState.SIMULATED,
        lambda index: write(f'[gpu.{index}]\nstate = "lost"\n'),
        lambda: write('driver = "hang"\n'),
        lambda: write('driver = "version_mismatch"\n'),
        path.unlink,
    )


@pytest.fixture(params=[on_fake_library, simulated], ids=lambda make: str(make.__name__))
def case(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Case]:
    made: Case = request.param(tmp_path, monkeypatch)
    yield made
    made.driver.close()


def works_again(case: Case) -> tuple[DriverReading, tuple[GpuReading, ...]]:
    end = time.monotonic() + 10
    while time.monotonic() < end:
        driver, gpus = case.driver.read(5.0)
        if driver.state is case.works and all(gpu.state is GpuState.OK for gpu in gpus):
            return driver, gpus
        time.sleep(0.05)
    raise AssertionError(f"not back: {driver} {[gpu.state for gpu in gpus]}")


def test_one_reading_a_card_in_index_order_with_uuids_that_stay(case: Case) -> None:
    driver, gpus = case.driver.read(5.0)
    assert driver.state is case.works
    assert driver.driver_version
    assert [gpu.index for gpu in gpus] == [0, 1, 2, 3]
    assert len({gpu.uuid for gpu in gpus}) == 4
    assert all(gpu.uuid.startswith("GPU-") for gpu in gpus)
    assert [gpu.uuid for gpu in case.driver.read(5.0)[1]] == [gpu.uuid for gpu in gpus]


def test_memory_adds_up_and_energy_never_falls(case: Case) -> None:
    before = case.driver.read(5.0)[1]
    after = case.driver.read(5.0)[1]
    for gpu, later in zip(before, after, strict=True):
        assert gpu.memory_consistent
        assert gpu.memory_used_bytes is not None
        assert gpu.memory_reserved_bytes is not None
        assert gpu.memory_free_bytes is not None
        total = gpu.memory_used_bytes + gpu.memory_reserved_bytes + gpu.memory_free_bytes
        assert total == gpu.memory_total_bytes
        assert gpu.energy_j is not None
        assert later.energy_j is not None
        assert later.energy_j >= gpu.energy_j


def test_a_process_is_on_its_card_and_on_no_other(case: Case) -> None:
    gpus = case.driver.read(5.0)[1]
    assert [[p.pid for p in gpu.processes] for gpu in gpus] == [[], [PID], [], []]
    (process,) = gpus[1].processes
    assert process.kinds == ("compute",)
    assert process.memory_bytes is not None
    assert process.memory_bytes > 0


def test_readings_travel_on_the_wire_unchanged(case: Case) -> None:
    reading = case.driver.read(5.0)
    packed = msgspec.msgpack.encode(reading)
    assert msgspec.msgpack.decode(packed, type=tuple[DriverReading, tuple[GpuReading, ...]]) == (
        reading
    )


def test_every_field_is_of_its_type(case: Case) -> None:
    for gpu in case.driver.read(5.0)[1]:
        for field in dataclasses.fields(gpu):
            value = getattr(gpu, field.name)
            if "bool" in str(field.type):
                assert value is None or isinstance(value, bool), field.name
            elif "int" in str(field.type) and "tuple" not in str(field.type):
                assert value is None or type(value) is int, field.name


def test_a_lost_card_stays_in_its_place_with_its_state(case: Case) -> None:
    before = case.driver.read(5.0)[1]
    case.lose(2)
    driver, gpus = case.driver.read(5.0)
    assert driver.state is case.works
    assert [gpu.state for gpu in gpus] == [
        GpuState.OK,
        GpuState.OK,
        GpuState.LOST,
        GpuState.OK,
    ]
    assert [gpu.uuid for gpu in gpus] == [gpu.uuid for gpu in before]
    assert gpus[2].memory_used_bytes is None
    assert gpus[2].utilisation_percent is None
    case.heal()
    works_again(case)


def test_a_hang_keeps_the_deadline_and_the_list_and_comes_back(case: Case) -> None:
    before = case.driver.read(5.0)[1]
    case.hang()
    began = time.monotonic()
    driver, gpus = case.driver.read(0.2)
    assert time.monotonic() - began < 1.2
    assert driver.state is DriverState.NOT_ANSWERING
    assert driver.remedy_code
    assert [(gpu.uuid, gpu.state) for gpu in gpus] == [
        (gpu.uuid, GpuState.NOT_ANSWERING) for gpu in before
    ]
    assert driver.since_at is not None
    assert driver.since_at <= time.time()
    case.heal()
    works_again(case)


def test_a_mismatch_is_a_state_with_a_remedy_and_comes_back(case: Case) -> None:
    before = case.driver.read(5.0)[1]
    case.break_driver()
    driver, gpus = case.driver.read(5.0)
    assert (driver.state, driver.remedy_code) == (
        DriverState.VERSION_MISMATCH,
        "version_mismatch",
    )
    assert [gpu.uuid for gpu in gpus] == [gpu.uuid for gpu in before]
    assert all(gpu.state is not GpuState.OK for gpu in gpus)
    case.heal()
    works_again(case)


def test_released_until_held(case: Case) -> None:
    before = case.driver.read(5.0)[1]
    case.driver.release()
    for _ in range(2):
        driver, gpus = case.driver.read(5.0)
        assert driver.state is DriverState.RELEASED
        assert [gpu.uuid for gpu in gpus] == [gpu.uuid for gpu in before]
    case.driver.hold()
    works_again(case)


def test_closing_twice_is_no_error(case: Case) -> None:
    case.driver.read(5.0)
    case.driver.close()
    case.driver.close()
    assert case.driver.read(0.5)[0].state is DriverState.RELEASED
