"""`SimulatedDriver`: the `GpuDriver` of a machine without GPUs, for `--simulate 8xA100`.

Its cards react to the jobs that it is told of (`set_load`) and to a file of faults; it never says
that they are real: the driver's state is SIMULATED. Models and figures are in `simulated_cards`.
"""

from __future__ import annotations

import threading
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from roost.core.observation import (
    DriverReading,
    DriverState,
    GpuProcess,
    GpuReading,
    GpuState,
)
from roost.machine.simulated_cards import MIB, SimulatedModel, parse_simulated
from roost.machine.simulated_faults import FaultFile, Faults
from roost.machine.simulation import (
    CardState,
    SimulatedLoad,
    advance,
    at_rest,
    percent,
    shown_percent,
)

Readings = tuple[DriverReading, tuple[GpuReading, ...]]
_NAMESPACE = uuid.UUID("6f9d3c1e-7a52-5e0b-9c44-0d5b5b0a51d7")


def simulated_uuid(model: str, index: int) -> str:
    """The UUID of that card: the same for each start with the same cards before it."""
    return f"GPU-{uuid.uuid5(_NAMESPACE, f'{model}/{index}')}"


class SimulatedDriver:
    """One for a process; methods may be called from several threads."""

    def __init__(
        self,
        spec: str,
        control: str | None = None,
        clock: Callable[[], float] = time.monotonic,
        wall: Callable[[], float] = time.time,
    ) -> None:
        """`control` names the file of faults (`simulated_faults`). Raises ValueError for a spec
        that cannot be simulated, with the models that can."""
        self._models = parse_simulated(spec)
        self._uuids = [simulated_uuid(m.key, i) for i, m in enumerate(self._models)]
        self._clock = clock
        self._wall = wall
        self._lock = threading.Lock()
        now = clock()
        self._states = [at_rest(model, now) for model in self._models]
        self._loads: dict[str, tuple[SimulatedLoad, ...]] = {}
        self._faults = FaultFile(control)
        self._released = False
        self._since = (DriverState.SIMULATED, wall())

    def set_load(self, loads: Mapping[str, Sequence[SimulatedLoad]]) -> None:
        """What runs on which GPU from now on, by UUID; a GPU that is not named is idle."""
        with self._lock:
            self._loads = {gpu: tuple(some) for gpu, some in loads.items()}
            self._advance(self._faults.now())

    def read(self, deadline_s: float) -> Readings:
        """See `GpuDriver`."""
        with self._lock:
            faults = self._faults.now()
            self._advance(faults)
            if self._released:
                return self._without(DriverState.RELEASED)
            if faults.hang:
                time.sleep(max(0.0, deadline_s))  # as long as a real one would be waited for
            if faults.driver is not None:
                return self._without(faults.driver)
            gpus = tuple(self._reading(index, faults) for index in range(len(self._models)))
            return self._stamp(
                DriverReading(DriverState.SIMULATED, "simulated", detail=faults.wrong)
            ), gpus

    def release(self) -> None:
        """See `GpuDriver`."""
        self._released = True

    def hold(self) -> None:
        """See `GpuDriver`."""
        self._released = False

    def close(self) -> None:
        """See `GpuDriver`."""
        self._released = True

    def _advance(self, faults: Faults) -> None:
        now = self._clock()
        for index, model in enumerate(self._models):
            loads = self._loads.get(self._uuids[index], ())
            if index in faults.busy:
                busy = faults.busy[index]
                loads = tuple(replace(load, utilisation_percent=busy) for load in loads)
            loads += faults.foreign.get(index, ())
            self._states[index] = advance(model, self._states[index], loads, now)

    def _stamp(self, driver: DriverReading) -> DriverReading:
        if driver.state is not self._since[0]:
            self._since = (driver.state, self._wall())
        return replace(driver, since_at=self._since[1])

    def _without(self, state: DriverState) -> Readings:
        driver = self._stamp(DriverReading(state, "simulated", remedy_code=state.value))
        return driver, tuple(
            self._bare(index, GpuState.NOT_ANSWERING, state.value)
            for index in range(len(self._models))
        )

    def _bare(self, index: int, state: GpuState, detail: str) -> GpuReading:
        model = self._models[index]
        return GpuReading(
            self._uuids[index],
            index,
            model.name,
            state,
            detail,
            pci_bus_id=f"00000000:{0x10 + index:02X}:00.0",
            numa_node=index * 2 // len(self._models) if len(self._models) > 3 else 0,
            links=self._links(index),
            memory_total_bytes=model.memory_mib * MIB,
            temperature_slowdown_c=model.slowdown_c,
            temperature_shutdown_c=model.shutdown_c,
            sm_clock_max_mhz=model.sm_clock_mhz,
            pcie_generation_max=model.pcie_generation,
            pcie_width_max=16,
        )

    def _links(self, index: int) -> tuple[str, ...]:
        model = self._models[index]
        if not model.nvlink:
            return ()
        return tuple(
            other
            for position, other in enumerate(self._uuids)
            if position != index and self._models[position] is model
        )

    def _reading(self, index: int, faults: Faults) -> GpuReading:
        fault = faults.gpus.get(index)
        if fault is not None and fault is not GpuState.RESET_REQUIRED:
            return self._bare(index, fault, "as the file of faults says")
        model, state = self._models[index], self._states[index]
        bare = self._bare(index, fault or GpuState.OK, "" if fault is None else "gpu_reset")
        return _measured(bare, model, state, phase=float(index))


def _measured(
    bare: GpuReading, model: SimulatedModel, state: CardState, phase: float
) -> GpuReading:
    used = sum(one.memory_bytes for one in state.held)
    total, reserved = model.memory_mib * MIB, model.reserved_mib * MIB
    busy = percent(state.held)
    return replace(
        bare,
        memory_used_bytes=used,
        memory_reserved_bytes=reserved,
        memory_free_bytes=total - reserved - used,
        bar1_used_bytes=2 * MIB,
        utilisation_percent=shown_percent(state.held, state.at, phase),
        memory_utilisation_percent=busy * 2 // 5,
        encoder_percent=0,
        decoder_percent=0,
        temperature_c=round(state.temperature_c),
        power_w=round(state.power_w, 1),
        power_limit_w=float(model.power_limit_w),
        energy_j=round(state.energy_j, 3),
        sm_clock_mhz=model.sm_clock_mhz if busy else 210,
        memory_clock_mhz=model.memory_clock_mhz,
        throttle_reasons=() if busy else ("idle",),
        ecc_corrected=0 if model.ecc else None,
        ecc_uncorrected=0 if model.ecc else None,
        fan_percent=round(30 + max(0.0, state.temperature_c - 45)) if model.fan else None,
        pcie_generation=model.pcie_generation,
        pcie_width=16,
        mig_mode=False if model.mig else None,
        persistence_mode=True,
        display_active=False,
        memory_is_numa_node=False,
        processes=_processes(state),
    )


def _processes(state: CardState) -> tuple[GpuProcess, ...]:
    """Every process of every load once, with its share of that load's memory and utilisation."""
    memory: dict[int, int] = {}
    busy: dict[int, int] = {}
    for one in state.held:
        count = len(one.load.pids)
        for position, pid in enumerate(one.load.pids):
            rest = one.memory_bytes % count if position == 0 else 0
            memory[pid] = memory.get(pid, 0) + one.memory_bytes // count + rest
            busy[pid] = busy.get(pid, 0) + percent((one,)) // count
    return tuple(
        GpuProcess(pid, memory[pid], sm_percent=min(100, busy[pid])) for pid in sorted(memory)
    )
