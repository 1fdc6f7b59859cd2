"""The closed list of what root does to accounts, a step at a time. Each is checked again here, and
one that is done already is left as it is.

Programs of the system are called by their path, with words and never a shell. For the process of
`account_work`.
"""

from __future__ import annotations

import grp
import os
import pwd
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime

import msgspec

from roost.core.accounts.checks import full_name_right, known_name, new_name
from roost.core.accounts.keys import KeyProblemError, read_key
from roost.core.accounts.model import Archive, Do, Step
from roost.machine import account_archive, account_home, account_look, quota
from roost.machine.account_book import Before, Book, Entry, Packed
from roost.machine.accounts import NOBODY, expired, line_of, uid_min

FOLDERS = ("/usr/sbin", "/usr/bin", "/sbin", "/bin")
ENVIRONMENT = {"PATH": ":".join(FOLDERS), "LC_ALL": "C.UTF-8"}
PROGRAM_S = 120.0
UNPACK_S = 86400.0
# Where mail and crontabs of an account lie: they go into its archive, and then with it.
OTHERS = ("/var/mail", "/var/spool/mail", "/var/spool/cron/crontabs", "/var/spool/cron")


class StepError(Exception):
    """Not done; the text says why, in English."""


class Steps:
    """One run. What was packed in it may be removed in it. `bases`: the cgroups of Roost's jobs."""

    def __init__(self, book: Book, bases: Sequence[str]) -> None:
        self._book = book
        self._bases = bases
        self._powers = account_look.Powers()
        self._packed: dict[str, int] = {}

    def do(self, step: Step) -> None:
        """Raises StepError."""
        work: Mapping[Do, Callable[[Step], None]] = {
            Do.CREATE: self._create,
            Do.GROUP: self._group,
            Do.JOIN: self._join,
            Do.FULL_NAME: self._full_name,
            Do.PRIVATE: self._private,
            Do.KEY: self._key,
            Do.QUOTA: self._quota,
            Do.DISABLE: self._disable,
            Do.ENABLE: self._enable,
            Do.ARCHIVE: self._archive,
            Do.REMOVE: self._remove,
            Do.RESTORE: self._restore,
        }
        found = work.get(step.do)
        if found is None:
            raise StepError(f"the agent does no {step.do.value}")
        try:
            found(step)
        except account_home.HomeError as error:
            raise StepError(f"{error.code} {error.why}".strip()) from error
        except (OSError, RecursionError) as error:
            named = f"{error.filename}: " if isinstance(error, OSError) and error.filename else ""
            raise StepError(f"{named}{getattr(error, 'strerror', None) or error}") from error

    # -- whom it may be about --------------------------------------------------------------------

    def _person(self, step: Step, weak: bool = True, local: bool = True) -> pwd.struct_passwd:
        """The account of a person. `weak`: it must not be able to act as root."""
        entry = account_look.entry_of(step.user) if known_name(step.user) else None
        if entry is None:
            raise StepError(f"there is no account {step.user!r}")
        if account_look.is_system(entry):
            raise StepError(f"{step.user} is an account of the system")
        if step.uid is not None and step.uid != entry.pw_uid:
            raise StepError(f"{step.user} is another account now (uid {entry.pw_uid})")
        power = self._powers.account(entry) if weak else ""
        if power:
            raise StepError(f"{step.user} may act as root ({power})")
        if local and not account_look.in_file(step.user, "/etc/passwd"):
            raise StepError(f"{step.user} is an account of a directory")
        return entry

    # -- making ----------------------------------------------------------------------------------

    def _create(self, step: Step) -> None:
        name, base = step.user, account_look.home_base()
        if not new_name(name) or not full_name_right(step.text):
            raise StepError("no account is made of that name or full name")
        if account_look.entry_of(name) is not None:
            raise StepError(f"there is an account {name} already")
        home = f"{base}/{name}"
        if os.path.lexists(home):
            raise StepError(f"{home} is there already")
        # UMASK makes the home private from its first moment, where no HOME_MODE is set.
        run(
            "useradd", "--create-home", f"--home-dir={home}", f"--shell={account_look.shell()}",
            "--user-group", "-K", "UMASK=077", f"--comment={step.text}", "--", name,
        )  # fmt: skip
        entry = pwd.getpwnam(name)
        self._book.put(Entry(name, entry.pw_uid, made_at=time.time()))
        account_home.make_private(account_look.person_of(entry))

    def _group(self, step: Step) -> None:
        if not new_name(step.group) or step.group in account_look.POWERFUL:
            raise StepError("no group is made of that name")
        if account_look.group(step.group, self._powers) is None:
            run("groupadd", "--", step.group)

    def _join(self, step: Step) -> None:
        entry = self._person(step, weak=False, local=False)
        group = account_look.group(step.group, self._powers) if known_name(step.group) else None
        if group is None:
            raise StepError(f"there is no group {step.group!r}")
        if group.powerful or group.system or not group.local:
            raise StepError(f"nobody is put into the group {group.name} by Roost")
        there = grp.getgrnam(group.name)
        if entry.pw_gid != there.gr_gid and entry.pw_name not in there.gr_mem:
            run("gpasswd", "--add", entry.pw_name, group.name)

    def _full_name(self, step: Step) -> None:
        entry = self._person(step)
        if not full_name_right(step.text):
            raise StepError("an account cannot have that full name")
        others = entry.pw_gecos.partition(",")[1:]
        run("usermod", f"--comment={step.text}{''.join(others)}", "--", step.user)

    def _private(self, step: Step) -> None:
        account_home.make_private(account_look.person_of(self._person(step, weak=False)))

    def _key(self, step: Step) -> None:
        entry = self._person(step)
        try:
            key = read_key(step.text)
        except KeyProblemError as error:
            raise StepError(error.code) from error
        account_home.add_key(account_look.person_of(entry), key)

    def _quota(self, step: Step) -> None:
        entry = self._person(step, weak=False, local=False)
        size = step.size_bytes
        if size is None or not 0 <= size <= 1 << 60:
            raise StepError("that is no size of a quota")
        quota.set_limit(account_look.home_base(), entry.pw_uid, size)

    # -- disabling and enabling ------------------------------------------------------------------

    def _disable(self, step: Step) -> None:
        entry = self._person(step)
        kept = self._book.entry(step.user, entry.pw_uid)
        shadow = line_of(step.user, "/etc/shadow")
        if shadow is None:
            raise StepError(f"{step.user} has no line in /etc/shadow")
        off = expired(shadow)
        before = kept.before if kept.before is not None and off else None
        before = before or Before(shadow[7], shadow[1].startswith("!"))
        jobs = tuple(sorted({*(kept.held_jobs if off else ()), *step.numbers}))
        # Remembered first: whatever ends this now, it is known how it was.
        self._book.put(msgspec.structs.replace(kept, before=before, held_jobs=jobs))
        if not off or not shadow[1].startswith("!"):
            run("usermod", "--lock", "--expiredate=1", "--", step.user)

    def _enable(self, step: Step) -> None:
        entry = self._person(step)
        kept = self._book.entry(step.user, entry.pw_uid)
        if kept.before is None:
            raise StepError(f"{step.user} was not disabled by Roost")
        run("usermod", f"--expiredate={_date(kept.before.expire)}", "--", step.user)
        shadow = line_of(step.user, "/etc/shadow")
        if not kept.before.locked and shadow is not None and shadow[1].startswith("!"):
            run("usermod", "--unlock", "--", step.user)
        self._forget(msgspec.structs.replace(kept, before=None, held_jobs=()))

    def _forget(self, entry: Entry) -> None:
        if entry.made_at:
            self._book.put(entry)
        else:
            self._book.drop(entry.name)

    # -- removing and bringing back --------------------------------------------------------------

    def _quiet(self, step: Step) -> pwd.struct_passwd:
        """The account, when it is disabled and nothing of it runs."""
        entry = self._person(step)
        kept = self._book.entry(step.user, entry.pw_uid)
        disabled = expired(line_of(step.user, "/etc/shadow"))
        if kept.before is None or not disabled:
            raise StepError(f"{step.user} is not disabled")
        busy = account_look.processes((entry.pw_uid,), self._bases).get(entry.pw_uid, [])
        if busy:
            raise StepError(f"{step.user} has processes: {', '.join(busy[:5])}")
        return entry

    def _archive(self, step: Step) -> None:
        entry = self._quiet(step)
        kept = self._book.entry(step.user, entry.pw_uid)
        home = os.path.normpath(entry.pw_dir or "/")
        there = os.path.lexists(home)
        if there and account_look.owner(os.lstat(home).st_uid) != step.user:
            raise StepError(f"{home} is not {step.user}'s")
        before = [one for one in self._book.packed() if one.archive.name == step.user]
        if not there and any(one.archive.uid == entry.pw_uid and one.with_home for one in before):
            self._packed[step.user] = entry.pw_uid  # a removal that was cut off is gone on with
            return
        now = time.time()
        stamp = datetime.fromtimestamp(now, UTC).strftime("%Y%m%dT%H%M%SZ")
        name = f"{step.user}-{entry.pw_uid}-{stamp}"
        path = f"{self._book.archive}/{name}{account_archive.ending()}"
        left_out = account_archive.pack(path, home if there else None, others(step.user))
        size, digest = account_archive.digest(path)
        shadow = line_of(step.user, "/etc/shadow") or []
        if kept.before is not None and len(shadow) > 7:
            unlocked = shadow[1] if kept.before.locked else shadow[1].removeprefix("!")
            shadow[1], shadow[7] = unlocked, kept.before.expire
        groups = account_look.groups_of(entry)
        group = next((group for group, gid in groups if gid == entry.pw_gid), step.user)
        full_name = entry.pw_gecos.split(",", 1)[0]
        self._book.put_packed(
            Packed(
                Archive(step.user, entry.pw_uid, full_name, home, now, path, size, digest),
                entry.pw_gid, group, tuple(one for one, gid in groups if gid != entry.pw_gid),
                entry.pw_shell, tuple(shadow[1:]), kept.made_at, left_out, there,
            )
        )  # fmt: skip
        self._packed[step.user] = entry.pw_uid

    def _remove(self, step: Step) -> None:
        entry = self._quiet(step)
        if self._packed.get(step.user) != entry.pw_uid:
            raise StepError(f"{step.user} was not packed just now")
        home = os.path.normpath(entry.pw_dir or "/")
        account_archive.delete(home, entry.pw_uid)
        run("userdel", "--", step.user)
        for path in others(step.user):
            with suppress(FileNotFoundError):
                os.unlink(path)
        self._book.drop(step.user)

    def _restore(self, step: Step) -> None:
        found = [one for one in self._book.packed() if one.archive.path == step.text]
        if not found or found[0].archive.name != step.user:
            raise StepError("there is no such archive")
        packed, archive = found[0], found[0].archive
        name, uid = archive.name, archive.uid
        if uid < uid_min() or uid in NOBODY or account_look.entry_of(name) is not None:
            raise StepError(f"there is an account {name} already")
        if account_look.owner(uid) != str(uid):
            raise StepError(f"uid {uid} is another account's now")
        if account_archive.digest(archive.path) != (archive.size_bytes, archive.sha256):
            raise StepError(f"{archive.path} is not as it was written: its checksum is another")
        if os.path.lexists(archive.home):
            raise StepError(f"{archive.home} is there already")
        self._own_group(packed)
        run(
            "useradd", f"--uid={uid}", f"--gid={packed.gid}", "--no-create-home",
            f"--home-dir={archive.home}", f"--shell={packed.shell}",
            f"--comment={archive.full_name}", "--", name,
        )  # fmt: skip
        self._book.put(Entry(name, uid, made_at=packed.made_at or time.time()))
        self._home_of(packed)
        for group in packed.groups:
            with suppress(StepError):  # one that is gone, or gives more now, is left out
                self._join(Step(Do.JOIN, name, group=group))
        self._shadow_of(packed)

    def _own_group(self, packed: Packed) -> None:
        try:
            there: str | None = grp.getgrgid(packed.gid).gr_name
        except KeyError:
            there = None
        if there is None and account_look.group(packed.group, self._powers) is None:
            run("groupadd", f"--gid={packed.gid}", "--", packed.group)
        elif there != packed.group or self._powers.group(there, packed.gid):
            raise StepError(f"the group {packed.group} (gid {packed.gid}) is another one now")

    def _home_of(self, packed: Packed) -> None:
        home, person = packed.archive.home, pwd.getpwnam(packed.archive.name)
        os.mkdir(home, 0o700)
        os.chown(home, person.pw_uid, person.pw_gid)
        number = os.open(packed.archive.path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            account_home.unpack(
                account_look.person_of(person), number, account_archive.unpack, UNPACK_S
            )
        finally:
            os.close(number)

    def _shadow_of(self, packed: Packed) -> None:
        name, fields = packed.archive.name, packed.shadow
        if not fields:
            return
        if fields[0].strip("!*"):
            run("chpasswd", "--encrypted", given=f"{name}:{fields[0]}\n")
        names = ("lastday", "mindays", "maxdays", "warndays", "inactive", "expiredate")
        words = [
            f"--{word}={value}"
            for word, value in zip(names, fields[1:7], strict=False)
            if value.lstrip("-").isdigit()
        ]
        if words:
            run("chage", *words, "--", name)


def others(name: str) -> tuple[str, ...]:
    """Files of that account in folders of root's."""
    paths = (f"{folder}/{name}" for folder in OTHERS)
    found = {os.path.realpath(path): path for path in paths if os.path.isfile(path)}
    return tuple(found.values())


def _date(days: str) -> str:
    """The expiry of shadow(5) as usermod takes it: days since 1970, or "" for none."""
    return days if days.isdigit() else ""


def run(program: str, *words: str, given: str | None = None) -> None:
    """A program of the system. Raises StepError with what it said."""
    path = next((p for f in FOLDERS if os.access(p := f"{f}/{program}", os.X_OK)), None)
    if path is None:
        raise StepError(f"there is no program {program} here")
    try:
        done = subprocess.run(
            [path, *words], input=given, stdin=subprocess.DEVNULL if given is None else None,
            capture_output=True, text=True, errors="replace", env=ENVIRONMENT, cwd="/",
            timeout=PROGRAM_S, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        raise StepError(f"{program} did not end within {PROGRAM_S:g} s") from None
    if done.returncode != 0:
        said = " ".join(done.stderr.split())[:500]
        raise StepError(f"{program} ended with {done.returncode}: {said}")
