"""Where environments lie, and what stands in the folder of one.

An environment of Roost's is a venv or a conda prefix with two files more: `roost-env.json`, written
last, so that a folder without it is no environment, and `roost-lock.txt`.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import msgspec

from roost.core.environments.names import OWN_ROOT, is_name

DESCRIPTION = "roost-env.json"
LOCK = "roost-lock.txt"
USED = ".roost-used"
MAX_DESCRIPTION_BYTES = 64 * 1024


class EnvError(Exception):
    """`code` is of the catalogue `cli_errors`, under "env_"."""

    def __init__(self, code: str, **numbers: Any) -> None:
        super().__init__(code, numbers)
        self.code = code
        self.numbers = numbers


class Description(msgspec.Struct, frozen=True):
    """What was written down when it was made. Times are seconds since the epoch."""

    name: str
    kind: str
    python: str
    made_at: float
    source: str = ""
    owner: str = ""
    cloned_from: str = ""


@dataclass(frozen=True, slots=True)
class Environment:
    """One that is there. `owner` "" is the caller; `shared_at`: of one that the team can use."""

    path: str
    description: Description
    owner: str = ""
    shared_at: float | None = None

    @property
    def name(self) -> str:
        return self.description.name

    @property
    def reference(self) -> str:
        return f"{self.owner}/{self.name}" if self.owner else self.name


def own_root(home: str, user: str, pattern: str = "") -> str:
    """The folder of a person's environments. `pattern` is the rules' `environments.directory`."""
    pattern = (pattern or OWN_ROOT).replace("{user}", user)
    if pattern.startswith("~/"):
        return os.path.join(home, pattern[2:])
    return pattern


def described(path: str) -> Description | None:
    """What the folder says of itself; None where it is no environment of Roost's."""
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        descriptor = os.open(os.path.join(path, DESCRIPTION), flags)
    except OSError:
        return None
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return None
        data = os.read(descriptor, MAX_DESCRIPTION_BYTES + 1)
    finally:
        os.close(descriptor)
    try:
        found = msgspec.json.decode(data, type=Description)
    except (msgspec.DecodeError, msgspec.ValidationError):
        return None
    return found if found.kind in ("venv", "conda") else None


def describe(path: str, description: Description) -> None:
    """Writes it, whole or not at all."""
    write(os.path.join(path, DESCRIPTION), msgspec.json.encode(description))


def write(path: str, data: bytes) -> None:
    temporary = f"{path}.{os.getpid()}"
    with open(temporary, "xb") as file:
        file.write(data)
    os.replace(temporary, path)


def own(root: str) -> Iterator[Environment]:
    """The person's own, by name."""
    try:
        names = sorted(os.listdir(root))
    except FileNotFoundError:
        return
    for name in names:
        if is_name(name):
            found = find(root, name)
            if found is not None:
                yield found


def find(root: str, name: str) -> Environment | None:
    path = os.path.join(root, name)
    description = described(path)
    if description is None:
        return None
    return Environment(path, msgspec.structs.replace(description, name=name))


def needed(root: str, name: str) -> Environment:
    """Raises EnvError where it is not there."""
    found = find(root, name)
    if found is None:
        half = os.path.lexists(os.path.join(root, name))
        raise EnvError("half" if half else "missing", name=name, root=root)
    return found


def used_at(environment: Environment) -> float | None:
    """When a job last began with it; None: never, or it is somebody else's."""
    try:
        return os.stat(os.path.join(environment.path, USED)).st_mtime
    except OSError:
        return None


def site_packages(path: str) -> list[str]:
    """Folders of packages in the prefix; one for each Python in it."""
    lib = os.path.join(path, "lib")
    try:
        names = sorted(os.listdir(lib))
    except OSError:
        return []
    found = [
        os.path.join(lib, name, "site-packages")
        for name in names
        if name.startswith("python3") and not os.path.islink(os.path.join(lib, name))
    ]
    return [folder for folder in found if os.path.isdir(folder)]
