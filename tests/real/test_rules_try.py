"""`roost rules try` on a real daemon in which real jobs of real people ran: told from its history,
for whom what changes, by anybody; and `roost replay --since` of the same.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.real import rig
from tests.real.cases_rig import ZH

pytestmark = [
    pytest.mark.root,
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root: real accounts"),
]
IN_FORCE = 'time_zone = "Asia/Shanghai"\n'
SMALLER = IN_FORCE + "[limits.per_user]\nmax_gpus = 1\n"


@contextmanager
def lived() -> Iterator[tuple[rig.Daemon, rig.Account, rig.Account, dict[str, int]]]:
    """Two GPUs: ann holds both for three seconds, bo's job waits for them; one is preempted for an
    urgent job and runs again; one is cancelled while it waits, one still runs."""
    with (
        rig.accounts("ann", "bo", prefix="tryx-") as (ann, bo),
        rig.daemon("--simulate", "2xA100", rules=IN_FORCE) as roost,
    ):
        wide = roost.run(ann.name, "-g", "2", "--", "sleep", "3")
        waits = roost.run(bo.name, "-g", "1", "-t", "10m", "--", "sleep", "1")
        never = roost.run(bo.name, "-g", "2", "--hold", "--", "true")
        roost.cli(bo.name, "cancel", str(never))
        for number in (wide, waits):
            roost.wait_state(number, "COMPLETED")
        gives = roost.run(bo.name, "-g", "2", "--class", "background", "--", "sleep", "3")
        roost.wait_state(gives, "RUNNING")
        roost.cli(bo.name, "requeue", str(gives))
        roost.wait_state(gives, "COMPLETED")
        assert roost.job(gives)["restarts"] == 1
        runs = roost.run(ann.name, "--", "sleep", "600")
        roost.wait_state(runs, "RUNNING")
        jobs = {"wide": wide, "waits": waits, "never": never, "gives": gives, "runs": runs}
        yield roost, ann, bo, jobs


def flat(text: str) -> str:
    """Without the breaks of lines, which depend on the length of names."""
    return " ".join(text.split())


def test_new_rules_are_tried_on_what_really_ran(tmp_path: Path) -> None:
    rig.open_to_all(tmp_path)
    new, same, wrong = (tmp_path / f"{name}.toml" for name in ("new", "same", "wrong"))
    new.write_text(SMALLER)
    same.write_text(IN_FORCE)
    wrong.write_text(SMALLER.replace("max_gpus", "max_gpu"))
    with lived() as (roost, ann, bo, jobs):
        found = roost.json(bo.name, "rules", "try", str(new), "--since", "1h")
        assert (found["jobs"], found["gpus"], found["version"], found["keys"]) == (3, 2, 1, 1)
        users = {each["who"]: each for each in found["users"]}
        assert (users[ann.name]["refused"], users[bo.name]["refused"]) == (1, 1)
        gone = {each["job"]: each for each in found["refused"]}
        assert set(gone) == {jobs["wide"], jobs["gives"]}
        assert {each["rule"] for each in gone.values()} == {"limits.per_user.max_gpus"}
        # bo waited for ann's job, and would not have: the replay says so of the rules in force too.
        assert users[bo.name]["jobs"] == 1
        assert 1.5 < users[bo.name]["before_s"] < 6
        assert users[bo.name]["after_s"] == 0
        assert 0.5 < found["waited_s"] < 4
        assert found["cut_off"] == {"still_running": 1}
        assert found["left_out"] == {"cancelled_waiting": 1}
        said = roost.cli(ann.name, "rules", "try", str(new), "--since", "1h").stdout
        assert "Worse off: " in said
        said = flat(said)
        assert f"{ann.name} (1 job refused)" in said
        assert "(rules: limits.per_user.max_gpus)" in said
        assert "Cancelled while waiting: 1." in said
        zh = roost.cli(ann.name, "rules", "try", str(new), environment=ZH).stdout
        assert f"{ann.name}（1个作业被拒绝）" in "".join(zh.split())

        quiet = flat(roost.cli(bo.name, "rules", "try", str(same)).stdout)
        assert "Nothing changes for anybody." in quiet
        assert "says the same as the rules in force" in quiet
        page = bo.home / "tried.html"
        roost.cli(bo.name, "rules", "try", str(new), "--html", str(page))
        assert "Who is better off" in page.read_text(encoding="utf-8")

        checked = roost.cli(bo.name, "rules", "check", str(wrong), check=False)
        tried = roost.cli(bo.name, "rules", "try", str(wrong), check=False)
        assert (tried.returncode, tried.stdout) == (checked.returncode, checked.stdout)
        assert tried.returncode == 1
        assert "line 3: limits.per_user.max_gpu" in tried.stdout

        replayed = roost.json(bo.name, "replay", "--since", "1h", "--baseline", "fifo")
        assert [run["policy"] for run in replayed["runs"]] == ["fifo"]
        assert replayed["runs"][0]["jobs"] == 3
        own = roost.json(bo.name, "replay", "--since", "1h")
        assert own["runs"][0]["policy"] == "in_force"
        elsewhere = roost.json(bo.name, "replay", "--since", "1h", "--servers", "2x2")
        assert (elsewhere["gpus"], elsewhere["runs"][0]["max_queue_delay_s"]) == (4, 0)


def test_without_a_history_it_says_so(tmp_path: Path) -> None:
    rig.open_to_all(tmp_path)
    new = tmp_path / "new.toml"
    new.write_text(SMALLER)
    with (
        rig.accounts("cy", prefix="tryx-") as (cy,),
        rig.daemon("--simulate", "1xA100", rules=IN_FORCE) as roost,
    ):
        done = roost.cli(cy.name, "rules", "try", str(new), "--since", "12h", check=False)
        assert done.returncode == 1
        assert "nothing that ran here (--since 12h) can be replayed" in done.stderr
        wrong = roost.cli(cy.name, "rules", "try", str(new), "--since", "soon", check=False)
        assert wrong.returncode == 2
        assert "--since: soon is no time of the past" in wrong.stderr
