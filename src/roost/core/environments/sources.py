"""From what an environment is made: which kind of file it is, and conda's environment.yml. Text and
plain data only; the files are read by who may read them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

MAX_SOURCE_BYTES = 4 * 1024 * 1024
MAX_LINES = 20_000


class SourceKind(Enum):
    REQUIREMENTS = "requirements"
    LOCKED = "locked requirements"
    PYLOCK = "pylock.toml"
    UV_LOCK = "uv.lock"
    PYPROJECT = "pyproject.toml"
    CONDA = "environment.yml"
    CONDA_LOCK = "conda lock"


class SourceError(ValueError):
    """`code` is of the catalogue `environment`."""

    def __init__(self, code: str, **numbers: str) -> None:
        super().__init__(code)
        self.code = code
        self.numbers = numbers


def kind_of(name: str, text: str) -> SourceKind:
    """By the file's name, then by what is in it. Raises SourceError for none of them."""
    base = name.rpartition("/")[2].lower()
    if base == "uv.lock":
        return SourceKind.UV_LOCK
    if re.fullmatch(r"pylock(\.[^.]+)?\.toml", base):
        return SourceKind.PYLOCK
    if base.endswith(".toml"):
        return SourceKind.PYLOCK if _is_pylock(text) else SourceKind.PYPROJECT
    if base.endswith((".yml", ".yaml")):
        return SourceKind.CONDA
    if re.search(r"^@EXPLICIT\s*$", text, re.MULTILINE):
        return SourceKind.CONDA_LOCK
    if base.endswith((".txt", ".in", ".lock")) or not base.rpartition(".")[0]:
        return SourceKind.LOCKED if is_locked(text) else SourceKind.REQUIREMENTS
    raise SourceError("unknown_source", path=name)


def _is_pylock(text: str) -> bool:
    return re.search(r"^lock-version\s*=", text, re.MULTILINE) is not None


def is_locked(text: str) -> bool:
    """Whether every requirement of a list stands at one version with a hash."""
    joined = re.sub(r"\\\r?\n", " ", text)
    seen = False
    for raw in joined.splitlines():
        line = re.sub(r"(^|\s)#.*", "", raw).strip()
        if not line or line.startswith("-"):
            continue
        seen = True
        if "--hash=" not in line or not re.match(r"[A-Za-z0-9._-]+(\[[^\]]*\])?\s*(==|@)", line):
            return False
    return seen


@dataclass(frozen=True, slots=True)
class CondaSpec:
    """What environment.yml asks for. `pip`: requirements that pip's side installs afterwards."""

    channels: tuple[str, ...]
    packages: tuple[str, ...]
    pip: tuple[str, ...] = ()


_SPEC = re.compile(r"[A-Za-z0-9_.:/*\[\]<>=!~|, '\"+^-]{1,300}", re.ASCII)


def conda_spec(document: object) -> CondaSpec:
    """The specification in a parsed environment.yml. Raises SourceError naming what is wrong.

    `name` and `prefix` are not followed: the name is the caller's, and a prefix could be anywhere.
    """
    if not isinstance(document, Mapping):
        raise SourceError("conda_not_mapping")
    channels = _texts(document.get("channels") or [], "channels")
    packages: list[str] = []
    pip: tuple[str, ...] = ()
    listed = document.get("dependencies")
    if not isinstance(listed, list) or not listed or len(listed) > MAX_LINES:
        raise SourceError("conda_dependencies")
    for one in listed:
        if isinstance(one, Mapping):
            if set(one) != {"pip"}:
                raise SourceError("conda_dependencies")
            pip += _texts(one["pip"], "pip")
        else:
            packages += _texts([one], "dependencies")
    for spec in packages:
        if not _SPEC.fullmatch(spec) or spec.startswith("-"):
            raise SourceError("conda_bad_package", given=spec[:80])
    for channel in channels:
        if not _SPEC.fullmatch(channel.replace("%", "")) or channel.startswith("-"):
            raise SourceError("conda_bad_channel", given=channel[:80])
    return CondaSpec(channels or ("conda-forge",), tuple(packages), pip)


def _texts(listed: object, key: str) -> tuple[str, ...]:
    if not isinstance(listed, list) or len(listed) > MAX_LINES:
        raise SourceError("conda_not_list", key=key)
    found = []
    for one in listed:
        if not isinstance(one, str) or not one.strip() or "\n" in one or "\0" in one:
            raise SourceError("conda_not_list", key=key)
        found.append(one.strip())
    return tuple(found)


def pins(locked: str) -> dict[str, str]:
    """Package -> version of a list of locked requirements, or of a pylock.toml. "" of one that is
    locked by its address alone. Markers are not looked at: a lock for several machines names more
    than one of them has."""
    if _is_pylock(locked):
        import tomllib

        packages = tomllib.loads(locked).get("packages", [])
        return {one["name"]: one.get("version", "") for one in packages if "name" in one}
    found = {}
    for raw in re.sub(r"\\\r?\n", " ", locked).splitlines():
        line = raw.strip()
        exact = re.match(r"([A-Za-z0-9._-]+)(?:\[[^\]]*\])?\s*==\s*([^\s;]+)", line)
        if exact:
            found[exact[1]] = exact[2]
        else:
            at = re.match(r"([A-Za-z0-9._-]+)(?:\[[^\]]*\])?\s*@\s*(\S+)", line)
            if at:
                wheel = re.search(r"/[^/]*?-([^-/]+)-[^/]*\.whl", at[2])
                version = wheel[1].replace("%2B", "+").replace("%2b", "+") if wheel else ""
                found[at[1]] = version
    return found
