"""Counts and sizes inside sentences: "1 GPU", "4 GPUs", "68.2 GiB". Pure."""

from __future__ import annotations

_UNITS = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")


def bytes_text(value: object) -> str:
    """ "10 GiB", "642 MiB", "68.2 GiB"; "–" for what is no number."""
    if not isinstance(value, int | float):
        return "–"
    number, unit = float(value), 0
    while abs(number) >= 1000 and unit < len(_UNITS) - 1:
        number /= 1024
        unit += 1
    digits = f"{number:.1f}".removesuffix(".0") if number < 100 else f"{number:.0f}"
    return f"{digits} {_UNITS[unit]}"


def gpus_text(language: str, count: int | float) -> str:
    """ "1 GPU", "4 GPUs", "4 张 GPU"."""
    if language == "zh":
        return f"{count} 张 GPU"
    return f"{count} GPU" if count == 1 else f"{count} GPUs"


def jobs_text(language: str, count: int) -> str:
    """ "1 job", "3 jobs", "3 个作业"."""
    if language == "zh":
        return f"{count} 个作业"
    return f"{count} job" if count == 1 else f"{count} jobs"
