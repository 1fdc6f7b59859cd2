"""Times of day as people write them: 9-18, 9:00–12:00, 13h-17h, 下午2点到5点, 上午, 通宵, all day.

Minutes are counted from midnight, above 1440 on the days after. No dates here.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

from roost.core.sheets.model import UnreadError
from roost.core.sheets.plain import cut

DAY = 1440
DEFAULT_SLOTS = {
    "上午": (480, 720),
    "下午": (720, 1080),
    "晚上": (1080, 1380),
    "通宵": (1380, DAY + 480),
    "全天": (0, DAY),
}
_SAME = {
    "上午": [
        "morning",
        "am",
        "forenoon",
        "早上",
        "早晨",
        "上半天",
        "前半天",
        "firsthalf",
        "halfday(am)",
        "amhalf",
    ],
    "下午": ["afternoon", "pm", "下半天", "后半天", "午后", "secondhalf", "halfday(pm)", "pmhalf"],
    "晚上": ["evening", "晚", "晚间", "傍晚", "夜晚"],
    "通宵": [
        "overnight",
        "night",
        "nights",
        "夜间",
        "夜里",
        "深夜",
        "过夜",
        "整夜",
        "通夜",
        "allnight",
        "throughthenight",
    ],
    "全天": [
        "整天",
        "全日",
        "一天",
        "一整天",
        "整日",
        "allday",
        "wholeday",
        "fullday",
        "day",
        "24h",
        "24小时",
        "全天候",
    ],
}
_HALF = {"半天", "halfday", "半日", "halfaday"}
_TOGETHER = {"上下午": ("上午", "下午"), "白天": ("上午", "下午"), "daytime": ("上午", "下午")}

RANGE = re.compile(r"\s*(?:-|~|→|->|\.{2,3}|…|到|至|\bto\b|\bu?n?till?\b)\s*")
_NEXT = r"(?P<next>次日|第二天|隔天|翌日|明早|明晨|next\s*day|\+1d?\b)?\s*"
_HALF_DAY = (
    r"(?P<zh>凌晨|清晨|早晨|早上|早|上午|中午|下午|午后|傍晚|晚上|晚|夜里|am|pm|a\.m\.|p\.m\.)?\s*"
)
_AFTER = r"(?:\s*(?P<en>a\.?m\.?|p\.?m\.?)(?![a-z]))?"
_CLOCK = re.compile(
    _NEXT
    + _HALF_DAY
    + r"(?:(?P<word>noon|midnight|正午|午夜|零点)|(?P<h>\d{1,2})"
    + r"(?:(?P<half>[点时]半)|\s?(?P<unit>[:点时h.])\s?(?P<m>[0-5]\d)(?!\d)"
    + r"(?::[0-5]\d(?:\.\d+)?)?\s?分?"
    + r"|(?P<quarter>[点时][一1]刻)|\s?(?P<alone>点钟?|时|hrs?\b|h\b|o'clock|:)"
    + r"|(?P<bare>(?![\d:/.月日])))"
    + r"|(?P<four>(?:[01]\d|2[0-4])[0-5]\d)(?!\d))"
    + _AFTER
)


@dataclass(frozen=True, slots=True)
class Clock:
    """`minutes` of the day, as written. `half`: "am" or "pm" where it was said. `sure`: it is no
    bare number, which may be anything. `later`: days after."""

    minutes: int
    half: str | None = None
    sure: bool = True
    later: int = 0
    text: str = ""


def scan_clock(text: str, at: int = 0) -> tuple[Clock, int] | None:
    """The time of day that begins at `at` of a folded text, and where it ends."""
    match = _CLOCK.match(text, at)
    if match is None or match.end() == at:
        return None
    later = 1 if match["next"] else 0
    half = _half(match["zh"], match["en"])
    words = match[0].strip()
    if match["word"]:
        noon = match["word"] in ("noon", "正午")
        return Clock(720 if noon else 0, "pm" if noon else None, True, later, words), match.end()
    if match["four"]:
        hour, minute = int(match["four"][:2]), int(match["four"][2:])
    else:
        hour = int(match["h"])
        minute = 30 if match["half"] else 15 if match["quarter"] else int(match["m"] or 0)
    if hour > 24 or (hour == 24 and minute):
        raise UnreadError("no_time", text=cut(words))
    sure = match["bare"] is None or half is not None or bool(match["next"])
    if match["zh"] in ("明早", "明晨"):
        half = "am"
    if match["next"] in ("明早", "明晨"):
        half = half or "am"
    hour = _on_24(hour, half, match["zh"])
    return Clock(hour * 60 + minute, half, sure, later, words), match.end()


def _half(before: str | None, after: str | None) -> str | None:
    word = before or after
    if not word:
        return None
    if word in ("中午", "下午", "午后", "傍晚", "晚上", "晚", "夜里", "pm", "p.m."):
        return "pm"
    return "pm" if word.startswith("p") else "am"


def _on_24(hour: int, half: str | None, word: str | None) -> int:
    if half == "pm" and hour < 12:
        if word == "中午" and hour >= 10:
            return hour
        if word in ("夜里", "晚上", "晚") and hour < 5:
            return hour + 24
        return hour + 12
    if word in ("晚上", "晚", "夜里") and hour == 12:
        return 24
    if half == "am" and hour == 12:
        return 0
    return hour


def span_of(first: Clock, second: Clock, text: str) -> tuple[int, int]:
    """Minutes [start, end) from one clock to the other; the end is after the start. Raises
    UnreadError where 9-5 may be an office's day or a night."""
    start, end = first.minutes, second.minutes + second.later * DAY
    if second.half and not first.half and not second.later:
        start = _borrowed(first, second)
    elif first.half and not second.half and end <= start and end <= 720 and not second.later:
        end = end % 720 + 720
        if end <= start:
            end = second.minutes + DAY if second.minutes < 720 else DAY
    elif _office(first, second):
        raise UnreadError("two_times", text=cut(text), start=clock_text(start),
                          day=clock_text(end + 720), night=clock_text(end))  # fmt: skip
    if end == 0 or (end <= start and end + DAY > start):
        end += DAY
    if end <= start:
        raise UnreadError("no_length", text=cut(text))
    if end - start == DAY and start and first.minutes == second.minutes and not second.later:
        raise UnreadError("no_length", text=cut(text))
    return start, end


def _borrowed(first: Clock, second: Clock) -> int:
    """The start of "2-5pm" is in the afternoon, that of "9-5pm" in the morning."""
    hour = first.minutes
    if second.half == "pm" and hour < 720 and hour + 720 < second.minutes:
        return hour + 720 if second.minutes >= 720 else hour
    return hour


def _office(first: Clock, second: Clock) -> bool:
    return (
        not (first.sure or second.sure or first.half or second.half or second.later)
        and 0 < second.minutes < first.minutes <= 720
        and "0" not in (first.text[:1], second.text[:1])
    )


def clock_text(minutes: int) -> str:
    """ "18:00", "24:00"; of what is on the day after only the time of day."""
    at = minutes if minutes <= DAY else minutes % DAY
    return f"{at // 60:02d}:{at % 60:02d}"


def slot_of(text: str, slots: Mapping[str, tuple[int, int]]) -> tuple[int, int] | None:
    """Minutes of a slot by its name: one of the rules, one that everybody has, or several joined
    (上午+下午). Raises UnreadError for half a day that may be either."""
    word = text.replace(" ", "").strip(".")
    if not word:
        return None
    found = _slot(word, slots)
    if found:
        return found
    if word in _HALF:
        raise UnreadError("which_half", text=cut(text))
    parts = _TOGETHER.get(word) or tuple(p for p in re.split(r"[+、,/&和]|and", word) if p)
    if len(parts) < 2:
        ends = [p for p in RANGE.split(word) if p]
        parts = tuple(ends) if len(ends) == 2 else ()
    several = [_slot(part, slots) for part in parts]
    if len(several) < 2 or None in several:
        return None
    spans = [each for each in several if each]
    for (_, end), (start, _) in pairwise(spans):
        if end % DAY != start % DAY:
            return None
    length = sum(end - start for start, end in spans)
    return spans[0][0], spans[0][0] + length


def _slot(word: str, slots: Mapping[str, tuple[int, int]]) -> tuple[int, int] | None:
    own = {name.replace(" ", "").casefold(): span for name, span in slots.items()}
    if word in own:
        return own[word]
    for name, same in _SAME.items():
        if word == name or word in same:
            for other in (name, *same):
                if other in own:
                    return own[other]
            return DEFAULT_SLOTS[name]
    return None
