"""What of a GPU does not change while its handle lives: identity, place, limits, links.

Read once per handle. Each fact that the card does not give is None, and no failure of one fact
takes another away.
"""

from __future__ import annotations

from collections.abc import Sequence
from ctypes import byref, c_int, c_uint, c_ulong, c_void_p
from dataclasses import dataclass, field

from roost.machine.nvml.library import (
    OK,
    FieldValue,
    Library,
    MarginV1,
    Pci,
    TemperatureV1,
    versioned,
)

SHUTDOWN, SLOWDOWN = 0, 1  # nvmlTemperatureThresholds_t
FIELD_SHUTDOWN_TLIMIT, FIELD_SLOWDOWN_TLIMIT = 193, 194
SM_CLOCK = 1
P2P_NVLINK = 2
NO_NODE = 0xFFFFFFFF


@dataclass(slots=True)
class Static:
    """Facts of one card, as fields of a GpuReading. `facts` is complete but for `links`."""

    uuid: str
    index: int
    facts: dict[str, object] = field(default_factory=dict)


def read_static(library: Library, handle: c_void_p, index: int, sys: str = "/sys") -> Static | int:
    """The facts, or NVML's code when not even the UUID can be read."""
    code, uuid = library.text("nvmlDeviceGetUUID", handle)
    if code != OK:
        return code
    _, name = library.text("nvmlDeviceGetName", handle)
    bus_id = _bus_id(library, handle)
    slowdown, shutdown = _limits(library, handle)
    facts: dict[str, object] = {
        "uuid": uuid,
        "index": index,
        "name": name or "?",
        "minor": _number(library, "nvmlDeviceGetMinorNumber", handle),
        "pci_bus_id": bus_id,
        "numa_node": _numa_node(library, handle, bus_id, sys),
        "temperature_slowdown_c": slowdown,
        "temperature_shutdown_c": shutdown,
        "sm_clock_max_mhz": _number(library, "nvmlDeviceGetMaxClockInfo", handle, c_uint(SM_CLOCK)),
        "pcie_generation_max": _number(library, "nvmlDeviceGetMaxPcieLinkGeneration", handle),
        "pcie_width_max": _number(library, "nvmlDeviceGetMaxPcieLinkWidth", handle),
        "memory_is_numa_node": _memory_is_node(library, handle),
    }
    return Static(uuid, index, facts)


def links(library: Library, cards: Sequence[tuple[str, c_void_p]]) -> dict[str, tuple[str, ...]]:
    """For each UUID the others that it reaches over NVLink, directly or through a switch."""
    function = library.find("nvmlDeviceGetP2PStatus")
    found: dict[str, list[str]] = {uuid: [] for uuid, _ in cards}
    status = c_uint()
    for position, (uuid, handle) in enumerate(cards):
        for other, other_handle in cards[position + 1 :]:
            if function is None:
                continue
            code = function(handle, other_handle, c_uint(P2P_NVLINK), byref(status))
            if code == OK and status.value == 0:
                found[uuid].append(other)
                found[other].append(uuid)
    return {uuid: tuple(others) for uuid, others in found.items()}


def _number(library: Library, name: str, *before: object) -> int | None:
    code, value = library.number(name, *before)
    return value if code == OK and value != NO_NODE else None


def _bus_id(library: Library, handle: c_void_p) -> str | None:
    function = library.first("nvmlDeviceGetPciInfo_v3", "nvmlDeviceGetPciInfo_v2")
    if function is None:
        return None
    pci = Pci()
    if function(handle, byref(pci)) != OK:
        return None
    raw: bytes = pci.bus_id or pci.legacy
    return raw.decode("ascii", "replace")


def _numa_node(library: Library, handle: c_void_p, bus_id: str | None, sys: str) -> int | None:
    """The NUMA node whose memory is nearest: NVML's word, else the kernel's."""
    function = library.find("nvmlDeviceGetMemoryAffinity")
    if function is not None:
        nodes = (c_ulong * 2)()
        if function(handle, c_uint(2), nodes, c_uint(0)) == OK:
            mask = nodes[0] | nodes[1] << 64
            if mask:
                return (mask & -mask).bit_length() - 1
    if bus_id is None:
        return None
    try:
        with open(f"{sys}/bus/pci/devices/{bus_id.lower()[-12:]}/numa_node", "rb") as file:
            node = int(file.read(16))
    except (OSError, ValueError):
        return None
    return node if node >= 0 else None


def _memory_is_node(library: Library, handle: c_void_p) -> bool | None:
    """Whether the card's memory is itself a NUMA node of the host (GH200, GB200)."""
    function = library.find("nvmlDeviceGetNumaNodeId")
    if function is None:
        return None
    node = c_int()
    return bool(function(handle, byref(node)) == OK)


def _limits(library: Library, handle: c_void_p) -> tuple[int | None, int | None]:
    """Slowdown and shutdown temperature. From Ada on the card tells margins (T.Limit) instead:
    limit = temperature now + margin now - the margin at which it acts (nvml.h, fields 193, 194)."""
    slowdown = _number(library, "nvmlDeviceGetTemperatureThreshold", handle, c_uint(SLOWDOWN))
    shutdown = _number(library, "nvmlDeviceGetTemperatureThreshold", handle, c_uint(SHUTDOWN))
    if slowdown or shutdown:
        return slowdown or None, shutdown or None
    margin_of = library.find("nvmlDeviceGetMarginTemperature")
    fields_of = library.find("nvmlDeviceGetFieldValues")
    now = temperature(library, handle)
    if margin_of is None or fields_of is None or now is None:
        return None, None
    margin = MarginV1(versioned(MarginV1, 1), 0)
    fields = (FieldValue * 2)()
    fields[0].field, fields[1].field = FIELD_SLOWDOWN_TLIMIT, FIELD_SHUTDOWN_TLIMIT
    if margin_of(handle, byref(margin)) != OK or fields_of(handle, c_int(2), fields) != OK:
        return None, None
    limits = [
        now + margin.value - c_int(one.value & 0xFFFFFFFF).value if one.code == OK else None
        for one in fields
    ]
    return limits[0], limits[1]


def temperature(library: Library, handle: c_void_p) -> int | None:
    """The GPU's temperature now, by the newest call that answers."""
    function = library.find("nvmlDeviceGetTemperatureV")
    if function is not None:
        out = TemperatureV1(versioned(TemperatureV1, 1), 0, 0)
        if function(handle, byref(out)) == OK:
            return int(out.value)
    return _number(library, "nvmlDeviceGetTemperature", handle, c_uint(0))
