"""Submissions that cannot be: refused at once, with what there is instead."""

from __future__ import annotations

from typing import Any

import pytest

from roost.core.text.submit import problem_text
from tests.core.scheduler.pictures import World

RULES = """
[groups.cv]
members = ["alice"]
[groups.nlp]
"""


def refused(world: World, user: str = "alice", gpus: int = 1, **more: Any) -> list[str]:
    """English sentences; the Chinese ones must at least be there."""
    facts: dict[str, Any] = {k: more.pop(k) for k in ("array_size", "known_jobs") if k in more}
    more.setdefault("group", "cv")
    problems = world.scheduler.check_submission(world.job(user, gpus, **more), **facts)
    assert all(problem_text("zh", problem) for problem in problems)
    return [problem_text("en", problem) for problem in problems]


def test_the_most_that_a_group_may_hold_is_told_with_its_rule() -> None:
    world = World(8, RULES + "[limits.regular]\nmax_gpus = 4\n")
    assert refused(world, gpus=5) == [
        "this server has 8 GPUs; the most that regular jobs of group cv may hold is 4"
        " (rules: limits.regular.max_gpus)"
    ]
    assert refused(world, gpus=4) == []


@pytest.mark.parametrize(
    ("request_", "sentence"),
    [
        ({"gpus": 0}, "0 GPUs were asked for; a job needs at least 1, this server has 2"),
        ({"gpus": -1}, "-1 GPUs were asked for; a job needs at least 1, this server has 2"),
        ({"gpus": 10}, "10 GPUs were asked for; this server has 2 GPUs"),
        ({"model": "H200"}, "no GPU here is a H200; this server has 2 × NVIDIA A100"),
        (
            {"gpus": 3, "model": "A100"},
            "3 GPUs of model A100 were asked for; this server has 2 of them"
            " (all: 2 × NVIDIA A100)",
        ),
        ({"cpus": -1}, "CPU cores asked for: -1; give the number of cores to keep,"
         " or leave it out"),
        ({"cpus": 999}, "CPU cores asked for: 999; this server has 256"),
        ({"memory": "3T"}, "3 TiB of memory were asked for; this server has 2 TiB"),
        (
            {"share": "10G"},
            "10 GiB of GPU memory were asked for, but no GPU is marked shared"
            " (rules: shared_gpus); ask for whole GPUs with -g",
        ),
        ({"group": "xx"}, "there is no group xx; alice may charge: cv"),
        ({"group": "nlp"}, "alice is not in group nlp; alice may charge: cv"),
        ({"array_size": 10001}, "the array has 10001 jobs; the most is 10000"
         " (rules: max_array)"),
        ({"array_size": 0}, "the array has no jobs"),
        ({"array_limit": 0}, "%0: at least 1 job of an array must be allowed to run at once"),
        ({"time": "0"}, "a walltime of 0 s was asked for; give one above 0, as 4h"),
        (
            {"after": (3,), "known_jobs": frozenset({1, 2})},
            "there is no job 3 to wait for; see roost jobs --all",
        ),
    ],
)  # fmt: skip
def test_what_cannot_be_is_told_with_what_there_is(request_: dict[str, Any], sentence: str) -> None:
    assert refused(World(2, RULES), **request_) == [sentence]


def test_a_share_larger_than_the_largest_shared_gpu_is_refused() -> None:
    world = World(2, "shared_gpus = [1]\n" + RULES)
    assert refused(world, share="81G") == [
        "81 GiB of GPU memory were asked for; the largest GPU marked shared has 80 GiB"
        " (rules: shared_gpus)"
    ]
    assert refused(world, share="80G") == []
    assert refused(world, share="1G", model="L4") == [
        "no GPU marked shared is a L4; shared are 1 × NVIDIA A100 (rules: shared_gpus)"
    ]


def test_a_walltime_beyond_its_limit_is_refused_and_one_that_is_missing_asked_for() -> None:
    world = World(2, RULES + "[limits.regular]\nmax_walltime = '2h'\n")
    assert refused(world, time="3h") == [
        "a walltime of 3h was asked for; regular jobs of group cv may run 2h at most"
        " (rules: limits.regular.max_walltime)"
    ]
    assert refused(world) == [
        "say how long the job may run, with --time; regular jobs of group cv may run 2h at most"
        " (rules: limits.regular.max_walltime)"
    ]
    assert refused(world, time="2h") == []


def test_the_tightest_of_several_limits_is_named() -> None:
    text = "[limits.regular]\nmax_gpus = 4\n[limits.users.alice]\nmax_gpus = 2\n"
    assert refused(World(8, RULES + text), gpus=5) == [
        "this server has 8 GPUs; the most that regular jobs of alice may hold is 2"
        " (rules: limits.users.alice.max_gpus)"
    ]


def test_waiting_jobs_count_towards_max_queued_and_running_ones_do_not() -> None:
    world = World(1, RULES + "[limits.per_user]\nmax_queued = 2\n")
    for _ in range(2):
        world.submit("alice", group="cv")
    assert refused(world) == []
    world.submit("alice", group="cv")
    assert refused(world) == [
        "alice has 2 jobs waiting; with this request it would be 3, the most for regular jobs is 2"
        " (rules: limits.per_user.max_queued)"
    ]
    world.end(1)
    assert refused(world) == []
