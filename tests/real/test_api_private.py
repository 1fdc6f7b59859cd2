"""What is another's stays his: by guessed numbers, odd spellings, forged headers, at both doors.

Every private text of ben's has a mark in it (`api_rig`), and no answer to anybody but him and
operators may hold one: not in lists, histories, refusals, calendars, the live stream, commands.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import time
from collections.abc import Iterator
from typing import Any

import pytest

from roost.server.api.app import routes
from roost.server.api.rights import RIGHTS, Role
from tests.real import rig
from tests.real.api_rig import CANARY, NAMES, Site, done, hours, site, submission, told
from tests.real.web_rig import Answer, Browser

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="needs root: accounts, PAM, a daemon")
OTHERS = (Role.STRANGER, Role.VIEWER, Role.MEMBER, Role.LEAD)
Asked = tuple[str, str, Any]
BODIES: dict[str, Any] = {
    "POST /v1/jobs/{number}/signal": {"signal": "KILL"},
    "POST /v1/bookings/{number}/change": {"public": True},
    "POST /v1/gpus/{gpu}/free": {"items": [{"pid": 1, "start_ticks": 1}], "grace_s": 0},
}
# At the socket of the machine, as that account: each line of the input is one request.
BY_SOCKET = """
import http.client, json, socket, sys
for line in sys.stdin:
    method, path, body = json.loads(line)
    one = http.client.HTTPConnection("localhost", timeout=20)
    one.sock = socket.socket(socket.AF_UNIX)
    one.sock.settimeout(20)
    one.sock.connect(sys.argv[1])
    kind = {} if body is None else {"Content-Type": "application/json"}
    one.request(method, path, None if body is None else json.dumps(body), kind)
    got = one.getresponse()
    text = got.read().decode("utf-8", "replace")
    print(json.dumps([got.status, dict(got.getheaders()), text]))
    one.close()
"""


@pytest.fixture(scope="module")
def attacked() -> Iterator[Site]:
    with site("rpv-") as found:
        yield found


def by_http(site: Site, role: Role, requests: list[Asked]) -> list[Answer]:
    return [site.by[role].ask(*one) for one in requests]


def by_socket(site: Site, name: str, requests: list[Asked]) -> list[Answer]:
    who = site.people[name]
    written = "".join(json.dumps(one) + "\n" for one in requests)
    ran = subprocess.run(
        [rig.readable_python(), "-c", BY_SOCKET, str(site.daemon.socket)], input=written.encode(),
        capture_output=True, user=who.uid, group=who.gid, extra_groups=[who.gid], cwd="/",
        timeout=120, check=True,
    )  # fmt: skip
    rows = [json.loads(line) for line in ran.stdout.splitlines()]
    return [Answer(status, headers, [], text.encode()) for status, headers, text in rows]


def spellings(number: int) -> list[str]:
    """Ways to write a number that a check could overlook and what follows could not."""
    wide = "".join(f"%EF%BC%{0x90 + int(digit):02X}" for digit in str(number))
    return [
        str(number), f"0{number}", f"+{number}", f"%20{number}", f"{number}%00", f"{number}.0",
        f"{number};x=1", f"{number}%2F..%2F{number}", f"../jobs/{number}", f"{number}%0d%0a", wide,
        f"%2e%2e/jobs/{number}", f"{number}%252f", f"{number}e0",
    ]  # fmt: skip


def looks(site: Site) -> list[Asked]:
    """Every question that could tell something of ben's."""
    ben, p = site.ben, site.prefix
    names = [f"{p}ben", f"{p}BEN".upper(), f"{p}b%D0%B5n", f"{p}ben%20", f"{p}ben%00", f"{p}ann"]
    asked = [
        "/v1/jobs?ended=1", "/v1/jobs?ended=1&state=FAILED,COMPLETED", "/v1/status", "/v1/who",
        "/v1/audit?limit=10000", "/v1/history", "/v1/team", "/v1/usage", "/v1/recent", "/v1/rules",
        "/v1/rules/history", "/v1/rules/1", "/v1/tokens", "/v1/feeds", "/v1/sessions",
        "/v1/session", "/v1/users", "/v1/drains", "/v1/health", "/v1/ping", "/v1/openapi.json",
        "/v1/bookings", "/v1/notices", "/v1/notifications", "/v1/motd", "/v1/audit?whom=%25",
        f"/v1/bookings?to={hours(7000).replace('+', '%2B')}", "/v1/who?scan=1", "/v1/nothing",
        f"/v1/jobs?user={p}ann&user={p}ben&ended=1", f"/v1/audit?user={p}ben&limit=100",
        f"/v1/audit?limit=1&limit=10000&user={p}ann&user={p}ben&uid=0",
    ]  # fmt: skip
    for name in names:
        paths = ("jobs?ended=1&", "who?", "bookings?", "usage?", "audit?", "team?")
        asked += [f"/v1/{path}user={name}" for path in paths]
        asked.append(f"/v1/gpus/0/free-plan?user={name}")
    asked += [f"/v1/gpus/{gpu}/free-plan" for gpu in range(12)]
    numbers = set(ben["jobs"].values())
    for number in sorted(numbers | {n + 1 for n in numbers}):
        tails = ("", "/why", "/why?lang=zh", "/wait?timeout_s=0", "/output")
        asked += [f"/v1/jobs/{number}{tail}" for tail in tails]
    one = ben["jobs"]["printed"]
    asked += [f"/v1/jobs/{spelt}/output" for spelt in spellings(one)]
    asked += [f"/v1/jobs/{one}/output?offset=0&limit=262144", f"/v1/jobs/{one}//output"]
    for number in ben["bookings"].values():
        asked += [f"/v1/bookings/{spelt}" for spelt in (number, number + 1)]
    found: list[Asked] = [("GET", path, None) for path in asked]
    found += [("GET", f"/v1/{one}s/{ben[one]}", None) for one in ("token", "feed", "session")]
    whole = done(site.owner.ask("GET", f"/v1/bookings/{ben['bookings']['whole']}"))
    taken = {"start": whole["start"], "end": whole["end"], "gpus": 12}
    found += [("POST", "/v1/bookings", {**taken, **more}) for more in (
        {}, {"wait": True, "dry_run": True}, {"chosen": ["0"], "gpus": 1}, {"user": f"{p}ben"},
        {"group": "other"},
    )]  # fmt: skip
    found.append(("POST", "/v1/jobs", submission(after=[ben["jobs"]["held"]], held=True)))
    found.append(("POST", "/v1/jobs", submission(group="other")))
    found.append(("POST", "/v1/jobs", submission(user=f"{p}ben")))
    return found


def changes(site: Site) -> list[tuple[str, Asked]]:
    """Every way to change something, at ben's numbers, with the key of its right."""
    ben, found = site.ben, []
    for method, path in routes():
        key = f"{method} {path}"
        if method == "GET" or "{" not in path:
            continue
        places: list[str] = ["0"]
        if "{number}" in path:
            kind = "bookings" if "bookings" in path else "jobs"
            numbers = sorted(ben[kind].values())
            places = [str(n) for n in numbers] + spellings(numbers[0])
        for name in ("token", "feed", "session", "channel"):
            if f"{{{name}}}" in path:
                ident = ben[name]
                places = [ident, ident.upper(), f"{ident}%00", f"../{name}s/{ident}", f"{ident}%20"]
        body = BODIES.get(key)
        if path.endswith("/give"):
            body = {"to": f"{site.prefix}ann"}
        if path.endswith("/swap"):
            body = {"with": ben["bookings"]["plain"]}
        if method == "POST" and body is None:
            body = {}
        name = path[path.index("{") : path.index("}") + 1]
        found += [(key, (method, path.replace(name, one), body)) for one in places]
    return found


def belongings(site: Site) -> dict[str, Any]:
    """What ben has now, without what time alone changes."""
    ben = site.owner
    later = hours(7000).replace("+", "%2B")
    return {
        "jobs": [
            (j["job"], j["state"], j["held"], j["attempt"], j["user"])
            for j in done(ben.ask("GET", f"/v1/jobs?ended=1&user={site.prefix}ben"))["jobs"]
        ],
        "bookings": [
            {k: v for k, v in b.items() if k not in ("swap_with", "used_time", "may_change")}
            for b in done(ben.ask("GET", f"/v1/bookings?user={site.prefix}ben&to={later}"))[
                "bookings"
            ]
        ],
        "tokens": [(t["token"], t["name"]) for t in done(ben.ask("GET", "/v1/tokens"))["tokens"]],
        "feeds": [f["feed"] for f in done(ben.ask("GET", "/v1/feeds"))["feeds"]],
        "told": done(ben.ask("GET", "/v1/notifications"))["channels"],
        "sessions": [s["session"] for s in done(ben.ask("GET", "/v1/sessions"))["sessions"]],
    }


def leaks(site: Site, requests: list[Asked], answers: list[Answer]) -> list[Any]:
    return [
        (method, path, found, at(answer.text))
        for (method, path, _), answer in zip(requests, answers, strict=True)
        if (found := told(site, answer.text + str(answer.headers).encode()))
    ]


def at(text: bytes) -> str:
    place = max(0, text.find(CANARY.encode()) - 120)
    return text[place : place + 200].decode("utf-8", "replace")


def test_the_marks_are_there_for_their_owner_and_an_operator(attacked: Site) -> None:
    """Else nothing below could fail."""
    requests = looks(attacked)
    mine = [attacked.owner.ask(*one) for one in requests]
    places = {path.split("?")[0] for _, path, _, _ in leaks(attacked, requests, mine)}
    for path in ("jobs", "status", "who", "bookings", "tokens", "sessions", "notifications"):
        assert f"/v1/{path}" in places, path
    jobs, bookings = attacked.ben["jobs"], attacked.ben["bookings"]
    assert {f"/v1/jobs/{jobs['printed']}/output", f"/v1/bookings/{bookings['plain']}"} <= places
    seen = by_http(attacked, Role.OPERATOR, requests)
    assert len(leaks(attacked, requests, seen)) > 20
    assert all(one.status < 500 for one in (*mine, *seen))
    secret = {one for _, _, found, _ in leaks(attacked, requests, seen) for one in found}
    assert secret == {CANARY}, "what opens a door is told to nobody, ever"


@pytest.mark.parametrize("role", OTHERS, ids=lambda role: role.word)
def test_no_answer_to_others_holds_what_is_private(attacked: Site, role: Role) -> None:
    requests = looks(attacked)
    answers = by_http(attacked, role, requests)
    assert leaks(attacked, requests, answers) == []
    assert [(r, a.status) for r, a in zip(requests, answers, strict=True) if a.status >= 500] == []
    if role is Role.STRANGER:
        assert {a.status for a in answers} <= {200, 401}
        assert [r[1] for r, a in zip(requests, answers, strict=True) if a.status == 200] == [
            "/v1/ping"
        ]
    for zh in requests[:60]:
        answer = attacked.by[role].ask(*zh, headers={"Accept-Language": "zh", "Accept": "text/xml"})
        assert told(attacked, answer.text) == [], zh


@pytest.mark.parametrize("name", ["ann", "lea"])
def test_nor_at_the_socket_of_the_machine(attacked: Site, name: str) -> None:
    requests = looks(attacked)
    before = belongings(attacked)
    answers = by_socket(attacked, name, requests)
    assert leaks(attacked, requests, answers) == []
    assert sum(a.status == 200 for a in answers) > 60
    tried = [one for _, one in changes(attacked)]
    answers = by_socket(attacked, name, tried)
    assert [(r, a.status) for r, a in zip(tried, answers, strict=True) if a.status < 400] == []
    assert leaks(attacked, tried, answers) == []
    assert belongings(attacked) == before


@pytest.mark.parametrize("role", OTHERS, ids=lambda role: role.word)
def test_nothing_of_anothers_is_changed_by_its_number(attacked: Site, role: Role) -> None:
    before = belongings(attacked)
    tried = changes(attacked)
    keys = {key for key, _ in tried}
    assert keys >= {k for k, right in RIGHTS.items() if right.own == "group"}
    answers = by_http(attacked, role, [one for _, one in tried])
    refused = [(r, a.status) for r, a in zip(tried, answers, strict=True) if a.status < 400]
    assert refused == []
    assert leaks(attacked, [one for _, one in tried], answers) == []
    assert all(a.status < 500 for a in answers)
    assert belongings(attacked) == before


def test_one_cannot_tell_anothers_from_what_is_not_there(attacked: Site) -> None:
    ann = attacked.by[Role.MEMBER]
    for kind in ("token", "feed", "session"):
        ident = attacked.ben[kind]
        his = ann.ask("DELETE", f"/v1/{kind}s/{ident}")
        none = ann.ask("DELETE", f"/v1/{kind}s/{'0' * 12}")
        assert his.status == none.status == 404
        assert his.text.replace(ident.encode(), b"0" * 12) == none.text


FORGED = [
    {"X-HTTP-Method-Override": "DELETE"}, {"X-Method-Override": "PUT"},
    {"X-Forwarded-User": "rpv-ben"}, {"X-Remote-User": "root"}, {"Remote-User": "root"},
    {"X-Forwarded-For": "127.0.0.1"}, {"X-Real-IP": "127.0.0.1"}, {"Forwarded": "for=127.0.0.1"},
    {"X-Forwarded-Proto": "https"}, {"X-Forwarded-Host": "localhost"},
    {"X-Forwarded-Prefix": "/v1"}, {"X-Original-URL": "/v1/tokens"},
    {"X-Rewrite-URL": "/v1/tokens"},
    {"roost.peer": "(1, 0, 0)"}, {"X-Roost-Peer": "0"}, {"Authorization": "Basic cm9vdDo="},
    {"Authorization": "Bearer roost_"}, {"Authorization": "Bearer "}, {"Host": "evil.example"},
    {"Host": "localhost:1:2"}, {"Origin": "https://evil.example"}, {"Origin": "null"},
    {"Sec-Fetch-Site": "cross-site"}, {"Cookie": "roost_session="}, {"X-Roost-CSRF": "0" * 40},
]  # fmt: skip


@pytest.mark.parametrize("role", [Role.STRANGER, Role.MEMBER], ids=lambda role: role.word)
def test_no_header_makes_one_somebody_else(attacked: Site, role: Role) -> None:
    before = belongings(attacked)
    jobs, bookings = attacked.ben["jobs"], attacked.ben["bookings"]
    asked: list[Asked] = [
        ("GET", f"/v1/jobs/{jobs['printed']}/output", None),
        ("POST", f"/v1/jobs/{jobs['held']}/cancel", {}),
        ("POST", f"/v1/jobs/{jobs['running']}/cancel?_method=GET&user=root", {}),
        ("POST", f"/v1/bookings/{bookings['plain']}/cancel", {}),
        ("DELETE", f"/v1/tokens/{attacked.ben['token']}", None),
        ("POST", "/v1/gpus/0/drain", {}),
        ("GET", "/v1/rules/../tokens", None),
    ]
    for forged in FORGED:
        for one in asked:
            answer = attacked.by[role].ask(*one, headers=forged)
            assert 400 <= answer.status < 500, (forged, one, answer)
            assert told(attacked, answer.text) == []
    assert belongings(attacked) == before


def test_a_cookie_alone_changes_nothing(attacked: Site) -> None:
    """As another site's page would send it, or one that knows somebody else's CSRF token."""
    ann, before = attacked.by[Role.MEMBER], belongings(attacked)
    bare = Browser(attacked.port, cookie=ann.cookie)
    for csrf in ("", attacked.owner.csrf, attacked.by[Role.LEAD].csrf, ann.csrf[:-1], "é" * 40):
        bare.headers = {"X-Roost-CSRF": csrf.encode("utf-8").decode("latin-1")}
        for method, path in routes():
            if method != "GET" and RIGHTS[f"{method} {path}"].least > Role.STRANGER:
                filled = path.replace("{number}", "1").replace("{gpu}", "0")
                for name in ("token", "feed", "session", "channel"):
                    filled = filled.replace(f"{{{name}}}", "0" * 12)
                answer = bare.ask(method, filled, {})
                assert (answer.status, answer.json["type"]) == (403, "/problems/csrf"), path
    assert done(ann.ask("GET", "/v1/ping"))["user"] == "rpv-ann"
    assert belongings(attacked) == before


def test_only_json_is_taken_for_json(attacked: Site) -> None:
    """What a form of another site can send is none."""
    ann = attacked.by[Role.MEMBER]
    kinds = ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x",
             "application/xml", "text/html", "json")  # fmt: skip
    for path, body in (
        ("/v1/jobs", submission(held=True)),
        ("/v1/bookings", {"start": hours(500), "duration_s": 600}),
        ("/v1/tokens", {"name": "x"}), ("/v1/feeds", {}), ("/v1/session/oidc", {}),
        ("/v1/session", {"user": "rpv-ann", "password": "x"}),
    ):  # fmt: skip
        for kind in kinds:
            answer = ann.ask("POST", path, body, {"Content-Type": kind})
            assert answer.status in (415, 422), (path, kind, answer)


def test_anothers_key_repeats_nothing_of_his(attacked: Site) -> None:
    asked = ("POST", "/v1/jobs", submission(held=True), {"Idempotency-Key": "k"})
    first, other = attacked.owner.ask(*asked), attacked.by[Role.MEMBER].ask(*asked)
    assert done(other)["job"] != done(first)["job"]


def streamed(site: Site, browser: Browser, seconds: float = 2.5) -> str:
    with socket.create_connection(("127.0.0.1", site.port), timeout=5) as line:
        cookie = f"Cookie: roost_session={browser.cookie}\r\n" if browser.cookie else ""
        line.sendall(f"GET /v1/events HTTP/1.1\r\nHost: localhost\r\n{cookie}\r\n".encode())
        line.settimeout(0.5)
        got, end = b"", time.monotonic() + seconds
        while time.monotonic() < end:
            try:
                got += line.recv(1 << 20)
            except TimeoutError:
                continue
        return got.decode("utf-8", "replace")


@pytest.mark.parametrize("first", ["owner", "others"])
def test_the_stream_tells_each_what_he_may_know(attacked: Site, first: str) -> None:
    """Whoever listens first: what was made for one is not given to another."""
    listeners = {NAMES[role]: attacked.by[role] for role in OTHERS if role is not Role.STRANGER}
    everybody = {"ben": attacked.owner, "olga": attacked.by[Role.OPERATOR], **listeners}
    names = list(everybody) if first == "owner" else list(everybody)[::-1]
    said = {name: streamed(attacked, everybody[name]) for name in names}
    for name in names:
        assert "text/event-stream" in said[name]
        assert all(f"event: {topic}" in said[name] for topic in ("status", "who", "jobs"))
        expected = [CANARY] if name in ("ben", "olga") else []
        assert told(attacked, said[name]) == expected, name
    assert " 401 " in streamed(attacked, attacked.by[Role.STRANGER], 0.5)


def test_calendars_of_others_and_of_all_hold_no_purpose(attacked: Site) -> None:
    ann = attacked.by[Role.MEMBER]
    for want in ({"of": "all"}, {"of": "gpu", "gpu": "0"}, {"of": "group", "group": "other"}):
        path = done(ann.ask("POST", "/v1/feeds", want))["path"]
        answer = Browser(attacked.port).ask("GET", path)
        assert answer.status == 200
        assert b"BEGIN:VEVENT" in answer.text, want
        assert told(attacked, answer.text.replace(b"\r\n ", b"")) == []
    mine = Browser(attacked.port).ask("GET", f"/v1/feeds/{attacked.secrets[1]}/bookings.ics")
    assert CANARY.encode() in mine.text.replace(b"\r\n ", b"")


def test_no_command_prints_what_is_private(attacked: Site) -> None:
    job, booking = str(attacked.ben["jobs"]["printed"]), str(attacked.ben["bookings"]["plain"])
    out = attacked.people["ann"].home / "all.csv"
    for words in (
        ("jobs", "--all"), ("show", job), ("why", str(attacked.ben["jobs"]["waiting"])), ("who",),
        ("status",), ("bookings",), ("bookings", booking), ("audit", "log"), ("usage",),
        ("token", "list"),
        ("book", "export", str(out)), ("logs", job), ("cancel", job), ("book", "cancel", booking),
        ("book", "give", booking, "rpv-ann"), ("free", "0", "--yes"), ("motd",),
    ):  # fmt: skip
        more = ("--json",) if words[0] in ("jobs", "who", "bookings", "audit", "free") else ()
        ran = attacked.daemon.cli("rpv-ann", *words, *more, check=False)
        assert told(attacked, ran.stdout + ran.stderr) == [], words
    assert told(attacked, out.read_text()) == []
    for name, leaf in (("no_output", f"{CANARY}-folder/out"), ("no_folder", f"{CANARY}-folder")):
        job = str(attacked.ben["jobs"][name])
        assert leaf in attacked.daemon.cli("rpv-ben", "show", job).stdout
