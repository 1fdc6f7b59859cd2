"""The calls of a sample, prepared once: function, buffer and reference made beforehand and reused.

Each method takes a handle and returns NVML's code; what was written stands in the buffers until the
next call. Values that are no values (sentinels, 37100 %) leave here as None.
"""

from __future__ import annotations

from collections.abc import Sequence
from ctypes import byref, c_int, c_uint, c_ulonglong, c_void_p
from struct import Struct

from roost.machine.nvml.library import (
    FUNCTION_NOT_FOUND,
    MEMORY_V2,
    NOT_SUPPORTED,
    OK,
    FieldValue,
    Library,
    MemoryV1,
    MemoryV2,
    TemperatureV1,
    Utilisation,
    versioned,
)

SENTINEL_32 = 0xFFFFFFFF
SENTINEL_64 = 1 << 63
SM_CLOCK, MEMORY_CLOCK = 1, 2

ENERGY, ECC_CORRECTED, ECC_UNCORRECTED, RECOVERY = 83, 3, 4, 230
POWER_AVERAGE, POWER_LIMIT = 185, 190
FIELDS = (ENERGY, ECC_CORRECTED, ECC_UNCORRECTED, RECOVERY, POWER_AVERAGE, POWER_LIMIT)

# nvmlValueType_t: how many of the 64 bits count.
_MASKS = {1: 0xFFFFFFFF, 2: (1 << 64) - 1, 3: (1 << 64) - 1, 4: (1 << 64) - 1, 5: 0xFFFFFFFF}
_FIELD = Struct("=24xIIQ")

THROTTLE_WORDS = {
    0x1: "idle",
    0x2: "applications_clocks",
    0x4: "power_cap",
    0x8: "hardware_slowdown",
    0x10: "sync_boost",
    0x20: "thermal",
    0x40: "hardware_thermal",
    0x80: "power_brake",
    0x100: "display_clocks",
    0x200: "board_limit",
    0x400: "reliability",
}


def throttle_words(mask: int) -> tuple[str, ...]:
    """nvmlClocksEventReason* as words, in order of their bits; unknown bits as "bit_N"."""
    words = []
    while mask:
        bit = mask & -mask
        words.append(THROTTLE_WORDS.get(bit, f"bit_{bit.bit_length() - 1}"))
        mask ^= bit
    return tuple(words)


def percent(value: int) -> int | None:
    """A utilisation as told, None for what cannot be one (blank, 37100): never clamped."""
    return value if value <= 100 else None


def count_32(value: int) -> int | None:
    return value if value != SENTINEL_32 else None


def count_64(value: int) -> int | None:
    return value if value < SENTINEL_64 else None


class Calls:
    """One set for one library; not for several threads at once."""

    def __init__(self, library: Library) -> None:
        self._u32 = c_uint()
        self._u32_ref = byref(self._u32)
        self._second = c_uint()
        self._second_ref = byref(self._second)
        self._u64 = c_ulonglong()
        self._u64_ref = byref(self._u64)

        self.memory = MemoryV2(MEMORY_V2)
        self._memory_ref = byref(self.memory)
        self._memory_v2 = library.find("nvmlDeviceGetMemoryInfo_v2")
        self.memory_old = MemoryV1()
        self._memory_old_ref = byref(self.memory_old)
        self._memory_v1 = library.find("nvmlDeviceGetMemoryInfo")
        self._bar1 = library.find("nvmlDeviceGetBAR1MemoryInfo")

        self.rates = Utilisation()
        self._rates_ref = byref(self.rates)
        self._rates = library.find("nvmlDeviceGetUtilizationRates")
        self._engines = {
            name: library.find(name)
            for name in ("nvmlDeviceGetEncoderUtilization", "nvmlDeviceGetDecoderUtilization")
        }
        self._temperature_v = library.find("nvmlDeviceGetTemperatureV")
        self._temperature = library.find("nvmlDeviceGetTemperature")
        self._temperature_out = TemperatureV1(versioned(TemperatureV1, 1), 0, 0)
        self._temperature_ref = byref(self._temperature_out)
        self._gpu_sensor = c_uint(0)

        self._clock = library.find("nvmlDeviceGetClockInfo")
        self._clock_kinds = {kind: c_uint(kind) for kind in (SM_CLOCK, MEMORY_CLOCK)}
        self._reasons = library.first(
            "nvmlDeviceGetCurrentClocksEventReasons", "nvmlDeviceGetCurrentClocksThrottleReasons"
        )

        self._fields = library.find("nvmlDeviceGetFieldValues")
        self._field_values = (FieldValue * len(FIELDS))()
        self._field_view = memoryview(self._field_values).cast("B")
        self._field_count = c_int(len(FIELDS))
        for slot, field in zip(self._field_values, FIELDS, strict=True):
            slot.field = field
        self._energy = library.find("nvmlDeviceGetTotalEnergyConsumption")
        self._ecc = library.find("nvmlDeviceGetTotalEccErrors")
        self._numbers = {
            name: library.find(name)
            for name in (
                "nvmlDeviceGetPowerUsage",
                "nvmlDeviceGetEnforcedPowerLimit",
                "nvmlDeviceGetFanSpeed",
                "nvmlDeviceGetCurrPcieLinkGeneration",
                "nvmlDeviceGetCurrPcieLinkWidth",
                "nvmlDeviceGetPersistenceMode",
                "nvmlDeviceGetDisplayActive",
                "nvmlDeviceGetMaxMigDeviceCount",
            )
        }
        self._mig_mode = library.find("nvmlDeviceGetMigMode")
        self._mig_handle = library.find("nvmlDeviceGetMigDeviceHandleByIndex")

    def memory_info(self, handle: c_void_p) -> int:
        """Fills `memory`."""
        if self._memory_v2 is None:
            return FUNCTION_NOT_FOUND
        return self._memory_v2(handle, self._memory_ref)

    def memory_info_old(self, handle: c_void_p) -> int:
        """Fills `memory_old`, whose `used` includes the driver's reserve."""
        if self._memory_v1 is None:
            return FUNCTION_NOT_FOUND
        return self._memory_v1(handle, self._memory_old_ref)

    def bar1_used(self, handle: c_void_p) -> tuple[int, int | None]:
        if self._bar1 is None:
            return FUNCTION_NOT_FOUND, None
        code = self._bar1(handle, self._memory_old_ref)
        return code, count_64(self.memory_old.used) if code == OK else None

    def utilisation(self, handle: c_void_p) -> int:
        """Fills `rates`."""
        return self._rates(handle, self._rates_ref) if self._rates else FUNCTION_NOT_FOUND

    def engine(self, name: str, handle: c_void_p) -> tuple[int, int | None]:
        function = self._engines[name]
        if function is None:
            return FUNCTION_NOT_FOUND, None
        code = function(handle, self._u32_ref, self._second_ref)
        return code, percent(self._u32.value) if code == OK else None

    def temperature(self, handle: c_void_p) -> tuple[int, int | None]:
        if self._temperature_v is not None:
            code = self._temperature_v(handle, self._temperature_ref)
            if code == OK:
                return OK, _degrees(self._temperature_out.value)
            if code not in (NOT_SUPPORTED, FUNCTION_NOT_FOUND):
                return code, None
            self._temperature_v = None
        if self._temperature is None:
            return FUNCTION_NOT_FOUND, None
        code = self._temperature(handle, self._gpu_sensor, self._u32_ref)
        return code, _degrees(self._u32.value) if code == OK else None

    def clock(self, handle: c_void_p, kind: int) -> tuple[int, int | None]:
        if self._clock is None:
            return FUNCTION_NOT_FOUND, None
        code = self._clock(handle, self._clock_kinds[kind], self._u32_ref)
        return code, count_32(self._u32.value) if code == OK else None

    def throttle(self, handle: c_void_p) -> tuple[int, int]:
        if self._reasons is None:
            return FUNCTION_NOT_FOUND, 0
        return self._reasons(handle, self._u64_ref), self._u64.value

    def number(self, name: str, handle: c_void_p) -> tuple[int, int | None]:
        function = self._numbers[name]
        if function is None:
            return FUNCTION_NOT_FOUND, None
        code = function(handle, self._u32_ref)
        return code, count_32(self._u32.value) if code == OK else None

    def fields(self, handle: c_void_p) -> tuple[int, Sequence[int | None]]:
        """Code, and the values of FIELDS in that order; None for one that the card lacks."""
        if self._fields is None:
            return FUNCTION_NOT_FOUND, ()
        code = self._fields(handle, self._field_count, self._field_values)
        if code != OK:
            return code, ()
        return OK, [
            None if one_code else _field_value(kind, raw)
            for kind, one_code, raw in _FIELD.iter_unpack(self._field_view)
        ]

    def energy_mj(self, handle: c_void_p) -> tuple[int, int | None]:
        if self._energy is None:
            return FUNCTION_NOT_FOUND, None
        code = self._energy(handle, self._u64_ref)
        return code, count_64(self._u64.value) if code == OK else None

    def ecc_errors(self, handle: c_void_p, kind: int) -> tuple[int, int | None]:
        """Errors since the driver was loaded: kind 0 corrected, 1 uncorrected."""
        if self._ecc is None:
            return FUNCTION_NOT_FOUND, None
        code = self._ecc(handle, c_uint(kind), c_uint(0), self._u64_ref)
        return code, count_64(self._u64.value) if code == OK else None

    def mig_mode(self, handle: c_void_p) -> tuple[int, bool]:
        if self._mig_mode is None:
            return FUNCTION_NOT_FOUND, False
        code = self._mig_mode(handle, self._u32_ref, self._second_ref)
        return code, bool(self._u32.value)

    def mig_handle(self, handle: c_void_p, slot: int) -> tuple[int, c_void_p | None]:
        """The instance in that slot, None for a hole."""
        if self._mig_handle is None:
            return FUNCTION_NOT_FOUND, None
        out = c_void_p()
        code = self._mig_handle(handle, c_uint(slot), byref(out))
        return code, out if code == OK and out.value else None


def _degrees(value: int) -> int | None:
    return value if 0 <= value <= 250 else None


def _field_value(kind: int, raw: int) -> int | None:
    mask = _MASKS.get(kind)
    if mask is None:
        return None
    value = raw & mask
    return value if value < SENTINEL_64 and value != SENTINEL_32 else None
