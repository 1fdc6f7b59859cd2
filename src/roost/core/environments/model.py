"""What is known of an environment, as data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Dist:
    """An installed package as its own metadata tells: a wheel's METADATA, or conda-meta (`build`).

    `files`: relative paths that frameworks write their build into, to their text.
    """

    name: str
    version: str
    requires: tuple[str, ...] = ()
    build: str = ""
    files: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Framework:
    """`cuda`: (major, minor) that it was built for; minor -1: of that major, no more is known.
    None with `gpu` False: it computes on the CPU alone; with True: for CUDA, unknown which."""

    name: str
    version: str
    cuda: tuple[int, int] | None = None
    gpu: bool = True

    @property
    def cuda_text(self) -> str | None:
        """ "13.0", "12", or None."""
        if self.cuda is None:
            return None
        major, minor = self.cuda
        return str(major) if minor < 0 else f"{major}.{minor}"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that `roost env doctor` says. `level`: "error" (it cannot work), "warning", "note".
    `code` is of the catalogue `environment`, with its numbers."""

    level: str
    code: str
    numbers: Mapping[str, str] = field(default_factory=dict)
