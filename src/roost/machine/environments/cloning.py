"""Another environment like one that is there, without the network; and the lock of either."""

from __future__ import annotations

import os
import shutil
import tempfile
import time

import msgspec

from roost.machine.environments import conda, links, venv
from roost.machine.environments.installed import read
from roost.machine.environments.place import (
    LOCK,
    EnvError,
    Environment,
    describe,
)

MAX_LOCK_BYTES = 16 * 1024 * 1024


def clone(source: Environment, root: str, name: str, owner: str) -> int:
    """Makes `name` like `source`; returns how many files are links to its. Raises
    EnvError, OSError.

    A venv's files are linked: hard to one's own, else as `links.copy_tree` says. A conda prefix is
    put together again from the package cache, since its files name their place.
    """
    if source.description.kind == "conda":
        if source.owner:
            raise EnvError("conda_clone", name=source.reference)
        conda.clone(source.path, root, name, owner, source.reference)
        return 0
    path = venv.fresh(root, name)
    making = tempfile.mkdtemp(prefix=f".making-{name}-", dir=root)
    try:
        prefix = os.path.join(making, name)
        ours = not source.owner
        linked = links.copy_tree(source.path, prefix, ours)
        describe(
            prefix,
            msgspec.structs.replace(
                source.description, name=name, owner=owner, made_at=time.time(), source="clone",
                cloned_from=source.reference,
            ),
        )  # fmt: skip
        venv.settle(prefix, path)
    finally:
        shutil.rmtree(making, ignore_errors=True)
    return linked


def lock_of(environment: Environment, where: str) -> str:
    """Exact versions with hashes. As it was made where nothing has changed since; else resolved
    from what is installed now. Raises EnvError."""
    kept = read(os.path.join(environment.path, LOCK), MAX_LOCK_BYTES) or ""
    if environment.description.kind == "conda":
        return conda.lock_of(environment.path)
    if environment.owner or same_versions(kept, environment.path):
        return kept
    return venv.locked_now(environment.path, where)


def same_versions(locked: str, path: str) -> bool:
    """Whether the lock names exactly what is installed."""
    from roost.core.environments.frameworks import canonical
    from roost.core.environments.sources import pins
    from roost.machine.environments.installed import installed

    has = {canonical(dist.name): dist.version for dist in installed(path).dists}
    wanted = {canonical(name): version for name, version in pins(locked).items()}
    return bool(wanted or not has) and has == wanted
