"""Rules that change under a running server: versions, authors, what changed, and wrong files."""

from __future__ import annotations

import os
from typing import Any

import pytest

from roost.client.errors import RoostError
from roost.store.database import open_sqlite
from roost.store.log import add_rules
from tests.server.rig import Server, wait_for

NOBODY = 65534
FIRST = "[groups.cv]\n[limits.per_user]\nmax_gpus = 4\n[limits.groups.cv.urgent]\nmax_jobs = 1\n"


def write(server: Server, text: str, uid: int | None = None) -> None:
    """Replaces the file as an editor does: never half of it."""
    fresh = server.rules.with_suffix(".new")
    fresh.write_text(text)
    if uid is not None:
        os.chown(fresh, uid, -1)
    fresh.replace(server.rules)


def version_is(server: Server, version: int) -> dict[str, Any]:
    with server.client() as client:
        wait_for(lambda: client.rules()["version"] == version, f"version {version} is in force")
        return client.rules()


@pytest.fixture
def ruled(server: Server) -> Server:
    """Started without a file, which is version 1; then `FIRST`."""
    version_is(server, 1)
    write(server, FIRST)
    version_is(server, 2)
    return server


def test_limits_by_group_and_class_are_shown(ruled: Server) -> None:
    with ruled.client() as client:
        rules = client.rules()["rules"]
    assert rules["limits"]["group_of_class"]["cv.urgent"]["max_jobs"] == 1
    assert rules["classes"]["urgent"]["preempts"] == ["background"]


def test_each_version_is_kept_with_its_author_and_what_it_changed(ruled: Server) -> None:
    uid = NOBODY if os.geteuid() == 0 else os.getuid()
    second = FIRST.replace("max_gpus = 4", "max_gpus = 2") + "[fair_share]\nweight = 0\n"
    write(ruled, second, uid)
    shown = version_is(ruled, 3)
    assert shown["text"] == second
    with ruled.client() as client:
        history = client.rules_history()["history"]
        assert [row["version"] for row in history] == [3, 2, 1]
        assert history[0]["uid"] == uid
        assert [change["text"] for change in history[0]["changes"]] == [
            "limits.per_user.max_gpus: 4 → 2",
            "fair_share.weight: 1 → 0",
        ]
        assert {change["key"] for change in history[1]["changes"]} == {
            "groups.cv.members", "groups.cv.share",
            "limits.per_user.max_gpus", "limits.groups.cv.urgent.max_jobs",
        }  # fmt: skip
        assert history[2]["changes"] == [], "no file: the defaults"
        assert client.rules_history(limit=1)["history"] == history[:1]
        assert client.call("GET", "/v1/rules/history?before=3&limit=1")["history"] == history[1:2]
        old = client.rules_version(2)
        assert (old["text"], old["in_force"]) == (FIRST, False)
        assert client.rules_version(3)["in_force"]
        with pytest.raises(RoostError, match="no version 9 of the rules; the newest is 3"):
            client.rules_version(9)
    with ruled.client("zh") as client:
        assert client.rules_history()["history"][0]["changes"][0]["text"].startswith(
            "limits.per_user.max_gpus：4 → 2"
        )


def test_a_wrong_file_leaves_the_old_rules_in_force_and_says_so(ruled: Server) -> None:
    write(ruled, FIRST.replace("max_gpus = 4", "max_gpus = 8") + "max_gpu = 3\n")
    with ruled.client() as client:
        wait_for(lambda: client.rules()["problem"], "the problem shows")
        shown = client.rules()
        assert (shown["version"], shown["text"]) == (2, FIRST), "not half of the new one"
        assert shown["rules"]["limits"]["per_user"]["max_gpus"] == 4
        assert [(m["key"], m["line"]) for m in shown["mistakes"]] == [
            ("limits.groups.cv.urgent.max_gpu", 6)
        ]
        assert len(client.rules_history()["history"]) == 2, "a wrong text is no version"
    # What is mended is the next version, and the problem is gone.
    write(ruled, FIRST + "max_gpus = 3\n")
    assert version_is(ruled, 3)["problem"] is None


def test_the_same_text_again_is_no_new_version(ruled: Server) -> None:
    write(ruled, FIRST + "max_gpus = 3\n")
    version_is(ruled, 3)
    write(ruled, FIRST + "max_gpus = 3\n")
    write(ruled, FIRST)
    version_is(ruled, 4)
    with ruled.client() as client:
        history = client.rules_history()["history"]
    assert [row["sha256"] for row in history][1] != history[0]["sha256"]
    assert history[0]["sha256"] == history[2]["sha256"]


def test_versions_outlive_the_server(ruled: Server) -> None:
    assert ruled.stop() == 0
    ruled.start()
    with ruled.client() as client:
        assert [row["version"] for row in client.rules_history()["history"]] == [2, 1]
        assert client.rules()["version"] == 2


def test_a_text_that_cannot_be_read_any_more_is_said_and_hides_no_other(ruled: Server) -> None:
    assert ruled.stop() == 0
    store = open_sqlite(ruled.state / "roost.db")
    with store.write() as connection:
        assert add_rules(connection, 1.0, 0, "root", "x", "of_yesterday = 1\n") == 3
    store.close()
    ruled.start()
    version_is(ruled, 4)
    with ruled.client() as client:
        history = client.rules_history()["history"]
        assert client.rules_version(3)["text"] == "of_yesterday = 1\n"
    assert [row["version"] for row in history] == [4, 3, 2, 1]
    assert [row["changes"] is None for row in history] == [True, True, False, False]
    assert "of_yesterday is not a key" in history[0]["problem"]
