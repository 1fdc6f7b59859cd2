"""`GET /v1/history` of a running server: what ran, for everybody, without what is private."""

from __future__ import annotations

import os
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from roost.cli.replay_history import past_bookings
from roost.client.errors import RoostError
from roost.store.database import open_sqlite
from roost.store.jobs import add_jobs
from tests.server.rig import Server, raw, submission, wait_for
from tests.server.test_server import other_person, wait_state
from tests.store.test_history import job


def pages(server: Server, *words: str) -> list[dict[str, Any]]:
    with server.client() as client:
        return list(client.history(*words))


def test_a_history_has_requests_attempts_and_what_they_held(server: Server, folder: Path) -> None:
    folder.chmod(0o755)
    client = server.connected()
    with client:
        one = client.submit(
            submission("sleep", "0.3", "0", gpus=2, walltime_s=600, directory="/secret")
        )["job"]
        client.wait(one, 20)
        again = client.submit(submission("sleep", "2", "0", **{"class": "background"}))["job"]
        wait_state(server, again, "RUNNING")
        client.requeue(again)
        wait_for(lambda: client.job(again)["attempt"] == 2, "it runs again")
        waits = client.submit(submission("sleep", "1", gpus=1, held=True, after=[again]))["job"]
        (page,) = client.history()
    rows = {row["job"]: row for row in page["history"]}
    assert set(rows) == {one, again, waits}
    first = rows[one]
    assert first["request"] == {
        "gpus": 2, "gpus_most": None, "gpu_memory_bytes": None, "gpu_compute_percent": None,
        "gpu_model": None, "cpus": 0,
        "memory_bytes": None, "walltime_s": 600,
    }  # fmt: skip
    assert (first["state"], len(first["granted"]), len(first["attempts"])) == ("COMPLETED", 2, 1)
    assert first["attempts"][0]["end_reason"] == "exited"
    assert first["submit_time"] <= first["attempts"][0]["start_time"] < first["end_time"]
    # Its own row tells of the last attempt only; the first is told all the same.
    assert [each["end_reason"] for each in rows[again]["attempts"]] == ["preempted", None]
    assert rows[again]["end_time"] is None
    assert (rows[waits]["after"], rows[waits]["attempts"]) == ([again], [])
    assert page["people"][first["user"]]
    assert len(page["gpus"]) == 4
    assert page["cpus"] > 0
    assert "secret" not in str(page)
    assert "command" not in first
    with other_person():
        assert [row["job"] for row in pages(server)[0]["history"]] == [
            row["job"] for row in page["history"]
        ], "everybody may see it"


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root: it books for another person")
def test_a_history_has_the_bookings_that_were_known_then_and_a_replay_takes_them_as_walls(
    server: Server,
) -> None:
    with server.connected() as client:
        start = datetime.fromtimestamp(time.time() + 7200, UTC).isoformat()
        asked = {"start": start, "duration_s": 3600, "chosen": ["1"], "user": "daemon"}
        (kept,) = client.book({**asked, "purpose": "secret"})["bookings"]
        (gone,) = client.book({**asked, "chosen": ["0"]})["bookings"]
        client.cancel_booking(gone["booking"], False)
        (page,) = client.history()
    rows = {row["booking"]: row for row in page["bookings"]}
    one, other = rows[kept["booking"]], rows[gone["booking"]]
    assert (one["user"], one["start"][:19]) == ("daemon", kept["start"][:19])
    assert (one["state"], one["closed_time"]) == ("booked", None)
    assert (other["state"], other["closed_time"] is not None) == ("cancelled", True)
    assert "secret" not in str(page)
    there = {gpu["uuid"] for gpu in page["gpus"]}
    walls = past_bookings(page["bookings"], there)
    assert [(wall.booking.id, wall.booking.gpu_uuids) for wall in walls] == [
        (kept["booking"], tuple(kept["gpus"])), (gone["booking"], tuple(gone["gpus"])),
    ]  # fmt: skip
    assert walls[0].made_at < walls[0].booking.starts_at < walls[0].booking.ends_at
    assert past_bookings(page["bookings"], {kept["gpus"][0]})[0].booking.id == kept["booking"]


def test_many_jobs_come_in_pages_and_the_queue_goes_on_meanwhile(
    server: Server, folder: Path
) -> None:
    server.connected().close()
    server.stop()
    now = time.time()
    store = open_sqlite(folder / "roost.db")
    with store.write() as connection:
        add_jobs(
            connection,
            [job(n, now - 5000 + n / 10, now - 4000 + n / 10, uid=os.getuid()) for n in
             range(1, 12_001)],
        )  # fmt: skip
    store.close()
    server.start()
    with server.connected() as client, server.client() as other:
        slowest, found, count = 0.0, set(), 0
        for page in client.history():
            found |= {row["job"] for row in page["history"]}
            count += 1
            began = time.monotonic()
            number = other.submit(submission("sleep", "0", "0"))["job"]
            slowest = max(slowest, time.monotonic() - began)
        assert found >= set(range(1, 12_001))
        assert count >= 12
        assert number > 12_000
        assert slowest < 5.0


@pytest.mark.parametrize(
    ("query", "status", "key"),
    [
        ("after=x", 422, "after"),
        ("after=nan:1", 422, "after"),
        ("after=1e300:1", 422, "after"),
        ("after=1:-1", 422, "after"),
        ("from=yesterday", 422, "from"),
        ("limit=0", 422, "limit"),
        ("limit=99999", 422, "limit"),
        ("from=2000-01-01&to=2000-02-01", 200, None),
    ],
)
def test_a_wrong_word_is_named(server: Server, query: str, status: int, key: str | None) -> None:
    found, _, body = raw(server.socket, "GET", f"/v1/history?{query}")
    assert (found, body.get("key")) == (status, key)


def test_a_page_that_no_page_told_is_refused_by_the_client_too(server: Server) -> None:
    with server.client() as client, pytest.raises(RoostError, match="after"):
        client.call("GET", "/v1/history?after=1")
