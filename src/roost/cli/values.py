"""What people write for numbers, sizes, spans, jobs and signals, read strictly. Knows no command.

Every reader takes the option's name for its error, and the text.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

MAX_NUMBER = 2**53
MAX_JOBS = 100_000


class UsageError(Exception):
    """The words are wrong: `code` names a sentence of the `cli_errors` area. Exit code 2."""

    def __init__(self, code: str, **numbers: object) -> None:
        super().__init__(code, numbers)
        self.code = code
        self.numbers = numbers


def whole(name: str, text: str) -> int:
    """A whole number, negative ones too: the daemon says what it has instead."""
    digits = text[1:] if text[:1] in "+-" else text
    if not (digits.isascii() and digits.isdigit()) or len(digits) > 15:
        raise UsageError("not_a_number", option=name, given=text)
    return int(text)


def count(name: str, text: str) -> int:
    """A whole number of at least 1."""
    value = whole(name, text)
    if value < 1:
        raise UsageError("not_positive", option=name, given=text)
    return value


def year(name: str, text: str) -> int:
    value = whole(name, text)
    if not 2000 <= value <= 2099:
        raise UsageError("not_a_year", option=name, given=text)
    return value


def gpus(name: str, text: str) -> int | tuple[int, int]:
    """ "4", or "2..8": at least 2, and up to 8 where they are free."""
    least, dots, most = text.partition("..")
    return (whole(name, least), whole(name, most)) if dots else whole(name, text)


def percent(name: str, text: str) -> int:
    """ "30" or "30%": how much of it there is, the daemon says."""
    return whole(name, text.removesuffix("%"))


_UNITS = {"": 0, "k": 10, "m": 20, "g": 30, "t": 40, "p": 50}


def size(name: str, text: str) -> int:
    """Bytes of "10G", "1.5 GiB", "512M", "16GB": all binary (G = 2**30), as nvidia-smi and Slurm
    count. A number without a unit is refused: it could be bytes or megabytes."""
    lower = text.strip().lower()
    unit = lower.lstrip("0123456789.")
    number = lower[: len(lower) - len(unit)]
    unit = unit.strip()
    letter = unit.removesuffix("ib").removesuffix("b") if unit not in ("b", "") else ""
    if not _decimal(number) or letter not in _UNITS or (unit == "" and float(number) != 0):
        raise UsageError("not_a_size", option=name, given=text)
    value = float(number) * (1 << _UNITS[letter])
    if value < 1 or value > MAX_NUMBER:
        raise UsageError("not_a_size", option=name, given=text)
    return int(value)


_SPANS = {"s": 1, "sec": 1, "m": 60, "min": 60, "h": 3600, "hr": 3600, "d": 86400, "w": 604800}


def duration(name: str, text: str) -> int:
    """Seconds of "4h", "1h30m", "2d", "90m", "45s", "1-12:00:00", "2:30:00". A bare number is
    refused: Slurm counts it in minutes, others in seconds."""
    lower = text.strip().lower().replace(" ", "")
    seconds = _clock(lower) if ":" in lower else _spans(lower)
    if seconds is None or not 0 < seconds <= 10 * 366 * 86400:
        raise UsageError("not_a_duration", option=name, given=text)
    return seconds


def cost(name: str, text: str) -> float:
    """A duration in seconds that may be none: "0s"."""
    return 0.0 if text.strip() in ("0", "0s") else float(duration(name, text))


def checkpoint(name: str, text: str) -> float | None:
    """When a job saves its work: 0 "signal" (when asked to go), None "none", else every so long."""
    if text == "none":
        return None
    return 0.0 if text == "signal" else float(duration(name, text))


def _spans(text: str) -> int | None:
    total, rest = 0.0, text
    while rest:
        unit_and_rest = rest.lstrip("0123456789.")
        number = rest[: len(rest) - len(unit_and_rest)]
        rest = unit_and_rest.lstrip("abcdefghijklmnopqrstuvwxyz")
        unit = unit_and_rest[: len(unit_and_rest) - len(rest)]
        if not _decimal(number) or unit not in _SPANS:
            return None
        total += float(number) * _SPANS[unit]
    return int(total)


def _clock(text: str) -> int | None:
    days, dash, clock = text.rpartition("-")
    parts = clock.split(":")
    if len(parts) != 3 or not all(p.isascii() and p.isdigit() and len(p) <= 5 for p in parts):
        return None
    if dash and not (days.isascii() and days.isdigit() and len(days) <= 5):
        return None
    hours, minutes, seconds = (int(part) for part in parts)
    if minutes > 59 or seconds > 59:
        return None
    return int(days or 0) * 86400 + hours * 3600 + minutes * 60 + seconds


def seconds_or_default(name: str, text: str) -> float:
    """The pause of --watch, 2 s where none is written, at least 0.1 s."""
    if not text:
        return 2.0
    if not _decimal(text) or not 0.1 <= float(text) <= 86400:
        raise UsageError("not_seconds", option=name, given=text)
    return float(text)


def job(name: str, text: str) -> int:
    """The number of a job."""
    if not (text.isascii() and text.isdigit()) or not 0 < int(text[:19]) < MAX_NUMBER:
        raise UsageError("not_a_job", given=text)
    return int(text)


def jobs(name: str, text: str) -> list[int]:
    """Numbers of jobs: "42", "41,42", "41:42", "40-49"."""
    found: list[int] = []
    for part in text.replace(":", ",").split(","):
        first, dash, last = part.partition("-")
        low = job(name, first)
        high = job(name, last) if dash else low
        if high < low or high - low >= MAX_JOBS:
            raise UsageError("not_a_job", given=part)
        found += range(low, high + 1)
    return found


def gpu(name: str, text: str) -> str:
    """A GPU's index or UUID as written: the daemon knows which exist."""
    index = text.isascii() and text.isdigit() and len(text) < 6
    if not index and not text.upper().startswith(("GPU-", "MIG-")):
        raise UsageError("not_a_gpu", given=text)
    return text


def user(name: str, text: str) -> str:
    """An account's name as written; the daemon knows which exist."""
    if not text or len(text) > 256 or "\0" in text or "\n" in text:
        raise UsageError("not_a_user", given=text)
    return text


def states(name: str, text: str) -> list[str]:
    """States of jobs, "RUNNING,PENDING", in any case."""
    from roost.cli.commands import STATES

    found = []
    for part in text.split(","):
        word = part.strip().upper()
        if word not in STATES:
            choices = ", ".join(STATES)
            raise UsageError("not_a_choice", what=name, given=part, choices=choices, near="")
        found.append(word)
    return found


def array(name: str, text: str) -> str:
    """Indices of an array job, "0-9", "1,3,7", "0-99:10", "0-9%2" (at most two at once)."""
    indices, percent, at_once = text.partition("%")
    good = bool(indices) and (not percent or (_digits(at_once) and int(at_once) > 0))
    total = 0
    for part in indices.split(","):
        span, colon, step = part.partition(":")
        low, dash, high = span.partition("-")
        good = good and _digits(low) and (not dash or _digits(high))
        good = good and (not colon or (bool(dash) and _digits(step) and int(step) > 0))
        if not good:
            break
        if dash:
            good = int(high) >= int(low)
            total += (int(high) - int(low)) // int(step or 1) + 1
        else:
            total += 1
    if not good:
        raise UsageError("not_an_array", option=name, given=text)
    if total > MAX_JOBS:
        raise UsageError("array_too_large", option=name, given=text, jobs=total)
    return text


def signal_name(name: str, text: str) -> str:
    """ "USR1@60", "SIGUSR1", "10@120" as "USR1@60": the signal and how long before the end."""
    import signal

    word, at, before = text.partition("@")
    names = {each.name[3:]: int(each) for each in signal.Signals}
    word = word.upper().removeprefix("SIG")
    if word.isdigit():
        word = next((known for known, number in names.items() if str(number) == word), "")
    if word not in names or word in ("KILL", "STOP") or (at and not _digits(before)):
        raise UsageError("not_a_signal", option=name, given=text)
    return word + (f"@{int(before)}" if at else "")


def path(name: str, text: str) -> str:
    if not text or "\0" in text:
        raise UsageError("not_a_path", option=name)
    return text


def shell(name: str, text: str) -> str:
    from roost.cli.commands import SHELLS

    if text not in SHELLS:
        choices = ", ".join(SHELLS)
        raise UsageError("not_a_choice", what=name, given=text, choices=choices, near="")
    return text


def _digits(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= 9


def _decimal(text: str) -> bool:
    whole_part, dot, fraction = text.partition(".")
    digits = whole_part + fraction
    return (
        digits.isascii() and digits.isdigit() and len(digits) <= 15 and (not dot or bool(fraction))
    )


READERS: dict[str, Callable[[str, str], Any]] = {
    "whole": whole,
    "gpus": gpus,
    "year": year,
    "count": count,
    "size": size,
    "percent": percent,
    "duration": duration,
    "cost": cost,
    "checkpoint": checkpoint,
    "optional_seconds": seconds_or_default,
    "job": job,
    "jobs": jobs,
    "gpu": gpu,
    "user": user,
    "states": states,
    "array": array,
    "signal": signal_name,
    "path": path,
    "shell": shell,
}
