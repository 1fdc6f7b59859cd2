"""docs/rules.md: its examples are rules that load, and it names every key there is."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from roost.core.rules.example import EXAMPLE
from roost.core.rules.load import load
from roost.core.rules.model import Rules

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGES = ("rules.md", "zh/rules.md")
SCALARS = (
    "time_zone", "operators", "default_group", "default_class", "shared_gpus", "enforcement",
    "stray_gpu_use", "max_array", "sample",
)  # fmt: skip
KEY = re.compile(r"^(?:# )?([a-z_]+) = ", re.MULTILINE)


def examples(page: str) -> list[str]:
    text = (DOCS / page).read_text(encoding="utf-8")
    return re.findall(r"^```toml\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize(("page", "count"), [("rules.md", 5), ("zh/rules.md", 2)])
def test_every_example_of_the_page_can_be_used(page: str, count: int) -> None:
    found = examples(page)
    assert len(found) == count
    for text in found:
        assert load(text) != Rules()


@pytest.mark.parametrize("page", PAGES)
def test_the_page_names_every_key_of_the_example_file(page: str) -> None:
    text = (DOCS / page).read_text(encoding="utf-8")
    names_of_the_team = {"night"}
    keys = set(KEY.findall(EXAMPLE)) - names_of_the_team
    keys |= {"default_group", "max_jobs", "max_queued", "user"}
    assert {key for key in keys if f"`{key}`" not in text} == set()


@pytest.mark.parametrize("page", PAGES)
def test_the_page_tells_the_defaults_that_hold(page: str) -> None:
    text = (DOCS / page).read_text(encoding="utf-8")
    told = dict(re.findall(r"^\| `([a-z_]+)` \| `([^`]+)` \|", text, re.MULTILINE))
    scalars = [
        "time_zone",
        "operators",
        "default_group",
        "default_class",
        "shared_gpus",
        "enforcement",
    ]
    scalars += ["stray_gpu_use", "max_array", "sample"]
    lines = "\n".join(f"{key} = {told[key]}" for key in scalars)
    fair = "\n".join(
        f"{key} = {told[key]}" for key in ("half_life", "weight", "age_weight_per_day")
    )
    assert load(f"{lines}\n[fair_share]\n{fair}\n") == Rules()
