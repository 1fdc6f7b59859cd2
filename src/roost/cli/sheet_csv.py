"""CSV as programs in every country write it: UTF-8, UTF-16 or GB18030, with commas, semicolons or
tabs. Rows are counted as a spreadsheet shows them."""

from __future__ import annotations

import codecs
import csv
import io
from collections import Counter

from roost.cli.sheet_file import MOST_TEXT, SheetError, bounded
from roost.core.sheets.model import Cell, Page
from roost.core.sheets.write import as_meant

DELIMITERS = ",;\t|"
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


def page(data: bytes, path: str) -> Page:
    """Raises SheetError."""
    text = decoded(data, path)
    first, _, rest = text.partition("\n")
    delimiter = None
    if first.strip("\r ").lower().startswith("sep=") and len(first.strip("\r ")) == 5:
        delimiter, text = first.strip("\r ")[4], rest
    cells: dict[tuple[int, int], Cell] = {}
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter or delimiter_of(text))
    try:
        for row, values in enumerate(reader):
            for column, value in enumerate(values):
                if value.strip():
                    bounded(path, len(cells), row, column)
                    cells[row, column] = Cell(as_meant(value[:MOST_TEXT]))
    except csv.Error as error:
        raise SheetError("sheet_csv", path=path, row=reader.line_num, text=str(error)) from None
    return Page("", cells)


def decoded(data: bytes, path: str) -> str:
    """By its byte order mark; without one UTF-8, or else GB18030."""
    for mark, name in _MARKS:
        if data.startswith(mark):
            return _as(data[len(mark) :], (name,), path)
    if b"\0" in data[:4096]:
        even, odd = data[0:4096:2].count(0), data[1:4096:2].count(0)
        return _as(data, ("utf-16-le" if odd > even else "utf-16-be",), path, "sheet_kind")
    return _as(data, ("utf-8", "gb18030"), path)


def _as(data: bytes, names: tuple[str, ...], path: str, code: str = "sheet_encoding") -> str:
    for name in names:
        try:
            text = data.decode(name)
        except UnicodeDecodeError:
            continue
        control = sum(c < " " and c not in "\r\n\t" for c in text[:4096])
        if control * 50 > len(text[:4096]):
            raise SheetError("sheet_kind", path=path)
        return text
    raise SheetError(code, path=path)


def delimiter_of(text: str) -> str:
    """The one that cuts the most rows into equally many cells."""
    sample = text[:20_000]

    def score(delimiter: str) -> tuple[int, int]:
        try:
            rows = list(csv.reader(io.StringIO(sample, newline=""), delimiter=delimiter))
        except csv.Error:
            return 0, 0
        widths = Counter(len(row) for row in rows if len(row) > 1)
        width, count = widths.most_common(1)[0] if widths else (0, 0)
        return count, width

    return max(DELIMITERS, key=score)
