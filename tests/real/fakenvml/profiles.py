"""Figures of real cards for the fake: memory, watts, degrees, clocks, links.

Sources: NVIDIA's data sheets and published `nvidia-smi -q` outputs; reserved memory as reported by
NVML on idle cards. Units as in the state file (MiB here, bytes there).
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CardProfile:
    """A model of card. `mig` names (name, slices, SMs, MiB) of the instances that it can make."""

    name: str
    memory_mib: int
    reserved_mib: int
    bar1_mib: int
    power_w: tuple[int, int, int, int]  # lowest limit, default, highest limit, idle
    limits_c: tuple[int, int, int]  # shutdown, slowdown, highest in operation
    clocks_mhz: tuple[int, int]  # SM, memory
    pcie_generation: int
    nvlinks: int = 0
    ecc: bool = True
    fan: bool = False
    display: bool = False
    compute: tuple[int, int] = (8, 0)
    cores: int = 6912
    pci_id: int = 0x20B010DE
    tlimit: bool = False
    mig_slots: int = 0
    mig: tuple[tuple[str, int, int, int], ...] = ()


PROFILES: dict[str, CardProfile] = {
    "V100": CardProfile(
        "Tesla V100-SXM2-32GB", 32768, 258, 32768, (100, 300, 300, 42), (90, 87, 83), (1530, 877),
        3, nvlinks=6, compute=(7, 0), cores=5120, pci_id=0x1DB510DE,
    ),
    "T4": CardProfile(
        "Tesla T4", 16384, 300, 256, (60, 70, 70, 12), (96, 93, 89), (1590, 5001), 3,
        compute=(7, 5), cores=2560, pci_id=0x1EB810DE,
    ),
    "RTX3090": CardProfile(
        "NVIDIA GeForce RTX 3090", 24576, 307, 256, (100, 350, 400, 25), (98, 95, 93),
        (2100, 9751), 4, ecc=False, fan=True, display=True, compute=(8, 6), cores=10496,
        pci_id=0x220410DE,
    ),
    "RTX4090": CardProfile(
        "NVIDIA GeForce RTX 4090", 24564, 438, 32768, (10, 450, 600, 20), (100, 97, 90),
        (3105, 10501), 4, ecc=False, fan=True, display=True, compute=(8, 9), cores=16384,
        pci_id=0x268410DE, tlimit=True,
    ),
    "A100-40": CardProfile(
        "NVIDIA A100-SXM4-40GB", 40960, 583, 65536, (100, 400, 400, 72), (92, 87, 83),
        (1410, 1215), 4, nvlinks=12, pci_id=0x20B010DE, mig_slots=7,
        mig=(("1g.5gb", 1, 14, 4864), ("2g.10gb", 2, 28, 9856), ("3g.20gb", 3, 42, 19968),
             ("4g.20gb", 4, 56, 19968), ("7g.40gb", 7, 98, 40192)),
    ),
    "A100-80": CardProfile(
        "NVIDIA A100-SXM4-80GB", 81920, 869, 131072, (100, 400, 400, 68), (92, 89, 85),
        (1410, 1593), 4, nvlinks=12, pci_id=0x20B210DE, mig_slots=7,
        mig=(("1g.10gb", 1, 14, 9728), ("2g.20gb", 2, 28, 19968), ("3g.40gb", 3, 42, 40192),
             ("4g.40gb", 4, 56, 40192), ("7g.80gb", 7, 98, 81152)),
    ),
    "H100-80": CardProfile(
        "NVIDIA H100 80GB HBM3", 81559, 556, 131072, (200, 700, 700, 95), (92, 87, 83),
        (1980, 2619), 5, nvlinks=18, compute=(9, 0), cores=16896, pci_id=0x233010DE, tlimit=True,
        mig_slots=7,
        mig=(("1g.10gb", 1, 16, 10112), ("2g.20gb", 2, 32, 20480), ("3g.40gb", 3, 60, 40960),
             ("4g.40gb", 4, 64, 40960), ("7g.80gb", 7, 132, 81559)),
    ),
    "H200": CardProfile(
        "NVIDIA H200", 143771, 601, 262144, (200, 700, 700, 76), (92, 87, 83), (1980, 3201), 5,
        nvlinks=18, compute=(9, 0), cores=16896, pci_id=0x233510DE, tlimit=True, mig_slots=7,
        mig=(("1g.18gb", 1, 16, 18432), ("3g.71gb", 3, 60, 71680), ("7g.141gb", 7, 132, 143771)),
    ),
    "L40S": CardProfile(
        "NVIDIA L40S", 46068, 512, 65536, (100, 350, 350, 35), (96, 93, 89), (2520, 9001), 4,
        compute=(8, 9), cores=18176, pci_id=0x26B910DE, tlimit=True,
    ),
}  # fmt: skip
