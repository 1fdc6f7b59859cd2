"""Where cuda-checkpoint is used at all: the right machine, driver and program, and root's alone."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from roost.core.observation import Identity
from roost.machine.cuda_checkpoint import Tool, bring_back, find, lives, move_out, untrusted

PROGRAM = "/usr/bin/env"  # any that is root's and no link that others can change
NOBODY = Identity(1, 0)  # not the process that has this number


@pytest.mark.parametrize("driver", ["570.86.10", "575.57.08", "1000.1"])
def test_it_is_found_where_all_is_right(driver: str) -> None:
    assert find(PROGRAM, driver, "x86_64") == (PROGRAM, "")


@pytest.mark.parametrize(
    ("named", "driver", "machine", "words"),
    [
        (PROGRAM, "570.86.10", "aarch64", "x86_64 only"),
        (PROGRAM, None, "x86_64", "not known"),
        (PROGRAM, "N/A", "x86_64", "not known"),
        (PROGRAM, "565.57.01", "x86_64", "565.57.01, and 570 is needed"),
        ("/nowhere/cuda-checkpoint", "570.86.10", "x86_64", "not at /nowhere"),
        ("/etc", "570.86.10", "x86_64", "not executable"),
    ],
)
def test_it_says_what_is_missing(named: str, driver: str | None, machine: str, words: str) -> None:
    tool, why = find(named, driver, machine)
    assert tool == ""
    assert words in why


def test_a_program_that_others_can_change_is_not_trusted(tmp_path: Path) -> None:
    program = tmp_path / "tool"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o777)
    assert "others than root may change" in untrusted(str(program))
    program.chmod(0o755)
    if os.geteuid() == 0:
        os.chown(program, 12345, 12345)
    assert "others than root may change" in untrusted(str(program))
    assert "no absolute path" in untrusted("usr/bin/env")
    program.chmod(0o644)
    assert "not executable" in untrusted(str(program))


def test_a_folder_on_the_way_that_others_can_change_is_not_trusted(tmp_path: Path) -> None:
    loose = tmp_path / "loose"
    loose.mkdir()
    loose.chmod(0o777)
    (loose / "tool").symlink_to(PROGRAM)
    assert "others than root may change" in untrusted(str(loose / "tool"))


def test_a_number_that_came_to_mean_another_process_is_left_alone() -> None:
    assert not lives(NOBODY)
    assert Tool(PROGRAM).action(NOBODY, "restore").code == 3
    assert bring_back(Tool(PROGRAM), [NOBODY]).done, "a process that has ended needs nothing"
    moved = move_out(Tool(PROGRAM), [NOBODY])
    assert (moved.done, moved.moved) == (True, ())
    assert not move_out(Tool(PROGRAM), [NOBODY], claimed=[1]).done, "its memory is still there"
