"""The place that data sets are kept in, made on a real file system."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from roost.machine.data.place import made


@pytest.fixture
def umask() -> Iterator[None]:
    """As the agent's."""
    before = os.umask(0o077)
    yield
    os.umask(before)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_everybody_reaches_a_place_whose_folders_were_not_there(
    tmp_path: Path, umask: None
) -> None:
    before = mode(tmp_path)
    place = tmp_path / "srv" / "team" / "data"
    made(str(place))
    assert [mode(one) for one in (place, *place.parents[:2])] == [0o755] * 3
    assert mode(tmp_path) == before, "what was there stays as it is"
    assert (mode(place / ".roost"), mode(place / ".roost/incoming")) == (0o755, 0o700)
    made(str(place))


def test_folders_that_were_there_stay_as_they_are(tmp_path: Path, umask: None) -> None:
    (tmp_path / "srv").mkdir(0o750)
    made(str(tmp_path / "srv" / "data"))
    assert mode(tmp_path / "srv") == 0o700, "0750 under that umask"
