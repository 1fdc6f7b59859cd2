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

from roost.core.rules.model import OidcRules, Rules
from roost.core.web import web_settings
from roost.server.api.app import make_app
from roost.server.api.context import Context
from roost.server.api.live import Live
from roost.server.api.peer import PEER, People
from roost.server.api.render import Jobs
from roost.server.api.rights import Role, right_of
from roost.server.board import Board, RulesInForce
from roost.server.control import Control
from roost.server.engines.agent import AgentEngine
from roost.server.web.door import Door
from roost.server.web.page import Page
from roost.store.database import open_sqlite
from tests.server.agent_peer import AgentPeer
from tests.server.rig import wait_for

# Nobody answers there: a sign-in by it ends as one that was refused.
RULES = Rules(oidc=OidcRules("http://127.0.0.1:9", "roost", name="Lab"))


class _As:
    """ASGI: the caller is that account, as the kernel would say."""

    def __init__(self, app: Any, uid: int) -> None:
        self.app = app
        self.uid = uid

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        scope[PEER] = (1, self.uid, self.uid)
        await self.app(scope, receive, send)


def over_http(app: Any, context: Context) -> Any:
    """ASGI: a stranger, at the door of the page's listener."""
    settings = web_settings("127.0.0.1:8080", names=("testserver",))
    return Door(app, context.access, settings, Page(""))


@pytest.fixture(scope="module")
def apps(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Any]]:
    folder: Path = tmp_path_factory.mktemp("s")
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    with AgentPeer(folder / "agent.sock") as _:
        store = open_sqlite(folder / "roost.db")
        board = Board()
        engine = AgentEngine(folder / "agent.sock", "test")
        control = Control(store, board, engine, RulesInForce(RULES))
        control.start()
        context = Context(control, board, store, engine, Live(loop), People(), Jobs(), time.time)
        made = make_app(context)
        wait_for(lambda: board.observation is not None, "an observation")
        yield {
            "operator": _As(made, 0),
            "member": _As(made, 65534),
            "stranger": over_http(made, context),
        }
        control.close()
        store.close()
    loop.call_soon_threadsafe(loop.stop)


LASTING = ("/v1/events", "/v1/jobs/{number}/wait")


@pytest.mark.parametrize("who", ["operator", "member", "stranger"])
@given(data=st.data())
@settings(
    max_examples=120,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)
def test_no_request_makes_it_fail(apps: dict[str, Any], who: str, data: st.DataObject) -> None:
    """Every operation but those that last (events, wait, and what an agent that is silent here has
    to do), with requests right and wrong; and nobody gets further than the table of rights says."""
    schema = schemathesis.openapi.from_asgi("/v1/openapi.json", apps["operator"])
    operations = [
        operation
        for result in schema.get_all_operations()
        if (operation := result.ok()).path not in LASTING
    ]
    assert len(operations) >= 21
    operation = data.draw(st.sampled_from(operations))
    mode = data.draw(st.sampled_from(list(GenerationMode)))
    case = data.draw(operation.as_strategy(generation_mode=mode))
    response = case.call(app=apps[who])
    assert response.status_code not in (500, 501), response.text
    right = right_of(operation.method.upper(), operation.path)
    role = {"operator": Role.OPERATOR, "member": Role.MEMBER, "stranger": Role.STRANGER}[who]
    if role < right.least:
        assert response.status_code >= 400, (who, operation.label)
        if who == "stranger":
            assert response.status_code in (401, 405), operation.label
    if response.status_code >= 400:
        assert response.headers["content-type"] == ["application/problem+json"]
        assert {"type", "title", "status", "detail"} <= set(response.json())
    else:
        case.validate_response(response)


@pytest.mark.parametrize("state", ["é" * 20, "a b;c=d" * 3, "\x00" * 12, "\r\nSet-Cookie: a=b", ""])
def test_no_state_that_a_stranger_makes_up_makes_it_fail(apps: dict[str, Any], state: str) -> None:
    schema = schemathesis.openapi.from_asgi("/v1/openapi.json", apps["operator"])
    case = schema["/v1/session/oidc"]["GET"].Case(query={"state": state, "code": "x"})
    answer = case.call(app=apps["stranger"], headers={"Host": "localhost"}, allow_redirects=False)
    assert (answer.status_code, answer.headers["location"]) == (303, ["/#signin=oidc_stale"])
    assert "set-cookie" not in answer.headers
