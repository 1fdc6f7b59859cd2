"""Makes the changes that findings name, and undoes them. Knows a closed list; what is changed is
found anew here, never believed of who asks."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import time
import tomllib
from contextlib import suppress
from dataclasses import dataclass, replace

import msgspec

from roost.core.audit.judge import CHECKS, findings
from roost.core.audit.model import HoldUpdates, SetKernel, SetMode, SetSshd, SetToolkit
from roost.machine.audit import kept
from roost.machine.audit.kept import Record, write_whole
from roost.machine.audit.look import Question, look
from roost.machine.audit.modes import ChangedError, change_mode, identity
from roost.machine.audit.tree import Tree

SYSCTL = "/etc/sysctl.d/60-roost-audit.conf"
SSHD_MAIN = "/etc/ssh/sshd_config"
SSHD = "/etc/ssh/sshd_config.d/00-roost-audit.conf"
APT = "/etc/apt/apt.conf.d/60roost-audit"
HEAD = "# Written by roost audit --fix; roost audit --undo takes it back.\n"
TOOL_S = 10.0


@dataclass(frozen=True, slots=True)
class Outcome:
    """`outcome`: "done", "nothing", "not_fixable", "changed", "failed", "undone"."""

    check: str
    subject: str
    outcome: str
    detail: str = ""


class Mend(msgspec.Struct, frozen=True, tag="mend"):
    """Which findings (check, subject) to mend, for whom; `store` is where changes are kept."""

    question: Question
    wanted: tuple[tuple[str, str], ...]
    enforcement: str
    store: str
    by: str


class Undo(msgspec.Struct, frozen=True, tag="undo"):
    store: str
    checks: tuple[str, ...] = ()
    root: str = "/"


class NotMendedError(Exception):
    """It could not be done; nothing was changed."""


def mend(order: Mend) -> list[Outcome]:
    """Each of these findings, if it is found again now."""
    question, enforcement = order.question, order.enforcement
    tree = Tree(question.root)
    checks = tuple(dict.fromkeys(check for check, _ in order.wanted if check in CHECKS))
    facts = look(msgspec.structs.replace(question, checks=checks)) if checks else None
    found = findings(facts, checks, enforcement) if facts is not None else []
    outcomes = []
    for check, subject in order.wanted:
        same = [one for one in found if (one.check, one.subject) == (check, subject)]
        changes = [one.change for one in same if one.change is not None]
        if not same or not changes:
            outcomes.append(Outcome(check, subject, "not_fixable" if same else "nothing"))
        for change in changes:
            record = Record(check, subject, time.time(), order.by, change)
            outcomes.append(_tried(tree, record, order.store))
    return outcomes


def _tried(tree: Tree, record: Record, store: str) -> Outcome:
    try:
        _make(tree, record, store)
    except ChangedError as error:
        return Outcome(record.check, record.subject, "changed", str(error))
    except (OSError, NotMendedError, msgspec.MsgspecError) as error:
        return Outcome(record.check, record.subject, "failed", str(error)[:300])
    return Outcome(record.check, record.subject, "done")


def _make(tree: Tree, record: Record, store: str) -> None:
    """The record is there before the change is: whatever happens between, it can be undone."""
    before, change = kept.load(store), record.change
    if isinstance(change, SetMode):
        with suppress(FileNotFoundError):
            record = replace(record, file=identity(tree, change))
    elif isinstance(change, SetToolkit):
        path = tree.path(os.fsdecode(change.path))
        old = _read(path)
        if old is None:
            raise ChangedError("it is gone")
        record = replace(record, before=old, after=_with_key(old, change.key, change.after))
    elif isinstance(change, HoldUpdates):
        path, text = tree.path(APT), HEAD.replace("#", "//") + _blacklist(change.packages)
        record = replace(record, before=_read(path), after=text.encode())
    kept.save(store, [*before, record])
    try:
        _apply(tree, record, kept.load(store))
    except BaseException:
        kept.save(store, before)
        raise


def _apply(tree: Tree, record: Record, records: list[Record]) -> None:
    match record.change:
        case SetMode() as change:
            file = change_mode(tree, change, change.mode, change.after)
            if file != record.file:
                raise ChangedError("another file is there")
        case SetKernel() as change:
            _write_kernel(tree, change.name, change.after)
            _write_sysctl(tree, records)
        case SetSshd():
            _write_sshd(tree, records)
        case SetToolkit(path=path):
            _replace(tree.path(os.fsdecode(path)), record.after)
        case HoldUpdates():
            write_whole(tree.path(APT), record.after, 0o644)


def undo(order: Undo) -> list[Outcome]:
    """The newest first; of these checks, or all."""
    tree, store, checks = Tree(order.root), order.store, order.checks
    outcomes = []
    for record in reversed(kept.load(store)):
        if checks and record.check not in checks:
            continue
        left = [one for one in kept.load(store) if one != record]
        try:
            _take_back(tree, record, left)
        except ChangedError as error:
            outcomes.append(Outcome(record.check, record.subject, "changed", str(error)))
            continue
        except (OSError, NotMendedError) as error:
            outcomes.append(Outcome(record.check, record.subject, "failed", str(error)[:300]))
            continue
        kept.save(store, left)
        outcomes.append(Outcome(record.check, record.subject, "undone"))
    return outcomes


def _take_back(tree: Tree, record: Record, left: list[Record]) -> None:
    match record.change:
        case SetMode() as change:
            if identity(tree, change) != record.file:
                raise ChangedError("another file is there")
            change_mode(tree, change, change.after, change.mode)
        case SetKernel() as change:
            _write_kernel(tree, change.name, change.before)
            _write_sysctl(tree, left)
        case SetSshd():
            _write_sshd(tree, left)
        case SetToolkit(path=path):
            _put_back(tree.path(os.fsdecode(path)), record)
        case HoldUpdates():
            _put_back(tree.path(APT), record)


def _read(path: str) -> bytes | None:
    try:
        with open(path, "rb") as file:
            return file.read()
    except FileNotFoundError:
        return None


def _replace(path: str, data: bytes) -> None:
    """Keeps the file's mode; it is root's, in a folder of root's."""
    write_whole(path, data, os.stat(path).st_mode & 0o7777)


def _put_back(path: str, record: Record) -> None:
    if _read(path) != record.after:
        raise ChangedError("somebody has changed the file since")
    if record.before is None:
        os.unlink(path)
    else:
        _replace(path, record.before)


def _write_kernel(tree: Tree, name: str, value: str) -> None:
    with open(tree.path("/proc/sys/" + name.replace(".", "/")), "wb", buffering=0) as file:
        file.write(value.encode() + b"\n")


def _write_sysctl(tree: Tree, records: list[Record]) -> None:
    lines = [
        f"{one.change.name} = {one.change.after}\n"
        for one in records
        if isinstance(one.change, SetKernel)
    ]
    _write_drop_in(tree.path(SYSCTL), lines)


def _write_drop_in(path: str, lines: list[str]) -> None:
    if lines:
        os.makedirs(os.path.dirname(path), 0o755, exist_ok=True)
        write_whole(path, (HEAD + "".join(lines)).encode(), 0o644)
    else:
        with suppress(FileNotFoundError):
            os.unlink(path)


def _write_sshd(tree: Tree, records: list[Record]) -> None:
    """The file is tested as a whole before sshd is told, and its effect; else it is as before."""
    program = shutil.which("sshd", path="/usr/sbin:/sbin:/usr/local/sbin")
    if program is None:
        raise NotMendedError("there is no sshd here that could test it")
    main, path = tree.path(SSHD_MAIN), tree.path(SSHD)
    _sshd(program, "-t", main)
    before = _read(path)
    changes = [one.change for one in records if isinstance(one.change, SetSshd)]
    _write_drop_in(path, [f"{one.keyword} {one.after}\n" for one in changes])
    try:
        _sshd(program, "-t", main)
        said = dict(
            line.lower().partition(" ")[::2] for line in _sshd(program, "-T", main).splitlines()
        )
        for one in changes:
            value = said.get(one.keyword.lower(), "").replace("without-password", one.after)
            if value != one.after:
                raise NotMendedError(f"{SSHD} is not included by {SSHD_MAIN}")
    except NotMendedError:
        if before is None:
            with suppress(FileNotFoundError):
                os.unlink(path)
        else:
            write_whole(path, before, 0o644)
        raise
    if tree.real:
        _reload_sshd(program)


def _sshd(program: str, option: str, main: str) -> str:
    done = subprocess.run(
        [program, option, "-f", main], capture_output=True, timeout=TOOL_S, check=False,
        stdin=subprocess.DEVNULL,
    )  # fmt: skip
    if done.returncode != 0:
        said = done.stderr.decode("utf-8", "replace").strip()
        raise NotMendedError(f"sshd {option} says: {said[:200]}")
    return done.stdout.decode("utf-8", "replace")


def _reload_sshd(program: str) -> None:
    """SIGHUP to the sshd that listens, if it is one; one that systemd starts anew for each
    connection reads its file anyway."""
    try:
        with open("/run/sshd.pid", encoding="ascii") as file:
            pid = int(file.read())
        handle = os.pidfd_open(pid)
    except (OSError, ValueError):
        return
    try:
        if os.path.realpath(f"/proc/{pid}/exe") == os.path.realpath(program):
            signal.pidfd_send_signal(handle, signal.SIGHUP)
    except ProcessLookupError:
        return
    finally:
        os.close(handle)


def _with_key(text: bytes, key: str, value: str) -> bytes:
    """TOML with that key at its top set; the rest as it was. Raises NotMendedError."""
    table = re.search(rb"^\s*\[", text, re.MULTILINE)
    end = table.start() if table else len(text)
    line = f"{key} = {value}".encode()
    top, count = re.subn(
        rb"^[ \t]*#?[ \t]*" + re.escape(key.encode()) + rb"[ \t]*=.*$", line, text[:end],
        count=1, flags=re.MULTILINE,
    )  # fmt: skip
    whole = (top if count else line + b"\n" + text[:end]) + text[end:]
    try:
        before = tomllib.loads(text.decode())
        after = tomllib.loads(whole.decode())
    except (ValueError, tomllib.TOMLDecodeError) as error:
        raise NotMendedError(str(error)) from None
    if after != {**before, key: value == "true"}:
        raise NotMendedError(f"{key} could not be set")
    return whole


def _blacklist(packages: tuple[str, ...]) -> str:
    # Regular expressions; apt's own file would take a backslash away.
    named = (re.sub(r"([.+])", r"[\1]", name) for name in packages)
    lines = "".join(f'    "{name}$";\n' for name in named)
    return f"Unattended-Upgrade::Package-Blacklist {{\n{lines}}};\n"
