"""The laws of manifests: what is written is read, and nothing leads out of a set."""

from __future__ import annotations

import posixpath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roost.core.data.manifest import (
    Entry,
    ManifestError,
    entry_of,
    line_of,
    sound_name,
    sound_path,
    stays_inside,
)

PARTS = st.binary(min_size=1, max_size=12).filter(lambda p: not {0, 47} & set(p))
PATHS = st.lists(PARTS, min_size=1, max_size=5).map(b"/".join).filter(sound_path)
TARGETS = st.lists(PARTS | st.just(b".."), min_size=1, max_size=6).map(b"/".join)


@given(PATHS, st.integers(0, 2**62), st.booleans())
def test_a_file_with_any_name_comes_back_from_its_line(path: bytes, size: int, mode: bool) -> None:
    entry = Entry("f", path, size, mode, "ab" * 32)
    line = line_of(entry)
    assert line.count(b"\n") == 1
    assert line.isascii()
    assert entry_of(line) == entry


@given(PATHS, TARGETS)
def test_a_link_that_is_taken_leads_to_within_the_set(path: bytes, target: bytes) -> None:
    if stays_inside(path, target):
        end = posixpath.normpath(posixpath.join(b"/set", posixpath.dirname(path), target))
        assert end == b"/set" or end.startswith(b"/set/")
        assert entry_of(line_of(Entry("l", path, target=target))).target == target
    else:
        with pytest.raises(ManifestError):
            entry_of(line_of(Entry("l", path, target=target)))


@pytest.mark.parametrize(
    ("path", "target", "inside"),
    [
        (b"snapshots/abc/model.safetensors", b"../../blobs/ff", True),
        (b"a", b"../x", False),
        (b"p/q/a", b"/etc/passwd", False),
        (b"p/q/a", b"b/../../../../etc/passwd", False),
        (b"p/a", b"..", True),
        (b"p/a", b"", False),
    ],
)
def test_links_up_and_out(path: bytes, target: bytes, inside: bool) -> None:
    assert stays_inside(path, target) is inside


@pytest.mark.parametrize("line", [b"", b"f - 1 - a -", b"d - 0 - ../a -", b"f - x y a -", b"\xff"])
def test_what_is_no_line_is_refused(line: bytes) -> None:
    with pytest.raises(ManifestError):
        entry_of(line)


@pytest.mark.parametrize(
    ("name", "good"),
    [("imagenet-1k", True), (".roost", False), ("../x", False), ("a/b", False), ("", False),
     ("a" * 101, False), ("a\n", False)],
)  # fmt: skip
def test_names(name: str, good: bool) -> None:
    assert sound_name(name) is good
