"""The table of rights: every route is in it, its page is up to date, roles come by the rules."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from roost.core.rules.load import load
from roost.server.api.app import routes
from roost.server.api.peer import placed
from roost.server.api.rights import RIGHTS, SCOPES, Role, is_open, right_of, role_of
from roost.server.intents import Person

ROOT = Path(__file__).resolve().parents[3]
RULES = load(
    """
    operators = ["olga", "@wheel"]
    viewers = ["@guests", "vera", "olga"]
    [groups.lab]
    leads = ["lee"]
    [groups.cv]
    parent = "lab"
    members = ["ann"]
    [groups.nlp]
    leads = ["@profs"]
    """
)


def test_every_route_has_a_right_and_every_right_a_route() -> None:
    there = {f"{method} {path}" for method, path in routes()}
    assert there - set(RIGHTS) == set(), "say in roost/server/api/rights.py who may ask these"
    assert set(RIGHTS) - there == set()
    assert {right.scope for right in RIGHTS.values()} <= {None, *SCOPES}


def test_the_page_about_it_is_what_the_script_writes() -> None:
    spec = importlib.util.spec_from_file_location("roles", ROOT / "scripts/roles_docs.py")
    assert spec and spec.loader
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    written = (ROOT / "docs/api-roles.md").read_text(encoding="utf-8")
    assert written == script.document(), "python scripts/roles_docs.py > docs/api-roles.md"


def test_strangers_reach_the_ways_in_and_nothing_else() -> None:
    open_ones = {
        (method, path)
        for method, path in routes()
        if is_open(method, path.replace("{number}", "1").replace("{session}", "x"))
    }
    assert open_ones == {
        ("GET", "/v1/ping"),
        ("POST", "/v1/session"),
        ("GET", "/v1/feeds/{secret}/bookings.ics"),
        ("POST", "/v1/session/oidc"),
        ("GET", "/v1/session/oidc"),
    }
    assert not is_open("POST", "/v1/feeds/x/bookings.ics")
    assert not is_open("GET", "/v1/feeds")
    for path in ("/v1", "/v1/", "/v1/openapi.json", "/v1/ping/", "/v1//ping", "/v1/jobs"):
        assert not is_open("GET", path)


def test_a_route_that_nobody_thought_of_is_for_who_is_known_and_no_token_changes() -> None:
    assert right_of("GET", "/v1/new").least is Role.VIEWER
    changed = right_of("POST", "/v1/new")
    assert (changed.least, changed.scope) == (Role.MEMBER, None)


@pytest.mark.parametrize(
    ("name", "groups", "role", "leads"),
    [
        ("ann", (), Role.MEMBER, set()),
        ("vera", (), Role.VIEWER, set()),
        ("gus", ("guests",), Role.VIEWER, set()),
        ("olga", (), Role.OPERATOR, set()),
        ("wim", ("wheel",), Role.OPERATOR, set()),
        ("lee", (), Role.LEAD, {"lab", "cv"}),
        ("pia", ("profs",), Role.LEAD, {"nlp"}),
        ("pia", ("profs", "guests"), Role.VIEWER, set()),
    ],
)
def test_roles_come_by_the_rules(
    name: str, groups: tuple[str, ...], role: Role, leads: set[str]
) -> None:
    person = placed(Person(4_000_000, name, frozenset(groups), operator=False), RULES)
    assert role_of(person) is role
    assert person.leads == leads


def test_one_may_handle_ones_own_and_what_one_leads() -> None:
    lee = placed(Person(1001, "lee", frozenset(), operator=False), RULES)
    assert lee.may_handle(1001, "other")
    assert lee.may_handle(1002, "cv")
    assert not lee.may_handle(1002, "nlp")
