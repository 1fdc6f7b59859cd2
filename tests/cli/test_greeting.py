"""The name that the greeting of `roost serve` tells people to type."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from roost.cli.serve import program_name


def test_the_greeting_names_a_roost_that_another_terminal_finds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "roost"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    monkeypatch.setattr(sys, "argv", [str(program), "serve"])
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin")
    monkeypatch.delenv("ROOST_CALLER_PATH", raising=False)
    assert program_name() == "roost"
    monkeypatch.setenv("ROOST_CALLER_PATH", "/usr/bin")
    assert program_name() == str(program)
