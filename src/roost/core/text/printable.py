"""Bytes from outside (names, command lines, paths) as text that is fit to show.

Bytes that are no UTF-8 stand as `\\xff`; control characters, separators, direction marks and lone
surrogates as escapes: a process name can then neither break a terminal nor imitate another line.
"""

from __future__ import annotations


def printable(raw: bytes) -> str:
    """Valid UTF-8 without control characters; a backslash of the original stays single."""
    text = raw.decode("utf-8", "backslashreplace")
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else _escape(c) for c in text)


def _escape(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")
