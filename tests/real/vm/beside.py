"""The virtual machine boots beside other tests: it takes minutes, one core, and mostly waits.

In a whole run by one process it is started when the first test begins that comes after those of
real things; alone, and where several processes share the tests, by its own first test.
"""

from __future__ import annotations

import os
import platform
import shutil
import tempfile
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.real.vm import guest
from tests.real.vm.image import base_image, missing_programs
from tests.real.vm.machine import Boot, boot
from tests.real.vm.payload import build_payload, copy_of_disk

REAL = Path(__file__).resolve().parents[1]
BOOT_LIMIT_S = 900


def why_not() -> str:
    """The reason for which there can be no machine here, "" where it can."""
    if os.geteuid() != 0:
        return "needs root to build the machine's disk"
    if platform.machine() != "x86_64":
        return "the virtual machine is x86-64"
    missing = missing_programs()
    return f"not installed: {', '.join(missing)}" if missing else ""


def all_boots() -> list[Boot]:
    """All boots of one virtual machine, on one disk, in order; fewer where one is wrong."""
    folder = Path(tempfile.mkdtemp(prefix="roost-vm-"))
    try:
        image = base_image()
        payload = build_payload(image, folder, guest.GPUS)
        disk = copy_of_disk(image, folder)
        done: list[Boot] = []
        for name in guest.BOOTS:
            done.append(boot(image, disk, payload, folder, BOOT_LIMIT_S))
            if not done[-1].ended or done[-1].reports[-1:] != (
                {"check": f"{name}: end", "ok": True},
            ):
                break
        return done
    finally:
        shutil.rmtree(folder)


class Beside:
    """A plugin: starts the boots once, in a thread, which waits for programs alone. `early`: beside
    other tests; else when its own first test asks."""

    def __init__(self, early: bool) -> None:
        self._early = early
        self._pool = ThreadPoolExecutor(max_workers=1)
        self._boots: Future[list[Boot]] | None = None
        self._real_began = False

    def start(self) -> Future[list[Boot]]:
        if self._boots is None:
            self._boots = self._pool.submit(all_boots)
        return self._boots

    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        real = REAL in item.path.parents
        self._real_began |= real
        if self._early and self._real_began and not real:
            self.start()

    def pytest_unconfigure(self) -> None:
        self._pool.shutdown()
