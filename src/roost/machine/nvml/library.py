"""The NVML library as prepared calls: loaded and initialised by nvidia-ml-py, called directly.

Direct calls cost a fifth of the binding's wrappers, and its wrappers raise where we need the code.
Structures here are NVML's own (nvml.h); this file must not know what a reading is.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from ctypes import (
    Structure,
    byref,
    c_char,
    c_int,
    c_int64,
    c_uint,
    c_uint32,
    c_ulonglong,
    c_void_p,
    create_string_buffer,
    sizeof,
)

import pynvml  # type: ignore[import-untyped]

OK = 0
UNINITIALIZED = 1
INVALID_ARGUMENT = 2
NOT_SUPPORTED = 3
NO_PERMISSION = 4
NOT_FOUND = 6
INSUFFICIENT_SIZE = 7
DRIVER_NOT_LOADED = 9
LIBRARY_NOT_FOUND = 12
FUNCTION_NOT_FOUND = 13
GPU_IS_LOST = 15
RESET_REQUIRED = 16
LIB_RM_VERSION_MISMATCH = 18
NO_DATA = 21
ARGUMENT_VERSION_MISMATCH = 25
UNKNOWN = 999

Call = Callable[..., int]

_NAMES: dict[int, str] = {
    value: name.removeprefix("NVML_ERROR_")
    for name, value in vars(pynvml).items()
    if name.startswith("NVML_ERROR_")
}


def error_name(code: int) -> str:
    """ "GPU_IS_LOST" for 15; the number for a code that the binding does not know."""
    return _NAMES.get(code, str(code))


class MemoryV1(Structure):
    _fields_ = (("total", c_ulonglong), ("free", c_ulonglong), ("used", c_ulonglong))


class MemoryV2(Structure):
    _fields_ = (
        ("version", c_uint),
        ("total", c_ulonglong),
        ("reserved", c_ulonglong),
        ("free", c_ulonglong),
        ("used", c_ulonglong),
    )


class Utilisation(Structure):
    _fields_ = (("gpu", c_uint), ("memory", c_uint))


class TemperatureV1(Structure):
    _fields_ = (("version", c_uint), ("sensor", c_uint), ("value", c_int))


class MarginV1(Structure):
    _fields_ = (("version", c_uint), ("value", c_int))


class Pci(Structure):
    _fields_ = (
        ("legacy", c_char * 16),
        ("domain", c_uint),
        ("bus", c_uint),
        ("device", c_uint),
        ("device_id", c_uint),
        ("subsystem_id", c_uint),
        ("bus_id", c_char * 32),
    )


class FieldValue(Structure):
    _fields_ = (
        ("field", c_uint32),
        ("scope", c_uint32),
        ("timestamp_us", c_int64),
        ("latency_us", c_int64),
        ("type", c_uint),
        ("code", c_uint),
        ("value", c_ulonglong),
    )


def versioned(kind: type[Structure], version: int) -> int:
    """NVML's structure version: size in the low bits, number in the top byte (nvml.h)."""
    return sizeof(kind) | version << 24


MEMORY_V2 = versioned(MemoryV2, 2)


class LibraryError(Exception):
    """NVML could not be loaded or initialised; `code` is NVML's."""

    def __init__(self, code: int) -> None:
        super().__init__(error_name(code))
        self.code = code


class Library:
    """NVML, initialised. Functions that this driver lacks are None."""

    def __init__(self) -> None:
        """Raises LibraryError. Takes seconds where no persistence daemon keeps the driver up."""
        if not hasattr(pynvml, "_nvmlGetFunctionPointer"):
            raise LibraryError(
                LIBRARY_NOT_FOUND
            )  # the abandoned `pynvml` package, not nvidia-ml-py
        try:
            pynvml.nvmlInit()
        except pynvml.NVMLError as error:
            raise LibraryError(int(error.value)) from error
        self._known: dict[str, Call | None] = {}

    def shutdown(self) -> None:
        """Lets go of the driver. Errors are of no use any more: a reloaded driver gives one."""
        try:
            pynvml.nvmlShutdown()
        except pynvml.NVMLError:
            return

    def find(self, name: str) -> Call | None:
        """The C function of that exact name, with a prototype of its own; None: not there."""
        if name not in self._known:
            try:
                function = pynvml.nvmlLib[name]
            except AttributeError:
                function = None
            self._known[name] = function
        return self._known[name]

    def first(self, *names: str) -> Call | None:
        """The first of these that exists: newest name first."""
        for name in names:
            if function := self.find(name):
                return function
        return None

    def text(self, name: str, *before: object, size: int = 96) -> tuple[int, str]:
        """Code and text of `name(*before, buffer, size)`; bytes that are not UTF-8 escaped."""
        function = self.find(name)
        if function is None:
            return FUNCTION_NOT_FOUND, ""
        buffer = create_string_buffer(size)
        code = function(*before, buffer, c_uint(size))
        return code, buffer.value.decode("utf-8", "backslashreplace") if code == OK else ""

    def number(self, name: str, *before: object) -> tuple[int, int]:
        """Code and number of a call `name(*before, unsigned int *)`."""
        function = self.find(name)
        if function is None:
            return FUNCTION_NOT_FOUND, 0
        out = c_uint()
        return function(*before, byref(out)), out.value

    def handle(self, index: int) -> tuple[int, c_void_p | None]:
        """The handle of a GPU, None with the code where there is none: never a failed handle."""
        function = self.first("nvmlDeviceGetHandleByIndex_v2", "nvmlDeviceGetHandleByIndex")
        if function is None:
            return FUNCTION_NOT_FOUND, None
        out = c_void_p()
        code = function(c_uint(index), byref(out))
        return code, out if code == OK and out.value else None

    def count(self) -> tuple[int, int]:
        name = (
            "nvmlDeviceGetCount_v2" if self.find("nvmlDeviceGetCount_v2") else "nvmlDeviceGetCount"
        )
        return self.number(name)


def loaded_path() -> str | None:
    """The file that this process has mapped as NVML, None where it has none."""
    try:
        with open("/proc/self/maps", encoding="utf-8", errors="surrogateescape") as maps:
            for line in maps:
                path = line.rstrip("\n").partition("/")[2]
                name = os.path.basename(path)
                if name.startswith(("libnvidia-ml.so", "libnvidia-ml-")):
                    return "/" + path.removesuffix(" (deleted)")
    except OSError:
        return None
    return None
