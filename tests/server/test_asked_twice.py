"""Who asks again for lack of an answer is given the jobs of the first time, once for all."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.server.rig import Server, raw, submission


@pytest.fixture
def open_server(server: Server, folder: Path) -> Server:
    folder.chmod(0o755)
    server.connected()
    return server


def test_the_same_key_queues_once(open_server: Server) -> None:
    body = submission("sleep", "0", array="0-2")
    key = {"Idempotency-Key": "0123abcd"}
    socket = open_server.socket
    status, _, first = raw(socket, "POST", "/v1/jobs", body, key)
    again = raw(socket, "POST", "/v1/jobs", body, key)
    other = raw(socket, "POST", "/v1/jobs", body, {"Idempotency-Key": "another"})
    without = raw(socket, "POST", "/v1/jobs", body)
    assert status == 201
    assert (again[0], again[2]["jobs"]) == (201, first["jobs"])
    assert len({first["job"], other[2]["job"], without[2]["job"]}) == 3

    open_server.kill()
    open_server.start()
    after = raw(socket, "POST", "/v1/jobs", body, key)
    assert (after[0], after[2]["jobs"]) == (201, first["jobs"])
    with open_server.client() as client:
        assert len(client.jobs(ended=True)["jobs"]) == 9


def test_a_key_that_is_too_long_is_refused(open_server: Server) -> None:
    status, _, problem = raw(
        open_server.socket, "POST", "/v1/jobs", submission("true"), {"Idempotency-Key": "k" * 129}
    )
    assert status == 422, problem
