"""Requests and answers about shared environments."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from roost.server.api.shapes import In, Out

MOST_FILES = 100_000


class MissingIn(In):
    files: Annotated[
        list[Annotated[str, Field(pattern=r"^[0-9a-f]{64}(\.x)?$")]], Field(max_length=MOST_FILES)
    ]


class MissingOut(Out):
    missing: list[str]


class UploadedOut(Out):
    added: int
    bytes: int


class NameIn(In):
    manifest: Annotated[str, Field(pattern="^[0-9a-f]{64}$")]


class CloneIn(In):
    owner: Annotated[str, Field(max_length=64)]
    name: Annotated[str, Field(max_length=64)]


class SharedOut(Out):
    owner: str
    name: str
    kind: str
    python: str
    digest: str
    size_bytes: int
    shared_time: str
    source: str
    path: str


class EnvironmentsOut(Out):
    directory: str
    environments: list[SharedOut]
