"""One GPU in one sample: asks the prepared calls and makes a `GpuReading` of the answers.

A fault of one call costs that value alone; what a fault says of the whole card (lost, reset
required, unknown error) becomes the reading's state. A handle that said "lost" is never used again.
"""

from __future__ import annotations

from ctypes import c_void_p
from dataclasses import dataclass, field
from typing import Any

from roost.core.observation import GpuProcess, GpuReading, GpuState
from roost.machine.nvml import library as nvml
from roost.machine.nvml.calls import (
    MEMORY_CLOCK,
    SENTINEL_64,
    SM_CLOCK,
    Calls,
    percent,
    throttle_words,
)
from roost.machine.nvml.library import GPU_IS_LOST, OK, RESET_REQUIRED, Library, error_name
from roost.machine.nvml.mig import MigReader
from roost.machine.nvml.processes import ProcessList, Rows, UtilisationSamples, as_processes, join

# Answers that mean "this card, this driver or this user has no such reading", not a fault.
QUIET = frozenset(
    (
        nvml.NOT_SUPPORTED,
        nvml.NO_PERMISSION,
        nvml.NOT_FOUND,
        nvml.FUNCTION_NOT_FOUND,
        nvml.NO_DATA,
        nvml.ARGUMENT_VERSION_MISMATCH,
    )
)
MINOR = frozenset(
    (
        "nvmlDeviceGetEncoderUtilization",
        "nvmlDeviceGetDecoderUtilization",
        "nvmlDeviceGetClockInfo",
        "nvmlDeviceGetCurrentClocksEventReasons",
        "nvmlDeviceGetEnforcedPowerLimit",
        "nvmlDeviceGetFanSpeed",
        "nvmlDeviceGetCurrPcieLinkGeneration",
        "nvmlDeviceGetCurrPcieLinkWidth",
        "nvmlDeviceGetPersistenceMode",
        "nvmlDeviceGetDisplayActive",
        "nvmlDeviceGetBAR1MemoryInfo",
        "nvmlDeviceGetMigMode",
    )
)
ENCODER, DECODER = "nvmlDeviceGetEncoderUtilization", "nvmlDeviceGetDecoderUtilization"
REST_STEP = 16 << 20
RECOVERY_WORDS = {
    1: "gpu_reset",
    2: "node_reboot",
    4: "drain_and_reset",
    6: "bus_reset",
    7: "system_reboot",
}


@dataclass(slots=True)
class Card:
    """What is remembered of one GPU between samples."""

    uuid: str
    index: int
    static: dict[str, Any]
    handle: c_void_p | None
    state: GpuState = GpuState.OK
    detail: str = ""
    retry_at: float = 0.0
    silent: set[str] = field(default_factory=set)
    slow: dict[str, Any] = field(default_factory=dict)
    slow_at: float = -1e9
    slow_note: str = ""
    graphics_at: float = -1e9
    other_lists: bool = False
    other_rest: int = 0
    pids: frozenset[int] = frozenset()
    util_since_us: int = 0
    codes: set[int] = field(default_factory=set)

    def reading(self, state: GpuState, detail: str) -> GpuReading:
        """Only what does not change, with that state: for a card that does not answer."""
        return GpuReading(**self.static, state=state, state_detail=detail)


class CardReader:
    """The readings of all cards of one library, with buffers shared between them."""

    def __init__(self, library: Library, slow_s: float, graphics_s: float) -> None:
        self._calls = Calls(library)
        self._compute = ProcessList(library, "Compute")
        self._graphics = ProcessList(library, "Graphics")
        self._mps = ProcessList(library, "MPSCompute")
        self._samples = UtilisationSamples(library)
        self._mig = MigReader(library, self._calls, self._compute)
        self._slow_s = slow_s
        self._graphics_s = graphics_s

    def read(self, card: Card, now: float) -> GpuReading:
        """A sample of that card. `card.handle` is None afterwards when it said that it is lost."""
        handle = card.handle
        if handle is None:
            return card.reading(card.state, card.detail)
        card.state, card.detail = GpuState.OK, ""
        card.codes.clear()
        if now - card.slow_at >= self._slow_s:
            self._read_slow(card, handle)
            card.slow_at = now
            card.slow_note = card.detail
        elif card.slow_note:
            card.detail = card.slow_note
        values: dict[str, Any] = dict(card.static)
        values.update(card.slow)
        mig = bool(card.slow.get("mig_mode"))
        self._memory(card, handle, values)
        if card.handle is not None:
            self._measures(card, handle, values, mig)
        if card.handle is not None:
            self._fields(card, handle, values)
        if card.handle is not None:
            if mig:
                values["mig_instances"] = self._mig.instances(handle)
            values["processes"] = self._processes(card, handle, values, mig, now)
        if card.handle is None:
            return card.reading(card.state, card.detail)
        values["state"], values["state_detail"] = card.state, card.detail
        return GpuReading(**values)

    def _fault(self, card: Card, code: int, call: str) -> None:
        """Takes an answer that was not OK: nothing, or the state of the whole card. A reading that
        nobody decides by (a fan) is told to be broken, and breaks nothing."""
        card.codes.add(code)
        if code in QUIET:
            return
        if code == GPU_IS_LOST:
            card.state, card.detail, card.handle = GpuState.LOST, f"{call}: GPU_IS_LOST", None
        elif code == RESET_REQUIRED:
            card.state, card.detail = GpuState.RESET_REQUIRED, f"{call}: RESET_REQUIRED"
        elif card.state is GpuState.OK:
            card.detail = f"{call}: {error_name(code)}"
            if call not in MINOR:
                card.state = GpuState.ERROR

    def _memory(self, card: Card, handle: c_void_p, values: dict[str, Any]) -> None:
        calls = self._calls
        code = calls.memory_info(handle) if "memory" not in card.silent else nvml.NOT_SUPPORTED
        if code == OK:
            memory = calls.memory
            total, reserved = memory.total, memory.reserved
            used, free = memory.used, memory.free
            values["memory_total_bytes"] = total
            values["memory_reserved_bytes"] = reserved
            values["memory_free_bytes"] = free
            if max(total, reserved, used, free) >= SENTINEL_64:
                self._clean(values, total, reserved, used, free)
            elif used + reserved + free == total:
                values["memory_used_bytes"] = used
            elif used + free == total and used >= reserved:
                values["memory_used_bytes"] = used - reserved  # this driver counts it twice
            else:
                values["memory_used_bytes"] = used
                values["memory_consistent"] = False
            card.codes.add(OK)
            return
        if code in (GPU_IS_LOST, RESET_REQUIRED):
            self._fault(card, code, "nvmlDeviceGetMemoryInfo_v2")
            return
        if code in (nvml.NOT_SUPPORTED, nvml.FUNCTION_NOT_FOUND, nvml.ARGUMENT_VERSION_MISMATCH):
            card.silent.add("memory")
        old = calls.memory_info_old(handle)
        if old != OK:  # WSL answers UNKNOWN to v2 and right to v1: only both are a fault
            self._fault(card, old, "nvmlDeviceGetMemoryInfo")
            return
        card.codes.add(OK)
        info = calls.memory_old
        self._clean(values, info.total, None, info.used, info.free)
        if max(info.total, info.used, info.free) < SENTINEL_64:
            values["memory_consistent"] = info.used + info.free == info.total

    @staticmethod
    def _clean(
        values: dict[str, Any], total: int, reserved: int | None, used: int, free: int
    ) -> None:
        values["memory_total_bytes"] = total if total < SENTINEL_64 else None
        values["memory_used_bytes"] = used if used < SENTINEL_64 else None
        values["memory_free_bytes"] = free if free < SENTINEL_64 else None
        known = reserved is not None and reserved < SENTINEL_64
        values["memory_reserved_bytes"] = reserved if known else None

    def _measures(self, card: Card, handle: c_void_p, values: dict[str, Any], mig: bool) -> None:
        calls = self._calls
        silent = card.silent
        if not mig and "utilisation" not in silent:
            code = calls.utilisation(handle)
            if code == OK:
                values["utilisation_percent"] = percent(calls.rates.gpu)
                values["memory_utilisation_percent"] = percent(calls.rates.memory)
            else:
                self._miss(card, code, "nvmlDeviceGetUtilizationRates", "utilisation")
            for name, key in ((ENCODER, "encoder_percent"), (DECODER, "decoder_percent")):
                if key not in silent and card.handle is not None:
                    code, values[key] = calls.engine(name, handle)
                    if code:
                        self._miss(card, code, name, key)
        for key, kind in (("sm_clock_mhz", SM_CLOCK), ("memory_clock_mhz", MEMORY_CLOCK)):
            if key not in silent and card.handle is not None:
                code, values[key] = calls.clock(handle, kind)
                if code:
                    self._miss(card, code, "nvmlDeviceGetClockInfo", key)
        if "temperature" not in silent and card.handle is not None:
            code, values["temperature_c"] = calls.temperature(handle)
            if code:
                self._miss(card, code, "nvmlDeviceGetTemperature", "temperature")
        if "throttle" not in silent and card.handle is not None:
            code, mask = calls.throttle(handle)
            if code:
                self._miss(card, code, "nvmlDeviceGetCurrentClocksEventReasons", "throttle")
            else:
                values["throttle_reasons"] = throttle_words(mask) if mask else ()

    def _miss(self, card: Card, code: int, call: str, key: str) -> None:
        """A reading that did not come; one that the card lacks is asked again only slowly."""
        if code in QUIET:
            card.silent.add(key)
            card.codes.add(code)
        else:
            self._fault(card, code, call)

    def _fields(self, card: Card, handle: c_void_p, values: dict[str, Any]) -> None:
        """Energy, ECC, power and the vendor's verdict, from one call where the driver has it."""
        calls = self._calls
        code, told = calls.fields(handle) if "fields" not in card.silent else (0, ())
        if code:
            self._miss(card, code, "nvmlDeviceGetFieldValues", "fields")
        energy, corrected, uncorrected, recovery, power, limit = told or (None,) * 6
        if energy is None and "energy" not in card.silent and card.handle is not None:
            code, energy = calls.energy_mj(handle)
            if code:
                self._miss(card, code, "nvmlDeviceGetTotalEnergyConsumption", "energy")
        for kind, value, key in (
            (0, corrected, "ecc_corrected"),
            (1, uncorrected, "ecc_uncorrected"),
        ):
            if value is None and key not in card.silent and card.handle is not None:
                code, value = calls.ecc_errors(handle, kind)
                if code:
                    self._miss(card, code, "nvmlDeviceGetTotalEccErrors", key)
            values[key] = value
        if power is None and "power" not in card.silent and card.handle is not None:
            code, power = calls.number("nvmlDeviceGetPowerUsage", handle)
            if code:
                self._miss(card, code, "nvmlDeviceGetPowerUsage", "power")
        values["energy_j"] = None if energy is None else energy / 1000
        values["power_w"] = None if power is None else power / 1000
        if limit is not None:
            values["power_limit_w"] = limit / 1000
        if recovery in RECOVERY_WORDS and card.state is GpuState.OK:
            card.state, card.detail = GpuState.RESET_REQUIRED, RECOVERY_WORDS[recovery]

    def _read_slow(self, card: Card, handle: c_void_p) -> None:
        """What changes rarely; and every reading that was not there gets another chance."""
        calls = self._calls
        card.silent.clear()
        slow: dict[str, Any] = {}
        for name, key in (
            ("nvmlDeviceGetEnforcedPowerLimit", "power_limit_w"),
            ("nvmlDeviceGetFanSpeed", "fan_percent"),
            ("nvmlDeviceGetCurrPcieLinkGeneration", "pcie_generation"),
            ("nvmlDeviceGetCurrPcieLinkWidth", "pcie_width"),
            ("nvmlDeviceGetPersistenceMode", "persistence_mode"),
            ("nvmlDeviceGetDisplayActive", "display_active"),
        ):
            code, slow[key] = calls.number(name, handle)
            if code:
                self._fault(card, code, name)
                if card.handle is None:
                    return
        if slow["power_limit_w"] is not None:
            slow["power_limit_w"] /= 1000
        if slow["fan_percent"] is not None:
            slow["fan_percent"] = slow["fan_percent"] if slow["fan_percent"] <= 200 else None
        for key in ("persistence_mode", "display_active"):
            slow[key] = None if slow[key] is None else bool(slow[key])
        code, slow["bar1_used_bytes"] = calls.bar1_used(handle)
        if code:
            self._fault(card, code, "nvmlDeviceGetBAR1MemoryInfo")
        if card.handle is not None:
            code, mode = calls.mig_mode(handle)
            slow["mig_mode"] = mode if code == OK else None
            if code:
                self._fault(card, code, "nvmlDeviceGetMigMode")
        card.slow = slow

    def _processes(
        self, card: Card, handle: c_void_p, values: dict[str, Any], mig: bool, now: float
    ) -> tuple[GpuProcess, ...]:
        if "processes" in card.silent:
            return ()
        code, rows = self._compute.read(handle)
        if code == nvml.NO_PERMISSION and mig:
            code, rows = self._mig.compute_rows(handle)
        if code:
            self._miss(card, code, "nvmlDeviceGetComputeRunningProcesses", "processes")
            if card.handle is None:
                return ()
        else:
            card.codes.add(OK)
        lists: list[tuple[str, Rows]] = [("compute", rows)]
        used = values.get("memory_used_bytes") or 0
        rest = used - sum(row[1] for row in rows if row[1] < SENTINEL_64)
        pids = frozenset(row[0] for row in rows)
        if (
            card.other_lists
            or pids != card.pids
            or abs(rest - card.other_rest) >= REST_STEP
            or values.get("display_active")
            or now - card.graphics_at >= self._graphics_s
        ):
            # Each list walks all clients of the driver under its lock: asked only with a reason.
            card.graphics_at, card.other_rest, card.pids = now, rest, pids
            found = False
            for kind, one in (("graphics", self._graphics), ("mps", self._mps)):
                code, others = one.read(handle)
                if code:
                    self._fault(card, code, f"list of {kind} processes")
                    if card.handle is None:
                        return ()
                elif others:
                    found = True
                    lists.append((kind, others))
            card.other_lists = found
        joined = join(tuple(lists))
        sm: dict[int, int] | None = None
        if joined and not mig and values.get("utilisation_percent") is not None:
            known = {key[0] for key in joined}
            sm, card.util_since_us = self._samples.read(handle, card.util_since_us, known)
        if sm is None:
            return as_processes(joined, lambda _: None)
        told = sm
        return as_processes(joined, lambda pid: told.get(pid, 0))
