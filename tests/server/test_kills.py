"""SIGKILL to the server at random moments: no job lost, none run twice, every exit code right."""

from __future__ import annotations

import random
import threading
import time
from pathlib import Path

import pytest

from roost.client.errors import RoostError
from tests.server.agent_peer import AgentPeer
from tests.server.rig import Server, submission, wait_for

KILLS = 40


@pytest.mark.parametrize("database", ["sqlite", "postgresql"])
def test_forty_kills_lose_nothing_and_run_nothing_twice(
    folder: Path, peer: AgentPeer, request: pytest.FixtureRequest, database: str
) -> None:
    chance = random.Random(7)
    url = request.getfixturevalue("postgresql_url") if database == "postgresql" else None
    server = Server(folder, url)
    server.start()
    server.connected()
    accepted: dict[int, int] = {}
    stop = threading.Event()

    def submit() -> None:
        number = 0
        while not stop.is_set():
            number += 1
            code = number % 7
            try:
                with server.client() as client:
                    words = ("sleep", f"{chance.random() * 0.2:.3f}", str(code))
                    accepted[client.submit(submission(*words))["job"]] = code
            except RoostError:
                time.sleep(0.02)
            time.sleep(0.01)

    thread = threading.Thread(target=submit)
    thread.start()
    kills = KILLS if database == "sqlite" else 6
    try:
        for number in range(kills):
            time.sleep(chance.random() * 0.25)
            if number % 5 == 4:
                peer.drop()
            server.kill()
            server.start(ready=False)
            if number % 2 == 0:
                server.wait_ready()
        server.wait_ready()
        time.sleep(0.5)
    finally:
        stop.set()
        thread.join()
    client = server.client()
    wait_for(lambda: not client.jobs()["jobs"], "every job has ended", 60)
    jobs = {job["job"]: job for job in client.jobs(ended=True, limit=10_000)["jobs"]}
    assert len(accepted) >= kills / 4
    assert set(accepted) <= set(jobs), "a job that was accepted is lost"
    for number, code in accepted.items():
        assert jobs[number]["exit_code"] == code
        assert jobs[number]["state"] == ("COMPLETED" if code == 0 else "FAILED")
    assert all(count == 1 for count in peer.executed.values()), "an attempt ran twice"
    assert all(job["attempt"] == 1 for job in jobs.values()), "a job was started again"
    assert {key[0] for key in peer.executed} == set(jobs)
    wait_for(lambda: not peer.records, "every end is stored and forgotten")
    held = {row["job"]: 0.0 for row in client.usage()["usage"] if row["job"]}
    for row in client.usage()["usage"]:
        if row["job"]:
            held[row["job"]] += row["held_s"]
    for number, job in jobs.items():
        assert held.get(number, 0.0) == pytest.approx(job["gpu_s"], abs=0.01)
    assert server.stop() == 0
