"""`roost data`: data sets and models kept once for all. Links and checks are made here, as the
person who types; what goes into the shared place and out of it, the daemon does."""

from __future__ import annotations

import hashlib
import os
import sys
import time

from roost.cli import format as fmt
from roost.cli.failure import CommandError
from roost.cli.free import YES
from roost.cli.table import Cell, lines
from roost.client.http import quote

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from roost.cli.context import Context

LOOK_EVERY_S = 0.3
PIECE = 1 << 20


def add(context: Context) -> int:
    """Follows the copy to its end; 1 where it did not come. Ctrl-C leaves it going on."""
    name = context.option("name")
    if not name:
        raise CommandError("data_needs_name")
    body = {"name": name, "path": os.path.abspath(context.given.arguments[0])}
    if context.option("licence"):
        body["licence"] = context.option("licence")
    client = context.client()
    told = ""
    one: Any = client.call("POST", "/v1/data", body)
    while one["state"] == "adding":
        time.sleep(LOOK_EVERY_S)
        one = client.call("GET", f"/v1/data/{quote(name)}")
        done, whole = fmt.size(one["bytes"]), fmt.size(one["all_bytes"])
        said = context.say("cli_data.progress", name=name, done=done, all=whole)
        if said != told and one["all_bytes"] and not context.json and os.isatty(2):
            context.err(said)
            told = said
    if context.json:
        context.out_json(one)
    elif one["state"] == "ready":
        context.out(context.say("cli_data.added", **{**one, "size": fmt.size(one["bytes"])}))
        _tell_pickled(context, one)
    else:
        context.err(f"roost {context.command}: {one['detail']}")
    return 0 if one["state"] == "ready" else 1


def listed(context: Context) -> int:
    answer: Any = context.client().call("GET", "/v1/data")
    if context.json:
        context.out_json(answer)
        return 0
    if not answer["data"]:
        context.out(context.say("cli_data.none"))
        return 0
    names = ("name", "owner", "size", "files", "used", "state", "licence")
    head = [context.say("cli_data." + name) for name in names]
    rows: list[list[str | Cell]] = [
        [
            one["name"],
            Cell(one["owner"], person=one["owner"]),
            fmt.size(one["bytes"]),
            str(one["files"]),
            (one["used_time"] or fmt.UNKNOWN)[:10],
            context.say("cli_data." + one["state"], fallback=one["state"]),
            one["licence"],
        ]
        for one in answer["data"]
    ]
    context.out("\n".join(lines(context.terminal, head, rows, (2, 3))))
    return 0


def show(context: Context) -> int:
    one = _one(context)
    if context.json:
        context.out_json(one)
        return 0
    say = context.say
    state = say("cli_data." + one["state"], fallback=one["state"])
    context.out(f"{one['name']}  {state}  {fmt.size(one['bytes'])}  {one['sha256'] or ''}".rstrip())
    context.out(say("cli_data.path", path=one["path"]))
    context.out(say("cli_data.made", owner=one["owner"], time=(one["made_time"] or "–")[:16]))
    if one["licence"]:
        context.out(f"{say('cli_data.licence')}: {one['licence']}")
    if one["detail"]:
        context.out(one["detail"])
    _tell_pickled(context, one)
    return 0


def link(context: Context) -> int:
    """A symbolic link, made by the person: it takes no disk beyond itself."""
    one = _ready(context)
    folder = context.given.arguments[1] if len(context.given.arguments) > 1 else "."
    where = os.path.join(os.path.abspath(folder), one["name"])
    try:
        os.symlink(one["path"], where)
    except FileExistsError:
        if not os.path.islink(where) or os.readlink(where) != one["path"]:
            raise CommandError("data_there_already", link=where) from None
    except OSError as error:
        raise CommandError("data_not_linked", link=where, why=error.strerror) from None
    if context.json:
        context.out_json({"link": where, "path": one["path"]})
    else:
        context.out(context.say("cli_data.linked", link=where, path=one["path"]))
    return 0


def verify(context: Context) -> int:
    """Reads all of it, as whoever asks; 1 where something is not as it was added."""
    one = _ready(context)
    wrong = list(_wrong(context, one))
    if context.json:
        context.out_json({"name": one["name"], "good": not wrong, "wrong": wrong})
    elif not wrong:
        context.out(context.say("cli_data.good", **one))
    else:
        context.out(context.say("cli_data.bad", **one))
        for line in wrong:
            context.out("  " + line)
    return 1 if wrong else 0


def _wrong(context: Context, one: Any) -> Iterator[str]:
    from roost.core.data.manifest import ManifestError, entry_of
    from roost.machine.data.tree import open_file, walk

    say, total = context.say, hashlib.sha256()
    top = os.open(one["path"], os.O_RDONLY | os.O_DIRECTORY)
    with open(one["manifest"], "rb") as manifest:
        there = walk(top)
        for line in manifest:
            total.update(line)
            found = next(there, None)
            try:
                entry = entry_of(line)
            except ManifestError:
                break
            shown = entry.path.decode("utf-8", "backslashreplace")
            if found is None or (found.kind, found.path) != (entry.kind, entry.path):
                yield say("cli_data.wrong_entry", path=shown)
                return
            if entry.kind == "f":
                file = open_file(found.folder, found.name, found.path)
                if _sha256(file) != entry.sha256:
                    yield say("cli_data.wrong_content", path=shown)
            elif entry.kind == "l" and entry.target != os.readlink(found.name, dir_fd=found.folder):
                yield say("cli_data.wrong_content", path=shown)
        extra = next(there, None)
        if extra is not None:
            yield say("cli_data.extra", path=extra.path.decode("utf-8", "backslashreplace"))
    os.close(top)
    if total.hexdigest() != one["sha256"]:
        yield say("cli_data.wrong_manifest")


def _sha256(file: int) -> str:
    digest = hashlib.sha256()
    try:
        while data := os.read(file, PIECE):
            digest.update(data)
    finally:
        os.close(file)
    return digest.hexdigest()


def remove(context: Context) -> int:
    one = _one(context)
    if not context.option("yes"):
        if not os.isatty(0):
            raise CommandError("nothing_confirmed")
        size = fmt.size(one["bytes"])
        ask = context.say("cli_data.ask_remove", name=one["name"], size=size)
        sys.stderr.write(context.terminal.plain(ask) + " ")
        sys.stderr.flush()
        if sys.stdin.readline().strip().lower() not in YES:
            context.err(context.say("cli_data.not_removed"))
            return 1
    answer: Any = context.client().call("DELETE", f"/v1/data/{quote(one['name'])}")
    if context.json:
        context.out_json(answer)
    else:
        place = os.path.dirname(answer["path"])
        context.out(context.say("cli_data.removed", name=answer["name"], place=place))
    return 0


def _one(context: Context) -> Any:
    return context.client().call("GET", f"/v1/data/{quote(context.given.arguments[0])}")


def _ready(context: Context) -> Any:
    one = _one(context)
    if one["state"] != "ready":
        raise CommandError("data_not_ready", name=one["name"])
    return one


def _tell_pickled(context: Context, one: Any) -> None:
    if one["pickled"]:
        count, owner = one["pickled"], one["owner"]
        context.err(context.say("cli_data.pickled", count=count, owner=owner))
