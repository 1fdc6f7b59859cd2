"""`roost env list|show|doctor`: which environments there are, what is in one, what is wrong."""

from __future__ import annotations

import os

from roost.cli import format as fmt
from roost.cli.env import found, root_of, shared
from roost.cli.env_share import of_team
from roost.cli.table import Cell, lines
from roost.client.errors import RoostError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from roost.cli.context import Context
    from roost.core.environments.model import Finding, Framework
    from roost.machine.environments.installed import Installed
    from roost.machine.environments.place import Environment

FRAMEWORK_CELLS = 40


def listed(context: Context) -> int:
    """The caller's own and the team's."""
    from roost.machine.environments.place import own

    root, _ = root_of(context)
    answer = shared(context)
    rows = [as_json(one) for one in own(root)]
    names = {row["name"] for row in rows}
    rows += [as_json(one) for one in of_team(answer)]
    mine = _own_shared(answer)
    for row in rows:
        row["shared"] = row["shared"] or (not row["owner"] and row["name"] in mine & names)
    if context.json:
        context.out_json({"environments": rows})
        return 0
    if not rows:
        context.out(context.say("cli_env.none", root=root))
        return 0
    heads = ("name", "kind", "python", "frameworks", "own", "linked", "used", "shared")
    head = [context.say("cli_env.col_" + name) for name in heads]
    table: list[list[str | Cell]] = [
        [
            _reference(row),
            row["kind"],
            row["python"] or fmt.UNKNOWN,
            frameworks_text(row["frameworks"]) or "–",
            fmt.size(row["own_bytes"]),
            fmt.size(row["shared_bytes"]),
            (row["used_time"] or fmt.UNKNOWN)[:10],
            context.say("cli_env.yes") if row["shared"] else "",
        ]
        for row in rows
    ]
    context.out("\n".join(lines(context.terminal, head, table)))
    return 0


def _own_shared(answer: Any) -> set[str]:
    import pwd

    try:
        user = pwd.getpwuid(os.geteuid()).pw_name
    except KeyError:
        return set()
    return {one["name"] for one in answer["environments"] if one["owner"] == user}


def show(context: Context) -> int:
    from roost.machine.environments.installed import installed

    environment = found(context, context.given.arguments[0])
    inside = installed(environment.path)
    row = as_json(environment, inside)
    packages = [
        {"name": dist.name, "version": dist.version}
        for dist in sorted(inside.dists, key=lambda one: one.name.lower())
    ]
    if context.json:
        context.out_json({"environment": row, "packages": packages})
        return 0
    context.out(_reference(row))
    for label, text in facts(context, row):
        context.out(f"  {label}  {text}")
    for package in packages:
        context.out(f"    {package['name']} {package['version']}")
    return 0


def doctor(context: Context) -> int:
    """Exit code 1 where something in it cannot work."""
    from roost.core.environments.drivers import on_server
    from roost.machine.environments.doctor import examine

    environment = found(context, context.given.arguments[0])
    seen, inside = examine(environment, os.environ, os.path.expanduser("~"))
    driver, models = server_of(context)
    findings = [*seen, *on_server(inside.frameworks, driver, models, inside.compat)]
    broken = any(one.level == "error" for one in findings)
    if context.json:
        context.out_json(
            {
                "environment": as_json(environment, inside),
                "driver_version": driver,
                "findings": [
                    {
                        "level": one.level, "code": one.code, "text": said(context, one),
                        "numbers": dict(one.numbers),
                    }
                    for one in findings
                ],
            }
        )  # fmt: skip
        return int(broken)
    for one in findings:
        context.out(f"{context.say('cli_env.level_' + one.level)}  {said(context, one)}")
    if not findings:
        which = driver or fmt.UNKNOWN
        context.out(context.say("cli_env.healthy", name=environment.reference, driver=which))
    return int(broken)


def said(context: Context, finding: Finding) -> str:
    return context.say("cli_env.finding_" + finding.code, **finding.numbers)


def server_of(context: Context) -> tuple[str | None, tuple[str, ...]]:
    """The driver and the models of the GPUs; (None, ()) where no daemon tells."""
    try:
        status: Any = context.client().status()
    except RoostError:
        return None, ()
    models = tuple(str(gpu.get("name") or "") for gpu in status.get("gpus") or ())
    return status.get("driver_version"), models


def as_json(environment: Environment, inside: Installed | None = None) -> dict[str, Any]:
    """The environment as `--json` has it."""
    from roost.machine.environments import links, place
    from roost.machine.environments.installed import installed

    inside = inside or installed(environment.path)
    description = environment.description
    own_bytes, shared_bytes = links.sizes(environment.path)
    return {
        "name": environment.name,
        "owner": environment.owner,
        "kind": description.kind,
        "python": description.python,
        "frameworks": [framework_json(one) for one in inside.frameworks],
        "cuda": next((one.cuda_text for one in inside.frameworks if one.cuda), None),
        "packages": len(inside.dists),
        "own_bytes": own_bytes,
        "shared_bytes": shared_bytes,
        "made_time": _iso(description.made_at),
        "used_time": _iso(place.used_at(environment)),
        "shared": environment.shared_at is not None,
        "source": description.source,
        "cloned_from": description.cloned_from,
        "path": environment.path,
    }


def framework_json(one: Framework) -> dict[str, Any]:
    return {"name": one.name, "version": one.version, "cuda": one.cuda_text, "gpu": one.gpu}


def frameworks_text(frameworks: list[dict[str, Any]]) -> str:
    parts = []
    for one in frameworks:
        version = str(one["version"]).partition("+")[0]
        cuda = f" cu{one['cuda']}" if one["cuda"] else "" if one["gpu"] else " cpu"
        parts.append(f"{one['name']} {version}{cuda}")
    return ", ".join(parts)


def facts(context: Context, row: dict[str, Any]) -> list[tuple[str, str]]:
    """(label, text) of what is known of it, the labels as wide as one another."""
    from roost.cli.terminal import pad, width

    shown = [
        ("path", row["path"]),
        ("python", f"{row['python'] or fmt.UNKNOWN} ({row['kind']})"),
        ("frameworks", frameworks_text(row["frameworks"])),
        ("packages", str(row["packages"])),
        (
            "disk",
            context.say(
                "cli_env.disk_text", own=fmt.size(row["own_bytes"]),
                linked=fmt.size(row["shared_bytes"]),
            ),
        ),
        ("made", (row["made_time"] or "")[:10]),
        ("used", (row["used_time"] or "")[:10]),
        ("cloned_from", row["cloned_from"]),
    ]  # fmt: skip
    known = [(context.say("cli_env.fact_" + name), text) for name, text in shown if text]
    cells = max(width(label) for label, _ in known)
    return [(pad(label, cells), text) for label, text in known]


def _reference(row: dict[str, Any]) -> str:
    return f"{row['owner']}/{row['name']}" if row["owner"] else str(row["name"])


def _iso(at: float | None) -> str | None:
    from datetime import UTC, datetime

    return None if at is None else datetime.fromtimestamp(at, UTC).isoformat(timespec="seconds")
