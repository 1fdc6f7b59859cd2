"""Simulated cards: which there are, how they behave in time, and the faults they are told of."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roost.core.observation import DriverState, GpuState
from roost.machine.simulated import SimulatedDriver
from roost.machine.simulated_cards import MIB, MODELS, parse_simulated
from roost.machine.simulated_faults import parse_faults
from roost.machine.simulation import SimulatedLoad, advance, at_rest

A100 = MODELS["A100"]


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


# -- which cards -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("spec", "names"),
    [
        ("8xA100", ["A100"] * 8),
        ("4xH100", ["H100"] * 4),
        ("2xRTX4090", ["RTX4090"] * 2),
        ("4xA100,2xL40S", ["A100"] * 4 + ["L40S"] * 2),
        (" 1xa100-40 , t4 ", ["A100-40", "T4"]),
        ("64xV100", ["V100"] * 64),
    ],
)
def test_a_spec_names_its_cards(spec: str, names: list[str]) -> None:
    assert [model.key for model in parse_simulated(spec)] == names


@pytest.mark.parametrize("model", sorted(MODELS))
def test_every_model_can_be_simulated(model: str) -> None:
    (gpu,) = SimulatedDriver(f"1x{model}").read(1.0)[1]
    assert gpu.state is GpuState.OK
    assert gpu.name == MODELS[model].name


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ("8xGTX1080", "no GPU model 'GTX1080' to simulate; known are A100, A100-40"),
        ("0xA100", "1 to 64 in all"),
        ("65xA100", "1 to 64 in all"),
        ("60xA100,5xT4", "1 to 64 in all"),
        ("-1xA100", "write a number, x and a model"),
        ("", "write a number, x and a model"),
        ("8x", "write a number, x and a model"),
        ("4xA100,", "write a number, x and a model"),
    ],
)
def test_a_spec_that_makes_no_sense_is_refused_with_what_does(spec: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        parse_simulated(spec)


def test_uuids_are_the_same_at_each_start() -> None:
    first = [gpu.uuid for gpu in SimulatedDriver("4xA100,2xL40S").read(1.0)[1]]
    assert [gpu.uuid for gpu in SimulatedDriver("4xA100,2xL40S").read(1.0)[1]] == first
    assert [gpu.uuid for gpu in SimulatedDriver("8xA100").read(1.0)[1]][:4] == first[:4]


def test_simulated_cards_say_that_they_are_and_name_no_device_file() -> None:
    driver, gpus = SimulatedDriver("2xA100").read(1.0)
    assert driver.state is DriverState.SIMULATED
    assert [gpu.minor for gpu in gpus] == [None, None]


# -- in time -----------------------------------------------------------------------------------


def test_a_job_warms_the_card_up_and_its_end_cools_it_down() -> None:
    clock = Clock()
    driver = SimulatedDriver("1xA100", clock=clock)
    (idle,) = driver.read(1.0)[1]
    driver.set_load({idle.uuid: [SimulatedLoad((4711, 4712))]})
    clock.now += 1
    (starting,) = driver.read(1.0)[1]
    clock.now += 300
    (busy,) = driver.read(1.0)[1]
    driver.set_load({})
    clock.now += 1
    (ended,) = driver.read(1.0)[1]
    clock.now += 600
    (cold,) = driver.read(1.0)[1]
    assert idle.utilisation_percent == 0
    assert idle.power_w == A100.power_idle_w
    assert idle.processes == ()
    assert starting.power_w is not None
    assert busy.power_w is not None
    assert idle.power_w < starting.power_w < busy.power_w <= A100.power_limit_w
    assert 85 <= (busy.utilisation_percent or 0) <= 100
    assert (starting.memory_used_bytes or 0) < (busy.memory_used_bytes or 0)
    assert busy.temperature_c is not None
    assert 60 < busy.temperature_c < A100.slowdown_c
    assert [p.pid for p in busy.processes] == [4711, 4712]
    assert sum(p.memory_bytes or 0 for p in busy.processes) == busy.memory_used_bytes
    assert (ended.memory_used_bytes, ended.utilisation_percent) == (0, 0)
    assert ended.temperature_c is not None
    assert ended.temperature_c > 60, "heat has inertia"
    assert cold.temperature_c == idle.temperature_c


def test_a_share_holds_what_it_was_given() -> None:
    clock = Clock()
    driver = SimulatedDriver("1xA100", clock=clock)
    uuid = driver.read(1.0)[1][0].uuid
    driver.set_load({uuid: [SimulatedLoad((1,), 10 << 30, 20), SimulatedLoad((2,), 20 << 30, 30)]})
    clock.now += 100
    (gpu,) = driver.read(1.0)[1]
    assert [p.memory_bytes for p in gpu.processes] == [10 << 30, 20 << 30]
    assert [p.sm_percent for p in gpu.processes] == [20, 30]


def test_loads_for_cards_that_are_not_here_are_nobodys() -> None:
    driver = SimulatedDriver("1xA100")
    driver.set_load({"GPU-elsewhere": [SimulatedLoad((1,))]})
    assert driver.read(1.0)[1][0].processes == ()


LOADS = st.lists(
    st.builds(
        SimulatedLoad,
        st.lists(st.integers(1, 9999), min_size=1, max_size=4, unique=True).map(tuple),
        st.none() | st.integers(0, 200 << 30),
        st.none() | st.integers(-5, 300),
    ),
    max_size=4,
)


@given(st.lists(st.tuples(LOADS, st.floats(0, 1000)), max_size=8))
def test_whatever_runs_the_card_stays_within_its_figures(
    story: list[tuple[list[SimulatedLoad], float]],
) -> None:
    now = 0.0
    state = at_rest(A100, now)
    for loads, passed in story:
        before = state.energy_j
        now += passed
        state = advance(A100, state, loads, now)
        held = sum(one.memory_bytes for one in state.held)
        assert 0 <= held <= (A100.memory_mib - A100.reserved_mib) * MIB
        assert A100.power_idle_w - 0.001 <= state.power_w <= A100.power_limit_w
        assert 20 < state.temperature_c < A100.slowdown_c
        assert before - 0.001 <= state.energy_j - A100.power_idle_w * passed * 0.999
        assert state.energy_j <= before + A100.power_limit_w * passed + 0.001


@given(st.floats(0.1, 500), st.integers(2, 40))
def test_often_looked_at_or_seldom_it_ends_the_same(passed: float, steps: int) -> None:
    loads = [SimulatedLoad((1,), 10 << 30, 70)]
    start = advance(A100, at_rest(A100, 0.0), loads, 0.0)
    once = advance(A100, start, loads, passed)
    often = start
    for step in range(1, steps + 1):
        often = advance(A100, often, loads, passed * step / steps)
    assert often.power_w == pytest.approx(once.power_w)
    assert often.temperature_c == pytest.approx(once.temperature_c)
    assert often.energy_j == pytest.approx(once.energy_j)
    assert often.held[0].memory_bytes == pytest.approx(once.held[0].memory_bytes, abs=2)


# -- faults ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("word", "state"),
    [
        ("lost", GpuState.LOST),
        ("reset_required", GpuState.RESET_REQUIRED),
        ("hang", GpuState.NOT_ANSWERING),
        ("missing", GpuState.MISSING),
        ("no_permission", GpuState.NO_PERMISSION),
        ("error", GpuState.ERROR),
    ],
)
def test_a_card_fails_as_told_and_works_when_the_file_is_gone(
    tmp_path: Path, word: str, state: GpuState
) -> None:
    path = tmp_path / "simulate.toml"
    driver = SimulatedDriver("2xA100", str(path))
    path.write_text(f'[gpu.1]\nstate = "{word}"\n')
    assert [gpu.state for gpu in driver.read(1.0)[1]] == [GpuState.OK, state]
    path.unlink()
    assert [gpu.state for gpu in driver.read(1.0)[1]] == [GpuState.OK] * 2


def test_a_foreign_process_appears_on_its_card(tmp_path: Path) -> None:
    clock = Clock()
    path = tmp_path / "simulate.toml"
    driver = SimulatedDriver("2xA100", str(path), clock=clock)
    path.write_text("[[gpu.0.process]]\npid = 4711\nmemory_mib = 642\n")
    driver.read(1.0)
    clock.now += 60
    (process,) = driver.read(1.0)[1][0].processes
    assert (process.pid, process.memory_bytes, process.sm_percent) == (4711, 642 * MIB, 0)


def test_a_job_may_be_told_to_leave_its_card_idle(tmp_path: Path) -> None:
    clock = Clock()
    path = tmp_path / "simulate.toml"
    path.write_text("[gpu.1]\nutilisation_percent = 0\n")
    driver = SimulatedDriver("2xA100", str(path), clock=clock)
    uuids = [gpu.uuid for gpu in driver.read(1.0)[1]]
    driver.set_load({uuid: [SimulatedLoad((os.getpid(),))] for uuid in uuids})
    clock.now += 60
    busy, idle = driver.read(1.0)[1]
    assert (busy.utilisation_percent or 0) > 80
    assert idle.utilisation_percent == 0
    assert idle.memory_used_bytes == busy.memory_used_bytes


def test_a_file_with_an_error_says_so_and_faults_nothing(tmp_path: Path) -> None:
    path = tmp_path / "simulate.toml"
    path.write_text('[gpu.0]\nstate = "burnt"\n')
    driver, gpus = SimulatedDriver("1xA100", str(path)).read(1.0)
    assert driver.state is DriverState.SIMULATED
    assert "gpu.0.state = 'burnt'; allowed are error, hang, lost" in driver.detail
    assert gpus[0].state is GpuState.OK


def test_a_link_in_place_of_the_file_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").write_text('driver = "not_loaded"\n')
    os.symlink(tmp_path / "elsewhere", tmp_path / "simulate.toml")
    driver, _ = SimulatedDriver("1xA100", str(tmp_path / "simulate.toml")).read(1.0)
    assert driver.state is DriverState.SIMULATED
    assert driver.detail


@pytest.mark.parametrize(
    "text",
    [
        "driver = 3",
        "gpu = 1",
        "[gpu.x]\nstate = 'lost'",
        "[gpu.0]\nstat = 'lost'",
        "[gpu]\n0 = 1",
        "[[gpu.0.process]]\npid = 'x'",
        "[[gpu.0.process]]\nmemory_mib = 3",
        "[[gpu.0.process]]\npid = -1",
        "[gpu.0]\nprocess = [1]",
        "[gpu.0]\nutilisation_percent = 'none'",
        "drivers = 'ok'",
        "not toml",
    ],
)
def test_bad_faults_are_value_errors(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        parse_faults(text)
