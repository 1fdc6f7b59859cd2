"""The models that can be simulated, with figures of the real cards, and what `8xA100` means.

Figures: NVIDIA's data sheets; the reserve as NVML tells it on idle cards.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

MIB = 1 << 20
MOST_GPUS = 64


@dataclass(frozen=True, slots=True)
class SimulatedModel:
    """A model of card. Memory in MiB, power in watts, temperature in degrees, clocks in MHz."""

    key: str
    name: str
    memory_mib: int
    reserved_mib: int
    power_limit_w: int
    power_idle_w: int
    slowdown_c: int
    shutdown_c: int
    sm_clock_mhz: int
    memory_clock_mhz: int
    pcie_generation: int = 4
    nvlink: bool = False
    ecc: bool = True
    fan: bool = False
    mig: bool = False


_MODELS = (
    SimulatedModel(
        "A100", "NVIDIA A100-SXM4-80GB", 81920, 869, 400, 68, 89, 92, 1410, 1593,
        nvlink=True, mig=True,
    ),
    SimulatedModel(
        "A100-40", "NVIDIA A100-SXM4-40GB", 40960, 583, 400, 55, 87, 92, 1410, 1215,
        nvlink=True, mig=True,
    ),
    SimulatedModel("A30", "NVIDIA A30", 24576, 512, 165, 30, 90, 93, 1440, 1215, mig=True),
    SimulatedModel("A40", "NVIDIA A40", 46068, 512, 300, 30, 95, 98, 1740, 7251),
    SimulatedModel(
        "A6000", "NVIDIA RTX A6000", 49140, 457, 300, 22, 95, 98, 2100, 8001, fan=True
    ),
    SimulatedModel(
        "B200", "NVIDIA B200", 183359, 726, 1000, 140, 90, 95, 1965, 3996, 5,
        nvlink=True, mig=True,
    ),
    SimulatedModel(
        "H100", "NVIDIA H100 80GB HBM3", 81559, 556, 700, 95, 87, 92, 1980, 2619, 5,
        nvlink=True, mig=True,
    ),
    SimulatedModel(
        "H200", "NVIDIA H200", 143771, 601, 700, 76, 87, 92, 1980, 3201, 5,
        nvlink=True, mig=True,
    ),
    SimulatedModel("L4", "NVIDIA L4", 23034, 460, 72, 16, 90, 93, 2040, 6251),
    SimulatedModel("L40S", "NVIDIA L40S", 46068, 512, 350, 35, 93, 96, 2520, 9001),
    SimulatedModel(
        "RTX3090", "NVIDIA GeForce RTX 3090", 24576, 307, 350, 25, 95, 98, 2100, 9751,
        ecc=False, fan=True,
    ),
    SimulatedModel(
        "RTX4090", "NVIDIA GeForce RTX 4090", 24564, 438, 450, 20, 97, 100, 3105, 10501,
        ecc=False, fan=True,
    ),
    SimulatedModel("T4", "Tesla T4", 15360, 300, 70, 12, 93, 96, 1590, 5001, 3),
    SimulatedModel(
        "V100", "Tesla V100-SXM2-32GB", 32768, 258, 300, 42, 87, 90, 1530, 877, 3, nvlink=True
    ),
)  # fmt: skip

MODELS: dict[str, SimulatedModel] = {model.key: model for model in _MODELS}
_BY_LOWER = {key.lower(): model for key, model in MODELS.items()}
_BY_LOWER |= {"a100-80": MODELS["A100"], "h100-80": MODELS["H100"]}
_PART = re.compile(r"(?:(\d+)\s*[xX]\s*)?([A-Za-z][A-Za-z0-9-]*)")


def parse_simulated(spec: str) -> tuple[SimulatedModel, ...]:
    """The cards of `8xA100` or `4xA100,2xL40S`, in that order.

    Raises ValueError, with what is known, for an unknown model, no card, or more than 64.
    """
    cards: list[SimulatedModel] = []
    for part in spec.split(","):
        match = _PART.fullmatch(part.strip())
        if match is None:
            raise ValueError(
                f"cannot simulate {part.strip()!r}: write a number, x and a model, as in 8xA100 or "
                "4xA100,2xL40S"
            )
        count, name = int(match[1] or 1), match[2]
        model = _BY_LOWER.get(name.lower())
        if model is None:
            raise ValueError(
                f"no GPU model {name!r} to simulate; known are {', '.join(sorted(MODELS))}"
            )
        if not 1 <= count <= MOST_GPUS - len(cards):
            raise ValueError(f"{spec!r} asks for {count} cards here; 1 to {MOST_GPUS} in all")
        cards += [model] * count
    return tuple(cards)
