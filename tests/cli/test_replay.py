"""`roost replay`: its document, its tables, its page, and what it says when it cannot."""

from __future__ import annotations

import gzip
import json
import os
import pty
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from roost.cli.terminal import width
from tests.cli.conftest import Roost

ZH = {"LANG": "zh_CN.UTF-8"}
HEADER = "job_id,user,vc,submit_s,gpus,duration_s,estimate_s,priority,state\n"
# Two GPUs. al's two long jobs hold them, then three short ones of bo wait.
ROWS = (
    "1,al,v,0,1,100,,,\n2,al,v,0,1,100,,,\n"
    "3,bo,s,10,1,20,,,\n4,bo,s,10,1,20,,,\n5,bo,s,10,2,20,,,\n"
)
KEYS = {
    "policy", "seed", "jobs", "mean_jct_s", "median_jct_s", "p99_jct_s", "mean_queue_delay_s",
    "p99_queue_delay_s", "max_queue_delay_s", "mean_bounded_slowdown", "utilisation",
    "utilisation_submit_window", "occupancy", "makespan_s", "preemptions", "lost_gpu_h", "jain",
    "jobs_per_s",
}  # fmt: skip
THROUGHPUT = '[scheduling]\nmode = "throughput"\nmargin = "0s"\nmin_run = "0s"\n'


@pytest.fixture
def trace(tmp_path: Path) -> str:
    path = tmp_path / "jobs.csv"
    path.write_text(HEADER + ROWS)
    return str(path)


def document(roost: Roost, *words: str) -> dict[str, Any]:
    done = roost("replay", *words, "--json")
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_one_object_for_each_policy_with_figures_as_computed_by_hand(
    roost: Roost, trace: str
) -> None:
    found = document(roost, trace, "--servers", "1x2", "--baseline", "fifo", "--baseline", "srtf",
                     "--restart-cost", "0s")  # fmt: skip
    fifo, srtf = found["runs"]
    assert set(fifo) >= KEYS
    assert (fifo["policy"], fifo["seed"], fifo["jobs"]) == ("fifo", None, 5)
    # 1 and 2 end at 100, 3 and 4 at 120, 5 at 140: completions 100, 100, 110, 110, 130.
    assert fifo["mean_jct_s"] == pytest.approx(110)
    assert fifo["median_jct_s"] == 110
    assert fifo["mean_queue_delay_s"] == pytest.approx((0 + 0 + 90 + 90 + 110) / 5)
    assert fifo["max_queue_delay_s"] == 110
    assert fifo["makespan_s"] == 140
    assert fifo["utilisation"] == pytest.approx(1.0)
    assert fifo["mean_bounded_slowdown"] == pytest.approx((1 + 1 + 5.5 + 5.5 + 6.5) / 5)
    # The short ones go first: 3, 4 end at 30, 5 at 50, then 1 and 2 have 90 s left: 140.
    assert srtf["mean_jct_s"] == pytest.approx((140 + 140 + 20 + 20 + 40) / 5)
    assert (srtf["preemptions"], srtf["lost_gpu_h"], srtf["makespan_s"]) == (2, 0, 140)
    assert found["estimates"] == "exact", "nobody said walltimes, and a textbook needs them"


def test_without_a_baseline_the_rules_are_replayed(roost: Roost, trace: str) -> None:
    found = document(roost, trace, "--servers", "1x2")
    assert [run["policy"] for run in found["runs"]] == ["rules"]
    assert (found["gpus"], found["estimates"], found["changes"]) == (2, "trace", None)


def test_noisy_walltimes_give_one_object_a_seed_and_the_same_again(
    roost: Roost, trace: str
) -> None:
    words = (trace, "-s", "1x2", "-b", "sjf", "--estimates", "noisy", "--seeds", "3")
    first, again = document(roost, *words), document(roost, *words)
    assert [run["seed"] for run in first["runs"]] == [1, 2, 3]
    for run in (*first["runs"], *again["runs"]):
        del run["jobs_per_s"]
    assert first == again
    shown = roost("replay", *words).stdout
    assert "medians of 3 seeds" in shown


def test_against_says_for_whom_it_changes(roost: Roost, trace: str, tmp_path: Path) -> None:
    other = tmp_path / "other.toml"
    other.write_text(THROUGHPUT + "[fair_share]\nweight = 0\n")
    words = (trace, "-s", "1x2", "--against", str(other), "--estimates", "exact")
    found = document(roost, *words, "--restart-cost", "0s")
    assert [run["policy"] for run in found["runs"]] == ["rules", "against"]
    by_name = {change["who"]: change for change in found["changes"]}
    assert by_name["bo"]["after_s"] < by_name["bo"]["before_s"]
    assert by_name["bo"]["jobs"] == 3
    done = roost("replay", *words)
    assert "change" in done.stdout.splitlines()[4]
    assert "Whom --against touches most" in done.stdout
    same = roost("replay", trace, "-s", "1x2", "--against", "/dev/null").stdout
    assert "--against changes nothing for anybody." in same


@pytest.mark.parametrize("environment", [{}, ZH])
def test_tables_fit_80_columns(roost: Roost, trace: str, environment: dict[str, str]) -> None:
    every = [word for name in ("fifo", "easy", "conservative", "sjf", "srtf", "srsf")
             for word in ("-b", name)]  # fmt: skip
    by = [word for name in ("user", "group", "class", "size") for word in ("--by", name)]
    done = roost("replay", trace, "-s", "1x2", *every, *by, environment=environment)
    assert done.returncode == 0, done.stderr
    assert max(width(line) for line in done.stdout.splitlines()) <= 80
    assert ("按用户，srsf：" if environment else "By person, srsf:") in done.stdout


def test_groups_are_in_the_document_where_asked_for(roost: Roost, trace: str) -> None:
    run = document(roost, trace, "-s", "1x2", "--by", "user", "--by", "size")["runs"][0]
    assert [(each["key"], each["jobs"]) for each in run["by_user"]] == [("al", 2), ("bo", 3)]
    assert [(each["key"], each["jobs"]) for each in run["by_size"]] == [("1", 4), ("2", 1)]
    assert "by_class" not in run


def test_what_is_left_out_and_assumed_is_said(roost: Roost, tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    rows = "1,a,g,0,8,5,,,\n2,a,g,0,0.5,5,,,\n3,a,g,0,1.5,5,,,\n4,a,g,0,1,,,,\n"
    path.write_text(HEADER + rows)
    found = document(roost, str(path), "-s", "1x4")
    assert found["left_out"] == {"no_duration": 1, "too_large": 1}
    assert found["runs"][0]["jobs"] == 2
    shown = roost("replay", str(path), "-s", "1x4").stdout
    assert "1 larger than all servers" in shown
    assert "all GPUs are marked as shared" in shown
    assert "rounded up" in shown
    assert roost("replay", str(path), "-s", "1x1").returncode == 0


def test_gzip_and_standard_input_are_read_whatever_they_are_called(
    roost: Roost, trace: str, tmp_path: Path
) -> None:
    packed = tmp_path / "packed"
    packed.write_bytes(gzip.compress((HEADER + ROWS).encode()))
    assert document(roost, str(packed), "-s", "1x2")["runs"][0]["jobs"] == 5
    done = roost("replay", "-", "-s", "1x2", "--json", text=HEADER + ROWS)
    assert json.loads(done.stdout)["runs"][0]["jobs"] == 5


def test_the_three_formats_are_told_apart(roost: Roost, tmp_path: Path) -> None:
    swf = tmp_path / "log.txt"
    swf.write_text("; a comment\n1 0 0 60 1 -1 -1 1 90 -1 1 1 1 -1 -1 -1 -1 -1\n")
    assert document(roost, str(swf), "-s", "1x2")["runs"][0]["makespan_s"] == 60
    sacct = Path(__file__).parents[1] / "data" / "traces" / "small_sacct.txt"
    assert document(roost, str(sacct), "-s", "1x8")["runs"][0]["jobs"] == 3


@pytest.mark.parametrize(
    ("content", "words", "code", "en", "zh"),
    [
        ("", (), 1, "the trace has no line", "作业记录文件是空的"),
        (HEADER + "1,a,g,x,1,5,,,\n", (), 1, "line 2, column submit_s: “x”", "第 2 行 submit_s 列"),
        ("job_id,gpus\n", (), 1, "has no column submit_s", "缺少列 submit_s"),
        (HEADER, (), 1, "no job that ran", "没有在 GPU 上运行过的作业"),
        (HEADER + "1,a,g,0,9,5,,,\n", (), 1, "the smallest for 9", "最小的申请 9 张"),
        ("what is this", (), 1, "say --format", "请用 --format"),
        (b"\x1f\x8b\x08\x00", (), 1, "cannot be unpacked", "解压失败"),
        (b"\xff\xfe\x00a", (), 1, "neither text nor packed", "既不是文本"),
        (HEADER + ROWS, ("-s", "0x2"), 1, "write servers x GPUs", "请写成"),
        (HEADER + ROWS, ("--rules", "/none.toml"), 1, "/none.toml", "/none.toml"),
        (HEADER + ROWS, ("-b", "best"), 2, "is not one of", "不在可选范围"),
        (HEADER + ROWS, ("--restart-cost", "7"), 2, "not a length of time", "不是时长"),
    ],
)
def test_what_cannot_be_replayed_is_named(
    roost: Roost, tmp_path: Path, content: str | bytes, words: tuple[str, ...], code: int, en: str,
    zh: str,
) -> None:  # fmt: skip
    path = tmp_path / "trace"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    given = (str(path), "-s", "1x2", *words)
    done, said = roost("replay", *given), roost("replay", *given, environment=ZH)
    assert done.returncode == said.returncode == code
    assert done.stdout == ""
    assert en in done.stderr
    assert zh in said.stderr
    assert "Traceback" not in done.stderr


def test_jobs_that_can_never_start_are_named(roost: Roost, trace: str, tmp_path: Path) -> None:
    rules = tmp_path / "rules.toml"
    rules.write_text("[limits.per_user]\nmax_gpus = 1\n")
    done = roost("replay", trace, "-s", "1x2", "--rules", str(rules))
    assert done.returncode == 1
    assert "rules: 1 jobs can never start on 1x2: 5." in done.stderr


def test_servers_are_asked_for(roost: Roost, trace: str) -> None:
    done = roost("replay", trace)
    assert (done.returncode, "on what servers?" in done.stderr) == (2, True)
    assert roost("replay", "-s", "1x2").returncode == 2


def test_progress_is_written_to_a_terminal_alone(trace: str) -> None:
    pid, master = pty.fork()
    if pid == 0:
        os.environ.update(LC_ALL="C.UTF-8", TERM="dumb")
        os.execv(
            sys.executable,
            [sys.executable, "-m", "roost", "replay", trace, "-s", "1x2", "-b", "fifo", "--json"],
        )
    shown = b""
    while True:
        try:
            data = os.read(master, 4096)
        except OSError:
            break
        if not data:
            break
        shown += data
    _, status = os.waitpid(pid, 0)
    os.close(master)
    assert os.waitstatus_to_exitcode(status) == 0
    assert b"fifo (1 of 1): 0 of 5 jobs" in shown


class Page(HTMLParser):
    """What a page is made of; fails where a tag is not closed."""

    VOID = ("meta", "path", "polyline", "br")

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.words: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words.append(data)


@pytest.mark.parametrize("environment", [{}, ZH])
def test_the_page_stands_alone_and_trusts_no_name(
    roost: Roost, tmp_path: Path, environment: dict[str, str]
) -> None:
    trace = tmp_path / "jobs.csv"
    trace.write_text(HEADER + ROWS.replace(",al,", ",<script>alert(1)</script>&,"))
    html = tmp_path / "page.html"
    done = roost(
        "replay", str(trace), "-s", "1x2", "-b", "fifo", "-b", "srtf", "--html", str(html),
        environment=environment,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    page = Page()
    page.feed(html.read_text(encoding="utf-8"))
    assert page.open == []
    assert page.tags.count("figure") == 3
    assert page.tags.count("polyline") == 6
    assert "script" not in page.tags
    assert "<script>alert(1)</script>&" in page.words
    assert ("lang", "zh-CN" if environment else "en") in page.attributes
    linked = [value for name, value in page.attributes if name in ("src", "href", "action")]
    assert linked == []
    assert ("占用的 GPU" if environment else "GPUs held") in page.words


def test_a_page_that_cannot_be_written_is_said(roost: Roost, trace: str) -> None:
    done = roost("replay", trace, "-s", "1x2", "--html", "/none/page.html")
    assert done.returncode == 1
    assert done.stderr == "roost replay: /none/page.html: No such file or directory\n"


def test_an_event_log_is_decided_again(roost: Roost, tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    begin = '{"roost_events":1,"roost":"1"}\n{"scheduler":{"look_first":false}}\n'
    path.write_text(begin + '{"events":[["TimeReached",{"at":5}]],"decisions":[]}\n')
    done = roost("replay", "--events", str(path))
    assert (done.returncode, done.stderr) == (0, "")
    assert "the same 0 decisions" in done.stdout
    wrong = (
        '{"events":[["TimeReached",{"at":5}]],"decisions":[["Finish",{"job":1,"reason_code":"x"}]]}'
    )
    path.write_text(begin + wrong)
    done = roost("replay", "--events", str(path), environment=ZH)
    assert done.returncode == 1
    assert "第 3 行：与 Roost 1 在 1970-01-01 00:00:05+00:00 的决定不同" in done.stdout
    assert json.loads(roost("replay", "--events", str(path), "--json").stdout)["same"] is False
    path.write_text("nothing")
    assert "is not JSON" in roost("replay", "--events", str(path)).stderr
