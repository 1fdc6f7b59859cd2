"""Everything said to people, in English and Chinese, side by side.

Each area is a module of this package with `MESSAGES: {code: (english, chinese)}` in str.format
syntax; `say` loads an area on first use, so that a command pays only for what it says.
"""

from __future__ import annotations

LANGUAGES = ("en", "zh")


def language_of(locale: str) -> str:
    """ "zh" for any Chinese locale name ("zh_CN.UTF-8", "zh-Hans", "zh"), else "en"."""
    return "zh" if locale.lower().startswith("zh") else "en"


def say(language: str, message: str, **numbers: object) -> str:
    """The sentence `area.code` in that language. Raises KeyError for one that does not exist."""
    area, code = message.split(".", 1)
    pair: tuple[str, str] = _area(area)[code]
    return pair[LANGUAGES.index(language)].format(**numbers)


def _area(area: str) -> dict[str, tuple[str, str]]:
    messages: dict[str, tuple[str, str]] = __import__(
        f"roost.core.text.{area}", fromlist=["MESSAGES"]
    ).MESSAGES
    return messages
