"""Conda environments: by micromamba, mamba or conda where one is found, else by py-rattler, so that
none of them is needed. Packages lie once in the person's package cache and are hard-linked from it.

Written at their final place, since conda writes the prefix into files; the description comes last.
"""

from __future__ import annotations

import asyncio
import importlib.util
import os
import re
import shutil
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from roost.core.environments.sources import CondaSpec, SourceError, SourceKind, conda_spec
from roost.core.text.printable import printable
from roost.machine.environments import installed, links, tools, venv
from roost.machine.environments.place import LOCK, Description, EnvError, describe, write

PIP_PART = "# installed by pip afterwards:"
SOLVE_S = 600
_LOCKED = re.compile(
    r"(?P<channel>(?:https?|file)://\S+?)/(?P<subdir>[a-z0-9-]+)/"
    r"(?P<name>[^/#\s]+)-(?P<version>[^-/#\s]+)-(?P<build>[^-/#\s]+)\.(?:conda|tar\.bz2)"
    r"#(?:sha256:)?(?P<hash>[0-9a-f]{64}|[0-9a-f]{32})"
)


@dataclass(frozen=True, slots=True)
class Locked:
    """A package of an explicit list. `hash`: sha256, or md5 in older lists."""

    channel: str
    name: str
    version: str
    build: str
    hash: str
    line: str


def create(root: str, wanted: venv.Wanted, owner: str, channels: tuple[str, ...] = ()) -> str:
    """Builds it and returns its path. Raises EnvError."""
    path = venv.fresh(root, wanted.name)
    if wanted.kind is SourceKind.CONDA_LOCK:
        locked, pip_lock = read_lock(wanted.text)
        spec = CondaSpec(tuple(dict.fromkeys(one.channel for one in locked)), ())
    else:
        locked, pip_lock = [], ""
        spec = _spec(wanted, channels)
    try:
        if locked:
            _install_locked(path, spec, locked, root)
        else:
            _install(path, spec, root)
        if spec.pip or pip_lock.strip():
            _pip(path, wanted, spec.pip, pip_lock)
        write(os.path.join(path, LOCK), lock_of(path).encode())
        source = os.path.basename(wanted.file) or "words"
        describe(
            path, Description(wanted.name, "conda", python_of(path), time.time(), source, owner)
        )
    except BaseException:
        shutil.rmtree(path, ignore_errors=True)
        raise
    return path


def clone(source: str, root: str, name: str, owner: str, came_from: str) -> str:
    """The same packages at the same builds in a prefix of its own, from the package cache."""
    path = venv.fresh(root, name)
    try:
        _rattler()
        from rattler import PrefixRecord

        folder = os.path.join(source, "conda-meta")
        records = [
            PrefixRecord.from_path(Path(folder, each))
            for each in sorted(os.listdir(folder))
            if each.endswith(".json")
        ]
        _put(path, records, root)
        with open(os.path.join(source, LOCK), encoding="utf-8") as file:
            lock = file.read()
        pip_lock = read_lock(lock)[1]
        if pip_lock.strip():
            _pip(path, venv.Wanted(name), (), pip_lock)
        write(os.path.join(path, LOCK), lock.encode())
        describe(
            path,
            Description(name, "conda", python_of(path), time.time(), "clone", owner, came_from),
        )
    except BaseException:
        shutil.rmtree(path, ignore_errors=True)
        raise
    return path


def _spec(wanted: venv.Wanted, channels: tuple[str, ...]) -> CondaSpec:
    try:
        if wanted.kind is SourceKind.CONDA:
            spec = conda_spec(load_yaml(wanted.text))
        else:
            words = list(wanted.requirements)
            if wanted.python:
                words.append(f"python={wanted.python}")
            document = {"channels": list(channels), "dependencies": words}
            spec = conda_spec(document)
    except SourceError as error:
        raise EnvError(error.code, **error.numbers) from error
    if channels:
        return CondaSpec(channels, spec.packages, spec.pip)
    return spec


def load_yaml(text: str) -> object:
    """YAML without tags of Python's. Raises EnvError."""
    try:
        return yaml.safe_load(text)
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        mark = getattr(error, "problem_mark", None)
        line = mark.line + 1 if mark is not None else 1
        raise EnvError("bad_yaml", line=line) from error


def _rattler() -> Any:
    if importlib.util.find_spec("rattler") is None:
        raise EnvError("no_conda")
    import rattler

    return rattler


def _install(path: str, spec: CondaSpec, root: str) -> None:
    program = tools.conda()
    if program is not None:
        words = [program, "create", "--yes", "--quiet", "--prefix", path, "--override-channels"]
        for channel in spec.channels:
            words += ["--channel", channel]
        tools.run([*words, *spec.packages], where=root)
        return
    rattler = _rattler()
    _put(path, _solved(rattler, spec.channels, spec.packages), root)


def _install_locked(path: str, spec: CondaSpec, locked: list[Locked], root: str) -> None:
    """Exactly the listed builds, each by its hash."""
    if importlib.util.find_spec("rattler") is None:
        program = tools.conda()
        if program is None:
            raise EnvError("no_conda")
        listed = os.path.join(root, f".lock-{os.path.basename(path)}-{os.getpid()}.txt")
        write(listed, ("@EXPLICIT\n" + "".join(one.line + "\n" for one in locked)).encode())
        try:
            tools.run(
                [program, "create", "--yes", "--quiet", "--prefix", path, "--file", listed],
                where=root,
            )
        finally:
            os.unlink(listed)
        return
    exact = tuple(f"{one.name} =={one.version} {one.build}" for one in locked)
    records = _solved(_rattler(), spec.channels, exact)
    hashes = {one.name: one.hash for one in locked}
    for record in records:
        name = record.name.normalized
        found = {_hex(record.sha256), _hex(record.md5)} - {""}
        if hashes.get(name) not in found:
            raise EnvError("other_hash", package=name)
    _put(path, records, root)


def _hex(raw: Any) -> str:
    if not raw:
        return ""
    return raw if isinstance(raw, str) else bytes(raw).hex()


def _solved(rattler: Any, channels: tuple[str, ...], packages: tuple[str, ...]) -> list[Any]:
    try:
        specs = [rattler.MatchSpec(each) for each in packages]
        return list(
            asyncio.run(
                asyncio.wait_for(
                    rattler.solve(
                        sources=[rattler.Channel(each) for each in channels],
                        specs=specs,
                        platforms=[rattler.Subdir.current(), "noarch"],
                        virtual_packages=rattler.VirtualPackage.detect(),
                    ),
                    SOLVE_S,
                )
            )
        )
    except TimeoutError:
        raise EnvError("unresolved", program="py-rattler", text=f"{SOLVE_S} s") from None
    except Exception as error:
        raise EnvError("unresolved", program="py-rattler", text=_said(error)) from error


def _put(path: str, records: list[Any], root: str) -> None:
    rattler = _rattler()
    try:
        asyncio.run(
            rattler.install(
                records=records, target_prefix=path, cache_dir=_cache(root), show_progress=False
            )
        )
    except Exception as error:
        raise EnvError("build_failed", program="py-rattler", text=_said(error)) from error


def _said(error: Exception) -> str:
    return "\n  ".join(printable(line.encode()) for line in str(error).splitlines()[:30])


def _cache(root: str) -> str | None:
    """None: rattler's own cache. It must lie on the file system of the environments."""
    if os.environ.get("RATTLER_CACHE_DIR"):
        return None
    base = os.environ.get("XDG_CACHE_HOME", "")
    usual = base if base.startswith("/") else os.path.expanduser("~/.cache")
    if links.device_of(usual) == links.device_of(root):
        return None
    return os.path.join(root, ".cache-conda")


def _pip(path: str, wanted: venv.Wanted, requirements: tuple[str, ...], locked: str) -> None:
    folder = os.path.join(path, ".roost-making")
    os.mkdir(folder)
    try:
        if not locked:
            words = venv.Wanted(wanted.name, file=wanted.file, requirements=requirements)
            venv.check(words)
            listed = venv.Wanted(wanted.name, requirements=requirements)
            options = [each for each in requirements if each.startswith("-")]
            if options:
                raise EnvError("bad_requirement", given=options[0][:80])
            locked = venv.lock_of(listed, path, folder)
        venv.install(path, locked, "", folder, wanted.where)
        write(os.path.join(path, LOCK), locked.encode())
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def python_of(path: str) -> str:
    """The version of conda's Python in the prefix; "" where there is none."""
    found = [dist for dist in installed.installed(path).dists if dist.name == "python"]
    return found[0].version if found else ""


def lock_of(path: str) -> str:
    """All packages as an explicit list with hashes, then pip's part as requirements."""
    import json

    lines = []
    folder = os.path.join(path, "conda-meta")
    for name in sorted(os.listdir(folder)):
        text = installed.read(os.path.join(folder, name), installed.MAX_CONDA_BYTES)
        if not name.endswith(".json") or text is None:
            continue
        record = json.loads(text)
        found = record.get("sha256") or record.get("md5")
        mark = "sha256:" if record.get("sha256") else ""
        lines.append(f"{record['url']}#{mark}{found}")
    pip_part = ""
    with suppress(OSError), open(os.path.join(path, LOCK), encoding="utf-8") as file:
        text = file.read()
        pip_part = read_lock(text)[1] if "@EXPLICIT" in text else text
    made = "@EXPLICIT\n" + "".join(line + "\n" for line in lines)
    return made + (f"{PIP_PART}\n{pip_part}" if pip_part.strip() else "")


def read_lock(text: str) -> tuple[list[Locked], str]:
    """Conda's packages and pip's part of a list. Raises EnvError for one without a hash."""
    listed, _, pip_part = text.partition(PIP_PART + "\n")
    found = []
    for raw in listed.splitlines():
        line = raw.strip()
        if not line or line.startswith(("#", "@EXPLICIT")):
            continue
        match = _LOCKED.fullmatch(line)
        if match is None:
            raise EnvError("bad_lock_line", given=line[:120])
        parts = match.groupdict()
        found.append(
            Locked(
                parts["channel"], parts["name"], parts["version"], parts["build"], parts["hash"],
                line,
            )
        )  # fmt: skip
    return found, pip_part
