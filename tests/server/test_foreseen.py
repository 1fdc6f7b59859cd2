"""When a waiting job starts, as a real server process tells: to who asks, and in lists."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from roost.client.api import Client
from roost.core.model import Request
from roost.server.intents import Explain
from roost.store.database import open_sqlite
from tests.server.agent_peer import AgentPeer
from tests.server.queue_rig import Queue, sleep
from tests.server.rig import Server, submission, wait_for


def at(text: Any) -> float:
    return datetime.fromisoformat(str(text)).timestamp()


@pytest.fixture
def client(server: Server) -> Iterator[Client]:
    server.connected()
    with server.client() as made:
        yield made


def runs(client: Client, *words: str, **more: Any) -> int:
    number = client.submit(submission(*words, **more))["job"]
    wait_for(lambda: client.job(number)["state"] == "RUNNING", f"job {number} runs")
    return int(number)


def test_the_end_by_walltime_is_the_latest_start_of_the_next(client: Client) -> None:
    first = runs(client, "sleep", "60", gpus=4, walltime_s=3600)
    second = client.submit(submission("sleep", "0", gpus=4, walltime_s=1800))["job"]
    third = client.submit(submission("sleep", "0", gpus=4, walltime_s=1800))["job"]
    begun = at(client.job(first)["start_time"])
    for number, expected in ((second, begun + 3600), (third, begun + 5400)):
        why = client.why(number)
        assert at(why["forecast_latest"]) == pytest.approx(expected, abs=2)
        assert at(why["forecast_start"]) == pytest.approx(expected, abs=2)
        assert why["forecast_unknown"] is None


def test_habits_make_it_sooner_and_an_open_end_is_named(client: Client) -> None:
    for _ in range(2):
        number = client.submit(submission("sleep", "0.5", gpus=4))["job"]
        assert client.wait(number, 20)["state"] == "COMPLETED"
    open_ended = runs(client, "sleep", "30", gpus=4)
    waits = client.submit(submission("sleep", "0", gpus=1))["job"]
    why = client.why(waits)
    assert 0 < at(why["forecast_start"]) - time.time() < 30
    assert why["forecast_latest"] is None
    unknown = why["forecast_unknown"]
    assert unknown is not None
    assert unknown["code"] == "open"
    assert unknown["blocking_jobs"] == [open_ended]
    assert unknown["text"].startswith(f"job {open_ended} of ")
    assert "没有运行时限" in str(client.call("GET", f"/v1/jobs/{waits}/why?lang=zh"))


def test_habits_outlive_a_restart(server: Server) -> None:
    """What is learnt is read again: half a second of each hour that is asked for."""
    with server.connected() as client:
        for _ in range(2):
            number = client.submit(submission("sleep", "0.5", gpus=4, walltime_s=3600))["job"]
            assert client.wait(number, 20)["state"] == "COMPLETED"
    server.stop()
    server.start()
    with server.connected() as client:
        runs(client, "sleep", "30", gpus=4, walltime_s=3600)
        why = client.why(client.submit(submission("sleep", "0", gpus=4, walltime_s=3600))["job"])
        assert 0 < at(why["forecast_start"]) - time.time() < 60
        assert at(why["forecast_latest"]) - time.time() > 3500


def test_lists_show_it_though_nobody_asked(client: Client) -> None:
    first = runs(client, "sleep", "60", gpus=4, walltime_s=3600)
    numbers = [
        client.submit(submission("sleep", "0", gpus=4, walltime_s=1800))["job"] for _ in range(3)
    ]
    begun = at(client.job(first)["start_time"])
    wait_for(lambda: client.job(numbers[-1])["forecast_start"], "the lists know when", 20)
    row = client.job(numbers[-1])
    assert at(row["forecast_start"]) == pytest.approx(begun + 3600 + 2 * 1800, abs=2)
    assert "expected about" in str(row["wait"])
    assert client.job(first)["forecast_start"] is None


def test_a_held_job_has_no_forecast(client: Client) -> None:
    held = client.submit(submission("sleep", "0", held=True))["job"]
    why = client.why(held)
    assert why["forecast_start"] is None
    assert why["forecast_unknown"] is not None
    assert why["forecast_unknown"]["code"] == "never"


def test_looking_ahead_keeps_nobody_waiting(folder: Path, peer: AgentPeer) -> None:
    """A queue in which it takes a while to look ahead: meanwhile others are answered."""
    store = open_sqlite(folder / "roost.db")
    queue = Queue(store, folder / "agent.sock")
    try:
        asked = [
            queue.control.submit(
                sleep(
                    "60",
                    indices=tuple(range(1, 40)),
                    request=Request(gpus=1 + n % 4, walltime_s=600.0 * (1 + n), cpus=n % 7),
                )
            )
            for n in range(50)
        ]
        numbers = [number for one in asked for number in one.result(30)[0]]
        wait, future = queue.control.submit(Explain(numbers[-1])).result(20)
        began = time.thread_time()
        told = queue.control.foresight.ask(future, wait)
        answers = 0
        slowest_s = 0.0
        while not told.done():
            before = time.monotonic()
            queue.control.submit(Explain(numbers[answers % 100])).result(20)
            slowest_s = max(slowest_s, time.monotonic() - before)
            answers += 1
        assert told.result().reasons
        assert answers > 3, (answers, time.thread_time() - began)
        assert slowest_s < 5
    finally:
        queue.control.close()
        store.close()
