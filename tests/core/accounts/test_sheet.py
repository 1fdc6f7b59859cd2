"""A team's list of people: its heads in two languages, its rows, and what is wrong with it."""

from __future__ import annotations

import pytest

from roost.core.accounts.sheet import HEADS, field_of, read_rows


@pytest.mark.parametrize("field", HEADS)
def test_every_head_names_one_field(field: str) -> None:
    for word in HEADS[field]:
        assert field_of(word) == field
        assert field_of(f" {word.upper()}: ") == field


@pytest.mark.parametrize(
    ("head", "field"),
    [
        ("账号 (user name)", "name"),
        ("SSH_Key", "key"),
        ("姓名/Full name", "full_name"),
        ("磁盘配额（GB）", "quota"),
        ("phone", None),
    ],
)
def test_heads_as_people_write_them(head: str, field: str | None) -> None:
    assert field_of(head) == field


def test_rows_are_counted_as_the_spreadsheet_does() -> None:
    table = [["", ""], ["账号", "组"], ["", ""], ["# left", ""], ["wang", " vision "]]
    people, heads, problems = read_rows(table)
    assert [(one.name, one.group, one.row) for one in people] == [("wang", "vision", 5)]
    assert heads == {"name": "账号", "group": "组"}
    assert problems == []


@pytest.mark.parametrize(
    ("table", "code"),
    [
        ([["name", "phone"], ["a", "1"]], "head_unknown"),
        ([["name", "user"], ["a", "b"]], "head_twice"),
        ([["group"], ["a"]], "head_no_name"),
        ([["name"], ["a", "b"]], "cells_many"),
        ([], "sheet_nothing"),
        ([["name"], *([f"u{n}"] for n in range(1001))], "sheet_long"),
    ],
)
def test_what_is_wrong_with_a_list_is_named(table: list[list[str]], code: str) -> None:
    assert [problem.code for problem in read_rows(table)[2]] == [code]
