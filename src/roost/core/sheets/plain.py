"""Cell text as it is compared and read: full-width forms, dashes, blanks, Chinese numerals.

It must not know what the text means.
"""

from __future__ import annotations

import re
import unicodedata

_INVISIBLE = re.compile("[\u200b-\u200f\u2060\ufeff\u00ad]")
_DASHES = str.maketrans(dict.fromkeys("‐‑‒–—―−﹣－", "-") | dict.fromkeys("〜∼～﹏", "~"))
_NUMERAL = re.compile(r"[〇零一二两三四五六七八九十]+(?=\s*(?:[点时月日号卡张块个]|分(?!钟)))")
_DIGITS = {c: n for n, c in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2}


def plain(text: str) -> str:
    """One line, full-width letters and digits made plain, every dash "-" and every tilde "~"."""
    text = unicodedata.normalize("NFKC", _INVISIBLE.sub("", text)).translate(_DASHES)
    return " ".join(text.split())


def folded(text: str) -> str:
    """As `plain`, in small letters, Chinese numerals before a unit as digits."""
    return _NUMERAL.sub(lambda m: _digits(m[0]), plain(text).casefold())


def name_key(text: str) -> str:
    """What two writings of a name have in common: no case, no blanks."""
    return plain(text).casefold().replace(" ", "")


def _digits(numeral: str) -> str:
    """ "12" for "十二", "21" for "二十一"; up to 99."""
    if "十" not in numeral:
        return "".join(str(_DIGITS[c]) for c in numeral)
    tens, _, ones = numeral.partition("十")
    if len(tens) > 1 or len(ones) > 1 or "十" in ones:
        return numeral
    return str((_DIGITS[tens] if tens else 1) * 10 + (_DIGITS[ones] if ones else 0))


def cut(text: str, most: int = 40) -> str:
    """What fits into a sentence."""
    text = "".join(c if c.isprintable() else " " for c in text)
    return text if len(text) <= most else text[: most - 1] + "…"
