"""What the agent believes of a LaunchSpec: nothing. Every field is held against its bounds here.

Pure, apart from the numbers of signals. Raises RefusedError with a code and a sentence.
"""

from __future__ import annotations

import math
import re
import signal
from collections.abc import Iterable

from roost.core.environments.names import is_reference
from roost.core.text import agent as text
from roost.wire.messages import LaunchSpec

MOST_JOB = 2**53
MOST_ATTEMPT = 999_999_999
MOST_BYTES = 4 * 1024 * 1024
MOST_WORDS = 100_000
MOST_VARIABLES = 10_000
MOST_SECONDS = 10 * 366 * 86400.0
MOST_GPUS = 256
LEAST_MEMORY = 16 * 1024 * 1024
_SIGNALS = frozenset(int(number) for number in signal.valid_signals())
_UUID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_./:-]{0,127}\Z")
_SHA256 = re.compile(r"[0-9a-fA-F]{64}\Z")


class RefusedError(Exception):
    """`code` is stable for programs and names a message of the `agent` catalogue."""

    def __init__(self, code: str, **numbers: object) -> None:
        self.code = code
        self.numbers = {key: str(value) for key, value in numbers.items()}
        self.text = text.MESSAGES[code][0].format(**self.numbers)
        super().__init__(self.text)


def _bad(detail: str) -> RefusedError:
    return RefusedError("bad_spec", detail=detail)


def check(spec: LaunchSpec) -> None:
    """Raises RefusedError for the first field that is out of bounds."""
    _whole("job", spec.job, 1, MOST_JOB)
    _whole("attempt", spec.attempt, 1, MOST_ATTEMPT)
    for name, value, most in (
        ("group", spec.group, 256),
        ("class", spec.priority_class, 64),
        ("name", spec.name, 4096),
    ):
        if len(value) > most or "\0" in value:
            raise _bad(f"{name} is longer than {most} characters or holds a NUL")
    _command(spec)
    _environment(spec.environment)
    _path("directory", spec.directory, absolute=True, empty=True)
    _environment_path(spec)
    if spec.output is not None:
        _path("output", spec.output, absolute=False, empty=False)
    _resources(spec)
    _times(spec)
    _whole("rows", spec.rows, 1, 65535)
    _whole("columns", spec.columns, 1, 65535)
    _whole("restart count", spec.restart_count, 0, MOST_JOB)
    for name, number in (("array id", spec.array_id), ("array index", spec.array_index)):
        if number is not None:
            _whole(name, number, 0, MOST_JOB)
    if spec.source is not None:
        if "\0" in spec.source.path or not 0 < len(spec.source.path) <= 4096:
            raise _bad("the source's path is empty, too long, or holds a NUL")
        if not _SHA256.match(spec.source.sha256):
            raise _bad("the source's hash is no SHA-256")


def _environment_path(spec: LaunchSpec) -> None:
    if bool(spec.env) != bool(spec.env_path):
        raise _bad("an environment without its path, or a path without its name")
    if not spec.env:
        return
    if not is_reference(spec.env):
        raise _bad("that is no name of an environment")
    path = spec.env_path.removeprefix(b"~")
    _path("environment's path", path, absolute=True, empty=False)
    if {b"", b".", b".."} & set(path.split(b"/")[1:]):
        raise _bad("the environment's path has a part that leads elsewhere")


def _command(spec: LaunchSpec) -> None:
    if bool(spec.argv) == (spec.script is not None):
        raise _bad("exactly one of a command and a script is needed")
    if spec.argv:
        _words("command", spec.argv)
        if not spec.argv[0]:
            raise _bad("the command is empty")
    else:
        _words("script arguments", spec.script_args)
        if not spec.script or len(spec.script) > MOST_BYTES:
            raise _bad(f"the script is empty or larger than {MOST_BYTES} bytes")


def _environment(variables: dict[bytes, bytes]) -> None:
    if len(variables) > MOST_VARIABLES:
        raise _bad(f"more than {MOST_VARIABLES} environment variables")
    size = 0
    for key, value in variables.items():
        if not key or b"=" in key or b"\0" in key or b"\0" in value:
            raise _bad("an environment variable has no name, or a NUL or = where none can be")
        size += len(key) + len(value) + 2
    if size > MOST_BYTES:
        raise _bad(f"the environment is larger than {MOST_BYTES} bytes")


def _resources(spec: LaunchSpec) -> None:
    _whole("cpus", spec.cpus, 0, 65536)
    if spec.memory_bytes is not None:
        _whole("memory", spec.memory_bytes, LEAST_MEMORY, 2**62)
    if spec.max_processes is not None:
        _whole("number of processes", spec.max_processes, 1, 4_194_304)
    if len(spec.gpus) > MOST_GPUS or len({gpu.uuid for gpu in spec.gpus}) != len(spec.gpus):
        raise _bad("too many GPUs, or one GPU twice")
    for gpu in spec.gpus:
        if not _UUID.match(gpu.uuid):
            raise _bad("a GPU's UUID has characters that no UUID has")
        if gpu.memory_bytes is not None:
            _whole("GPU memory", gpu.memory_bytes, 1, 2**62)
    if spec.gpu_compute_percent is not None:
        _whole("share of a GPU's compute in percent", spec.gpu_compute_percent, 1, 100)
        if len(spec.gpus) != 1 or spec.gpus[0].memory_bytes is None:
            raise _bad("a share of a GPU's compute without a share of its memory")


def _times(spec: LaunchSpec) -> None:
    if spec.umask is not None:
        _whole("umask", spec.umask, 0, 0o777)
    for number in (spec.stop_signal, spec.warn_signal):
        if number is not None and number not in _SIGNALS:
            raise _bad(f"there is no signal {number}")
    for name, value, least in (
        ("walltime", spec.walltime_s, 0.001),
        ("warning time", spec.warn_before_s, 0.0),
        ("kill wait", spec.kill_wait_s, 0.0),
        ("saving limit", spec.saving_limit_s, 0.0),
    ):
        if value is not None and not (math.isfinite(value) and least <= value <= MOST_SECONDS):
            raise _bad(f"{name} is no span of time between 0 and ten years")


def seconds(name: str, value: float) -> float:
    """A grace or period from outside. Raises RefusedError for what is no span."""
    if not math.isfinite(value) or not 0 <= value <= MOST_SECONDS:
        raise _bad(f"{name} is no span of time between 0 and ten years")
    return value


def _whole(name: str, value: int, least: int, most: int) -> None:
    if not least <= value <= most:
        raise _bad(f"{name} is {value}, and must be from {least} to {most}")


def _words(name: str, words: Iterable[bytes]) -> None:
    listed = list(words)
    if len(listed) > MOST_WORDS or sum(len(word) + 1 for word in listed) > MOST_BYTES:
        raise _bad(f"the {name} are more than {MOST_WORDS} words or {MOST_BYTES} bytes")
    if any(b"\0" in word for word in listed):
        raise _bad(f"the {name} hold a NUL")


def _path(name: str, path: bytes, absolute: bool, empty: bool) -> None:
    if not path and empty:
        return
    if not path or len(path) > 4095 or b"\0" in path:
        raise _bad(f"the {name} is empty, longer than 4095 bytes, or holds a NUL")
    if absolute and not path.startswith(b"/"):
        raise _bad(f"the {name} is not an absolute path")
