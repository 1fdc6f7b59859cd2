"""The programs that build environments, found on this machine, and how one of them is run."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence

from roost.core.text.printable import printable
from roost.machine.environments.place import EnvError

CONDAS = ("micromamba", "mamba", "conda")
DROPPED = (
    *("VIRTUAL_ENV", "CONDA_PREFIX", "CONDA_DEFAULT_ENV", "CONDA_SHLVL", "PYTHONHOME"),
    *("PYTHONPATH", "PYTHONSTARTUP", "UV_PYTHON", "UV_PROJECT_ENVIRONMENT", "__PYVENV_LAUNCHER__"),
)
LAST_LINES = 30


def uv() -> str:
    """The program uv: installed with Roost, else on PATH. Raises EnvError."""
    beside = os.path.join(os.path.dirname(sys.executable), "uv")
    if os.access(beside, os.X_OK):
        return beside
    found = shutil.which("uv")
    if found is None:
        raise EnvError("no_uv")
    return found


def conda() -> str | None:
    """micromamba, mamba or conda, whichever is found first; None where there is none."""
    return next((path for name in CONDAS if (path := shutil.which(name))), None)


def clean_environment(more: Mapping[str, str]) -> dict[str, str]:
    """The person's variables without those of an environment that is active just now."""
    made = {key: value for key, value in os.environ.items() if key not in DROPPED}
    made.setdefault("UV_PYTHON_DOWNLOADS", "never")
    made["UV_NO_PROGRESS"] = "1"
    made.update(more)
    return made


def run(
    words: Sequence[str],
    *,
    where: str,
    more: Mapping[str, str] | None = None,
    fault: str = "build_failed",
    timeout_s: float | None = None,
) -> str:
    """Runs a program and returns its standard output. Raises EnvError with the last lines
    of what it said, each without control characters."""
    try:
        done = subprocess.run(
            list(words), cwd=where, env=clean_environment(more or {}), stdin=subprocess.DEVNULL,
            capture_output=True, check=False, timeout=timeout_s,
        )  # fmt: skip
    except OSError as error:
        raise EnvError(fault, program=words[0], text=error.strerror or "") from error
    except subprocess.TimeoutExpired:
        raise EnvError(fault, program=words[0], text="…") from None
    if done.returncode != 0:
        said = [printable(line) for line in done.stderr.splitlines() if line.strip()]
        text = "\n  ".join(said[-LAST_LINES:]) or str(done.returncode)
        raise EnvError(fault, program=os.path.basename(words[0]), text=text)
    return done.stdout.decode("utf-8", "surrogateescape")


def attempt(words: Sequence[str], *, where: str) -> int:
    """Runs a program for what it does; its exit code. Raises EnvError."""
    try:
        done = subprocess.run(
            list(words), cwd=where, env=clean_environment({}), stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False,
        )  # fmt: skip
    except OSError as error:
        raise EnvError("build_failed", program=words[0], text=str(error)) from error
    return done.returncode
