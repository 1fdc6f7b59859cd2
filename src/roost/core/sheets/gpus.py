"""Which GPUs a cell or a column's head means: "0,1", "2~5", "#4", "GPU 0-3", "4号卡", "全部".

"4卡" and "4 GPUs" ask for any four, "卡4" and "4号卡" for the one of that number.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date, time, timedelta

from roost.core.sheets.model import UnreadError, Value, Wanted
from roost.core.sheets.plain import cut, folded, plain

MOST = 1024
_EVERY = {
    "all", "allgpus", "allcards", "every", "everything", "whole", "wholeserver", "wholemachine",
    "full", "all8", "*", "全部", "所有", "全卡", "整机", "全", "全部卡", "所有卡", "全部gpu",
    "所有gpu", "整台", "全机", "满卡", "全都要",
}  # fmt: skip
_PREFIX = r"(?:gpus?|显卡|卡|cards?|devices?|cuda|no\.?|idx|index|号|第|#)"
_UNIT = r"(?:张(?:gpu|显?卡)?|块(?:gpu|显?卡)?|个(?:gpu|卡)?|显?卡|gpus?|cards?|pcs)"
_MODEL = r"(?:[a-z]{0,4}\d{2,4}[a-z]{0,3}|h20|gpus?|显?卡|cards?)"
_COUNTS = tuple(
    re.compile(form)
    for form in (
        rf"(?P<any>any|任意|任选|随便|随机|任)?\s*(?P<n>\d+)\s*{_UNIT}",
        r"(?:any|任意|任选|随便|随机|任)\s*(?P<n>\d+)",
        rf"(?P<n>\d+)\s*[x×*]\s*{_MODEL}?",
        rf"(?:{_MODEL}\s*)?[x×*]\s*(?P<n>\d+)",
    )
)
_NUMBER = rf"(?:{_PREFIX}[\s:._-]*)*(?P<n>\d+)\s*(?:号?显?卡|号|#)?"
_ONE = re.compile(_NUMBER)
_SPAN = re.compile(
    _NUMBER.replace("<n>", "<a>")
    + r"\s*(?:-|~|\.{2,3}|到|至|to)\s*"
    + _NUMBER.replace("<n>", "<b>")
)
_SPLIT = re.compile(r"\s*(?:[,、;/&+|]|\band\b|和|及|与|跟)\s*")
_AROUND = re.compile(r"\s*(-|~|到|至|\bto\b)\s*")
_SERVER = re.compile(r"(?P<server>[a-z][a-z0-9_.-]*?)\s*[:/]\s*(?P<rest>.+)")
_HEAD = re.compile(rf"(?:{_PREFIX}[\s:._-]*)+\d|\d+\s*(?:号显?卡|号|#)")


def read_gpus(value: Value, counted: bool = False) -> Wanted:
    """`counted`: the column holds numbers of GPUs, not GPUs by number. Raises UnreadError."""
    if isinstance(value, bool) or value is None:
        raise UnreadError("no_gpus")
    if isinstance(value, int | float):
        if value != int(value) or value < 0:
            raise UnreadError("gpus_number", text=f"{value:g}")
        return _count(int(value)) if counted else Wanted((_within(int(value)),))
    if isinstance(value, date | time | timedelta):
        raise UnreadError("gpus_date", text=str(value)[:10])
    text = folded(value).strip("[](){}【】 ")
    if not text:
        raise UnreadError("no_gpus")
    if text.replace(" ", "") in _EVERY:
        return Wanted(every=True)
    for form in _COUNTS:
        match = form.fullmatch(text)
        if match and (int(match["n"]) or counted):
            return _count(int(match["n"]))
    if counted and text.isdecimal():
        return _count(int(text))
    found = _numbers(text)
    if not found:
        raise UnreadError("gpus_unread", text=cut(plain(value)))
    return Wanted(tuple(sorted(set(found))))


def _count(number: int) -> Wanted:
    if number == 0:
        raise UnreadError("no_gpus")
    return Wanted(count=_within(number))


def _within(number: int) -> int:
    if number > MOST:
        raise UnreadError("gpus_many", number=min(10**9, number))
    return number


def _numbers(text: str) -> list[int]:
    """The numbers of a list of numbers and spans; empty where it is something else."""
    found: list[int] = []
    text = _AROUND.sub(r"\1", text)
    text = re.sub(r"(?<=[\d号卡#])\s+(?=[\d#g卡第])", ",", text)
    for part in _SPLIT.split(text):
        one, span = _ONE.fullmatch(part), _SPAN.fullmatch(part)
        if one:
            found.append(_within(int(one["n"][:9])))
        elif span:
            first, last = _within(int(span["a"][:9])), _within(int(span["b"][:9]))
            if last < first:
                raise UnreadError("gpus_backwards", text=cut(part))
            found += range(first, last + 1)
        elif part:
            return []
    return found


def with_server(value: Value, known: Mapping[str, int]) -> tuple[str | None, Value]:
    """The server that a cell such as "gpu01:0-3" names before the GPUs, and the rest of it."""
    if not isinstance(value, str):
        return None, value
    match = _SERVER.fullmatch(plain(value).casefold())
    if match is None or re.fullmatch(_PREFIX, match["server"]):
        return None, value
    if match["server"] not in {name.casefold() for name in known} and not re.search(
        r"\d", match["server"]
    ):
        return None, value
    return server_name(match["server"], known), match["rest"]


def server_name(text: str, known: Mapping[str, int]) -> str:
    """As it is known, whatever the case it is written in."""
    key = plain(text)
    return next((name for name in known if name.casefold() == key.casefold()), key)


def head_gpus(text: str) -> Wanted | None:
    """What the head of a grid's column or row means, if it surely is GPUs: "GPU0-3", "卡0"."""
    word = folded(text)
    if not _HEAD.match(word) and word.replace(" ", "") not in _EVERY:
        return None
    try:
        found = read_gpus(word)
    except UnreadError:
        return None
    return None if found.count else found


def checked(wanted: Wanted, server: str | None, count: int | None) -> None:
    """Raises UnreadError where the server, of so many GPUs (None: not known), has not got them."""
    if count is None:
        return
    beyond = [number for number in wanted.these if number >= count]
    named = {"server": server} if server else {}
    suffix = "_of" if server else ""
    if beyond:
        numbers = ", ".join(map(str, beyond))
        raise UnreadError(f"no_such_gpu{suffix}", numbers=numbers, last=count - 1, **named)
    if wanted.count > count:
        raise UnreadError(f"not_so_many{suffix}", count=wanted.count, most=count, **named)
