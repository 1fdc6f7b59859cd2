"""What the terminal shows: golden pictures at 80 columns, in both languages, and in ASCII."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roost.cli import format as fmt
from roost.cli import jobs, show, status, who, why
from roost.cli.context import Context
from roost.cli.parse import Parsed
from roost.cli.terminal import Terminal, cut, encoding_of, pad, width
from tests.cli.stub import STATUS, WHO, job

NOW = "2026-12-02T17:02:00+01:00"


def context(language: str = "en", encoding: str = "utf-8", **options: Any) -> Context:
    return Context("x", Parsed(), Terminal(language, encoding, **options))


def picture(lines: list[str], view: Context) -> list[str]:
    shown = view.terminal.encode("\n".join(lines)).decode(view.terminal.encoding).split("\n")
    assert all(width(line) <= 80 for line in shown), shown
    return shown


def test_status_in_english():
    view = context()
    assert picture(status.render(STATUS, view.terminal, view.say), view) == [
        "gpu1  1 of 4 GPUs free · 3 running, 2 waiting · driver 550.54.15 · 17:02",
        " 0 A100-SXM4  62°C  98% 310W 70.1/80.0 GiB  alice job 42, until 17:40",
        " 1 A100-SXM4  35°C   0%  57W  0.0/80.0 GiB  free",
        " 2 A100-SXM4     –    –    –  2.1/80.0 GiB  王伟 python3 2h01m, idle 1h30m +1",
        " 3 A100-SXM4     –    –    –             –  LOST from the bus",
    ]


def test_status_in_chinese():
    view = context("zh")
    assert picture(status.render(STATUS, view.terminal, view.say), view) == [
        "gpu1  4 张 GPU，1 张空闲 · 3 个作业运行，2 个排队 · 驱动 550.54.15 · 17:02",
        " 0 A100-SXM4  62°C  98% 310W 70.1/80.0 GiB  alice 作业 42，至 17:40",
        " 1 A100-SXM4  35°C   0%  57W  0.0/80.0 GiB  空闲",
        " 2 A100-SXM4     –    –    –  2.1/80.0 GiB  王伟 python3 2h01m，闲置 1h30m +1",
        " 3 A100-SXM4     –    –    –             –  已从总线掉线",
    ]


def test_status_in_ascii_where_the_locale_has_no_utf8():
    view = context("zh", "ascii")
    assert picture(status.render(STATUS, view.terminal, view.say), view) == [
        "gpu1  1 of 4 GPUs free | 3 running, 2 waiting | driver 550.54.15 | 17:02",
        " 0 A100-SXM4  62C  98% 310W 70.1/80.0 GiB  alice job 42, until 17:40",
        " 1 A100-SXM4  35C   0%  57W  0.0/80.0 GiB  free",
        " 2 A100-SXM4    -    -    -  2.1/80.0 GiB  \\u738b\\u4f1f python3 2h01m, idl... +1",
        " 3 A100-SXM4    -    -    -             -  LOST from the bus",
    ]


def booking(start: str, end: str, on: bool, **more: Any) -> dict[str, Any]:
    day = NOW[:11]
    return {
        "booking": 7, "user": "li", "start": f"{day}{start}+01:00", "end": f"{day}{end}+01:00",
        "on": on, "maintenance": False, "gpu_memory_bytes": None, **more,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (booking("17:00", "18:30", True), "li has it booked until 18:30"),
        (booking("17:00", "18:30", True, maintenance=True), "maintenance until 18:30"),
        (booking("17:30", "18:30", False), "free until 17:30"),
        (booking("17:30", "18:30", False, maintenance=True), "free until 17:30, then maintenance"),
        (booking("17:00", "18:30", True, gpu_memory_bytes=1 << 30), "free; li has it booked until"),
    ],
)
def test_status_says_who_has_a_gpu_booked_now_and_next(found: dict[str, Any], said: str):
    view = context()
    gpu = {**STATUS["gpus"][1], "bookings": [found]}
    whole = found["maintenance"] or found["gpu_memory_bytes"] is None
    gpu["free_until"] = found["start"] if whole and not found["on"] else None
    head, line = status.render({**STATUS, "gpus": [gpu]}, view.terminal, view.say)
    assert line.split("GiB  ")[1].startswith(said), line
    assert head.startswith("gpu1  0 of" if found["on"] and whole else "gpu1  1 of")


def test_status_says_who_has_a_gpu_next_that_somebody_is_on():
    view = context()
    gpu = {**STATUS["gpus"][0], "bookings": [booking("17:40", "18:30", False)]}
    line = status.render({**STATUS, "gpus": [gpu]}, context(columns=200).terminal, view.say)[1]
    assert line.endswith("alice job 42, until 17:40; li has it booked from 17:40 on")


def test_wide_terminals_show_every_holder():
    view = context(columns=200)
    line = status.render(STATUS, view.terminal, view.say)[3]
    assert line.endswith("; unattributed 642 MiB: its main thread has exited")


def test_colour_adds_nothing_but_colour():
    view = context(colour=True)
    painted = status.render(STATUS, view.terminal, view.say)
    plain = [re.sub(r"\x1b\[[0-9;]*m", "", line) for line in painted]
    bare = context()
    assert plain == status.render(STATUS, bare.terminal, bare.say)
    assert any("\x1b[38;5;" in line for line in painted)


def test_status_without_a_driver_says_the_remedy():
    view = context()
    lines = status.render(
        {
            **STATUS,
            "gpus": [],
            "driver_version": None,
            "driver_state": "not_loaded",
            "driver_remedy": "Load the module: modprobe nvidia.",
        },
        view.terminal,
        view.say,
    )
    assert lines[1] == "driver: Load the module: modprobe nvidia."


def test_who():
    view = context()
    assert picture(who.render({**WHO, "time": NOW}, view.terminal, view.say), view) == [
        "GPU USER  HELD BY          PID   MEMORY SINCE  IDLE WHAT",
        "  0 alice job 42          4242 70.0 GiB 3h          python train.py --lr 0.1",
        "  2 bob   web-1, no right  991  1.5 GiB 8h01m 1h30m python3 serve.py",
        "  2 –     unattributed       –  642 MiB –           its main thread has exited",
    ]


def test_jobs():
    view = context()
    found = [
        job(42, "RUNNING", start_time="2026-12-02T14:02:00+01:00", gpu_indices=[0, 1]),
        job(43, "PENDING", user="王伟", name="训练模型-大语言模型.py", wait="Waits for 2 GPUs."),
        job(44, "FAILED", exit_code=3, start_time=NOW, end_time="2026-12-02T17:12:00+01:00"),
        job(45, "PENDING", held=True),
    ]
    assert picture(jobs.render(found, view.terminal, view.say, NOW), view) == [
        "JOB USER  NAME             CLASS   STATE  GPUS  TIME WHERE OR WHY",
        " 42 alice train.py         regular runs      2    3h GPU 0,1, at most 1h more",
        " 43 王伟  训练模型-大语言… regular waits     2 3h02m Waits for 2 GPUs.",
        " 44 alice train.py         regular failed    2   10m exit code 3",
        " 45 alice train.py         regular waits     2 3h02m held, until roost release",
    ]


def test_show_says_that_the_source_changed():
    view = context()
    source = {
        "path": "/home/a/train.py",
        "sha256": "ab" * 32,
        "git_commit": "c" * 40,
        "git_dirty": True,
        "changed": True,
    }
    title, facts = show.render(job(42, "RUNNING", start_time=NOW, source=source), view.say)
    assert title == "job 42 train.py: runs"
    assert ("source", "/home/a/train.py sha256 abababababab, git cccccccccc with changes; "
            "CHANGED between submission and start") in facts  # fmt: skip


def test_a_share_of_compute_is_shown_beside_the_memory():
    view = context()
    request = {"gpu_memory_bytes": 10 << 30, "gpu_compute_percent": 30}
    found = job(42, "PENDING", request=request)
    assert jobs.gpus(found) == "10.0 GiB 30%"
    facts = dict(show.render(found, view.say)[1])
    assert facts["asks for"] == "10.0 GiB of a shared GPU, 30 % of its compute"


@pytest.mark.parametrize(
    ("mps", "said"),
    [
        (False, "30 % is promised, not enforced: no MPS daemon runs on this server"),
        (True, "each process that goes through it has 30 % at most"),
        (None, "is not known now"),
    ],
)
def test_show_says_what_holds_a_share_of_compute(mps: bool | None, said: str):
    label, text = show.compute(30, mps, context().say)
    assert label == "compute"
    assert said in text


def test_of_a_job_that_is_over_nothing_holds_it_any_more():
    request = {"gpu_memory_bytes": 10 << 30, "gpu_compute_percent": 30}
    assert show.share_of_compute(job(42, "RUNNING", request=request)) == 30
    assert show.share_of_compute(job(42, "FAILED", request=request, end_time=NOW)) is None
    assert show.share_of_compute(job(42, "RUNNING")) is None


def test_a_long_reason_is_broken_between_words():
    text = "Waits for 4 GPUs: 1 is free, alice's job 41 ends about 18:50, then yours starts."
    assert why.folded(text, 60, "  ") == [
        "  Waits for 4 GPUs: 1 is free, alice's job 41 ends about",
        "  18:50, then yours starts.",
    ]
    assert why.folded(text, None, "  ") == ["  " + text]


def test_who_says_a_reason_in_words_and_use_without_a_right():
    say = context().say
    base = {"gpu_index": 0, "user": "bob", "kind": "session", "pid": 5, "command": "python a.py"}
    unlawful = {**base, "right": "no right: hand-started", "lawful": False}
    assert who.row(unlawful, None, say)[2] == "session, no right"
    lawful = {**base, "right": "part of the driver", "lawful": True}
    assert who.row(lawful, None, say)[2] == "session"
    nobody = {"gpu_index": 0, "kind": "unattributed", "reason": "zombie_leader",
              "reason_text": "its main thread has exited"}  # fmt: skip
    assert who.row(nobody, None, say)[-1] == "its main thread has exited"
    given = {"gpu_index": 0, "kind": "job", "job": 7, "user": "bob", "right": "job 7"}
    assert who.row(given, None, say)[-1] == "has not opened its GPU"


def test_why_says_when_it_starts_in_both_languages(monkeypatch):
    monkeypatch.setattr(fmt, "now_iso", lambda like=None: NOW)
    both = {
        "forecast_start": "2026-12-02T19:12:00+01:00",
        "forecast_latest": "2026-12-03T08:00:00+01:00",
    }
    assert why.when("en", both) == (
        "Expected to start about 19:12 (in 2h10m); at the latest 12-03 08:00,"
        " unless somebody comes before."
    )
    assert why.when("zh", both) == (
        "预计 19:12 前后开始（还有 2h10m）；若无人排到前面，最迟 12-03 08:00。"
    )
    unknown = {"code": "open", "text": "job 41 of bob runs without a time limit"}
    half = {"forecast_start": "2026-12-02T19:12:00+01:00", "forecast_unknown": unknown}
    assert why.when("en", half) == (
        "Expected to start about 19:12 (in 2h10m); how late at most cannot be said:"
        " job 41 of bob runs without a time limit."
    )
    older = {"forecast_start": "2026-12-02T19:12:00+01:00"}
    assert why.when("en", older) == "Expected to start about 19:12 (in 2h10m)."
    assert why.when("en", {}) == "When it starts cannot be said."


def test_why_names_the_rule_and_what_stands_before():
    view = context()
    lines = why.render(
        view,
        {
            "job": 43,
            "state": "PENDING",
            "reasons": [
                {
                    "code": "gpus",
                    "text": "Waits for 4 GPUs: 2 are free.",
                    "rule": "limits.per_user.max_gpus",
                    "blocking_jobs": [41, 42],
                    "blocking_bookings": [],
                }
            ],
            "forecast_start": None,
            "forecast_latest": None,
            "forecast_unknown": {
                "code": "open",
                "text": "job 41 of bob runs without a time limit",
                "blocking_jobs": [41],
            },
            "startable_now": 2,
        },
    )
    assert lines == [
        "job 43 waits",
        "  Waits for 4 GPUs: 2 are free.",
        "    rule limits.per_user.max_gpus · jobs 41, 42",
        "When it starts cannot be said: job 41 of bob runs without a time limit.",
        "A request for 2 GPUs would start at once.",
    ]


@pytest.mark.parametrize(
    ("locale", "stdout", "encoding"),
    [
        ("C", "utf-8", "ascii"),
        ("", "utf-8", "ascii"),
        ("POSIX", "utf-8", "ascii"),
        ("en_US.UTF-8", "utf-8", "utf-8"),
        ("zh_CN.utf8", "utf-8", "utf-8"),
        ("zh_CN.GBK", "gbk", "gbk"),
        ("zh_CN.GBK", "utf-8", "ascii"),
        ("zh_CN", "utf-8", "ascii"),
        ("C.UTF-8", "utf-8", "utf-8"),
    ],
)
def test_the_encoding_is_the_locales_or_ascii(locale: str, stdout: str, encoding: str):
    assert encoding_of(locale, stdout) == encoding


def test_a_gbk_terminal_gets_gbk():
    view = context("zh", "gbk")
    assert view.terminal.encode("空闲 62°C –").decode("gbk") == "空闲 62C -"


@given(st.text(max_size=40), st.integers(0, 30))
def test_cut_never_exceeds_its_cells(text: str, cells: int):
    assert width(cut(text, cells)) <= max(cells, 0)
    assert width(pad(cut(text, cells), cells)) == cells


@given(st.floats(0, 4e9))
def test_epoch_is_the_calendars(seconds: float):
    from datetime import UTC, datetime, timedelta, timezone

    for zone in (UTC, timezone(timedelta(hours=8)), timezone(-timedelta(hours=3, minutes=30))):
        written = datetime.fromtimestamp(seconds, zone)
        read = fmt.epoch(written.isoformat(timespec="milliseconds"))
        assert read is not None
        assert abs(read - seconds) < 0.002


@pytest.mark.parametrize(
    ("value", "text"),
    [(None, "–"), (0, "0 B"), (642 << 20, "642 MiB"), (75161927680, "70.0 GiB"), (999, "999 B"),
     (1000 << 10, "1 MiB"), (500 << 30, "500 GiB")],
)  # fmt: skip
def test_sizes(value: int | None, text: str):
    assert fmt.size(value) == text
