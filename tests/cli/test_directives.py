"""#ROOST and #SBATCH lines: where they are read, what they mean, what is named as ignored."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roost.cli.directives import DirectiveError, read, split


def script(*lines: str) -> bytes:
    return "\n".join(["#!/bin/bash", *lines, "echo hello"]).encode()


def test_roost_directives_are_options_of_run():
    found = read(script("#ROOST -g 2 --time 4h", '#ROOST --name "two words" --hold', "#ROOST -t2d"))
    assert found.roost == {"gpus": 2, "time": 172800, "name": "two words", "hold": True}


def test_nothing_is_read_after_the_first_command():
    text = b"#!/bin/sh\n\n# comment\n#ROOST -g 2\necho\n#ROOST -g 4\n"
    assert read(text).roost == {"gpus": 2}


def test_a_word_that_begins_like_one_is_no_directive():
    assert read(script("#ROOSTER -g 2", "#SBATCHES")).roost == {}


def test_sbatch_directives_with_a_meaning_here():
    found = read(
        script(
            "#SBATCH --job-name=train -c 4",
            "#SBATCH --gres=gpu:a100:2",
            "#SBATCH -t 1-12:00:00",
            "#SBATCH --mem=16000",
            "#SBATCH --array=0-9%2",
            "#SBATCH -o logs/%x-%A_%a.out",
            "#SBATCH --dependency=afterok:41:42",
            "#SBATCH --signal=B:USR1@120",
            "#SBATCH --ntasks=2 --nodes=1 --export=ALL --requeue",
        )
    )
    assert found.sbatch == {
        "name": "train",
        "cpus": 8,
        "gpus": 2,
        "gpu_model": "a100",
        "time": 129600,
        "mem": 16000 << 20,
        "array": "0-9%2",
        "output": "logs/%x-%A_%a.out",
        "after": [[41, 42]],
        "signal": "USR1@120",
    }
    assert found.ignored == []


def test_slurms_mps_is_a_share_of_compute_and_what_has_no_meaning_here_is_named():
    """gres.html of Slurm: where each GPU counts 100, mps:30 is 30 % of one GPU."""
    assert read(script("#SBATCH --gres=mps:30")).sbatch == {"gpu_compute": 30}
    for word in ("mps", "mps:0", "mps:200", "mps:a100:30", "mps:30,gpu:1", "shard:2", "mps:٣"):
        found = read(script(f"#SBATCH --gres={word}"))
        assert (found.sbatch, found.ignored) == ({}, [(2, f"--gres={word}")])


def test_a_share_of_compute_may_be_written_with_a_percent_sign():
    assert read(script("#ROOST --gpu-mem 10G --gpu-compute 30%")).roost == {
        "gpu_mem": 10 << 30, "gpu_compute": 30
    }  # fmt: skip
    with pytest.raises(DirectiveError):
        read(script("#ROOST --gpu-compute 0.3"))


def test_each_ignored_sbatch_option_is_named_with_its_line():
    found = read(
        script(
            "#SBATCH --partition=gpu --mail-user=a@b.c",
            "#SBATCH -N 4 --exclusive",
            "#SBATCH -e err.log -o out-%N.log",
            "#SBATCH --dependency=singleton",
        )
    )
    assert found.ignored == [
        (2, "--partition=gpu"),
        (2, "--mail-user=a@b.c"),
        (3, "--nodes=4"),
        (3, "--exclusive"),
        (4, "--error=err.log"),
        (4, "--output=out-%N.log"),
        (5, "--dependency=singleton"),
    ]
    assert found.sbatch == {}


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("#ROOST --gpu 2", "unknown_option"),
        ("#ROOST -g", "needs_value"),
        ("#ROOST --hold=1", "takes_no_value"),
        ("#ROOST train.py", "extra_argument"),
        ("#ROOST --name 'x", "bad_quotes"),
        ("#ROOST --time 90", "not_a_duration"),
        ("#SBATCH --time=soon", "not_a_duration"),
        ("#SBATCH --gpus=x", "not_a_number"),
    ],
)
def test_a_wrong_directive_is_refused_with_its_line(line: str, code: str):
    with pytest.raises(DirectiveError) as caught:
        read(script("# hello", line))
    assert caught.value.line == 3
    assert caught.value.error.code == code


@given(st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\n\r\0"), max_size=8)))
def test_words_in_single_quotes_come_back(words: list[str]):
    quoted = " ".join("'" + word.replace("'", "'\\''") + "'" for word in words)
    assert split(quoted) == words


@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(body: bytes):
    for prefix in (b"#ROOST ", b"#SBATCH "):
        with suppress(DirectiveError):
            read(b"#!/bin/sh\n" + prefix + body)
