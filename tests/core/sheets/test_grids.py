"""Grids as teams draw them: any of GPUs, days, slots and servers along any side."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta

from openpyxl.styles import Font

from roost.cli.sheet_xlsx import pages
from tests.core.sheets.book import (
    SETTING,
    lines,
    read,
    read_csv,
    read_rows,
    refused,
    saved,
    workbook,
)


def test_days_across_below_a_merged_month_and_gpus_down() -> None:
    found = read_rows(
        [
            ["GPU", "2026年12月", None, None, None],
            [None, 7, 8, 9, 10],
            ["GPU0", "alice", "alice", None, "bob"],
            ["GPU1", "alice", "alice", None, None],
            ["GPU2-3", None, None, "carol", "-"],
        ],
        merged=["B1:E1", "A1:A2"],
    )
    assert lines(found) == [
        "alice 0,1 12-07 00:00 12-09 00:00",
        "bob 0 12-10 00:00 12-11 00:00",
        "carol 2,3 12-09 00:00 12-10 00:00",
    ]


def test_a_month_of_31_days_across_with_the_year_from_the_sheets_name() -> None:
    days = [f"{day}日" for day in range(1, 32)]
    found = read_rows(
        [["卡号", *days], ["0", *["小王"] * 31], ["1", *[None] * 30, "小李"]], title="2027年1月"
    )
    assert lines(found) == ["小王 0 01-01 00:00 02-01 00:00", "小李 1 01-31 00:00 02-01 00:00"]
    assert found["bookings"][0]["start"].startswith("2027")


def test_servers_over_gpus_across_and_days_down() -> None:
    setting = replace(SETTING, gpus={"box": 4, "gpu01": 2})
    found = read_rows(
        [
            ["Date", "box", None, "gpu01", None, "Remarks"],
            [None, "GPU 0", "GPU 1", "GPU 0", "GPU 1", None],
            ["Dec 7", "alice", "alice", "alice", None, "alice is away in the evening"],
            ["Dec 8", None, "bob", "bob", "bob", None],
        ],
        merged=["B1:C1", "D1:E1", "A1:A2"],
        setting=setting,
    )
    assert lines(found) == [
        "alice box:0,1 12-07 00:00 12-08 00:00",
        "alice gpu01:0 12-07 00:00 12-08 00:00",
        "bob box:1 12-08 00:00 12-09 00:00",
        "bob gpu01:0,1 12-08 00:00 12-09 00:00",
    ]


def test_hours_down_with_the_day_only_on_its_first_row() -> None:
    found = read_csv(
        "日期,时间,卡0,卡1\n12月7日,8:00-12:00,小王,\n,12:00-18:00,小王,小李\n,18-24,空闲,小李\n"
        "12月8日,8:00-12:00,,小王\n"
    )
    assert lines(found) == [
        "小王 0 12-07 08:00 12-07 18:00",
        "小李 1 12-07 12:00 12-08 00:00",
        "小王 1 12-08 08:00 12-08 12:00",
    ]


def test_weekdays_across_with_the_week_in_the_title_and_slots_down() -> None:
    found = read_rows(
        [
            ["gpu使用表 第50周", *[None] * 7],
            ["时段", *(f"周{day}" for day in "一二三四五六日")],
            ["上午", "张三 0-3", None, "李四 GPU4", None, None, None, None],
            ["下午", "张三 0-3", None, None, None, None, None, "王五 全部"],
        ],
        merged=["A1:H1"],
    )
    assert lines(found) == [
        "张三 0,1,2,3 12-07 08:00 12-07 18:00",
        "李四 4 12-09 08:00 12-09 12:00",
        "王五 all 12-13 12:00 12-13 18:00",
    ]


def test_weekdays_without_a_week_are_told() -> None:
    found = read_csv("GPU,Mon,Tue\n0,alice,\n1,,bob\n")
    assert lines(found) == []
    assert refused(found)[0] == "cell B1: 'Mon' is no date: the sheet does not say of which week"


def test_times_and_purposes_within_a_cell() -> None:
    found = read_csv(
        'Date,GPU0,GPU1\n2026-12-07,alice 9-12,"alice 9-12, bob 13-18"\n'
        '2026-12-08,"carol (pretrain)","carol (pretrain)"\n2026-12-09,"alice\n13:00-18:00",\n'
    )
    assert lines(found) == [
        "alice 0,1 12-07 09:00 12-07 12:00",
        "bob 1 12-07 13:00 12-07 18:00",
        "carol 0,1 12-08 00:00 12-09 00:00 pretrain",
        "alice 0 12-09 13:00 12-09 18:00",
    ]


def test_bare_numbers_as_gpus_and_real_dates() -> None:
    first = date(2026, 12, 7)
    found = read_rows(
        [
            ["", 0, 1, 2, 3],
            *[[first + timedelta(days=n), "alice", None, "bob", "x"] for n in range(3)],
        ]
    )
    assert lines(found) == ["alice 0 12-07 00:00 12-10 00:00", "bob 2 12-07 00:00 12-10 00:00"]


def test_week_after_week_each_with_its_own_head() -> None:
    found = read_csv(
        "Date,GPU0,GPU1\nDec 7,alice,\nDec 8,alice,bob\n,,\nDate,GPU0,GPU1\nDec 14,,bob\n"
    )
    assert lines(found) == [
        "alice 0 12-07 00:00 12-09 00:00",
        "bob 1 12-08 00:00 12-09 00:00",
        "bob 1 12-14 00:00 12-15 00:00",
    ]


def test_a_struck_cell_is_left_out_and_a_wrong_day_told() -> None:
    book = workbook(
        [["Date", "GPU0", "GPU1"], ["Dec 7", "alice", "bob"], ["Dec 32", "alice", None]]
    )
    sheet = book.active
    assert sheet is not None
    sheet["B2"].font = Font(strike=True)
    found = read(pages(saved(book), "x.xlsx"))
    assert lines(found) == ["bob 1 12-07 00:00 12-08 00:00"]
    assert refused(found) == ["row 3: there is no 32 December"]
    assert found["notes"] == "cell B2: struck out: left out"


def test_a_merged_cell_over_days_that_do_not_touch_is_told() -> None:
    found = read_rows(
        [["Date", "GPU0"], ["Dec 7", "alice"], ["Dec 9", None], ["Dec 10", "bob"]],
        merged=["B2:B3"],
    )
    assert lines(found) == ["bob 0 12-10 00:00 12-11 00:00"]
    assert refused(found) == ["cell B2: the merged cell runs over times that do not touch"]


def test_gpus_that_the_server_has_not() -> None:
    found = read_csv("Date,GPU0,GPU8\nDec 7,alice,alice\nDec 8,bob,\n")
    assert lines(found) == ["alice 0 12-07 00:00 12-08 00:00", "bob 0 12-08 00:00 12-09 00:00"]
    assert refused(found) == ["cell C2: this server has GPUs 0-7, not 8"]


def test_slots_that_overlap_are_both_understood_and_the_clash_is_told() -> None:
    found = read_csv("日期,时段,卡0\n12月7日,通宵,小赵\n12月8日,全天,小李\n")
    assert len(found["bookings"]) == 2
    assert found["clashes"] == ["cell C3"]
    assert found["notes"] == "cell C3: GPU 0 is taken by 小赵 until 08:00"
