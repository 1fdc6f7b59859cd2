"""inotify on device files, evidence for a search, and what the host says beside NVML."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from roost.core.observation import DeviceUse, GpuProcess, GpuReading, ProcessFacts
from roost.machine.evidence import Claims, Evidence
from roost.machine.hostgpus import HostGpus, host_gpus, same_bus
from roost.machine.known import Watched
from roost.machine.proc.devices import DeviceNodes
from roost.machine.watch import DeviceWatch, Events

GIB = 1 << 30


@pytest.fixture
def nodes(tmp_path: Path) -> DeviceNodes:
    (tmp_path / "nvidia0").touch()
    return DeviceNodes(os.fsencode(tmp_path), frozenset({1}), frozenset(), by_name=True)


def test_opening_closing_and_new_rights_are_seen(nodes: DeviceNodes, tmp_path: Path) -> None:
    watch = DeviceWatch(nodes)
    assert watch.active
    assert watch.events() == Events()
    descriptor = os.open(tmp_path / "nvidia0", os.O_RDONLY)
    assert watch.events() == Events(opened=True)
    os.close(descriptor)
    assert watch.events() == Events(closed=True)
    (tmp_path / "nvidia0").chmod(0o600)
    assert watch.events() == Events(changed=True)
    watch.close()
    assert watch.events() == Events()


def test_a_node_that_is_made_anew_is_watched_anew(nodes: DeviceNodes, tmp_path: Path) -> None:
    watch = DeviceWatch(nodes)
    (tmp_path / "nvidia0").unlink()
    assert watch.events().changed
    (tmp_path / "nvidia0").touch()
    (tmp_path / "nvidia1").touch()
    assert watch.events().changed
    for name in ("nvidia0", "nvidia1"):
        watch.events()
        os.close(os.open(tmp_path / name, os.O_RDONLY))
        assert watch.events().opened, name
    watch.close()


def test_other_files_of_the_directory_are_nobody_s_business(
    nodes: DeviceNodes, tmp_path: Path
) -> None:
    watch = DeviceWatch(nodes)
    (tmp_path / "tty7").touch()
    assert watch.events() == Events()
    watch.close()


def gpu(used: int, *claims: GpuProcess) -> GpuReading:
    return GpuReading("GPU-0", 0, "A100", minor=0, memory_used_bytes=used, processes=claims)


def searches(evidence: Evidence, reading: GpuReading, watched: Watched, until: int) -> list[int]:
    """Seconds at which a search is wanted; each is made at once."""
    found = []
    for second in range(until):
        if evidence.wants_search((reading,), Claims.of((reading,)), watched, float(second)):
            evidence.searched(float(second))
            found.append(second)
    return found


def test_memory_of_nobody_is_searched_for_after_three_seconds_and_then_ever_less_often() -> None:
    watched = Watched(b"/proc")
    assert searches(Evidence(), gpu(4 * GIB), watched, 1500) == [3, 63, 303, 1203]


def test_a_claim_of_nobody_is_searched_for_at_once() -> None:
    watched = Watched(b"/proc")
    assert searches(Evidence(), gpu(GIB, GpuProcess(4_000_000, GIB)), watched, 50) == [0]


def test_a_claim_that_is_borne_out_asks_for_nothing() -> None:
    watched = Watched(b"/proc")
    facts = ProcessFacts(os.getpid(), 1, devices=(DeviceUse("/dev/nvidia0", 0, "fd"),))
    watched.put(facts, 0.0).held.add("GPU-0")
    reading = gpu(GIB + (100 << 20), GpuProcess(os.getpid(), GIB))
    assert searches(Evidence(), reading, watched, 100) == []
    watched.close()


def test_impossible_pids_are_no_claims() -> None:
    reading = gpu(GIB, GpuProcess(0, 1), GpuProcess(4294967295, 1), GpuProcess(7, 1))
    assert list(Claims.of((reading,)).by_pid) == [7]


def test_cards_given_to_machines_and_cards_that_are_memory(tmp_path: Path) -> None:
    sys, proc = tmp_path / "sys", tmp_path / "proc"
    vfio = sys / "bus/pci/drivers/vfio-pci"
    for name, vendor, kind in (
        ("0000:3b:00.0", "0x10de", "0x030200"),
        ("0000:3b:00.1", "0x10de", "0x040300"),
        ("0000:5e:00.0", "0x8086", "0x020000"),
    ):
        (vfio / name).mkdir(parents=True)
        (vfio / name / "vendor").write_text(vendor + "\n")
        (vfio / name / "class").write_text(kind + "\n")
    (vfio / "bind").touch()
    card = proc / "driver/nvidia/gpus/0009:01:00.0"
    card.mkdir(parents=True)
    (card / "numa_status").write_text("Node:\t\t1\nStatus:\t\tonline\n")
    found = host_gpus(os.fsencode(sys), os.fsencode(proc))
    assert found == HostGpus(("0000:3b:00.0",), frozenset({"0009:01:00.0"}))
    assert host_gpus(b"/nowhere", b"/nowhere") == HostGpus()
    assert same_bus("00000000:3B:00.0", "0000:3b:00.0")
    assert not same_bus(None, "0000:3b:00.0")
