"""NVIDIA's management library: a reader (`reader`), the process it lives in (`helper`), and the
`GpuDriver` that asks that process (`NvmlDriver`). Only `library` knows the binding.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from roost.machine.nvml.driver import NvmlDriver

__all__ = ["NvmlDriver"]


def __getattr__(name: str) -> object:
    """`NvmlDriver` on first use: the helper, which is in this package, must not pay for it."""
    if name != "NvmlDriver":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from roost.machine.nvml.driver import NvmlDriver

    return NvmlDriver
