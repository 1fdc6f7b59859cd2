"""A database of the test's own, opened again and again, on SQLite and on PostgreSQL."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from roost.store.database import Store, open_sqlite, open_url


@pytest.fixture(params=["sqlite", "postgresql"])
def opener(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[], Store]:
    """Opens the same database again and again."""
    if request.param == "sqlite":
        return lambda: open_sqlite(tmp_path / "roost.db")
    url = request.getfixturevalue("postgresql_url")
    return lambda: open_url(url)


@pytest.fixture
def store(opener: Callable[[], Store]) -> Iterator[Store]:
    opened = opener()
    yield opened
    opened.close()
