"""The parts' JSON lines as sentences for a person at a terminal."""

from __future__ import annotations

import pytest

from roost.cli.relay import relay, sentence


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (b'{"event": "serving", "level": "info", "socket": "/x"}\n', None),
        (b'{"event": "agent away", "why": "closed", "level": "warning", "timestamp": "t"}\n',
         "agent away (why closed)"),
        (b'{"event": "fault", "level": "error", "exception": "Traceback: x"}',
         "fault\nTraceback: x"),
        (b"roost: the database is newer\n", "roost: the database is newer"),
        (b"{no json\n", "{no json"),
        (b"\xff\n", "\\xff"),
        (b"\n", None),
    ],
)  # fmt: skip
def test_sentences(line: bytes, said: str | None):
    assert sentence(line) == said


def test_each_line_has_its_parts_name_once():
    written: list[str] = []
    relay([b"one\n", b"roost agent: two\n"], "agent", written.append).join()
    assert written == ["roost agent: one", "roost agent: two"]
