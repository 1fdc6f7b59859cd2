"""What comes in and what goes out, for validation and for the OpenAPI document.

Answers are written by `render` without these models, for speed; a test holds both together.
"""

from __future__ import annotations

import base64
import binascii
import re
import signal as signals
import unicodedata
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, ConfigDict, Field, WithJsonSchema

from roost.server.api.shapes import In, Out

MAX_REASON = 500
MAX_NAME = 200
MAX_KEY = 128
MAX_ENVIRONMENT_BYTES = 256 * 1024
MAX_SCRIPT_BYTES = 1024 * 1024
MAX_ARGV_BYTES = 2 * 1024 * 1024
MAX_PATH_BYTES = 4096
MAX_BODY_BYTES = 8 * 1024 * 1024
MAX_JOB = 2**63 - 1
MAX_WALLTIME_S = 10 * 366 * 86_400
MIN_MEMORY_BYTES = 16 * 1024 * 1024
_BYTES_SCHEMA = {
    "anyOf": [
        {"type": "string"},
        {
            "type": "object",
            "properties": {"base64": {"type": "string", "contentEncoding": "base64"}},
            "required": ["base64"],
            "additionalProperties": False,
        },
    ]
}


def bytes_of(value: Any) -> bytes:
    """Text as UTF-8, `{"base64": …}` as its bytes. Raises ValueError."""
    if isinstance(value, bytes):
        return value
    if isinstance(value, str):
        try:
            return value.encode("utf-8")
        except UnicodeEncodeError:
            raise ValueError('half a character (a lone surrogate); send {"base64": …}') from None
    if isinstance(value, dict) and set(value) == {"base64"} and isinstance(value["base64"], str):
        try:
            return base64.b64decode(value["base64"], validate=True)
        except (binascii.Error, ValueError):
            raise ValueError("this is no base64") from None
    raise ValueError('give text, or {"base64": …}')


def pairs_of(value: Any) -> Any:
    """An environment as pairs of bytes, from an object or a list of pairs. Raises ValueError."""
    if isinstance(value, dict):
        value = list(value.items())
    if not isinstance(value, list):
        raise ValueError("give an object, or a list of [name, value]")
    pairs = []
    for pair in value:
        if not isinstance(pair, list | tuple) or len(pair) != 2:
            raise ValueError("give an object, or a list of [name, value]")
        pairs.append((bytes_of(pair[0]), bytes_of(pair[1])))
    return pairs


Raw = Annotated[bytes, BeforeValidator(bytes_of), WithJsonSchema(_BYTES_SCHEMA)]
Environment = Annotated[
    list[tuple[bytes, bytes]],
    BeforeValidator(pairs_of),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "object", "additionalProperties": _BYTES_SCHEMA},
                {
                    "type": "array",
                    "items": {
                        "type": "array", "minItems": 2, "maxItems": 2, "items": _BYTES_SCHEMA,
                    },
                },
            ]
        }
    ),
]  # fmt: skip
JobNumber = Annotated[int, Field(ge=1, le=MAX_JOB)]
Bytes64 = Annotated[int, Field(ge=1, le=2**62)]


class SourceIn(In):
    path: Annotated[str, Field(max_length=MAX_PATH_BYTES)]
    sha256: Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
    git_commit: Annotated[str, Field(pattern="^[0-9a-f]{7,64}$")] | None = None
    git_dirty: bool | None = None
    changed: bool | None = None


class SubmissionIn(In):
    """A submission: exactly one of `command` and `script`."""

    command: Annotated[list[Raw], Field(max_length=100_000)] | None = None
    script: Raw | None = None
    script_name: Annotated[str, Field(max_length=MAX_PATH_BYTES)] | None = None
    script_args: Annotated[list[Raw], Field(max_length=100_000)] = Field(default=[])
    name: str | None = None
    group: Annotated[str, Field(max_length=MAX_NAME)] | None = None
    class_: Annotated[Literal["urgent", "regular", "background"] | None, Field(alias="class")] = (
        None
    )
    gpus: Annotated[int, Field(ge=-(2**31), le=2**31)] | None = None
    gpus_most: Annotated[int, Field(ge=-(2**31), le=2**31)] | None = None
    gpu_memory_bytes: Annotated[int, Field(ge=-(2**62), le=2**62)] | None = None
    gpu_compute_percent: Annotated[int, Field(ge=-(2**31), le=2**31)] | None = None
    gpu_model: Annotated[str, Field(max_length=MAX_NAME)] | None = None
    cpus: Annotated[int, Field(ge=-(2**31), le=2**31)] = 0
    memory_bytes: Annotated[int, Field(ge=-(2**62), le=2**62)] | None = None
    walltime_s: Annotated[int, Field(ge=-(2**31), le=MAX_WALLTIME_S)] | None = None
    array: Annotated[str, Field(max_length=100_000)] | None = None
    after: Annotated[list[JobNumber], Field(max_length=1000)] = Field(default=[])
    begin_time: Annotated[str, Field(max_length=64)] | None = None
    held: bool = False
    directory: Raw = b"/"
    environment: Environment = Field(default=[])
    signal: Annotated[str, Field(max_length=64)] | None = None
    output: Raw | None = None
    pty: bool = False
    rows: Annotated[int, Field(ge=1, le=10_000)] = 24
    columns: Annotated[int, Field(ge=1, le=10_000)] = 80
    umask: Annotated[int, Field(ge=0, le=0o777)] | None = None
    requeue: bool = True
    reason: Annotated[str, Field(max_length=MAX_REASON)] = ""
    env: Annotated[str, Field(max_length=MAX_NAME)] = ""
    source: SourceIn | None = None


class SignalIn(In):
    signal: Annotated[str, Field(max_length=64)]


class DrainIn(In):
    reason: Annotated[str, Field(max_length=MAX_REASON)] = ""


class FreeItemIn(In):
    pid: Annotated[int, Field(ge=1, le=2**31 - 1)]
    start_ticks: Annotated[int, Field(ge=0, le=2**63 - 1)]


class FreeIn(In):
    items: Annotated[list[FreeItemIn], Field(min_length=1, max_length=10_000)]
    grace_s: Annotated[float, Field(ge=0, le=300, allow_inf_nan=False)] = 10.0


class Problem(Out):
    """RFC 9457. `detail` is one sentence for a person; `type` ends with a stable code."""

    type: str
    title: str
    status: int
    detail: str


class Ping(Out):
    roost: str
    server: str
    user: str
    uid: int
    operator: bool
    simulated: bool
    time_zone: str
    agent: bool
    groups: list[str]
    role: str
    signed_in: bool


class RequestOut(Out):
    gpus: int
    gpus_most: int | None
    gpu_memory_bytes: int | None
    gpu_compute_percent: int | None
    gpu_model: str | None
    cpus: int
    memory_bytes: int | None
    walltime_s: int | None


class JobOut(Out):
    model_config = ConfigDict(populate_by_name=True)

    job: int
    name: str
    user: str
    group: str
    class_: Annotated[str, Field(alias="class")]
    state: str
    gpus: list[str]
    gpu_indices: list[int]
    cpus: int
    memory_bytes: int | None
    gpu_memory_bytes: int | None
    gpu_compute_percent: int | None
    request: RequestOut
    submit_time: str
    begin_time: str | None
    start_time: str | None
    suspended_time: str | None
    suspended_s: float
    latest_end: str | None
    end_time: str | None
    exit_code: int | None
    signal: int | None
    end_reason: str | None
    text: str
    gpu_s: float
    energy_j: float | None
    mean_utilisation_percent: float | None
    peak_memory_bytes: int | None
    cpu_s: float | None
    restarts: int
    attempt: int
    after: list[int]
    array_id: int | None
    array_index: int | None
    held: bool
    directory: str | None
    output: str | None
    command: list[str]
    pty: bool
    env: str | None
    source: dict[str, Any] | None
    wait: str | None
    forecast_start: str | None


class JobsOut(Out):
    jobs: list[JobOut]


class SubmittedOut(Out):
    job: int
    state: str
    jobs: list[int] | None = None
    notes: list[str] = Field(default=[])


class ReasonOut(Out):
    code: str
    text: str
    rule: str
    blocking_jobs: list[int]
    blocking_bookings: list[int]


class UnknownOut(Out):
    code: str
    text: str
    blocking_jobs: list[int]


class WhyOut(Out):
    job: int
    state: str
    reasons: list[ReasonOut]
    forecast_start: str | None
    forecast_latest: str | None
    forecast_unknown: UnknownOut | None
    startable_now: int | None


class FreePlanOut(Out):
    gpu_index: int
    gpu_uuid: str
    items: list[dict[str, Any]]
    jobs: list[dict[str, Any]]
    others: list[dict[str, Any]]
    time: str


class FreeOut(Out):
    processes: list[dict[str, Any]]
    memory_before_bytes: dict[str, int]
    memory_after_bytes: dict[str, int]


class DoneOut(Out):
    done: bool


class DrainedOut(DoneOut):
    gpu_uuid: str


def name_is_fit(name: str) -> bool:
    """At most 200 characters of any script, no control characters, surrogates or line breaks.
    Marks that turn the direction of writing are the author's; whoever shows them escapes them."""
    if name.isascii() and name.isprintable():
        return len(name) <= MAX_NAME
    refused = ("Cc", "Cs", "Zl", "Zp")
    return len(name) <= MAX_NAME and not any(unicodedata.category(c) in refused for c in name)


def reason_is_fit(reason: str) -> bool:
    """One line, as for a name."""
    return all(name_is_fit(c) for c in reason)


_PART = re.compile(r"(\d{1,9})(?:-(\d{1,9})(?::(\d{1,9}))?)?")


def array_of(text: str, most: int) -> tuple[tuple[int, ...], int | None, int]:
    """Indices of "0-9,20%2", how many at once, and their count, which may exceed `most`: then no
    indices are made. Raises ValueError.

    >>> array_of("0-4:2,7%2", 100)
    ((0, 2, 4, 7), 2, 4)
    """
    body, percent, limit = text.partition("%")
    at_once: int | None = None
    if percent:
        if not limit.isascii() or not limit.isdigit() or not 0 < int(limit[:9]) <= 10**9:
            raise ValueError(text)
        at_once = int(limit[:9])
    ranges = []
    for part in body.split(","):
        found = _PART.fullmatch(part)
        if found is None or not part.isascii():
            raise ValueError(text)
        first = int(found[1])
        last = int(found[2]) if found[2] else first
        step = int(found[3]) if found[3] else 1
        if last < first or step == 0:
            raise ValueError(text)
        ranges.append(range(first, last + 1, step))
    count = sum(map(len, ranges))
    if count > most:
        return (), at_once, count
    indices = sorted({index for part in ranges for index in part})
    return tuple(indices), at_once, len(indices)


def signal_number(text: str) -> int:
    """A signal's number by name ("USR1", "SIGUSR1") or number. Raises ValueError."""
    if text.isascii() and text.isdigit() and len(text) <= 2:
        number = int(text)
        if number in set(signals.valid_signals()):
            return number
        raise ValueError(text)
    name = text.upper()
    found = getattr(signals, name if name.startswith("SIG") else f"SIG{name}", None)
    if not isinstance(found, signals.Signals):
        raise ValueError(text)
    return int(found)


def warning_of(text: str) -> tuple[int, float]:
    """("USR1@60") → (number, seconds before the end); 60 s where none are said. ValueError."""
    name, at, seconds = text.partition("@")
    if not at:
        return signal_number(name), 60.0
    if not (seconds.isascii() and seconds.isdigit() and len(seconds) <= 7):
        raise ValueError(text)
    return signal_number(name), float(seconds)
