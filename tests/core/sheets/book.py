"""Sheets for tests: rows of text to pages, and workbooks by openpyxl."""

from __future__ import annotations

import io
from collections.abc import Sequence
from datetime import date
from typing import Any

from openpyxl import Workbook

from roost.cli.sheet_csv import page as csv_page
from roost.cli.sheet_xlsx import pages
from roost.core.sheets.model import Page, Setting
from roost.core.sheets.read import understand
from roost.core.sheets.show import document

SETTING = Setting("Asia/Shanghai", date(2026, 12, 2), gpus={"box": 8}, home="box")


def workbook(
    rows: Sequence[Sequence[Any]], merged: Sequence[str] = (), title: str = "Sheet"
) -> Workbook:
    book = Workbook()
    sheet = book.active
    assert sheet is not None
    sheet.title = title
    for row in rows:
        sheet.append(list(row))
    for block in merged:
        sheet.merge_cells(block)
    return book


def saved(book: Workbook) -> bytes:
    buffer = io.BytesIO()
    book.save(buffer)
    return buffer.getvalue()


def read(found: Sequence[Page], setting: Setting = SETTING) -> dict[str, Any]:
    return document(understand(found, setting), "en", setting.time_zone)


def read_rows(
    rows: Sequence[Sequence[Any]],
    merged: Sequence[str] = (),
    title: str = "Sheet",
    setting: Setting = SETTING,
) -> dict[str, Any]:
    return read(pages(saved(workbook(rows, merged, title)), "x.xlsx"), setting)


def read_csv(data: bytes | str, setting: Setting = SETTING) -> dict[str, Any]:
    return read([csv_page(data.encode() if isinstance(data, str) else data, "x.csv")], setting)


def lines(found: dict[str, Any]) -> list[str]:
    """Each booking as "alice 0,1 12-07 09:00 12-07 18:00 purpose"."""
    shown = []
    for each in found["bookings"]:
        gpus = each["gpus"]
        if isinstance(gpus, list):
            words = ",".join(map(str, gpus))
        else:
            words = gpus if isinstance(gpus, str) else f"any{gpus['count']}"
        if each["server"]:
            words = f"{each['server']}:{words}"
        times = " ".join(each[key][5:].replace("T", " ") for key in ("start", "end"))
        shown.append(f"{each['user']} {words} {times} {each['purpose']}".rstrip())
    return shown


def refused(found: dict[str, Any]) -> list[str]:
    return [f"{each['where']}: {each['reason']}" for each in found["rejected"]]
