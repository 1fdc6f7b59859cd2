"""Cells by themselves: dates, times and GPUs in every writing that people use."""

from __future__ import annotations

from datetime import date, datetime, time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roost.core.sheets.columns import field_of
from roost.core.sheets.dates import Calendar
from roost.core.sheets.gpus import read_gpus
from roost.core.sheets.model import UnreadError, Wanted
from roost.core.sheets.whens import read_when

TODAY = date(2026, 12, 2)
CALENDAR = Calendar(TODAY, TODAY)
CHINESE = Calendar(TODAY, TODAY, order="mdy")
DEC = date(2026, 12, 7)


@pytest.mark.parametrize(
    "text",
    [
        "2026-12-07",
        "2026/12/7",
        "2026.12.7",
        "20261207",
        "2026年12月7日",
        "2026 年 12 月 7 号",
        "12月7日",
        "12月7日 周一",
        "周一 12/7",
        "12月7日(星期一)",
        "Dec 7",
        "Dec. 7th, 2026",
        "7 December 2026",
        "7. Dec",
        "Monday, Dec 7",
        "Mon 7 Dec",
        "12/7/2026",
        "12/7/26",
        "7.12.2026",
        "7.12.",
        "十二月七日",
        "１２月７日",
        "２０２６／１２／７",
        "12-7",
        "46363",
        "December 7",
        "7-Dec-2026",
        "dec 7",
        "12/7",
    ],
)
def test_a_date_in_any_writing(text: str) -> None:
    assert read_when(text, CALENDAR, {}, "date").first == DEC, text


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("9-18", "09:00", "18:00"),
        ("9:00–12:00", "09:00", "12:00"),
        ("13h-17h", "13:00", "17:00"),
        ("18-9", "18:00", "33:00"),
        ("22-24", "22:00", "24:00"),
        ("９：００～１２：００", "09:00", "12:00"),
        ("下午2点到5点", "14:00", "17:00"),
        ("下午两点至五点半", "14:00", "17:30"),
        ("上午9点-下午6点", "09:00", "18:00"),
        ("9am-5pm", "09:00", "17:00"),
        ("9 a.m. to 5 p.m.", "09:00", "17:00"),
        ("2-5pm", "14:00", "17:00"),
        ("9-5pm", "09:00", "17:00"),
        ("10pm-2am", "22:00", "26:00"),
        ("0900-1730", "09:00", "17:30"),
        ("9点～次日8点", "09:00", "32:00"),
        ("22:00-次日6:00", "22:00", "30:00"),
        ("晚上8点到12点", "20:00", "24:00"),
        ("上午", "08:00", "12:00"),
        ("下午", "12:00", "18:00"),
        ("通宵", "23:00", "32:00"),
        ("整天", "00:00", "24:00"),
        ("all day", "00:00", "24:00"),
        ("over night", "23:00", "32:00"),
        ("Morning", "08:00", "12:00"),
        ("上午+下午", "08:00", "18:00"),
        ("上下午", "08:00", "18:00"),
        ("morning & afternoon", "08:00", "18:00"),
        ("下午-晚上", "12:00", "23:00"),
        ("上午 9 点 30 分 - 11 点", "09:30", "11:00"),
        ("noon-6pm", "12:00", "18:00"),
        ("中午12点-下午3点", "12:00", "15:00"),
        ("9:00-12:00 ", "09:00", "12:00"),
        ("00:00-24:00", "00:00", "24:00"),
        ("凌晨1点-3点", "01:00", "03:00"),
        ("早上8点到晚上10点", "08:00", "22:00"),
        ("9 until 18", "09:00", "18:00"),
    ],
)
def test_a_span_of_time_in_any_writing(text: str, start: str, end: str) -> None:
    when = read_when(text, CALENDAR, {}, "time")
    shown = [f"{m // 60:02d}:{m % 60:02d}" for m in (when.start, when.end) if m is not None]
    assert shown == [start, end]


@pytest.mark.parametrize(
    ("text", "first", "start", "last", "end"),
    [
        ("12月7日 9:00-18:00", DEC, 540, None, 1080),
        ("Dec 7 9-18", DEC, 540, None, 1080),
        ("12/7 20:00 - 12/8 8:00", DEC, 1200, date(2026, 12, 8), 480),
        ("12月7日 晚上8点 ~ 12月8日 上午8点", DEC, 1200, date(2026, 12, 8), 480),
        ("2026-12-07 09:00", DEC, 540, None, None),
        ("2026-12-07T09:00:00", DEC, 540, None, None),
        ("12/7-12/9", DEC, None, date(2026, 12, 9), None),
        ("Dec 7-9", DEC, None, date(2026, 12, 9), None),
        ("7-9 Dec", DEC, None, date(2026, 12, 9), None),
        ("12月7日-9日", DEC, None, date(2026, 12, 9), None),
        ("第50周", DEC, None, date(2026, 12, 13), None),
        ("Week 50", DEC, None, date(2026, 12, 13), None),
        ("2026-W50", DEC, None, date(2026, 12, 13), None),
        ("week of Dec 9", DEC, None, date(2026, 12, 13), None),
        ("12月7日 通宵", DEC, 1380, None, 1920),
        (datetime.fromisoformat("2026-12-07T08:59:59.999"), DEC, 540, None, None),
        (46363.375, DEC, 540, None, None),
        ("46363.375", DEC, 540, None, None),
        (DEC, DEC, None, None, None),
    ],
)
def test_dates_and_times_in_one_cell(
    text: Any, first: date, start: int | None, last: date | None, end: int | None
) -> None:
    when = read_when(text, CALENDAR, {}, "date")
    assert (when.first, when.start, when.last, when.end) == (first, start, last, end)


def test_clocks_of_a_spreadsheet() -> None:
    assert read_when(time(9, 30), CALENDAR, {}, "time").start == 570
    assert read_when(0.375, CALENDAR, {}, "time").start == 540
    assert read_when(9, CALENDAR, {}, "time").start == 540


@pytest.mark.parametrize(
    ("text", "prefer", "reason"),
    [
        ("tomorrow", "date", "'tomorrow' is no date"),
        ("Dec 32", "date", "there is no 32 December"),
        ("2月30日", "date", "there is no 30 February"),
        ("2027-02-29", "date", "there is no 29 February 2027"),
        ("13/32", "date", "'13/32' is no date"),
        ("2026-13-01", "date", "'2026-13-01' is no date"),
        ("12月7日 周二", "date", "'12月7日 周二': 2026-12-07 is a Monday"),
        ("周三", "date", "'周三' is no date: the sheet does not say of which week"),
        ("7日", "date", "'7日' is no date: the sheet does not say of which month"),
        ("半天", "time", "'半天' does not say which half of the day"),
        ("soon", "time", "'soon' is no time"),
        ("25:00-26:00", "time", "'25:00' is no time"),
        ("9:00-9:00", "time", "'9:00-9:00' ends when it begins"),
        (
            "9-5",
            "time",
            "'9-5' may be 09:00 to 17:00, or to 05:00 of the next day; write all 24 hours",
        ),
    ],
)
def test_what_cannot_be_read_says_why(text: str, prefer: str, reason: str) -> None:
    with pytest.raises(UnreadError) as caught:
        read_when(text, CALENDAR, {}, prefer)
    assert caught.value.phrase.text() == reason
    assert caught.value.phrase.text("zh")


def test_month_and_day_that_may_be_the_other_way_round() -> None:
    january = Calendar(date(2027, 1, 20), date(2027, 1, 20))
    with pytest.raises(UnreadError) as caught:
        read_when("2/3", january, {}, "date")
    assert "2027-02-03 or 2027-03-02" in caught.value.phrase.text()
    with pytest.raises(UnreadError):
        read_when("2/12", CALENDAR, {}, "date")
    assert read_when("4/12", CALENDAR, {}, "date").first == date(2026, 12, 4)
    assert read_when("4/12 Fri", CALENDAR, {}, "date").first == date(2026, 12, 4)
    assert read_when("2/12", CHINESE, {}, "date").first == date(2027, 2, 12)
    by_day = Calendar(TODAY, TODAY, order="dmy")
    assert read_when("12/2", by_day, {}, "date").first == date(2027, 2, 12)


def test_slots_of_the_rules_come_before_the_usual_ones() -> None:
    slots = {"上午": (540, 720), "早班": (420, 900), "通宵": (1320, 1860)}
    assert read_when("上午", CALENDAR, slots, "time").start == 540
    assert read_when("morning", CALENDAR, slots, "time").start == 540
    assert read_when("早班", CALENDAR, slots, "time").end == 900
    assert read_when("下午", CALENDAR, slots, "time").start == 720


@pytest.mark.parametrize(
    ("text", "these"),
    [
        ("0,1", (0, 1)),
        ("0、1", (0, 1)),
        ("2-5", (2, 3, 4, 5)),
        ("2~5", (2, 3, 4, 5)),
        ("GPU 0-3", (0, 1, 2, 3)),
        ("GPU0-3", (0, 1, 2, 3)),
        ("#4", (4,)),
        ("4 & 5", (4, 5)),
        ("4和5", (4, 5)),
        ("卡0", (0,)),
        ("4号卡", (4,)),
        ("0-3号卡", (0, 1, 2, 3)),
        ("GPU0, GPU1", (0, 1)),
        ("0 1 2", (0, 1, 2)),
        ("[0, 1]", (0, 1)),
        ("０，１", (0, 1)),
        ("第3卡", (3,)),
        ("0-1, 4-5", (0, 1, 4, 5)),
        ("gpu:7", (7,)),
        ("0/1", (0, 1)),
        ("0;1", (0, 1)),
        (3, (3,)),
        (3.0, (3,)),
        ("0到3", (0, 1, 2, 3)),
        ("GPU0-GPU3", (0, 1, 2, 3)),
        ("0 and 1", (0, 1)),
        ("1,1,0", (0, 1)),
    ],
)
def test_gpus_by_number(text: Any, these: tuple[int, ...]) -> None:
    assert read_gpus(text) == Wanted(these)


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("4卡", 4),
        ("4张", 4),
        ("四张卡", 4),
        ("4 GPUs", 4),
        ("any 2", 2),
        ("任意4张", 4),
        ("2xA100", 2),
        ("x4", 4),
        ("1 GPU", 1),
        ("两块", 2),
        ("4 cards", 4),
    ],
)
def test_gpus_by_count(text: str, count: int) -> None:
    assert read_gpus(text) == Wanted(count=count)


@pytest.mark.parametrize("text", ["全部", "all", "ALL", "整机", "所有卡", "All GPUs", "全卡"])
def test_every_gpu(text: str) -> None:
    assert read_gpus(text) == Wanted(every=True)


@pytest.mark.parametrize(
    "value",
    [
        "",
        None,
        "a few",
        0.1,
        "5-2",
        datetime.fromisoformat("2026-02-05"),
        "99999999999",
        True,
        "-1",
        "0,x",
    ],
)
def test_no_gpus(value: Any) -> None:
    with pytest.raises(UnreadError) as caught:
        read_gpus(value)
    assert caught.value.phrase.text() and caught.value.phrase.text("zh")


@pytest.mark.parametrize(
    ("head", "name"),
    [
        ("开始时间 (Start)", "start"),
        ("Name / 姓名", "user"),
        ("GPU 卡号", "gpus"),
        ("结束时间*", "end"),
        ("用途（必填）", "purpose"),
        ("Number of GPUs", "count"),
        ("How long?", "duration"),
        ("Timestamp", None),
        ("序号", None),
        ("使用人", "user"),
        ("To", "end"),
        ("使用时间：", "time"),
    ],
)
def test_heads_of_columns(head: str, name: str | None) -> None:
    assert field_of(head) == name


def read_or_refused(value: Any) -> None:
    """Reads the value in every way; what refuses it must say why in both languages."""
    ways = (
        lambda: read_when(value, CALENDAR, {}, "date"),
        lambda: read_when(value, CALENDAR, {}, "time"),
        lambda: read_gpus(value),
    )
    for way in ways:
        reason = None
        try:
            way()
        except UnreadError as error:
            reason = error.phrase
        assert reason is None or (reason.text() and reason.text("zh"))


@given(st.text(max_size=30) | st.floats(allow_nan=False, allow_infinity=False) | st.integers())
def test_any_cell_is_read_or_refused(value: Any) -> None:
    read_or_refused(value)


@given(st.text(alphabet="0123456789-/.: 年月日周一点半上下午~到号卡amp,GPUdecw", max_size=16))
def test_any_likely_text_is_read_or_refused(value: str) -> None:
    read_or_refused(value)
