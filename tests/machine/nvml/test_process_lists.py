"""NVML's lists of processes: five layouts, three lists, and everything they get wrong."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roost.core.observation import GpuProcess, GpuState
from roost.machine.nvml.processes import LAYOUTS, PATTERN, join, stride_of
from tests.machine.nvml.conftest import Server
from tests.real.fakenvml.build import LAYOUTS as DRIVERS
from tests.real.fakenvml.state import MIB, FakeProcess


@pytest.mark.parametrize("layout", list(DRIVERS))
@pytest.mark.parametrize("count", [1, 2, 3, 7])
def test_pids_and_memory_are_right_in_every_layout(server: Server, layout: str, count: int) -> None:
    server.layout(layout)
    server.state.gpus[1].processes = [
        FakeProcess(5000 + i, (100 + i) * MIB, sm=10 + i) for i in range(count)
    ]
    gpus = server.gpus()
    assert gpus[0].processes == ()
    assert gpus[1].processes == tuple(
        GpuProcess(5000 + i, (100 + i) * MIB, ("compute",), None, None, 10 + i)
        for i in range(count)
    )
    assert gpus[1].state is GpuState.OK


def test_old_drivers_without_instances_and_memory_v2_are_read(server: Server) -> None:
    server.layout("v1")
    server.state.gpus[0].processes = [FakeProcess(5000, 100 * MIB)]
    gpu = server.gpus()[0]
    assert gpu.memory_reserved_bytes is None
    assert gpu.processes == (GpuProcess(5000, 100 * MIB, sm_percent=0),)


@given(
    stride=st.sampled_from(sorted(LAYOUTS)),
    rows=st.lists(
        st.tuples(st.integers(0, 2**32 - 1), st.integers(0, 2**48)), min_size=1, max_size=20
    ),
)
def test_the_layout_is_found_by_what_was_written(stride: int, rows: list[tuple[int, int]]) -> None:
    tail = {16: b"", 24: b"\xff" * 8, 32: b"\xff" * 16}[stride]
    written = b"".join(
        pid.to_bytes(4, "little") + bytes([PATTERN] * 4) + memory.to_bytes(8, "little") + tail
        for pid, memory in rows
    )
    room = bytes([PATTERN]) * ((len(rows) + 1) * 32 - len(written))
    assert stride_of(written + room, len(rows)) == stride


def test_what_no_layout_explains_is_refused() -> None:
    assert stride_of(b"\x01" * 20 + bytes([PATTERN]) * 44, 1) is None


def test_a_process_in_compute_and_graphics_is_one_with_its_memory_once(server: Server) -> None:
    server.state.gpus[0].processes = [
        FakeProcess(5000, 300 * MIB, kinds="CG"),
        FakeProcess(5001, 20 * MIB, kinds="G"),
        FakeProcess(5002, 40 * MIB, kinds="CM"),
    ]
    assert [(p.pid, p.memory_bytes, p.kinds) for p in server.gpus()[0].processes] == [
        (5000, 300 * MIB, ("compute", "graphics")),
        (5001, 20 * MIB, ("graphics",)),
        (5002, 40 * MIB, ("compute", "mps")),
    ]


def test_of_two_figures_for_one_process_the_larger_counts() -> None:
    joined = join((("compute", [(1, 50)]), ("graphics", [(1, 70)]), ("mps", [(1, 2**64 - 1)])))
    ((key, one),) = joined.items()
    assert key == (1, None, None)
    assert (one.memory, one.kinds) == (70, ("compute", "graphics", "mps"))


def test_one_process_on_several_gpus_is_on_each_with_what_it_holds_there(server: Server) -> None:
    server.state.gpus[0].processes = [FakeProcess(5000, 10 * MIB, sm=30)]
    server.state.gpus[1].processes = [FakeProcess(5000, 20 * MIB, sm=60)]
    assert [
        [(p.pid, p.memory_bytes, p.sm_percent) for p in gpu.processes] for gpu in server.gpus()
    ] == [[(5000, 10 * MIB, 30)], [(5000, 20 * MIB, 60)]]


def test_pids_that_are_none_are_dropped(server: Server) -> None:
    server.state.gpus[0].processes = [
        FakeProcess(0, MIB),
        FakeProcess(4294967295, MIB),
        FakeProcess(5000, MIB),
    ]
    assert [p.pid for p in server.gpus()[0].processes] == [5000]


def test_memory_that_is_not_available_is_none_and_the_process_is_there(server: Server) -> None:
    server.state.gpus[0].processes = [FakeProcess(5000, None)]
    (process,) = server.gpus()[0].processes
    assert process.memory_bytes is None


def test_a_list_that_grows_while_it_is_read_is_read_again(server: Server) -> None:
    server.state.gpus[0].processes = [FakeProcess(5000 + i, MIB) for i in range(700)]
    assert len(server.gpus()[0].processes) == 700
    server.state.gpus[0].errors = ["DeviceGetComputeRunningProcesses INSUFFICIENT_SIZE times=2"]
    gpu = server.gpus()[0]
    assert (len(gpu.processes), gpu.state) == (700, GpuState.OK)


def test_one_failing_list_costs_neither_the_card_nor_the_other_lists(server: Server) -> None:
    server.state.gpus[0].processes = [FakeProcess(5000, MIB), FakeProcess(5001, MIB, kinds="G")]
    server.state.gpus[0].errors = ["DeviceGetComputeRunningProcesses UNKNOWN"]
    gpu = server.gpus()[0]
    assert [p.pid for p in gpu.processes] == [5001]
    assert gpu.state is GpuState.ERROR
    assert "UNKNOWN" in gpu.state_detail
    assert gpu.temperature_c == 33


# -- lists that are asked only with a reason ---------------------------------------------------


def test_graphics_that_take_memory_are_seen_at_once_though_seldom_asked(server: Server) -> None:
    server.reader(graphics_s=3600.0)
    gpu = server.state.gpus[0]
    gpu.processes = [FakeProcess(5000, 100 * MIB)]
    assert [p.pid for p in server.gpus()[0].processes] == [5000]
    gpu.processes.append(FakeProcess(5001, 80 * MIB, kinds="G"))
    assert [p.pid for p in server.gpus()[0].processes] == [5000, 5001]
    assert [p.pid for p in server.gpus()[0].processes] == [5000, 5001]
    gpu.processes.pop()
    assert [p.pid for p in server.gpus()[0].processes] == [5000]


def test_without_a_reason_the_graphics_list_is_not_asked(server: Server) -> None:
    server.reader(graphics_s=3600.0)
    server.state.gpus[0].processes = [FakeProcess(5000, 100 * MIB)]
    assert server.gpus()[0].state is GpuState.OK
    server.state.gpus[0].errors = ["DeviceGetGraphicsRunningProcesses UNKNOWN"]
    assert server.gpus()[0].state is GpuState.OK


def test_a_card_with_a_display_is_always_asked_for_graphics(server: Server) -> None:
    server.reader(graphics_s=3600.0)
    server.state.gpus[0].values["display_active"] = 1
    assert server.gpus()[0].processes == ()
    server.state.gpus[0].processes = [FakeProcess(5001, 4 * MIB, kinds="G")]
    assert [p.pid for p in server.gpus()[0].processes] == [5001]


# -- utilisation by process --------------------------------------------------------------------


def test_garbage_samples_are_dropped_and_missing_is_idle(server: Server) -> None:
    gpu = server.state.gpus[0]
    gpu.processes = [FakeProcess(5000, MIB, sm=40), FakeProcess(5001, MIB)]
    gpu.samples = [
        "pid=5001 sm=37100",
        "pid=5001 sm=5 mem=200",
        "pid=424242 sm=7",
    ]
    assert [(p.pid, p.sm_percent) for p in server.gpus()[0].processes] == [(5000, 40), (5001, 0)]


def test_samples_of_the_past_are_not_read_twice(server: Server) -> None:
    gpu = server.state.gpus[0]
    gpu.processes = [FakeProcess(5000, MIB)]
    gpu.samples = ["pid=5000 at=5000000 sm=44"]
    assert server.gpus()[0].processes[0].sm_percent == 44
    assert server.gpus()[0].processes[0].sm_percent == 0
    gpu.samples = ["pid=5000 at=1 sm=99"]  # told again and again, from long ago
    assert server.gpus()[0].processes[0].sm_percent == 0


def test_samples_of_pids_that_nobody_knows_say_nothing_of_the_others(server: Server) -> None:
    gpu = server.state.gpus[0]
    gpu.processes = [FakeProcess(5000, MIB)]
    gpu.samples = ["pid=77 sm=90"]  # the host's number, in another pid namespace
    assert server.gpus()[0].processes[0].sm_percent is None


def test_without_utilisation_by_process_it_is_unknown(server: Server) -> None:
    gpu = server.state.gpus[0]
    gpu.processes = [FakeProcess(5000, MIB, sm=40)]
    gpu.errors = ["DeviceGetProcessUtilization NOT_SUPPORTED"]
    assert server.gpus()[0].processes[0].sm_percent is None


# -- pid namespaces ----------------------------------------------------------------------------


def test_processes_of_other_namespaces_are_skipped_as_the_driver_does(server: Server) -> None:
    own = os.stat("/proc/self/ns/pid").st_ino
    server.state.host_namespace = own - 1  # as if this test ran inside a container
    server.state.gpus[0].processes = [
        FakeProcess(90001, MIB, namespace=own, namespace_pid=7),
        FakeProcess(90002, MIB, namespace=own - 2, namespace_pid=8),
    ]
    gpu = server.gpus()[0]
    assert [p.pid for p in gpu.processes] == [7]
    assert gpu.memory_used_bytes == 2 * MIB
    server.state.raw_pids = True  # drivers before 535.113 told the host's numbers
    assert [p.pid for p in server.gpus()[0].processes] == [7, 90002]


def test_the_pid_of_a_dead_client_goes_on_being_told(
    server: Server, until: Callable[[Callable[[], bool]], None]
) -> None:
    child = subprocess.Popen(["sleep", "60"])
    server.state.gpus[0].processes = [FakeProcess.of(child.pid, 64 * MIB)]
    child.kill()
    child.wait()
    until(lambda: not os.path.exists(f"/proc/{child.pid}"))
    assert [p.pid for p in server.gpus()[0].processes] == [child.pid]
