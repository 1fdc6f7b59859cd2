"""People's own channels, with real accounts, the real daemon and a real receiver of webhooks: what
each chose arrives there once, nothing of it is told to others, and no address reaches inside.
"""

from __future__ import annotations

import json
import os
import sqlite3
import stat
import time
from pathlib import Path

import pytest

from tests.real import rig
from tests.real.test_notify import free_port
from tests.server.notify.receiver import Receiver, receiver

pytestmark = [
    pytest.mark.root,
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root: real accounts"),
]
RULES = '[notices]\nlong_run = "0s"\n'
SECRET = "s3cr3tpath"


def allow(roost: rig.Daemon, *origins: str) -> None:
    path = Path(roost.state) / "mail.toml"
    path.touch(0o600)
    pid = roost.pid_of("server")
    assert pid is not None
    os.chown(path, Path(f"/proc/{pid}").stat().st_uid, 0)
    words = ", ".join(f'"{one}"' for one in origins)
    path.write_text(
        f'[channels]\nservices = ["feishu"]\nwebhooks = [{words}]\nprivate = ["127.0.0.0/8"]\n'
    )


def titles(box: Receiver) -> list[str]:
    return [str(json.loads(body)["title"]) for _, _, body in box.got]


def test_what_each_chose_arrives_once_at_their_own_channel_over_kills() -> None:
    port = free_port()
    with (
        rig.accounts("an", "bo", prefix="ntc-") as (an, bo),
        rig.daemon("--simulate", "2xA100", rules=RULES) as roost,
    ):
        origin = f"http://127.0.0.1:{port}"
        allow(roost, origin)
        address = f"{origin}/{SECRET}?k=v"
        made = roost.json(an.name, "notify", "add", "--name", "mine", text_input=address)
        channel = made["channel"]
        assert SECRET not in json.dumps(made)
        roost.cli(an.name, "notify", "set", "--topic", "job_ended", "--as", "now")
        first = roost.run(an.name, "--", "true")  # nobody is at the receiver's port yet
        others = roost.run(bo.name, "--", "true")
        roost.wait_state(first, "COMPLETED")
        roost.wait_state(others, "COMPLETED")
        rig.wait_for(lambda: "does not take notices" in roost.log(), "a first try", 20)
        assert roost.kill("server")
        roost.wait_ready()
        with receiver(port=port) as box:
            rig.wait_for(lambda: box.got, f"the notice; {roost.log()}", 40)
            assert box.got[0][0] == f"/{SECRET}?k=v"
            assert titles(box) == [f"Job {first} completed after 0s"]
            assert roost.kill("server")
            roost.wait_ready()
            time.sleep(4)
            assert len(box.got) == 1, "not again after a restart, and nothing of bo's"
            assert roost.json(an.name, "notify", "test", channel)["sent"] is True
            assert len(box.got) == 2

        # It is nobody else's, an operator's neither, and it is told whole to no one.
        for user in (bo.name, "root"):
            shown = roost.json(user, "notify", "show")
            assert channel not in json.dumps(shown)
            assert roost.cli(user, "notify", "remove", channel, check=False).returncode == 1
            assert roost.cli(user, "notify", "test", channel, check=False).returncode == 1
        told = roost.cli(an.name, "notify", "show").stdout + roost.log()
        told += roost.cli("root", "audit", "log", "--json").stdout
        assert SECRET not in told and "notify-add" in told
        for file in Path(roost.state).glob("roost.db*"):
            assert stat.S_IMODE(file.stat().st_mode) & 0o077 == 0, file

        listed = roost.json(an.name, "notify", "list")
        assert [one["kind"] for one in listed["notices"]] == ["job_ended"]
        assert roost.json(an.name, "notify", "list")["unread"] == 0
        roost.cli(an.name, "notify", "remove", channel)
        with sqlite3.connect(Path(roost.state) / "roost.db") as stored:
            assert stored.execute("SELECT count(*) FROM notify_channels").fetchone() == (0,)


def test_no_address_reaches_what_the_operators_did_not_name() -> None:
    with (
        rig.accounts("cy", prefix="ntc-") as (cy,),
        rig.daemon("--simulate", "1xA100", rules=RULES) as roost,
        receiver() as box, receiver() as inner,
    ):  # fmt: skip
        allow(roost, f"http://127.0.0.1:{box.port}")
        for address, said in (
            (f"http://127.0.0.1:{inner.port}/x", "do not allow webhooks"),
            (f"http://localhost:{box.port}/x", "do not allow webhooks"),
            (f"http://u:p@127.0.0.1:{box.port}/x", "a name or password in it"),
            ("file:///etc/shadow", "addresses of file://"),
            ("syslog://", "addresses of syslog://"),
            ("mailto://u:p@mail.test", "addresses of mailto://"),
            ("slack://T1JJ3T3L2/A1BRTD4JD/TIiajkdnlazkcOXrIdevi7FQ", "do not allow slack"),
        ):
            refused = roost.cli(cy.name, "notify", "add", text_input=address, check=False)
            assert refused.returncode in (1, 4) and said in refused.stderr, refused.stderr
        made = roost.json(cy.name, "notify", "add", text_input=f"http://127.0.0.1:{box.port}/x")
        box.answer = (302, {"Location": f"http://127.0.0.1:{inner.port}/"}, b"")
        tested = roost.cli(cy.name, "notify", "test", made["channel"], "--json", check=False)
        assert json.loads(tested.stdout) == {"sent": False, "problem": "HTTP 302"}
        assert inner.got == []


def test_the_login_says_what_matters_and_never_waits() -> None:
    with (
        rig.accounts("di", prefix="ntc-") as (di,),
        rig.daemon("--simulate", "1xA100", rules=RULES) as roost,
    ):
        assert roost.cli(di.name, "motd").stdout == ""
        number = roost.run(di.name, "--", "sh", "-c", "exit 3")
        roost.wait_state(number, "FAILED")
        roost.cli(di.name, "book", "--from", "tomorrow 9:00", "--for", "1h")
        running = roost.run(di.name, "-g", "1", "--", "sleep", "300")
        roost.wait_state(running, "RUNNING")
        said = roost.cli(di.name, "motd").stdout.splitlines()
        assert "your next booking 1: 1 GPUs" in said[0]
        assert "1 running, 0 waiting" in said[1] and "1 unread" in said[2]
        # As pam_exec runs it: root, with the account's name; it is the account's that is told.
        assert (
            roost.cli("root", "motd", environment={"PAM_USER": di.name}).stdout.splitlines() == said
        )
        chinese = roost.cli(di.name, "motd", environment={"LC_ALL": "zh_CN.UTF-8"}).stdout
        assert "您的下一个预约" in chinese

        pid = roost.pid_of("server")
        assert pid is not None
        os.kill(pid, 19)  # SIGSTOP: it is there, and answers nothing
        try:
            began = time.monotonic()
            silent = roost.cli(di.name, "motd")
            assert time.monotonic() - began < 6.0
            assert (silent.returncode, silent.stdout, silent.stderr) == (0, "", "")
        finally:
            os.kill(pid, 18)
        nowhere = {"ROOST_SOCKET": "/nonexistent/roost.sock"}
        silent = roost.cli(di.name, "motd", environment=nowhere)
        assert (silent.returncode, silent.stdout, silent.stderr) == (0, "", "")
