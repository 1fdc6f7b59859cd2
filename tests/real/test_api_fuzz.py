"""Schemathesis over HTTP on the real daemon: every operation of the document, as every role.

Answers are as the document says, to the last member; nothing makes the server fail; what is wrong
is refused; and nobody is told or changes what is another's. `ROOST_FUZZ_EXAMPLES=300` looks longer,
`ROOST_FUZZ_SEED=7` elsewhere.
"""

from __future__ import annotations

import copy
import os
import re
import sys
from collections import Counter
from collections.abc import Iterator
from http.cookiejar import DefaultCookiePolicy
from typing import Any

import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from hypothesis.errors import Unsatisfiable
from schemathesis import GenerationMode
from schemathesis.core.parameters import ParameterLocation
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    negative_data_rejection,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from roost.server.api.app import routes
from roost.server.api.rights import RIGHTS, Role
from tests.real.api_rig import HOOK, NAMES, PASSWORD, Site, Stock, done, hours, site, told
from tests.real.web_rig import Browser

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="needs root: accounts, PAM, a daemon")
PREFIX = "rfz-"
EXAMPLES = int(os.environ.get("ROOST_FUZZ_EXAMPLES", "2"))
SEED = int(os.environ.get("ROOST_FUZZ_SEED", "4"))
CHECKS = [
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]
# What is not asked here as the others are, why, and where it is asked instead.
APART = {
    "GET /v1/events": "never ends: test_api_private reads it as every role",
}
# What ends well nowhere here, and where it does.
UNREACHED = {
    "POST /v1/accounts/apply": "takes the fingerprint of a plan just shown: test_users",
    "POST /v1/gpus/{gpu}/free": "simulated GPUs have holders of jobs alone: test_who_free",
    **dict.fromkeys(
        (
            "PUT /v1/environments/{name}",
            "DELETE /v1/environments/{owner}/{name}",
            "PUT /v1/environment-clones/{name}",
            "DELETE /v1/environment-clones/{name}",
        ),
        "files have to be there before: test_environments",
    ),
    **dict.fromkeys(
        ("POST /v1/data", "GET /v1/data/{name}", "DELETE /v1/data/{name}"),
        "a set has to be read from somebody's folder: test_data",
    ),
}
# A wrong password costs seconds, on purpose.
FEW = {"POST /v1/session": 2}
ROLES = (Role.STRANGER, Role.VIEWER, Role.MEMBER, Role.LEAD, Role.OPERATOR)
reached: dict[str, Counter[Role]] = {}


@pytest.fixture(scope="module")
def attacked() -> Iterator[Site]:
    with site(PREFIX) as found:
        yield found


@pytest.fixture(scope="module")
def document(attacked: Site) -> dict[str, Any]:
    return strict(done(attacked.by[Role.MEMBER].ask("GET", "/v1/openapi.json")))


def strict(document: dict[str, Any]) -> dict[str, Any]:
    """The document, in which an answer has the members that are told and no others."""
    made = copy.deepcopy(document)
    for name, schema in made["components"]["schemas"].items():
        if "properties" in schema and name != "Problem":
            schema.setdefault("additionalProperties", False)
    return made


def right_bodies(key: str, stock: Stock, site: Site) -> list[Any]:
    """What each operation takes; one member of it is exchanged at a time."""
    job = {"command": ["true"], "directory": "/tmp", "gpus": 1, "walltime_s": 60}
    later = {"start": hours(24 * 40), "duration_s": 1800}
    return {
        "POST /v1/session": [{"user": f"{PREFIX}ann", "password": PASSWORD}],
        "POST /v1/session/oidc": [{"to": "/queue"}],
        "POST /v1/jobs": [
            job,
            {**job, "held": True, "array": "0-2", "class": "background", "signal": "USR1@60"},
            {"script": "#!/bin/sh\ntrue\n", "script_args": ["a"], "environment": {"A": "b"}},
        ],
        "POST /v1/jobs/{number}/signal": [{"signal": "USR1"}],
        "POST /v1/bookings": [
            {**later, "dry_run": True},
            {**later, "purpose": "x", "gpus": 1, "wait": True},
            {**later, "repeat": "FREQ=DAILY;COUNT=2", "skip": True},
        ],
        "POST /v1/bookings/batch": [{"bookings": [later, later], "dry_run": True}],
        "POST /v1/bookings/{number}/cancel": [{"series": False}],
        "POST /v1/bookings/{number}/change": [{"purpose": "y"}, {"public": True}],
        "POST /v1/bookings/{number}/give": [{"to": f"{PREFIX}vera"}],
        "POST /v1/bookings/{number}/swap": [{"with": site.ben["bookings"]["swap"]}],
        "POST /v1/gpus/{gpu}/drain": [{"reason": "tested"}],
        "POST /v1/gpus/{gpu}/free": [{"items": [{"pid": 1, "start_ticks": 1}], "grace_s": 0}],
        "POST /v1/audit/fix": [{"wanted": [{"check": "homes", "subject": "no-such-account"}]}],
        "POST /v1/audit/undo": [{"checks": ["homes"]}],
        "POST /v1/rules/check": [{"text": "max_array = 5\n"}],
        "POST /v1/notices/read": [{"through": 0}],
        "PUT /v1/notifications": [{"quiet": "22:00-07:00", "digest_hour": 7, "wanted": {}}],
        "POST /v1/notifications/channels": [{"address": f"{HOOK}/b", "name": "x"}],
        "POST /v1/tokens": [{"name": "t", "scopes": ["read", "jobs"], "expires_s": 600}],
        "POST /v1/environments/missing": [{"files": ["0" * 64, "1" * 64 + ".x"]}],
        "PUT /v1/environments/{name}": [{"manifest": "0" * 64}],
        "PUT /v1/environment-clones/{name}": [{"owner": f"{PREFIX}ann", "name": "ml"}],
        "POST /v1/accounts/plan": [{"action": "add", "people": [{"name": "fuzzed"}]}],
        "POST /v1/data": [{"name": "t", "path": "/nowhere", "licence": "x"}],
        "POST /v1/feeds": [{"of": "mine"}, {"of": "all"}, {"of": "group", "group": "lab"}],
    }.get(key, [])


class Attack:
    """One role's requests; `wrong` is what should not have been."""

    def __init__(self, site: Site, role: Role) -> None:
        self.site, self.role = site, role
        self.browser = site.by[role]
        # A stranger's numbers are those of somebody.
        self.stock = Stock(site, site.by[max(role, Role.MEMBER)])
        self.session = requests.Session()
        self.session.trust_env = False
        self.session.cookies.set_policy(DefaultCookiePolicy(allowed_domains=[]))
        self.statuses: Counter[tuple[str, int]] = Counter()
        self.wrong: dict[tuple[str, str, int], str] = {}

    def headers(self, browser: Browser) -> dict[str, str]:
        found = {"Host": f"localhost:{browser.port}"}
        if browser.cookie:
            found |= {"Cookie": f"roost_session={browser.cookie}", "X-Roost-CSRF": browser.csrf}
        return found

    def ask(self, key: str, case: Any, negative: bool) -> None:
        browser, passing = self.browser, None
        if key in ("POST /v1/session", "DELETE /v1/session") and self.role is not Role.STRANGER:
            # It ends the session that it comes with: one that nothing else uses.
            browser = passing = self.site.sign_in(NAMES[self.role])
        headers = self.headers(browser)
        try:
            answer = case.call(
                base_url=f"http://127.0.0.1:{self.browser.port}", session=self.session,
                headers=headers, timeout=20, allow_redirects=False,
            )  # fmt: skip
        except requests.RequestException as error:
            self.note(key, "no answer", 0, f"{error}\n{case.as_curl_command()}")
            return
        if passing is not None:
            passing.ask("DELETE", "/v1/session")
        status = answer.status_code
        self.statuses[key, status] += 1
        if status < 400:
            reached.setdefault(key, Counter())[self.role] += 1
        text = answer.text
        problem = f"{case.as_curl_command()}\n{text[:600]}"
        if status >= 500:
            self.note(key, "fails", status, problem)
        if self.role < RIGHTS[key].least and status < 400:
            self.note(key, "may not", status, problem)
        if self.role is not Role.OPERATOR:
            leaks = told(self.site, text + str(dict(answer.headers)))
            if leaks and not (set(leaks) <= set(str(case.body) + str(case.query))):
                self.note(key, f"tells {leaks}", status, problem)
        try:
            case.validate_response(answer, checks=[*CHECKS, negative_data_rejection])
        except BaseExceptionGroup as group:
            for error in group.exceptions:
                self.note(key, type(error).__name__, status, f"{error}\n{problem}")

    def note(self, key: str, what: str, status: int, text: str) -> None:
        self.wrong.setdefault((key, what, status), text)


def prepared(attack: Attack, key: str, case: Any, negative: bool, choose: Any) -> None:
    """Real numbers where the path was not made wrong, a right body with one member exchanged, and
    no waiting."""
    stock, path = attack.stock, key.split()[1]
    stock.tidy(path)
    good_path = case.meta is None or not case.meta.is_negative_at(ParameterLocation.PATH)
    if good_path and case.path_parameters and choose(4):
        for name in case.path_parameters:
            if attack.role is Role.OPERATOR or choose(2):
                case.path_parameters[name] = stock.take(path, name)
            else:
                case.path_parameters[name] = of_ben(attack.site, path, name, choose)
    bodies = right_bodies(key, stock, attack.site)
    if bodies and not negative and choose(4):
        body = dict(bodies[choose(len(bodies))])
        if isinstance(case.body, dict) and case.body and not choose(2):
            exchanged = sorted(case.body)[choose(1000) % len(case.body)]
            body[exchanged] = case.body[exchanged]
        case.body, case.media_type = body, "application/json"
    if path == "/v1/audit/checks" and choose(2):
        case.query = {"check": ["homes"]}
    if path.endswith(("/wait", "/output")) and isinstance(case.query, dict):
        name = "timeout_s" if path.endswith("/wait") else "wait_s"
        given = str(case.query.get(name, "30"))
        if re.fullmatch(r"[0-9.]+", given) and given != "0":
            case.query[name] = 0  # each would wait that long


def matches(template: str, path: str) -> bool:
    return re.fullmatch(re.sub(r"\{\w+\}", "[^/]+", template), path) is not None


def of_ben(site: Site, path: str, name: str, choose: Any) -> Any:
    """A number of what is another's."""
    kind = {"number": "bookings" if "bookings" in path else "jobs"}.get(name)
    if kind is None:
        return site.ben.get(name, "0")
    numbers = sorted(site.ben[kind].values())
    return numbers[choose(1000) % len(numbers)]


def after(attack: Attack, key: str) -> None:
    """Takes back what would stop the next ones."""
    operator = attack.site.by[Role.OPERATOR]
    if key == "POST /v1/driver/release":
        operator.ask("POST", "/v1/driver/hold")
    if key == "POST /v1/gpus/{gpu}/drain":
        for gpu in range(12):
            operator.ask("POST", f"/v1/gpus/{gpu}/undrain")


def run(attack: Attack, operation: Any, negative: bool) -> None:
    key = f"{operation.method.upper()} {operation.path}"
    mode = GenerationMode.NEGATIVE if negative else GenerationMode.POSITIVE
    first = not negative

    @seed(SEED)
    @settings(
        max_examples=FEW.get(key, EXAMPLES) if not negative else EXAMPLES,
        database=None, phases=[Phase.generate], suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    @given(case=operation.as_strategy(generation_mode=mode), data=st.data())
    def each(case: Any, data: st.DataObject) -> None:
        nonlocal first

        def choose(below: int) -> int:
            # The first is right in all: one's own number, a right body.
            return below - 1 if first else int(data.draw(st.integers(0, below - 1)))

        prepared(attack, key, case, negative, choose)
        attack.ask(key, case, negative)
        first = False

    try:
        each()
    except Unsatisfiable:
        assert negative, key  # there is no wrong way to ask it
    if attack.role is Role.OPERATOR:
        after(attack, key)


@pytest.mark.parametrize("role", ROLES, ids=lambda role: role.word)
def test_no_request_gets_further_than_it_may(
    attacked: Site, document: dict[str, Any], role: Role
) -> None:
    schema = schemathesis.openapi.from_dict(document)
    operations = [found.ok() for found in schema.get_all_operations()]
    keys = {f"{one.method.upper()} {one.path}" for one in operations}
    assert keys == {f"{method} {path}" for method, path in routes()}
    attack = Attack(attacked, role)
    for operation in operations:
        key = f"{operation.method.upper()} {operation.path}"
        if key not in APART:
            run(attack, operation, False)
            run(attack, operation, True)
    print(role.word, sorted(attack.statuses.items()), file=sys.stderr)
    assert not attack.wrong, "\n\n".join(f"{k}: {v}" for k, v in attack.wrong.items())
    if role is not Role.STRANGER:
        assert done(attack.browser.ask("GET", "/v1/ping"))["role"] == role.word
    assert sum(attack.statuses.values()) > len(operations) * EXAMPLES


def test_every_operation_was_reached(attacked: Site) -> None:
    """After all roles: an operation that only ever refused was not looked at."""
    keys = {f"{method} {path}" for method, path in routes()} - set(APART) - set(UNREACHED)
    never = sorted(key for key in keys if not reached.get(key))
    assert never == []
    server = attacked.daemon.pid_of("server")
    assert server is not None
    assert "fault in the API" not in attacked.daemon.log()


@pytest.mark.parametrize("method", ["PUT", "PATCH", "DELETE", "POST", "TRACE", "GET", "HEAD"])
def test_other_methods_are_told_so(attacked: Site, method: str) -> None:
    paths = {path for _, path in routes()}
    for path in sorted(paths):
        allowed = {one for one, each in routes() if each == path}
        if method in allowed or (method == "HEAD"):
            continue
        if any(one != path and matches(one, path) for one in paths):
            continue  # as GET of /v1/bookings/batch: no booking's number, and 422
        at = path
        for name in ("number", "gpu", "version", "token", "feed", "session", "channel"):
            at = at.replace(f"{{{name}}}", "1")
        answer = attacked.by[Role.OPERATOR].ask(method, at.replace("{secret}", "0" * 43))
        assert answer.status == 405, (method, path, answer.status)
        assert set(answer.headers["allow"].split(", ")) & allowed, (method, path, answer.headers)
        assert answer.headers["content-type"] == "application/problem+json"
