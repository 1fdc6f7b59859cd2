"""Numbers and times as people read them: with units, short, "–" for what is not known. Pure."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

UNKNOWN = "–"
_UNITS = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")


def size(value: Any) -> str:
    """ "68.2 GiB", "642 MiB": three digits at most before the unit changes."""
    if not isinstance(value, int | float):
        return UNKNOWN
    number, unit = float(value), 0
    while abs(number) >= 1000 and unit < len(_UNITS) - 1:
        number /= 1024
        unit += 1
    if unit >= 3 and number < 100:
        return f"{number:.1f} {_UNITS[unit]}"
    return f"{number:.0f} {_UNITS[unit]}"


def of_total(used: Any, total: Any) -> str:
    """ "68.2/80.0 GiB", with the unit of the total."""
    if not isinstance(total, int | float) or total <= 0:
        return size(used)
    unit = 3 if total >= 1 << 30 else 2
    scale = 1 << (10 * unit)
    first = f"{used / scale:.1f}" if isinstance(used, int | float) else UNKNOWN
    return f"{first}/{total / scale:.1f} {_UNITS[unit]}"


def number(value: Any, unit: str, digits: int = 0) -> str:
    """ "62°C", "98%"; UNKNOWN without the unit."""
    return f"{value:.{digits}f}{unit}" if isinstance(value, int | float) else UNKNOWN


def span(seconds: Any) -> str:
    """ "45s", "12m", "3h10m", "2d4h"."""
    if not isinstance(seconds, int | float):
        return UNKNOWN
    whole = max(0, int(seconds))
    if whole < 60:
        return f"{whole}s"
    if whole < 3600:
        return f"{whole // 60}m"
    if whole < 86400:
        hours, minutes = whole // 3600, whole % 3600 // 60
        return f"{hours}h{minutes:02d}m" if minutes else f"{hours}h"
    days, hours = whole // 86400, whole % 86400 // 3600
    return f"{days}d{hours}h" if hours else f"{days}d"


def epoch(iso: Any) -> float | None:
    """Seconds since 1970 of an ISO 8601 time with an offset; None for anything else.

    Without datetime, which costs more than this whole module. Days by Howard Hinnant's
    days_from_civil.
    """
    if not isinstance(iso, str) or len(iso) < 19:
        return None
    try:
        year, month, day = int(iso[:4]), int(iso[5:7]), int(iso[8:10])
        clock = int(iso[11:13]) * 3600 + int(iso[14:16]) * 60 + int(iso[17:19])
        rest = iso[19:]
        part = 0.0
        if rest.startswith("."):
            digits = rest[1:].rstrip("Z")
            for sign in "+-":
                digits = digits.partition(sign)[0]
            part, rest = float("0." + digits), rest[1 + len(digits) :]
        offset = 0
        if rest not in ("", "Z"):
            minutes = int(rest[1:3]) * 60 + int(rest[-2:])
            offset = (-minutes if rest[0] == "-" else minutes) * 60
    except ValueError:
        return None
    year -= month <= 2
    era = year // 400
    of_era = year - era * 400
    of_year = (153 * (month + (-3 if month > 2 else 9)) + 2) // 5 + day - 1
    days = era * 146097 + of_era * 365 + of_era // 4 - of_era // 100 + of_year - 719468
    return days * 86400 + clock + part - offset


def clock(iso: Any, now: Any = None) -> str:
    """ "17:40" on the day of `now`, else "12-03 17:40", as the time stands in its own zone."""
    if not isinstance(iso, str) or len(iso) < 16:
        return UNKNOWN
    if isinstance(now, str) and now[:10] == iso[:10]:
        return iso[11:16]
    return f"{iso[5:10]} {iso[11:16]}"


def since(iso: Any, now: Any) -> float | None:
    """Seconds from a time to `now`, both ISO 8601."""
    start, end = epoch(iso), epoch(now)
    return None if start is None or end is None else max(0.0, end - start)


def now_iso(like: Any = None) -> str:
    """This moment, ISO 8601, with the offset of another time of the daemon's (UTC without)."""
    import time

    offset = like[19:] if isinstance(like, str) else ""
    offset = offset[offset.find("+") if "+" in offset else offset.find("-") :] if offset else ""
    seconds = time.time()
    if len(offset) == 6 and offset[0] in "+-":
        minutes = int(offset[1:3]) * 60 + int(offset[4:6])
        seconds += 60 * (-minutes if offset[0] == "-" else minutes)
    else:
        offset = "+00:00"
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds)) + offset


def count(say: Callable[..., str], what: str, number: Any) -> str:
    """ "1 GPU", "4 GPUs" ("gpu"); "1 CPU core", "4 CPU cores" ("cpu")."""
    return say(f"{what}_1") if number == 1 else say(f"{what}_n", count=number)
