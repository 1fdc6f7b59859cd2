"""A Roost that people have used, to attack: accounts of every role, and things with real numbers.

`site` starts it and plants what is ben's alone, with marks (`CANARY`) in all that is private of it.
`Stock` has things of the caller's own at hand. Knows nothing of what a test expects.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from roost.server.api.rights import Role
from tests.real import rig
from tests.real.oidc_rig import CLIENT, lying
from tests.real.web_rig import Answer, Browser, free_port, set_password

PASSWORD = "paper-Boat 7"
CANARY = "kanarie"
"""In every private text of ben's: arguments, environment, output, folder, purpose, names."""
NAMES = {Role.VIEWER: "vera", Role.MEMBER: "ann", Role.LEAD: "lea", Role.OPERATOR: "olga"}
RULES = """
operators = ["{p}olga"]
viewers = ["{p}vera"]
max_array = 10
[groups.lab]
members = ["{p}ann", "{p}lea"]
leads = ["{p}lea"]
[groups.other]
members = ["{p}ben"]
[bookings]
horizon = "300d"
[oidc]
issuer = "{issuer}"
client_id = "{client}"
name = "Lab"
[data]
path = "/tmp/{p}data"
"""
# Where a webhook may go; nobody listens there.
HOOK = "http://127.0.0.1:9"
LONG = ["bash", "-c", "sleep 600; true"]


@dataclass
class Site:
    """`ben`: the numbers of what is his. `secrets`: what opens his things; nobody is told them."""

    prefix: str
    daemon: rig.Daemon
    people: dict[str, rig.Account]
    by: dict[Role, Browser]
    port: int
    owner: Browser
    ben: dict[str, Any] = field(default_factory=dict)
    secrets: list[str] = field(default_factory=list)

    def sign_in(self, name: str) -> Browser:
        browser = Browser(self.port)
        assert browser.sign_in(f"{self.prefix}{name}", PASSWORD).status == 200
        return browser


@contextmanager
def site(prefix: str, gpus: str = "12xA100") -> Iterator[Site]:
    everybody = (*NAMES.values(), "ben")
    with rig.accounts(*everybody, prefix=prefix) as made, lying(f"{prefix}ann") as issuer:
        for account in made:
            set_password(account.name, PASSWORD)
        port = free_port()
        rules = RULES.format(p=prefix, issuer=issuer, client=CLIENT)
        words = ("--simulate", gpus, "--http", f"127.0.0.1:{port}")
        with rig.daemon(*words, rules=rules) as daemon:
            settings = daemon.state / "mail.toml"
            settings.touch(0o600)
            os.chown(settings, Path(f"/proc/{daemon.pid_of('server')}").stat().st_uid, 0)
            settings.write_text(f'[channels]\nwebhooks = ["{HOOK}"]\nprivate = ["127.0.0.0/8"]\n')
            people = {one.name.removeprefix(prefix): one for one in made}
            found = Site(prefix, daemon, people, {}, port, Browser(port))
            found.owner = Browser(port, headers={"User-Agent": f"{CANARY}/1"})
            assert found.owner.sign_in(f"{prefix}ben", PASSWORD).status == 200
            found.by = {role: found.sign_in(name) for role, name in NAMES.items()}
            found.by[Role.STRANGER] = Browser(port)
            plant(found)
            yield found
        shutil.rmtree(f"/tmp/{prefix}data", ignore_errors=True)


def done(answer: Answer, *statuses: int) -> Any:
    """What was answered, where it went as it should."""
    assert answer.status in (statuses or (200, 201)), (answer.status, answer.text)
    return answer.json


def submission(*command: str, **more: Any) -> dict[str, Any]:
    return {"command": list(command) or ["true"], "directory": "/tmp", "walltime_s": 3600, **more}


def hours(number: float) -> str:
    """That many hours from now, as the API takes it."""
    return (datetime.now(UTC) + timedelta(hours=number)).isoformat(timespec="seconds")


def plant(site: Site) -> None:
    """Jobs that wait, run, printed and failed; bookings, tokens, feeds: all of ben's."""
    ben, home = site.owner, site.people["ben"].home
    private = {
        "environment": {"SECRET": f"{CANARY}-env", f"{CANARY}_NAME": "1"},
        "reason": f"{CANARY}-reason",
        "source": {"path": f"{home}/{CANARY}.py", "sha256": "0" * 64},
    }

    def job(*command: str, **more: Any) -> int:
        answer = ben.ask("POST", "/v1/jobs", submission(*command, **{**private, **more}))
        return int(done(answer)["job"])

    said = f"echo {CANARY}-printed; echo $SECRET"
    printed = job("bash", "-c", said, f"{CANARY}-argument", output=f"{home}/out")
    script = f"#!/bin/bash\n# {CANARY}-script\nexit 3\n"
    jobs = {
        "running": job(*LONG, f"{CANARY}-argument", output=f"{home}/{CANARY}.out"),
        "held": job("true", f"{CANARY}-argument", held=True),
        "printed": printed,
        "script": job(
            command=None, script=script, script_args=[f"{CANARY}-argument"], script_name="train.sh"
        ),
        "no_folder": job("true", directory=f"{home}/{CANARY}-folder"),
        "no_output": job("true", output=f"{home}/{CANARY}-folder/out"),
        "no_program": job("./no-program", f"{CANARY}-argument", directory=str(home)),
        "array": job("true", f"{CANARY}-argument", array="0-2", held=True),
    }
    for name in ("printed", "script", "no_folder", "no_output", "no_program"):
        site.daemon.wait_state(jobs[name], "COMPLETED", "FAILED")
    site.daemon.wait_state(jobs["running"], "RUNNING")
    rig.wait_for(lambda: told(site, ben.ask("GET", "/v1/status").text), "its process is seen", 60)
    jobs["waiting"] = job("true", f"{CANARY}-argument", after=[jobs["running"]])

    def book(start: float, **more: Any) -> int:
        body = {"start": hours(start), "duration_s": 3600, "purpose": f"{CANARY}-purpose", **more}
        return int(done(ben.ask("POST", "/v1/bookings", body))["bookings"][0]["booking"])

    bookings = {
        "plain": book(30, gpus=2),
        "whole": book(60, gpus=12),
        "repeated": book(90, repeat="FREQ=WEEKLY;COUNT=3"),
        "cancelled": book(120),
        "changed": book(150),
        "swap": book(180),
    }
    done(ben.ask("POST", f"/v1/bookings/{bookings['cancelled']}/cancel"))
    path = f"/v1/bookings/{bookings['changed']}/change"
    done(ben.ask("POST", path, {"purpose": f"{CANARY}-changed"}))
    token = done(ben.ask("POST", "/v1/tokens", {"name": f"{CANARY}-token", "scopes": ["read"]}))
    feed = done(ben.ask("POST", "/v1/feeds", {"of": "mine"}))
    address = {"address": f"{HOOK}/{CANARY}", "name": f"{CANARY}-channel"}
    channel = done(ben.ask("POST", "/v1/notifications/channels", address))
    session = done(ben.ask("GET", "/v1/sessions"))["sessions"][0]["session"]
    site.ben = {
        "jobs": jobs, "bookings": bookings, "token": token["token"], "feed": feed["feed"],
        "session": session, "channel": channel["channel"],
    }  # fmt: skip
    site.secrets = [token["secret"], feed["path"].split("/")[3], ben.cookie, ben.csrf]


class Stock:
    """Things of that browser's own person, made when none is left: numbers that exist."""

    def __init__(self, site: Site, browser: Browser) -> None:
        self._site, self._browser = site, browser
        self._kept: dict[str, Any] = {}
        self._next = 24.0 * 20 + (id(browser) % 97)

    def take(self, path: str, name: str) -> Any:
        """A value for that part of the path of an operation."""
        if name == "number":
            return self._booking() if path.startswith("/v1/bookings") else self._job(path)
        if name == "gpu":
            return self._gpu()
        if name == "version":
            return 1
        if name in ("name", "owner"):
            return "none" if name == "name" else self._me()
        if name == "secret":
            return done(self._browser.ask("POST", "/v1/feeds", {}))["path"].split("/")[3]
        return {"token": self._token, "feed": self._feed, "session": self._session,
                "channel": self._channel}[name]()  # fmt: skip

    def _gpu(self) -> str:
        return "0"

    def _job(self, path: str) -> int:
        if path.endswith(("/signal", "/requeue")):
            return self._alive("long", {"RUNNING"}, submission(*LONG))
        if path.endswith("/output"):
            return self._alive(
                "ended",
                {"COMPLETED"},
                submission("echo", "hello", output=f"/home/{self._me()}/out"),
            )
        return self._alive("held", {"PENDING"}, submission(held=True))

    def _alive(self, kind: str, states: set[str], body: dict[str, Any]) -> int:
        number = self._kept.get(kind)
        if number is None or self._state(number) not in states:
            number = done(self._browser.ask("POST", "/v1/jobs", body))["job"]
            try:
                rig.wait_for(lambda: self._state(number) in states, f"job {number} is {states}")
            except AssertionError as error:
                why = self._browser.ask("GET", f"/v1/jobs/{number}/why").text
                raise AssertionError(f"{error}: {why!r}") from None
        self._kept[kind] = number
        return int(number)

    def _state(self, number: int) -> str:
        return str(done(self._browser.ask("GET", f"/v1/jobs/{number}"))["state"])

    def _booking(self) -> int:
        number = self._kept.get("booking")
        if number is not None:
            one = done(self._browser.ask("GET", f"/v1/bookings/{number}"))
            mine = one["user"] == self._me() and one["state"] == "booked"
            if mine:
                return int(number)
        self._next += 1.0
        body = {"start": hours(self._next), "duration_s": 1800}
        made = done(self._browser.ask("POST", "/v1/bookings", body))["bookings"][0]["booking"]
        self._kept["booking"] = made
        return int(made)

    def _me(self) -> str:
        if "me" not in self._kept:
            self._kept["me"] = done(self._browser.ask("GET", "/v1/ping"))["user"]
        return str(self._kept["me"])

    def _token(self) -> str:
        return str(done(self._browser.ask("POST", "/v1/tokens", {"name": "stock"}))["token"])

    def _channel(self) -> str:
        made = self._browser.ask("POST", "/v1/notifications/channels", {"address": f"{HOOK}/a"})
        return str(done(made)["channel"])

    def _feed(self) -> str:
        return str(done(self._browser.ask("POST", "/v1/feeds", {}))["feed"])

    def _session(self) -> str:
        """Of another browser of the same person."""
        self._site.sign_in(self._me().removeprefix(self._site.prefix))
        listed = done(self._browser.ask("GET", "/v1/sessions"))["sessions"]
        return next(o["session"] for o in listed if not o["this"] and o["user"] == self._me())

    def tidy(self, path: str) -> None:
        """Drops what was made in passing, before there is too much of it."""
        if path.startswith("/v1/notifications/channels"):
            listed = done(self._browser.ask("GET", "/v1/notifications"))["channels"]
            for row in listed if len(listed) > 3 else []:
                self._browser.ask("DELETE", f"/v1/notifications/channels/{row['channel']}")
        for kind, one in (("tokens", "token"), ("feeds", "feed"), ("jobs", "job")):
            if path != "/v1/" + kind and not path.startswith(f"/v1/{kind}/"):
                continue
            listed = done(self._browser.ask("GET", f"/v1/{kind}"))[kind]
            mine = [row[one] for row in listed if row["user"] == self._me()]
            mine = [number for number in mine if number not in self._kept.values()]
            if len(mine) > 8:
                for number in mine:
                    if one == "job":
                        self._browser.ask("POST", f"/v1/jobs/{number}/cancel")
                    else:
                        self._browser.ask("DELETE", f"/v1/{kind}/{number}")


def told(site: Site, seen: bytes | str) -> list[str]:
    """The marks and secrets of ben's that are in there, in whatever way they are written."""
    text = seen if isinstance(seen, str) else seen.decode("utf-8", "replace")
    return [one for one in (CANARY, *site.secrets) if one in text]
