"""What streams say of each topic, made once for all who may read the same, as long as it holds.

Knows topics and who may read what, no connections. Belongs to the event loop.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import msgspec

from roost.server.board import Board, RulesInForce
from roost.server.intents import Person

MOST_JOBS = 5000
MOST_KEPT_BYTES = 16 * 1024 * 1024
LONGEST_S = 1.0
_json = msgspec.json.Encoder()
Reader = tuple[str, str]
"""Language, and as whom: an account (uid), an operator, or anybody."""


@dataclass(frozen=True, slots=True)
class Piece:
    """An event as it goes over the line; `digest` tells whether it says anything new."""

    digest: bytes
    data: bytes


@dataclass(slots=True)
class _Now:
    """One topic in one state. `owners` have jobs, or processes on GPUs; None: so many jobs that
    everybody's list differs."""

    version: int
    rules: RulesInForce
    connected: bool
    trouble: str
    at: float
    owners: frozenset[int] | None = frozenset()
    pieces: dict[Reader, Piece] = field(default_factory=dict)

    def holds(self, board: Board, version: int, at: float) -> bool:
        same = (self.version, self.connected, self.trouble) == (
            version, board.connected, board.trouble,
        )  # fmt: skip
        return same and self.rules is board.rules and at - self.at <= LONGEST_S


class Pieces:
    """One a server. Of each topic what is so now, never what was; all of it together is bounded."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._now: dict[str, _Now] = {}
        self.kept_bytes = 0

    def of(
        self, topic: str, version: int, board: Board, person: Person, language: str,
        make: Callable[[], Any],
    ) -> Piece:  # fmt: skip
        """What that person is told of the topic now: what `make` gives, for it or for another who
        may see the same. `version` grows with each change of the topic."""
        now = self._topic(topic, version, board)
        reader = (language, _whose(person, topic, now))
        piece = now.pieces.get(reader)
        if piece is None:
            piece = _piece(topic, make())
            self._keep(now, reader, piece)
        return piece

    def _topic(self, topic: str, version: int, board: Board) -> _Now:
        at = self._clock()
        now = self._now.get(topic)
        if now is None or not now.holds(board, version, at):
            if now is not None:
                self.kept_bytes -= sum(len(piece.data) for piece in now.pieces.values())
            now = _Now(version, board.rules, board.connected, board.trouble, at)
            if topic == "jobs":
                jobs = board.live()
                many = len(jobs) > MOST_JOBS
                now.owners = None if many else frozenset(job.uid for job in jobs)
            elif topic in ("status", "who") and board.attribution is not None:
                gpus = board.attribution.gpus
                uids = {holder.uid for gpu in gpus for holder in gpu.holders}
                now.owners = frozenset(uid for uid in uids if uid is not None)
            self._now[topic] = now
        return now

    def _keep(self, now: _Now, reader: Reader, piece: Piece) -> None:
        if self.kept_bytes + len(piece.data) > MOST_KEPT_BYTES:
            for other in self._now.values():
                other.pieces.clear()
            self.kept_bytes = 0
        now.pieces[reader] = piece
        self.kept_bytes += len(piece.data)


def _whose(person: Person, topic: str, now: _Now) -> str:
    """Of jobs and processes the arguments are their owners'; who has none reads what everybody
    reads."""
    if topic not in ("jobs", "status", "who"):
        return "anybody"
    if now.owners is None:
        return f"{'operator ' if person.operator else ''}{person.uid}"
    if person.operator:
        return "operator"
    return str(person.uid) if person.uid in now.owners else "anybody"


def _piece(topic: str, value: Any) -> Piece:
    data = _json.encode(value)
    digest = hashlib.blake2b(data, digest_size=16).digest()
    return Piece(digest, b"event: " + topic.encode() + b"\ndata: " + data + b"\n\n")
