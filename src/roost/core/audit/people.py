"""Judges what belongs to people: homes, keys, groups as good as root, sudo, secrets, folders."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable, Iterator

from roost.core.audit.facts import FileMode, Home, KeyFile, Member, Secret, Shared, Sudo, SudoRule
from roost.core.audit.model import Finding, SetMode, Severity
from roost.core.text.printable import printable

OTHERS, GROUP = 0o007, 0o070
WRITE, READ, PASS = 0o022, 0o044, 0o011
# Groups whose members can make themselves root, or read what only root may.
ROOT_GROUPS = (
    "docker", "podman", "lxd", "incus", "incus-admin", "libvirt", "disk", "kmem", "shadow",
)  # fmt: skip
# Programs that run others, or write any file, for whoever may start them as root.
_SHELLS = (
    "apt apt-get awk bash busybox chmod chown chroot cp crontab dash dd docker dpkg ed emacs env "
    "find gdb git ip journalctl ksh less ln lua make man mount mv nano nice node nsenter perl php "
    "pip pip3 podman python python3 rsync ruby screen sed service sh snap ssh strace su sudoedit "
    "systemctl systemd-run tar tcpdump tee timeout tmux unshare vi vim watch wget xargs yum dnf zip"
    " zsh"
)
SHELLS = frozenset(_SHELLS.split())


def mode_text(mode: int) -> str:
    return f"{mode & 0o7777:04o}"


def path_numbers(path: bytes) -> dict[str, str]:
    """`path` to be read, `word` to be copied into a shell: people choose what their files are
    called."""
    shown = printable(path)
    if shown.encode() == path:
        return {"path": shown, "word": shlex.quote(shown)}
    inner = "".join(chr(b) if 32 <= b < 127 and b not in b"\\'" else f"\\x{b:02x}" for b in path)
    return {"path": shown, "word": f"$'{inner}'"}


def homes(found: Iterable[Home]) -> Iterator[Finding]:
    for home in found:
        numbers = {"user": home.user, "mode": mode_text(home.mode), **path_numbers(home.path)}
        if home.state == "link":
            yield Finding("homes", "home_link", Severity.NOTE, home.user, numbers, home.user)
        elif home.state == "foreign":
            numbers["owner"] = str(home.owner_uid)
            yield Finding("homes", "home_foreign", Severity.MEDIUM, home.user, numbers, home.user)
        elif home.state == "there":
            yield from _home(home, numbers)


def _home(home: Home, numbers: dict[str, str]) -> Iterator[Finding]:
    seen = OTHERS | (GROUP if home.shared_group else 0)
    open_to = home.mode & seen
    if not open_to:
        return
    if open_to & WRITE:
        code, severity = "home_writable", Severity.HIGH
    elif open_to & READ:
        code, severity = "home_readable", Severity.MEDIUM
    else:
        code, severity = "home_passable", Severity.NOTE
    numbers["after"] = mode_text(home.mode & ~seen)
    change = SetMode(home.path, home.uid, home.mode, clear=seen, folder=True)
    yield Finding("homes", code, severity, home.user, numbers, home.user, change)


def ssh_keys(found: Iterable[KeyFile]) -> Iterator[Finding]:
    for key in found:
        numbers = {"user": key.user, "mode": mode_text(key.mode), **path_numbers(key.path)}
        path = numbers["path"]
        if key.owner_uid not in (0, key.uid):
            numbers["owner"] = str(key.owner_uid)
            yield Finding("ssh-keys", "key_foreign", Severity.HIGH, path, numbers, key.user)
            continue
        seen = OTHERS | (GROUP if key.shared_group else 0)
        bad = key.mode & seen & (READ | WRITE if key.kind == "private" else WRITE)
        if not bad:
            continue
        clear = OTHERS | GROUP if key.kind == "private" else WRITE
        numbers["after"] = mode_text(key.mode & ~clear)
        severity = Severity.HIGH if key.reachable else Severity.LOW
        code = "key_private" if key.kind == "private" else "key_authorized"
        code += "" if key.reachable else "_within"
        change = None
        if key.owner_uid == key.uid:
            folder = key.kind == "folder"
            change = SetMode(key.path, key.uid, key.mode, clear=clear, folder=folder)
        yield Finding("ssh-keys", code, severity, path, numbers, key.user, change)


def root_groups(found: Iterable[Member]) -> Iterator[Finding]:
    for member in found:
        severity = Severity.NOTE if member.admin else Severity.HIGH
        code = "group_admin" if member.admin else f"group_{member.group.replace('-', '_')}"
        numbers = {"user": member.user, "group": member.group}
        subject = f"{member.group}:{member.user}"
        yield Finding("root-groups", code, severity, subject, numbers, member.user)


def sudo(found: Sudo) -> Iterator[Finding]:
    for file in found.files:
        if file.mode & WRITE or file.uid != 0:
            numbers = {"mode": mode_text(file.mode), "owner": str(file.uid)}
            numbers |= path_numbers(file.path)
            path = numbers["path"]
            change = SetMode(file.path, 0, file.mode, clear=WRITE) if file.uid == 0 else None
            yield Finding("sudo", "sudoers_writable", Severity.HIGH, path, numbers, "", change)
    for rule in found.rules:
        yield from _rule(rule)
    for mistake in found.mistakes:
        numbers = {"line": mistake}
        yield Finding("sudo", "sudoers_unread", Severity.NOTE, mistake, numbers)


def _rule(rule: SudoRule) -> Iterator[Finding]:
    if rule.who in ("root", "#0") or not (rule.people or rule.who == "ALL"):
        return
    people = "ALL" if rule.who == "ALL" else ", ".join(rule.people)
    where = f"{rule.file}:{rule.line}"
    numbers = {
        "who": rule.who,
        "people": people,
        "commands": ", ".join(rule.commands),
        "where": where,
        "file": rule.file,
    }
    everything = "ALL" in rule.commands
    forbidden = [word for word in rule.commands if word.startswith("!")]
    code, severity = None, Severity.NOTE
    if everything and forbidden:
        code, severity = "sudo_forbidden", Severity.MEDIUM
    elif everything and rule.nopasswd:
        code, severity = "sudo_all_nopasswd", Severity.MEDIUM
    elif everything:
        code = "sudo_all"
    elif rule.nopasswd and any(_gives_shell(word) for word in rule.commands):
        code, severity = "sudo_shell", Severity.MEDIUM
    elif rule.nopasswd:
        code = "sudo_nopasswd"
    if code is None:
        return
    if rule.who == "ALL":
        severity = Severity.HIGH if everything else severity
    yield Finding("sudo", code, severity, f"{rule.who}@{where}", numbers)


def _gives_shell(command: str) -> bool:
    word = command.split()[0] if command.split() else ""
    name = os.path.basename(word)
    return "*" in word or word.endswith("/") or name.rstrip("0123456789.") in SHELLS


def command_secrets(found: Iterable[Secret]) -> Iterator[Finding]:
    """Told to its owner and operators; the secret itself is not in the facts."""
    for secret in found:
        numbers = {
            "user": secret.user or "?",
            "which": secret.which,
            "kind": secret.kind,
            "shown": secret.shown,
        }
        subject = f"{secret.where}:{secret.which}"
        code = f"secret_{secret.where}"
        yield Finding("command-secrets", code, Severity.MEDIUM, subject, numbers, secret.user)


def shared_folders(found: Iterable[Shared]) -> Iterator[Finding]:
    for one in found:
        numbers = {"mode": mode_text(one.mode), "user": one.user, **path_numbers(one.path)}
        path = numbers["path"]
        if one.kind == "folder":
            code, severity = "shared_folder", Severity.MEDIUM
            change = SetMode(one.path, one.uid, one.mode, add=0o1000, folder=True)
        else:
            code, severity = "shared_file", Severity.LOW
            change = SetMode(one.path, one.uid, one.mode, clear=0o002)
        numbers["after"] = mode_text(change.after)
        yield Finding("shared-folders", code, severity, path, numbers, one.user, change)


def mode_finding(
    check: str, code: str, severity: Severity, file: FileMode, change: SetMode | None = None
) -> Finding:
    """A finding about the mode of one file."""
    after = change.after if change is not None else file.mode
    numbers = {
        **path_numbers(file.path),
        "mode": mode_text(file.mode),
        "after": mode_text(after),
        "group": file.group,
        "owner": str(file.uid),
    }
    return Finding(check, code, severity, numbers["path"], numbers, "", change)
