"""Servers to replay on: "4x8" is four servers of eight GPUs, "2x8,1x4" two kinds."""

from __future__ import annotations

import re

from roost.core.model import Gpu
from roost.core.replay.trace import TraceError

MEMORY_BYTES = 80 << 30
MOST_GPUS = 100_000
_PART = re.compile(r"([1-9]\d{0,5})x([1-9]\d{0,5})")


def layout(text: str) -> tuple[Gpu, ...]:
    """Raises TraceError. GPUs are all alike, numbered through; names sort in that order."""
    sizes: list[int] = []
    for part in text.split(","):
        match = _PART.fullmatch(part.strip())
        if match is None or int(match[1]) * int(match[2]) > MOST_GPUS:
            raise TraceError("bad_layout", value=text, most=MOST_GPUS)
        sizes += [int(match[2])] * int(match[1])
    found: list[Gpu] = []
    for server, size in enumerate(sizes):
        for _ in range(size):
            index = len(found)
            found.append(Gpu(f"GPU-{index:06}", index, "GPU", MEMORY_BYTES, server=f"s{server:05}"))
    return tuple(found)
