"""Lists of bookings as teams keep them, each a sheet of its own."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, datetime, time
from zoneinfo import ZoneInfo

from openpyxl.styles import Font

from roost.cli.sheet_csv import page
from roost.cli.sheet_xlsx import pages
from roost.core.sheets.instants import as_utc
from roost.core.sheets.read import understand
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


def test_columns_in_another_order_below_a_title_and_a_blank_row() -> None:
    found = read_rows(
        [
            ["GPU bookings of the vision lab", None, None, None],
            [],
            ["To", "From", "Which GPUs", "Booked by", "Timestamp"],
            ["2026-12-07 18:00", "2026-12-07 09:00", "0-1", "Alice", "2026-12-01 10:00"],
        ]
    )
    assert lines(found) == ["alice 0,1 12-07 09:00 12-07 18:00"]
    assert found["sheets"][0]["header_row"] == 3


def test_chinese_with_full_width_digits_and_separate_dates_and_times() -> None:
    found = read_rows(
        [
            ["序号", "姓名", "日期", "时间段", "卡数", "项目", "备注"],
            [1, "张三", "12月7日", "９：００～１２：００", 2, "检测", ""],
            [2, "李四", "12月7日（周一）", "下午2点到5点", "4卡", "分割", ""],
            [3, "王 五", "12月8号", "通宵", 1, "", "急"],
            [4, "赵六", "12.9", "半天", 1, "", ""],
        ]
    )
    assert lines(found) == [
        "张三 any2 12-07 09:00 12-07 12:00 检测",
        "李四 any4 12-07 14:00 12-07 17:00 分割",
        "王 五 any1 12-08 23:00 12-09 08:00",
    ]
    assert refused(found) == ["row 5: '半天' does not say which half of the day"]


def test_two_rows_of_heads_with_merged_cells() -> None:
    found = read_rows(
        [
            ["姓名", "GPU卡号", "使用时间", None, "用途"],
            [None, None, "开始", "结束", None],
            ["张三", "卡0", "12/7 9:00", "12/7 18:00", "训练"],
            ["李四", "4号卡", "12/8", "12/10", ""],
        ],
        merged=["A1:A2", "B1:B2", "C1:D1", "E1:E2"],
    )
    assert lines(found) == [
        "张三 0 12-07 09:00 12-07 18:00 训练",
        "李四 4 12-08 00:00 12-11 00:00",
    ]


def test_a_date_merged_over_several_rows() -> None:
    found = read_rows(
        [
            ["Date", "Time", "Name", "GPU"],
            [date(2026, 12, 7), "9-12", "alice", 0],
            [None, "13-18", "bob", 0],
            [date(2026, 12, 8), "all day", "carol", "GPU0-3"],
        ],
        merged=["A2:A3"],
    )
    assert lines(found) == [
        "alice 0 12-07 09:00 12-07 12:00",
        "bob 0 12-07 13:00 12-07 18:00",
        "carol 0,1,2,3 12-08 00:00 12-09 00:00",
    ]


def test_dates_and_times_in_four_columns_and_as_serials() -> None:
    found = read_rows(
        [
            ["User", "GPUs", "Start date", "Start time", "End date", "End time"],
            ["alice", "1", 46363, 0.375, 46363, 0.75],
            [
                "bob",
                "2",
                datetime.fromisoformat("2026-12-07"),
                time(22, 0),
                datetime.fromisoformat("2026-12-08"),
                time(6, 0),
            ],
        ]
    )
    assert lines(found) == [
        "alice 1 12-07 09:00 12-07 18:00",
        "bob 2 12-07 22:00 12-08 06:00",
    ]


def test_a_duration_instead_of_an_end() -> None:
    found = read_csv(
        "name,gpu,start,hours\nalice,0,2026-12-07 09:00,8\nbob,1,2026-12-07,2 days\n"
        "carol,2,2026-12-07 09:00,1.5h\ndave,3,2026-12-07 09:00,a while\n"
    )
    assert lines(found) == [
        "alice 0 12-07 09:00 12-07 17:00",
        "bob 1 12-07 00:00 12-09 00:00",
        "carol 2 12-07 09:00 12-07 10:30",
    ]
    assert refused(found) == ["row 5: 'a while' is no duration; write 8h or 2 days"]


def test_weeks_and_ranges_of_days() -> None:
    found = read_csv(
        "Who,Card,When\nalice,0,Week 50\nbob,1,Dec 7-9\ncarol,2,12/7 - 12/8\ndave,3,2026-W51\n"
    )
    assert lines(found) == [
        "alice 0 12-07 00:00 12-14 00:00",
        "bob 1 12-07 00:00 12-10 00:00",
        "carol 2 12-07 00:00 12-09 00:00",
        "dave 3 12-14 00:00 12-21 00:00",
    ]


def test_a_day_that_may_be_of_two_months_is_told_and_the_sheet_can_decide() -> None:
    unsure = read_csv("Name,GPU,Start,End\nalice,0,2/12 9:00,2/12 18:00\n")
    assert lines(unsure) == []
    assert refused(unsure) == [
        "row 2: '2/12' may be 2027-02-12 or 2026-12-02; write the date in full, or say"
        " --dates mdy or dmy"
    ]
    by_day = replace(SETTING, order="dmy")
    assert lines(read_csv("Name,GPU,Start,End\nalice,0,2/12 9:00,2/12 18:00\n", by_day)) == [
        "alice 0 12-02 09:00 12-02 18:00"
    ]
    shown = read_csv("Name,GPU,Start,End\nalice,0,2/12 9:00,2/12 18:00\nbob,1,14/12,15/12\n")
    assert lines(shown) == [
        "alice 0 12-02 09:00 12-02 18:00",
        "bob 1 12-14 00:00 12-16 00:00",
    ]


def test_struck_out_cancelled_and_empty_rows_are_left_out_and_told() -> None:
    book = workbook(
        [
            ["Name", "GPU", "Start", "End", "Status"],
            ["alice", "0", "2026-12-07 09:00", "2026-12-07 18:00", ""],
            ["bob", "1", "2026-12-07 09:00", "2026-12-07 18:00", ""],
            ["carol", "2", "2026-12-07 09:00", "2026-12-07 18:00", "cancelled"],
            ["  ", None, "", None, None],
            ["please ask before you change anything", None, None, None, None],
        ]
    )
    sheet = book.active
    assert sheet is not None
    sheet["A3"].font = Font(strike=True)
    found = read(pages(saved(book), "x.xlsx"))
    assert lines(found) == ["alice 0 12-07 09:00 12-07 18:00"]
    assert refused(found) == []
    assert found["notes"].splitlines() == [
        "row 3: struck out: left out",
        "row 4: cancelled: left out",
        "row 6: only 'please ask before you change anything' stands there: left out",
    ]


def test_names_by_alias_and_by_account_whatever_case_and_blanks() -> None:
    setting = replace(
        SETTING, aliases={"张 三": "zhangsan", "Al": "alice"}, accounts=frozenset({"Bob", "wang"})
    )
    found = read_csv(
        "姓名,卡号,开始,结束\n张三,0,12/7 9:00,12/7 10:00\nAL,1,12/7 9:00,12/7 10:00\n"
        "bob,2,12/7 9:00,12/7 10:00\nＷＡＮＧ,3,12/7 9:00,12/7 10:00\n维护,4,12/7,12/7\n",
        setting,
    )
    assert [each["user"] for each in found["bookings"]] == ["zhangsan", "alice", "Bob", "wang"]
    assert refused(found) == [
        "row 6: '维护' is no person; an operator books maintenance with roost book"
    ]


def test_servers_by_column_in_the_gpu_cell_and_by_section() -> None:
    setting = replace(SETTING, gpus={"box": 8, "gpu01": 4})
    found = read_csv(
        "Name,Server,GPU,Start,End\nalice,GPU01,0-3,12/7/2026,12/7/2026\n"
        "bob,,gpu01:0,12/8/2026,12/8/2026\ncarol,gpu01,4,12/8/2026,12/8/2026\n"
        "gpu01,,,,\ndave,,2,12/9/2026,12/9/2026\nerin,,all,12/9/2026,12/9/2026\n",
        setting,
    )
    assert lines(found) == [
        "alice gpu01:0,1,2,3 12-07 00:00 12-08 00:00",
        "bob gpu01:0 12-08 00:00 12-09 00:00",
        "dave gpu01:2 12-09 00:00 12-10 00:00",
    ]
    assert refused(found) == [
        "row 4: gpu01 has GPUs 0-3, not 4",
        "row 7: GPU 2 is taken by dave until 2026-12-10 00:00",
    ]


def test_a_gpu_cell_that_the_spreadsheet_turned_into_a_date_or_a_number() -> None:
    found = read_rows(
        [
            ["Name", "GPU", "Date"],
            ["alice", datetime.fromisoformat("2026-02-05"), "2026-12-07"],
            ["bob", 0.1, "2026-12-07"],
            ["carol", None, "2026-12-07"],
        ]
    )
    assert lines(found) == []
    assert [line[:40] for line in refused(found)] == [
        "row 2: the spreadsheet made a date (2026",
        "row 3: 0.1 is no GPU; a comma may have b",
        "row 4: no GPUs",
    ]


def test_the_same_row_twice_and_an_end_before_the_start() -> None:
    row = "alice,0,2026-12-07 09:00,2026-12-07 18:00\n"
    late = "bob,1,2026-12-08 09:00,2026-12-07 18:00\n"
    found = read_csv("Name,GPU,Start,End\n" + row + row + late)
    assert refused(found) == [
        "row 3: the same as row 2",
        "row 4: it ends (2026-12-07 18:00) before it begins (2026-12-08 09:00)",
    ]


def test_the_hour_that_the_clocks_leave_out_is_told() -> None:
    setting = replace(SETTING, time_zone="Europe/Berlin")
    found = read_csv(
        "Name,GPU,Start,End\nalice,0,2027-03-28 02:30,2027-03-28 05:00\n"
        "bob,1,2027-03-28 01:30,2027-03-28 05:00\n",
        setting,
    )
    assert lines(found) == ["bob 1 03-28 01:30 03-28 05:00"]
    assert refused(found) == ["row 2: there is no 2027-03-28 02:30: the clocks are put forward"]


def test_the_hour_that_comes_twice_is_told_apart_by_its_offset_and_lengths_are_true() -> None:
    setting = replace(SETTING, time_zone="Europe/Berlin")
    sheet = page(
        b"Name,GPU,Start,End\nalice,0,2026-10-25 02:30+02:00,2026-10-25 02:30+01:00\n"
        b"bob,1,2026-10-25T00:30:00Z,2026-10-25T02:00:00Z\n",
        "x.csv",
    )
    found = understand([sheet], setting)
    zone = ZoneInfo("Europe/Berlin")
    assert [
        (as_utc(d.start, zone).hour, as_utc(d.start, zone).minute, as_utc(d.end, zone).hour)
        for d in found.bookings
    ] == [(0, 30, 1), (0, 30, 2)]
    long = read_csv("Name,GPU,Start,Hours\nalice,0,2026-10-24 22:00,8\n", setting)
    assert lines(long) == ["alice 0 10-24 22:00 10-25 05:00"]


def test_leap_days_and_months_of_31_days() -> None:
    found = read_csv(
        "Name,GPU,Start,End\nalice,0,2028-02-29,2028-02-29\nbob,1,2027-01-31,2027-02-01\n"
        "carol,2,2027-02-29,2027-02-29\n"
    )
    assert lines(found) == [
        "alice 0 02-29 00:00 03-01 00:00",
        "bob 1 01-31 00:00 02-02 00:00",
    ]
    assert refused(found) == ["row 4: there is no 29 February 2027"]


def test_sheets_for_each_server_in_one_workbook() -> None:
    book = workbook([["Name", "GPU", "Date"], ["alice", "0", "2026-12-07"]], title="box")
    second = book.create_sheet("gpu02")
    second.append(["Name", "GPU", "Date"])
    second.append(["alice", "0", "2026-12-07"])
    second.append(["", "1", "2026-12-07"])
    hidden = book.create_sheet("old")
    hidden.append(["Name", "GPU", "Date"])
    hidden.append(["zoe", "0", "2026-12-07"])
    hidden.sheet_state = "hidden"
    book.create_sheet("phone numbers").append(["alice", "555"])
    setting = replace(SETTING, gpus={"box": 8, "gpu02": 8})
    found = read(pages(saved(book), "x.xlsx"), setting)
    assert lines(found) == [
        "alice 0 12-07 00:00 12-08 00:00",
        "alice gpu02:0 12-07 00:00 12-08 00:00",
    ]
    assert refused(found) == ["gpu02, row 3: no name"]
    assert "phone numbers" in found["notes"]


def test_formulas_give_their_saved_value_and_one_without_is_told() -> None:
    found = read_rows(
        [["Name", "GPU", "Start", "End"], ["alice", "0", "2026-12-07", "=C2+1"]],
    )
    assert refused(found) == [
        "row 2: a formula whose value was not saved; open the file in a spreadsheet program and"
        " save it"
    ]
