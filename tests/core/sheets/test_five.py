"""The five sheets of tests/data/sheets are understood exactly as their expected files say."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path

import pytest

from roost.cli.sheet_file import read_pages
from roost.core.sheets.model import Setting
from roost.core.sheets.read import understand
from roost.core.sheets.show import document

SHEETS = Path(__file__).resolve().parents[2] / "data/sheets"
NAMES = sorted(path.name.removesuffix(".expected.json") for path in SHEETS.glob("*.expected.json"))


def test_there_are_five() -> None:
    assert len(NAMES) == 5


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("today", [date(2026, 12, 2), date(2026, 6, 1), date(2027, 2, 1)])
def test_a_sheet_is_understood_as_expected(name: str, today: date) -> None:
    expected = json.loads((SHEETS / f"{name}.expected.json").read_text(encoding="utf-8"))
    (path,) = (p for p in SHEETS.glob(f"{name}.*") if p.suffix != ".json")
    setting = Setting(expected["timezone"], today, gpus={"box": 8}, home="box")
    found = document(understand(read_pages(str(path)), setting), "en", "Asia/Shanghai")
    assert found["bookings"] == expected["bookings"]
    assert found["rejected"] == expected["rejected"]
    assert found["timezone"] == expected["timezone"]
    if today.year == expected["year"]:
        assert found["year"] == expected["year"]
