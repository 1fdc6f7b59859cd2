"""A spreadsheet file as pages of plain cells, read with the caller's own rights and within limits.

Which kind a file is of is told by its bytes, not its name. What the cells mean is not known here.
"""

from __future__ import annotations

import os
import stat
import sys

from roost.cli.failure import CommandError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from roost.core.sheets.model import Page

MOST_BYTES = 16 << 20
MOST_CELLS = 50_000
MOST_ROWS = 20_000
MOST_COLUMNS = 1_000
MOST_TEXT = 4_000
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"


class SheetError(CommandError):
    """A spreadsheet file that cannot be used: a code of `cli_errors`, the file in `path`."""


def read_pages(path: str) -> list[Page]:
    """The pages of an .xlsx or CSV file, "-" for standard input. Raises SheetError, OSError."""
    data = _bytes(path)
    if data.startswith(b"PK\x03\x04"):
        from roost.cli.sheet_xlsx import pages

        return pages(data, path)
    if data.startswith(_OLE):
        raise SheetError("sheet_old", path=path)
    from roost.cli.sheet_csv import page

    return [page(data, path)]


def _bytes(path: str) -> bytes:
    if path == "-":
        data = sys.stdin.buffer.read(MOST_BYTES + 1)
    else:
        number = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        status = os.fstat(number)
        if not stat.S_ISREG(status.st_mode):
            os.close(number)
            raise SheetError("sheet_no_file", path=path)
        with open(number, "rb") as file:
            if status.st_size > MOST_BYTES:
                raise SheetError("sheet_large", path=path, most=MOST_BYTES >> 20)
            data = file.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise SheetError("sheet_large", path=path, most=MOST_BYTES >> 20)
    if not data.strip(b"\0\r\n\t ,;"):
        raise SheetError("sheet_empty", path=path)
    return data


def bounded(path: str, cells: int, row: int, column: int) -> None:
    """Raises SheetError where more is filled than a team's calendar can hold."""
    if cells > MOST_CELLS or row > MOST_ROWS or column > MOST_COLUMNS:
        raise SheetError(
            "sheet_many", path=path, cells=MOST_CELLS, rows=MOST_ROWS, columns=MOST_COLUMNS
        )
