"""Cards that are lost, refuse, err or vanish: each says so, the others go on, and it comes back."""

from __future__ import annotations

from pathlib import Path

import pytest

from roost.core.observation import DriverState, GpuState
from roost.core.text.driver import MESSAGES
from tests.machine.nvml.conftest import Server
from tests.real.fakenvml.state import FakeGpu, FakeProcess, FakeState


def test_a_lost_card_is_named_the_others_go_on_and_it_comes_back(server: Server) -> None:
    assert [gpu.state for gpu in server.gpus()] == [GpuState.OK] * 2
    server.state.gpus[1].errors = ["* GPU_IS_LOST"]
    for _ in range(3):  # also afterwards: its handle is never used again, or the fake aborts
        first, lost = server.gpus()
        assert (first.state, first.temperature_c) == (GpuState.OK, 33)
        assert (lost.state, lost.temperature_c) == (GpuState.LOST, None)
        assert lost.uuid == server.state.gpus[1].uuid
        assert lost.name == "NVIDIA A100-SXM4-80GB"
    server.state.gpus[1].errors = []
    assert [gpu.state for gpu in server.gpus()] == [GpuState.OK] * 2


@pytest.mark.parametrize(
    "call",
    [
        "DeviceGetMemoryInfo",
        "DeviceGetUtilizationRates",
        "DeviceGetEncoderUtilization",
        "DeviceGetTemperatureV",
        "DeviceGetFieldValues",
        "DeviceGetClockInfo",
        "DeviceGetCurrentClocksEventReasons",
        "DeviceGetFanSpeed",
        "DeviceGetBAR1MemoryInfo",
        "DeviceGetMigMode",
        "DeviceGetComputeRunningProcesses",
        "DeviceGetGraphicsRunningProcesses",
        "DeviceGetUUID",
        "DeviceGetHandleByIndex",
    ],
)
def test_lost_in_the_middle_of_any_call(server: Server, call: str) -> None:
    server.state.gpus[1].processes = [FakeProcess(5000)]
    server.gpus()
    server.state.gpus[1].errors = [f"{call} GPU_IS_LOST", "DeviceGetHandleByIndex GPU_IS_LOST"]
    gpus = server.gpus()
    if call == "DeviceGetHandleByIndex":
        server.state.gpus[1].errors = ["* GPU_IS_LOST"]
        gpus = server.gpus()
    assert [gpu.state for gpu in gpus] == [GpuState.OK, GpuState.LOST]
    server.state.gpus[1].errors = []
    assert [gpu.state for gpu in server.gpus()] == [GpuState.OK] * 2


def test_a_card_lost_from_the_start_is_known_by_what_the_kernel_lists(
    server: Server, tmp_path: Path
) -> None:
    for index, gpu in enumerate(server.state.gpus):
        directory = tmp_path / f"proc/driver/nvidia/gpus/0000:1{index}:00.0"
        directory.mkdir(parents=True)
        (directory / "information").write_text(
            f"Model: \t\t {gpu.name}\nGPU UUID: \t {gpu.uuid}\nDevice Minor: \t {index}\n"
        )
    server.reader(proc=str(tmp_path / "proc"))
    server.state.gpus[1].errors = ["* GPU_IS_LOST"]
    lost = server.gpus()[1]
    assert (lost.state, lost.uuid, lost.minor) == (GpuState.LOST, server.state.gpus[1].uuid, 1)


def test_a_card_lost_from_the_start_without_a_name_gets_it_when_it_comes_back(
    server: Server,
) -> None:
    server.state.gpus[0].errors = ["* GPU_IS_LOST"]
    lost, other = server.gpus()
    assert (lost.state, lost.index, lost.uuid) == (GpuState.LOST, 0, "GPU-unknown-0")
    assert other.state is GpuState.OK
    server.state.gpus[0].errors = []
    assert [gpu.uuid for gpu in server.gpus()] == [gpu.uuid for gpu in server.state.gpus]


def test_the_only_card_lost_is_a_lost_card_and_not_a_broken_driver(server: Server) -> None:
    server.state.gpus = [FakeGpu.of("RTX4090")]
    server.gpus()
    server.state.gpus[0].errors = ["* GPU_IS_LOST"]
    server.write()
    helpers = set()
    for _ in range(6):  # new handles and, after three times, a new process: no use, but no harm
        driver, (gpu,) = server.read()
        helpers.add(server.driver.helper_pid)
        assert driver.state is DriverState.OK
        assert (gpu.uuid, gpu.state) == (server.state.gpus[0].uuid, GpuState.LOST)
    assert len(helpers) > 1
    server.state.gpus[0].errors = []
    assert server.gpus()[0].state is GpuState.OK


def test_an_unknown_error_marks_that_card_and_keeps_what_else_it_says(server: Server) -> None:
    server.state.gpus[0].errors = ["DeviceGetUtilizationRates UNKNOWN"]
    broken, whole = server.gpus()
    assert (broken.state, broken.utilisation_percent) == (GpuState.ERROR, None)
    assert broken.temperature_c == 33
    assert broken.state_detail == "nvmlDeviceGetUtilizationRates: UNKNOWN"
    assert whole.state is GpuState.OK


@pytest.mark.parametrize(
    ("call", "field"),
    [
        ("DeviceGetFanSpeed", "fan_percent"),
        ("DeviceGetEncoderUtilization", "encoder_percent"),
        ("DeviceGetBAR1MemoryInfo", "bar1_used_bytes"),
        ("DeviceGetCurrentClocksEventReasons", "throttle_reasons"),
    ],
)
def test_a_reading_that_nobody_decides_by_is_told_broken_and_the_card_stays_in_use(
    server: Server, call: str, field: str
) -> None:
    server.reader(slow_s=3600.0)
    server.state.gpus[0].errors = [f"{call} UNKNOWN"]
    server.gpus()
    gpu = server.gpus()[0]
    assert (gpu.state, gpu.state_detail) == (GpuState.OK, f"nvml{call}: UNKNOWN")
    assert getattr(gpu, field) is None


def test_a_card_that_answers_unknown_to_everything_says_so(server: Server) -> None:
    server.gpus()
    server.state.gpus[0].errors = ["* UNKNOWN"]
    assert [gpu.state for gpu in server.gpus()] == [GpuState.ERROR, GpuState.OK]
    server.state.gpus[0].errors = []
    assert [gpu.state for gpu in server.gpus()] == [GpuState.OK] * 2


@pytest.mark.parametrize("code", range(1, 31))
def test_no_error_code_of_any_call_crashes_or_spreads(server: Server, code: int) -> None:
    server.state.gpus[0].errors = [f"DeviceGet* {code}"]
    server.write()
    driver, gpus = server.read()
    assert driver.state is DriverState.OK
    assert len(gpus) == 2
    assert gpus[1].state is GpuState.OK
    assert gpus[0].temperature_c is None


def test_a_card_that_wants_a_reset_says_so(server: Server) -> None:
    server.state.gpus[0].errors = ["DeviceGetMemoryInfo RESET_REQUIRED"]
    server.state.gpus[1].values["recovery_action"] = 1
    by_code, by_verdict = server.gpus()
    assert by_code.state is GpuState.RESET_REQUIRED
    assert (by_verdict.state, by_verdict.state_detail) == (GpuState.RESET_REQUIRED, "gpu_reset")
    assert by_verdict.temperature_c == 34
    server.state.gpus[0].errors = []
    server.state.gpus[1].values["recovery_action"] = 0
    assert [gpu.state for gpu in server.gpus()] == [GpuState.OK] * 2


def test_a_card_that_may_not_be_opened_says_so(server: Server) -> None:
    server.gpus()
    server.state.gpus[1].errors = ["* NO_PERMISSION"]
    server.driver.close()
    server.driver.hold()
    assert [gpu.state for gpu in server.gpus()] == [GpuState.OK, GpuState.NO_PERMISSION]


def test_a_card_that_is_not_listed_any_more_is_missing_under_its_uuid(server: Server) -> None:
    server.state = FakeState.of("A100-80", 3)
    before = server.gpus()
    gone = server.state.gpus.pop(1)
    gpus = server.gpus()
    assert [(gpu.uuid, gpu.index, gpu.state) for gpu in gpus] == [
        (before[0].uuid, 0, GpuState.OK),
        (before[2].uuid, 1, GpuState.OK),
        (before[1].uuid, 1, GpuState.MISSING),
    ]
    assert gpus[1].minor == 2
    server.state.gpus.insert(1, gone)
    after = server.gpus()
    assert [(g.uuid, g.index, g.state) for g in after] == [
        (g.uuid, g.index, GpuState.OK) for g in before
    ]


def test_a_replaced_card_is_a_new_card_and_the_old_one_is_missing(server: Server) -> None:
    old = server.gpus()[1].uuid
    server.state.gpus[1] = FakeGpu.of("H100-80", 1)
    gpus = {gpu.uuid: gpu for gpu in server.gpus()}
    assert gpus[old].state is GpuState.MISSING
    assert gpus[server.state.gpus[1].uuid].name == "NVIDIA H100 80GB HBM3"


def test_indices_that_move_at_a_reload_take_nothing_from_one_card_to_another(
    server: Server,
) -> None:
    server.state.gpus[0].values["temperature"] = 40
    server.state.gpus[1].values["temperature"] = 80
    hot = server.gpus()[1].uuid
    server.state.gpus.reverse()
    server.state.epoch += 1
    (gpu,) = [gpu for gpu in server.gpus() if gpu.uuid == hot]
    assert (gpu.index, gpu.minor, gpu.temperature_c) == (0, 1, 80)


def test_every_state_of_a_card_has_its_words() -> None:
    assert {f"gpu_{state.value}" for state in GpuState} <= set(MESSAGES)
    assert {state.value for state in DriverState} <= set(MESSAGES)
    assert all(en and zh for en, zh in MESSAGES.values())
