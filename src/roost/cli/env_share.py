"""`roost env share`: one's environment for everybody, to use and not to change; and what the other
commands need of those that others share. docs/design/008-environments.md says why by content."""

from __future__ import annotations

import os
from contextlib import contextmanager

from roost.cli.failure import CommandError
from roost.client.errors import RoostError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from roost.cli.context import Context
    from roost.machine.environments.parcel import Parcel
    from roost.machine.environments.place import Environment

AT_ONCE = 20_000
MOST_BODY_BYTES = 256 * 1024 * 1024


def share(context: Context) -> int:
    """Sends what the team has not got yet, and names it. With --stop, the name is taken back."""
    from roost.cli.env import as_person, failed, found, named
    from roost.machine.environments.parcel import pack
    from roost.machine.environments.place import EnvError

    (name,) = context.given.arguments
    if context.option("stop"):
        return _stop(context, name)
    as_person()
    named(name)
    environment = found(context, name)
    try:
        parcel, manifest = pack(environment)
        sent = _send(context, parcel)
        digest = _send_manifest(context, manifest)
    except EnvError as fault:
        raise failed(fault) from fault
    made: Any = context.client().call("PUT", f"/v1/environments/{name}", {"manifest": digest})
    row = {**made, "sent_bytes": sent}
    if context.json:
        context.out_json({"shared": row})
        return 0
    from roost.cli import format as fmt

    reference = f"{made['owner']}/{made['name']}"
    size = fmt.size(made["size_bytes"])
    context.out(context.say("cli_env.shared", name=reference, size=size, sent=fmt.size(sent)))
    return 0


def _stop(context: Context, reference: str) -> int:
    from roost.cli.env import root_of
    from roost.core.environments.names import split

    owner, name = split(reference) or ("", reference)
    owner = owner or root_of(context)[1]
    context.client().call("DELETE", f"/v1/environments/{owner}/{name}")
    if context.json:
        context.out_json({"shared": None})
    else:
        context.out(context.say("cli_env.unshared", name=f"{owner}/{name}"))
    return 0


def _send(context: Context, parcel: Parcel) -> int:
    """The bytes that were sent, of those files that are not there yet."""
    from roost.machine.environments.parcel import frames

    client = context.client()
    keys = sorted(parcel.sources)
    sent = 0
    for start in range(0, len(keys), AT_ONCE):
        words = [sha + (".x" if run else "") for sha, run in keys[start : start + AT_ONCE]]
        answer: Any = client.call("POST", "/v1/environments/missing", {"files": words})
        batch: list[tuple[str, bool]] = []
        size = 0
        for word in [*answer["missing"], ""]:
            key = (word[:64], word.endswith(".x"))
            length = parcel.sources[key][1] if word else 0
            if batch and (not word or size + length > MOST_BODY_BYTES):
                client.send_objects(*frames(parcel, batch))
                sent += size
                batch, size = [], 0
            if word:
                batch.append(key)
                size += length
    return sent


def _send_manifest(context: Context, manifest: bytes) -> str:
    import hashlib

    digest = hashlib.sha256(manifest)
    frame = digest.digest() + b"\0" + len(manifest).to_bytes(8, "big")
    context.client().send_objects([frame, manifest], len(frame) + len(manifest))
    return digest.hexdigest()


def of_team(answer: Any) -> list[Environment]:
    """The shared ones of the daemon's answer that this account can see on the disk."""
    from roost.cli import format as fmt
    from roost.machine.environments.place import Description, Environment

    found = []
    for row in answer["environments"]:
        if os.path.isdir(row["path"]):
            shared_at = fmt.epoch(row["shared_time"]) or 0.0
            description = Description(
                row["name"], row["kind"], row["python"], shared_at, row["source"], row["owner"]
            )
            found.append(Environment(row["path"], description, row["owner"], shared_at))
    return found


@contextmanager
def held(context: Context, environment: Environment, name: str) -> Iterator[None]:
    """The daemon keeps that version while there is a clone of that name; not if it came to none."""
    body = {"owner": environment.owner, "name": environment.name}
    context.client().call("PUT", f"/v1/environment-clones/{name}", body)
    try:
        yield
    except BaseException:
        let_go(context, name)
        raise


def let_go(context: Context, name: str) -> None:
    """Tells a daemon that there is no clone of that name; without one it keeps the files."""
    try:
        context.client().call("DELETE", f"/v1/environment-clones/{name}")
    except RoostError as error:
        if error.status not in (0, 404):
            raise CommandError("env_let_go", text=error.text) from error
