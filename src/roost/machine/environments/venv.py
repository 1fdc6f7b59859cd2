"""Environments by uv: resolved to exact versions with hashes, then installed from those alone.

Packages are hard links into the person's own cache (reflinks where the file system has them), so
ten environments hold each package once. Built beside its place and renamed: what is there is whole.
"""

from __future__ import annotations

import os
import re
import shutil
import tempfile
import time
from dataclasses import dataclass

from roost.core.environments.sources import SourceKind
from roost.machine.environments import links, tools
from roost.machine.environments.place import (
    LOCK,
    Description,
    EnvError,
    describe,
    write,
)

_OPTION = re.compile(
    r"^\s*(-i|-f|--(?:extra-)?index[-]url|--find-links|--no-index|--pre|--prefer-binary"
    r"|--only-binary|--no-binary|--trusted-host)(?=[\s=]|$)"
)
_REQUIREMENT = re.compile(r"[A-Za-z0-9./][^\0\r\n]{0,500}")
_PYTHON = re.compile(r"[A-Za-z0-9/][A-Za-z0-9./@_+-]{0,200}")


@dataclass(frozen=True, slots=True)
class Wanted:
    """What to build. `file`: an absolute path with its kind and text; `requirements`: words."""

    name: str
    python: str = ""
    file: str = ""
    kind: SourceKind | None = None
    text: str = ""
    requirements: tuple[str, ...] = ()

    @property
    def where(self) -> str:
        """The folder that relative paths in the source start from."""
        return os.path.dirname(self.file) if self.file else os.getcwd()


def create(root: str, wanted: Wanted, owner: str) -> str:
    """Builds it and returns its path. Raises EnvError."""
    check(wanted)
    path = fresh(root, wanted.name)
    making = tempfile.mkdtemp(prefix=f".making-{wanted.name}-", dir=root)
    try:
        prefix = os.path.join(making, wanted.name)
        python = make(prefix, wanted.python, wanted.where)
        locked = lock_of(wanted, prefix, making)
        install(prefix, locked, options_of(wanted), making, wanted.where, file=_as_is(wanted))
        write(os.path.join(prefix, LOCK), locked.encode("utf-8", "surrogateescape"))
        source = os.path.basename(wanted.file) or "words"
        describe(prefix, Description(wanted.name, "venv", python, time.time(), source, owner))
        settle(prefix, path)
    finally:
        shutil.rmtree(making, ignore_errors=True)
    return path


def check(wanted: Wanted) -> None:
    """Raises EnvError for words that uv would take for options."""
    for word in wanted.requirements:
        if not _REQUIREMENT.fullmatch(word):
            raise EnvError("bad_requirement", given=word[:80])
    if wanted.python and not _PYTHON.fullmatch(wanted.python):
        raise EnvError("bad_python", given=wanted.python[:80])


def fresh(root: str, name: str) -> str:
    """The path that it will have, in a folder that is there. Raises EnvError."""
    os.makedirs(root, 0o700, exist_ok=True)
    path = os.path.join(root, name)
    if os.path.lexists(path):
        raise EnvError("exists", name=name)
    return path


def settle(prefix: str, path: str) -> None:
    try:
        os.rename(prefix, path)
    except OSError as error:
        raise EnvError("exists", name=os.path.basename(path)) from error


def make(prefix: str, python: str, where: str) -> str:
    """An empty venv; returns its Python's version. One can move it, as its scripts look beside
    themselves."""
    words = [tools.uv(), "venv", "--quiet", "--relocatable", "--no-project"]
    if python:
        words += ["--python", python]
    tools.run([*words, prefix], where=where, fault="no_python")
    return python_of(prefix)


def python_of(prefix: str) -> str:
    """The version in pyvenv.cfg; "" where it tells none."""
    try:
        with open(os.path.join(prefix, "pyvenv.cfg"), "rb") as file:
            text = file.read(65536).decode("utf-8", "replace")
    except OSError:
        return ""
    found = re.search(r"^version(?:_info)?\s*=\s*(\d+\.\d+(?:\.\d+)?)", text, re.MULTILINE)
    return found[1] if found else ""


def interpreter(prefix: str) -> str:
    return os.path.join(prefix, "bin", "python")


def lock_of(wanted: Wanted, prefix: str, folder: str) -> str:
    """The source as requirements, each at one version with hashes. Raises EnvError."""
    if wanted.kind is SourceKind.LOCKED:
        return without_options(wanted.text)
    if wanted.kind is SourceKind.UV_LOCK:
        words = [tools.uv(), "export", "--quiet", "--frozen", "--no-emit-project", "--no-header"]
        words += ["--format", "requirements.txt", "--python", interpreter(prefix)]
        return tools.run([*words, "--directory", wanted.where], where=wanted.where)
    if wanted.kind is SourceKind.PYLOCK:
        return wanted.text
    sources = []
    if wanted.file:
        sources.append(wanted.file)
    if wanted.requirements:
        listed = os.path.join(folder, "words.txt")
        write(listed, "\n".join(wanted.requirements).encode() + b"\n")
        sources.append(listed)
    return compiled(sources, prefix, wanted.where) if sources else ""


def compiled(sources: list[str], prefix: str, where: str, *more: str) -> str:
    """uv's resolution for the Python of the prefix, with hashes."""
    words = [tools.uv(), "pip", "compile", "--quiet", "--generate-hashes", "--no-header"]
    words += ["--no-annotate", "--python", interpreter(prefix), *more]
    return tools.run([*words, *sources], where=where, more=cache_for(prefix), fault="unresolved")


def options_of(wanted: Wanted) -> str:
    """The lines of the source that say where packages come from. They may hold passwords, so they
    are in no lock."""
    if wanted.kind not in (SourceKind.REQUIREMENTS, SourceKind.LOCKED):
        return ""
    return "".join(line + "\n" for line in wanted.text.splitlines() if _OPTION.match(line))


def without_options(text: str) -> str:
    return "".join(line + "\n" for line in text.splitlines() if not _OPTION.match(line))


def _as_is(wanted: Wanted) -> str:
    """A pylock.toml is installed from where it lies: its paths start there."""
    return wanted.file if wanted.kind is SourceKind.PYLOCK else ""


def install(
    prefix: str, locked: str, options: str, folder: str, where: str, *, file: str = ""
) -> None:
    """Installs exactly what is locked, or what `file` is the lock of. Raises EnvError."""
    if not locked.strip():
        return
    words = [tools.uv(), "pip", "install", "--quiet", "--python", interpreter(prefix), "--no-deps"]
    if file:
        words += ["-r", file]
    else:
        path = os.path.join(folder, "lock.txt")
        write(path, locked.encode("utf-8", "surrogateescape"))
        words += ["--require-hashes", "-r", path]
    if options:
        listed = os.path.join(folder, "options.txt")
        write(listed, options.encode("utf-8", "surrogateescape"))
        words += ["-r", listed]
    more = {**cache_for(prefix), "UV_LINK_MODE": links.mode_for(os.path.dirname(prefix))}
    tools.run(words, where=where, more=more)


def cache_for(prefix: str) -> dict[str, str]:
    """Packages can be linked only within one file system: where uv's own cache lies on another, it
    is kept beside the environments. A cache that the person named is theirs to name."""
    if os.environ.get("UV_CACHE_DIR"):
        return {}
    base = os.environ.get("XDG_CACHE_HOME", "")
    usual = base if base.startswith("/") else os.path.expanduser("~/.cache")
    root = os.path.dirname(os.path.dirname(prefix))
    if links.device_of(usual) == links.device_of(root):
        return {}
    return {"UV_CACHE_DIR": os.path.join(root, ".cache-uv")}


def frozen(prefix: str) -> str:
    """What is installed now, at its versions."""
    words = [tools.uv(), "pip", "freeze", "--quiet", "--python", interpreter(prefix)]
    return tools.run(words, where=prefix)


def locked_now(prefix: str, where: str) -> str:
    """What is installed now with hashes, as the lock of another one. Raises EnvError."""
    listed = frozen(prefix)
    if not listed.strip():
        return ""
    with tempfile.TemporaryDirectory(prefix="roost-lock-") as folder:
        path = os.path.join(folder, "frozen.txt")
        write(path, listed.encode("utf-8", "surrogateescape"))
        try:
            return compiled([path], prefix, where)
        except EnvError:  # packages that contradict each other, and are installed all the same
            return compiled([path], prefix, where, "--no-deps")
