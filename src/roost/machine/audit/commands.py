"""Command lines that hold a secret: of processes, and of tables of cron. What is found is masked
here already; no secret leaves this process."""

from __future__ import annotations

import os
import re

from roost.core.audit.facts import Secret
from roost.core.audit.secrets import secret_in
from roost.core.text.printable import printable
from roost.machine.audit.tree import Tree

MOST_BYTES = 256 * 1024
MOST_FOUND = 500
TABLES = "/var/spool/cron/crontabs", "/var/spool/cron"
_ENTRY = re.compile(r"\s*(?:@\w+|(?:\S+\s+){4}\S+)\s+(.*)")


def command_secrets(tree: Tree, uid: int | None) -> tuple[Secret, ...]:
    """Of everybody, or of what that account runs."""
    found = [*_processes(tree, uid)]
    if uid is None:
        found += _crontabs(tree)
    return tuple(found[:MOST_FOUND])


def _processes(tree: Tree, uid: int | None) -> list[Secret]:
    found = []
    for entry in sorted((n for n in tree.names("/proc") if n.isdigit()), key=int):
        try:
            owner = os.stat(tree.path(f"/proc/{entry}")).st_uid
            if uid not in (None, owner):
                continue
            with open(tree.path(f"/proc/{entry}/cmdline"), "rb") as file:
                raw = file.read(MOST_BYTES)
        except OSError:
            continue  # it has ended, or is hidden from us
        secret = secret_in(raw.rstrip(b"\0").split(b"\0"))
        if secret is not None:
            kind, shown = secret
            found.append(Secret("process", entry, tree.user_name(owner), kind, shown))
    return found


def _crontabs(tree: Tree) -> list[Secret]:
    found = []
    tables = [
        ("/etc/crontab", "root"),
        *((f"/etc/cron.d/{n}", "root") for n in tree.names("/etc/cron.d")),
    ]
    for folder in TABLES:
        tables += [(f"{folder}/{name}", name) for name in tree.names(folder)]
    for path, user in tables:
        try:
            text = tree.text(path)
        except OSError:
            continue  # a folder, or not to be read
        for number, line in enumerate((text or "").splitlines(), 1):
            entry = _ENTRY.match(line)
            if line.lstrip().startswith("#") or entry is None:
                continue
            words = entry[1].encode("utf-8", "surrogateescape").split()
            if path.startswith("/etc/"):  # as whom it runs comes before the command
                user, words = printable(words[0]) if words else user, words[1:]
            secret = secret_in(words)
            if secret is not None:
                kind, shown = secret
                where = printable(f"{path}:{number}".encode("utf-8", "surrogateescape"))
                found.append(Secret("cron", where, user, kind, shown))
    return found
