"""The virtual machine takes minutes and mostly waits. With one process for all tests it boots
beside others (beside.py) and its tests come last; with several they come first, in one of them.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.real.vm.beside import Beside, why_not
from tests.real.vm.machine import Boot

HERE = Path(__file__).resolve().parent
NAME = "roost-vm-beside"


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    mine = [item for item in items if item.path.parent == HERE]
    others = [item for item in items if item.path.parent != HERE]
    alone = "PYTEST_XDIST_WORKER" not in os.environ
    items[:] = others + mine if alone else mine + others
    if mine and not why_not() and not config.option.collectonly:
        config.pluginmanager.register(Beside(early=alone), NAME)


@pytest.fixture(scope="session")
def boots(pytestconfig: pytest.Config) -> list[Boot]:
    if reason := why_not():
        pytest.skip(reason)
    beside = pytestconfig.pluginmanager.get_plugin(NAME)
    assert isinstance(beside, Beside)
    return beside.start().result()
