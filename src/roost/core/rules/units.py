"""Spans of time and sizes as people write them ("4h", "2-12:00:00", "10G"), read and written.

Used by the rules file and by everything typed. It must not know what is measured.
"""

from __future__ import annotations

import re

_SECONDS = {"w": 604800, "d": 86400, "h": 3600, "m": 60, "s": 1}
_NAMES = {
    "week": "w", "weeks": "w", "day": "d", "days": "d", "hour": "h", "hours": "h", "hr": "h",
    "minute": "m", "minutes": "m", "min": "m", "second": "s", "seconds": "s", "sec": "s",
}  # fmt: skip
_PART = re.compile(r"(\d{1,12}(?:\.\d{1,9})?)\s*([a-z]+)\s*", re.ASCII)
_CLOCK = re.compile(r"(?:(\d{1,6})-)?(\d{1,6})(?::(\d{1,2}))?(?::(\d{1,2}))?", re.ASCII)
_SIZE = re.compile(r"(\d{1,19}(?:\.\d{1,9})?)\s*([kmgtp]?)(i?b)?", re.ASCII)
_POWERS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4, "p": 5}
LONGEST_S = 100 * 366 * 86400.0
LARGEST_BYTES = 1 << 60


class UnitError(ValueError):
    """A span or size that cannot be read. `code` names a message of the `rules` catalogue."""

    def __init__(self, code: str, given: str) -> None:
        super().__init__(f"{code}: {given}")
        self.code = code
        self.given = given


def parse_duration(text: str) -> float:
    """Seconds of "4h", "1h30m", "1.5 d", "90 min", or Slurm's "2-12:00:00", "12:00:00", "30:00".

    A colon form is HH:MM:SS or MM:SS, after days HH[:MM[:SS]], as in Slurm (sbatch, --time). A bare
    number is refused, for Slurm means minutes by it and others seconds; "0" alone needs no unit.
    Raises UnitError.
    """
    given = text.strip().lower()
    if given == "0":
        return 0.0
    seconds = _clock(given)
    if seconds is None:
        seconds = _parts(given)
    if seconds is None:
        code = "duration_without_unit" if re.fullmatch(r"[\d.]+", given) else "duration"
        raise UnitError(code, text)
    if seconds > LONGEST_S:
        raise UnitError("duration_too_long", text)
    return seconds


def _clock(given: str) -> float | None:
    match = _CLOCK.fullmatch(given)
    if match is None or (match[1] is None and match[3] is None):
        return None
    days, first, second, third = (int(part) if part else 0 for part in match.groups())
    if match[1] is None and match[4] is None:
        first, second, third = 0, first, second
        if third > 59:
            return None
        return float(second * 60 + third)
    if second > 59 or third > 59:
        return None
    return float(days * 86400 + first * 3600 + second * 60 + third)


def _parts(given: str) -> float | None:
    total, at, last = 0.0, 0, len(_SECONDS)
    while at < len(given):
        match = _PART.match(given, at)
        if match is None:
            return None
        unit = _NAMES.get(match[2], match[2])
        if unit not in _SECONDS:
            return None
        rank = len(_SECONDS) - list(_SECONDS).index(unit)
        if rank >= last + (at == 0):
            return None
        last, at = rank, match.end()
        total += float(match[1]) * _SECONDS[unit]
    return total if given else None


def format_duration(seconds: float) -> str:
    """ "4h", "1d12h", "1h30m", "0.5s": what `parse_duration` reads back to the same seconds."""
    if seconds != int(seconds):
        whole = int(seconds // 60) * 60
        rest = f"{seconds - whole:.6f}".rstrip("0").rstrip(".") + "s"
        return rest if not whole else format_duration(whole) + rest
    left, words = int(seconds), ""
    for unit in "dhms":
        count, left = divmod(left, _SECONDS[unit])
        words += f"{count}{unit}" if count else ""
    return words or "0s"


def parse_size(text: str) -> int:
    """Bytes of "10G", "10GiB", "512M", "1.5T", "80GB", "4096B".

    K M G T P, alone or with iB, are powers of 1024, as for Slurm and NVML; with B alone (kB, MB,
    GB) powers of 1000. A bare number is refused, except "0". Raises UnitError.
    """
    given = text.strip().lower()
    if given == "0":
        return 0
    match = _SIZE.fullmatch(given)
    if match is None or (match[2] == "" and match[3] == "ib"):
        raise UnitError("size", text)
    if match[2] == "" and match[3] is None:
        raise UnitError("size_without_unit", text)
    base: int = 1000 if match[3] == "b" else 1024
    whole, _, part = match[1].partition(".")
    scale: int = base ** _POWERS[match[2]]
    count: int = int(whole) * scale + (int(part) * scale // 10 ** len(part) if part else 0)
    if count > LARGEST_BYTES:
        raise UnitError("size_too_large", text)
    return count


def format_size(count: int) -> str:
    """ "10G", "512M", "4097B": exact, what `parse_size` reads back to the same bytes."""
    for unit, power in (("P", 5), ("T", 4), ("G", 3), ("M", 2), ("K", 1)):
        if count and count % 1024**power == 0:
            return f"{count // 1024**power}{unit}"
    return f"{count}B"
