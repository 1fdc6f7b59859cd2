"""Calls that do not return: the caller goes on, one helper at most, one card costs one card."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from roost.core.observation import DriverState, GpuReading, GpuState
from tests.machine.nvml.conftest import Server
from tests.real.fakenvml.state import FakeState

Wait = Callable[[Callable[[], bool]], None]
SOON = 0.15
SLACK_S = 1.0  # of a busy machine


def helpers() -> set[int]:
    """Helper processes whose parent is this process."""
    found = set()
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            stat = Path(f"/proc/{name}/stat").read_bytes().rpartition(b")")[2].split()
            if int(stat[1]) == os.getpid() and stat[0] != b"Z":
                cmdline = Path(f"/proc/{name}/cmdline").read_bytes()
                if b"roost.machine.nvml.helper" in cmdline:
                    found.add(int(name))
        except (OSError, IndexError):
            continue
    return found


def test_a_read_returns_at_its_deadline_and_the_cards_say_so(server: Server) -> None:
    server.gpus()
    server.state.hangs = ["DeviceGetUtilizationRates"]
    server.write()
    began = time.monotonic()
    driver, gpus = server.read(SOON)
    assert time.monotonic() - began < SOON + SLACK_S
    assert (driver.state, driver.remedy_code) == (DriverState.NOT_ANSWERING, "not_answering")
    assert [gpu.state for gpu in gpus] == [GpuState.NOT_ANSWERING] * 2
    assert gpus[0].memory_total_bytes == 80 << 30
    assert gpus[0].memory_used_bytes is None


def test_jitter_costs_one_late_sample_and_no_process(server: Server) -> None:
    server.gpus()
    helper = server.driver.helper_pid
    server.state.hangs = ["DeviceGetUtilizationRates"]
    server.write()
    assert server.read(SOON)[0].state is DriverState.NOT_ANSWERING
    server.state.hangs = []
    server.state.gpus[0].values["temperature"] = 77
    server.write()
    driver, gpus = server.read()
    assert (driver.state, gpus[0].temperature_c) == (DriverState.OK, 77)
    assert server.driver.helper_pid == helper


def test_an_answer_to_an_old_question_is_not_taken_for_a_new_one(server: Server) -> None:
    server.gpus()
    server.state.hangs = ["DeviceGetUtilizationRates"]
    server.write()
    server.read(SOON)
    server.state.hangs = []
    server.write()
    time.sleep(0.2)  # the late answer lies in the socket
    server.state.gpus[0].values["temperature"] = 78
    server.write()
    assert server.read()[1][0].temperature_c == 78


def test_never_more_than_one_helper_while_everything_hangs(server: Server, until: Wait) -> None:
    server.gpus()
    server.state.hangs = ["DeviceGetCount"]
    server.write()
    for _ in range(15):
        assert server.read(0.05)[0].state is DriverState.NOT_ANSWERING
        assert len(helpers()) <= 1
    server.state.hangs = []
    server.write()
    until(lambda: server.read()[0].state is DriverState.OK)
    assert [gpu.state for gpu in server.read()[1]] == [GpuState.OK] * 2
    assert len(helpers()) == 1


def read_ok(server: Server) -> tuple[GpuReading, ...]:
    """The cards of the next sample in which the driver answers."""
    end = time.monotonic() + 10
    while time.monotonic() < end:
        driver, gpus = server.read(SOON)
        if driver.state is DriverState.OK:
            return gpus
    raise AssertionError("the driver does not answer")


def test_one_hanging_card_says_so_and_the_others_go_on(server: Server) -> None:
    server.gpus()
    server.state.gpus[1].hangs = ["DeviceGetUtilizationRates"]
    server.write()
    first, hanging = read_ok(server)
    assert (first.state, first.temperature_c) == (GpuState.OK, 33)
    assert (hanging.state, hanging.uuid) == (
        GpuState.NOT_ANSWERING,
        server.state.gpus[1].uuid,
    )
    assert len(helpers()) == 1


def test_a_hanging_card_comes_back_by_itself(server: Server, until: Wait) -> None:
    server.gpus()
    server.state.gpus[1].hangs = ["*"]
    server.write()
    until(lambda: server.read(SOON)[0].state is DriverState.OK)
    server.state.gpus[1].hangs = []
    server.write()
    until(lambda: [gpu.state for gpu in server.read()[1]] == [GpuState.OK] * 2)
    assert server.read()[1][1].temperature_c == 34


def test_a_probe_that_hangs_again_costs_the_others_nothing(server: Server, until: Wait) -> None:
    server.gpus()
    server.state.gpus[1].hangs = ["*"]
    server.write()
    until(lambda: server.read(SOON)[0].state is DriverState.OK)
    helper = server.driver.helper_pid
    end = time.monotonic() + 2.5
    states = set()
    while time.monotonic() < end:
        time.sleep(0.6)
        states.add(server.read(2.0)[0].state)
        assert len(helpers()) <= 1
    assert states == {DriverState.OK}
    assert server.driver.helper_pid != helper, "the probe was tried"


def test_a_card_that_hangs_from_the_start_does_not_hide_the_others(
    server: Server, until: Wait
) -> None:
    server.state.gpus[0].hangs = ["*"]
    server.write()
    hanging, other = read_ok(server)
    assert (hanging.state, hanging.index) == (GpuState.NOT_ANSWERING, 0)
    assert (other.uuid, other.state) == (server.state.gpus[1].uuid, GpuState.OK)
    server.state.gpus[0].hangs = []
    server.write()
    until(lambda: [gpu.state for gpu in server.read()[1]] == [GpuState.OK] * 2)
    assert server.read()[1][0].uuid == server.state.gpus[0].uuid


def test_a_slow_initialisation_is_a_start_and_no_hang(server: Server, until: Wait) -> None:
    server.state.hangs = ["Init"]
    server.write()
    driver, gpus = server.read(1.0)
    assert (driver.state, driver.remedy_code, gpus) == (DriverState.NOT_ANSWERING, "starting", ())
    helper = server.driver.helper_pid
    time.sleep(0.4)  # longer than kill_after_s
    server.read(SOON)
    server.state.hangs = []
    server.write()
    until(lambda: server.read()[0].state is DriverState.OK)
    assert server.driver.helper_pid == helper


def test_closing_while_a_call_hangs_leaves_no_process(server: Server, until: Wait) -> None:
    server.gpus()
    server.state.hangs = ["DeviceGetCount"]
    server.write()
    server.read(SOON)
    began = time.monotonic()
    server.driver.close()
    assert time.monotonic() - began < 2 + SLACK_S
    until(lambda: not helpers())


def test_many_slow_cards_are_no_hang(server: Server, until: Wait) -> None:
    server.state = FakeState.of("A100-80", 8)
    server.options = replace(server.options, kill_after_s=1.0)
    server.write()
    helper = None
    for index in range(8):  # each card takes 0.3 s, all together more than a hang may take
        server.state.gpus[index].hangs = ["DeviceGetUUID"]
        server.write()
        assert server.read(0.3)[0].state is DriverState.NOT_ANSWERING
        helper = helper or server.driver.helper_pid
        server.state.gpus[index].hangs = []
        for later in server.state.gpus[index + 1 :]:
            later.hangs = ["DeviceGetUUID"]
    server.write()
    until(lambda: server.read()[0].state is DriverState.OK)
    assert server.driver.helper_pid == helper
