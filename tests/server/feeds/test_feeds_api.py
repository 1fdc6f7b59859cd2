"""Calendar feeds of a real server: made, read without signing in, private, revoked."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest
from icalendar import Calendar

from roost.store.bookings import BookingRecord, store_bookings
from roost.store.database import open_sqlite
from tests.server.agent_peer import AgentPeer
from tests.server.rig import Server, raw

NOW = int(time.time()) // 60 * 60
ROOT = os.geteuid() == 0


@contextmanager
def as_nobody() -> Iterator[None]:
    """Connections made meanwhile come from another account (needs root)."""
    if not ROOT:
        pytest.skip("only root can call as somebody else")
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


def record(number: int, gpu: str, user: str, uid: int, **more: Any) -> BookingRecord:
    start = NOW + number * 86400
    return BookingRecord(
        id=number, user=user, uid=uid, group=more.pop("group", "lab"), starts_at=start,
        ends_at=more.pop("ends_at", start + 3600), made_at=float(NOW), made_by=user,
        gpu_uuids=(gpu,), purpose=more.pop("purpose", f"secret {number}"), **more,
    )  # fmt: skip


@pytest.fixture
def booked(folder: Path, peer: AgentPeer) -> Iterator[tuple[Server, list[str]]]:
    """A server whose database has bookings of root's and of nobody's."""
    folder.chmod(0o755)
    server = Server(folder)
    server.rules.write_text('time_zone = "Europe/Berlin"\n[groups.lab]\nmembers = ["nobody"]\n')
    server.start()
    uuids = [gpu["uuid"] for gpu in server.connected().status()["gpus"]]
    server.stop()
    store = open_sqlite(folder / "roost.db")
    with store.write() as connection:
        store_bookings(
            connection,
            [
                record(1, uuids[0], "root", 0),
                record(2, uuids[1], "nobody", 65534),
                record(3, uuids[0], "nobody", 65534, public=True),
                record(4, uuids[1], "root", 0, state="cancelled", closed_at=float(NOW), revision=2),
                record(5, uuids[0], "root", 0, maintenance=True, group="other"),
                # For the GPU that the fifth has then.
                msgspec.structs.replace(
                    record(5, uuids[0], "root", 0, state="waiting", chosen=(uuids[0],)),
                    id=6,
                    gpu_uuids=(),
                ),
            ],
            [],
        )
    store.close()
    server.start()
    server.connected()
    yield server, uuids
    server.stop()


def made(server: Server, **body: Any) -> dict[str, Any]:
    status, _, answer = raw(server.socket, "POST", "/v1/feeds", body)
    assert status == 201, answer
    assert isinstance(answer, dict)
    return answer


def events(server: Server, path: str) -> dict[str, Any]:
    status, headers, text = raw(server.socket, "GET", path)
    assert status == 200, text
    assert headers["content-type"] == "text/calendar; charset=utf-8"
    found = Calendar.from_ical(text)
    return {str(e["UID"]).split("@")[0]: e for e in found.walk("VEVENT")}


def test_a_feed_of_ones_own_bookings_has_these_and_their_purposes(
    booked: tuple[Server, list[str]],
) -> None:
    server, _ = booked
    with as_nobody():
        feed = made(server)
    found = events(server, feed["path"])
    assert set(found) == {"booking-2", "booking-3"}
    assert str(found["booking-2"]["SUMMARY"]) == "GPU 1 · secret 2"
    assert found["booking-2"]["DTSTART"].params["TZID"] == "Europe/Berlin"
    assert int(found["booking-2"]["DTSTART"].dt.timestamp()) == NOW + 2 * 86400


def test_a_feed_of_everybodys_shows_no_private_purpose_of_another(
    booked: tuple[Server, list[str]],
) -> None:
    server, _ = booked
    with as_nobody():
        feed = made(server, of="all")
    found = events(server, feed["path"])
    assert set(found) == {f"booking-{n}" for n in (1, 2, 3, 4, 5)}
    assert str(found["booking-1"]["SUMMARY"]) == "root: GPU 0"
    assert "secret 1" not in str(found["booking-1"]["DESCRIPTION"])
    assert str(found["booking-5"]["SUMMARY"]) == "Maintenance: GPU 0 · secret 5"
    gone = found["booking-4"]
    assert (gone["STATUS"], gone["SEQUENCE"]) == ("CANCELLED", 2)
    operator = events(server, made(server, of="all")["path"])
    assert str(operator["booking-2"]["SUMMARY"]) == "nobody: GPU 1 · secret 2"


def test_feeds_of_a_gpu_and_of_a_group(booked: tuple[Server, list[str]]) -> None:
    server, _ = booked
    assert set(events(server, made(server, of="gpu", gpu="1")["path"])) == {
        "booking-2", "booking-4",
    }  # fmt: skip
    assert set(events(server, made(server, of="group", group="lab")["path"])) == {
        f"booking-{n}" for n in (1, 2, 3, 4)
    }
    for body, status in (
        ({"of": "gpu"}, 422), ({"of": "gpu", "gpu": "99"}, 404), ({"of": "group"}, 404),
        ({"of": "group", "group": "x" * 65}, 422), ({"of": "his"}, 422), ({"to": "me"}, 422),
    ):  # fmt: skip
        assert raw(server.socket, "POST", "/v1/feeds", body)[0] == status, body


def test_a_revoked_feed_and_a_guessed_address_are_told_alike(
    booked: tuple[Server, list[str]],
) -> None:
    server, _ = booked
    feed = made(server)
    listed = raw(server.socket, "GET", "/v1/feeds")[2]["feeds"]
    assert [each["feed"] for each in listed] == [feed["feed"]]
    assert "path" not in listed[0]
    with as_nobody():
        assert raw(server.socket, "DELETE", f"/v1/feeds/{feed['feed']}")[0] == 404
        assert raw(server.socket, "GET", "/v1/feeds")[2]["feeds"] == []
    assert events(server, feed["path"])
    assert raw(server.socket, "DELETE", f"/v1/feeds/{feed['feed']}")[0] == 200
    answers = [
        raw(server.socket, "GET", f"/v1/feeds/{secret}/bookings.ics")
        for secret in (feed["path"].split("/")[3], "A" * 43, "x", "%2e%2e")
    ]
    assert {status for status, _, _ in answers} == {404}
    assert len({str(body) for _, _, body in answers}) == 1


def test_the_address_is_kept_as_a_hash_alone(booked: tuple[Server, list[str]]) -> None:
    server, _ = booked
    secret = made(server)["path"].split("/")[3]
    with sqlite3.connect(server.state / "roost.db") as connection:
        dump = "\n".join(connection.iterdump())
    assert secret not in dump
    assert secret not in server.log()


def test_what_has_not_changed_is_not_sent_again(booked: tuple[Server, list[str]]) -> None:
    server, _ = booked
    path = made(server)["path"]
    tag = raw(server.socket, "GET", path)[1]["etag"]
    status, _, body = raw(server.socket, "GET", path, headers={"If-None-Match": tag})
    assert (status, body) == (304, "")
    assert raw(server.socket, "GET", path, headers={"If-None-Match": '"x"'})[0] == 200


def test_nobody_makes_feeds_without_end(booked: tuple[Server, list[str]]) -> None:
    server, _ = booked
    for _ in range(20):
        made(server)
    status, _, answer = raw(server.socket, "POST", "/v1/feeds", {})
    assert (status, answer["type"]) == (409, "/problems/too_many_feeds")


def test_no_calendar_is_asked_for_without_end(booked: tuple[Server, list[str]]) -> None:
    server, _ = booked
    feed, other = made(server), made(server)
    answers = [raw(server.socket, "GET", feed["path"]) for _ in range(61)]
    assert [status for status, _, _ in answers] == [200] * 60 + [429]
    assert answers[-1][2]["type"] == "/problems/too_often"
    assert events(server, other["path"])
