"""docs/audit.md: its table of checks is that of the code, in both languages."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from roost.core.audit.judge import CHECKS
from roost.core.audit.people import ROOT_GROUPS
from roost.core.rules.load import load
from roost.machine.audit.mend import APT, SSHD, SYSCTL

DOCS = Path(__file__).resolve().parents[2] / "docs"


@pytest.mark.parametrize("page", ["audit.md", "zh/audit.md"])
def test_the_page_tells_every_check_and_what_can_be_mended(page: str) -> None:
    text = (DOCS / page).read_text(encoding="utf-8")
    rows = re.findall(r"^\| `([a-z-]+)` \| (.+?) \| (.*?) ?\| (.*?) ?\|$", text, re.MULTILINE)
    assert [row[0] for row in rows] == list(CHECKS)
    for name, _, own, fixes in rows:
        assert bool(own.strip()) is CHECKS[name].own, name
        assert bool(fixes.strip()) is CHECKS[name].fixes, name
    for path in (SYSCTL, SSHD, APT):
        assert path in text
    assert {group for group in ROOT_GROUPS if group.removesuffix("-admin") not in text} == set()
    (example,) = re.findall(r"```toml\n(.*?)```", text, re.DOTALL)
    assert load(example).audit.accept
