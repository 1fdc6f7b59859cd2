"""A server with systemd, cgroup v2 and logind, in a virtual machine: install, use, power cut,
reboot, uninstall. What is checked stands in guest.py; here each check becomes a test.
"""

from __future__ import annotations

import pytest

from tests.real.vm import guest
from tests.real.vm.beside import BOOT_LIMIT_S
from tests.real.vm.machine import Boot

pytestmark = [pytest.mark.vm, pytest.mark.root, pytest.mark.slow, pytest.mark.timeout(2900)]


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
