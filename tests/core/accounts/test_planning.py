"""The steps from accounts as they are to accounts as they are wanted, and what is refused."""

from __future__ import annotations

import base64
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roost.core.accounts.keys import KeyProblemError, read_key, same_key
from roost.core.accounts.leaving import plan_leaving
from roost.core.accounts.model import (
    AccountSeen,
    Archive,
    Asked,
    Do,
    GroupSeen,
    Home,
    HostSeen,
    Plan,
    Rights,
    Step,
)
from roost.core.accounts.planning import plan_people
from roost.core.accounts.show import as_dict, fingerprint
from roost.core.rules.load import load

RULES = load(
    """
    operators = ["olga", "@admins"]
    [groups.vision]
    members = ["ann", "@vision"]
    share = 2
    [groups.byname]
    members = ["bob"]
    [groups.wide]
    members = ["@admins"]
    [groups.rooted]
    members = ["@sudo"]
    """
)
HOST = HostSeen(
    "/home", "/bin/bash", "on", "/var/lib/roost/agent/archive",
    (GroupSeen("sudo", True, True, True), GroupSeen("admins", True, False, False)),
)  # fmt: skip


def key(text: str, kind: str = "ssh-ed25519", *more: bytes) -> str:
    parts = (kind.encode(), *(more or (text.encode().ljust(32, b"."),)))
    blob = b"".join(len(part).to_bytes(4, "big") + part for part in parts)
    return f"{kind} {base64.b64encode(blob).decode()} {text}"


def account(name: str, **more: Any) -> AccountSeen:
    made = AccountSeen(
        name, 1001, 1001, "", f"/home/{name}", "/bin/bash", True, False, "", Home.PRIVATE, 0o700
    )
    return replace(made, **more)


class Machine:
    """Accounts that change as the steps say: what `useradd` and the rest do, in memory."""

    def __init__(self, *there: AccountSeen) -> None:
        self.seen = {one.name: one for one in there}
        self.host = HOST
        self.next = 2000

    def do(self, plan: Plan) -> None:
        for step in plan.steps:
            self._one(step)

    def _one(self, step: Step) -> None:
        if step.do is Do.GROUP:
            made = GroupSeen(step.group, True, False, False)
            self.host = replace(self.host, groups=(*self.host.groups, made))
            return
        if step.do is Do.CREATE:
            assert step.user not in self.seen
            self.next += 1
            self.seen[step.user] = account(step.user, uid=self.next, full_name=step.text)
            return
        one = self.seen[step.user]
        if step.do is Do.JOIN:
            assert step.group in {group.name for group in self.host.groups}
            one = replace(one, groups=(*one.groups, step.group))
        elif step.do is Do.FULL_NAME:
            one = replace(one, full_name=step.text)
        elif step.do is Do.PRIVATE:
            one = replace(one, home_state=Home.PRIVATE, home_mode=0o700)
        elif step.do is Do.KEY:
            one = replace(one, keys=(*one.keys, same_key(step.text)))
        elif step.do is Do.QUOTA:
            one = replace(one, quota_bytes=step.size_bytes)
        else:
            raise AssertionError(step)
        self.seen[step.user] = one

    def plan(self, *rows: Asked) -> Plan:
        return plan_people(rows, self.seen, self.host, RULES)


def kinds(plan: Plan) -> list[str]:
    return [f"{step.do.value} {step.user or step.group}" for step in plan.steps]


def test_a_new_person_gets_account_group_key_and_quota_in_this_order() -> None:
    machine = Machine()
    rows = Asked("wang", "王伟", "vision", (key("w"),), "500G", "2", 2)
    assert kinds(machine.plan(rows)) == [
        "group vision", "create wang", "join wang", "key wang", "quota wang",
    ]  # fmt: skip


names = st.sampled_from(["ann", "bob", "wang", "li", "zhao", "li-2"])
people = st.builds(
    Asked,
    name=names,
    full_name=st.sampled_from(["", "王伟", "Ann O'Neill"]),
    group=st.sampled_from(["", "vision", "default", "vision, default"]),
    keys=st.lists(st.sampled_from([key("a"), key("b"), key("c")]), max_size=2).map(tuple),
    quota=st.sampled_from(["", "500G", "none", "1.5T", "3MB"]),
    share=st.just(""),
)
there = st.builds(
    account,
    names,
    full_name=st.sampled_from(["", "王伟"]),
    local=st.booleans(),
    home_state=st.sampled_from(list(Home)),
    keys=st.sampled_from([(), (same_key(key("a")),)]),
    groups=st.sampled_from([(), ("vision",)]),
    quota_bytes=st.sampled_from([None, 0, 500 << 30]),
)


@given(st.lists(people, max_size=6, unique_by=lambda one: one.name), st.lists(there, max_size=4))
def test_what_was_planned_and_done_needs_no_step_more(
    rows: list[Asked], known: list[AccountSeen]
) -> None:
    machine = Machine(*known)
    plan = machine.plan(*rows)
    assert not plan.problems
    machine.do(plan)
    assert machine.plan(*rows).steps == ()


@given(st.lists(people, min_size=1, max_size=6, unique_by=lambda one: one.name), st.data())
def test_one_wrong_row_leaves_no_step_at_all(rows: list[Asked], data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(rows) - 1))
    wrong = data.draw(
        st.sampled_from(
            [
                {"name": "root/../x"}, {"group": "nowhere"}, {"keys": ("ssh-rsa AAAA",)},
                {"quota": "much"}, {"full_name": "a:b"}, {"group": "vision", "share": "3"},
            ]
        )
    )  # fmt: skip
    rows[at] = replace(rows[at], row=at + 2, **wrong)
    plan = Machine().plan(*rows)
    assert plan.steps == ()
    assert {problem.row for problem in plan.problems} == {at + 2}
    for language in ("en", "zh"):
        assert all(one["text"] for one in as_dict(plan, language)["problems"])


@pytest.mark.parametrize(
    ("asked", "column", "code"),
    [
        (Asked("root"), "name", "system_account"),
        (Asked("-rf"), "name", "name_wrong"),
        (Asked("a b"), "name", "name_wrong"),
        (Asked("Wang"), "name", "name_not_new"),
        (Asked("a" * 33), "name", "name_not_new"),
        (Asked("x", group="rooted"), "group", "group_powerful"),
        (Asked("x", group="wide"), "group", "group_gives_more"),
        (Asked("x", group="byname"), "group", "group_by_name"),
        (Asked("x", group="nowhere"), "group", "group_unknown"),
        (Asked("x", share="2"), "share", "share_without_group"),
        (Asked("x", group="vision", share="two"), "share", "share_wrong"),
        (Asked("x", quota="10"), "quota", "quota_wrong"),
        (Asked("x", keys=(key("a") + "\n" + key("b"),)), "key", "key_lines"),
        (Asked("vision", group="vision"), "name", "group_of_name"),
        (Asked("admins"), "name", "group_of_name"),
        (Asked("sam", keys=(key("a"),)), "key", "powerful_account"),
    ],
)
def test_what_is_wrong_is_named_with_its_column(asked: Asked, column: str, code: str) -> None:
    machine = Machine(
        account("root", uid=0, system=True), account("sam", powerful="sudo", uid=1002)
    )
    plan = machine.plan(asked)
    assert [(one.column, one.code) for one in plan.problems] == [(column, code)]
    assert as_dict(plan, "zh")["problems"][0]["text"]


def test_a_group_listed_by_name_is_told_the_line_to_write() -> None:
    text = as_dict(Machine().plan(Asked("x", group="byname")), "en")["problems"][0]["text"]
    assert text.endswith('members = ["bob", "@byname"]')
    # Who is listed already needs no Linux group.
    assert kinds(Machine().plan(Asked("bob", group="byname"))) == ["create bob"]


def test_a_quota_that_cannot_be_kept_is_told_before_anything() -> None:
    machine = Machine()
    machine.host = replace(HOST, quota="quota_off")
    plan = machine.plan(Asked("x", quota="1T"))
    assert [one.code for one in plan.problems] == ["quota_off"]
    assert machine.plan(Asked("x", quota="none")).problems == ()


def test_an_account_of_a_directory_is_only_put_into_groups() -> None:
    machine = Machine(account("li", local=False, uid=70_001))
    plan = machine.plan(Asked("li", "李", "vision", (key("l"),)))
    assert kinds(plan) == ["group vision", "join li"]
    assert [one.code for one in plan.remarks] == ["directory_account", "directory_keys"]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "key_unknown"),
        ("hello", "key_unknown"),
        ('command="x" ' + key("a"), "key_options"),
        ("ssh-ed25519", "key_damaged"),
        ("ssh-ed25519 AAAA", "key_damaged"),
        (key("a").replace("ssh-ed25519", "ssh-rsa"), "key_damaged"),
        (key("r", "ssh-rsa", b"\1\0\1", b"\0" + b"\xff" * 128), "key_weak"),
        (key("a", "ssh-dss"), "key_unknown"),
        ("-----BEGIN OPENSSH PRIVATE KEY-----", "key_private"),
        (key("a") + "\x1b[2J", "key_lines"),
        (key("a") + "\u2028x", "key_lines"),
    ],
)
def test_what_is_no_plain_public_key_is_not_taken(text: str, code: str) -> None:
    with pytest.raises(KeyProblemError) as caught:
        read_key(text)
    assert caught.value.code == code


def test_a_key_keeps_its_comment_and_is_the_same_without() -> None:
    strong = key("r r", "ssh-rsa", b"\1\0\1", b"\0" + b"\xff" * 256)
    assert read_key("  " + strong.replace(" ", "  ", 1) + "\t") == strong
    assert same_key(strong) == same_key(strong.rsplit(" ", 2)[0])


# -- leaving -----------------------------------------------------------------------------------

RIGHTS = Rights(1, 2, 0, waiting=(3, 5), held=(6,), running=(4,), bookings=(9,))


def leaving(action: str, one: AccountSeen | None, rights: Rights = RIGHTS, **more: Any) -> Plan:
    seen = {one.name: one} if one else {}
    host = more.pop("host", HOST)
    return plan_leaving(action, ["ann"], seen, host, {"ann": rights}, **more)


def test_disabling_holds_what_waits_and_lets_run_what_runs() -> None:
    plan = leaving("disable", account("ann"))
    assert [(s.do, s.numbers) for s in plan.steps] == [
        (Do.DISABLE, (3, 5)), (Do.PUT_OUT, (1, 2, 0)), (Do.HOLD, (3, 5)),
    ]  # fmt: skip
    assert [one.code for one in plan.remarks] == ["jobs_go_on", "bookings_stay"]
    ended = leaving("disable", account("ann"), end_jobs=True)
    assert [s.numbers for s in ended.steps if s.do is Do.END] == [(3, 4, 5, 6)]


def test_enabling_releases_what_was_held_then_and_not_what_the_person_held() -> None:
    off = account("ann", disabled=True, barred=True, held_jobs=(3, 5))
    plan = leaving("enable", off, Rights(held=(3, 6)))
    assert [(s.do, s.numbers) for s in plan.steps] == [(Do.ENABLE, ()), (Do.RELEASE, (3,))]
    assert leaving("enable", account("ann")).steps == ()
    assert leaving("disable", off, Rights(held=(3, 6))).steps == ()


@pytest.mark.parametrize(
    ("action", "more", "code"),
    [
        ("remove", {"processes": ("7 bash",)}, "has_processes"),
        ("remove", {"home_state": Home.LINK}, "remove_link"),
        ("remove", {"home_state": Home.OTHERS}, "remove_others"),
        ("remove", {"system": True}, "system_account"),
        ("disable", {"powerful": "docker"}, "powerful_account"),
        ("remove", {"local": False}, "directory_leaves"),
        ("enable", {"disabled": True}, "disabled_elsewhere"),
        ("restore", {}, "restore_there"),
    ],
)
def test_who_cannot_leave_is_told_why(action: str, more: dict[str, Any], code: str) -> None:
    plan = leaving(action, account("ann", **more), Rights())
    assert [one.code for one in plan.problems] == [code]
    assert plan.steps == ()


def test_removing_packs_before_it_removes_and_never_with_jobs() -> None:
    assert leaving("remove", account("ann")).problems[0].code == "has_jobs"
    plan = leaving("remove", account("ann"), end_jobs=True)
    assert [s.do.value for s in plan.steps] == [
        "disable", "put_out", "end", "unbook", "archive", "remove",
    ]  # fmt: skip


def test_the_newest_archive_is_brought_back_unless_its_uid_is_anothers() -> None:
    old = Archive("ann", 1001, "", "/home/ann", 1.0, "/a/old.tar", 5, "x")
    host = replace(HOST, archives=(replace(old, at=2.0, path="/a/new.tar"), old))
    (step,) = leaving("restore", None, Rights(), host=host).steps
    assert (step.do, step.text, step.uid) == (Do.RESTORE, "/a/new.tar", 1001)
    taken = replace(host, uids_taken=(1001,))
    assert leaving("restore", None, Rights(), host=taken).problems[0].code == "uid_taken"
    assert leaving("restore", None, Rights()).problems[0].code == "no_archive"


def test_the_fingerprint_changes_with_any_step() -> None:
    one, other = Machine().plan(Asked("li")), Machine().plan(Asked("li", "李"))
    assert fingerprint(one) == fingerprint(Machine().plan(Asked("li")))
    assert fingerprint(one) != fingerprint(other)
