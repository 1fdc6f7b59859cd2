"""Other people's NVML programs run unchanged on the fake: it has NVML's interface, not ours."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from tests.real.fakenvml.build import LAYOUTS
from tests.real.fakenvml.state import MIB, FakeGpu, FakeMig, FakeProcess, FakeState, environment

SCRIPTS = Path(sysconfig.get_path("scripts"))


def run(state: Path, *command: str, layout: str = "v3") -> subprocess.CompletedProcess[str]:
    variables = os.environ | environment(state, layout) | {"COLUMNS": "120", "TERM": "xterm"}
    return subprocess.run(command, env=variables, capture_output=True, text=True, timeout=60)


def python(state: Path, code: str, layout: str = "v3") -> str:
    result = run(
        state, sys.executable, "-c", f"import pynvml as n\nn.nvmlInit()\n{code}", layout=layout
    )
    assert result.returncode == 0, result.stderr
    return result.stdout.strip()


@pytest.fixture
def server(tmp_path: Path) -> tuple[FakeState, Path]:
    state = FakeState.of("A100-80", 3)
    state.gpus[1].processes = [FakeProcess.of(os.getpid(), 1000 * MIB, sm=40)]
    path = tmp_path / "state"
    state.write(path)
    return state, path


@pytest.mark.parametrize("layout", [name for name in LAYOUTS if name != "v1"])
def test_gpustat_reads_processes_in_every_layout_that_it_knows(
    server: tuple[FakeState, Path], layout: str
) -> None:
    result = run(server[1], str(SCRIPTS / "gpustat"), "--json", layout=layout)
    gpus = json.loads(result.stdout)["gpus"]
    assert [gpu["memory.total"] for gpu in gpus] == [81920] * 3
    assert gpus[0]["processes"] == []
    if layout != "v3-32":  # gpustat takes 24 bytes for granted
        assert [p["pid"] for p in gpus[1]["processes"]] == [os.getpid()]


def test_nvitop_prints_the_cards_and_their_process(server: tuple[FakeState, Path]) -> None:
    result = run(server[1], str(SCRIPTS / "nvitop"), "-1")
    assert result.returncode == 0, result.stderr
    assert "A100-SXM4-80GB" in result.stdout
    assert str(os.getpid()) in result.stdout
    assert "1000MiB" in result.stdout


def test_the_state_is_seen_at_the_next_call(server: tuple[FakeState, Path]) -> None:
    code = (
        "import sys, os\nh = n.nvmlDeviceGetHandleByIndex(0)\n"
        "print(n.nvmlDeviceGetTemperature(h, 0), flush=True)\nsys.stdin.readline()\n"
        "print(n.nvmlDeviceGetTemperature(h, 0))"
    )
    state, path = server
    child = subprocess.Popen(
        [sys.executable, "-c", f"import pynvml as n\nn.nvmlInit()\n{code}"],
        env=os.environ | environment(path),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert child.stdout is not None
    assert child.stdin is not None
    assert child.stdout.readline() == "33\n"
    state.gpus[0].values["temperature"] = 71
    state.write(path)
    child.stdin.write("\n")
    child.stdin.flush()
    assert child.stdout.readline() == "71\n"
    child.wait(10)


def test_mig_slots_have_holes_and_instances_their_own_names(tmp_path: Path) -> None:
    gpu = FakeGpu.of("A100-80", 0, mig_mode=1)
    gpu.migs = [FakeMig(slot=0, gi=7), FakeMig(slot=3, gi=9)]
    FakeState([gpu]).write(tmp_path / "state")
    code = (
        "h = n.nvmlDeviceGetHandleByIndex(0)\nfound = []\n"
        "for i in range(n.nvmlDeviceGetMaxMigDeviceCount(h)):\n"
        "  try: m = n.nvmlDeviceGetMigDeviceHandleByIndex(h, i)\n"
        "  except n.NVMLError_NotFound: continue\n"
        "  found.append((i, n.nvmlDeviceGetGpuInstanceId(m), n.nvmlDeviceGetUUID(m)[:4]))\n"
        "print(found)"
    )
    assert python(tmp_path / "state", code) == "[(0, 7, 'MIG-'), (3, 9, 'MIG-')]"


def test_a_call_with_a_failed_handle_aborts(server: tuple[FakeState, Path]) -> None:
    code = "import pynvml as n\nn.nvmlInit()\nn.nvmlDeviceGetName(n.c_nvmlDevice_t())"
    result = run(server[1], sys.executable, "-c", code)
    assert result.returncode == -6
    assert "which is no handle" in result.stderr


def test_events_come_once_and_waiting_really_waits(server: tuple[FakeState, Path]) -> None:
    state, path = server
    code = (
        "import time\nh = n.nvmlDeviceGetHandleByIndex(0)\ns = n.nvmlEventSetCreate()\n"
        "n.nvmlDeviceRegisterEvents(h, 8, s)\nt = time.monotonic()\n"
        "try: n.nvmlEventSetWait_v2(s, 150)\n"
        "except n.NVMLError_Timeout: print(time.monotonic() - t >= 0.15)\n"
        "print('ready', flush=True)\ne = n.nvmlEventSetWait_v2(s, 10000)\nprint(e.eventData)"
    )
    child = subprocess.Popen(
        [sys.executable, "-c", f"import pynvml as n\nn.nvmlInit()\n{code}"],
        env=os.environ | environment(path),
        stdout=subprocess.PIPE,
        text=True,
    )
    assert child.stdout is not None
    assert child.stdout.readline() == "True\n"
    assert child.stdout.readline() == "ready\n"
    state.gpus[0].events = ["sequence=1 type=8 data=79"]
    state.write(path)
    assert child.stdout.readline() == "79\n"
    child.wait(10)


def test_an_error_can_come_after_some_calls_and_go_again(server: tuple[FakeState, Path]) -> None:
    state, path = server
    state.gpus[0].errors = ["DeviceGetTemperature UNKNOWN after=2 times=1"]
    state.write(path)
    code = (
        "h = n.nvmlDeviceGetHandleByIndex(0)\nout = []\n"
        "for _ in range(4):\n"
        "  try: out.append(n.nvmlDeviceGetTemperature(h, 0))\n"
        "  except n.NVMLError as e: out.append(str(e))\n"
        "print(out)"
    )
    assert python(path, code) == "[33, 33, 'Unknown Error', 33]"


NVTOP = """
nvmlDeviceGetClockInfo nvmlDeviceGetComputeRunningProcesses nvmlDeviceGetCurrPcieLinkGeneration
nvmlDeviceGetCurrPcieLinkWidth nvmlDeviceGetDecoderUtilization nvmlDeviceGetEncoderUtilization
nvmlDeviceGetEnforcedPowerLimit nvmlDeviceGetFanSpeed nvmlDeviceGetGraphicsRunningProcesses
nvmlDeviceGetMaxClockInfo nvmlDeviceGetMaxPcieLinkGeneration nvmlDeviceGetMaxPcieLinkWidth
nvmlDeviceGetMemoryInfo nvmlDeviceGetName nvmlDeviceGetPciInfo nvmlDeviceGetPciInfo_v2
nvmlDeviceGetPciInfo_v3 nvmlDeviceGetPcieThroughput nvmlDeviceGetPowerUsage
nvmlDeviceGetProcessUtilization nvmlDeviceGetTemperature nvmlDeviceGetTemperatureThreshold
nvmlDeviceGetUtilizationRates
"""


def test_every_call_of_nvtop_is_answered_and_by_no_stub(tmp_path: Path) -> None:
    FakeState.of("RTX3090", 1).write(tmp_path / "state")
    code = (
        "import ctypes\nh = n.nvmlDeviceGetHandleByIndex(0)\n"
        "room = ctypes.create_string_buffer(4096)\n"
        f"print([name for name in {NVTOP.split()!r} if getattr(n.nvmlLib, name)("
        "h, room, ctypes.byref(room, 1024), ctypes.byref(room, 2048)) == 3])"
    )
    assert python(tmp_path / "state", code) == "[]"


def test_the_detail_list_has_openers_without_a_context(tmp_path: Path) -> None:
    gpu = FakeGpu.of("H100-80")
    gpu.processes = [FakeProcess(5000, 3 * MIB), FakeProcess(5001, 0, kinds="X")]
    FakeState([gpu]).write(tmp_path / "state")
    code = (
        "import ctypes\nh = n.nvmlDeviceGetHandleByIndex(0)\n"
        "room = (n.c_nvmlProcessDetail_v1_t * 9)()\nlist = n.c_nvmlProcessDetailList_v1_t()\n"
        "list.version, list.mode, list.numProcArrayEntries = 0x1000018, 3, 9\n"
        "list.procArray = ctypes.cast(room, ctypes.POINTER(n.c_nvmlProcessDetail_v1_t))\n"
        "assert n.nvmlLib.nvmlDeviceGetRunningProcessDetailList(h, ctypes.byref(list)) == 0\n"
        "print([(room[i].pid, room[i].usedGpuMemory) for i in range(list.numProcArrayEntries)])"
    )
    assert python(tmp_path / "state", code) == f"[(5000, {3 * MIB}), (5001, 0)]"


def test_field_values_tell_value_type_and_what_is_not_supported(tmp_path: Path) -> None:
    gpu = FakeGpu.of("A100-80", 0, energy_mj=7, recovery_action=None)
    gpu.fields = ["269 123456789", "270 NOT_SUPPORTED"]
    FakeState([gpu]).write(tmp_path / "state")
    code = (
        "h = n.nvmlDeviceGetHandleByIndex(0)\n"
        "v = n.nvmlDeviceGetFieldValues(h, [83, 186, 230, 269, 270])\n"
        "print([(f.nvmlReturn, f.valueType, f.value.ullVal) for f in v])"
    )
    told = "[(0, 3, 7), (0, 1, 68000), (3, 3, 0), (0, 3, 123456789), (3, 3, 0)]"
    assert python(tmp_path / "state", code) == told


def test_a_driver_reload_leaves_old_handles_dead(server: tuple[FakeState, Path]) -> None:
    state, path = server
    code = (
        "import sys\nh = n.nvmlDeviceGetHandleByIndex(0)\nprint('ready', flush=True)\n"
        "sys.stdin.readline()\n"
        "try: n.nvmlDeviceGetName(h)\n"
        "except n.NVMLError as e: print(e)\n"
        "n.nvmlShutdown(); n.nvmlInit()\n"
        "print(n.nvmlDeviceGetName(n.nvmlDeviceGetHandleByIndex(0)))"
    )
    child = subprocess.Popen(
        [sys.executable, "-c", f"import pynvml as n\nn.nvmlInit()\n{code}"],
        env=os.environ | environment(path),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert child.stdout is not None
    assert child.stdout.readline() == "ready\n"
    state.epoch += 1
    state.write(path)
    out, _ = child.communicate("\n", timeout=20)
    assert out.splitlines() == ["Unknown Error", "NVIDIA A100-SXM4-80GB"]


def test_ziglang_builds_it_where_there_is_no_compiler(
    tmp_path: Path, server: tuple[FakeState, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("ziglang")
    monkeypatch.setattr("shutil.which", lambda name: None)
    assert python(server[1], "print(n.nvmlDeviceGetCount())") == "3"
