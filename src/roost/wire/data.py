"""Messages of shared data sets: part of the closed list in `roost.wire.messages`."""

from __future__ import annotations

import msgspec

from roost.wire.base import ToAgent, ToServer


class AddData(ToAgent, frozen=True, tag="add_data"):
    """Take the person's own folder or file at `path` into the shared place as the set `name`: read
    with the rights of `user`, whose uid must be `uid`. Answered once it has begun."""

    place: str
    name: str
    user: str
    uid: int
    path: bytes
    licence: str = ""
    request: int = 0


class ListData(ToAgent, frozen=True, tag="list_data"):
    """The sets in the shared place."""

    place: str
    request: int = 0


class RemoveData(ToAgent, frozen=True, tag="remove_data"):
    """Take a set out of the shared place, or stop one on its way in. `only_uid`: only if it is that
    person's; None is an operator's call."""

    place: str
    name: str
    only_uid: int | None
    request: int = 0


class DataSet(msgspec.Struct, frozen=True):
    """A set: "ready"; "adding", `bytes` of `all_bytes` so far; or "failed", by `code`, a message of
    the `data` catalogue, at `path`. `pickled`: files that may run code when they are loaded."""

    name: str
    owner: str
    uid: int
    licence: str
    state: str
    bytes: int
    files: int
    sha256: str = ""
    pickled: int = 0
    all_bytes: int = 0
    made_at: float | None = None
    used_at: float | None = None
    code: str = ""
    path: str = ""
    why: str = ""


class DataSets(ToServer, frozen=True, tag="data_sets"):
    request: int
    sets: tuple[DataSet, ...]


class DataDone(ToServer, frozen=True, tag="data_done"):
    """`code` "": done, or begun; else why not, a message of the `data` catalogue."""

    request: int
    code: str = ""
    numbers: dict[str, str] = msgspec.field(default_factory=dict)
