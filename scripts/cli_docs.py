"""Writes docs/cli.md from the table of commands: `python scripts/cli_docs.py > docs/cli.md`.

A test fails when the file is not what this writes.
"""

from __future__ import annotations

from contextlib import suppress

from roost.cli.command import Command
from roost.cli.commands import COMMON
from roost.cli.help import all_commands, option_help, usage
from roost.cli.shapes import SHAPES
from roost.core.text.catalogue import say

HEAD = """# The command line

Written by `scripts/cli_docs.py` from the table that the program itself reads.

`ROOST_SOCKET` or `--socket` names the daemon, `ROOST_STATE` its folder; otherwise it is the
caller's own daemon where one runs, else the machine's. `NO_COLOR` turns colours off, the locale
chooses the language (English, 中文) and the characters.

| exit code | means |
| --- | --- |
| 0 | done |
| 1 | refused or failed; what, and what to do next, is on standard error |
| 2 | the words are wrong |
| 3 | no daemon |
| 4 | not allowed |
| the job's | `wait`, `run --wait`, `--follow`, `--pty`: its code, 128+signal, 124 for a timeout |

`--json` prints one document on one line, in ASCII. Its keys are stable; the objects in them are
those of [the API](api.md). Keys may be added, never renamed or removed.
"""  # fmt: skip


def cell(text: str) -> str:
    return text.replace("|", "\\|")


def section(command: Command) -> str:
    lines = [f"## roost {command.name}", "", _said(command.name) + ".", "", "```"]
    lines += [usage(command), "```"]
    with suppress(KeyError):  # most commands need no more words
        lines += ["", _said(command.name + ".more").replace("\n", "  \n")]
    options = [o for o in command.options if o not in COMMON]
    if options:
        lines += ["", "| option | |", "| --- | --- |"]
    for option in options:
        names = ", ".join(f"`{name}`" for name in option.names)
        value = f" `{option.value}`" if option.value else ""
        lines.append(f"| {names}{cell(value)} | {cell(option_help(command, option, 'en'))} |")
    if command.name in SHAPES:
        keys = ", ".join(f"`{key}`" for key in SHAPES[command.name])
        lines += ["", f"JSON: {keys}"]
    return "\n".join(lines) + "\n"


def _said(code: str) -> str:
    return say("en", "cli_help." + code)


def document() -> str:
    return "\n".join([HEAD, *(section(command) for command in all_commands())])


if __name__ == "__main__":
    print(document(), end="")
