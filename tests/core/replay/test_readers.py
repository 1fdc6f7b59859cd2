"""The three formats of traces: what is written comes back, and a wrong line is named."""

from __future__ import annotations

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roost.core.model import PriorityClass
from roost.core.replay.read_csv import read_csv
from roost.core.replay.read_sacct import read_sacct
from roost.core.replay.read_swf import read_swf
from roost.core.replay.trace import Trace, TraceError, TraceJob

HEADER = [
    "job_id",
    "user",
    "vc",
    "submit_s",
    "gpus",
    "duration_s",
    "estimate_s",
    "priority",
    "state",
]
seconds = st.one_of(st.floats(0, 1e9, allow_nan=False), st.integers(0, 10**9).map(float))
names = st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cs")), max_size=8).map(
    str.strip
)


@st.composite
def traces(draw: st.DrawFn) -> list[TraceJob]:
    count = draw(st.integers(1, 8))
    return [
        TraceJob(
            f"j{number}",
            draw(names),
            draw(names),
            draw(seconds),
            draw(st.one_of(st.integers(1, 512).map(float), st.floats(0.01, 0.99))),
            draw(seconds),
            draw(st.one_of(st.none(), seconds)),
            draw(st.one_of(st.none(), st.sampled_from(PriorityClass))),
        )
        for number in range(count)
    ]


@given(traces())
def test_csv_comes_back_as_it_was(jobs: list[TraceJob]) -> None:
    file = io.StringIO(newline="")
    out = csv.writer(file)
    out.writerow(HEADER)
    for job in jobs:
        out.writerow([
            job.id, job.user, job.group, repr(job.submit_s), repr(job.gpus), repr(job.duration_s),
            "" if job.estimate_s is None else repr(job.estimate_s), job.priority_class or "", "",
        ])  # fmt: skip
    found = read_csv(io.StringIO(file.getvalue(), newline=""))
    first = min(job.submit_s for job in jobs)
    assert sorted(job.id for job in found.jobs) == sorted(job.id for job in jobs)
    was = {job.id: job for job in jobs}
    for job in found.jobs:
        own = was[job.id]
        assert job.submit_s == own.submit_s - first
        assert (job.user, job.group, job.gpus, job.duration_s) == (
            own.user, own.group, own.gpus, own.duration_s,
        )  # fmt: skip
        assert job.estimate_s == own.estimate_s
        assert job.priority_class == own.priority_class
    assert [job.submit_s for job in found.jobs] == sorted(job.submit_s for job in found.jobs)


@given(
    st.lists(st.text(max_size=60), max_size=6), st.sampled_from([read_csv, read_swf, read_sacct])
)
def test_no_text_breaks_a_reader(lines: list[str], read: object) -> None:
    """Whatever stands in a file: a trace, or a TraceError."""
    try:
        found = read(lines)  # type: ignore[operator]
    except TraceError:
        return
    assert isinstance(found, Trace)


@given(st.lists(st.sampled_from(["nan", "inf", "-1", "1e400", "1e308", "7", "x", "-inf", "0"]),
                min_size=5, max_size=19))  # fmt: skip
def test_no_number_breaks_the_standard_workload_format(words: list[str]) -> None:
    try:
        found = read_swf([" ".join(words)])
    except TraceError:
        return
    assert all(0 <= job.duration_s < float("inf") and job.gpus > 0 for job in found.jobs)


def refused(read: object, *lines: str) -> TraceError:
    with pytest.raises(TraceError) as caught:
        read(lines)  # type: ignore[operator]
    return caught.value


GOOD = "j1,a,g,5,1,60,90,,\n"


@pytest.mark.parametrize(
    ("lines", "code", "numbers"),
    [
        ((), "empty", {}),
        ((",".join(HEADER),), "no_jobs", {}),
        (("job_id,submit_s,gpus",), "no_column", {"column": "duration_s"}),
        ((",".join(HEADER), "j,a,g,x,1,60,,,"), "not_a_number", {"line": 2, "column": "submit_s"}),
        ((",".join(HEADER), GOOD, "j,a,g,5,1,-6,,,"), "not_in_range", {"line": 3, "value": "-6"}),
        ((",".join(HEADER), "j,a,g,5,nan,6,,,"), "not_in_range", {"column": "gpus"}),
        ((",".join(HEADER), 'j,"a\n'), "no_jobs", {}),
    ],
)
def test_a_wrong_line_of_csv_is_named(
    lines: tuple[str, ...], code: str, numbers: dict[str, object]
) -> None:
    error = refused(read_csv, *lines)
    assert error.code == code
    assert numbers.items() <= error.numbers.items()


def test_rows_that_cannot_be_replayed_are_counted() -> None:
    found = read_csv([",".join(HEADER), GOOD, "j2,,,7,0,60,,,", "j3,,,7,1,,,,", "j4,,,6,1,1,,BE,"])
    assert [job.id for job in found.jobs] == ["j1", "j4"]
    assert found.jobs[1].submit_s == 1.0
    assert found.jobs[1].priority_class is PriorityClass.BACKGROUND
    assert found.left_out == (("no_duration", 1), ("no_gpus", 1))


def test_the_standard_workload_format() -> None:
    text = """
; Version: 2.2
1 100 5 3600 4 -1 -1 8 7200 -1 1 3 2 -1 -1 -1 -1 -1
2 160 -1 60 2 -1 -1 -1 -1 -1 5 -1 -1 ; a comment
3 170 -1 -1 2
4 180 0 60 2 -1 -1 -1 -1 -1 3
5 190 0 60 0"""
    found = read_swf(text.split("\n"))
    assert found.jobs == (
        TraceJob("1", "u3", "g2", 0.0, 8.0, 3600.0, 7200.0, None, "COMPLETED"),
        TraceJob("2", "", "", 60.0, 2.0, 60.0, None, None, "CANCELLED"),
    )
    assert found.left_out == (("no_duration", 1), ("no_gpus", 1), ("part_of_job", 1))
    assert refused(read_swf, "1 2 3").code == "short_line"
    assert refused(read_swf, "; x", "1 2 3 4 five").numbers == {"line": 2}


SACCT = "JobID|User|Account|Submit|Start|End|AllocTRES|ReqTRES|Timelimit|State"
DAY = "2026-01-05T"


def test_sacct_counts_gpus_once_and_jobs_without_their_steps() -> None:
    found = read_sacct([
        SACCT,
        f"7|al|v|{DAY}09:00:00|{DAY}09:00:05|{DAY}10:00:05"
        "|cpu=8,gres/gpu=2,gres/gpu:a100=2||1-02:00:00|COMPLETED",
        f"7.batch|||{DAY}09:00:05|{DAY}09:00:05|{DAY}10:00:05|cpu=8|||COMPLETED",
        f"8|bo|s|{DAY}09:10:00|{DAY}09:10:01|{DAY}12:10:01"
        "|gres/gpu:a100=1,gres/gpu:v100=3||30:00|CANCELLED by 0",
        f"9|ca|s|{DAY}09:30:00|Unknown|Unknown||gres/gpu=1|UNLIMITED|CANCELLED",
        f"10|ca|s|{DAY}09:40:00|{DAY}09:40:00|{DAY}09:41:00|cpu=1||01:00:00|COMPLETED",
    ])  # fmt: skip
    assert found.jobs == (
        TraceJob("7", "al", "v", 0.0, 2, 3600.0, 93_600.0, None, "COMPLETED"),
        TraceJob("8", "bo", "s", 600.0, 4, 10_800.0, 1800.0, None, "CANCELLED"),
    )
    assert found.left_out == (("no_duration", 1), ("no_gpus", 1))
    assert refused(read_sacct, "JobID|User", "1|a").numbers["column"] == "Submit"
    late = refused(read_sacct, SACCT, f"7|a|v|soon|{DAY}09:00:05|{DAY}10:00:05|gres/gpu=2|||")
    assert (late.code, late.numbers["line"], late.numbers["value"]) == ("not_a_time", 2, "soon")
