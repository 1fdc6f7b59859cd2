"""The short way of a submission answers what the ordinary way answers."""

from __future__ import annotations

from typing import Any

import pytest

from tests.server.rig import Server, raw, submission

# Taken by the ordinary way: the short one takes what is exactly "application/json".
ORDINARY = {"Content-Type": "application/json; charset=utf-8"}


def _both(server: Server, body: Any, headers: dict[str, str]) -> list[tuple[int, str, Any]]:
    found = []
    for more in ({}, ORDINARY):
        status, fields, answer = raw(server.socket, "POST", "/v1/jobs", body, {**headers, **more})
        if status == 201:
            answer = {name: type(value) for name, value in answer.items()}
        found.append((status, fields["content-type"], answer))
    return found


BODIES: list[tuple[Any, int]] = [
    (submission("sleep", "0"), 201),
    (submission("sleep", "0", array="1-3"), 201),
    (submission("sleep", "0", environment={"A": "训练"}, name="训练"), 201),
    (submission("sleep", gpus=99), 422),
    (submission("sleep", gpus="one"), 422),
    (submission("sleep", unknown=1), 422),
    (submission("sleep", **{"class": "royal"}), 422),
    (submission("sleep", name="a\nb"), 422),
    (submission("\ud800"), 422),
    ({"directory": "/tmp"}, 422),
    (submission("sleep", environment={"A": "a" * 300_000}), 413),
    (b"", 422),
    (b"null", 422),
    (b"[]", 422),
    (b'{"command": [', 422),
    (b"\xff\xfe", 422),
    (b"\xff", 400),
    (b"[" * 100_000, 400),
]


@pytest.mark.parametrize("language", ["en", "zh"])
def test_both_ways_say_the_same(server: Server, language: str) -> None:
    server.connected()
    for body, status in BODIES:
        short, ordinary = _both(server, body, {"Accept-Language": language})
        assert short == ordinary, body
        assert short[0] == status, body


def test_both_ways_know_a_submission_that_is_asked_again(server: Server) -> None:
    server.connected()
    body = submission("sleep", "0")
    for key, status in (("k", 201), ("k" * 128, 201), ("k" * 129, 422)):
        answers = []
        for more in ({}, ORDINARY, {}):
            headers = {"Idempotency-Key": key, **more}
            answers.append(raw(server.socket, "POST", "/v1/jobs", body, headers)[::2])
        assert {answer[0] for answer in answers} == {status}
        assert len({answer[1].get("job") for answer in answers}) == 1


def test_a_doubled_header_goes_the_ordinary_way(server: Server) -> None:
    server.connected()
    first, second = (
        raw(server.socket, "POST", "/v1/jobs", submission("sleep", "0"),
            {"Idempotency-Key": "one", "idempotency-key": key})[2]["job"]
        for key in ("two", "three")
    )  # fmt: skip
    assert first == second
