"""`roost install` and `uninstall`: a list of steps, shown with --dry-run, then done in order.

Steps that are done already are left alone, so that it can be run any number of times. A rules file
that is there is the team's and is never touched.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass

from roost.cli import account, units
from roost.cli.complete import FILES, script
from roost.cli.failure import CommandError
from roost.cli.plan import ACCOUNT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from roost.cli.context import Context

SYSTEMD = "/run/systemd/system"
UNIT_FOLDER = "/etc/systemd/system"


@dataclass(frozen=True, slots=True)
class File:
    """`keep`: written only where there is none."""

    path: str
    text: str
    keep: bool = False


def files(python: str) -> list[File]:
    """Every file that an installed Roost has beside its program."""
    from roost.core.rules.example import EXAMPLE

    found = [File(f"{UNIT_FOLDER}/{name}", units.unit(name, python)) for name in units.UNITS]
    found += [
        File("/etc/sysusers.d/roost.conf", units.SYSUSERS),
        File("/etc/tmpfiles.d/roost.conf", units.TMPFILES),
        File(units.RULES, EXAMPLE, keep=True),
    ]
    found += [File(f"/usr/local/{where}", script(shell)) for shell, where in FILES.items()]
    return found


def pam_files(root: str) -> list[File]:
    """The PAM service for signing in, in the words of the system below `root`."""
    for marker, text in units.PAM_SERVICES.items():
        if os.path.exists(below(root, f"{units.PAM_FOLDER}/{marker}")):
            return [File(units.PAM, units.PAM_HEAD + text, keep=True)]
    return []


def install(context: Context) -> int:
    root, dry = context.option("root", "/"), bool(context.option("dry_run"))
    must_be_root(dry, root)
    here = root == "/"
    if here and account.find() is None:
        context.out(context.say("install_user"))
        if not dry:
            account.make()
    changed = False
    for file in files(sys.executable):
        changed |= write(context, root, file, dry)
    for file in pam_files(root):
        write(context, root, file, dry)
    if here:
        entry = account.find()
        for path in (units.STATE, units.RUNTIME):
            if not os.path.isdir(path):
                context.out(context.say("install_directory", path=path))
            if not dry and entry is not None:
                os.makedirs(path, 0o755, exist_ok=True)
                account.share(path, entry.pw_gid)
        if not dry and entry is not None:
            account.check_readable(entry)
        start(context, dry, changed)
    context.out(context.say("install_dry" if dry else "install_done"))
    return 0


def start(context: Context, dry: bool, changed: bool) -> None:
    if not os.path.isdir(SYSTEMD):
        context.out(context.say("install_no_systemd"))
        return
    run(context, ["systemctl", "daemon-reload"], dry)
    run(context, ["systemctl", "enable", "--now", *units.UNITS], dry)
    if changed:  # units that ran already run the old program; jobs go on
        run(context, ["systemctl", "restart", "roost-agent.service", "roost-server.service"], dry)


def uninstall(context: Context) -> int:
    root, dry = context.option("root", "/"), bool(context.option("dry_run"))
    purge = bool(context.option("purge"))
    must_be_root(dry, root)
    if root == "/" and os.path.isdir(SYSTEMD):
        jobs, *others = units.UNITS
        present = [name for name in others if os.path.exists(f"{UNIT_FOLDER}/{name}")]
        if present:
            run(context, ["systemctl", "disable", "--now", *reversed(present)], dry)
        if os.path.exists(f"{UNIT_FOLDER}/{jobs}"):
            if purge:  # else jobs that still run go on to their end
                run(context, ["systemctl", "kill", "--signal=SIGKILL", jobs], dry, must=False)
            run(context, ["systemctl", "disable", "--now", jobs], dry)
    for file in files(sys.executable):
        if not file.keep or purge:
            remove(context, below(root, file.path), dry)
    remove(context, below(root, units.PAM), dry)
    kept = [below(root, path) for path in (units.RULES, units.STATE)]
    kept = [path for path in kept if os.path.exists(path)]
    if purge:
        for path in (*kept, below(root, os.path.dirname(units.RULES)), below(root, units.RUNTIME)):
            remove(context, path, dry)
        if root == "/" and account.find() is not None:
            run(context, ["userdel", ACCOUNT], dry)
    if root == "/" and os.path.isdir(SYSTEMD):
        run(context, ["systemctl", "daemon-reload"], dry)
    if kept and not purge:
        context.out(context.say("uninstall_kept", paths=", ".join(kept)))
    context.out(context.say("install_dry" if dry else "uninstall_done"))
    return 0


def must_be_root(dry: bool, root: str) -> None:
    if not dry and root == "/" and os.geteuid() != 0:
        raise CommandError("needs_root", 4)


def below(root: str, path: str) -> str:
    return path if root == "/" else os.path.join(root, path.lstrip("/"))


def write(context: Context, root: str, file: File, dry: bool) -> bool:
    """Writes one file whole or not at all; True if it changed."""
    path = below(root, file.path)
    try:
        with open(path, encoding="utf-8") as old:
            same = old.read() == file.text
    except FileNotFoundError:
        same = None
    if same or (same is False and file.keep):
        context.out(context.say("install_same" if same else "install_keep", path=path))
        return False
    context.out(context.say("install_write", path=path))
    if dry:
        for line in file.text.rstrip("\n").split("\n"):
            context.out(f"    {line}".rstrip())
        return False
    os.makedirs(os.path.dirname(path), 0o755, exist_ok=True)
    descriptor, temporary = tempfile.mkstemp(dir=os.path.dirname(path), prefix=".roost-")
    try:
        with open(descriptor, "w", encoding="utf-8") as new:
            new.write(file.text)
            new.flush()
            os.fsync(new.fileno())
        os.chmod(temporary, 0o644)
        os.rename(temporary, path)
    except OSError:
        os.unlink(temporary)
        raise
    return True


def remove(context: Context, path: str, dry: bool) -> None:
    if not os.path.lexists(path):
        return
    context.out(context.say("install_remove", path=path))
    if dry:
        return
    if os.path.isdir(path) and not os.path.islink(path):
        shutil.rmtree(path)
    else:
        os.unlink(path)


def run(context: Context, words: list[str], dry: bool, must: bool = True) -> None:
    """Runs a program of the system, wherever the caller's PATH leads.

    Raises CommandError with what it said if it `must` succeed.
    """
    context.out(context.say("install_command", command=" ".join(words)))
    if dry:
        return
    program = shutil.which(words[0], path=account.SYSTEM_PATH) or words[0]
    done = subprocess.run([program, *words[1:]], capture_output=True, text=True, check=False)
    if must and done.returncode != 0:
        text = done.stderr.strip() or str(done.returncode)
        raise CommandError("command_failed", command=" ".join(words), text=text)
