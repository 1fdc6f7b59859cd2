"""The page of what went wrong elsewhere names tests that are really there."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
NAMED = re.compile(r"`([a-z_/0-9]+\.py)(?:::(\w+))?`")


def missing(text: str) -> list[str]:
    """Each test file, or test of one, that a text names and that is not there."""
    found = []
    for path, name in NAMED.findall(text):
        file = ROOT / "tests" / path
        if not file.is_file() or (name and f"def {name}(" not in file.read_text()):
            found.append(f"{path}::{name}" if name else path)
    return found


def test_every_test_that_the_page_of_cases_names_is_there() -> None:
    text = (ROOT / "docs/design/cases.md").read_text()
    bookings = text.split("## Bookings")[1].split("## ")[0]
    rows = [line for line in bookings.splitlines() if line.startswith("| ")][2:]
    assert len(rows) == 11
    assert all("::test_" in row for row in rows), "a case without a test by name"
    assert len(NAMED.findall(text)) > 100
    assert missing(text) == []


def test_a_test_that_is_gone_is_found_out() -> None:
    assert missing("`real/test_bookings.py::test_nothing_of_the_kind`, `real/test_none.py`") == [
        "real/test_bookings.py::test_nothing_of_the_kind", "real/test_none.py",
    ]  # fmt: skip
