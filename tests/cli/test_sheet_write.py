"""Bookings written as a list come back the same, and no cell of it is a formula."""

from __future__ import annotations

import csv
import io
import zipfile
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from roost.cli.book_export import lines as lines_of
from roost.cli.sheet_csv import page
from roost.cli.sheet_write import csv_bytes, xlsx_bytes
from roost.cli.sheet_xlsx import pages
from roost.core.sheets.instants import as_utc
from roost.core.sheets.read import understand
from roost.core.sheets.write import Line, as_meant, gpus_text, head, rows, safe
from tests.core.sheets.book import SETTING

BASE = datetime.fromisoformat("2026-12-07T00:00")
PURPOSES = [
    "",
    "训练；a,b",
    "=cmd|' /C calc'!A0",
    "+1",
    "-2",
    "@SUM(A1)",
    "'quoted",
    "'=x",
    '"',
    "１",
]


def line(number: int, purpose: str) -> Line:
    start = BASE + timedelta(minutes=61 * number)
    return Line(
        f"user{number}", "box", (number % 8,), start, start + timedelta(minutes=45), purpose
    )


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("kind", ["csv", "xlsx"])
def test_what_is_exported_is_imported_the_same(language: str, kind: str) -> None:
    found = [line(number, purpose) for number, purpose in enumerate(PURPOSES)]
    found.append(Line("al", "gpu02", (0, 1, 2, 5), BASE, BASE + timedelta(days=31), "whole days"))
    if kind == "csv":
        read = [page(csv_bytes(head(language), rows(found)), "x.csv")]
    else:
        read = pages(xlsx_bytes(head(language), rows(found), "Bookings"), "x.xlsx")
    back = understand(read, SETTING)
    assert not back.rejected
    assert [
        Line(d.user, d.server or "", d.wanted.these, d.start, d.end, d.purpose)
        for d in back.bookings
    ] == found


@pytest.mark.parametrize("text", PURPOSES)
def test_no_cell_of_a_csv_is_a_formula(text: str) -> None:
    data = csv_bytes(head("en"), rows([line(0, text)]))
    (_, row) = csv.reader(io.StringIO(data.decode("utf-8-sig"), newline=""))
    assert row[5][:1] not in tuple("=+-@\t\r＝＋－＠") or row[5] == ""
    assert as_meant(row[5]) == text


def test_no_cell_of_a_workbook_is_a_formula() -> None:
    data = xlsx_bytes(head("en"), rows([line(n, p) for n, p in enumerate(PURPOSES)]), "B")
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        sheet = archive.read("xl/worksheets/sheet1.xml").decode()
        styles = archive.read("xl/styles.xml").decode()
    assert "<f>" not in sheet
    assert "quotePrefix" in styles


@given(st.text(max_size=40))
def test_a_marked_text_is_never_active_and_always_comes_back(text: str) -> None:
    assert as_meant(safe(text)) == text
    assert safe(text)[:1] not in set("=+-@\t\r＝＋－＠")


@given(st.sets(st.integers(0, 40), min_size=1))
def test_gpus_come_back(numbers: set[int]) -> None:
    from roost.core.sheets.gpus import read_gpus

    assert read_gpus(gpus_text(sorted(numbers))).these == tuple(sorted(numbers))


@settings(max_examples=50)
@given(
    st.lists(
        st.tuples(
            st.integers(0, 7), st.integers(0, 100), st.integers(1, 5000), st.text(max_size=30)
        ),
        max_size=8,
    )
)
def test_any_bookings_come_back(wanted: list[tuple[int, int, int, str]]) -> None:
    found = []
    for number, (gpu, wait, length, purpose) in enumerate(wanted):
        start = BASE + timedelta(days=10 * number, minutes=wait)
        purpose = " ".join("".join(c for c in purpose if c.isprintable()).split())
        found.append(Line("al", "box", (gpu,), start, start + timedelta(minutes=length), purpose))
    if not found:
        return
    for read in (
        [page(csv_bytes(head("en"), rows(found)), "x.csv")],
        pages(xlsx_bytes(head("zh"), rows(found), "B"), "x.xlsx"),
    ):
        back = understand(read, SETTING)
        assert [
            Line(d.user, d.server or "", d.wanted.these, d.start, d.end, d.purpose)
            for d in back.bookings
        ] == found


def test_the_hour_that_comes_twice_comes_back_as_it_was() -> None:
    zone = ZoneInfo("Europe/Berlin")
    first = datetime.fromisoformat("2026-10-25T00:30+00:00")
    found = [
        Line("al", "box", (n,), (first + timedelta(hours=n)).astimezone(zone),
             (first + timedelta(hours=n + 1)).astimezone(zone), "")
        for n in range(3)
    ]  # fmt: skip
    setting = replace(SETTING, time_zone="Europe/Berlin")
    back = understand([page(csv_bytes(head("en"), rows(found)), "x.csv")], setting)
    assert [(as_utc(d.start, zone), as_utc(d.end, zone)) for d in back.bookings] == [
        (each.start.astimezone(UTC), each.end.astimezone(UTC)) for each in found
    ]


def test_shares_and_maintenance_are_not_in_the_list() -> None:
    booked: dict[str, Any] = {
        "user": "alice", "gpus": ["GPU-a"], "gpu_indices": [3], "purpose": "x", "state": "booked",
        "gpu_memory_bytes": None, "maintenance": False,
        "start": "2026-12-07T09:00:00+08:00", "end": "2026-12-07T10:00:00+08:00",
    }  # fmt: skip
    others: list[dict[str, Any]] = [
        {"maintenance": True}, {"gpu_memory_bytes": 5}, {"gpus": []}, {"state": "cancelled"},
    ]  # fmt: skip
    found = lines_of(
        [booked, *(booked | other for other in others)], "box", ZoneInfo("Asia/Shanghai")
    )
    assert [(each.user, each.gpus) for each in found] == [("alice", (3,))]
