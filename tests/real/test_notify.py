"""The reminder of a booking at a real mail server: once, whatever ends or fails in between."""

from __future__ import annotations

import asyncio
import email
import os
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from email.policy import default
from pathlib import Path
from typing import Any

import pytest
from aiosmtpd.controller import Controller

from tests.real import rig

pytestmark = [
    pytest.mark.root,
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root: real accounts"),
]
RULES = 'time_zone = "UTC"\n[bookings]\nreminder = "6s"\n'
REMINDS = "begins"


class Box:
    """What arrived. `answer` other than 250: refused with it, after the data."""

    def __init__(self) -> None:
        self.got: list[Any] = []
        self.answer = "250 OK"
        self.tried = 0
        self.hold = threading.Event()
        self.hold.set()

    async def handle_DATA(self, _server: Any, _session: Any, envelope: Any) -> str:  # noqa: N802
        self.tried += 1
        if self.answer.startswith("250"):
            message = email.message_from_bytes(envelope.content, policy=default)
            self.got.append((envelope.rcpt_tos, message))
        if not self.hold.is_set():
            await asyncio.sleep(3600)
        return self.answer

    def reminders(self) -> list[Any]:
        return [one for one in self.got if REMINDS in str(one[1]["Subject"])]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def mail_server(box: Box, port: int) -> Iterator[None]:
    controller = Controller(box, hostname="127.0.0.1", port=port)
    controller.start()
    try:
        yield
    finally:
        controller.stop()


def write_settings(roost: rig.Daemon, port: int) -> None:
    path = Path(roost.state) / "mail.toml"
    path.touch(0o600)
    pid = roost.pid_of("server")
    assert pid is not None
    os.chown(path, Path(f"/proc/{pid}").stat().st_uid, 0)
    path.write_text(
        f'host = "127.0.0.1"\nport = {port}\ntls = "none"\nfrom = "roost@lab.test"\n'
        'domain = "lab.test"\n'
    )


def book(roost: rig.Daemon, user: str, in_s: float) -> None:
    when = ("--from", f"+{in_s:g}s", "--for", "1h")
    roost.cli(user, "book", *when, "--purpose", "Bcc: all@lab.test")


def test_a_reminder_arrives_once_also_over_kills_and_a_mail_server_that_was_away() -> None:
    box, port = Box(), free_port()
    with (
        rig.accounts("lin", prefix="notify-") as (lin,),
        rig.daemon("--simulate", "2xA100", rules=RULES) as roost,
    ):
        write_settings(roost, port)
        book(roost, lin.name, 10)
        time.sleep(6.5)  # the reminder is due; nobody answers at the mail server's port
        assert roost.kill("server")
        roost.wait_ready()
        with mail_server(box, port):
            rig.wait_for(box.reminders, f"the reminder; {roost.log()}", 30)
            ((to, message),) = box.reminders()
            assert to == [f"{lin.name}@lab.test"]
            assert message["Bcc"] is None
            assert "Bcc: all@lab.test" in message.get_content(), "as a text"
            assert len(message.get_content().strip().splitlines()) <= 5
            assert roost.kill("server")
            roost.wait_ready()
            time.sleep(5)
            assert len(box.reminders()) == 1


def test_a_mail_server_that_says_later_is_asked_again_and_holds_up_nobody() -> None:
    box, port = Box(), free_port()
    box.answer = "451 later"
    with (
        rig.accounts("mei", prefix="notify-") as (mei,),
        rig.daemon("--simulate", "2xA100", rules=RULES) as roost,
        mail_server(box, port),
    ):
        write_settings(roost, port)
        book(roost, mei.name, 10)
        rig.wait_for(lambda: box.tried, f"a first try; {roost.log()}", 30)
        number = roost.run(mei.name, "--", "true")
        roost.wait_state(number, "COMPLETED")
        box.answer = "250 OK"
        rig.wait_for(box.reminders, f"the reminder; {roost.log()}", 30)
        time.sleep(2)
        assert len(box.reminders()) == 1


def test_what_was_being_sent_when_the_server_was_killed_is_not_sent_again() -> None:
    box, port = Box(), free_port()
    box.hold.clear()
    with (
        rig.accounts("wu", prefix="notify-") as (wu,),
        rig.daemon("--simulate", "2xA100", rules=RULES) as roost,
        mail_server(box, port),
    ):
        write_settings(roost, port)
        book(roost, wu.name, 10)
        rig.wait_for(lambda: box.tried, f"it was handed over; {roost.log()}", 30)
        box.hold.set()
        assert roost.kill("server")
        roost.wait_ready()
        rig.wait_for(lambda: "may or may not have arrived" in roost.log(), "it is said", 20)
        time.sleep(3)
        assert len(box.reminders()) == 1


def test_a_job_that_fails_is_told_once_and_one_that_gives_way_for_whom_it_did() -> None:
    box, port = Box(), free_port()
    with (
        rig.accounts("he", "su", prefix="notify-") as (he, su),
        rig.daemon(
            "--simulate", "1xA100",
            rules='[classes.background]\nmin_run = "0s"\ngrace = "1s"\n',
        ) as roost,
        mail_server(box, port),
    ):  # fmt: skip
        write_settings(roost, port)
        failed = roost.run(he.name, "--", "sh", "-c", "exit 3")
        roost.wait_state(failed, "FAILED")
        victim = roost.run(he.name, "-g", "1", "--class", "background", "--", "sleep", "300")
        roost.wait_state(victim, "RUNNING")
        urgent = roost.run(su.name, "-g", "1", "--class", "urgent", "--", "sleep", "300")
        roost.wait_state(urgent, "RUNNING")
        rig.wait_for(lambda: len(box.got) >= 2, f"both; {roost.log()}", 30)
        assert roost.kill("server")
        roost.wait_ready()
        time.sleep(3)
        subjects = sorted(str(message["Subject"]) for _, message in box.got)
        assert [to for to, _ in box.got] == [[f"{he.name}@lab.test"]] * 2
        assert f"Job {failed} failed with exit code 3" in subjects[0]
        assert subjects[1] == f"Job {victim} gives way to job {urgent} of {su.name}, in 1s"
