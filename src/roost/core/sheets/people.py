"""Whose a name on the sheet is, and what else stands in a cell beside the name."""

from __future__ import annotations

import re

from roost.core.sheets.model import Setting, UnreadError
from roost.core.sheets.plain import cut, name_key, plain

FREE = {
    "", "-", "--", "---", "/", "\\", "~", "x", "×", "✗", "free", "open", "idle", "available",
    "n/a", "na", "none", "nobody", "空", "空闲", "无", "无人", "可用", "可预约", "闲置", "?", ".",
    "…", "_", "0",
}  # fmt: skip
_NOBODY = {
    "maintenance", "maint", "reserved", "broken", "down", "offline", "downtime", "closed",
    "holiday", "blocked", "维护", "检修", "停机", "故障", "坏", "坏了", "关机", "保留", "预留",
    "维修", "停用", "放假",
}  # fmt: skip
_SPLIT = re.compile(r"\s*(?:[/、;&|\n]|,(?!\s*\d)|\band\b|和|与)\s*", re.IGNORECASE)
_BRACKET = re.compile(r"(?P<name>[^(:\[]+?)\s*(?:[(\[](?P<rest>[^)\]]*)[)\]]?|:\s*(?P<tail>.+))")
_TIMED = re.compile(
    r"(?P<name>[^\d]+?)\s*(?P<rest>(?:上午|下午|早上|晚上|凌晨|中午)?\d{1,2}(?::\d{2}|[点时h])?.*)"
)
_GPUS = re.compile(
    r"(?P<name>.+?)\s*(?P<rest>(?:(?:gpus?|cards?|显?卡|#)[\s:]*\d|\d+\s*(?:张|块|号?卡|gpus?)).*|"
    r"\s(?:all|any \d+)|全部|所有|整机)",
    re.IGNORECASE,
)
_ACCOUNT = re.compile(r"[a-z_][a-z0-9_.-]*\$?", re.ASCII)


def user_of(name: str, setting: Setting) -> str:
    """The account of a name: an alias of the rules, an account without regard to case and blanks,
    or else what the account's name would be. Raises UnreadError for what is nobody."""
    key = name_key(name)
    for alias, account in setting.aliases.items():
        if name_key(alias) == key:
            return account
    for account in setting.accounts:
        if account == name or name_key(account) == key:
            return account
    if key in _NOBODY:
        raise UnreadError("nobody", text=cut(plain(name)))
    return key if _ACCOUNT.fullmatch(key) else plain(name)


def is_free(text: str) -> bool:
    return plain(text).casefold() in FREE


def parts_of(text: str, setting: Setting) -> list[tuple[str, str]]:
    """Name and the rest ("9-18", a purpose, or "") of each person in a grid's cell: "alice",
    "bob (pretrain)", "alice 9-12 / bob 13-18"."""
    lines = "\n".join(part for line in text.splitlines() if (part := plain(line)))
    whole = " ".join(lines.split())
    if _known(whole, setting):
        return [(whole, "")]
    one = _named(lines)
    if one[1] and "\n" not in lines and not _SPLIT.search(one[0]):
        rest = _SPLIT.split(one[1])
        if len(rest) == 1 or not _TIMED.fullmatch(rest[-1]):
            return [(one[0], one[1].strip())]
    parts = [part for part in _SPLIT.split(lines) if part]
    if len(parts) < 2:
        return [_named(whole)]
    named = [_named(part) for part in parts]
    if "\n" in lines and len(named) == 2 and not named[0][1] and not _known(parts[1], setting):
        return [(parts[0], parts[1])]
    return named


def _known(name: str, setting: Setting) -> bool:
    key = name_key(name)
    return key in {name_key(a) for a in (*setting.aliases, *setting.accounts)}


def _named(text: str) -> tuple[str, str]:
    match = _BRACKET.fullmatch(text)
    if match:
        return match["name"].strip(), (match["rest"] or match["tail"] or "").strip()
    timed = _TIMED.fullmatch(text)
    if timed and re.search(r"[:点时-]|\d~", timed["rest"]):
        return timed["name"].strip(), timed["rest"].strip()
    gpus = _GPUS.fullmatch(text)
    if gpus:
        return gpus["name"].strip(), gpus["rest"].strip()
    return text.strip(), ""
