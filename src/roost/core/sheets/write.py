"""Bookings as the rows of a list that `read` takes back, in English or Chinese.

A text that a spreadsheet program would run as a formula is marked by an apostrophe before it, and
loses it when it is read again.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

HEADS = {
    "en": ("Name", "Server", "GPU", "Start", "End", "Purpose"),
    "zh": ("使用人", "服务器", "GPU卡号", "开始时间", "结束时间", "用途"),
}
_ACTIVE = re.compile(r"'*[=+\-@\t\r＝＋－＠]")
_MARKED = re.compile(r"'+[=+\-@\t\r＝＋－＠]")


@dataclass(frozen=True, slots=True)
class Line:
    """One booking, with times of a zone."""

    user: str
    server: str
    gpus: tuple[int, ...]
    start: datetime
    end: datetime
    purpose: str


def head(language: str) -> tuple[str, ...]:
    return HEADS[language]


def rows(lines: Iterable[Line]) -> list[tuple[str, ...]]:
    """A row of texts for each line, in the order of `HEADS`, none of them a formula."""
    return [
        tuple(
            safe(text)
            for text in (
                line.user,
                line.server,
                gpus_text(line.gpus),
                when_text(line.start),
                when_text(line.end),
                line.purpose,
            )
        )
        for line in lines
    ]


def when_text(local: datetime) -> str:
    """With its offset where the hour comes twice."""
    text = f"{local:%Y-%m-%d %H:%M}"
    if local.tzinfo is None or local.utcoffset() == local.replace(fold=1 - local.fold).utcoffset():
        return text
    return text + local.isoformat()[-6:]


def gpus_text(numbers: Sequence[int]) -> str:
    """ "0,1,4-7"; three or more in a row as a span."""
    spans: list[list[int]] = []
    for number in sorted(numbers):
        if spans and number == spans[-1][1] + 1:
            spans[-1][1] = number
        else:
            spans.append([number, number])
    words = []
    for first, last in spans:
        if last - first > 1:
            words.append(f"{first}~{last}")
        else:
            words += [str(n) for n in range(first, last + 1)]
    return ",".join(words)


def safe(text: str) -> str:
    return "'" + text if _ACTIVE.match(text) else text


def as_meant(text: str) -> str:
    """What `safe` was given."""
    return text[1:] if _MARKED.match(text) else text
