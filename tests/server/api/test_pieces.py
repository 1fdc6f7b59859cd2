"""What streams say: made once for all who may read the same, for nobody who may not; bounded."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, cast

from roost.core.rules.model import Rules
from roost.server.api import pieces
from roost.server.api.pieces import LONGEST_S, Piece, Pieces
from roost.server.board import Board, RulesInForce
from roost.server.intents import Person

ANN = Person(1001, "ann", frozenset(), operator=False)
BOB = Person(1002, "bob", frozenset(), operator=False)
EVE = Person(1003, "eve", frozenset(), operator=False)
ROOT = Person(0, "root", frozenset(), operator=True)


@dataclass
class Rig:
    """`made` is what was really made, by topic and for whom."""

    owners: tuple[int, ...] = (ANN.uid, BOB.uid)
    at: float = 0.0

    def __post_init__(self) -> None:
        self.board = Board()
        self.own(*self.owners)
        self.version = 1
        self.made: list[tuple[str, str]] = []
        self.pieces = Pieces(lambda: self.at)

    def own(self, *uids: int) -> None:
        jobs: Any = {n: _Job(n, uid) for n, uid in enumerate(uids)}
        self.board.jobs = jobs

    def of(self, person: Person, topic: str = "jobs", language: str = "en", size: int = 1) -> Piece:
        def make() -> Any:
            self.made.append((topic, person.name))
            return {"for": person.name, "version": self.version, "size": "x" * size}

        return self.pieces.of(topic, self.version, self.board, person, language, make)


@dataclass(frozen=True)
class _Holder:
    uid: int | None


@dataclass(frozen=True)
class _Held:
    holders: tuple[_Holder, ...]
    gpus: tuple[Any, ...] = ()


@dataclass(frozen=True)
class _Job:
    id: int
    uid: int


def test_who_may_see_what_is_private_never_shares_with_who_may_not() -> None:
    rig = Rig()
    said = {person.name: rig.of(person).data for person in (ANN, BOB, EVE, ROOT)}
    again = {person.name: rig.of(person).data for person in (ROOT, EVE, BOB, ANN)}
    assert said == again
    assert len(set(said.values())) == 4
    for name in ("ann", "bob", "root"):
        assert f'"for":"{name}"'.encode() in said[name]


def test_those_without_jobs_share_one_and_operators_share_one() -> None:
    rig = Rig()
    others = [Person(2000 + n, f"p{n}", frozenset(), operator=False) for n in range(50)]
    assert len({id(rig.of(one)) for one in others}) == 1
    assert len({id(rig.of(replace(ROOT, uid=n))) for n in (0, 5, 6)}) == 1
    assert len(rig.made) == 2


def test_status_and_holders_are_made_once_for_each_language_and_for_operators() -> None:
    rig = Rig()
    for person in (ANN, BOB, EVE, ROOT):
        for language in ("en", "zh"):
            rig.of(person, "status", language)
            rig.of(person, "who", language)
    assert len(rig.made) == 8
    assert {name for _, name in rig.made} == {"ann", "root"}


def test_whose_processes_hold_a_gpu_shares_their_arguments_with_nobody() -> None:
    rig = Rig()
    gpus: tuple[Any, ...] = (_Held((_Holder(ANN.uid), _Holder(None))),)
    rig.board.attribution = cast(Any, _Held(holders=(), gpus=gpus))
    for topic in ("status", "who"):
        said = [rig.of(person, topic) for person in (ROOT, ANN, BOB, EVE)]
        assert said[2] is said[3]
        assert len({id(one) for one in said}) == 3
        for name, one in zip(("root", "ann", "bob"), said, strict=False):
            assert f'"for":"{name}"'.encode() in one.data


def test_a_change_a_new_rule_or_a_second_makes_it_anew() -> None:
    rig = Rig()
    rig.of(ANN)
    rig.version += 1
    rig.of(ANN)
    rig.board.rules = RulesInForce(Rules(time_zone="Asia/Shanghai"))
    rig.of(ANN)
    rig.board.trouble = "full"
    rig.of(ANN)
    rig.at += LONGEST_S + 0.01
    rig.of(ANN)
    assert len(rig.made) == 5
    rig.of(ANN)
    assert len(rig.made) == 5


def test_who_gets_a_first_job_reads_no_longer_what_everybody_reads() -> None:
    rig = Rig(owners=())
    assert rig.of(EVE) is rig.of(ANN)
    rig.own(EVE.uid)
    rig.version += 1
    assert rig.of(EVE) is not rig.of(ANN)


def test_of_so_many_jobs_that_lists_differ_nobody_shares(monkeypatch: Any) -> None:
    monkeypatch.setattr(pieces, "MOST_JOBS", 1)
    rig = Rig()
    assert rig.of(EVE) is not rig.of(replace(EVE, uid=7))
    assert rig.of(ROOT) is not rig.of(replace(ROOT, operator=False))


def test_what_says_the_same_has_the_same_digest() -> None:
    rig = Rig()
    first = rig.pieces.of("status", 1, rig.board, ANN, "en", lambda: {"a": 1})
    second = rig.pieces.of("status", 2, rig.board, ANN, "en", lambda: {"a": 1})
    third = rig.pieces.of("status", 3, rig.board, ANN, "en", lambda: {"a": 2})
    assert first.digest == second.digest != third.digest
    assert first.data == b'event: status\ndata: {"a":1}\n\n'


def test_what_is_kept_is_bounded_however_many_read_however_much(monkeypatch: Any) -> None:
    monkeypatch.setattr(pieces, "MOST_KEPT_BYTES", 10_000)
    rig = Rig(owners=tuple(range(3000, 3050)))
    for turn in range(40):
        rig.version += turn % 3 == 0
        for uid in range(3000, 3050):
            rig.of(Person(uid, str(uid), frozenset(), operator=False), size=900)
            held = sum(len(p.data) for now in rig.pieces._now.values() for p in now.pieces.values())
            assert held == rig.pieces.kept_bytes <= 10_000
