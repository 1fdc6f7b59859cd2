"""Makes each check in a child process of its own, with a deadline, and puts the facts together."""

from __future__ import annotations

import os
import select
import signal
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from roost.core.audit.facts import Facts, Unseen
from roost.core.audit.judge import CHECKS
from roost.machine.audit import commands, folders, homes, sudoers, system, updates
from roost.machine.audit.tree import Tree

WITHIN_S = 20.0
MOST_BYTES = 16 * 1024 * 1024


class Question(msgspec.Struct, frozen=True, tag="look"):
    """`uid` None: the whole machine; else what is that account's. `places`: shared folders to
    search. `own`: Roost's files, by path, to their kind. `checks`: empty for all."""

    checks: tuple[str, ...] = ()
    uid: int | None = None
    gid: int = 0
    groups: tuple[int, ...] = ()
    user: str = ""
    places: tuple[str, ...] = ()
    own: dict[str, str] = {}
    root: str = "/"
    within_s: float = WITHIN_S


@dataclass(frozen=True)
class Part:
    """What one child answers with: fields of Facts, or why there are none."""

    fields: dict[str, Any] = field(default_factory=dict)
    why: str = ""
    detail: str = ""


Collect = Callable[[Tree, Question], Mapping[str, Any]]
_ROOT_ONLY = frozenset({"sudo"})


def _shared(tree: Tree, question: Question) -> Mapping[str, Any]:
    found, cut_off = folders.shared_folders(tree, question.places)
    return {"shared_folders": found, "cut_off": cut_off}


def _kernel(tree: Tree, _: Question) -> Mapping[str, Any]:
    return {"kernel": system.kernel(tree), "core_folder": system.core_folder(tree)}


COLLECT: Mapping[str, Collect] = {
    "homes": lambda t, q: {"homes": homes.homes(t, q.uid)},
    "ssh-keys": lambda t, q: {"ssh_keys": homes.ssh_keys(t, q.uid)},
    "root-groups": lambda t, _: {"root_groups": system.root_groups(t)},
    "sudo": lambda t, _: {"sudo": sudoers.sudo(t)},
    "gpu-devices": lambda t, _: {"gpu_devices": system.gpu_devices(t)},
    "container-toolkit": lambda t, _: {"container_toolkit": system.container_toolkit(t)},
    "container-engine": lambda t, _: {"container_engine": system.container_engine(t)},
    "shared-folders": _shared,
    "command-secrets": lambda t, q: {"command_secrets": commands.command_secrets(t, q.uid)},
    "processes-visible": lambda t, _: {"hidepid": system.hidepid(t)},
    "sshd": lambda t, _: {"sshd": system.sshd(t)},
    "driver-updates": lambda t, _: {"driver_updates": updates.driver_updates(t)},
    "core-dumps": _kernel,
    "ptrace": _kernel,
    "kernel-leaks": _kernel,
    "tmp": lambda t, _: {"tmp": system.tmp(t)},
    "nfs-exports": lambda t, _: {"nfs_exports": system.nfs_exports(t)},
    "roost-files": lambda _, q: {"roost_files": system.own_files(q.own)},
}
# What other accounts have is hidden from an ordinary one.
OTHERS = frozenset({"homes", "ssh-keys", "command-secrets"})


def look(question: Question) -> Facts:
    """The facts of these checks. For a process without other threads; takes `within_s` at most."""
    as_root = os.geteuid() == 0
    wanted = [name for name in CHECKS if not question.checks or name in question.checks]
    if question.uid is not None:
        wanted = [name for name in wanted if CHECKS[name].own]
    parts = _parts(question, wanted)
    fields: dict[str, Any] = {}
    unseen: list[Unseen] = []
    for name in wanted:
        part = parts[name]
        cut_off = part.fields.pop("cut_off", ())
        fields.update(part.fields)
        if part.why:
            unseen.append(Unseen(name, part.why, part.detail))
        elif cut_off:
            unseen.append(Unseen(name, "cut_off", ", ".join(cut_off)))
        elif not as_root and question.uid is None and name in OTHERS:
            unseen.append(Unseen(name, "needs_root"))
    told = {"as_root": as_root, "whose": question.user, "unseen": msgspec.to_builtins(unseen)}
    return msgspec.convert({**fields, **told}, Facts)


def _parts(question: Question, wanted: Sequence[str]) -> dict[str, Part]:
    """Each check's answer. A child that hangs in the kernel is left there."""
    children = {name: _child(question, name) for name in wanted}
    said: dict[str, bytes] = dict.fromkeys(wanted, b"")
    until = time.monotonic() + question.within_s
    waiting = {descriptor: name for name, (_, descriptor) in children.items()}
    while waiting and (left := until - time.monotonic()) > 0:
        for descriptor in select.select(list(waiting), [], [], left)[0]:
            data = os.read(descriptor, 1 << 16)
            name = waiting[descriptor]
            said[name] += data
            if not data or len(said[name]) > MOST_BYTES:
                del waiting[descriptor]
    late = set(waiting.values())
    for name, (pid, descriptor) in children.items():
        os.close(descriptor)
        os.kill(pid, signal.SIGKILL)
        if name not in late:
            os.waitpid(pid, 0)
    return {name: Part(why="slow") if name in late else _read(said[name]) for name in wanted}


def _read(data: bytes) -> Part:
    try:
        return msgspec.msgpack.decode(data, type=Part)
    except msgspec.MsgspecError:
        return Part(why="failed", detail="it ended without an answer")


def _child(question: Question, name: str) -> tuple[int, int]:
    """(pid, descriptor to read from)."""
    there, here = os.pipe()
    pid = os.fork()
    if pid:
        os.close(here)
        return pid, there
    try:
        os.close(there)
        data = msgspec.msgpack.encode(_part(question, name))
        while data:
            data = data[os.write(here, data) :]
    finally:
        os._exit(0)


def _part(question: Question, name: str) -> Part:
    if name in _ROOT_ONLY and os.geteuid() != 0:
        return Part(why="needs_root")
    try:
        return Part(dict(COLLECT[name](Tree(question.root), question)))
    except PermissionError as error:
        return Part(
            why="needs_root" if os.geteuid() else "failed", detail=str(error.filename or "")
        )
    except Exception as error:  # noqa: BLE001 - one check must not cost the others
        return Part(why="failed", detail=f"{type(error).__name__}: {error}"[:300])
