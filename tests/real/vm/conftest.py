"""The tests of the virtual machine come last, and the machine boots before that (beside.py)."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.real.vm.beside import Beside, why_not
from tests.real.vm.machine import Boot

HERE = Path(__file__).resolve().parent
NAME = "roost-vm-beside"


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    mine = [item for item in items if item.path.parent == HERE]
    items[:] = [item for item in items if item.path.parent != HERE] + mine
    if mine and not why_not() and not config.option.collectonly:
        config.pluginmanager.register(Beside(), NAME)


@pytest.fixture(scope="session")
def boots(pytestconfig: pytest.Config) -> list[Boot]:
    if reason := why_not():
        pytest.skip(reason)
    beside = pytestconfig.pluginmanager.get_plugin(NAME)
    assert isinstance(beside, Beside)
    return beside.start().result()
