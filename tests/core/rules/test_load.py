"""The rules file: defaults, every key, every mistake named with its line."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roost.core.model import PriorityClass
from roost.core.rules.example import EXAMPLE
from roost.core.rules.lines import key_lines
from roost.core.rules.load import load
from roost.core.rules.model import (
    ClassRules,
    FairShare,
    GroupRules,
    IgnoreRule,
    Limit,
    Limits,
    Rules,
    Window,
)
from roost.core.rules.read import RulesError, RulesProblem, dotted
from roost.core.rules.settings import lines_set, settings_of
from roost.core.rules.units import format_duration, format_size
from roost.core.text.rules import MESSAGES

REGULAR, URGENT, BACKGROUND = (
    PriorityClass.REGULAR,
    PriorityClass.URGENT,
    PriorityClass.BACKGROUND,
)


NO_UNIT = "size_without_unit"


def problems(text: str) -> list[tuple[int | None, str, str]]:
    with pytest.raises(RulesError) as caught:
        load(text)
    return [(p.line, p.key, p.code) for p in caught.value.problems]


def test_an_empty_file_is_a_working_set_of_rules() -> None:
    assert load("") == Rules()


def uncommented(text: str) -> str:
    setting = re.compile(r"# (?=\[|[a-z_]+ = )")
    return "\n".join(setting.sub("", line, count=1) for line in text.splitlines())


def test_the_example_loads_to_the_defaults() -> None:
    assert load(EXAMPLE) == Rules()


def test_each_default_in_the_example_is_the_default() -> None:
    text = uncommented(EXAMPLE)
    shown, defaults = settings_of(load(text)), settings_of(Rules())
    keys = set(lines_set(text))
    other = {"classes", "scheduling"}  # shown for one class; spelled out in the documentation
    assert {path for path in defaults if path not in keys and path[0] not in other} == set()
    assert {path: shown[path] for path in defaults} == defaults
    # What has no default shows how it is written, and is one of these.
    free = {"groups", "periods", "windows", "limits", "ignore", "oidc", "audit"}
    assert {dotted(path) for path in keys - set(defaults) if path[0] not in free} == {
        "classes.urgent.budget",
        "bookings.per_user_gpu_hours",
    }


def test_each_default_of_a_window_in_the_example_is_the_default() -> None:
    rules = load(uncommented(EXAMPLE))
    window = rules.windows["long"]
    assert window == Window(jobs_over_s=4 * 3600.0, open=("night",))
    assert rules.ignore == (IgnoreRule("Xorg", None, 200 << 20),)
    assert rules.groups["vision"] == GroupRules(("alice", "@vision"), 1.0, leads=("bob",))


def test_the_example_is_short_enough_to_read_aloud() -> None:
    assert len(EXAMPLE.splitlines()) <= 155
    assert max(map(len, EXAMPLE.splitlines())) <= 100


def test_every_key_is_read() -> None:
    rules = load(
        """
        time_zone = "Asia/Shanghai"
        operators = ["root", "@admins"]
        default_group = "lab"
        default_class = "background"
        shared_gpus = [7, "GPU-1f", "6"]
        enforcement = "strict"
        stray_gpu_use = "stop"
        max_array = 100
        sample = "2s"
        fair_share = { half_life = "3d", weight = 2, age_weight_per_day = 0.5 }
        [groups.cv]
        members = ["alice", "@cv"]
        share = 2.5
        [groups.nlp]
        [classes.urgent]
        preempts = ["regular", "background"]
        grace = "30s"
        [classes.background]
        min_run = "5m"
        [limits.per_user]
        max_gpus = 4
        [limits.regular]
        max_walltime = "2-12:00:00"
        [limits.regular.per_user]
        max_jobs = 3
        [limits.groups.cv]
        max_gpus = 6
        [limits.groups.cv.urgent]
        max_gpus = 1
        [limits.users.bob]
        max_queued = 5
        [[ignore]]
        user = "gdm"
        [[ignore]]
        command = "Xorg"
        below = "200M"
        """
    )
    assert rules == Rules(
        time_zone="Asia/Shanghai",
        operators=("root", "@admins"),
        groups={"cv": GroupRules(("alice", "@cv"), 2.5), "nlp": GroupRules()},
        default_group="lab",
        default_class=BACKGROUND,
        classes={
            URGENT: ClassRules((REGULAR, BACKGROUND), 0.0, 30.0),
            REGULAR: ClassRules((), 600.0, 60.0),
            BACKGROUND: ClassRules((), 300.0, 60.0),
        },
        limits=Limits(
            per_user=Limit(max_gpus=4),
            classes={REGULAR: Limit(max_walltime_s=216000)},
            per_user_of_class={REGULAR: Limit(max_jobs=3)},
            groups={"cv": Limit(max_gpus=6)},
            users={"bob": Limit(max_queued=5)},
            group_of_class={("cv", URGENT): Limit(max_gpus=1)},
        ),
        fair_share=FairShare(259200.0, 2.0, 0.5),
        shared_gpus=("7", "GPU-1f", "6"),
        enforcement="strict",
        ignore=(IgnoreRule(user="gdm"), IgnoreRule(command="Xorg", below_bytes=200 << 20)),
        max_array=100,
        sample_s=2.0,
        stray_gpu_use="stop",
    )


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("enforcment = 'warn'", (1, "enforcment", "unknown_near")),
        ("\n\nzzz = 1", (3, "zzz", "unknown")),
        ("enforcement = 'harsh'", (1, "enforcement", "one_of")),
        ("enforcement = 1", (1, "enforcement", "one_of")),
        ("time_zone = 'Mars'", (1, "time_zone", "time_zone")),
        ("time_zone = 8", (1, "time_zone", "text")),
        ("operators = 'root'", (1, "operators", "texts")),
        ("operators = ['a', 'a']", (1, "operators", "double")),
        ("operators = ['']", (1, "operators", "texts")),
        ("sample = '1ms'", (1, "sample", "duration")),
        ("sample = '0.01s'", (1, "sample", "span_least")),
        ("sample = 1", (1, "sample", "duration_without_unit")),
        ("shared_gpus = [-1]", (1, "shared_gpus", "gpus")),
        ("shared_gpus = [true]", (1, "shared_gpus", "gpus")),
        ("max_array = 0", (1, "max_array", "whole")),
        ("max_array = true", (1, "max_array", "whole")),
        ("default_group = 'a b'", (1, "default_group", "name")),
        ("groups = 3", (1, "groups", "table")),
        ("[groups.'a/b']", (1, "groups.a/b", "name")),
        ("[groups.cv]\nshare = 0", (2, "groups.cv.share", "number_above")),
        ("[groups.cv]\nshare = nan", (2, "groups.cv.share", "number_above")),
        ("[groups.cv]\nmember = ['a']", (2, "groups.cv.member", "unknown_near")),
        ("[classes.urgnt]", (1, "classes.urgnt", "unknown_class_near")),
        ("[classes.x]", (1, "classes.x", "unknown_class")),
        ("[classes.regular]\npreempts=['urgent']", (2, "classes.regular.preempts", "preempts")),
        ("[classes.urgent]\npreempts=['urgent']", (2, "classes.urgent.preempts", "preempts")),
        ("[limits.regular]\nmax_gpus = -1", (2, "limits.regular.max_gpus", "whole")),
        ("[limits.regular]\nmax_gpus = 1.5", (2, "limits.regular.max_gpus", "whole")),
        ("[limits.regular]\nmax_time = '1h'", (2, "limits.regular.max_time", "unknown_near")),
        ("[limits.groups.cv]\nmax_gpus = 1", (1, "limits.groups.cv", "unknown_group")),
        ("[limits.everyone]", (1, "limits.everyone", "unknown")),
        ("[fair_share]\nhalf_life = '1s'", (2, "fair_share.half_life", "span_least")),
        ("[fair_share]\nweight = -1", (2, "fair_share.weight", "number")),
        ("[[ignore]]", (1, "ignore[0].command", "ignore_empty")),
        ("[audit]\nplaces = ['/data/../etc']", (2, "audit.places", "audit_place")),
        ("[audit]\nplaces = ['/']", (2, "audit.places", "audit_place")),
        ("[[audit.accept]]\ncheck = 'ptrace'", (1, "audit.accept[0].reason", "audit_reason")),
        (
            "[[audit.accept]]\nreason = 'x'\ncheck = 'home'",
            (3, "audit.accept[0].check", "one_of"),
        ),
        (
            "[[ignore]]\nuser='x'\n[[ignore]]\nbelow='1'",
            (4, "ignore[1].below", "size_without_unit"),
        ),
        ("ignore = 3", (1, "ignore", "tables")),
        ("a = [\n", (2, "", "syntax")),
        ("a = 1\na = 2", (2, "", "syntax")),
    ],
)
def test_a_mistake_is_named_with_its_key_and_line(text: str, found: tuple[int, str, str]) -> None:
    assert problems(text) == [found]


def test_all_mistakes_are_told_at_once_in_the_order_of_the_file() -> None:
    text = "x = 1\nenforcement = 'no'\n[limits.regular]\nmax_gpus = 'four'\n"
    assert [line for line, _, _ in problems(text)] == [1, 2, 4]


def test_a_mistake_says_key_value_and_what_is_allowed_in_both_languages() -> None:
    with pytest.raises(RulesError) as caught:
        load("[limits.regular]\n\nmax_gpus = -1\n")
    (problem,) = caught.value.problems
    assert problem.text("en") == (
        "line 3: limits.regular.max_gpus = -1: must be a whole number from 0 to 1000000000"
    )
    assert problem.text("zh").startswith("第 3 行：limits.regular.max_gpus = -1：")
    assert str(caught.value) == problem.text("en")


def test_bytes_that_are_no_text_are_refused_with_the_line() -> None:
    with pytest.raises(RulesError) as caught:
        load(b"# fine\nx = '\xff'\n")
    assert [(p.line, p.code) for p in caught.value.problems] == [(2, "not_utf8")]


def test_a_file_nested_without_end_is_refused() -> None:
    with pytest.raises(RulesError):
        load("a = " + "[" * 20000)


def test_lines_are_found_past_strings_and_brackets_of_many_lines() -> None:
    text = 'a = """\nb = 1\n"""\nc = [\n 1, # ]\n "]",\n]\n'
    text += '[d."e.f"]\ng.h = 1\n[[i]]\n[[i]]\n[i.j]\nk = 1'
    lines = key_lines(text)
    assert ("b",) not in lines
    expected = {
        ("a",): 1,
        ("c",): 4,
        ("d", "e.f"): 8,
        ("d", "e.f", "g", "h"): 9,
        ("i", 0): 10,
        ("i", 1): 11,
        ("i", 1, "j", "k"): 13,
    }
    assert {path: lines.get(path) for path in expected} == expected


def test_every_message_has_both_languages_with_the_same_numbers() -> None:
    for code, (english, chinese) in MESSAGES.items():
        holes = [set(re.findall(r"\{(\w+)\}", text)) for text in (english, chinese)]
        assert holes[0] == holes[1], code


names = st.from_regex(r"[a-z][a-z0-9_-]{0,8}", fullmatch=True)
limits = st.builds(
    Limit,
    max_gpus=st.none() | st.integers(0, 64),
    max_jobs=st.none() | st.integers(0, 64),
    max_queued=st.none() | st.integers(0, 999),
    max_walltime_s=st.none() | st.integers(1, 10**7),
)


def written(limit: Limit) -> str:
    lines = [
        f"{key} = {value}"
        for key, value in (
            ("max_gpus", limit.max_gpus),
            ("max_jobs", limit.max_jobs),
            ("max_queued", limit.max_queued),
        )
        if value is not None
    ]
    if limit.max_walltime_s is not None:
        lines.append(f'max_walltime = "{format_duration(limit.max_walltime_s)}"')
    return "\n".join(lines)


@given(
    st.dictionaries(names, limits, max_size=4),
    st.dictionaries(names, limits, max_size=4),
    st.dictionaries(st.sampled_from(list(PriorityClass)), limits),
    st.dictionaries(st.sampled_from(list(PriorityClass)), st.integers(0, 10**6)),
    st.lists(st.integers(1, 1 << 40), max_size=3),
)
def test_what_is_written_is_what_is_loaded(
    groups: dict[str, Limit],
    users: dict[str, Limit],
    classes: dict[PriorityClass, Limit],
    min_runs: dict[PriorityClass, int],
    sizes: list[int],
) -> None:
    text = "".join(f"[groups.{name}]\n" for name in groups)
    text += "".join(f"[limits.groups.{n}]\n{written(x)}\n" for n, x in groups.items())
    text += "".join(f"[limits.users.{n}]\n{written(x)}\n" for n, x in users.items())
    text += "".join(f"[limits.{n}]\n{written(x)}\n" for n, x in classes.items())
    text += "".join(
        f'[classes.{n}]\nmin_run = "{format_duration(x)}"\n' for n, x in min_runs.items()
    )
    text += "".join(f'[[ignore]]\nbelow = "{format_size(size)}"\n' for size in sizes)
    rules = load(text)
    assert rules.limits == Limits(classes=classes, groups=groups, users=users)
    assert {n: rules.classes[n].min_run_s for n in min_runs} == min_runs
    assert [rule.below_bytes for rule in rules.ignore] == sizes


@given(st.text(max_size=200))
def test_any_text_loads_or_is_refused_with_words(text: str) -> None:
    told: tuple[RulesProblem, ...] = ()
    try:
        load(text)
    except RulesError as error:
        told = error.problems or (RulesProblem("", "no problem named"),)
    assert all(problem.text("en") and problem.text("zh") for problem in told)


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ('issuer = "http://login.example.org"\nclient_id = "a"', "oidc.issuer"),
        ('issuer = "https://a.example/?x=1"\nclient_id = "a"', "oidc.issuer"),
        ('issuer = "https://a:b@c.example"\nclient_id = "a"', "oidc.issuer"),
        ('issuer = "https://a.example"', "oidc.client_id"),
        ('issuer = "https://a.example"\nclient_id = "a"\nsecret_file = "s"', "oidc.secret_file"),
        ('issuer = "https://a.example"\nclient_id = "a"\nhosts = ["a/b"]', "oidc.hosts"),
        (
            'issuer = "https://a.example"\nclient_id = "a"\nclaim = "email"\nexact = true',
            "oidc.exact",
        ),
        (
            'issuer = "https://a.example"\nclient_id = "a"\n[oidc.users]\nx = "root"',
            "oidc.users.x",
        ),
        (
            'issuer = "https://a.example"\nclient_id = "a"\n[oidc.users]\nx = "../x"',
            "oidc.users.x",
        ),
    ],
)
def test_a_provider_that_cannot_be_trusted_is_refused(text: str, key: str) -> None:
    with pytest.raises(RulesError) as wrong:
        load(f"[oidc]\n{text}")
    assert [problem.key for problem in wrong.value.problems] == [key]
