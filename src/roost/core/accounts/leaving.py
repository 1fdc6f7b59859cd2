"""Disabling, enabling, removing and restoring accounts: the steps, or why there are none. Pure.

Nothing is deleted but by `remove`, and there only after it was packed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from roost.core.accounts.checks import known_name, shown
from roost.core.accounts.model import (
    AccountSeen,
    Archive,
    Do,
    Home,
    HostSeen,
    Plan,
    Problem,
    Remark,
    Rights,
    Step,
)

NOTHING = Rights()


def plan_leaving(
    action: str,
    names: Sequence[str],
    seen: Mapping[str, AccountSeen],
    host: HostSeen,
    rights: Mapping[str, Rights],
    end_jobs: bool = False,
) -> Plan:
    """`action`: "disable", "enable", "remove" or "restore"."""
    parts = [
        _one(action, name, seen.get(name), host, rights.get(name, NOTHING), end_jobs)
        for name in dict.fromkeys(names)
    ]
    problems = tuple(problem for part in parts for problem in part.problems)
    if problems:
        return Plan(problems=problems)
    return Plan(
        tuple(step for part in parts for step in part.steps),
        tuple(remark for part in parts for remark in part.remarks),
    )


def _one(
    action: str,
    name: str,
    account: AccountSeen | None,
    host: HostSeen,
    rights: Rights,
    end_jobs: bool,
) -> Plan:
    if not known_name(name):
        return _no("name_wrong", name)
    archives = [one for one in host.archives if one.name == name]
    if action == "restore":
        return _restore(name, account, archives, host)
    if account is None:
        if action == "remove" and archives:
            return Plan(remarks=(Remark("is_removed", name),))
        return _no("no_account", name)
    if account.system:
        return _no("system_account", name, uid=str(account.uid))
    if account.powerful:
        return _no("powerful_account", name, group=account.powerful)
    if not account.local:
        return _no("directory_leaves", name, uid=str(account.uid))
    make: Callable[..., Plan] = {"disable": _disable, "enable": _enable, "remove": _remove}[action]
    return make(account, rights, end_jobs, host)


def _no(code: str, name: str, **numbers: str) -> Plan:
    return Plan(problems=(Problem(code, shown(name), "name", shown(name), None, numbers),))


def _out(account: AccountSeen, rights: Rights) -> tuple[Step, ...]:
    ways = rights.sessions, rights.tokens, rights.feeds
    return (Step(Do.PUT_OUT, account.name, account.uid, numbers=ways),) if any(ways) else ()


def _disable(account: AccountSeen, rights: Rights, end_jobs: bool, _host: HostSeen) -> Plan:
    name, uid = account.name, account.uid
    steps: list[Step] = []
    waiting = () if end_jobs else rights.waiting
    if not account.barred or waiting:
        steps.append(Step(Do.DISABLE, name, uid, numbers=waiting))
    steps += _out(account, rights)
    if waiting:
        steps.append(Step(Do.HOLD, name, uid, numbers=waiting))
    ended = (*rights.running, *rights.waiting, *rights.held) if end_jobs else ()
    if ended:
        steps.append(Step(Do.END, name, uid, numbers=tuple(sorted(ended))))
    remarks = []
    if rights.running and not end_jobs:
        remarks.append(Remark("jobs_go_on", name, {"jobs": _list(rights.running)}))
    if rights.bookings:
        remarks.append(Remark("bookings_stay", name, {"bookings": _list(rights.bookings)}))
    if account.processes:
        processes = ", ".join(account.processes)
        remarks.append(Remark("processes_go_on", name, {"processes": processes}))
    return Plan(tuple(steps), tuple(remarks))


def _enable(account: AccountSeen, rights: Rights, _end: bool, _host: HostSeen) -> Plan:
    name, uid = account.name, account.uid
    if not account.barred:
        if account.disabled:
            return _no("disabled_elsewhere", name)
        return Plan()
    steps = [Step(Do.ENABLE, name, uid)]
    released = tuple(sorted(set(account.held_jobs) & set(rights.held)))
    if released:
        steps.append(Step(Do.RELEASE, name, uid, numbers=released))
    return Plan(tuple(steps))


def _remove(account: AccountSeen, rights: Rights, end_jobs: bool, host: HostSeen) -> Plan:
    name, uid = account.name, account.uid
    jobs = tuple(sorted((*rights.waiting, *rights.held, *rights.running)))
    if jobs and not end_jobs:
        return _no("has_jobs", name, jobs=_list(jobs))
    if account.processes:
        return _no("has_processes", name, processes=", ".join(account.processes))
    if account.home_state in (Home.LINK, Home.OTHERS):
        return _no(f"remove_{account.home_state.value}", name, home=account.home)
    steps = [] if account.barred else [Step(Do.DISABLE, name, uid)]
    steps += _out(account, rights)
    if jobs:
        steps.append(Step(Do.END, name, uid, numbers=jobs))
    if rights.bookings:
        steps.append(Step(Do.UNBOOK, name, uid, numbers=rights.bookings))
    home = account.home if account.home_state is not Home.ABSENT else ""
    steps.append(Step(Do.ARCHIVE, name, uid, home=home, text=host.archive_folder))
    steps.append(Step(Do.REMOVE, name, uid, home=home))
    return Plan(tuple(steps), (Remark("files_elsewhere", name, {"uid": str(uid)}),))


def _restore(
    name: str, account: AccountSeen | None, archives: Sequence[Archive], host: HostSeen
) -> Plan:
    if account is not None:
        return _no("restore_there", name, uid=str(account.uid))
    if not archives:
        return _no("no_archive", name, folder=host.archive_folder)
    newest = max(archives, key=lambda one: one.at)
    if newest.uid in host.uids_taken:
        return _no("uid_taken", name, uid=str(newest.uid), path=newest.path)
    if name in host.taken:
        return _no("home_taken", name, home=newest.home, owner=host.taken[name])
    step = Step(
        Do.RESTORE, name, newest.uid, text=newest.path, home=newest.home,
        size_bytes=newest.size_bytes,
    )  # fmt: skip
    return Plan((step,))


def _list(numbers: Sequence[int]) -> str:
    return ", ".join(map(str, numbers[:20])) + (" …" if len(numbers) > 20 else "")
