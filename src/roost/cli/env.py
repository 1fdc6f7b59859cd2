"""`roost env create|clone|lock|remove`: what a person does to environments of their own, as
themselves and without a daemon. What is shared with a team is in `env_share`."""

from __future__ import annotations

import os
import pwd

from roost.cli.failure import CommandError
from roost.client.errors import NoDaemonError, RoostError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from roost.cli.context import Context
    from roost.machine.environments.place import EnvError, Environment
    from roost.machine.environments.venv import Wanted


def create(context: Context) -> int:
    """Builds an environment of the caller's."""
    from roost.core.environments.sources import SourceKind
    from roost.machine.environments import conda, venv
    from roost.machine.environments.place import EnvError, needed

    name, *requirements = context.given.arguments
    as_person()
    named(name)
    root, who = root_of(context)
    wanted = wanted_of(context, name, requirements)
    by_conda = context.option("conda") or wanted.kind in (SourceKind.CONDA, SourceKind.CONDA_LOCK)
    try:
        if by_conda:
            conda.create(root, wanted, who, tuple(context.option("channel", ())))
        else:
            venv.create(root, wanted, who)
        made = needed(root, name)
    except EnvError as fault:
        raise failed(fault) from fault
    except OSError as error:
        raise CommandError("env_os", path=str(error.filename), text=error.strerror) from error
    return made_told(context, made, "env_created")


def wanted_of(context: Context, name: str, requirements: list[str]) -> Wanted:
    """What the words and the file ask for. Raises CommandError."""
    from roost.core.environments.sources import MAX_SOURCE_BYTES, SourceError, kind_of
    from roost.machine.environments.venv import Wanted

    path = context.option("from")
    python = context.option("python", "")
    if path is None:
        return Wanted(name, python=python, requirements=tuple(requirements))
    path = os.path.abspath(path)
    with open(path, "rb") as file:
        data = file.read(MAX_SOURCE_BYTES + 1)
    if len(data) > MAX_SOURCE_BYTES:
        raise CommandError("env_source_too_large", path=path, limit=MAX_SOURCE_BYTES)
    text = data.decode("utf-8", "surrogateescape")
    try:
        kind = kind_of(path, text)
    except SourceError as error:
        raise CommandError("env_" + error.code, 2, **error.numbers) from error
    return Wanted(name, python, path, kind, text, tuple(requirements))


def clone(context: Context) -> int:
    """Another one like it: hard links to one's own files; to somebody's shared ones reflinks or
    symbolic links, kept by the daemon for as long as the clone is there."""
    from roost.cli.env_share import held
    from roost.machine.environments import cloning
    from roost.machine.environments.place import EnvError, needed

    source, name = context.given.arguments
    as_person()
    named(name)
    root, who = root_of(context)
    old = found(context, source)
    try:
        if old.owner:
            with held(context, old, name):
                cloning.clone(old, root, name, who)
        else:
            cloning.clone(old, root, name, who)
        made = needed(root, name)
    except EnvError as fault:
        raise failed(fault) from fault
    return made_told(context, made, "env_cloned")


def lock(context: Context) -> int:
    """Exact versions with hashes: of what is installed now, or as it was made with --made."""
    from roost.machine.environments import cloning
    from roost.machine.environments.place import EnvError

    (name,) = context.given.arguments
    target = context.option("output")
    environment = found(context, name)
    try:
        text = cloning.lock_of(environment, os.getcwd())
    except EnvError as fault:
        raise failed(fault) from fault
    if target is not None:
        with open(target, "w", encoding="utf-8") as file:
            file.write(text)
    if context.json:
        context.out_json({"environment": environment.reference, "lock": text})
    elif target is None:
        context.out(text.removesuffix("\n"))
    else:
        context.out(context.say("cli_env.locked", path=target, name=name))
    return 0


def remove(context: Context) -> int:
    """Takes environments of the caller's away; not one that a job of theirs waits for or uses."""
    from roost.cli.env_share import let_go
    from roost.machine.environments import links
    from roost.machine.environments.place import EnvError

    root, who = root_of(context)
    names = context.given.arguments
    for name in names:
        named(name)
        jobs = [] if context.option("yes") else jobs_with(context, who, name)
        if jobs:
            listed = ", ".join(map(str, jobs[:10]))
            raise CommandError("env_in_use", name=name, jobs=listed)
        try:
            links.remove(root, name)
        except EnvError as fault:
            raise failed(fault) from fault
        let_go(context, name)
        if not context.json:
            context.out(context.say("cli_env.removed", name=name))
    if context.json:
        context.out_json({"removed": names})
    return 0


# -- shared by the other commands of `env` and by `roost run --env` -------------------------------


def as_person() -> None:
    """Installing runs code of packages: never root's doing. Raises CommandError."""
    if os.geteuid() == 0:
        raise CommandError("env_not_as_root")


def named(name: str) -> None:
    from roost.core.environments.names import MAX_NAME, is_name

    if not is_name(name):
        raise CommandError("env_bad_name", 2, name=name, limit=MAX_NAME)


def root_of(context: Context) -> tuple[str, str]:
    """The folder of the caller's environments, by the rules where a daemon tells them, and the
    caller's name."""
    from roost.machine.environments.place import own_root

    try:
        entry = pwd.getpwuid(os.geteuid())
        user, home = entry.pw_name, entry.pw_dir
    except KeyError:
        user, home = str(os.geteuid()), os.path.expanduser("~")
    return own_root(home, user, shared(context)["directory"]), user


def shared(context: Context) -> Any:
    """The daemon's answer about environments; none are shared where no daemon is."""
    try:
        return context.client().environments()
    except NoDaemonError:
        return {"directory": "", "environments": []}
    except RoostError as error:
        if error.status != 404:  # a daemon that knows no environments yet
            raise
        return {"directory": "", "environments": []}


def found(context: Context, reference: str) -> Environment:
    """The caller's own by its name, a shared one as OWNER/NAME. Raises CommandError."""
    from roost.core.environments.names import MAX_NAME, split
    from roost.machine.environments.place import EnvError, needed

    parts = split(reference)
    if parts is None:
        raise CommandError("env_bad_name", 2, name=reference, limit=MAX_NAME)
    owner, name = parts
    if owner:
        from roost.cli.env_share import of_team

        for one in of_team(shared(context)):
            if (one.owner, one.name) == (owner, name):
                return one
        raise CommandError("env_not_shared", name=reference)
    root, _ = root_of(context)
    try:
        return needed(root, name)
    except EnvError as fault:
        raise failed(fault) from fault


def jobs_with(context: Context, user: str, name: str) -> list[int]:
    """The person's jobs that are not over and use that environment; none where no daemon is."""
    try:
        jobs = context.client().jobs(user=user)["jobs"]
    except RoostError:
        return []
    return [job["job"] for job in jobs if job.get("env") == name and not job.get("end_time")]


def failed(fault: EnvError) -> CommandError:
    return CommandError("env_" + fault.code, **fault.numbers)


def made_told(context: Context, made: Environment, message: str) -> int:
    from roost.cli.env_shown import as_json, facts

    if context.json:
        context.out_json({"environment": as_json(made)})
        return 0
    context.out(context.say("cli_env." + message, name=made.name, path=made.path))
    for label, text in facts(context, as_json(made)):
        context.out(f"  {label}  {text}")
    return 0
