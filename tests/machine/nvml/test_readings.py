"""What one card says, on real cards' figures; and what it does not say is None, never 0."""

from __future__ import annotations

import pytest

from roost.core.observation import DriverState, GpuState
from tests.machine.nvml.conftest import Server
from tests.real.fakenvml.profiles import PROFILES
from tests.real.fakenvml.state import MIB, FakeGpu, FakeMig, FakeProcess


@pytest.mark.parametrize("model", list(PROFILES))
def test_every_model_tells_its_limits_and_a_consistent_memory(server: Server, model: str) -> None:
    card = PROFILES[model]
    server.state.gpus = [FakeGpu.of(model, 0, memory_used=1000 * MIB)]
    (gpu,) = server.gpus()
    assert gpu.state is GpuState.OK, gpu.state_detail
    assert gpu.name == card.name
    assert gpu.memory_total_bytes == card.memory_mib * MIB
    assert gpu.memory_used_bytes == 1000 * MIB
    assert gpu.memory_reserved_bytes == card.reserved_mib * MIB
    assert gpu.memory_free_bytes == (card.memory_mib - card.reserved_mib - 1000) * MIB
    assert gpu.memory_consistent
    assert gpu.temperature_shutdown_c == card.limits_c[0]
    assert gpu.temperature_slowdown_c == card.limits_c[1]
    assert gpu.power_limit_w == card.power_w[1]
    assert gpu.sm_clock_max_mhz == card.clocks_mhz[0]
    assert gpu.pcie_generation_max == card.pcie_generation
    assert gpu.ecc_corrected == (0 if card.ecc else None)
    assert gpu.fan_percent == (30 if card.fan else None)
    assert gpu.mig_mode == (False if card.mig_slots else None)


def test_the_driver_says_its_versions(server: Server) -> None:
    server.write()
    driver, gpus = server.read()
    assert (driver.state, driver.driver_version, driver.cuda_version) == (
        DriverState.OK,
        "575.57.08",
        "12.9",
    )
    assert driver.since_at is not None
    assert [gpu.index for gpu in gpus] == [0, 1]


def test_identity_minor_and_place_are_the_cards_own(server: Server) -> None:
    server.state.gpus = [FakeGpu.of("A100-80", i, minor=15 - i) for i in range(16)]
    gpus = server.gpus()
    assert [gpu.minor for gpu in gpus] == list(range(15, -1, -1))
    assert [gpu.uuid for gpu in gpus] == [gpu.uuid for gpu in server.state.gpus]
    assert gpus[3].pci_bus_id == "00000000:13:00.0"
    assert [gpu.numa_node for gpu in gpus] == [0] * 4 + [1] * 12
    assert set(gpus[0].links) == {gpu.uuid for gpu in gpus[1:]}


def test_cards_without_nvlink_have_no_links(server: Server) -> None:
    server.state.gpus = [FakeGpu.of("L40S", i) for i in range(2)]
    assert [gpu.links for gpu in server.gpus()] == [(), ()]


# -- memory ------------------------------------------------------------------------------------


def test_used_that_includes_the_reserve_is_seen_and_corrected(server: Server) -> None:
    server.state.gpus[0].values |= {"used_includes_reserved": 1, "memory_used": 5000 * MIB}
    gpu = server.gpus()[0]
    assert gpu.memory_used_bytes == 5000 * MIB
    assert gpu.memory_reserved_bytes == PROFILES["A100-80"].reserved_mib * MIB
    assert gpu.memory_consistent


def test_an_idle_card_uses_nothing_whatever_the_driver_reserves(server: Server) -> None:
    assert [gpu.memory_used_bytes for gpu in server.gpus()] == [0, 0]


def test_a_sum_that_does_not_hold_is_told_as_such(server: Server) -> None:
    server.state.gpus[0].values |= {"memory_gap": 700 * MIB, "memory_used": 100 * MIB}
    gpu = server.gpus()[0]
    assert not gpu.memory_consistent
    assert gpu.memory_used_bytes == 100 * MIB
    assert gpu.state is GpuState.OK


@pytest.mark.parametrize("answer", [0, 999])
def test_without_the_second_version_the_reserve_is_unknown(server: Server, answer: int) -> None:
    server.state.gpus[0].values |= {"memory_v2": answer, "memory_used": 100 * MIB}
    gpu = server.gpus()[0]
    assert gpu.state is GpuState.OK, gpu.state_detail
    assert gpu.memory_reserved_bytes is None
    assert gpu.memory_used_bytes == (100 + PROFILES["A100-80"].reserved_mib) * MIB


def test_a_card_with_no_memory_of_its_own_says_nothing_of_it(server: Server) -> None:
    server.state.gpus[0].values |= {"memory_total": None}
    gpu = server.gpus()[0]
    assert (gpu.memory_total_bytes, gpu.memory_used_bytes) == (None, None)
    assert gpu.state is GpuState.OK


# -- what is no value --------------------------------------------------------------------------


def test_nonsense_utilisation_is_unknown_and_never_clamped(server: Server) -> None:
    server.state.gpus[0].values |= {"utilisation": 37100, "encoder": 101, "decoder": 100}
    gpu = server.gpus()[0]
    assert gpu.utilisation_percent is None
    assert gpu.encoder_percent is None
    assert gpu.decoder_percent == 100


def test_blanks_and_sentinels_are_unknown(server: Server) -> None:
    server.state.gpus[0].values |= {
        "temperature": 0xFFFFFFFF,
        "sm_clock": 0xFFFFFFFF,
        "energy_mj": (1 << 64) - 1,
        "ecc_corrected": 1 << 63,
        "power_mw": 0xFFFFFFFF,
    }
    gpu = server.gpus()[0]
    assert gpu.temperature_c is None
    assert gpu.sm_clock_mhz is None
    assert gpu.energy_j is None
    assert gpu.ecc_corrected is None
    assert gpu.power_w is None
    assert gpu.state is GpuState.OK


@pytest.mark.parametrize(
    ("key", "field"),
    [
        ("utilisation", "utilisation_percent"),
        ("encoder", "encoder_percent"),
        ("temperature", "temperature_c"),
        ("power_mw", "power_w"),
        ("power_limit_mw", "power_limit_w"),
        ("energy_mj", "energy_j"),
        ("sm_clock", "sm_clock_mhz"),
        ("throttle", "throttle_reasons"),
        ("ecc_corrected", "ecc_corrected"),
        ("bar1_total", "bar1_used_bytes"),
        ("pcie_generation", "pcie_generation"),
        ("persistence", "persistence_mode"),
        ("display_active", "display_active"),
        ("mig_mode", "mig_mode"),
        ("minor", "minor"),
        ("numa_node", "numa_node"),
    ],
)
def test_what_the_card_does_not_support_is_none_and_the_rest_is_there(
    server: Server, key: str, field: str
) -> None:
    server.state.gpus[0].values[key] = None
    gpu = server.gpus()[0]
    assert getattr(gpu, field) is None
    assert gpu.state is GpuState.OK
    assert gpu.memory_total_bytes is not None


def test_a_reading_that_appears_later_is_taken(server: Server) -> None:
    server.state.gpus[0].values["temperature"] = None
    assert server.gpus()[0].temperature_c is None
    server.state.gpus[0].values["temperature"] = 55
    assert server.gpus()[0].temperature_c == 55


# -- energy, errors, throttling ----------------------------------------------------------------


def test_fields_are_read_in_one_call_and_fall_back_to_calls_of_their_own(server: Server) -> None:
    server.state.gpus[0].values |= {"energy_mj": 123456, "ecc_uncorrected": 2, "power_mw": 311500}
    with_fields = server.gpus()[0]
    server.state.gpus[0].errors = ["DeviceGetFieldValues NOT_SUPPORTED"]
    without = server.gpus()[0]
    for gpu in (with_fields, without):
        assert gpu.energy_j == pytest.approx(123.456)
        assert gpu.ecc_uncorrected == 2
        assert gpu.power_w == pytest.approx(311.5)


def test_throttle_reasons_are_words(server: Server) -> None:
    server.state.gpus[0].values["throttle"] = 0x4 | 0x40 | 0x80
    server.state.gpus[1].values["throttle"] = 0
    gpus = server.gpus()
    assert gpus[0].throttle_reasons == ("power_cap", "hardware_thermal", "power_brake")
    assert gpus[1].throttle_reasons == ()


def test_bar1_is_watched_as_a_kind_of_memory(server: Server) -> None:
    server.state.gpus[0].values["bar1_used"] = 900 * MIB
    assert server.gpus()[0].bar1_used_bytes == 900 * MIB


def test_memory_that_is_a_numa_node_is_said_so(server: Server) -> None:
    server.state.gpus[0].values["memory_numa_node"] = 2
    assert [gpu.memory_is_numa_node for gpu in server.gpus()] == [True, False]


# -- MIG ---------------------------------------------------------------------------------------


def test_mig_instances_are_listed_over_holes_and_utilisation_is_unknown(server: Server) -> None:
    gpu = server.state.gpus[0]
    gpu.values |= {"mig_mode": 1, "utilisation": 0}
    gpu.migs = [
        FakeMig(slot=0, gi=7, used_bytes=20 * MIB),
        FakeMig(slot=4, gi=9, name="2g.20gb", total_bytes=19968 * MIB),
    ]
    gpu.processes = [
        FakeProcess(4711, 100 * MIB, gi=7, ci=0, sm=80),
        FakeProcess(4711, 200 * MIB, gi=9, ci=0),
    ]
    read = server.gpus()[0]
    assert read.mig_mode is True
    assert read.utilisation_percent is None
    assert [(one.gpu_instance_id, one.memory_used_bytes) for one in read.mig_instances] == [
        (7, 20 * MIB),
        (9, 0),
    ]
    assert read.mig_instances[1].memory_total_bytes == 19968 * MIB
    assert read.mig_instances[1].name.endswith("MIG 2g.20gb")
    assert [(p.gpu_instance_id, p.memory_bytes, p.sm_percent) for p in read.processes] == [
        (7, 100 * MIB, None),
        (9, 200 * MIB, None),
    ]


def test_turning_mig_on_while_it_is_read_changes_the_reading(server: Server) -> None:
    gpu = server.state.gpus[0]
    gpu.values["utilisation"] = 30
    assert server.gpus()[0].utilisation_percent == 30
    gpu.values["mig_mode"] = 1
    gpu.migs = [FakeMig(slot=2, gi=1)]
    read = server.gpus()[0]
    assert (read.mig_mode, read.utilisation_percent, len(read.mig_instances)) == (True, None, 1)
    gpu.values["mig_mode"] = 0
    gpu.migs = []
    assert server.gpus()[0].utilisation_percent == 30


def test_who_may_not_see_the_whole_cards_list_sees_the_instances(server: Server) -> None:
    gpu = server.state.gpus[0]
    gpu.values["mig_mode"] = 1
    gpu.migs = [FakeMig(slot=0, gi=3)]
    gpu.processes = [FakeProcess(4711, 100 * MIB, gi=3, ci=0)]
    gpu.errors = ["DeviceGetComputeRunningProcesses NO_PERMISSION times=1"]
    (process,) = server.gpus()[0].processes
    assert (process.pid, process.gpu_instance_id) == (4711, 3)
