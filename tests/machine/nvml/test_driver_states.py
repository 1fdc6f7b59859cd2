"""The driver as a whole: not there, not loaded, of another version, reloaded, replaced, let go."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from roost.core.observation import DriverState, GpuState
from tests.machine.nvml.conftest import Server
from tests.real.fakenvml.build import build

Wait = Callable[[Callable[[], bool]], None]


def version_file(directory: Path, version: str) -> None:
    path = directory / "proc/driver/nvidia/version"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(
        f"NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  {version}  Release Build\n"
    )


class Installed:
    """A folder of libraries as distributions lay it out: the soname links to a numbered file."""

    def __init__(self, server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
        self.directory = server.directory / "lib"
        self.directory.mkdir()
        monkeypatch.setenv("LD_LIBRARY_PATH", str(self.directory))

    def put(self, version: str) -> None:
        real = self.directory / f"libnvidia-ml.so.{version}"
        shutil.copy(build() / "libnvidia-ml.so.1", real)
        link = self.directory / "new"
        link.symlink_to(real.name)
        os.replace(link, self.directory / "libnvidia-ml.so.1")

    def remove(self) -> None:
        for path in self.directory.iterdir():
            path.unlink()


@pytest.fixture
def installed(server: Server, monkeypatch: pytest.MonkeyPatch) -> Installed:
    server.reader(proc=str(server.directory / "proc"))
    return Installed(server, monkeypatch)


def test_no_library_is_a_state_without_a_process_and_ends_when_one_comes(
    server: Server, installed: Installed, until: Wait
) -> None:
    server.write()
    driver, gpus = server.read()
    assert (driver.state, driver.remedy_code, gpus) == (DriverState.NO_LIBRARY, "no_library", ())
    assert server.driver.helper_pid is None
    installed.put("575.57.08")
    until(lambda: server.read()[0].state is DriverState.OK)
    assert len(server.read()[1]) == 2


def test_a_driver_that_is_not_loaded_comes_back_with_the_same_helper(
    server: Server, until: Wait
) -> None:
    server.state.errors = ["Init DRIVER_NOT_LOADED"]
    server.write()
    driver, gpus = server.read()
    assert (driver.state, driver.remedy_code, gpus) == (DriverState.NOT_LOADED, "not_loaded", ())
    helper = server.driver.helper_pid
    server.state.errors = []
    server.write()
    until(lambda: server.read()[0].state is DriverState.OK)
    assert server.driver.helper_pid == helper


def test_unloading_the_driver_leaves_the_cards_in_the_list(server: Server, until: Wait) -> None:
    before = server.gpus()
    server.state.errors = ["* DRIVER_NOT_LOADED"]
    server.write()
    driver, gpus = server.read()
    assert driver.state is DriverState.NOT_LOADED
    assert [(gpu.uuid, gpu.state) for gpu in gpus] == [
        (gpu.uuid, GpuState.NOT_ANSWERING) for gpu in before
    ]
    assert gpus[0].memory_used_bytes is None
    server.state.errors = []
    server.write()
    until(lambda: server.read()[0].state is DriverState.OK)
    assert [gpu.state for gpu in server.read()[1]] == [GpuState.OK] * 2


def test_a_mismatch_is_a_state_with_a_remedy_and_the_kernels_version(
    server: Server, installed: Installed, until: Wait
) -> None:
    installed.put("580.65.06")
    version_file(server.directory, "575.57.08")
    server.state.errors = ["Init LIB_RM_VERSION_MISMATCH"]
    server.write()
    driver, _ = server.read()
    assert (driver.state, driver.remedy_code) == (
        DriverState.VERSION_MISMATCH,
        "version_mismatch",
    )
    assert driver.driver_version == "575.57.08"
    pids = {server.driver.helper_pid}
    for _ in range(5):
        assert server.read()[0].state is DriverState.VERSION_MISMATCH
        pids.add(server.driver.helper_pid)
    assert len(pids) == 1, "no crash loop"
    server.state.errors = []
    server.write()
    until(lambda: server.read()[0].state is DriverState.OK)


def test_since_when_a_state_holds_is_kept_while_it_holds(server: Server) -> None:
    server.state.errors = ["Init DRIVER_NOT_LOADED"]
    server.write()
    first, _ = server.read()
    second, _ = server.read()
    assert first.since_at is not None
    assert second.since_at == first.since_at


# -- reload ------------------------------------------------------------------------------------


@pytest.mark.parametrize("stale", ["UNKNOWN", "UNINITIALIZED", "INVALID_ARGUMENT", "GPU_IS_LOST"])
def test_after_a_reload_fresh_handles_are_taken(server: Server, stale: str) -> None:
    server.state.stale_error = stale
    server.gpus()
    helper = server.driver.helper_pid
    server.state.epoch += 1
    server.state.gpus[0].values["temperature"] = 61
    server.write()
    driver, gpus = server.read()
    assert driver.state is DriverState.OK
    assert [gpu.temperature_c for gpu in gpus] == [61, 34]
    assert server.driver.helper_pid == helper


def test_a_driver_that_stays_away_is_reloading_until_it_is_there(
    server: Server, until: Wait
) -> None:
    server.reader(reload_s=0.2)
    server.gpus()
    server.state.epoch += 1
    server.state.errors = ["DeviceGetCount UNKNOWN"]
    server.write()
    driver, gpus = server.read()
    assert driver.state is DriverState.RELOADING
    assert [gpu.state for gpu in gpus] == [GpuState.NOT_ANSWERING] * 2
    server.state.errors = []
    server.write()
    until(lambda: server.read()[0].state is DriverState.OK)


def test_a_process_that_new_handles_do_not_help_is_replaced(server: Server, until: Wait) -> None:
    server.gpus()
    first = server.driver.helper_pid
    server.state.errors = ["DeviceGetCount UNKNOWN"]
    server.write()
    until(lambda: server.read()[0].state is not None and server.driver.helper_pid != first)
    server.state.errors = []
    server.write()
    until(lambda: server.read()[0].state is DriverState.OK)


# -- the library replaced on disk --------------------------------------------------------------


def test_an_update_under_a_running_driver_is_told_and_what_runs_goes_on(
    server: Server, installed: Installed
) -> None:
    installed.put("575.57.08")
    version_file(server.directory, "575.57.08")
    assert [gpu.state for gpu in server.gpus()] == [GpuState.OK] * 2
    helper = server.driver.helper_pid
    installed.put("580.65.06")
    for _ in range(3):
        driver, gpus = server.read()
        assert (driver.state, driver.remedy_code) == (DriverState.OK, "update_pending")
        assert driver.detail == "library 580.65.06 on disk, driver 575.57.08 running"
        assert [gpu.state for gpu in gpus] == [GpuState.OK] * 2
    assert server.driver.helper_pid == helper
    version_file(server.directory, "580.65.06")  # the modules were reloaded
    driver, _ = server.read()
    assert (driver.state, driver.remedy_code) == (DriverState.OK, None)
    assert server.driver.helper_pid != helper


def test_the_same_version_installed_again_is_taken_up_by_a_new_process(
    server: Server, installed: Installed
) -> None:
    installed.put("575.57.08")
    version_file(server.directory, "575.57.08")
    server.gpus()
    helper = server.driver.helper_pid
    installed.remove()
    assert server.read()[0].state is DriverState.OK
    installed.put("575.57.08")
    assert server.read()[0].state is DriverState.OK
    assert server.driver.helper_pid != helper


# -- the helper's end


def test_a_helper_does_not_outlive_a_killed_parent(server: Server, until: Wait) -> None:
    server.write()
    code = (
        "import os, sys, time\n"
        "from roost.machine.nvml import NvmlDriver\n"
        "driver = NvmlDriver()\ndriver.read(5.0)\nos.fork()\n"  # the fork keeps the socket open
        "print(driver.helper_pid, flush=True)\ntime.sleep(30)"
    )
    parent = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    helper = parent.stdout.readline().strip()
    stat = Path(f"/proc/{parent.pid}/task/{parent.pid}/children").read_text().split()
    parent.kill()
    parent.wait()
    try:
        until(lambda: not os.path.exists(f"/proc/{helper}"))
    finally:
        for pid in stat:
            if pid != helper:
                os.kill(int(pid), signal.SIGKILL)


# -- let go and take up ------------------------------------------------------------------------


def test_release_ends_the_helper_and_hold_takes_the_driver_up_again(server: Server) -> None:
    server.gpus()
    helper = server.driver.helper_pid
    server.driver.release()
    assert not os.path.exists(f"/proc/{helper}")
    driver, gpus = server.read()
    assert (driver.state, driver.remedy_code) == (DriverState.RELEASED, "released")
    assert [gpu.state for gpu in gpus] == [GpuState.NOT_ANSWERING] * 2
    assert server.driver.helper_pid is None
    server.driver.hold()
    assert server.read()[0].state is DriverState.OK


def test_the_helper_ends_with_its_parents_end_of_the_socket(server: Server, until: Wait) -> None:
    server.gpus()
    helper = server.driver.helper_pid
    server.close()
    until(lambda: not os.path.exists(f"/proc/{helper}"))


def test_a_helper_that_dies_is_told_with_its_last_words_and_started_again(
    server: Server, until: Wait
) -> None:
    server.gpus()
    helper = server.driver.helper_pid
    assert helper is not None
    os.kill(helper, 6)
    driver, gpus = server.read()
    while driver.state is DriverState.OK:  # the signal had not arrived yet
        driver, gpus = server.read()
    assert driver.state is DriverState.NOT_ANSWERING
    assert "the helper ended with -6" in driver.detail
    assert [gpu.state for gpu in gpus] == [GpuState.NOT_ANSWERING] * 2
    until(lambda: server.read()[0].state is DriverState.OK)
    assert server.driver.helper_pid != helper
