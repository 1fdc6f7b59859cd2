"""docs/why.md and docs/zh/why.md say what the scheduler really says."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.core.scheduler.why_page import SITUATIONS, page

DOCS = Path(__file__).parents[3] / "docs"


@pytest.mark.parametrize(("name", "language"), [("why.md", "en"), ("zh/why.md", "zh")])
def test_the_page_shows_each_situation_as_it_is_told(name: str, language: str) -> None:
    text = (DOCS / name).read_text(encoding="utf-8")
    assert page(language) in text, "python -m tests.core.scheduler.why_page prints it anew"


def test_the_situations_differ() -> None:
    told = set()
    for _, _, make in SITUATIONS:
        world, number = make()
        told.add(tuple(world.codes(number)))
    assert len(told) >= 12
