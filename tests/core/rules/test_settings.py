"""Rules written out again: the same rules, each key, each origin; and compared by key."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from pathlib import Path as File

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roost.core.model import PriorityClass
from roost.core.rules.changes import Change, as_dicts, changes
from roost.core.rules.load import load
from roost.core.rules.model import OidcRules, Rules
from roost.core.rules.settings import key_word, lines_set, literal, settings_of, written

FULL = """
time_zone = "Asia/Shanghai"
operators = ["root", "@admins"]
viewers = ["@guests"]
default_group = "lab"
shared_gpus = [7, "GPU-1f"]
sample = "2.5s"
fair_share = { half_life = "3d", age_weight_per_day = 0.5, charge = "busy" }
[days]
holidays = ["2026-10-01..2026-10-07"]
working_days = ["2026-10-10"]
[periods]
night = ["20:00-08:00", "freedays"]
[groups.cv]
members = ["a.b", "@cv"]
share = 2.5
leads = ["bob", "@profs"]
[groups.nlp]
parent = "cv"
[classes.urgent]
preempts = ["regular", "background"]
budget = "40h"
require_reason = true
[classes.background]
idle_for = "10m"
give_way = "suspend"
suspend_memory = "4G"
[limits.per_user]
max_gpus = 4
[limits.regular.per_user]
max_walltime = "2-12:00:00"
[limits.groups.cv]
max_gpus = 0
[limits.groups.cv.urgent]
max_jobs = 1
[limits.users."a.b"]
max_queued = 5
[limits.during.night.per_user]
max_gpus = 8
[limits.during.night.groups.cv.regular]
max_jobs = 3
[windows.long]
jobs_over = "4h"
open = ["night", "2026-12-24 12:00-24:00"]
exempt = ["urgent"]
groups = ["cv"]
at_close = "end"
[scheduling]
mode = "throughput"
delay = "12h"
[idle_reclaim]
enabled = true
exempt_users = ["li"]
exempt_classes = ["urgent"]
[bookings]
horizon = "7d"
per_user_gpu_hours = 12.5
[audit]
places = ["/data", "/nfs/models"]
[[audit.accept]]
check = "root-groups"
subject = "docker:li"
reason = "builds the images"
[[audit.accept]]
check = "ptrace"
reason = "for MPI"
[[ignore]]
command = 'X\\"org'
below = "200M"
[[ignore]]
user = "gdm"
"""


def test_what_is_written_loads_to_the_same_rules() -> None:
    rules = load(FULL)
    text = written(settings_of(rules))
    assert load(text) == rules
    assert written(settings_of(load(text))) == text


def test_a_provider_is_written_and_loads_to_the_same() -> None:
    rules = load(
        """
        [oidc]
        issuer = "https://login.example.org/realms/lab"
        client_id = "roost"
        secret_file = "/etc/roost/oidc-secret"
        exact = true
        hosts = ["oauth2.example.org"]
        name = "Lab"
        [oidc.users]
        "li.wei@example.org" = "liwei"
        """
    )
    assert rules.oidc is not None
    assert rules.oidc.users == {"li.wei@example.org": "liwei"}
    assert load(written(settings_of(rules))) == rules


def test_the_defaults_are_written_and_load_to_the_defaults() -> None:
    assert load(written(settings_of(Rules()))) == Rules()


def test_every_key_that_the_file_sets_is_among_the_settings() -> None:
    assert set(lines_set(FULL)) - set(settings_of(load(FULL))) == set()


def test_a_group_without_whole_hours_of_budget_keeps_its_minutes() -> None:
    settings = settings_of(load('[classes.urgent]\nbudget = "1h30m"\n'))
    assert settings["classes", "urgent", "budget"] == "1h30m"
    assert settings_of(load(FULL))["classes", "urgent", "budget"] == "40h"


def other(value: object) -> object:
    """A value of the same kind that differs."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return value + 1
    if value is None:
        return 7200.0
    return f"{value}x" if isinstance(value, str) else ()


def varied(value: object) -> Iterator[tuple[str, object]]:
    """The dataclass with one field changed, for each of its fields and of those within."""
    assert is_dataclass(value)
    assert not isinstance(value, type)
    for each in fields(value):
        held = getattr(value, each.name)
        if isinstance(held, PriorityClass):
            yield each.name, replace(value, **{each.name: PriorityClass.URGENT})
        elif is_dataclass(held):
            for name, inner in varied(held):
                yield f"{each.name}.{name}", replace(value, **{each.name: inner})
        elif isinstance(held, Mapping):
            for key, one in held.items():
                for name, inner in varied(one) if is_dataclass(one) else ():
                    changed = {**held, key: inner}
                    yield f"{each.name}.{key}.{name}", replace(value, **{each.name: changed})
        elif each.name == "oidc" and held is None:
            yield each.name, replace(value, oidc=OidcRules("https://a.example", "roost"))
        elif isinstance(held, tuple) and not held:
            full = (PriorityClass.URGENT,) if each.name in CLASS_LISTS else ("2026-01-01",)
            if each.name not in ("ignore", "accept"):
                yield each.name, replace(value, **{each.name: full})
        else:
            yield each.name, replace(value, **{each.name: other(held)})


CLASS_LISTS = ("preempts", "exempt_classes")


def test_no_field_of_the_rules_is_left_out() -> None:
    seen = 0
    for name, rules in varied(Rules()):
        assert isinstance(rules, Rules)
        changed = changes(Rules(), rules)
        assert changed if name == "oidc" else len(changed) == 1, name
        seen += 1
    assert seen > 50


@given(st.text(min_size=1))
def test_any_text_can_be_written_on_one_line_and_read_again(text: str) -> None:
    line = f"x = {literal(text)}"
    assert line.isprintable()
    assert tomllib.loads(line) == {"x": text}
    assert tomllib.loads(f"{key_word(text)} = 1") == {text: 1}


def test_each_setting_stands_with_its_origin() -> None:
    text = 'max_array = 5\n\nfair_share = { weight = 2 }\n[groups."a.b"]\nshare = 3\n'
    lines = lines_set(text)
    assert lines == {
        ("max_array",): 1,
        ("fair_share", "weight"): 3,
        ("groups", "a.b", "share"): 5,
    }
    shown = written(settings_of(load(text)), {path: f"line {n}" for path, n in lines.items()})
    assert "max_array = 5  # line 1\n" in shown
    assert '[groups."a.b"]\nmembers = []\nshare = 3  # line 5\n' in shown
    assert "weight = 2  # line 3\n" in shown
    assert 'half_life = "7d"\n' in shown
    assert load(shown) == load(text)


@pytest.mark.parametrize(
    ("old", "new", "found"),
    [
        ("", "", []),
        ("max_array = 10000 # the default", "", []),
        ("max_array = 5", "max_array = 7", [("max_array", "5", "7")]),
        ("", "[limits.per_user]\nmax_gpus = 4", [("limits.per_user.max_gpus", None, "4")]),
        ("[limits.users.li]\nmax_jobs = 0", "", [("limits.users.li.max_jobs", "0", None)]),
        (
            "[groups.a]\n[groups.b]",
            "[groups.b]\n[groups.a]",
            [("groups", '["a", "b"]', '["b", "a"]')],
        ),
        (
            "",
            "[groups.a]\nmembers = ['x']",
            [("groups.a.members", None, '["x"]'), ("groups.a.share", None, "1")],
        ),
    ],
)
def test_rules_differ_by_key(
    old: str, new: str, found: list[tuple[str, str | None, str | None]]
) -> None:
    seen = changes(load(old), load(new))
    assert [(c.key, c.old, c.new) for c in seen] == found
    back = changes(load(new), load(old))
    assert {(c.key, c.new, c.old) for c in back} == set(found)


def test_a_change_is_said_in_both_languages() -> None:
    assert Change("a.b", "4", "2").text("en") == "a.b: 4 → 2"
    assert Change("a.b", None, "2").text("zh") == "a.b：未设置 → 2"
    assert Change("a.b", "4", None).text("en") == "a.b: 4 → no longer set"
    assert as_dicts([Change("a", "1", "2")], "en") == [
        {"key": "a", "old": "1", "new": "2", "text": "a: 1 → 2"}
    ]


def test_the_rules_of_the_documentation_are_written_and_read_again() -> None:
    page = (File(__file__).parents[3] / "docs" / "rules.md").read_text(encoding="utf-8")
    texts = [part.split("```")[0] for part in page.split("```toml\n")[1:]]
    assert texts
    for text in texts:
        rules = load(text)
        assert load(written(settings_of(rules))) == rules
        assert tomllib.loads(written(settings_of(rules)))
