"""The agent's engine: the contract, and coming back after every way a connection can go."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from roost.server.engines.agent import AgentEngine
from roost.server.engines.base import Connected, Disconnected, EngineError, LaunchRefused
from roost.wire.messages import ReleaseDriver
from tests.server.agent_peer import AgentPeer
from tests.server.engines.contract import Ear, check, spec
from tests.server.rig import wait_for


@pytest.fixture
def engine(folder: Path) -> Iterator[AgentEngine]:
    made = AgentEngine(folder / "agent.sock", "test")
    yield made
    made.close()


def test_it_keeps_the_contract(engine: AgentEngine, peer: AgentPeer) -> None:
    check(engine)
    assert peer.executed == {(1, 1): 1, (2, 1): 1}
    assert peer.settings[0].sample_s == 0.2


def test_it_says_that_the_agent_is_away_and_comes_back_by_itself(
    engine: AgentEngine, folder: Path
) -> None:
    ear = Ear()
    engine.start(ear)
    ear.next(Disconnected)
    with AgentPeer(folder / "agent.sock") as peer:
        ear.next(Connected)
        engine.launch(spec(1, 60))
        wait_for(lambda: peer.records, "the launch has come")
        for _ in range(3):
            peer.drop()
            ear.next(Disconnected)
            found = ear.next(Connected)
            assert isinstance(found, Connected)
        assert [(a.job, a.state) for a in found.attempts] == [(1, "running")]
    ear.next(Disconnected)


def test_a_launch_that_the_agent_refuses_is_told_with_its_sentence(
    engine: AgentEngine, peer: AgentPeer
) -> None:
    ear = Ear()
    engine.start(ear)
    ear.next(Connected)
    peer.refuse = "root runs no jobs"
    engine.launch(spec(3, 1))
    refused = ear.next(LaunchRefused)
    assert (refused.job, refused.attempt, refused.text) == (3, 1, "root runs no jobs")


def test_a_question_ends_when_the_agent_goes(engine: AgentEngine, peer: AgentPeer) -> None:
    ear = Ear()
    engine.start(ear)
    ear.next(Connected)
    peer.silent = True
    asked = engine.ask(ReleaseDriver(hold=False, request=0))
    peer.drop()
    with pytest.raises(EngineError) as gone:
        asked.result(10)
    assert gone.value.code == "agent_away"


@pytest.mark.parametrize("drop", [False, True])
def test_an_answer_that_nobody_waits_for_any_more_costs_nothing(
    engine: AgentEngine, peer: AgentPeer, drop: bool
) -> None:
    ear = Ear()
    engine.start(ear)
    ear.next(Connected)
    peer.silent = drop
    asked = engine.ask(ReleaseDriver(hold=False, request=0))
    asked.cancel()
    if drop:
        peer.drop()
        peer.silent = False
        ear.next(Connected)
    assert engine.ask(ReleaseDriver(hold=True, request=0)).result(10) is None


def test_nonsense_from_the_socket_is_a_lost_connection(engine: AgentEngine, folder: Path) -> None:
    import socket

    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(folder / "agent.sock"))
        listener.listen()
        ear = Ear()
        engine.start(ear)
        connection, _ = listener.accept()
        connection.sendall(b"\xff\xff\xff\xffHTTP/1.1")
        said = ear.next(Disconnected)
        assert isinstance(said, Disconnected)
        assert "limit" in said.text
        connection.close()
