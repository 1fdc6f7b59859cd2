"""The file of a trace: opened, unpacked, its format guessed, read. Knows nothing of replaying."""

from __future__ import annotations

import gzip
import io
import os
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from typing import IO, TextIO, cast

from roost.core.replay.read_csv import read_csv
from roost.core.replay.read_sacct import read_sacct
from roost.core.replay.read_swf import read_swf
from roost.core.replay.trace import Trace, TraceError

READERS = {"csv": read_csv, "swf": read_swf, "sacct": read_sacct}
GZIP = b"\x1f\x8b"
LOOKED_AT = 200


def read(path: str, form: str | None = None) -> Trace:
    """The trace in that file ("-": standard input), gzip or not. `form` None: guessed from the name
    and the first lines. Raises TraceError, OSError."""
    try:
        if form is None:
            with opened(path) as file:
                if path == "-":
                    file = io.StringIO(file.read())
                form = guessed(path, list(islice(file, LOOKED_AT)))
                if path == "-":
                    file.seek(0)
                    return READERS[form](file)
        with opened(path) as file:
            return READERS[form](file)
    except UnicodeDecodeError:
        raise TraceError("not_text") from None
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise TraceError("broken_gzip", detail=str(error)) from None


@contextmanager
def opened(path: str) -> Iterator[TextIO]:
    """The text of a file, unpacked where it is gzip, whatever it is called. Raises OSError."""
    with open(0 if path == "-" else path, "rb", closefd=path != "-") as raw:
        packed = raw.peek(2)[:2] == GZIP
        binary = gzip.GzipFile(fileobj=raw) if packed else raw
        yield io.TextIOWrapper(cast(IO[bytes], binary), encoding="utf-8-sig", newline="")


def guessed(path: str, lines: list[str]) -> str:
    """ "csv", "swf" or "sacct". Raises TraceError where neither name nor content say which."""
    name = os.path.basename(path).lower().removesuffix(".gz")
    if name.endswith(".swf"):
        return "swf"
    told = [line.strip() for line in lines if line.strip() and not line.startswith(";")]
    if not told:
        raise TraceError("empty")
    head = told[0]
    if "|" in head and "JobID" in head.split("|"):
        return "sacct"
    if "," in head or name.endswith(".csv"):
        return "csv"
    words = head.split()
    if len(words) >= 5 and all(_number(word) for word in words):
        return "swf"
    raise TraceError("which_format")


def _number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True
