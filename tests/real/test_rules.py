"""Rules of a running daemon: replaced, wrong, mended; told by show, diff and history; reasons."""

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
FIRST = 'time_zone = "Asia/Shanghai"\n[limits.per_user]\nmax_gpus = 4\n'
SECOND = FIRST.replace("4", "2") + "[classes.urgent]\nrequire_reason = true\n"


@contextmanager
def served() -> Iterator[tuple[rig.Daemon, rig.Account, Path]]:
    with (
        rig.accounts("lin", prefix="rulesx-") as (lin,),
        rig.daemon("--simulate", "2xA100", rules=FIRST) as roost,
    ):
        yield roost, lin, roost.state / "rules.toml"


def replace(path: Path, text: str, uid: int) -> None:
    fresh = path.with_suffix(".new")
    fresh.write_text(text)
    fresh.chmod(0o644)
    os.chown(fresh, uid, -1)
    fresh.replace(path)


def test_rules_are_replaced_as_a_whole_and_their_history_is_told() -> None:
    with served() as (roost, lin, path):
        replace(path, SECOND, lin.uid)
        rig.wait_for(
            lambda: roost.json("root", "rules", "show")["version"] == 2, "version 2 is in force"
        )
        history = roost.cli(lin.name, "rules", "history").stdout.splitlines()
        assert history[0].startswith("version 2 · ")
        assert history[0].endswith(f"+08:00 · {lin.name}"), "who wrote the file"
        assert history[1:3] == [
            "  classes.urgent.require_reason: false → true",
            "  limits.per_user.max_gpus: 4 → 2",
        ]
        assert history[3].startswith("version 1 · ")
        assert history[3].endswith(" · root")
        shown = roost.cli(lin.name, "rules", "show").stdout
        assert "require_reason = true  # line 5\n" in shown
        assert 'enforcement = "observe"  # default\n' in shown

        # The rule holds: no urgent job without a reason, which is on record.
        done = roost.cli(lin.name, "run", "--class", "urgent", "--", "true", check=False)
        assert done.returncode == 1
        assert "(rules: classes.urgent.require_reason)" in done.stderr
        said = roost.cli(
            lin.name, "run", "--class", "urgent", "--", "true", check=False, environment=ZH
        ).stderr
        assert "须写明理由" in said
        number = roost.run(lin.name, "--class", "urgent", "--reason", "截稿", "--", "true")
        (entry,) = [
            row for row in roost.json("root", "audit", "log")["audit"] if row["action"] == "submit"
        ]
        assert (entry["user"], entry["subject"], entry["detail"]) == (
            lin.name, f"job {number}", "截稿",
        )  # fmt: skip


def test_a_wrong_file_changes_nothing_and_is_named_until_it_is_mended() -> None:
    with served() as (roost, lin, path):
        wrong = FIRST.replace("4", "8") + '[windows.long]\nopen = ["nigth"]\n'
        replace(path, wrong + '[periods]\nnight = ["20:00-08:00"]\n', 0)
        rig.wait_for(lambda: roost.json("root", "rules", "show")["problem"], "the mistake shows")
        shown = roost.cli(lin.name, "rules", "show")
        assert "line 5: windows.long.open" in shown.stderr
        assert "did you mean night?" in shown.stderr
        assert "max_gpus = 4  # line 3\n" in shown.stdout, "not half of the new file"
        assert len(roost.json("root", "rules", "history")["history"]) == 1
        done = roost.cli("root", "rules", "diff", str(path), check=False)
        assert done.returncode == 1
        assert "did you mean night?" in done.stderr

        path.write_text(wrong.replace("nigth", "night") + '[periods]\nnight = ["20:00-08:00"]\n')
        difference = roost.cli("root", "rules", "diff", str(path)).stdout
        assert "  limits.per_user.max_gpus: 4 → 8\n" in difference or "say the same" in difference
        rig.wait_for(
            lambda: roost.json("root", "rules", "show")["version"] == 2, "the mended file holds"
        )
        assert roost.json("root", "rules", "show")["problem"] is None
        assert "  limits.per_user.max_gpus: 4 → 8\n" in (
            roost.cli("root", "rules", "diff", "1", "2").stdout
        )
