"""The rules file on disk: what is read, by whose hand, and what a bad one does."""

from __future__ import annotations

import os
import socket
from pathlib import Path

from roost.server.intents import AdoptRules, RulesWrong
from roost.server.rules import RulesFile, last_in_force
from roost.store.database import open_sqlite
from roost.store.log import add_rules


def test_no_file_is_an_empty_one(tmp_path: Path) -> None:
    file = RulesFile(tmp_path / "rules.toml")
    found = file.poll()
    assert isinstance(found, AdoptRules)
    assert (found.text, found.uid) == ("", None)
    assert file.poll() is None


def test_a_change_is_read_once_and_a_hangup_reads_again(tmp_path: Path) -> None:
    path = tmp_path / "rules.toml"
    path.write_text("max_array = 5\n")
    file = RulesFile(path)
    found = file.poll()
    assert isinstance(found, AdoptRules)
    assert (found.rules.max_array, found.uid) == (5, os.getuid())
    assert file.poll() is None
    assert isinstance(file.poll(force=True), AdoptRules)
    path.write_text("max_array = 50\n")
    changed = file.poll()
    assert isinstance(changed, AdoptRules)
    assert changed.sha256 != found.sha256


def test_what_is_wrong_is_named(tmp_path: Path) -> None:
    path = tmp_path / "rules.toml"
    path.write_text("max_array = -5\n")
    found = RulesFile(path).poll()
    assert isinstance(found, RulesWrong)
    assert "max_array" in found.problem
    assert found.mistakes[0].line == 1


def test_what_is_no_file_is_never_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "folder").mkdir()
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind(str(tmp_path / "s"))
        for name in ("fifo", "folder", "s"):
            file = RulesFile(tmp_path / name)
            assert isinstance(file.poll(), RulesWrong), name
            assert file.poll() is None, "said once"


def test_kept_rules_that_cannot_be_read_any_more_are_said(tmp_path: Path) -> None:
    store = open_sqlite(tmp_path / "roost.db")
    with store.write() as connection:
        add_rules(connection, 1.0, 0, "root", "a", "max_array = 7\n")
    assert last_in_force(store).rules.max_array == 7
    with store.write() as connection:
        add_rules(connection, 2.0, 0, "root", "b", "from_the_future = 1\n")
    found = last_in_force(store)
    assert "from_the_future" in found.problem
    store.close()
