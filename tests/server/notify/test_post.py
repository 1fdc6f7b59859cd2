"""What is taken up for mail and what of it is left alone, over a real store."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from roost.core.notices.choices import Choices
from roost.server.intents import Keep
from roost.server.notify.post import Post
from roost.store import outbox
from roost.store.bookings import NoticeRecord, add_notices
from roost.store.database import Store, open_sqlite
from roost.store.notify import ChannelRecord, add_channel, channels_of, put_choices
from tests.server.notify.receiver import receiver

DAY = 86400.0 * 20_000


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = open_sqlite(tmp_path / "roost.db")
    yield opened
    opened.close()


def notice(number: int, at: float, user: str = "li") -> NoticeRecord:
    detail: dict[str, Any] = {
        "booking": number, "start_at": int(at) + 900, "end_at": int(at) + 7200, "gpus": 1,
    }  # fmt: skip
    return NoticeRecord(
        at=at, user=user, uid=1001, kind="booking_starts", subject=f"booking {number}",
        key=f"starts:{number}", detail=detail,
    )  # fmt: skip


def closed_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def writing(store: Store) -> Callable[[Keep], None]:
    """One after another, as the control thread writes for all threads."""
    turn = threading.Lock()

    def write(kept: Keep) -> None:
        with turn, store.write() as connection:
            kept.write(connection)

    return write


def post_over(store: Store, folder: Path, now: float, more: str = "") -> Post:
    path = folder / "mail.toml"
    path.write_text(
        f'host = "127.0.0.1"\nport = {closed_port()}\ntls = "none"\nfrom = "roost@lab.org"\n'
        f'domain = "lab.org"\n{more}'
    )
    path.chmod(0o600)

    return Post(store, writing(store), lambda: "UTC", path, "server-1", lambda: now)


def states(store: Store) -> dict[int, str]:
    with store.read() as connection:
        return {
            parcel.notice: state
            for state in ("waiting", "sending", "sent", "failed", "unknown", "late")
            for parcel, _ in outbox.parcels_in(connection, state, float("inf"), 5_000)
        }


def test_what_was_made_long_before_mail_was_set_up_is_not_sent(
    store: Store, tmp_path: Path
) -> None:
    with store.write() as connection:
        add_notices(connection, [notice(n, DAY - 7200.0) for n in range(1, 700)])
        add_notices(connection, [notice(700, DAY - 10.0)])
    post = post_over(store, tmp_path, DAY)
    post.round(wait=True)
    post.round(wait=True)
    assert states(store) == {700: "waiting"}


def test_in_quiet_hours_it_waits_for_their_end_and_nothing_is_tried(
    store: Store, tmp_path: Path
) -> None:
    with store.write() as connection:
        add_notices(connection, [notice(1, DAY)])
    post_over(store, tmp_path, DAY, 'quiet = "22:00-07:00"\n').round(wait=True)
    with store.read() as connection:
        ((parcel, _),) = outbox.parcels_in(connection, outbox.WAITING, float("inf"))
    assert (parcel.next_at, parcel.tries) == (DAY + 7 * 3600.0, 0)


def test_a_mail_server_that_is_away_is_tried_once_and_left_alone_for_a_while(
    store: Store, tmp_path: Path
) -> None:
    with store.write() as connection:
        add_notices(connection, [notice(1, DAY), notice(2, DAY)])
    post = post_over(store, tmp_path, DAY)
    post.round(wait=True)
    post.round(wait=True)
    with store.read() as connection:
        found = outbox.parcels_in(connection, outbox.WAITING, float("inf"))
    assert sorted(parcel.tries for parcel, _ in found) == [0, 1]


def test_what_was_left_in_the_middle_is_unknown_and_who_wants_nothing_gets_nothing(
    store: Store, tmp_path: Path
) -> None:
    with store.write() as connection:
        add_notices(connection, [notice(1, DAY), notice(2, DAY, "mei")])
        outbox.add_parcels(
            connection, [outbox.Parcel(notice=1, channel="mail", state=outbox.SENDING)], 1
        )
    post_over(store, tmp_path, DAY, '[people.mei]\noff = ["all"]\n').round(wait=True)
    assert states(store) == {1: "unknown"}


def test_what_happens_to_an_urgent_job_passes_quiet_hours_and_a_good_end_is_not_sent_unasked(
    store: Store, tmp_path: Path
) -> None:
    def of_job(number: int, kind: str, which: str) -> NoticeRecord:
        return NoticeRecord(
            at=DAY, user="li", uid=1001, kind=kind, subject=f"job {number}",
            key=f"{kind}:{number}", detail={"job": number, "class": which, "state": "FAILED"},
        )  # fmt: skip

    with store.write() as connection:
        records = [of_job(1, "job_failed", "urgent"), of_job(2, "job_failed", "regular")]
        add_notices(connection, [*records, of_job(3, "job_ended", "urgent"), *records])
    post_over(store, tmp_path, DAY, 'quiet = "22:00-07:00"\n').round(wait=True)
    with store.read() as connection:
        found = {p.notice: p for p, _ in outbox.parcels_in(connection, "waiting", float("inf"))}
    assert {number: found[number].tries for number in found} == {1: 1, 2: 0}
    assert found[2].next_at == DAY + 7 * 3600.0


def with_channels(store: Store, tmp_path: Path, now: float, *ports: int) -> Post:
    """A post for webhooks on loopback, one of li's for each port, and no mail."""
    origins = ", ".join(f'"http://127.0.0.1:{port}"' for port in ports)
    path = tmp_path / "mail.toml"
    path.write_text(f'[channels]\nwebhooks = [{origins}]\nprivate = ["127.0.0.0/8"]\n')
    path.chmod(0o600)
    with store.write() as connection:
        for number, port in enumerate(ports):
            address = f"http://127.0.0.1:{port}/x"
            add_channel(connection, ChannelRecord(f"c{number}", 1001, "li", "", address, DAY))

    return Post(store, writing(store), lambda: "UTC", path, "server-1", lambda: now)


def test_a_dead_channel_is_left_alone_and_holds_up_no_other(store: Store, tmp_path: Path) -> None:
    with receiver() as box:
        post = with_channels(store, tmp_path, DAY, closed_port(), box.port)
        with store.write() as connection:
            add_notices(connection, [notice(1, DAY), notice(2, DAY)])
        post.round(wait=True)
        post.round(wait=True)
        assert len(box.got) == 2
    with store.read() as connection:
        waiting = outbox.parcels_in(connection, "waiting", float("inf"))
    assert sorted((p.channel, p.tries) for p, _ in waiting) == [("c0", 0), ("c0", 1)]
    assert all(p.next_at > DAY for p, _ in waiting)


def test_many_at_once_come_as_one_and_a_channel_that_refuses_says_so(
    store: Store, tmp_path: Path
) -> None:
    with receiver() as box:
        post = with_channels(store, tmp_path, DAY, box.port)
        with store.write() as connection:
            add_notices(connection, [notice(n, DAY) for n in range(1, 31)])
        post.round(wait=True)
        assert len(box.got) == 1
        assert b"30 notices" in box.got[0][2]
        assert set(states(store).values()) == {"sent"}
        box.answer = (404, {}, b"")
        with store.write() as connection:
            add_notices(connection, [notice(31, DAY)])
        post.round(wait=True)
        assert states(store)[31] == "failed"
        with store.read() as connection:
            (channel,) = channels_of(connection, 1001, "li")
        assert channel.trouble == "HTTP 404"


def test_a_daily_summary_waits_for_its_hour_and_is_one_message(
    store: Store, tmp_path: Path
) -> None:
    def failed(number: int) -> NoticeRecord:
        return NoticeRecord(
            at=DAY, user="li", uid=1001, kind="job_failed", subject="", key=f"failed:{number}",
            detail={"job": number, "state": "FAILED", "exit_code": 1},
        )  # fmt: skip

    with receiver() as box:
        post = with_channels(store, tmp_path, DAY, box.port)
        with store.write() as connection:
            put_choices(connection, 1001, "li", Choices(wanted={"c0": {"job_failed": "digest"}}))
            add_notices(connection, [failed(n) for n in range(1, 6)] + [notice(9, DAY)])
        post.round(wait=True)
        assert box.got == [] and set(states(store)) == {1, 2, 3, 4, 5}
        post._clock = lambda: DAY + 8 * 3600.0 + 1.0
        post.round(wait=True)
        assert len(box.got) == 1


def test_what_another_server_left_in_the_middle_is_not_sent_again(
    store: Store, tmp_path: Path
) -> None:
    with receiver() as box:
        post = with_channels(store, tmp_path, DAY, box.port)
        with store.write() as connection:
            add_notices(connection, [notice(1, DAY)])
            outbox.add_parcels(connection, [outbox.Parcel(notice=1, channel="c0",
                                                          state=outbox.SENDING)], 1)  # fmt: skip
        post.round(wait=True)
        assert box.got == [] and states(store) == {1: "unknown"}
