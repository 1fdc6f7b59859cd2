"""Bookings changed, handed over and made many at once, over the API of a real server."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest

from roost.client.api import Client
from roost.client.errors import RoostError
from tests.server.rig import Server, raw

HOUR = 3600


@pytest.fixture
def client(server: Server) -> Iterator[Client]:
    with server.connected() as connected:
        yield connected


def at(hours: float, anchor: int = int(time.time()) // HOUR * HOUR) -> str:
    return datetime.fromtimestamp(anchor + hours * HOUR, UTC).isoformat()


def post(client: Client, path: str, body: Any = None) -> Any:
    return client.call("POST", f"/v1/bookings{path}", body)


def book(client: Client, start: float, hours: float, **more: Any) -> list[dict[str, Any]]:
    made: list[dict[str, Any]] = client.book(
        {"start": at(start), "duration_s": int(hours * HOUR), "user": "daemon", **more}
    )["bookings"]
    return made


def refusal(client: Client, path: str, body: Any) -> RoostError:
    with pytest.raises(RoostError) as no:
        post(client, path, body)
    return no.value


def test_what_lies_ahead_is_moved_lengthened_and_given_other_gpus(client: Client) -> None:
    (one,) = book(client, 24, 2, chosen=["1"])
    number = one["booking"]
    moved = post(client, f"/{number}/change", {"start": at(30)})
    assert (moved["start"][:13], moved["end"][:13]) == (at(30)[:13], at(32)[:13])
    assert moved["gpu_indices"] == [1]
    longer = post(client, f"/{number}/change", {"duration_s": 5 * HOUR, "gpus": 3})
    assert (longer["end"][:13], len(longer["gpu_indices"])) == (at(35)[:13], 3)
    said = post(client, f"/{number}/change", {"purpose": " 论文 ", "public": True})
    assert (said["purpose"], said["public"], said["start"]) == ("论文", True, longer["start"])
    tried = post(client, f"/{number}/change", {"gpus": 1, "dry_run": True})
    assert tried["wanted"] == 1
    assert client.call("GET", f"/v1/bookings/{number}")["wanted"] == 3


def test_where_there_is_no_room_it_stays_and_is_told_what_there_is(client: Client) -> None:
    (one,) = book(client, 24, 2, gpus=4)
    (two,) = book(client, 26, 2, gpus=1)
    no = refusal(client, f"/{two['booking']}/change", {"start": at(25)})
    assert (no.status, no.code) == (409, "no_room")
    assert [clash["booking"] for clash in no.extra["conflicts"]] == [one["booking"]]
    assert no.extra["alternatives"]
    assert client.call("GET", f"/v1/bookings/{two['booking']}") == two


def test_of_what_has_begun_only_the_end_and_of_what_is_over_nothing(client: Client) -> None:
    (one,) = book(client, -1, 30, gpus=1)
    number = one["booking"]
    assert refusal(client, f"/{number}/change", {"start": at(2)}).code == "begun"
    shorter = post(client, f"/{number}/change", {"end": at(6)})
    assert shorter["end"][:13] == at(6)[:13]
    ended = post(client, f"/{number}/cancel")
    assert (ended["state"], ended["closed"]) == ("ended", [number])
    for path, body in (
        ("change", {"purpose": "looks better"}), ("cancel", None), ("give", {"to": "daemon"}),
        ("swap", {"with": number}),
    ):  # fmt: skip
        assert refusal(client, f"/{number}/{path}", body).code == "over", path


def test_a_series_is_booked_with_its_exceptions_and_cancelled_from_one_on(client: Client) -> None:
    (full,) = book(client, 48, 1, gpus=4)
    day = at(72)[:10]
    rule = {"repeat": "FREQ=DAILY;COUNT=5", "except": [day]}
    assert (
        refusal(client, "", {"start": at(24), "duration_s": HOUR, "user": "daemon", **rule}).code
        == "no_room"
    )
    made = book(client, 24, 1, skip=True, **rule)
    assert [one["start"][:10] for one in made] == [at(24)[:10], at(96)[:10], at(120)[:10]]
    assert {one["series"] for one in made} == {made[0]["booking"]}
    assert made[0]["repeat"].startswith("FREQ=DAILY;UNTIL=")
    listed = client.call("GET", f"/v1/bookings/{made[1]['booking']}")
    assert listed["repeat"] == made[0]["repeat"]
    closed = post(client, f"/{made[1]['booking']}/cancel", {"series": True})
    assert closed["closed"] == [made[1]["booking"], made[2]["booking"]]
    left = [one["booking"] for one in client.bookings()["bookings"] if one["state"] == "booked"]
    assert left == [made[0]["booking"], full["booking"]]


def test_a_series_that_reaches_into_itself_takes_other_gpus(client: Client) -> None:
    made = book(client, 24, 30, repeat="FREQ=DAILY;COUNT=3")
    one, two, three = (one["gpu_indices"] for one in made)
    assert one != two != three
    no = refusal(
        client, "", {"start": at(200), "duration_s": 30 * HOUR, "chosen": ["0"], "user": "daemon",
                     "repeat": "FREQ=DAILY;COUNT=3"},
    )  # fmt: skip
    assert no.status in (409, 422)


def test_a_rule_that_is_none_is_named(client: Client) -> None:
    body = {
        "start": at(24),
        "duration_s": HOUR,
        "user": "daemon",
        "repeat": "FREQ=SECONDLY;COUNT=1000000000",
    }
    no = refusal(client, "", body)
    assert (no.status, no.extra["key"]) == (422, "repeat")
    far = refusal(client, "", {**body, "repeat": "FREQ=MONTHLY;COUNT=90"})
    assert "bookings.repeat_horizon" in str(far)


def test_no_booking_is_without_an_end_nor_longer_than_the_rules_allow(client: Client) -> None:
    for body in ({"start": at(24)}, {"start": at(24), "end": None}):
        assert refusal(client, "", body).status == 422
    long = refusal(client, "", {"start": at(24), "duration_s": 73 * HOUR, "user": "daemon"})
    assert (long.code, long.extra["rule"]) == ("too_long", "bookings.longest")


def test_several_are_booked_all_or_none_and_once_for_a_key(server: Server, client: Client) -> None:
    row = {"duration_s": HOUR, "chosen": ["0"], "user": "daemon"}
    rows = [{**row, "start": at(24 + n)} for n in range(3)]
    twice = {"bookings": [*rows, {**row, "start": at(25.5)}]}
    no = refusal(client, "/batch", twice)
    assert (no.code, no.extra["row"], no.extra["other_row"]) == ("rows_clash", 3, 1)
    assert client.bookings()["bookings"] == []
    dry = post(client, "/batch", {"bookings": rows, "dry_run": True})
    assert [one["booking"] for one in dry["bookings"]] == [0, 0, 0]
    assert client.bookings()["bookings"] == []
    answers = [
        raw(server.socket, "POST", "/v1/bookings/batch", {**twice, "skip": True},
            {"Idempotency-Key": "sheet-1"})
        for _ in range(2)
    ]  # fmt: skip
    assert [status for status, _, _ in answers] == [201, 201]
    assert answers[0][2] == answers[1][2]
    assert len(client.bookings()["bookings"]) == 3


def test_it_is_handed_over_and_an_operators_word_is_enough_to_swap(client: Client) -> None:
    (one,), (two,) = book(client, 24, 1, user="bin"), book(client, 48, 1)
    assert two["user"] == "daemon"
    swapped = post(client, f"/{one['booking']}/swap", {"with": two["booking"]})
    assert swapped["swapped"] is True
    assert [row["user"] for row in swapped["bookings"]] == ["daemon", "bin"]
    given = post(client, f"/{two['booking']}/give", {"to": "daemon"})
    assert given["user"] == "daemon"
    no = refusal(client, f"/{one['booking']}/give", {"to": "nobody-of-here"})
    assert (no.status, no.code) == (404, "no_user")


def test_root_who_runs_no_jobs_books_a_maintenance_alone(client: Client) -> None:
    wanted = {"start": at(24), "duration_s": HOUR, "chosen": ["0"]}
    no = refusal(client, "", wanted)
    assert (no.status, no.code, no.extra["key"]) == (422, "not_root", "user")
    assert "root runs no jobs" in str(no)
    assert refusal(client, "/batch", {"bookings": [wanted]}).code == "not_root"
    (theirs,) = book(client, 24, 1, chosen=["1"])
    given = refusal(client, f"/{theirs['booking']}/give", {"to": "root"})
    assert given.code == "not_root"
    (made,) = client.book({**wanted, "maintenance": True})["bookings"]
    assert made["maintenance"] is True


pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="needs root: an operator by nature")
