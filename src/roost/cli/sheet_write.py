"""Rows of a list as a CSV or .xlsx file that spreadsheet programs open and run nothing of."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from typing import Any

from openpyxl import Workbook
from openpyxl.cell.cell import ILLEGAL_CHARACTERS_RE
from openpyxl.styles import Font
from openpyxl.utils import get_column_letter

from roost.core.sheets.write import as_meant

MOST_WIDTH = 48


def csv_bytes(head: Sequence[str], rows: Sequence[Sequence[str]]) -> bytes:
    """UTF-8 with the mark by which Excel knows it, lines ended as RFC 4180 has them."""
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow(head)
    writer.writerows(rows)
    return b"\xef\xbb\xbf" + out.getvalue().encode("utf-8")


def xlsx_bytes(head: Sequence[str], rows: Sequence[Sequence[str]], title: str) -> bytes:
    """Every cell is text, and stays text when somebody edits it."""
    book = Workbook()
    sheet: Any = book.active
    sheet.title = title
    for number, row in enumerate([head, *rows], 1):
        for column, text in enumerate(row, 1):
            cell = sheet.cell(number, column)
            cell.value = ILLEGAL_CHARACTERS_RE.sub("", as_meant(text))
            cell.data_type = "s"
            cell.number_format = "@"
            cell.quotePrefix = as_meant(text) != text
    for column, name in enumerate(head, 1):
        sheet.cell(1, column).font = Font(bold=True)
        longest = max([len(name), *(len(row[column - 1]) for row in rows)])
        sheet.column_dimensions[get_column_letter(column)].width = min(longest + 4, MOST_WIDTH)
    sheet.freeze_panes = "A2"
    buffer = io.BytesIO()
    book.save(buffer)
    return buffer.getvalue()
