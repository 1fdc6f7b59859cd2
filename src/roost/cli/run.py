"""`roost run`: options and directives to a submission; then the number, or the wait for its end."""

from __future__ import annotations

import os

from roost.cli import submission as sub
from roost.cli.failure import CommandError
from roost.cli.source import of_command, of_file
from roost.cli.values import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime
    from typing import Any

    from roost.cli.context import Context

MAX_NAME = 200
DEFAULT_OUTPUT = ("roost-%j.out", "roost-%A_%a.out")


def run(context: Context) -> int:
    """Queues one job (or an array) and prints its number."""
    words = [os.fsencode(word) for word in context.given.arguments]
    options = dict(context.given.options)
    script = None
    if not context.given.dashes and is_script(words[0]):
        script = sub.script(words[0])
        options = with_directives(context, script, options, sub.shown(words[0]))
    exclude(options)
    answer = context.client().submit(body_of(context, words, script, options))  # type: ignore[arg-type]
    for note in answer.get("notes") or ():
        context.err(f"roost run: {note}")
    job = answer["job"]
    if options.get("pty"):
        from roost.cli.attach import attach

        return attach(context, job)
    if options.get("json"):
        context.out_json(dict(answer))
    elif not options.get("follow") or os.isatty(1):
        tell_number(context, answer, options)
    if options.get("follow"):
        from roost.cli.logs import follow

        return follow(context, job)
    if options.get("wait"):
        from roost.cli.wait import wait_for

        jobs = answer.get("jobs") if options.get("array") else None
        return wait_for(context, [_number(each) for each in jobs or [job]])
    return 0


def _number(job: Any) -> int:
    return int(job["job"]) if isinstance(job, dict) else int(job)


def tell_number(context: Context, answer: Any, options: dict[str, Any]) -> None:
    """The bare number for scripts; on a terminal with what to type next."""
    job = answer["job"]
    if not os.isatty(1):
        context.out(str(job))
        return
    jobs = list(answer.get("jobs") or ())
    if options.get("array") and len(jobs) > 1:
        context.out(context.say("queued_array", job=job, last=_number(jobs[-1]), count=len(jobs)))
    elif options.get("hold"):
        context.out(context.say("queued_held", job=job))
    else:
        context.out(context.say("queued", job=job))


def is_script(word: bytes) -> bool:
    """Without `--`, a word that names a file here with a first line #! is a script; other words are
    commands. "-" is a script on standard input."""
    if word == b"-":
        return True
    if not os.path.isfile(word):
        return False
    try:
        with open(word, "rb") as file:
            begins = file.read(2) == b"#!"
    except PermissionError:
        return False
    if not begins and b"/" not in word and os.path.splitext(word)[1]:
        raise CommandError("script_without_interpreter", path=sub.shown(word))
    return begins


def with_directives(
    context: Context, script: bytes, given: dict[str, Any], path: str
) -> dict[str, Any]:
    """#SBATCH under #ROOST under what was typed. Names each #SBATCH option that is not taken."""
    if b"#ROOST" not in script and b"#SBATCH" not in script:
        return given
    from roost.cli.directives import DirectiveError, read

    try:
        found = read(script)
    except DirectiveError as error:
        numbers = dict(error.error.numbers)
        numbers.setdefault("command", "run")
        text = context.say("cli_errors." + error.error.code, **numbers)
        raise CommandError("bad_directive", 2, path=path, line=error.line, text=text) from None
    for line, option in found.ignored:
        context.note("sbatch_ignored", path=path, line=line, option=option)
    options = {**found.sbatch, **found.roost}
    if "gpus" in given:
        options.pop("gpu_mem", None)
        options.pop("gpu_compute", None)
    if "gpu_mem" in given or "gpu_compute" in given:
        options.pop("gpus", None)
    return {**options, **given}


def exclude(options: dict[str, Any]) -> None:
    """Raises UsageError for options that contradict each other."""
    for one, other in (
        ("gpus", "gpu_mem"), ("gpus", "gpu_compute"), ("pty", "follow"), ("pty", "json"),
        ("json", "follow"),
    ):  # fmt: skip
        if one in options and other in options:
            dashed = [f"--{name.replace('_', '-')}" for name in (one, other)]
            raise UsageError("either_or", one=dashed[0], other=dashed[1])
    for name in ("pty", "follow"):
        if "array" in options and name in options:
            raise UsageError("array_cannot", option=f"--{name}")
    if "pty" in options and not os.isatty(0):
        raise UsageError("pty_needs_terminal")


_DIRECT = {
    "gpus": "gpus",
    "gpu_mem": "gpu_memory_bytes",
    "gpu_compute": "gpu_compute_percent",
    "gpu_model": "gpu_model",
    "class": "class",
    "time": "walltime_s",
    "cpus": "cpus",
    "mem": "memory_bytes",
    "group": "group",
    "array": "array",
    "signal": "signal",
    "reason": "reason",
    "env": "env",
}


def body_of(
    context: Context, words: list[bytes], script: bytes | None, options: dict[str, Any]
) -> dict[str, Any]:
    """The submission as docs/api.md describes it. Raises CommandError, UsageError."""
    where = sub.directory(options.get("chdir"))
    env = sub.environment(options.get("env_file", []))
    looked_in = env
    if options.get("env"):
        from roost.cli.run_env import checked

        looked_in = checked(context, options, env)
    sub.check_size(words, env)
    body: dict[str, Any] = {
        name: options[key] for key, name in _DIRECT.items() if options.get(key) is not None
    }
    if isinstance(body.get("gpus"), tuple):
        body["gpus"], body["gpus_most"] = body["gpus"]
    if script is None:
        after = bool(options.get("after"))
        try:
            program = sub.program(words[0], looked_in, where)
        except CommandError:
            if not after:  # an earlier job may be what makes the program
                raise
            program = words[0]
        body["command"] = [sub.text_or_bytes(word) for word in words]
        source = of_command(words, where, program)
        name = os.path.basename(words[0])
    else:
        body["script"] = sub.text_or_bytes(script)
        body["script_args"] = [sub.text_or_bytes(word) for word in words[1:]]
        here = os.path.join(os.getcwdb(), words[0])
        source = None if words[0] == b"-" else of_file(here, script)
        name = b"stdin" if words[0] == b"-" else os.path.basename(words[0])
        body["script_name"] = sub.shown(name)
    if source is not None:
        body["source"] = source
        name = os.path.basename(os.fsencode(source["path"]))
    body["name"] = job_name(options.get("name"), name)
    body["directory"] = sub.text_or_bytes(where)
    body["environment"] = sub.environment_json(env)
    body["umask"] = sub.umask()
    if options.get("after"):
        body["after"] = [job for several in options["after"] for job in several]
    if options.get("hold"):
        body["held"] = True
    if options.get("no_requeue"):
        body["requeue"] = False
    if not options.get("pty"):
        pattern = options.get("output") or DEFAULT_OUTPUT["array" in options]
        body["output"] = sub.text_or_bytes(os.path.join(where, os.fsencode(pattern)))
    if options.get("begin"):
        body["begin_time"] = begin_time(context, options["begin"])
    if options.get("pty"):
        size = os.get_terminal_size(0)
        body.update(pty=True, rows=size.lines or 24, columns=size.columns or 80)
    return body


def job_name(given: str | None, default: bytes) -> str:
    """What was given, as text; else the file's name, as far as a name may be."""
    if given is None:
        return sub.shown(default)[:MAX_NAME]
    try:
        given.encode("utf-8")
    except UnicodeEncodeError:  # bytes that are no UTF-8
        return sub.shown(os.fsencode(given))
    return given


def begin_time(context: Context, text: str) -> str:
    """ISO 8601 in the time zone of the rules. Raises UsageError, for what is past too."""
    import time

    found = point_in_rules_zone(context, "--begin", text)
    if time.time() - found.timestamp() > 60:
        raise UsageError("time_is_past", option="--begin", given=text)
    return found.isoformat(timespec="seconds")


def point_in_rules_zone(context: Context, name: str, text: str) -> datetime:
    """The point in time that `text` says; the daemon is asked for the time zone."""
    from datetime import UTC, datetime
    from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

    from roost.cli.begin import point

    try:
        zone = ZoneInfo(context.client().ping()["time_zone"])
    except ZoneInfoNotFoundError:
        zone = ZoneInfo("UTC")
    return point(name, text, datetime.now(UTC), zone)
