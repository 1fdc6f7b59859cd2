"""An .xlsx file as pages. Every part is scanned before openpyxl sees it: its size unzipped,
a document type (with which entities could grow), the cells that are filled, the merged ones.

Formulas give the value that was saved with them; macros and links to other files are not touched.
"""

from __future__ import annotations

import io
import re
import warnings
import zipfile
import zlib
from dataclasses import dataclass, field
from datetime import datetime, time
from typing import Any
from xml.etree.ElementTree import ParseError

from defusedxml import DefusedXmlException
from defusedxml.ElementTree import DefusedXMLParser
from openpyxl import load_workbook
from openpyxl.utils.cell import column_index_from_string, coordinate_from_string, range_boundaries
from openpyxl.utils.exceptions import CellCoordinatesException, InvalidFileException

from roost.cli.sheet_file import MOST_TEXT, SheetError, bounded
from roost.core.sheets.model import Block, Cell, Page, Value

MOST_UNZIPPED = 96 << 20
MOST_PARTS = 2_000
MOST_BLOCKS = 20_000
_CHUNK = 1 << 16
_QUOTED = re.compile(r'"[^"]*"|\\.|\[[^\]]*\]')
_BROKEN = (
    zipfile.BadZipFile, zlib.error, KeyError, ValueError, TypeError, AttributeError, IndexError,
    NotImplementedError, RuntimeError, EOFError, OverflowError, ParseError,
    CellCoordinatesException, InvalidFileException,
)  # fmt: skip


@dataclass
class Scan:
    """What a part of the workbook has in it, gathered while it is parsed. Columns, rows from 0."""

    path: str
    filled: int = 0
    last_row: int = -1
    last_column: int = -1
    blocks: list[Block] = field(default_factory=list)
    uncomputed: set[tuple[int, int]] = field(default_factory=set)
    _row: int = -1
    _column: int = -1
    _formula: bool = False
    _value: bool = False
    _text: bool = False
    _inside: bool = False

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        name = tag.rpartition("}")[2]
        if name == "row":
            self._row = int(attributes["r"]) - 1 if "r" in attributes else self._row + 1
            self._column = -1
        elif name == "c":
            if "r" in attributes:
                letters, row = coordinate_from_string(attributes["r"])
                self._row, self._column = row - 1, column_index_from_string(letters) - 1
            else:
                self._column += 1
            self._formula = self._value = self._inside = False
            self._text = attributes.get("t") == "str"
        elif name == "f":
            self._formula = True
        elif name in ("v", "is"):
            self._inside = True
        elif name == "mergeCell" and "ref" in attributes:
            bounds = [each for each in range_boundaries(attributes["ref"]) if each is not None]
            if len(bounds) == 4:
                left, top, right, bottom = bounds
                self.blocks.append(Block(top - 1, left - 1, bottom - 1, right - 1))
            if len(self.blocks) > MOST_BLOCKS:
                bounded(self.path, 1 << 30, 0, 0)

    def end(self, tag: str) -> None:
        if tag.rpartition("}")[2] != "c" or not (self._value or self._formula):
            return
        if self._formula and not self._value and not self._text:
            self.uncomputed.add((self._row, self._column))
        self.filled += 1
        self.last_row = max(self.last_row, self._row)
        self.last_column = max(self.last_column, self._column)
        bounded(self.path, self.filled, self.last_row, self.last_column)

    def data(self, text: str) -> None:
        if self._inside and text:
            self._value = True

    def close(self) -> None:
        pass


def pages(data: bytes, path: str) -> list[Page]:
    """The visible sheets that hold something. Raises SheetError."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            scans = _scanned(archive, path)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            book: Any = load_workbook(
                io.BytesIO(data), read_only=True, data_only=True, keep_links=False
            )
            try:
                return [
                    _page(sheet, scans.get(str(sheet._worksheet_path).lstrip("/"), Scan(path)))
                    for sheet in book.worksheets
                    if sheet.sheet_state == "visible"
                ]
            finally:
                book.close()
    except DefusedXmlException:
        raise SheetError("sheet_entities", path=path) from None
    except _BROKEN as error:
        raise SheetError("sheet_broken", path=path, text=f"{error}"[:200]) from None


def _scanned(archive: zipfile.ZipFile, path: str) -> dict[str, Scan]:
    """Every XML part by its name. Raises SheetError, and what a broken file raises."""
    parts = archive.infolist()
    if sum(part.file_size for part in parts) > MOST_UNZIPPED or len(parts) > MOST_PARTS:
        raise SheetError("sheet_bomb", path=path, most=MOST_UNZIPPED >> 20)
    names = {part.filename for part in parts}
    if "xl/workbook.xml" not in names:
        if "mimetype" in names or any(name.endswith(".iwa") for name in names):
            raise SheetError("sheet_other", path=path)
        raise SheetError("sheet_kind", path=path)
    if any(part.flag_bits & 1 for part in parts):
        raise SheetError("sheet_locked", path=path)
    found = {}
    for part in parts:
        if not part.filename.endswith((".xml", ".rels")):
            continue
        scan = Scan(path)
        parser = DefusedXMLParser(target=scan, forbid_dtd=True)
        with archive.open(part) as file:
            while chunk := file.read(_CHUNK):
                parser.feed(chunk)
        parser.close()
        found[part.filename] = scan
    return found


def _page(sheet: Any, scan: Scan) -> Page:
    cells: dict[tuple[int, int], Cell] = {at: Cell(uncomputed=True) for at in scan.uncomputed}
    if scan.last_row >= 0:
        rows = sheet.iter_rows(
            min_row=1, min_col=1, max_row=scan.last_row + 1, max_col=scan.last_column + 1
        )
        for row, values in enumerate(rows):
            for column, cell in enumerate(values):
                if cell.value is not None and cell.value != "":
                    cells[row, column] = Cell(_value(cell), _struck(cell))
    return Page(sheet.title, cells, tuple(scan.blocks))


def _value(cell: Any) -> Value:
    value = cell.value
    if isinstance(value, str):
        return value[:MOST_TEXT]
    if isinstance(value, datetime) and value.time() == time():
        shown = _QUOTED.sub("", str(cell.number_format or ""))
        return value if "h" in shown.lower() else value.date()
    found: Value = value
    return found


def _struck(cell: Any) -> bool:
    font = cell.font
    return bool(font is not None and font.strike)
