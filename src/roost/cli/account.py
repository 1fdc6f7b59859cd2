"""The system user `roost`, as which the server runs, and the folders that it shares with the agent.

The state and runtime folders belong to root and are sticky: the server may keep its own files there
but cannot move the agent's aside.
"""

from __future__ import annotations

import os
import pwd
import shutil
import stat
import subprocess
import sys

from roost.cli.failure import CommandError
from roost.cli.plan import ACCOUNT, Plan

SHARED_MODE = 0o1775
SYSTEM_PATH = "/usr/sbin:/sbin:/usr/bin:/bin"
SYSTEM_TREES = ("/etc", "/usr", "/bin", "/sbin", "/lib", "/lib64", "/boot", "/dev", "/proc", "/sys")
SYSTEM_FOLDERS = (
    "/",
    "/home",
    "/media",
    "/mnt",
    "/opt",
    "/root",
    "/run",
    "/srv",
    "/var",
    "/var/lib",
    "/var/log",
    "/var/spool",
    "/var/cache",
    "/run/lock",
    "/run/systemd",
)


def find() -> pwd.struct_passwd | None:
    try:
        return pwd.getpwnam(ACCOUNT)
    except KeyError:
        return None


def is_system() -> bool:
    """Whether this process is root or the system user, whose paths are the machine's."""
    entry = find()
    return os.geteuid() == 0 or (entry is not None and os.geteuid() == entry.pw_uid)


def useradd_words(root: str = "/") -> list[str]:
    words = ["useradd", "--system", "--user-group", "--no-create-home"]
    if root != "/":
        words += ["--root", root]
    return [*words, "--home-dir", "/var/lib/roost", "--shell", "/usr/sbin/nologin", ACCOUNT]


def make() -> pwd.struct_passwd:
    """The account, made where it is missing. Raises CommandError."""
    entry = find()
    if entry is not None:
        return entry
    program = shutil.which("useradd", path=SYSTEM_PATH)
    if program is None:
        raise CommandError("no_useradd")
    done = subprocess.run(
        [program, *useradd_words()[1:]], check=False, capture_output=True, text=True
    )
    entry = find()
    if entry is None:
        raise CommandError("useradd_failed", text=done.stderr.strip() or str(done.returncode))
    return entry


def prepare_folders(plan: Plan, account: pwd.struct_passwd | None) -> None:
    """Makes the state and runtime folders. Raises CommandError naming the one that cannot be used.

    As root: root's, group roost, 1775 (a folder like /tmp stays as it is). As a user: 0700.
    """
    for path in dict.fromkeys((plan.state, plan.runtime)):
        try:
            os.makedirs(path, 0o755 if account else 0o700, exist_ok=True)
            if account is not None:
                share(path, account.pw_gid)
        except OSError as error:
            raise CommandError("cannot_write_state", path=path, text=error.strerror) from None


def share(path: str, gid: int) -> None:
    """Lets the server's group keep files in a folder of root's. Raises CommandError for a folder
    that belongs to somebody else or to the system."""
    status = os.lstat(path)
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != 0:
        raise CommandError("folder_not_root", path=path)
    if status.st_mode & 0o1002 == 0o1002:
        return
    top = "/" + os.path.realpath(path).split("/")[1]
    if top in SYSTEM_TREES or os.path.realpath(path) in SYSTEM_FOLDERS:
        raise CommandError("folder_of_system", path=path)
    os.chown(path, 0, gid)
    os.chmod(path, SHARED_MODE)


def check_readable(account: pwd.struct_passwd) -> None:
    """Raises CommandError if the account cannot execute this Python with Roost in it."""
    done = subprocess.run(
        [sys.executable, "-c", "import roost.cli.main"],
        user=account.pw_uid,
        group=account.pw_gid,
        extra_groups=[],
        cwd="/",
        env={"PATH": "/usr/bin:/bin", "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        check=False,
        stdin=subprocess.DEVNULL,
    )
    if done.returncode != 0:
        raise CommandError("python_unreadable", user=account.pw_name, path=sys.prefix)
