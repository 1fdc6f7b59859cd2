"""Every check there is, in one table, and the findings of a look, what is worst first."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

from roost.core.audit import host, people
from roost.core.audit.facts import Facts
from roost.core.audit.model import Finding, Severity


@dataclass(frozen=True, slots=True)
class Check:
    """`own`: a member may have it made for what is theirs. `fixes`: what it finds can be mended.
    `judge`: findings of facts and enforcement; nothing where it was not made."""

    name: str
    judge: Callable[[Facts, str], Iterable[Finding]]
    own: bool = False
    fixes: bool = False


def _homes(facts: Facts, _: str) -> Iterable[Finding]:
    return people.homes(facts.homes or ())


def _ssh_keys(facts: Facts, _: str) -> Iterable[Finding]:
    return people.ssh_keys(facts.ssh_keys or ())


def _root_groups(facts: Facts, _: str) -> Iterable[Finding]:
    return people.root_groups(facts.root_groups or ())


def _sudo(facts: Facts, _: str) -> Iterable[Finding]:
    return people.sudo(facts.sudo) if facts.sudo is not None else ()


def _gpu_devices(facts: Facts, enforcement: str) -> Iterable[Finding]:
    found = facts.gpu_devices
    return host.gpu_devices(found, enforcement) if found is not None else ()


def _container_toolkit(facts: Facts, _: str) -> Iterable[Finding]:
    return host.container_toolkit(facts.container_toolkit or ())


def _container_engine(facts: Facts, _: str) -> Iterable[Finding]:
    found = facts.container_engine
    return host.container_engine(found) if found is not None else ()


def _shared_folders(facts: Facts, _: str) -> Iterable[Finding]:
    return people.shared_folders(facts.shared_folders or ())


def _command_secrets(facts: Facts, _: str) -> Iterable[Finding]:
    return people.command_secrets(facts.command_secrets or ())


def _processes_visible(facts: Facts, _: str) -> Iterable[Finding]:
    return host.hidepid(facts.hidepid) if facts.hidepid is not None else ()


def _sshd(facts: Facts, _: str) -> Iterable[Finding]:
    return host.sshd(facts.sshd) if facts.sshd is not None else ()


def _driver_updates(facts: Facts, _: str) -> Iterable[Finding]:
    return host.driver_updates(facts.driver_updates or ())


def _core_dumps(facts: Facts, _: str) -> Iterable[Finding]:
    return host.core_dumps(facts.kernel or {}, facts.core_folder)


def _ptrace(facts: Facts, _: str) -> Iterable[Finding]:
    return host.ptrace(facts.kernel or {})


def _kernel_leaks(facts: Facts, _: str) -> Iterable[Finding]:
    return host.kernel_leaks(facts.kernel or {})


def _tmp(facts: Facts, _: str) -> Iterable[Finding]:
    return host.tmp(facts.tmp or ())


def _nfs_exports(facts: Facts, _: str) -> Iterable[Finding]:
    return host.nfs_exports(facts.nfs_exports or ())


def _roost_files(facts: Facts, _: str) -> Iterable[Finding]:
    return host.roost_files(facts.roost_files or ())


CHECKS = {
    check.name: check
    for check in (
        Check("homes", _homes, own=True, fixes=True),
        Check("ssh-keys", _ssh_keys, own=True, fixes=True),
        Check("root-groups", _root_groups),
        Check("sudo", _sudo, fixes=True),
        Check("gpu-devices", _gpu_devices, fixes=True),
        Check("container-toolkit", _container_toolkit, fixes=True),
        Check("container-engine", _container_engine, fixes=True),
        Check("shared-folders", _shared_folders, fixes=True),
        Check("command-secrets", _command_secrets, own=True),
        Check("processes-visible", _processes_visible),
        Check("sshd", _sshd, fixes=True),
        Check("driver-updates", _driver_updates, fixes=True),
        Check("core-dumps", _core_dumps, fixes=True),
        Check("ptrace", _ptrace),
        Check("kernel-leaks", _kernel_leaks, fixes=True),
        Check("tmp", _tmp, fixes=True),
        Check("nfs-exports", _nfs_exports),
        Check("roost-files", _roost_files),
    )
}


def findings(
    facts: Facts, checks: Iterable[str] = (), enforcement: str = "observe"
) -> list[Finding]:
    """Of these checks (none: all), what is worst first, and by check and subject."""
    wanted = tuple(checks) or tuple(CHECKS)
    found = [
        one for name in CHECKS if name in wanted for one in _of(CHECKS[name], facts, enforcement)
    ]
    severities, names = list(Severity), list(CHECKS)
    return sorted(
        found, key=lambda one: (severities.index(one.severity), names.index(one.check), one.subject)
    )


def _of(check: Check, facts: Facts, enforcement: str) -> Iterator[Finding]:
    for finding in check.judge(facts, enforcement):
        yield finding if facts.as_root else replace(finding, change=None)
