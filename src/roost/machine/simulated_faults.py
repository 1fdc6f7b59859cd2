"""Faults that a simulated machine is told to have, by a file that is read anew when it changes.

Knows TOML and what may stand in it; a file with an error changes nothing and says what is wrong.

    driver = "version_mismatch"   # or no_library, not_loaded, reloading, hang; "ok" is the default

    [gpu.3]
    state = "lost"                # or reset_required, error, no_permission, missing, hang
    utilisation_percent = 0       # what jobs on it make of it, in place of the usual

    [[gpu.0.process]]             # somebody's process without a job
    pid = 4711
    memory_mib = 12000
    utilisation_percent = 40
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field

from roost.core.observation import DriverState, GpuState
from roost.machine.simulated_cards import MIB
from roost.machine.simulation import SimulatedLoad

MOST_BYTES = 1 << 16
_DRIVER = {
    "ok": None,
    "hang": DriverState.NOT_ANSWERING,
    **{
        state.value: state
        for state in (
            DriverState.NO_LIBRARY,
            DriverState.NOT_LOADED,
            DriverState.VERSION_MISMATCH,
            DriverState.RELOADING,
            DriverState.ERROR,
        )
    },
}
_GPU = {"hang": GpuState.NOT_ANSWERING, **{state.value: state for state in GpuState}}


@dataclass(frozen=True, slots=True)
class Faults:
    """`driver` None: it works. `busy`: utilisation in percent of the jobs on a card.

    `wrong` is what is wrong with the file, "" for nothing.
    """

    driver: DriverState | None = None
    hang: bool = False
    gpus: Mapping[int, GpuState] = field(default_factory=dict)
    foreign: Mapping[int, tuple[SimulatedLoad, ...]] = field(default_factory=dict)
    busy: Mapping[int, int] = field(default_factory=dict)
    wrong: str = ""


class FaultFile:
    """`path` None: never any fault."""

    def __init__(self, path: str | None) -> None:
        self._path = path
        self._seen: tuple[int, int, int] | None = None
        self._faults = Faults()

    def now(self) -> Faults:
        """What the file says now; no file is no fault."""
        if self._path is None:
            return self._faults
        try:
            handle = os.open(self._path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
        except FileNotFoundError:
            self._seen, self._faults = None, Faults()
            return self._faults
        except OSError as error:
            return Faults(wrong=f"{self._path}: {error.strerror}")
        with os.fdopen(handle, "rb") as file:
            stat = os.fstat(file.fileno())
            seen = (stat.st_ino, stat.st_mtime_ns, stat.st_size)
            if seen == self._seen:
                return self._faults
            self._seen = seen
            try:
                text = file.read(MOST_BYTES).decode("utf-8")
                self._faults = parse_faults(text)
            except (OSError, UnicodeDecodeError, ValueError) as error:
                self._faults = Faults(wrong=f"{self._path}: {error}")
        return self._faults


def parse_faults(text: str) -> Faults:
    """Raises ValueError that names the key, the value and what is allowed."""
    document = tomllib.loads(text)
    _only(document, {"driver", "gpu"}, "")
    word = document.get("driver", "ok")
    if word not in _DRIVER:
        raise ValueError(f"driver = {word!r}; allowed are {', '.join(sorted(_DRIVER))}")
    states: dict[int, GpuState] = {}
    foreign: dict[int, tuple[SimulatedLoad, ...]] = {}
    busy: dict[int, int] = {}
    cards = document.get("gpu", {})
    if not isinstance(cards, dict):
        raise ValueError("gpu: write a table for each card, as in [gpu.3]")
    for key, card in cards.items():
        if not key.isdigit() or not isinstance(card, dict):
            raise ValueError(f"gpu.{key}: write the index of a card, as in [gpu.3]")
        _only(card, {"state", "process", "utilisation_percent"}, f"gpu.{key}.")
        if "utilisation_percent" in card:
            busy[int(key)] = _whole(card["utilisation_percent"], f"gpu.{key}.utilisation_percent")
        state = card.get("state", "ok")
        if state not in _GPU:
            raise ValueError(f"gpu.{key}.state = {state!r}; allowed are {', '.join(sorted(_GPU))}")
        if _GPU[state] is not GpuState.OK:
            states[int(key)] = _GPU[state]
        foreign[int(key)] = tuple(_process(one, f"gpu.{key}") for one in card.get("process", []))
    return Faults(_DRIVER[word], word == "hang", states, foreign, busy)


def _process(one: object, where: str) -> SimulatedLoad:
    if not isinstance(one, dict):
        raise ValueError(f"{where}.process: write [[{where}.process]] with a pid")
    _only(one, {"pid", "memory_mib", "utilisation_percent"}, f"{where}.process.")
    pid = _whole(one.get("pid"), f"{where}.process.pid")
    memory = _whole(one.get("memory_mib", 1024), f"{where}.process.memory_mib")
    busy = _whole(one.get("utilisation_percent", 0), f"{where}.process.utilisation_percent")
    return SimulatedLoad((pid,), memory * MIB, busy)


def _whole(value: object, name: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise ValueError(f"{name} = {value!r}; a whole number is needed")
    return value


def _only(table: Mapping[str, object], allowed: set[str], where: str) -> None:
    for key in table:
        if key not in allowed:
            raise ValueError(f"{where}{key} is not known; allowed are {', '.join(sorted(allowed))}")
