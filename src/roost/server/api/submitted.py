"""A submission as it came, into an intent: everything that can be refused by itself."""

from __future__ import annotations

from datetime import datetime

from roost.core.model import PriorityClass, Request
from roost.core.rules.model import Rules
from roost.server.api import models
from roost.server.api.models import SubmissionIn
from roost.server.api.render import zone
from roost.server.intents import Person, Submit
from roost.server.refusal import RefusalError
from roost.store.records import JobInput, Source


def intent_of(
    given: SubmissionIn, person: Person, rules: Rules, key: str | None = None, env_path: bytes = b""
) -> Submit:
    """`env_path`: of the environment that was asked for. Raises RefusalError, naming the key and
    the limit."""
    if (given.command is None) == (given.script is None) or given.command == []:
        raise RefusalError(422, "problem.command_or_script", {"key": "command"})
    argv = tuple(given.command or ())
    if argv and not argv[0]:
        raise RefusalError(422, "problem.command_or_script", {"key": "command"})
    args = tuple(given.script_args)
    _check_bytes(given, argv)
    name = given.name if given.name is not None else _name_of(given, argv)
    if not models.name_is_fit(name):
        raise RefusalError(
            422, "problem.bad_name", {"key": "name", "limit": models.MAX_NAME},
            limit=models.MAX_NAME,
        )  # fmt: skip
    if given.memory_bytes is not None and 0 < given.memory_bytes < models.MIN_MEMORY_BYTES:
        raise RefusalError(
            422, "door.memory_small", {"key": "memory_bytes", "limit": models.MIN_MEMORY_BYTES},
            bytes=given.memory_bytes,
        )  # fmt: skip
    if not models.reason_is_fit(given.reason):
        raise RefusalError(
            422, "problem.bad_reason", {"key": "reason", "limit": models.MAX_REASON},
            limit=models.MAX_REASON,
        )  # fmt: skip
    indices, at_once = _array(given.array, rules.max_array)
    warn_signal, warn_before_s = _warning(given.signal)
    script_name = (given.script_name or "script").encode("utf-8", "replace")
    gpus = given.gpus
    if gpus is None:
        gpus = 0 if given.gpu_memory_bytes is not None else 1
    return Submit(
        person=person,
        key=key,
        name=name,
        request=Request(
            gpus=gpus,
            gpu_memory_bytes=given.gpu_memory_bytes,
            gpu_model=given.gpu_model,
            cpus=given.cpus,
            memory_bytes=given.memory_bytes,
            walltime_s=given.walltime_s,
            gpus_most=given.gpus_most,
            gpu_compute_percent=given.gpu_compute_percent,
        ),
        given=JobInput(
            argv=argv,
            script=given.script,
            script_args=args,
            environment=tuple(given.environment),
            umask=given.umask,
            rows=given.rows,
            columns=given.columns,
            warn_signal=warn_signal,
            warn_before_s=warn_before_s,
            env_path=env_path,
        ),
        command=argv or (script_name, *args),
        directory=given.directory,
        group=given.group,
        priority_class=PriorityClass(given.class_) if given.class_ else None,
        output=given.output or None,
        indices=indices,
        array_limit=at_once,
        after=tuple(sorted(set(given.after))),
        begin_at=time_of("begin_time", given.begin_time, rules.time_zone),
        held=given.held,
        requeue=given.requeue,
        pty=given.pty,
        reason=given.reason.strip(),
        env=given.env,
        source=None
        if given.source is None
        else Source(
            path=given.source.path,
            sha256=given.source.sha256,
            git_commit=given.source.git_commit,
            git_dirty=given.source.git_dirty,
        ),
    )


def _name_of(given: SubmissionIn, argv: tuple[bytes, ...]) -> str:
    """The program's or script's name, as far as it is fit for a name."""
    raw = argv[0].decode("utf-8", "replace") if argv else (given.script_name or "script")
    name = raw.rstrip("/").rsplit("/", 1)[-1][: models.MAX_NAME]
    return "".join(c if models.name_is_fit(c) else "?" for c in name) or "job"


def _check_bytes(given: SubmissionIn, argv: tuple[bytes, ...]) -> None:
    words = argv or tuple(given.script_args)
    environment = given.environment
    sizes = (
        ("command", sum(len(word) + 1 for word in words), models.MAX_ARGV_BYTES),
        ("script", len(given.script or b""), models.MAX_SCRIPT_BYTES),
        (
            "environment",
            sum(len(key) + len(value) + 2 for key, value in environment),
            models.MAX_ENVIRONMENT_BYTES,
        ),
        ("directory", len(given.directory), models.MAX_PATH_BYTES),
        ("output", len(given.output or b""), models.MAX_PATH_BYTES),
    )
    for key, size, limit in sizes:
        if size > limit:
            raise RefusalError(
                413, "problem.too_large", {"key": key, "limit": limit},
                key=key, size=size, limit=limit,
            )  # fmt: skip
    texts = (
        ("command", b"".join(words)),
        ("directory", given.directory),
        ("output", given.output or b""),
        ("environment", b"".join(key + value for key, value in environment)),
    )
    for key, raw in texts:
        if b"\0" in raw:
            raise RefusalError(422, "problem.has_nul", {"key": key}, key=key)
    if not given.directory.startswith(b"/"):
        shown = given.directory.decode("utf-8", "replace")
        raise RefusalError(
            422, "problem.not_absolute", {"key": "directory"}, key="directory", value=shown
        )
    for variable, _ in environment:
        if not variable or b"=" in variable:
            shown = variable.decode("utf-8", "replace") or '""'
            raise RefusalError(422, "problem.bad_environment", {"key": "environment"}, value=shown)


def _array(text: str | None, most: int) -> tuple[tuple[int, ...] | None, int | None]:
    if text is None:
        return None, None
    try:
        indices, at_once, count = models.array_of(text, most)
    except ValueError:
        raise RefusalError(422, "problem.bad_array", {"key": "array"}, value=text[:100]) from None
    if count > most:
        raise RefusalError(
            422, "problem.array_too_large", {"key": "array", "limit": most},
            count=count, limit=most,
        )  # fmt: skip
    return indices, at_once


def _warning(text: str | None) -> tuple[int | None, float]:
    if text is None:
        return None, 60.0
    try:
        return models.warning_of(text)
    except ValueError:
        raise RefusalError(422, "problem.bad_signal", {"key": "signal"}, value=text) from None


def time_of(key: str, text: str | None, time_zone: str) -> float | None:
    """A time in ISO 8601 as seconds since the epoch; without an offset in the rules' zone.

    Raises RefusalError.
    """
    if not text:
        return None
    try:
        found = datetime.fromisoformat(text)
        if found.tzinfo is None:
            found = found.replace(tzinfo=zone(time_zone))
        return found.timestamp()
    except (ValueError, OverflowError):
        raise RefusalError(
            422, "problem.bad_time", {"key": key}, key=key, value=text[:100]
        ) from None
