"""What the server itself adds to a look at the machine: its own files, and the commands of jobs.

It has no rights to look at anything else, and changes nothing.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from roost.core.audit.facts import Facts, FileMode, Secret
from roost.core.audit.secrets import secret_in
from roost.server.intents import Person
from roost.store.records import JobRecord


def with_jobs(facts: Facts, jobs: Iterable[JobRecord], person: Person) -> Facts:
    """The facts with what looks like a secret in a live job's command: the person's own, and for an
    operator everybody's."""
    if facts.command_secrets is None:
        return facts
    found = []
    for job in jobs:
        secret = secret_in(job.command) if person.operator or job.uid == person.uid else None
        if secret is not None:
            kind, shown = secret
            found.append(Secret("job", str(job.id), job.user, kind, shown))
    return replace(facts, command_secrets=(*facts.command_secrets, *found))


def with_own_files(facts: Facts, rules: str, state: Path | None, secrets: Iterable[str]) -> Facts:
    """The facts with the modes of the server's own files; of those that it cannot see, nothing."""
    if facts.roost_files is None:
        return facts
    kinds = {rules: "file", **dict.fromkeys(secrets, "secret")}
    if state is not None:
        kinds[str(state)] = "folder"
        kinds |= {str(path): "secret" for path in sorted(state.glob("*.db"))}
    found = []
    for path, kind in kinds.items():
        try:
            about = os.stat(path)
        except OSError:
            continue  # not there yet, or not for the server to see
        mode, uid = stat.S_IMODE(about.st_mode), about.st_uid
        found.append(FileMode(os.fsencode(path), kind, mode, uid, _group(about.st_gid)))
    return replace(facts, roost_files=(*facts.roost_files, *found))


def _group(gid: int) -> str:
    import grp

    try:
        return grp.getgrgid(gid).gr_name
    except KeyError:
        return str(gid)
