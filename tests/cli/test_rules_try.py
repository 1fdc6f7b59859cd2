"""`roost rules try`: who is better off and who worse, what could not run, what cannot be known; and
what it says where it cannot be tried.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from roost.cli.terminal import width, wrap
from roost.client.jsontext import loads
from tests.cli.conftest import Roost
from tests.cli.stub import RULES, Stub, history, past
from tests.cli.test_replay import ZH, Page

# Two GPUs, both held by al for an hour; bo's job and cy's long one came meanwhile.
ROWS = (
    past(1, 0, 0, 60, user="al", request={"gpus": 2}, granted=[]),
    past(2, 10, 60, 70, user="bo"),
    past(3, 20, 60, 360, user="cy"),
    past(4, 30, 70, 80, user="bo", **{"class": "urgent"}),
)
FIRST_COME = "[fair_share]\nweight = 0\n"


@pytest.fixture
def lab(stub: Stub) -> Stub:
    stub.answers["GET /v1/rules"] = (200, RULES | {"text": FIRST_COME})
    stub.answers["GET /v1/history"] = (200, history(*ROWS))
    return stub


@pytest.fixture
def new(tmp_path: Path) -> Path:
    return tmp_path / "new.toml"


def tried(roost: Roost, path: Path, *words: str) -> dict[str, Any]:
    done = roost("rules", "try", str(path), *words, "--json")
    assert (done.returncode, done.stderr) == (0, "")
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def by_name(rows: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    return {row["who"]: row for row in rows}


def test_figures_are_those_computed_by_hand(lab: Stub, roost: Roost, new: Path) -> None:
    """al may hold one GPU: its job is refused, and nobody waits for it any more."""
    new.write_text(FIRST_COME + "[limits.users.al]\nmax_gpus = 1\n")
    found = tried(roost, new)
    users, classes = by_name(found["users"]), by_name(found["classes"])
    # In force: at 60 the urgent 4 and then 2 start; 3 at 70, when they end.
    assert users["bo"]["before_s"] == pytest.approx((50 * 60 + 30 * 60) / 2)
    assert users["bo"]["before_jct_s"] == pytest.approx((60 * 60 + 40 * 60) / 2)
    assert users["cy"]["before_s"] == 50 * 60
    assert [users[who]["after_s"] for who in ("bo", "cy")] == [0, 0]
    assert [users[who]["verdict"] for who in ("al", "bo", "cy")] == ["worse", "better", "better"]
    assert (users["al"]["jobs"], users["al"]["refused"], users["al"]["gone_gpu_h"]) == (0, 1, 2)
    assert (classes["urgent"]["before_s"], classes["urgent"]["after_s"]) == (30 * 60, 0)
    assert (found["all"]["jobs"], found["all"]["sooner"], found["jobs"]) == (3, 3, 4)
    assert found["all"]["gpu_h"] == pytest.approx(320 / 60)
    # In truth 3 started at 60, as soon as 2 did: 50, 40 and 40 minutes, and al's 0.
    assert found["waited_s"] == pytest.approx((0 + 50 + 40 + 40) * 60 / 4)
    (gone,) = found["refused"]
    assert (gone["job"], gone["user"], gone["rule"]) == (1, "al", "limits.users.al.max_gpus")
    assert [run["policy"] for run in found["runs"]] == ["in_force", "new"]


def test_people_read_who_gains_and_who_loses(lab: Stub, roost: Roost, new: Path) -> None:
    new.write_text(FIRST_COME + "[limits.users.al]\nmax_gpus = 1\n")
    said = roost("rules", "try", str(new)).stdout
    assert "Better off: bo (40m less waiting a job), cy (50m less waiting a job)." in said
    assert "Worse off: al (1 job refused)." in said
    assert "job 1 of al: " in said
    zh = roost("rules", "try", str(new), environment=ZH).stdout
    assert "受益：bo（每个作业平均少等 40m）、cy（每个作业平均少等 50m）。" in zh
    assert "受损：al（1 个作业被拒绝）。" in zh


def test_the_rules_in_force_change_nothing(lab: Stub, roost: Roost, new: Path) -> None:
    new.write_text(FIRST_COME)
    found = tried(roost, new)
    assert (found["keys"], found["all"]["sooner"], found["all"]["later"]) == (0, 0, 0)
    assert {row["verdict"] for row in found["users"]} == {"same"}
    assert "Nothing changes for anybody." in roost("rules", "try", str(new)).stdout


def test_preemptions_and_what_they_lose_are_told(lab: Stub, roost: Roost, new: Path) -> None:
    new.write_text(FIRST_COME + "[classes.urgent]\npreempts = ['regular']\n"
                   "[classes.regular]\nmin_run = '0s'\n")  # fmt: skip
    found = tried(roost, new, "--checkpoint", "none", "--restart-cost", "60s")
    al = by_name(found["users"])["al"]
    assert (al["before_preemptions"], al["after_preemptions"]) == (0, 1)
    assert al["after_lost_gpu_h"] == pytest.approx(2 * (30 + 1) / 60)
    assert al["verdict"] == "worse"
    assert "0 → 1" in roost("rules", "try", str(new), "--checkpoint", "none").stdout


def test_groups_are_those_that_the_new_rules_charge(lab: Stub, roost: Roost, new: Path) -> None:
    answer = history(*ROWS)
    answer["people"]["bo"] = ["staff"]
    lab.answers["GET /v1/history"] = (200, answer)
    new.write_text(
        FIRST_COME + "[groups.s]\nmembers = ['@staff']\n[limits.groups.s.urgent]\nmax_jobs = 0\n"
    )
    (gone,) = tried(roost, new)["refused"]
    assert (gone["job"], gone["rule"]) == (4, "limits.groups.s.urgent.max_jobs")


@pytest.mark.parametrize("environment", [{}, ZH])
def test_all_of_it_fits_80_columns(
    lab: Stub, roost: Roost, new: Path, environment: dict[str, str]
) -> None:
    many = [
        past(n, n % 300, n % 300, n % 300 + 100, user=f"u{n % 17}", request={"gpus": 1 + n % 2})
        for n in range(1, 200)
    ]
    edges = [
        past(300, 5, 5, 5, state="CANCELLED", attempts=[]),
        past(301, 5, 5, 5, state="PENDING", attempts=[], end_time=None),
    ]
    lab.answers["GET /v1/history"] = (200, history(*many, *edges))
    new.write_text("[limits.per_user]\nmax_gpus = 1\nmax_walltime = '3h'\n")
    done = roost("rules", "try", str(new), environment=environment)
    assert done.returncode == 0, done.stderr
    lines = [line for line in done.stdout.splitlines() if str(new) not in line]
    assert max(width(line) for line in lines) <= 80
    assert ("排队时被取消：1 个" if environment else "Cancelled while waiting: 1.") in done.stdout
    for text in (done.stdout, done.stderr):
        assert "{" not in text


@pytest.mark.parametrize("environment", [{}, ZH])
def test_its_page_is_whole_and_trusts_no_name(
    lab: Stub, roost: Roost, new: Path, tmp_path: Path, environment: dict[str, str]
) -> None:
    evil = "<script>alert(1)</script>&"
    rows = [row | {"user": evil if row["user"] == "al" else row["user"]} for row in ROWS]
    lab.answers["GET /v1/history"] = (200, history(*rows))
    new.write_text("[limits.per_user]\nmax_gpus = 1\n")
    html = tmp_path / "page.html"
    done = roost("rules", "try", str(new), "--html", str(html), environment=environment)
    assert done.returncode == 0, done.stderr
    page = Page()
    page.feed(html.read_text(encoding="utf-8"))
    assert page.open == []
    assert "script" not in page.tags
    assert evil in page.words
    assert page.tags.count("figure") == 3
    assert page.tags.count("h1") == 1
    assert ("谁受益，谁受损" if environment else "Who is better off, who worse") in page.words


def test_a_wrong_file_is_told_as_by_rules_check(lab: Stub, roost: Roost, new: Path) -> None:
    new.write_text("[limits.per_user]\nmax_gpu = 1\n")
    for words in ((), ("--json",)):
        done, check = (
            roost("rules", "try", str(new), *words),
            roost("rules", "check", str(new), *words),
        )
        assert (done.returncode, done.stdout) == (check.returncode, check.stdout)
        assert done.stderr == check.stderr.replace("rules check", "rules try")
    assert not [seen for seen in lab.seen if "history" in seen[1]], "nothing is asked for"


def test_what_stands_in_the_way_is_named(lab: Stub, roost: Roost, new: Path) -> None:
    new.write_text("")
    for answer, en, zh in (
        (history(), "nothing that ran here (--since 30d) can be replayed", "没有可以重放的作业"),
        (history(*ROWS, gpus=0), "has not seen any GPU yet", "尚未发现任何 GPU"),
        (history(past(1, request={"gpus": 9}), gpus=2), "the smallest for 9", "最小的申请 9 张"),
        (
            history(past(1, request={"gpus": 9}), past(2, state="RUNNING", end_time=None)),
            "nothing that ran here",
            "没有可以重放的作业",
        ),
    ):
        lab.answers["GET /v1/history"] = (200, answer)
        done, said = (
            roost("rules", "try", str(new)),
            roost("rules", "try", str(new), environment=ZH),
        )
        assert (done.returncode, done.stdout) == (1, "")
        assert en in done.stderr
        assert zh in said.stderr
    lab.answers["GET /v1/rules"] = (200, RULES | {"text": "[of_next_year]\n"})
    done = roost("rules", "try", str(new))
    assert (done.returncode, "of a newer Roost" in done.stderr) == (1, True)


def test_a_daemon_without_a_history_is_told_to_be_old(lab: Stub, roost: Roost, new: Path) -> None:
    new.write_text("")
    del lab.answers["GET /v1/history"]
    done = roost("rules", "try", str(new))
    assert done.returncode == 1
    assert "the daemon is Roost 0.1.0, which does not tell its history yet" in done.stderr


def test_since_is_a_span_or_a_day_of_the_past(lab: Stub, roost: Roost, new: Path) -> None:
    new.write_text("")
    for word in ("2h", "2026-11-01", "1d12h"):
        assert roost("rules", "try", str(new), "--since", word).returncode == 0
    for word in ("2999-01-01", "+2h", "soon", "-1d"):
        done = roost("rules", "try", str(new), f"--since={word}")
        assert done.returncode == 2
        assert f"--since: {word} is no time of the past" in done.stderr
    asked = [seen[1] for seen in lab.seen if "history" in seen[1]]
    assert any("from=2026-11-01T00%3A00%3A00%2B01%3A00" in each for each in asked)


def test_pages_are_asked_for_until_there_is_none(lab: Stub, roost: Roost, new: Path) -> None:
    new.write_text("")
    pages = [history(*ROWS[:2]) | {"next": "5.0:2"}, history(*ROWS[1:])]
    lab.answers["GET /v1/history"] = (200, lambda: pages.pop(0))  # type: ignore[dict-item]
    assert tried(roost, new)["jobs"] == 4
    asked = [seen[1] for seen in lab.seen if "history" in seen[1]]
    assert "after=5.0%3A2" in asked[1]
    assert "from=2026-12-01T00%3A00%3A00.000%2B01%3A00" in asked[1]


def test_a_replay_of_the_history_takes_the_options_of_a_replay(
    lab: Stub, roost: Roost, new: Path
) -> None:
    done = roost("replay", "--since", "30d", "-s", "1x4", "-b", "fifo", "--json")
    found = loads(done.stdout)
    assert (found["servers"], found["gpus"], found["trace"]) == ("1x4", 4, None)
    assert found["from"].startswith("2026-12-01")
    assert found["runs"][0]["max_queue_delay_s"] == 0
    new.write_text("[limits.users.al]\nmax_gpus = 1\n")
    shown = roost("replay", "--since", "30d", "--against", str(new)).stdout
    assert "against: refused today, or never started: 1 in all, 1." in shown
    assert "jobs that ran" in shown
    done = roost("replay", "jobs.csv", "--since", "30d")
    assert (done.returncode, "TRACE and --since exclude" in done.stderr) == (2, True)


@pytest.mark.parametrize(
    ("text", "cells", "lines"),
    [
        ("one two three", 7, ["one two", "three"]),
        ("作业等待时间", 6, ["作业等", "待时间"]),
        ("等待 12345 秒", 7, ["等待", "12345", "秒"]),
        ("等待，等待", 4, ["等", "待，", "等待"]),
        ("unbreakable", 4, ["unbr", "eaka", "ble"]),
        ("short", 10, ["short"]),
    ],
)
def test_lines_break_where_a_reader_breaks_them(text: str, cells: int, lines: list[str]) -> None:
    assert wrap(text, cells) == lines
