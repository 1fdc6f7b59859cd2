"""Completions of bash, zsh and fish, from the table of commands. Static: no daemon is asked."""

from __future__ import annotations

from roost.cli.command import Command, Option
from roost.cli.commands import COMMON
from roost.cli.help import all_commands, option_help
from roost.core.text.catalogue import say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from roost.cli.context import Context

FILES = {
    "bash": "share/bash-completion/completions/roost",
    "zsh": "share/zsh/site-functions/_roost",
    "fish": "share/fish/vendor_completions.d/roost.fish",
}


def completions(context: Context) -> int:
    """Prints the script: `roost completions bash > /etc/bash_completion.d/roost`."""
    context.out(script(context.given.arguments[0]).rstrip())
    return 0


def script(shell: str) -> str:
    return {"bash": bash, "zsh": zsh, "fish": fish}[shell]()


def _options(command: Command) -> list[Option]:
    return [*command.options, *COMMON]


def _first_words() -> list[str]:
    return list(dict.fromkeys(command.name.split()[0] for command in all_commands()))


def _second_words() -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for command in all_commands():
        first, _, second = command.name.partition(" ")
        if second:
            found.setdefault(first, []).append(second)
    return found


def _compgen(words: Sequence[str]) -> str:
    return f'COMPREPLY=($(compgen -W "{" ".join(words)}" -- "$cur"))'


def bash() -> str:
    cases = []
    for command in all_commands():
        names = " ".join(name for option in _options(command) for name in option.names)
        cases.append(f'    "{command.name}") words="{names}" ;;')
    values = [
        f"    {option.names[-1]}) {_compgen(option.choices)}; return ;;"
        for option in {o.names[-1]: o for c in all_commands() for o in c.options}.values()
        if option.choices
    ]
    subcommands = [
        f"    {first}) [[ $COMP_CWORD -eq 2 ]] && {{ {_compgen(words)}; return; }} ;;"
        for first, words in _second_words().items()
    ]
    return "\n".join(
        [
            "# bash completion of roost; written by `roost completions bash`",
            "_roost() {",
            "  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} words= command",
            "  COMPREPLY=()",
            "  if [[ $COMP_CWORD -eq 1 ]]; then",
            f"    {_compgen(_first_words())}; return",
            "  fi",
            '  case "$prev" in',
            *values,
            "  esac",
            '  case "${COMP_WORDS[1]}" in',
            *subcommands,
            "  esac",
            "  command=${COMP_WORDS[1]}",
            f'  case "$command" in {"|".join(_second_words())})',
            '    command+=" ${COMP_WORDS[2]}" ;;',
            "  esac",
            '  case "$command" in',
            *cases,
            "  esac",
            f"  [[ $cur == -* ]] && {_compgen(['$words'])}",
            "}",
            "complete -o default -F _roost roost",
            "",
        ]
    )


def zsh() -> str:
    def quoted(text: str) -> str:
        escaped = text.replace("'", "'\\''").replace("[", "\\[").replace("]", "\\]")
        return escaped.replace(":", "\\:")

    def argument(command: Command, option: Option) -> list[str]:
        help_ = quoted(option_help(command, option, "en"))
        value = ""
        if option.value:
            action = f"({' '.join(option.choices)})" if option.choices else ""
            action = "_files" if option.kind == "path" else action
            value = f":{option.value}:{action}"
        return [f"'{name}[{help_}]{value}'" for name in option.names]

    cases = []
    for command in all_commands():
        arguments = [each for option in _options(command) for each in argument(command, option)]
        ending = "'*::command:_normal'" if command.name == "run" else "'*:argument:_files'"
        cases.append(f"    '{command.name}') _arguments {' '.join(arguments)} {ending} ;;")
    listed = [f"    '{word}:{quoted(_summary(word))}'" for word in _first_words()]
    return "\n".join(
        [
            "#compdef roost",
            "_roost() {",
            "  local -a commands=(",
            *listed,
            "  )",
            "  if (( CURRENT == 2 )); then _describe command commands; return; fi",
            "  local command=${words[2]}",
            *(
                f"  if [[ $command == {first} ]]; then\n"
                f"    if (( CURRENT == 3 )); then compadd {' '.join(seconds)}; return; fi\n"
                '    command+=" ${words[3]}"; shift words; (( CURRENT-- ))\n  fi'
                for first, seconds in _second_words().items()
            ),
            "  shift words; (( CURRENT-- ))",
            "  case $command in",
            *cases,
            "  esac",
            "}",
            '_roost "$@"',
            "",
        ]
    )


def fish() -> str:
    def quoted(text: str) -> str:
        return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"

    rows = [
        "# fish completion of roost; written by `roost completions fish`",
        *(
            f"complete -c roost -n __fish_use_subcommand -f -a {word} -d {quoted(_summary(word))}"
            for word in _first_words()
        ),
    ]
    after = "complete -c roost -n '__fish_seen_subcommand_from"
    rows += [f"{after} {first}' -f -a '{' '.join(w)}'" for first, w in _second_words().items()]
    for command in all_commands():
        first = command.name.split()[0]
        for option in _options(command):
            short = f" -s {option.names[0][1:]}" if len(option.names) > 1 else ""
            value = " -r" if option.value and not option.kind.startswith("optional_") else ""
            if option.choices:
                value = f" -x -a '{' '.join(option.choices)}'"
            text = quoted(option_help(command, option, "en"))
            rows.append(f"{after} {first}'{short} -l {option.names[-1][2:]}{value} -d {text}")
    return "\n".join(dict.fromkeys(rows)) + "\n"


def _summary(word: str) -> str:
    try:
        return say("en", "cli_help." + word)
    except KeyError:
        return ", ".join(_second_words()[word])
