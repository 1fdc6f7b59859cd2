"""`roost logs`: a job's output, read from its file with the caller's own rights."""

from __future__ import annotations

import os
import stat

from roost.cli.commands import ENDED
from roost.cli.failure import CommandError
from roost.cli.terminal import write
from roost.cli.wait import exit_code, patiently

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from roost.cli.context import Context

BLOCK = 1 << 16
PAUSE_S = 0.3


def logs(context: Context) -> int:
    """Prints the output so far, or with --follow until the job has ended (then exits 0)."""
    number = context.given.arguments[0]
    job = context.client().job(number)
    lines = context.option("lines")
    if context.option("follow"):
        follow(context, number, lines)
        return 0
    descriptor = open_output(context, job)
    if descriptor is None:
        state = context.say("state." + job["state"])
        raise CommandError("no_output_yet", job=number, state=state)
    try:
        if lines is not None:
            os.lseek(descriptor, start_of_last(descriptor, lines), os.SEEK_SET)
        copy(descriptor)
    finally:
        os.close(descriptor)
    return 0


def follow(context: Context, number: int, lines: int | None = None) -> int:
    """Copies the output as it grows, until the job has ended; its exit code."""
    descriptor: int | None = None
    told = ""
    client = context.client()
    try:
        job = client.job(number)
        while True:
            if descriptor is None:
                descriptor = open_output(context, job, must=False)
                if descriptor is not None and lines is not None:
                    os.lseek(descriptor, start_of_last(descriptor, lines), os.SEEK_SET)
            if descriptor is not None:
                copy(descriptor)
            if job["state"] in ENDED:
                return finish(context, job)
            wait = job.get("wait") or ""
            if job["state"] == "PENDING" and wait and wait != told:
                context.note("waits", job=number, text=wait)
                told = wait
            job = patiently(context, lambda: client.wait(number, PAUSE_S))
    finally:
        if descriptor is not None:
            os.close(descriptor)


def finish(context: Context, job: Any) -> int:
    """Says how it ended if not well, and returns its exit code."""
    code = exit_code(job)
    if code:
        text = job.get("text") or context.say("state." + job["state"])
        context.err(
            f"roost {context.command}: {context.say('ended_badly', job=job['job'], text=text)}"
        )
    return code


def open_output(context: Context, job: Any, must: bool = True) -> int | None:
    """The job's output opened for reading; None while there is no file, and without `must` also
    where it keeps nothing (/dev/null).

    Raises CommandError where there never will be one, or the caller may not read it.
    """
    output = job.get("output")
    if not output:
        if job.get("pty"):
            text = context.say("pty_has_no_file")
            raise CommandError("no_output_file", job=job["job"], text=text)
        return None
    for path in (os.fsencode(output), unescaped(output)):
        try:
            return open_regular(context, path, job, must)
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError as error:
            raise CommandError(
                "output_unreadable", path=output, text=error.strerror, user=job.get("user", "?")
            ) from None
    if job["state"] in ENDED:
        text = job.get("text") or context.say("file_is_gone", path=output)
        raise CommandError("no_output_file", job=job["job"], text=text)
    return None


def open_regular(context: Context, path: bytes, job: Any, must: bool) -> int | None:
    """A regular file, opened for reading. Looked at before it is opened: the path may lead to a
    device by its owner's will, and an operator who opens that may stop the machine with it.

    Raises OSError, CommandError.
    """
    found = os.open(path, os.O_PATH | os.O_CLOEXEC)
    try:
        if not stat.S_ISREG(os.fstat(found).st_mode):
            if not must:
                return None
            text = context.say("cli_errors.no_regular_file")
            raise CommandError(
                "output_unreadable", path=job["output"], text=text, user=job.get("user", "?")
            )
        return os.open(f"/proc/self/fd/{found}", os.O_RDONLY | os.O_CLOEXEC | os.O_NOCTTY)
    finally:
        os.close(found)


def unescaped(path: str) -> bytes:
    """The bytes of a path that the API showed with escapes (\\xff, \\n)."""
    if "\\" not in path:
        return os.fsencode(path)
    raw = path.encode("utf-8", "surrogateescape").decode("latin-1")
    try:
        return raw.encode("latin-1").decode("unicode_escape").encode("latin-1")
    except (UnicodeDecodeError, UnicodeEncodeError):
        return os.fsencode(path)


def copy(descriptor: int) -> None:
    """From where the descriptor stands to the file's end; from the start if it was cut shorter."""
    at = os.lseek(descriptor, 0, os.SEEK_CUR)
    if os.fstat(descriptor).st_size < at:
        os.lseek(descriptor, 0, os.SEEK_SET)
    while data := os.read(descriptor, BLOCK):
        write(1, data)


def start_of_last(descriptor: int, lines: int) -> int:
    """Where the last `lines` lines begin; the file is read backwards, in blocks."""
    end = os.lseek(descriptor, 0, os.SEEK_END)
    if lines <= 0:
        return end
    at, left = end, lines
    while at > 0:
        start = max(0, at - BLOCK)
        block = os.pread(descriptor, at - start, start)
        if at == end and block.endswith(b"\n"):
            left += 1
        found = len(block)
        while (found := block.rfind(b"\n", 0, found)) >= 0:
            left -= 1
            if left == 0:
                return start + found + 1
        at = start
    return 0
