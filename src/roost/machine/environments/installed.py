"""What is installed in an environment, from the packages' own metadata. Nothing is imported or run,
and every file is read up to a bound: an environment holds whatever its packages put there."""

from __future__ import annotations

import json
import os
import stat
from dataclasses import dataclass

from roost.core.environments.frameworks import BUILD_FILES, canonical, frameworks_of
from roost.core.environments.model import Dist, Framework
from roost.machine.environments.place import site_packages

MAX_DISTS = 20_000
MAX_METADATA_BYTES = 64 * 1024
MAX_CONDA_BYTES = 16 * 1024 * 1024
MAX_BUILD_BYTES = 256 * 1024
_COMPAT = ("cuda-compat", "nvidia-cuda-compat")


@dataclass(frozen=True, slots=True)
class Installed:
    """`tags`: of each package's wheel, by its name."""

    dists: tuple[Dist, ...]
    tags: dict[str, tuple[str, ...]]

    @property
    def frameworks(self) -> tuple[Framework, ...]:
        return frameworks_of(self.dists)

    @property
    def compat(self) -> bool:
        """Whether NVIDIA's forward-compatibility libraries are among the packages."""
        return any(canonical(dist.name).startswith(_COMPAT) for dist in self.dists)


def installed(path: str) -> Installed:
    """Of a venv, or a conda prefix with what pip put into it."""
    dists = _of_conda(path)
    known = {canonical(dist.name) for dist in dists}
    tags: dict[str, tuple[str, ...]] = {}
    for folder in site_packages(path):
        for name in sorted(os.listdir(folder))[: 4 * MAX_DISTS]:
            if not name.endswith(".dist-info"):
                continue
            dist = _dist(folder, name)
            if dist is None or len(dists) >= MAX_DISTS:
                continue
            tags[dist.name] = _tags(os.path.join(folder, name, "WHEEL"))
            if canonical(dist.name) not in known:
                dists.append(dist)
    return Installed(tuple(dists), tags)


def _dist(folder: str, name: str) -> Dist | None:
    text = read(os.path.join(folder, name, "METADATA"), MAX_METADATA_BYTES)
    fields = headers(text or "")
    if not fields.get("name") or not fields.get("version"):
        return None
    called = fields["name"][0]
    files = {}
    for relative in BUILD_FILES.get(canonical(called), ()):
        build = read(os.path.join(folder, relative), MAX_BUILD_BYTES)
        if build is not None:
            files[relative] = build
    return Dist(called, fields["version"][0], tuple(fields.get("requires-dist", ())), files=files)


def headers(text: str) -> dict[str, list[str]]:
    """The fields of METADATA or WHEEL, by name in lower case, up to the first empty line."""
    fields: dict[str, list[str]] = {}
    for line in text.splitlines():
        if not line:
            break
        name, colon, value = line.partition(":")
        if colon and not line[0].isspace():
            fields.setdefault(name.lower(), []).append(value.strip()[:500])
    return fields


def _tags(path: str) -> tuple[str, ...]:
    text = read(path, MAX_METADATA_BYTES)
    return tuple(headers(text).get("tag", ())) if text else ()


def _of_conda(path: str) -> list[Dist]:
    folder = os.path.join(path, "conda-meta")
    try:
        names = sorted(os.listdir(folder))[:MAX_DISTS]
    except OSError:
        return []
    found = []
    for name in names:
        text = read(os.path.join(folder, name), MAX_CONDA_BYTES) if name.endswith(".json") else None
        try:
            record = json.loads(text) if text else None
        except (ValueError, RecursionError):
            continue
        if isinstance(record, dict) and all(
            isinstance(record.get(key), str) for key in ("name", "version")
        ):
            build = record.get("build")
            found.append(Dist(record["name"], record["version"], build=build or "unknown"))
    return found


def read(path: str, limit: int) -> str | None:
    """A regular file's text, or None: not there, not one, or longer than the bound."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY)
    except OSError:
        return None
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            return None
        with os.fdopen(os.dup(descriptor), "rb") as file:
            data = file.read(limit)
    except OSError:
        return None
    finally:
        os.close(descriptor)
    return data.decode("utf-8", "replace")
