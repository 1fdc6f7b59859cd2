"""Every route of the API as every role, over HTTP with real accounts: who may is let, none else."""

from __future__ import annotations

import json
import os
import shutil
import socket
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from roost.server.api.app import routes
from roost.server.api.rights import RIGHTS, Role
from tests.real import rig
from tests.real.web_rig import Browser, free_port, set_password

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="needs root: accounts, passwords, PAM")
NAMES = {Role.VIEWER: "vera", Role.MEMBER: "max", Role.LEAD: "lea", Role.OPERATOR: "olga"}
RULES = """
operators = ["rro-olga"]
viewers = ["rro-vera"]
[groups.lab]
members = ["rro-max", "rro-owner", "rro-lea"]
leads = ["rro-lea"]
[groups.other]
members = ["rro-far"]
[data]
path = "/tmp/rro-data"
"""
LONG = ["sleep", "600"]


@dataclass
class Site:
    daemon: rig.Daemon
    browsers: dict[Role, Browser]


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    everybody = (*NAMES.values(), "owner", "far")
    with rig.accounts(*everybody, prefix="rro-"):
        for name in everybody:
            set_password(f"rro-{name}", "secret-1")
        port = free_port()
        with rig.daemon(
            "--simulate", "4xA100", "--http", f"127.0.0.1:{port}", rules=RULES
        ) as running:
            browsers = {Role.STRANGER: Browser(port)}
            for role, name in NAMES.items():
                browsers[role] = Browser(port)
                answer = browsers[role].sign_in(f"rro-{name}", "secret-1")
                assert answer.json["role"] == role.word
            yield Site(running, browsers)
        shutil.rmtree("/tmp/rro-data", ignore_errors=True)


BODIES: dict[str, Any] = {
    "POST /v1/session": {"user": "rro-max", "password": "secret-1"},
    "POST /v1/jobs": {"command": ["true"], "directory": "/tmp"},
    "POST /v1/jobs/{number}/signal": {"signal": "USR1"},
    "POST /v1/gpus/{gpu}/free": {"items": [], "grace_s": 1},
    "POST /v1/tokens": {"name": "t"},
    "POST /v1/accounts/plan": {"action": "disable", "people": [{"name": "rro-nobody"}]},
    "POST /v1/accounts/apply": {
        "action": "disable",
        "people": [{"name": "rro-nobody"}],
        "plan": "0",
    },
    "POST /v1/data": {"name": "none", "path": "/nowhere"},
    "POST /v1/rules/check": {"text": ""},
    "POST /v1/audit/fix": {"wanted": []},
    "POST /v1/bookings/{number}/give": {"to": "rro-owner"},
    "POST /v1/bookings/{number}/swap": {"with": 1},
}


def filled(path: str, job: int) -> str:
    path = path.replace("{number}", str(job)).replace("{gpu}", "0").replace("{version}", "1")
    path = path.replace("{session}", "0" * 12).replace("{token}", "0" * 12)
    path = path.replace("{feed}", "0" * 12).replace("{secret}", "0" * 43)
    path = path.replace("{channel}", "0" * 12).replace("{owner}", "rro-owner")
    path = path.replace("{name}", "none")
    path = path.replace("{channel}", "0" * 12).replace("{name}", "none")
    return path + ("?timeout_s=0.1" if path.endswith("/wait") else "")


def status_of(browser: Browser, key: str, path: str) -> int:
    method = key.split()[0]
    if path != "/v1/events":
        # What a role may not is refused before the body is looked at; what it may, for another
        # reason at most.
        return browser.ask(method, path, BODIES.get(key, {} if method == "POST" else None)).status
    with socket.create_connection((browser.host, browser.port), timeout=10) as stream:
        cookie = f"Cookie: roost_session={browser.cookie}\r\n" if browser.cookie else ""
        stream.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n{cookie}\r\n".encode())
        return int(stream.recv(12).split()[1])


@pytest.mark.parametrize("role", Role, ids=lambda role: role.word)
def test_every_route_as_this_role(site: Site, role: Role) -> None:
    job = site.daemon.run("rro-owner", "--", *LONG)
    later = ("--from", f"+{24 + int(role)}h", "--for", "30m")
    made = site.daemon.json("rro-owner", "book", *later)["bookings"]
    wrong = []
    browser = site.browsers[role]
    # The session that signs out is one of its own.
    leaving = Browser(browser.port)
    if role is not Role.STRANGER:
        leaving.sign_in(f"rro-{NAMES[role]}", "secret-1")
    for method, template in routes():
        key = f"{method} {template}"
        right = RIGHTS[key]
        who = leaving if key == "DELETE /v1/session" else browser
        if key == "POST /v1/session":
            who = Browser(browser.port)
        number = made[0]["booking"] if template.startswith("/v1/bookings/") else job
        status = status_of(who, key, filled(template, number))
        refused = status in (401, 403)
        # Another's job, of a group that the lead leads: the member may not touch it.
        may = role >= right.least
        if right.own == "group" and role is Role.MEMBER:
            may = False
        if right.own == "job" and role < Role.OPERATOR:
            may = False
        if refused == may or (role is Role.STRANGER and not may and status != 401):
            wrong.append((key, status))
        if status >= 500:
            wrong.append((key, status))
    assert wrong == []
    site.daemon.cli("root", "cancel", str(job), check=False)


def test_a_lead_handles_the_jobs_of_the_group_and_no_others(site: Site) -> None:
    lead = site.browsers[Role.LEAD]
    own, far = site.daemon.run("rro-owner", "--", *LONG), site.daemon.run("rro-far", "--", *LONG)
    assert lead.ask("POST", f"/v1/jobs/{far}/cancel").status == 403
    shown = lead.ask("GET", f"/v1/jobs/{own}").json
    assert shown["directory"] is None  # it may be handled, and stays private
    assert lead.ask("POST", f"/v1/jobs/{own}/cancel").status == 200
    site.daemon.wait_state(own, "CANCELLED")
    site.daemon.cli("root", "cancel", str(far))


def test_roles_hold_on_the_socket_too(site: Site) -> None:
    refused = site.daemon.cli("rro-vera", "run", "--", "true", check=False)
    assert refused.returncode == 4
    assert "may look, and change nothing" in refused.stderr
    job = site.daemon.run("rro-owner", "--", *LONG)
    site.daemon.cli("rro-lea", "cancel", str(job))


def token(site: Site, user: str, *words: str) -> Browser:
    made = site.daemon.cli(user, "token", "create", *words)
    secret = made.stdout.strip()
    assert secret.startswith("roost_")
    port = site.browsers[Role.STRANGER].port
    return Browser(port, headers={"Authorization": f"Bearer {secret}"})


@pytest.mark.parametrize("scopes", [("read",), ("jobs",), ("read", "jobs"), ("read", "operate")])
@pytest.mark.parametrize("user", ["rro-max", "rro-olga"])
def test_a_token_does_what_its_scopes_say_and_its_maker_may(
    site: Site, user: str, scopes: tuple[str, ...]
) -> None:
    by_token = token(site, user, *(word for scope in scopes for word in ("--scope", scope)))
    job = site.daemon.run("rro-owner", "--", *LONG)
    operator = user == "rro-olga" and "operate" in scopes
    wrong = []
    for method, template in routes():
        key = f"{method} {template}"
        right = RIGHTS[key]
        if key in ("GET /v1/events", "GET /v1/ping"):
            continue
        least = Role.MEMBER if not operator else Role.OPERATOR
        may = right.scope in scopes and least >= right.least
        if right.own in ("group", "job") and not operator:
            may = False
        status = status_of(by_token, key, filled(template, job))
        if key in ("POST /v1/session", "POST /v1/session/oidc", "GET /v1/session/oidc"):
            continue  # who signs in shows a password
        if key == "GET /v1/feeds/{secret}/bookings.ics":
            assert status == 404  # its address is what opens it, with or without a token
            continue
        if (status in (401, 403)) == may:
            wrong.append((key, status, may))
    assert wrong == []
    assert by_token.ask("GET", "/v1/ping").json["operator"] is operator
    site.daemon.cli("root", "cancel", str(job), check=False)


def test_a_token_is_listed_used_and_revoked(site: Site) -> None:
    by_token = token(site, "rro-max", "--name", "ci", "--expires", "2h")
    assert by_token.ask("GET", "/v1/status").status == 200
    mine = site.daemon.json("rro-max", "token", "list")["tokens"]
    one = mine[0]
    assert (one["name"], one["scopes"], one["user"]) == ("ci", ["read"], "rro-max")
    assert one["used_time"] is not None
    assert not any("secret" in each for each in mine)
    refused = site.daemon.cli("rro-owner", "token", "revoke", one["token"], check=False)
    assert refused.returncode == 1
    site.daemon.cli("rro-max", "token", "revoke", one["token"])
    gone = by_token.ask("GET", "/v1/status")
    assert (gone.status, gone.json["type"]) == (401, "/problems/bad_token")
    told = json.dumps(site.daemon.json("root", "audit", "log")["audit"])
    assert "token made" in told
    assert "token revoked" in told
    assert by_token.headers["Authorization"][12:] not in told


def test_root_and_system_accounts_have_no_tokens(site: Site) -> None:
    refused = site.daemon.cli("root", "token", "create", check=False)
    assert refused.returncode == 4
    assert "root can have no token" in refused.stderr
