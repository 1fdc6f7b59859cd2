"""A helper that SIGKILL does not end: Roost waits for that one and starts no second.

The freezer of cgroup v1 makes one: a frozen process is in state D and dies only when thawed, as one
does whose call into the driver never returns.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from roost.core.observation import DriverState, GpuState
from roost.machine.nvml.driver import DriverOptions, NvmlDriver
from tests.real.fakenvml.state import FakeState, environment

FREEZER = Path("/sys/fs/cgroup/freezer")


@pytest.fixture
def freezer() -> Iterator[Path]:
    if os.geteuid() != 0 or not FREEZER.is_dir():
        pytest.skip("needs root and the freezer of cgroup v1")
    group = FREEZER / f"roost-gpu-{os.getpid()}"
    group.mkdir()
    yield group
    (group / "freezer.state").write_text("THAWED")
    end = time.monotonic() + 5
    while (group / "cgroup.procs").read_text() and time.monotonic() < end:
        time.sleep(0.02)
    group.rmdir()


def children_with(word: str) -> list[int]:
    mine = []
    for name in Path(f"/proc/self/task/{os.getpid()}/children").read_text().split():
        try:
            if word.encode() in Path(f"/proc/{name}/cmdline").read_bytes():
                mine.append(int(name))
        except OSError:
            continue
    return mine


@pytest.mark.root
def test_no_second_helper_is_started_while_the_first_cannot_be_ended(
    freezer: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    state = FakeState.of("A100-80", 2)
    state.write(tmp_path / "state")
    for key, value in environment(tmp_path / "state").items():
        monkeypatch.setenv(key, value)
    driver = NvmlDriver(DriverOptions(kill_after_s=0.2))
    try:
        assert driver.read(5.0)[0].state is DriverState.OK
        helper = driver.helper_pid
        (freezer / "cgroup.procs").write_text(str(helper))
        (freezer / "freezer.state").write_text("FROZEN")
        time.sleep(0.1)
        for _ in range(6):
            began = time.monotonic()
            reading, gpus = driver.read(0.1)
            assert time.monotonic() - began < 1.5
            assert reading.state is DriverState.NOT_ANSWERING
            assert [gpu.state for gpu in gpus] == [GpuState.NOT_ANSWERING] * 2
            assert children_with("roost.machine.nvml.helper") == [helper]
        assert reading.remedy_code == "unkillable"
        assert reading.detail == f"process {helper} hangs in state D and cannot be ended"
        driver.release()
        assert driver.read(0.1)[0].remedy_code == "unkillable", "it still holds the driver"
        driver.hold()
        (freezer / "freezer.state").write_text("THAWED")
        end = time.monotonic() + 5
        while driver.read(1.0)[0].state is not DriverState.OK:
            assert time.monotonic() < end
        assert driver.helper_pid != helper
        assert children_with("roost.machine.nvml.helper") == [driver.helper_pid]
    finally:
        driver.close()
