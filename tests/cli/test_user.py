"""`roost user`: what is sent, what is shown first, and that nothing is done without a yes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Roost
from tests.cli.stub import Stub

STEP = {"step": "create", "user": "wang", "text": "create the account wang"}
PLAN: dict[str, Any] = {"steps": [STEP], "remarks": [], "problems": [], "plan": "ab12"}
KEY = "ssh-ed25519 AAAA wang@laptop"


@pytest.fixture(autouse=True)
def answers(stub: Stub) -> None:
    stub.answers["POST /v1/accounts/plan"] = (200, PLAN)
    done = {"done": True, "steps": [STEP | {"outcome": "done", "why": None}]}
    stub.answers["POST /v1/accounts/apply"] = (200, done)


def bodies(stub: Stub, path: str) -> list[Any]:
    return [body for _, at, body, _ in stub.seen if at == path]


def test_nothing_is_done_without_a_yes(stub: Stub, roost: Roost) -> None:
    done = roost("user", "add", "wang")
    assert done.returncode == 1
    assert done.stdout == "Steps (1):\n  1. create the account wang\n"
    assert "say --yes" in done.stderr
    assert roost("user", "add", "wang", "--dry-run").returncode == 0
    assert bodies(stub, "/v1/accounts/apply") == []


def test_what_was_shown_is_asked_for_by_its_fingerprint(
    stub: Stub, roost: Roost, tmp_path: Path
) -> None:
    keys = tmp_path / "id.pub"
    keys.write_text(f"# of the laptop\n{KEY}\n\n")
    words = ("--full-name", "王伟", "--group", "vision", "--disk-quota", "500G")
    done = roost("user", "add", "wang", *words, "--ssh-key", str(keys), "--yes")
    assert done.returncode == 0
    assert done.stdout.endswith("Done: 1 steps.\n")
    person = {
        "name": "wang", "full_name": "王伟", "group": "vision", "keys": [KEY], "quota": "500G",
        "share": "",
    }  # fmt: skip
    assert bodies(stub, "/v1/accounts/plan") == [{"action": "add", "people": [person]}]
    assert bodies(stub, "/v1/accounts/apply") == [
        {"action": "add", "people": [person], "plan": "ab12"}
    ]


def test_a_private_key_goes_nowhere(stub: Stub, roost: Roost, tmp_path: Path) -> None:
    secret = tmp_path / "id"
    secret.write_text("-----BEGIN OPENSSH PRIVATE KEY-----\nabc\n")
    done = roost("user", "add", "wang", "--ssh-key", str(secret), "--yes")
    assert (done.returncode, "give the .pub file" in done.stderr) == (1, True)
    assert stub.seen == []


def test_a_list_is_read_here_and_its_mistakes_told_by_row_and_column(
    stub: Stub, roost: Roost, tmp_path: Path
) -> None:
    path = tmp_path / "people.csv"
    path.write_text("账号,所属组\nwang,vision\nli,nlp\n", encoding="gb18030")
    problem = {
        "row": 3, "user": "li", "column": "group", "value": "nlp", "code": "group_unknown",
        "text": "the rules have no group of that name",
    }  # fmt: skip
    stub.answers["POST /v1/accounts/plan"] = (200, PLAN | {"steps": [], "problems": [problem]})
    done = roost("user", "import", str(path), "--yes")
    assert done.returncode == 1
    assert done.stdout.startswith("row 3, column 所属组, “nlp” (li): the rules have no group")
    (sent,) = bodies(stub, "/v1/accounts/plan")
    assert [(one["name"], one["group"], one["row"]) for one in sent["people"]] == [
        ("wang", "vision", 2), ("li", "nlp", 3),
    ]  # fmt: skip
    assert bodies(stub, "/v1/accounts/apply") == []


def test_a_list_without_names_is_not_sent(stub: Stub, roost: Roost, tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_text("group,phone\nvision,1\n")
    done = roost("user", "import", str(path), "--json")
    assert done.returncode == 1
    codes = [one["code"] for one in json.loads(done.stdout)["plan"]["problems"]]
    assert codes == ["head_unknown", "head_no_name"]
    assert stub.seen == []


def test_what_stands_is_told_where_a_step_failed(stub: Stub, roost: Roost) -> None:
    steps = [
        STEP | {"outcome": "done", "why": None},
        STEP | {"outcome": "failed", "why": "no space", "text": "add the key"},
        STEP | {"outcome": "not_done", "why": None},
    ]
    stub.answers["POST /v1/accounts/apply"] = (200, {"done": False, "steps": steps})
    done = roost("user", "disable", "wang", "--end-jobs", "--yes")
    assert done.returncode == 1
    assert "Failed: add the key: no space" in done.stdout
    assert "Done and standing: 1; failed: 1; not begun: 1" in done.stdout
    assert bodies(stub, "/v1/accounts/apply")[0]["end_jobs"] is True
