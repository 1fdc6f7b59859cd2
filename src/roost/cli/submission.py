"""What `roost run` sends: this shell's environment, directory, umask and command, as bytes allow.

Checks on the caller's side what only the caller can check: that the directory and the command are
there. What the server can hold is the server's to say.
"""

from __future__ import annotations

import os
import stat

from roost.cli.failure import CommandError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MAX_ARGUMENT_BYTES = 128 * 1024 - 1
"""MAX_ARG_STRLEN of Linux (execve(2)) without the ending NUL."""
MAX_SCRIPT_BYTES = 1 << 20


def text_or_bytes(raw: bytes) -> str | dict[str, str]:
    """The value as docs/api.md wants it: UTF-8 as text, anything else as base64."""
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        from binascii import b2a_base64

        return {"base64": b2a_base64(raw, newline=False).decode("ascii")}


def environment(files: list[str]) -> dict[bytes, bytes]:
    """This process's environment as the shell made it, with the variables of `files` over it."""
    import posix

    env: dict[bytes, bytes] = dict(posix.environ)
    if env.get(b"LC_CTYPE") == b"C.UTF-8":  # may be Python's own doing (PEP 538)
        from roost.cli.terminal import from_start

        if from_start("LC_CTYPE", "C.UTF-8") == "":
            del env[b"LC_CTYPE"]
    for path in files:
        env.update(env_file(path))
    return env


def env_file(path: str) -> dict[bytes, bytes]:
    """NAME=VALUE lines, "export " before and quotes around allowed, # comments. Nothing is
    expanded. Raises CommandError naming the line, OSError."""
    found: dict[bytes, bytes] = {}
    with open(path, "rb") as file:
        lines = file.read().split(b"\n")
    for number, raw in enumerate(lines, 1):
        line = raw.strip()
        if not line or line.startswith(b"#"):
            continue
        name, equals, value = line.removeprefix(b"export ").partition(b"=")
        name, value = name.strip(), value.strip()
        word = name.replace(b"_", b"a")
        if not equals or not word.isalnum() or name[:1].isdigit() or b"\0" in value:
            raise CommandError("bad_env_file", 2, path=path, line=number)
        if len(value) > 1 and value[:1] == value[-1:] and value[:1] in (b'"', b"'"):
            value = value[1:-1]
        found[name] = value
    return found


def environment_json(env: dict[bytes, bytes]) -> dict[str, str] | list[list[Any]]:
    """An object where all is UTF-8, else pairs."""
    try:
        return {name.decode("utf-8"): value.decode("utf-8") for name, value in env.items()}
    except UnicodeDecodeError:
        return [[text_or_bytes(name), text_or_bytes(value)] for name, value in env.items()]


def check_size(argv: list[bytes], env: dict[bytes, bytes]) -> None:
    """Raises CommandError for what Linux will never execute."""
    longest = max(map(len, argv), default=0)
    if longest > MAX_ARGUMENT_BYTES:
        raise CommandError("argument_too_large", bytes=longest, limit=MAX_ARGUMENT_BYTES)
    limit = os.sysconf("SC_ARG_MAX")
    of_argv = sum(len(word) + 9 for word in argv)
    of_env = sum(len(name) + len(value) + 10 for name, value in env.items())
    if of_argv + of_env > limit:
        if of_env > of_argv:
            largest = max(env, key=lambda name: len(env[name]))
            name = largest.decode("utf-8", "backslashreplace")
            raise CommandError("environment_too_large", bytes=of_env, limit=limit, name=name)
        raise CommandError("command_too_large", bytes=of_argv, limit=limit - of_env)


def directory(chdir: str | None) -> bytes:
    """The absolute directory that the job runs in. Raises CommandError where it cannot."""
    try:
        here = os.getcwdb()
    except FileNotFoundError:
        if chdir is None or not os.path.isabs(chdir):
            raise CommandError("directory_gone") from None
        here = b"/"
    if chdir is None:
        return here
    path = os.path.normpath(os.path.join(here, os.fsencode(chdir)))
    try:
        status = os.stat(path)
    except FileNotFoundError:
        raise CommandError("no_such_directory", path=shown(path)) from None
    except PermissionError:
        raise CommandError("no_right_to_directory", path=shown(path)) from None
    if not stat.S_ISDIR(status.st_mode):
        raise CommandError("not_a_directory", path=shown(path))
    if not os.access(path, os.X_OK):
        raise CommandError("no_right_to_directory", path=shown(path))
    return path


def program(word: bytes, env: dict[bytes, bytes], where: bytes) -> bytes:
    """The path of the program that the command names, as execvp would find it from `where`.

    Raises CommandError for none, for a directory, for a file without a right to execute.
    """
    if b"/" in word:
        path = os.path.join(where, word)
        _executable(path, word)
        return path
    refused = b""
    for folder in env.get(b"PATH", b"/usr/local/bin:/usr/bin:/bin").split(b":"):
        path = os.path.join(where, folder, word)
        if os.path.isfile(path):
            if os.access(path, os.X_OK):
                return path
            refused = refused or path
    if refused:
        _executable(refused, word)
    if not word or not os.path.isfile(os.path.join(where, word)):
        raise CommandError("no_such_command", command=shown(word), directory=shown(where))
    raise CommandError("command_is_here", command=shown(word))


def _executable(path: bytes, word: bytes) -> None:
    try:
        status = os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        raise CommandError("no_such_program", command=shown(word)) from None
    if stat.S_ISDIR(status.st_mode):
        raise CommandError("program_is_directory", command=shown(word))
    if not os.access(path, os.X_OK):
        code = "not_executable" if _has_interpreter(path) else "not_executable_program"
        raise CommandError(code, command=shown(word))


def _has_interpreter(path: bytes) -> bool:
    try:
        with open(path, "rb") as file:
            return file.read(2) == b"#!"
    except OSError:
        return False


def script(path: bytes) -> bytes:
    """The text of a script, `-` from standard input. Raises CommandError and OSError."""
    if path == b"-":
        text = b"".join(iter(lambda: os.read(0, 1 << 16), b""))
    else:
        with open(path, "rb") as file:
            text = file.read(MAX_SCRIPT_BYTES + 1)
    if len(text) > MAX_SCRIPT_BYTES:
        size = os.stat(path).st_size if path != b"-" else len(text)
        raise CommandError("script_too_large", path=shown(path), bytes=size, limit=MAX_SCRIPT_BYTES)
    if not text.startswith(b"#!"):
        raise CommandError("script_without_interpreter", path=shown(path))
    return text


def umask() -> int:
    now = os.umask(0o077)
    os.umask(now)
    return now


def shown(raw: bytes) -> str:
    from roost.core.text.printable import printable

    return printable(raw)
