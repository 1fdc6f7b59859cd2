"""SIGKILL of server and agent at random moments: nothing lost, nothing twice."""

from __future__ import annotations

import json
import os
import random
import threading
import time
from collections import Counter
from collections.abc import Iterator
from datetime import datetime

import pytest

from tests.real.rig import Account, Daemon, accounts, daemon, wait_for

pytestmark = [
    pytest.mark.root,
    pytest.mark.slow,
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root"),
]

KILLS = int(os.environ.get("ROOST_TEST_KILLS", "200"))
SAMPLE_S = 1.0
RULES = """
[classes.urgent]
preempts = ["background"]

[classes.background]
min_run = "0s"
grace = "2s"
"""
WORK = (
    'echo "start $ROOST_JOB_ID $ROOST_RESTART_COUNT" >> {log}; sleep {span};'
    ' echo "end $ROOST_JOB_ID $ROOST_RESTART_COUNT" >> {log}; exit {code}'
)


@pytest.fixture(scope="module")
def people() -> Iterator[list[Account]]:
    with accounts("alice", "bob", prefix="rk-") as made:
        yield made


class Stream:
    """Submits jobs as people until told to stop; knows what each accepted one must come to."""

    def __init__(self, roost: Daemon, people: list[Account], seed: int) -> None:
        self._roost, self._people = roost, people
        self._random = random.Random(seed)
        self._stop = threading.Event()
        self.expected: dict[int, int] = {}
        self.refused: list[str] = []
        self._thread = threading.Thread(target=self._submit_all)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stop.set()
        self._thread.join(120)

    def _submit_all(self) -> None:
        while not self._stop.is_set():
            who = self._random.choice(self._people)
            code = self._random.choice([0, 0, 0, 3, 17])
            urgent = self._random.random() < 0.15
            span = self._random.choice([0, 0.05, 0.3, 1.0]) if urgent else (
                self._random.choice([0, 0.1, 0.5, 2.0, 4.0])
            )  # fmt: skip
            work = WORK.format(log=who.home / "log", span=span, code=code)
            done = self._roost.cli(
                who.name, "run", "--json", "--class", "urgent" if urgent else "background",
                "-g", str(self._random.choice([1, 1, 2])), "--", "/bin/sh", "-c", work,
                check=False,
            )  # fmt: skip
            if done.returncode == 0:
                self.expected[json.loads(done.stdout)["job"]] = code
            else:
                self.refused.append(done.stderr.strip())
            self._stop.wait(self._random.uniform(0, 0.15))


def test_two_hundred_kills_lose_nothing_and_run_nothing_twice(people: list[Account]) -> None:
    with daemon("--simulate", "4xA100", rules=RULES) as roost:
        stream = Stream(roost, people, seed=20261202)
        stream.start()
        kills = Counter[str]()
        chance = random.Random(7)
        began = time.monotonic()
        while sum(kills.values()) < KILLS and time.monotonic() - began < 600:
            time.sleep(chance.uniform(0.0, 0.7))
            part = chance.choice(["server", "agent"])
            kills[part] += roost.kill(part)
        stream.stop()
        assert sum(kills.values()) >= KILLS, kills
        roost.wait_ready()

        def all_ended() -> bool:
            return not roost.json("root", "jobs")["jobs"]

        wait_for(all_ended, "every job ended", timeout_s=180, every_s=0.5)
        listed = roost.json("root", "jobs", "--all", "--limit", "10000")["jobs"]
        jobs = {job["job"]: job for job in listed}

        assert stream.expected.keys() <= jobs.keys(), "an accepted job is lost"
        unknown = jobs.keys() - stream.expected.keys()
        assert not unknown, f"jobs that nobody was told of: {sorted(unknown)}"
        runs = Counter[tuple[str, str, str]]()
        for who in people:
            path = who.home / "log"
            for line in path.read_text().splitlines() if path.exists() else []:
                kind, number, restart = line.split()
                runs[kind, number, restart] += 1
        twice = {run: times for run, times in runs.items() if times > 1}
        assert not twice, f"executed twice: {twice}"
        for number, code in stream.expected.items():
            job = jobs[number]
            assert job["state"] == ("COMPLETED" if code == 0 else "FAILED"), job
            assert job["exit_code"] == code, job
            ends = [run for run in runs if run[0] == "end" and run[1] == str(number)]
            assert len(ends) == 1, f"job {number} ran to its end {len(ends)} times"

        usage = roost.json("root", "usage")["usage"]
        recorded: Counter[int] = Counter()
        for row in usage:
            if row["job"] is not None:
                recorded[row["job"]] += row["held_s"]
        missing = 0.0
        for number in stream.expected:
            job = jobs[number]
            if job["restarts"] == 0:
                held = (_time(job["end_time"]) - _time(job["start_time"])) * len(job["gpus"])
                missing += abs(held - recorded[number])
        assert missing <= SAMPLE_S * sum(kills.values()), (missing, kills)


def _time(text: str) -> float:
    return datetime.fromisoformat(text).timestamp()
