"""Words to options: what is accepted, and the exact refusal of what is not."""

from __future__ import annotations

import pytest

from roost.cli.commands import COMMANDS, COMMON, GROUPS
from roost.cli.parse import Parsed, find_command, parse
from roost.cli.values import READERS, UsageError


def given(line: str) -> Parsed:
    words = line.split()
    command, used = find_command(words)
    return parse(command, words[used:])


def refusal(line: str) -> UsageError:
    with pytest.raises(UsageError) as caught:
        given(line)
    return caught.value


def test_options_before_and_after_arguments():
    parsed = given("logs -f 42 --lines=3")
    assert parsed.options == {"follow": True, "lines": 3}
    assert parsed.arguments == [42]


def test_run_stops_at_the_command():
    parsed = given("run -g 2 python train.py -g 7 --wait")
    assert parsed.options == {"gpus": 2}
    assert parsed.arguments == ["python", "train.py", "-g", "7", "--wait"]
    assert not parsed.dashes


def test_two_dashes_end_options():
    parsed = given("run -wf --gpu-mem 10G -- -x --help")
    assert parsed.options == {"wait": True, "follow": True, "gpu_mem": 10 << 30}
    assert parsed.arguments == ["-x", "--help"]
    assert parsed.dashes


def test_short_values_attached_or_apart():
    assert given("run -g2 x").options == given("run -g 2 x").options == {"gpus": 2}
    assert given("run -wg=2 x").options == {"wait": True, "gpus": 2}


def test_a_negative_number_is_the_servers_to_refuse():
    assert given("run -g -1 -- x").options["gpus"] == -1
    assert given("run --gpus=-1 -- x").options["gpus"] == -1


def test_jobs_by_number_list_and_range():
    assert given("cancel 3 7,8 10-12").arguments == [3, 7, 8, 10, 11, 12]


def test_watch_takes_its_seconds_or_none():
    assert given("status --watch").options == {"watch": 2.0}
    assert given("status --watch 0.5 --json").options == {"watch": 0.5, "json": True}


def test_help_wins_over_everything_after_it():
    assert given("show --help nonsense --nonsense").options == {"help": True}


def test_subcommands():
    assert find_command(["rules", "check", "x"])[0].name == "rules check"
    assert refusal("rules frob").code == "unknown_subcommand"
    assert refusal("rules").code == "missing_subcommand"


@pytest.mark.parametrize(
    ("line", "code", "near"),
    [
        ("statsu", "unknown_command", "status"),
        ("run --gpu 2 x", "unknown_option", "--gpus"),
        ("run --tiem 4h x", "unknown_option", "--time"),
        ("run --class urgnt x", "not_a_choice", "urgent"),
    ],
)
def test_the_nearest_name_is_said(line: str, code: str, near: str):
    error = refusal(line)
    assert error.code == code
    assert near in str(error.numbers["near"])


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("run", "missing_argument"),
        ("show", "missing_argument"),
        ("why 1 2", "extra_argument"),
        ("run --wait=yes x", "takes_no_value"),
        ("run -g", "needs_value"),
        ("run -g two x", "not_a_number"),
        ("run --cpus 0 x", "not_positive"),
        ("run --mem 16 x", "not_a_size"),
        ("run --mem 16X x", "not_a_size"),
        ("run --time 90 x", "not_a_duration"),
        ("run --time -4h x", "not_a_duration"),
        ("run --array 9-0 x", "not_an_array"),
        ("run --array 0-9999999 x", "array_too_large"),
        ("run --signal KILL x", "not_a_signal"),
        ("run --signal USR1@soon x", "not_a_signal"),
        ("show x42", "not_a_job"),
        ("show 0", "not_a_job"),
        ("cancel 9-3", "not_a_job"),
        ("free a100", "not_a_gpu"),
        ("jobs --state DONE", "not_a_choice"),
        ("status --watch 0", "not_seconds"),
        ("completions tcsh", "not_a_choice"),
    ],
)
def test_refusals(line: str, code: str):
    assert refusal(line).code == code


def test_every_kind_has_a_reader_and_no_option_stands_twice():
    for command in COMMANDS.values():
        names = [name for option in (*command.options, *COMMON) for name in option.names]
        assert len(names) == len(set(names)), command.name
        for option in command.options:
            assert option.kind in READERS or option.kind == "text"
        for argument in command.arguments:
            assert argument.kind in READERS or argument.kind == "text"


def test_the_help_lists_every_command_that_people_type():
    listed = [name for _, names in GROUPS for name in names]
    assert sorted(listed) == sorted(set(COMMANDS) - {"agent", "server"})
