"""sbatch's options as options of `roost run` (sbatch(1) of Slurm 22.05 to 24.11).

A reader returns what it means here, {} for what is so anyway, None for what has no meaning here.
"""

from __future__ import annotations

from roost.cli.values import UsageError, duration, size

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

SHORT = {
    "-a": "--array",
    "-A": "--account",
    "-b": "--begin",
    "-c": "--cpus-per-task",
    "-D": "--chdir",
    "-d": "--dependency",
    "-e": "--error",
    "-G": "--gpus",
    "-H": "--hold",
    "-J": "--job-name",
    "-N": "--nodes",
    "-n": "--ntasks",
    "-o": "--output",
    "-p": "--partition",
    "-q": "--qos",
    "-t": "--time",
    "-W": "--wait",
    "-C": "--constraint",
    "-L": "--licenses",
    "-M": "--clusters",
    "-w": "--nodelist",
    "-x": "--exclude",
    "-F": "--nodefile",
    "-i": "--input",
    "-m": "--distribution",
    "-S": "--core-spec",
}
_FLAGS = """--hold --requeue --no-requeue --wait --exclusive --contiguous --overcommit --parsable
 --quiet --verbose --spread-job --use-min-nodes --reboot --ignore-pbs --no-kill --oversubscribe
 --test-only --kill-on-invalid-dep -k -O -Q -s -v"""
FLAGS = frozenset(_FLAGS.split())


def slurm_time(name: str, text: str) -> int:
    """Seconds of Slurm's minutes, M:S, H:M:S, D-H, D-H:M, D-H:M:S (sbatch(1), --time)."""
    days, dash, clock = text.rpartition("-")
    parts = clock.split(":")
    good = len(parts) <= 3 and all(p.isascii() and p.isdigit() and len(p) < 8 for p in parts)
    good = good and (not dash or (days.isascii() and days.isdigit() and len(days) < 6))
    if not good:
        return duration(name, text)
    numbers = [int(part) for part in parts]
    if dash:
        hours, minutes, seconds = [*numbers, 0, 0][:3]
    elif len(numbers) == 1:
        hours, minutes, seconds = 0, numbers[0], 0
    elif len(numbers) == 2:
        hours, minutes, seconds = 0, numbers[0], numbers[1]
    else:
        hours, minutes, seconds = numbers
    total = int(days or 0) * 86400 + hours * 3600 + minutes * 60 + seconds
    if total <= 0:
        raise UsageError("not_a_duration", option=name, given=text)
    return total


def _time(name: str, text: str) -> dict[str, Any] | None:
    if text.upper() in ("UNLIMITED", "INFINITE", "0"):
        return None
    return {"time": slurm_time(name, text)}


def _memory(name: str, text: str) -> dict[str, Any] | None:
    if text in ("0", ""):
        return None
    return {"mem": size(name, text + "M" if text.isdigit() else text)}


def _gpus(name: str, text: str) -> dict[str, Any] | None:
    model, colon, number = text.rpartition(":")
    options: dict[str, Any] = {"gpus": _number(name, number if colon else text)}
    if model:
        options["gpu_model"] = model
    return options


def _gres(name: str, text: str) -> dict[str, Any] | None:
    """ "mps:30" is 30 % of one GPU's compute, as gres.html of Slurm has it where each GPU counts
    100; where it counts more, a larger number has no meaning that could be known here. Shards
    have none at all: how many make a GPU is that cluster's setting."""
    kind, _, rest = text.partition(":")
    if kind == "mps" and rest.isascii() and rest.isdigit() and 1 <= int(rest[:9]) <= 100:
        return {"gpu_compute": int(rest)}
    if kind != "gpu" or "," in text:
        return None
    if rest and not rest.rpartition(":")[2].isdigit():
        rest += ":1"
    return _gpus(name, rest or "1")


def _dependency(name: str, text: str) -> dict[str, Any] | None:
    after: list[int] = []
    for part in text.split(","):
        kind, _, numbers = part.partition(":")
        if kind != "afterok" or not numbers:
            return None
        after += [_number(name, number) for number in numbers.split(":")]
    return {"after": [after]}


def _output(name: str, text: str) -> dict[str, Any] | None:
    plain = text.replace("%%", "")
    known = all(piece[:1] in "jAaxu" for piece in plain.split("%")[1:])
    return {"output": text} if known and text else None


def _signal(name: str, text: str) -> dict[str, Any] | None:
    from roost.cli.values import signal_name

    return {"signal": signal_name(name, text.removeprefix("R:").removeprefix("B:"))}


def _tasks(name: str, text: str) -> dict[str, Any] | None:
    return {"cpus": _number(name, text)} if text != "1" else {}


def _one(name: str, text: str) -> dict[str, Any] | None:
    return {} if text in ("1", "1-1") else None


def _qos(name: str, text: str) -> dict[str, Any] | None:
    return {"class": text} if text in ("urgent", "regular", "background") else None


def _export(name: str, text: str) -> dict[str, Any] | None:
    return {} if text == "ALL" else None


def _text(key: str) -> Callable[[str, str], dict[str, Any] | None]:
    return lambda name, text: {key: text} if text else None


def _flag(key: str) -> Callable[[str, str], dict[str, Any] | None]:
    return lambda name, text: {key: True}


def _array(name: str, text: str) -> dict[str, Any] | None:
    from roost.cli.values import array

    return {"array": array(name, text)}


def _number(name: str, text: str) -> int:
    if not (text.isascii() and text.isdigit()) or len(text) > 15:
        raise UsageError("not_a_number", option=name, given=text)
    return int(text)


READERS: dict[str, Callable[[str, str], dict[str, Any] | None]] = {
    "--account": _text("group"),
    "--array": _array,
    "--begin": _text("begin"),
    "--chdir": _text("chdir"),
    "--cpus-per-task": lambda name, text: {"cpus": _number(name, text)},
    "--dependency": _dependency,
    "--export": _export,
    "--gpus": _gpus,
    "--gpus-per-node": _gpus,
    "--gres": _gres,
    "--hold": _flag("hold"),
    "--job-name": _text("name"),
    "--mem": _memory,
    "--no-requeue": _flag("no_requeue"),
    "--nodes": _one,
    "--ntasks": _tasks,
    "--ntasks-per-node": _tasks,
    "--output": _output,
    "--qos": _qos,
    "--requeue": lambda name, text: {},
    "--signal": _signal,
    "--time": _time,
    "--wait": _flag("wait"),
}
