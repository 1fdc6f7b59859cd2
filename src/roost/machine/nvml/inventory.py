"""The cards that the kernel's driver lists in /proc, for those that NVML cannot name any more."""

from __future__ import annotations

import os
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Listed:
    """A card of /proc/driver/nvidia/gpus; None for what its file does not say."""

    bus_id: str
    uuid: str | None
    name: str | None
    minor: int | None


def listed_cards(proc: str = "/proc") -> tuple[Listed, ...]:
    """In bus order, which is NVML's index order. Empty without a loaded driver (and on WSL)."""
    base = f"{proc}/driver/nvidia/gpus"
    try:
        names = sorted(os.listdir(base))
    except OSError:
        return ()
    return tuple(_read(f"{base}/{name}/information", name) for name in names)


def kernel_version(proc: str = "/proc") -> str | None:
    """Version of the loaded kernel module ("575.57.08"), None where none is loaded.

    The line is "NVRM version: NVIDIA UNIX [Open Kernel Module for] x86_64 ...  575.57.08  ...".
    """
    try:
        with open(f"{proc}/driver/nvidia/version", encoding="utf-8", errors="replace") as file:
            words = file.readline().split()
    except OSError:
        return None
    return next((word for word in words if is_version(word)), None)


def is_version(word: str) -> bool:
    """Whether it looks like a driver's version: two or three groups of digits."""
    groups = word.split(".")
    return 2 <= len(groups) <= 3 and all(group.isdigit() for group in groups)


def library_version(path: str) -> str | None:
    """The version in the name of the file behind `libnvidia-ml.so.1`, None where it has none."""
    try:
        name = os.path.basename(os.path.realpath(path))
    except OSError:
        return None
    version = name.removeprefix("libnvidia-ml.so.")
    return version if is_version(version) else None


def _read(path: str, bus_id: str) -> Listed:
    found: dict[str, str] = {}
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            for line in file:
                key, _, value = line.partition(":")
                found[key.strip()] = value.strip()
    except OSError:
        return Listed(bus_id, None, None, None)
    uuid = found.get("GPU UUID")
    minor = found.get("Device Minor", "")
    return Listed(
        bus_id,
        uuid if uuid and uuid.startswith("GPU-") and "?" not in uuid else None,
        found.get("Model"),
        int(minor) if minor.isdigit() else None,
    )
