"""`roost rules show|diff|history`: every key with its origin, what differs by key, what was."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from roost.core.rules.load import load
from tests.cli.conftest import Roost
from tests.cli.stub import Stub

ZH = {"LANG": "zh_CN.UTF-8"}
TEXT = "# our rules\nmax_array = 5\n\n[limits.per_user]\nmax_gpus = 4\n"


def in_force(stub: Stub, text: str, version: int = 3, **more: Any) -> None:
    stub.answers["GET /v1/rules"] = (
        200,
        {
            "version": version, "time": None, "user": "root", "text": text, "rules": {},
            "problem": None, "mistakes": [],
        } | more,
    )  # fmt: skip


def of_version(stub: Stub, version: int, text: str) -> None:
    stub.answers[f"GET /v1/rules/{version}"] = (
        200,
        {
            "version": version, "time": "2026-12-02T10:00:00+01:00", "user": "lin", "uid": 1001,
            "sha256": "", "text": text, "in_force": False,
        },
    )  # fmt: skip


def test_show_says_each_key_and_where_it_comes_from(stub: Stub, roost: Roost) -> None:
    in_force(stub, TEXT)
    done = roost("rules", "show")
    assert "max_array = 5  # line 2\n" in done.stdout
    assert "[limits.per_user]\nmax_gpus = 4  # line 5\n" in done.stdout
    assert 'enforcement = "observe"  # default\n' in done.stdout
    assert done.stderr == "rules, version 3\n"
    assert load(done.stdout) == load(TEXT), "what is shown can be used as a file"
    assert "max_array = 5  # 第 2 行\n" in roost("rules", "show", environment=ZH).stdout


def test_show_in_json_has_the_settings(stub: Stub, roost: Roost) -> None:
    in_force(stub, TEXT)
    shown = json.loads(roost("rules", "show", "--json").stdout)
    settings = {each["key"]: each for each in shown["settings"]}
    assert settings["max_array"] == {"key": "max_array", "value": 5, "line": 2}
    assert settings["default_class"] == {"key": "default_class", "value": "regular", "line": None}
    assert shown["text"] == TEXT


def test_show_gives_the_text_as_it_was_written(stub: Stub, roost: Roost) -> None:
    in_force(stub, TEXT)
    of_version(stub, 2, "# before\n")
    assert roost("rules", "show", "--text").stdout == TEXT
    assert roost("rules", "show", "2", "--text").stdout == "# before\n"
    assert "max_array = 10000  # default" in roost("rules", "show", "2").stdout


def test_a_text_of_a_newer_roost_is_shown_as_it_is(stub: Stub, roost: Roost) -> None:
    in_force(stub, "of_tomorrow = 1\n")
    assert roost("rules", "show").stdout == "of_tomorrow = 1\n"
    assert json.loads(roost("rules", "show", "--json").stdout)["settings"] is None


def test_diff_of_two_files_needs_no_daemon_and_goes_by_key(roost: Roost, tmp_path: Path) -> None:
    old, new = tmp_path / "a.toml", tmp_path / "b.toml"
    old.write_text(TEXT)
    new.write_text(TEXT.replace("# our rules", "").replace("4", "2") + "max_jobs = 1\n")
    done = roost("rules", "diff", str(old), str(new))
    assert done.stdout == (
        f"from {old} to {new}:\n"
        "  limits.per_user.max_gpus: 4 → 2\n"
        "  limits.per_user.max_jobs: not set → 1\n"
    )
    shown = json.loads(roost("rules", "diff", "--json", str(old), str(new)).stdout)
    assert shown["changes"][0] == {
        "key": "limits.per_user.max_gpus",
        "old": "4",
        "new": "2",
        "text": "limits.per_user.max_gpus: 4 → 2",
    }
    said = roost("rules", "diff", str(old), str(new), environment=ZH).stdout
    assert "limits.per_user.max_jobs：未设置 → 1" in said


def test_files_that_differ_in_words_alone_say_the_same(roost: Roost, tmp_path: Path) -> None:
    old, new = tmp_path / "a.toml", tmp_path / "b.toml"
    old.write_text("max_array = 5\nsample = '60s'\n")
    new.write_text("# five\nsample = '1m'\nmax_array = 5\nenforcement = 'observe'\n")
    assert roost("rules", "diff", str(old), str(new)).stdout == f"{old} and {new} say the same\n"


def test_diff_without_a_file_compares_what_is_in_force_with_the_disk(
    stub: Stub, roost: Roost, tmp_path: Path
) -> None:
    in_force(stub, TEXT)
    path = tmp_path / "new.toml"
    path.write_text("max_array = 9\n")
    done = roost("rules", "diff", str(path))
    assert done.stdout == (
        f"from the rules in force to {path}:\n"
        "  max_array: 5 → 9\n"
        "  limits.per_user.max_gpus: 4 → no longer set\n"
    )


def test_a_number_is_a_version(stub: Stub, roost: Roost) -> None:
    of_version(stub, 1, "")
    of_version(stub, 2, TEXT)
    done = roost("rules", "diff", "1", "2")
    assert done.stdout.startswith("from version 1 to version 2:\n  max_array: 10000 → 5\n")


def test_diff_of_a_wrong_file_names_the_mistakes(roost: Roost, tmp_path: Path) -> None:
    good, bad = tmp_path / "a.toml", tmp_path / "b.toml"
    good.write_text("")
    bad.write_text("\nmax_aray = 5\n")
    done = roost("rules", "diff", str(good), str(bad))
    assert (done.returncode, done.stdout) == (1, "")
    assert "line 2: max_aray is not a key" in done.stderr
    assert roost("rules", "diff", str(good), str(tmp_path / "none")).returncode == 1
    assert roost("rules", "diff", "a", "b", "c").returncode == 2


def test_history_says_when_who_and_what(stub: Stub, roost: Roost) -> None:
    change = {"key": "max_array", "old": "5", "new": "9", "text": "max_array: 5 → 9"}

    def entry(version: int, changes: Any, problem: str | None = None) -> dict[str, Any]:
        return {
            "version": version, "time": f"2026-12-0{version}T10:00:00+01:00", "user": "lin",
            "uid": 1001, "sha256": "", "changes": changes, "problem": problem,
        }  # fmt: skip

    entries = [entry(4, None, "line 1: …"), entry(3, [change]), entry(2, []), entry(1, [])]
    stub.answers["GET /v1/rules/history"] = (200, {"history": entries})
    assert roost("rules", "history", "-n", "4").stdout == (
        "version 4 · 2026-12-04 10:00:00+01:00 · lin\n"
        "  this version of Roost cannot read that text any more: line 1: …\n"
        "version 3 · 2026-12-03 10:00:00+01:00 · lin\n"
        "  max_array: 5 → 9\n"
        "version 2 · 2026-12-02 10:00:00+01:00 · lin\n"
        "  only the text changed, no rule\n"
        "version 1 · 2026-12-01 10:00:00+01:00 · lin\n"
        "  the first rules\n"
    )
    assert stub.seen[-1][1] == "/v1/rules/history?limit=4"
    assert json.loads(roost("rules", "history", "--json").stdout) == {"history": entries}
