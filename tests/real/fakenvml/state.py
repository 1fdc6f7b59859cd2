"""Writes the state file that drives the fake NVML library; README.md describes its grammar.

Plain mutable data on purpose: a test builds a state, changes it, and writes it again.
"""

from __future__ import annotations

import os
import tempfile
import uuid as uuids
from dataclasses import dataclass, field
from pathlib import Path

from .build import build
from .profiles import PROFILES

MIB = 1 << 20
NOT_AVAILABLE = "max"  # NVML's 2^64-1


@dataclass
class FakeProcess:
    """A line of NVML's process lists. `pid` is the host's; `memory_bytes` None: not available.

    `kinds`: letters of C(ompute), G(raphics), M(PS), X (only in the detail list of all).
    `namespace`, `namespace_pid`: where a caller in that pid namespace sees it.
    """

    pid: int
    memory_bytes: int | None = 512 * MIB
    kinds: str = "C"
    sm: int | None = None
    gi: int | None = None
    ci: int | None = None
    namespace: int | None = None
    namespace_pid: int | None = None

    @classmethod
    def of(cls, pid: int, memory_bytes: int | None = 512 * MIB, **more: object) -> FakeProcess:
        """A living process of this machine, with its pid namespace and its pid in there."""
        namespace = os.stat(f"/proc/{pid}/ns/pid").st_ino
        inner = pid
        for line in Path(f"/proc/{pid}/status").read_text(errors="replace").splitlines():
            if line.startswith("NSpid:"):
                inner = int(line.split()[-1])
        return cls(pid, memory_bytes, namespace=namespace, namespace_pid=inner, **more)  # type: ignore[arg-type]

    def line(self) -> str:
        memory = NOT_AVAILABLE if self.memory_bytes is None else self.memory_bytes
        words = [f"pid={self.pid}", f"memory={memory}", f"kinds={self.kinds}"]
        words += [
            f"{key}={value}"
            for key in ("sm", "gi", "ci", "namespace", "namespace_pid")
            if (value := getattr(self, key)) is not None
        ]
        return "process = " + " ".join(words)


@dataclass
class FakeMig:
    """A MIG instance at `slot` of its GPU; slots that are left out are holes."""

    slot: int
    gi: int
    ci: int = 0
    name: str = "1g.10gb"
    total_bytes: int = 9728 * MIB
    used_bytes: int = 0
    uuid: str = ""

    def line(self, gpu: FakeGpu) -> str:
        uuid = self.uuid or f"MIG-{uuids.uuid5(uuids.NAMESPACE_OID, f'{gpu.uuid}/{self.slot}')}"
        name = f"{gpu.name} MIG {self.name}".replace(" ", "_")
        return (
            f"mig = slot={self.slot} gi={self.gi} ci={self.ci} uuid={uuid} name={name} "
            f"total={self.total_bytes} used={self.used_bytes}"
        )


@dataclass
class FakeGpu:
    """A card. `values` are the numbers of c/keys.h; None there: the card does not support it.

    `memory_used` not given is what its processes hold. `errors`: "CALL CODE [after=N] [times=N]",
    `hangs`: "CALL" ("*" is every call). `samples`, `fields`, `events`: raw lines of that kind.
    """

    uuid: str
    name: str
    values: dict[str, int | None] = field(default_factory=dict)
    serial: str = ""
    processes: list[FakeProcess] = field(default_factory=list)
    migs: list[FakeMig] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    hangs: list[str] = field(default_factory=list)
    samples: list[str] = field(default_factory=list)
    fields: list[str] = field(default_factory=list)
    events: list[str] = field(default_factory=list)

    @classmethod
    def of(
        cls,
        model: str = "A100-80",
        index: int = 0,
        processes: list[FakeProcess] | None = None,
        **values: int | None,
    ) -> FakeGpu:
        """An idle card of a real model (`profiles.PROFILES`), with any value replaced."""
        card = PROFILES[model]
        lowest, default, highest, idle = card.power_w
        shutdown, slowdown, gpu_max = card.limits_c
        given: dict[str, int | None] = {
            "minor": index,
            "numa_node": 0 if index < 4 else 1,
            "pci_domain": 0,
            "pci_bus": 0x10 + index,
            "pci_device": 0,
            "pci_id": card.pci_id,
            "pci_subsystem": 0x134F10DE,
            "memory_total": card.memory_mib * MIB,
            "memory_reserved": card.reserved_mib * MIB,
            "bar1_total": card.bar1_mib * MIB,
            "bar1_used": 2 * MIB,
            "utilisation": 0,
            "memory_utilisation": 0,
            "encoder": 0,
            "decoder": 0,
            "temperature": 33 + index,
            "temperature_memory": 35 + index if card.ecc else None,
            "power_mw": idle * 1000,
            "power_limit_mw": default * 1000,
            "power_default_mw": default * 1000,
            "power_min_mw": lowest * 1000,
            "power_max_mw": highest * 1000,
            "energy_mj": 1_000_000_000 + index,
            "sm_clock": 210,
            "sm_clock_max": card.clocks_mhz[0],
            "memory_clock": card.clocks_mhz[1],
            "memory_clock_max": card.clocks_mhz[1],
            "video_clock": 585,
            "video_clock_max": 1290,
            "throttle": 1,
            "pstate": 0,
            "pcie_generation": card.pcie_generation,
            "pcie_generation_max": card.pcie_generation,
            "pcie_width": 16,
            "pcie_width_max": 16,
            "pcie_replay": 0,
            "persistence": 1,
            "display_active": int(card.display and index == 0),
            "display_mode": int(card.display and index == 0),
            "compute_mode": 0,
            "compute_major": card.compute[0],
            "compute_minor": card.compute[1],
            "cores": card.cores,
            "recovery_action": 0,
            "detail_list": int(card.compute >= (9, 0)),
        }
        if card.tlimit:
            given |= {"margin": gpu_max - (33 + index), "slowdown_tlimit": gpu_max - slowdown}
            given["shutdown_tlimit"] = gpu_max - shutdown
        else:
            given |= {"shutdown": shutdown, "slowdown": slowdown, "gpu_max": gpu_max}
        if card.ecc:
            given |= {"ecc_mode": 1, "ecc_corrected": 0, "ecc_uncorrected": 0}
            given |= {"ecc_corrected_ever": 0, "ecc_uncorrected_ever": 0}
            given |= {"remapped_corrected": 0, "remapped_uncorrected": 0}
            given |= {"remapped_pending": 0, "remapped_failure": 0}
        if card.fan:
            given |= {"fan": 30, "fans": 2}
        if card.nvlinks:
            given["nvlinks"] = card.nvlinks
        if card.mig_slots:
            given |= {"mig_mode": 0, "mig_slots": card.mig_slots}
        uuid = f"GPU-{uuids.uuid5(uuids.NAMESPACE_OID, f'roost-fake-{model}-{index}')}"
        return cls(
            uuid, card.name, given | values, f"13200{index:08d}", processes=list(processes or [])
        )

    def lines(self) -> list[str]:
        out = ["[gpu]", f"uuid = {self.uuid}", f"name = {self.name}"]
        if self.serial:
            out.append(f"serial = {self.serial}")
        values = dict(self.values)
        if "memory_used" not in values:
            held: dict[int, int] = {}
            for one in self.processes:
                held[one.pid] = max(held.get(one.pid, 0), one.memory_bytes or 0)
            values["memory_used"] = sum(held.values())
        out += [f"{key} = {value}" for key, value in values.items() if value is not None]
        out += [one.line() for one in self.processes]
        out += [one.line(self) for one in self.migs]
        for key, texts in (
            ("error", self.errors),
            ("hang", self.hangs),
            ("sample", self.samples),
            ("field", self.fields),
            ("event", self.events),
        ):
            out += [f"{key} = {text}" for text in texts]
        return out


@dataclass
class FakeState:
    """The whole machine. `epoch` grows with each reload of the driver: older handles are dead.

    `errors`, `hangs` as for a GPU, for every call that matches ("Init DRIVER_NOT_LOADED").
    `host_namespace`: the pid namespace (inode) that all pids are written for; callers in others
    see only what is theirs, or with `raw_pids` the host's numbers (drivers before 535.113).
    """

    gpus: list[FakeGpu] = field(default_factory=list)
    version: str = "575.57.08"
    cuda: int = 12090
    epoch: int = 0
    stale_error: str = "UNKNOWN"
    errors: list[str] = field(default_factory=list)
    hangs: list[str] = field(default_factory=list)
    host_namespace: int | None = None
    raw_pids: bool = False

    @classmethod
    def of(cls, model: str = "A100-80", count: int = 8) -> FakeState:
        """A server of `count` idle cards of one model."""
        return cls([FakeGpu.of(model, index) for index in range(count)])

    def text(self) -> str:
        out = ["[driver]", f"version = {self.version}", f"nvml = 12.{self.version}"]
        out += [f"cuda = {self.cuda}", f"epoch = {self.epoch}"]
        out.append(f"stale_error = {self.stale_error}")
        if self.host_namespace is not None:
            out.append(f"host_namespace = {self.host_namespace}")
            out.append(f"raw_pids = {int(self.raw_pids)}")
        out += [f"error = {text}" for text in self.errors]
        out += [f"hang = {text}" for text in self.hangs]
        for gpu in self.gpus:
            out += ["", *gpu.lines()]
        return "\n".join(out) + "\n"

    def write(self, path: str | os.PathLike[str]) -> None:
        """Replaces the file at once: a reader sees the state before or after, never half of it."""
        target = Path(path)
        handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=".state-")
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(self.text())
        os.chmod(temporary, 0o644)
        os.replace(temporary, target)


def environment(state_file: str | os.PathLike[str], layout: str = "v3") -> dict[str, str]:
    """Variables with which any NVML program runs on the fake; they count from its start on."""
    return {"ROOST_FAKE_NVML": str(state_file), "LD_LIBRARY_PATH": str(build(layout))}
