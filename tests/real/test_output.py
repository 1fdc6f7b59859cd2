"""Jobs' outputs by the API: followed by their owner, closed to others, hostile files harmless."""

from __future__ import annotations

import os
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.real import rig
from tests.real.hung_mount import hung_mount
from tests.real.web_rig import Browser, free_port, set_password

pytestmark = [
    pytest.mark.root,
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root: real accounts"),
]
ANN, BEN, OLGA = "rou-ann", "rou-ben", "rou-olga"
PASSWORD = "paper-Boat 7"


class Site:
    def __init__(self, daemon: rig.Daemon, people: list[rig.Account], port: int) -> None:
        self.daemon, self.ann = daemon, people[0]
        self.by: dict[str, Browser] = {}
        for account in people:
            browser = self.by[account.name] = Browser(port)
            assert browser.sign_in(account.name, PASSWORD).status == 200

    def output(self, job: int, who: str = ANN, **words: Any) -> dict[str, Any]:
        answer = self.by[who].ask("GET", path_of(job, **words))
        assert answer.status == 200, answer.text
        return dict(answer.json)

    def job_with(self, path: Path | str) -> int:
        """A job of ann's that has ended, whose output now is at that path's place."""
        number = self.daemon.run(ANN, "--output", str(path), "--", "true")
        self.daemon.wait_state(number, "COMPLETED", "FAILED")
        return number


def path_of(job: int, **words: Any) -> str:
    tail = "&".join(f"{key}={value}" for key, value in words.items())
    return f"/v1/jobs/{job}/output" + (f"?{tail}" if tail else "")


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    with rig.accounts("ann", "ben", "olga", prefix="rou-") as people:
        for account in people:
            set_password(account.name, PASSWORD)
        port = free_port()
        words = ("--simulate", "2xA100", "--http", f"127.0.0.1:{port}")
        with rig.daemon(*words, rules=f'operators = ["{OLGA}"]\n') as daemon:
            yield Site(daemon, people, port)


def test_output_is_followed_as_it_grows(site: Site) -> None:
    script = "printf '\\033[31mone\\033[0m\\n'; sleep 2; printf 'tw'; sleep 1; printf 'o\\n'"
    out = site.ann.home / "grows"
    number = site.daemon.run(ANN, "--output", str(out), "--", "sh", "-c", script)
    site.daemon.wait_state(number, "RUNNING", "COMPLETED")
    text, at, file, tries = "", 0, "", 0
    while "two\n" not in text and (tries := tries + 1) < 20:
        got = site.output(number, offset=at, file=file, wait_s=5)
        if got["state"] == "open":
            assert got["offset"] == at
            text, at, file = text + got["text"], got["next"], got["file"]
    assert text == "one\ntwo\n"
    site.daemon.wait_state(number, "COMPLETED")
    assert site.output(number, offset=at, file=file, wait_s=20)["ended"] is True


def test_nobody_but_the_owner_and_operators_reads_it(site: Site) -> None:
    number = site.daemon.run(ANN, "--", "sh", "-c", "echo key=hush-hush")
    site.daemon.wait_state(number, "COMPLETED")
    assert "hush-hush" in site.output(number)["text"]
    refused = site.by[BEN].ask("GET", path_of(number))
    assert refused.status == 403
    assert b"hush" not in refused.text
    seen = site.by[BEN].ask("GET", f"/v1/jobs/{number}").json
    assert seen["output"] is None
    assert "hush" not in str(seen)
    assert site.by[BEN].ask("GET", path_of(10**9)).status == 404
    assert site.by[ANN].ask("GET", path_of(number, limit=10**9)).status == 422
    assert Browser(site.by[BEN].port).ask("GET", path_of(number)).status == 401
    assert "hush-hush" in site.output(number, OLGA)["text"]
    noted = site.by[OLGA].ask("GET", "/v1/audit?limit=50").json["audit"]
    assert [one for one in noted if one["action"] == "output" and one["whom"] == ANN]


def test_only_what_the_owner_can_read_is_read(site: Site) -> None:
    """A link to what is root's alone, to the reader's own memory, or a folder not hers."""
    out = site.ann.home / "link"
    number = site.job_with(out)
    for target in ("/etc/shadow", "/proc/self/mem", "/root/.bashrc", "/proc/self/fd/0"):
        out.unlink()
        out.symlink_to(target)
        got = site.output(number, OLGA)
        assert (got["state"], got["text"]) in (("unreadable", ""), ("no_file", ""), ("open", "")), (
            got
        )
    out.unlink()
    out.symlink_to("/proc/self/environ")
    assert site.output(number, OLGA)["text"] == ""


def test_what_is_no_ordinary_file_is_said_and_stops_nobody(site: Site) -> None:
    out = site.ann.home / "odd"
    number = site.job_with(out)
    began = time.monotonic()
    out.unlink()
    assert site.output(number, wait_s=20)["state"] == "gone"
    os.mkfifo(out)
    os.chmod(out, 0o666)
    assert site.output(number, wait_s=20)["state"] == "no_file"
    out.unlink()
    out.mkdir()
    assert site.output(number, wait_s=20)["state"] == "no_file"
    out.rmdir()
    out.symlink_to("/dev/zero")
    assert site.output(number, wait_s=20)["state"] == "no_file"
    out.unlink()
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(out))
        assert site.output(number)["state"] == "no_file"
    out.unlink()
    out.symlink_to(out)
    assert site.output(number)["state"] == "unreadable"
    out.unlink()
    assert time.monotonic() - began < 15


def test_a_huge_file_gives_its_last_lines_and_another_file_is_noticed(site: Site) -> None:
    out = site.ann.home / "huge"
    number = site.job_with(out)
    with out.open("wb") as file:
        file.truncate(1 << 40)
        file.seek(0, os.SEEK_END)
        file.write(b"\nlast line\n")
    os.chown(out, site.ann.uid, site.ann.gid)
    got = site.output(number, limit=4096)
    assert got["text"] == "last line\n"
    assert got["next"] == got["size_bytes"] == (1 << 40) + 11
    middle = site.output(number, offset=1 << 30, limit=1024)
    assert (middle["offset"], middle["next"]) == (1 << 30, (1 << 30) + 1024)
    other = site.ann.home / "other"
    other.write_text("new\n")
    os.chown(other, site.ann.uid, site.ann.gid)
    other.rename(out)
    again = site.output(number, offset=got["next"], file=got["file"])
    assert (again["text"], again["offset"]) == ("new\n", 0)
    assert again["file"] != got["file"]
    out.write_text("cut")
    assert site.output(number, offset=4, file=again["file"])["text"] == "cut"


@pytest.mark.skipif(not os.path.exists("/dev/fuse"), reason="needs FUSE")
def test_a_disk_that_does_not_answer_stops_neither_agent_nor_others(site: Site) -> None:
    other = site.job_with(site.ann.home / "well")
    with hung_mount() as (point, quiet):
        number = site.job_with(site.ann.home / "hung")
        (site.ann.home / "hung").unlink()
        (site.ann.home / "hung").symlink_to(point / "file")
        quiet.touch()
        answers: list[str] = []
        waiting = threading.Thread(
            target=lambda: answers.append(site.output(number)["state"]), daemon=True
        )
        waiting.start()
        began = time.monotonic()
        assert site.output(other)["state"] == "open"
        site.job_with(site.ann.home / "runs-meanwhile")
        assert time.monotonic() - began < 4
        waiting.join(15)
        assert answers == ["slow"]


def test_one_account_looks_at_so_many_at_once(site: Site) -> None:
    out = site.ann.home / "many"
    number = site.daemon.run(ANN, "--output", str(out), "--", "sleep", "30")
    site.daemon.wait_state(number, "RUNNING")
    statuses: list[int] = []

    def ask() -> None:
        statuses.append(site.by[ANN].ask("GET", path_of(number, offset=0, wait_s=3)).status)

    threads = [threading.Thread(target=ask) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(statuses) == [200] * 4 + [429] * 2
    site.daemon.cli(ANN, "cancel", str(number))
    assert site.output(number)["state"] == "open"
