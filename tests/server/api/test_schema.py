"""Schemathesis against the running server: no request makes it fail, and it answers as it says."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis import GenerationMode

from roost.core.rules.model import Rules
from roost.server.api.app import make_app
from roost.server.api.context import Context
from roost.server.api.live import Live
from roost.server.api.peer import PEER, People
from roost.server.api.render import Jobs
from roost.server.board import Board, RulesInForce
from roost.server.control import Control
from roost.server.engines.agent import AgentEngine
from roost.store.database import open_sqlite
from tests.server.agent_peer import AgentPeer
from tests.server.rig import wait_for


class _AsRoot:
    """ASGI: the caller is root, as the kernel would say."""

    def __init__(self, app: Any) -> None:
        self.app = app

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        scope[PEER] = (1, 0, 0)
        await self.app(scope, receive, send)


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    folder: Path = tmp_path_factory.mktemp("s")
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    with AgentPeer(folder / "agent.sock") as _:
        store = open_sqlite(folder / "roost.db")
        board = Board()
        engine = AgentEngine(folder / "agent.sock", "test")
        control = Control(store, board, engine, RulesInForce(Rules()))
        control.start()
        context = Context(control, board, store, engine, Live(loop), People(), Jobs(), time.time)
        made = _AsRoot(make_app(context))
        wait_for(lambda: board.observation is not None, "an observation")
        yield made
        control.close()
        store.close()
    loop.call_soon_threadsafe(loop.stop)


@given(data=st.data())
@settings(
    max_examples=200,
    deadline=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)
def test_no_request_makes_it_fail(app: Any, data: st.DataObject) -> None:
    """Every operation but the two that last (events, wait), with requests right and wrong."""
    schema = schemathesis.openapi.from_asgi("/v1/openapi.json", app)
    operations = [
        operation
        for result in schema.get_all_operations()
        if (operation := result.ok()).path not in ("/v1/events", "/v1/jobs/{number}/wait")
    ]
    assert len(operations) >= 21
    operation = data.draw(st.sampled_from(operations))
    mode = data.draw(st.sampled_from(list(GenerationMode)))
    case = data.draw(operation.as_strategy(generation_mode=mode))
    response = case.call()
    assert response.status_code not in (500, 501), response.text
    if response.status_code >= 400:
        assert response.headers["content-type"] == ["application/problem+json"]
        assert {"type", "title", "status", "detail"} <= set(response.json())
    else:
        case.validate_response(response)
