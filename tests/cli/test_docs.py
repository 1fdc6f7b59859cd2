"""Help, completions and docs/cli.md say what the table of commands says."""

from __future__ import annotations

import runpy
import shutil
import subprocess
from pathlib import Path

import pytest

from roost.cli.commands import COMMANDS
from roost.cli.complete import script
from roost.cli.help import all_commands, overview, text_of
from roost.cli.terminal import width
from roost.core.text import cli, cli_errors, cli_help

ROOT = Path(__file__).resolve().parents[2]


def test_the_document_is_what_its_script_writes():
    written = runpy.run_path(str(ROOT / "scripts" / "cli_docs.py"))["document"]()
    assert (ROOT / "docs" / "cli.md").read_text(encoding="utf-8") == written


@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_command_and_option_has_help_within_80_columns(language: str):
    for command in all_commands():
        text = text_of(command, language)
        assert all(width(line) <= 80 for line in text.split("\n")), text
        for option in command.options:
            assert option.names[-1] in text
    assert all(width(line) <= 80 for line in overview(language).split("\n"))


def test_help_of_no_command_is_left_over():
    words = {name.split(".")[0] for name in cli_help.MESSAGES if not name.startswith("--")}
    extra = {"usage_word", "options", "intro", "more", "group", "exit_codes"}
    assert words - extra == set(COMMANDS)


@pytest.mark.parametrize("area", [cli, cli_errors, cli_help])
def test_both_languages_take_the_same_numbers(area: object):
    import string

    messages: dict[str, tuple[str, str]] = area.MESSAGES  # type: ignore[attr-defined]
    for code, pair in messages.items():
        fields = [
            sorted({f for _, f, _, _ in string.Formatter().parse(text) if f}) for text in pair
        ]
        assert fields[0] == fields[1], code


def bash(line: str) -> list[str]:
    words = line.split(" ")
    code = script("bash") + (
        f"\nCOMP_WORDS=({' '.join(repr(w) for w in words)}); COMP_CWORD={len(words) - 1}; _roost;"
        'printf "%s\\n" "${COMPREPLY[@]}"'
    )
    done = subprocess.run(
        ["bash", "--norc", "-c", code], capture_output=True, text=True, check=True
    )
    return done.stdout.split()


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("roost st", ["status"]),
        ("roost run --gpu", ["--gpus", "--gpu-mem", "--gpu-compute", "--gpu-model"]),
        ("roost run --class u", ["urgent"]),
        ("roost rules ", ["check", "show", "diff", "history", "try"]),
        ("roost rules show --j", ["--json"]),
    ],
)
def test_bash_completes(line: str, found: list[str]):
    assert bash(line) == found


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completions_are_of_that_shells_grammar(shell: str):
    text = script(shell)
    for command in all_commands():
        assert command.name.split()[0] in text
    program = shutil.which(shell)
    if program is not None:
        subprocess.run([program, "-n"], input=text, text=True, check=True)
