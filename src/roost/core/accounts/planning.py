"""From people as they are wanted and the machine as it is: the steps that are missing, or what is
wrong. Everything is checked before there is a first step.

Pure. Planning again after the steps were done gives none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from roost.core.accounts import checks
from roost.core.accounts.keys import same_key
from roost.core.accounts.model import (
    AccountSeen,
    Asked,
    Do,
    GroupSeen,
    Home,
    HostSeen,
    Plan,
    Problem,
    Remark,
    Step,
    Wanted,
)
from roost.core.rules import who
from roost.core.rules.model import Rules

RULES_PATH = "/etc/roost/rules.toml"


def plan_people(
    rows: Sequence[Asked],
    seen: Mapping[str, AccountSeen],
    host: HostSeen,
    rules: Rules,
    rules_path: str = RULES_PATH,
) -> Plan:
    """The steps after which every row is as it says. Nothing is ever taken away: who has more
    groups or keys keeps them."""
    problems = checks.twice(rows)
    maker = _Maker(seen, host, rules, rules_path)
    for asked in rows:
        wanted, wrong = checks.wanted(asked)
        problems += wrong
        if wanted is not None:
            maker.person(wanted, asked)
    maker.names_and_groups()
    problems += maker.problems
    if problems:
        return Plan(problems=tuple(sorted(problems, key=lambda one: one.row or 0)))
    return Plan((*maker.groups.values(), *maker.steps), tuple(maker.remarks))


class _Maker:
    """Collects the steps of row after row. `groups`: Linux groups to be made, by name, first."""

    def __init__(
        self, seen: Mapping[str, AccountSeen], host: HostSeen, rules: Rules, rules_path: str
    ) -> None:
        self._seen, self._host, self._rules = seen, host, rules
        self._rules_path = rules_path
        self._linux = {group.name: group for group in host.groups}
        self._archived = {archive.name for archive in host.archives}
        self.groups: dict[str, Step] = {}
        self.steps: list[Step] = []
        self.remarks: list[Remark] = []
        self.problems: list[Problem] = []

    def person(self, wanted: Wanted, asked: Asked) -> None:
        account = self._seen.get(wanted.name)
        if account is None:
            self._new(wanted)
        elif account.system:
            self._wrong(wanted, "name", wanted.name, "system_account", uid=str(account.uid))
            return
        else:
            self._known(wanted, account)
        for group in wanted.groups:
            self._join(wanted, group, account)
        if asked.share:
            self._share(wanted, asked.share)
        self._keys(wanted, account)
        self._quota(wanted, account)

    def names_and_groups(self) -> None:
        """A new account brings a group of its name: no other may be made of that name."""
        for step in self.steps:
            if step.do is Do.CREATE and step.user in self.groups:
                self._wrong(Wanted(step.user), "name", step.user, "group_of_name")

    def _wrong(self, wanted: Wanted, column: str, value: str, code: str, **numbers: str) -> None:
        found = Problem(
            code, checks.shown(wanted.name), column, checks.shown(value), wanted.row, numbers
        )
        self.problems.append(found)

    def _remark(self, wanted: Wanted, code: str, **numbers: str) -> None:
        self.remarks.append(Remark(code, wanted.name, numbers))

    # -- the account -----------------------------------------------------------------------------

    def _new(self, wanted: Wanted) -> None:
        name, home = wanted.name, f"{self._host.home_base}/{wanted.name}"
        if not checks.new_name(name):
            self._wrong(wanted, "name", name, "name_not_new", most=str(checks.MOST_NAME))
        elif name in self._host.taken:
            self._wrong(wanted, "name", name, "home_taken", home=home, owner=self._host.taken[name])
        elif name in self._linux:
            self._wrong(wanted, "name", name, "group_of_name")
        elif name in self._archived:
            self._remark(wanted, "archive_stays")
        self.steps.append(Step(Do.CREATE, name, text=wanted.full_name, home=home))

    def _known(self, wanted: Wanted, account: AccountSeen) -> None:
        if not account.local:
            self._remark(wanted, "directory_account", uid=str(account.uid))
            return
        if account.disabled:
            self._remark(wanted, "stays_disabled")
        if wanted.full_name and wanted.full_name != account.full_name:
            if account.powerful:
                self._powerful(wanted, "full_name", wanted.full_name, account)
            step = Step(Do.FULL_NAME, wanted.name, text=wanted.full_name, before=account.full_name)
            self.steps.append(step)
        if account.home_state is Home.OPEN:
            mode = f"{account.home_mode:04o}"
            self.steps.append(Step(Do.PRIVATE, wanted.name, home=account.home, before=mode))
        elif account.home_state is not Home.PRIVATE:
            self._remark(wanted, f"home_{account.home_state.value}", home=account.home)

    def _powerful(self, wanted: Wanted, column: str, value: str, account: AccountSeen) -> None:
        self._wrong(wanted, column, value, "powerful_account", group=account.powerful)

    # -- groups and shares -----------------------------------------------------------------------

    def _join(self, wanted: Wanted, group: str, account: AccountSeen | None) -> None:
        rules, name = self._rules, wanted.name
        if group not in rules.groups:
            if group != rules.default_group:
                known = ", ".join((*rules.groups, rules.default_group))
                self._wrong(
                    wanted, "group", group, "group_unknown",
                    known=known, path=self._rules_path, line=_group_lines(group),
                )  # fmt: skip
            return
        members = rules.groups[group].members
        if who.listed(members, name, account.groups if account else ()):
            return
        linux = linux_group(members, group)
        if linux is None:
            line = "members = [" + ", ".join(f'"{one}"' for one in (*members, f"@{group}")) + "]"
            self._wrong(
                wanted, "group", group, "group_by_name",
                path=self._rules_path, line=line, linux=group,
            )  # fmt: skip
        elif problem := self._group_problem(linux):
            self._wrong(wanted, "group", group, problem, linux=linux)
        else:
            if linux not in self._linux:
                self.groups[linux] = Step(Do.GROUP, "", group=linux)
            step = Step(Do.JOIN, name, group=linux, text=group)
            if step not in self.steps:
                self.steps.append(step)

    def _group_problem(self, linux: str) -> str:
        rules = self._rules
        found = self._linux.get(linux, GroupSeen(linux, True, False, False))
        if found.powerful or found.system:
            return "group_powerful"
        leads = [lead for group in rules.groups.values() for lead in group.leads]
        if "@" + linux in (*rules.operators, *rules.viewers, *leads):
            return "group_gives_more"
        if not found.local:
            return "group_of_directory"
        return "" if linux in self._linux or checks.new_name(linux) else "group_name_wrong"

    def _share(self, wanted: Wanted, share: str) -> None:
        """A share is a group's, and stands in the rules: here it is only held against them."""
        if not wanted.groups:
            self._wrong(wanted, "share", share, "share_without_group")
            return
        group = wanted.groups[0]
        if group not in self._rules.groups:
            if group == self._rules.default_group:
                self._wrong(wanted, "share", share, "share_of_default", group=group)
            return
        there = self._rules.groups[group].share
        try:
            given = float(share)
        except ValueError:
            self._wrong(wanted, "share", share, "share_wrong")
            return
        if given != there:
            self._wrong(
                wanted, "share", share, "share_differs",
                group=group, there=f"{there:g}", path=self._rules_path, line=f"share = {given:g}",
            )  # fmt: skip

    # -- keys and quota --------------------------------------------------------------------------

    def _keys(self, wanted: Wanted, account: AccountSeen | None) -> None:
        there = set(account.keys) if account else set()
        new = [key for key in wanted.keys if same_key(key) not in there]
        if not new:
            return
        if account is not None and not account.local:
            self._remark(wanted, "directory_keys")
            return
        if account is not None and account.powerful:
            self._powerful(wanted, "key", new[0], account)
        elif account is not None and account.keys_why:
            self._wrong(wanted, "key", new[0], account.keys_why, home=account.home)
        self.steps += [Step(Do.KEY, wanted.name, text=key) for key in new]

    def _quota(self, wanted: Wanted, account: AccountSeen | None) -> None:
        quota = wanted.quota_bytes
        there = account.quota_bytes if account else None
        if quota is None or quota == (there or 0):
            return
        if self._host.quota != "on":
            self._wrong(wanted, "quota", f"{quota}", self._host.quota, folder=self._host.home_base)
            return
        before = str(there) if there else ""
        self.steps.append(Step(Do.QUOTA, wanted.name, size_bytes=quota, before=before))


def linux_group(members: Sequence[str], group: str) -> str | None:
    """The Linux group into which a new member of a group of the rules goes: of its own name, else
    the first that it lists. None where it lists none."""
    listed = [one[1:] for one in members if one.startswith("@")]
    return group if group in listed else (listed[0] if listed else None)


def _group_lines(group: str) -> str:
    plain = checks.new_name(group)
    head = group if plain else '"' + group.replace("\\", "").replace('"', "") + '"'
    return f'[groups.{head}] members = ["@{group if plain else "NAME"}"]'
