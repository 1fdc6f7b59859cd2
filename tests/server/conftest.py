"""A server process with an honest agent peer, both in a folder of the test's own."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.server.agent_peer import AgentPeer
from tests.server.rig import Server


@pytest.fixture
def folder() -> Iterator[Path]:
    """Short, so that socket paths fit."""
    with tempfile.TemporaryDirectory(prefix="rs-", dir="/tmp") as name:
        yield Path(name)


@pytest.fixture
def peer(folder: Path) -> Iterator[AgentPeer]:
    with AgentPeer(folder / "agent.sock") as running:
        yield running


@pytest.fixture
def server(folder: Path, peer: AgentPeer) -> Iterator[Server]:
    running = Server(folder)
    running.start()
    yield running
    running.stop()
