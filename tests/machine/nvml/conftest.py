"""The real driver on the fake library: a server whose state a test changes while it is read."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from roost.core.observation import DriverReading, GpuReading
from roost.machine.nvml.driver import DriverOptions, NvmlDriver
from roost.machine.nvml.protocol import ReaderOptions
from tests.real.fakenvml.state import FakeState, environment

QUICK = ReaderOptions(
    retry_s=0.05, recheck_s=0.0, reload_s=0.0, slow_s=0.0, graphics_s=0.0, inventory_s=0.0
)


class Server:
    """A fake server, and one driver on it (`options` before the first read)."""

    def __init__(self, directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.path = directory / "state"
        self.directory = directory
        self.state = FakeState.of("A100-80", 2)
        self.options = DriverOptions(
            kill_after_s=0.3, start_s=5.0, probe_s=0.3, restart_s=0.05, reader=QUICK
        )
        self._monkeypatch = monkeypatch
        self._driver: NvmlDriver | None = None
        self.layout("v3")

    def layout(self, name: str) -> None:
        for key, value in environment(self.path, name).items():
            self._monkeypatch.setenv(key, value)

    def reader(self, **options: object) -> None:
        self.options = replace(
            self.options,
            reader=replace(self.options.reader, **options),  # type: ignore[arg-type]
        )

    def write(self) -> None:
        self.state.write(self.path)

    @property
    def driver(self) -> NvmlDriver:
        if self._driver is None:
            self._driver = NvmlDriver(self.options)
        return self._driver

    def read(self, deadline_s: float = 5.0) -> tuple[DriverReading, tuple[GpuReading, ...]]:
        return self.driver.read(deadline_s)

    def gpus(self, deadline_s: float = 5.0) -> tuple[GpuReading, ...]:
        """Writes the state as it is now, and reads it."""
        self.write()
        return self.read(deadline_s)[1]

    def close(self) -> None:
        if self._driver is not None:
            self._driver.close()


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    one = Server(tmp_path, monkeypatch)
    yield one
    one.close()


@pytest.fixture
def until() -> Callable[[Callable[[], bool]], None]:
    """Repeats a look until it is true, ten seconds at most."""
    import time

    def wait(look: Callable[[], bool]) -> None:
        end = time.monotonic() + 10
        while not look():
            assert time.monotonic() < end, "did not come true within 10 s"
            time.sleep(0.02)

    return wait
