"""A server with systemd, cgroup v2 and logind, in a virtual machine: install, use, power cut,
reboot, uninstall. What is checked stands in guest.py; here each check becomes a test.
"""

from __future__ import annotations

import os
import platform
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.real.vm import guest
from tests.real.vm.image import base_image, missing_programs
from tests.real.vm.machine import Boot, boot
from tests.real.vm.payload import build_payload, copy_of_disk

pytestmark = [pytest.mark.vm, pytest.mark.root, pytest.mark.slow, pytest.mark.timeout(2900)]

BOOT_LIMIT_S = 900


@pytest.fixture(scope="module")
def boots() -> Iterator[list[Boot]]:
    """All boots of one virtual machine, on one disk, one after another."""
    if os.geteuid() != 0:
        pytest.skip("needs root to build the machine's disk")
    if platform.machine() != "x86_64":
        pytest.skip("the virtual machine is x86-64")
    if missing := missing_programs():
        pytest.skip(f"not installed: {', '.join(missing)}")
    folder = Path(tempfile.mkdtemp(prefix="roost-vm-"))
    try:
        image = base_image()
        payload = build_payload(image, folder, guest.GPUS)
        disk = copy_of_disk(image, folder)
        done = []
        for name in guest.BOOTS:
            done.append(boot(image, disk, payload, folder, BOOT_LIMIT_S))
            if not done[-1].ended or done[-1].reports[-1:] != (
                {"check": f"{name}: end", "ok": True},
            ):
                break
        yield done
    finally:
        shutil.rmtree(folder)


@pytest.mark.parametrize("number", range(len(guest.BOOTS)), ids=list(guest.BOOTS))
def test_the_machine_boots_and_ends_by_itself(boots: list[Boot], number: int) -> None:
    assert number < len(boots), "an earlier boot went wrong"
    assert boots[number].ended, f"hung for {BOOT_LIMIT_S} s\n{boots[number].console[-3000:]}"
    checks = [report["check"] for report in boots[number].reports]
    name = list(guest.BOOTS)[number]
    assert checks[-1:] == [f"{name}: end"], (checks, boots[number].console[-3000:])


@pytest.mark.parametrize(
    "check",
    [f"{name}: {check.__name__}" for name, checks in guest.BOOTS.items() for check in checks],
)
def test_inside(boots: list[Boot], check: str) -> None:
    found = [report for boot in boots for report in boot.reports if report["check"] == check]
    assert found, "the machine never came to this check"
    report = found[0]
    assert report["ok"], f"{report.get('error')}\n{report.get('trace')}\n{report.get('journal')}"
