"""`roost user`: every step is shown, then asked for, then done; what each came to is said.

Only the steps that were shown are done: the daemon refuses where they are not the same any more.
"""

from __future__ import annotations

import os
import sys

from roost.cli import format as fmt
from roost.cli.failure import CommandError
from roost.cli.free import YES
from roost.cli.table import Cell, lines

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from roost.cli.context import Context

MOST_KEY_FILE = 1 << 20


def add(context: Context) -> int:
    person = {
        "name": context.given.arguments[0],
        "full_name": context.option("full_name", ""),
        "group": context.option("group", ""),
        "keys": [key for path in context.option("ssh_key") or () for key in keys_in(path)],
        "quota": context.option("disk_quota", ""),
        "share": context.option("share", ""),
    }
    return settle(context, {"action": "add", "people": [person]})


def leave(context: Context) -> int:
    """Disable, enable, remove, restore: by the command's own name."""
    people = [{"name": name} for name in context.given.arguments]
    action = context.command.split()[1]
    wanted: dict[str, Any] = {"action": action, "people": people}
    if context.option("end_jobs"):
        wanted["end_jobs"] = True
    return settle(context, wanted)


def keys_in(path: str) -> list[str]:
    """The lines of a file of public keys, "-" for standard input, without empty ones and remarks.

    Raises OSError.
    """
    if path == "-":
        text = sys.stdin.read(MOST_KEY_FILE)
    else:
        with open(path, encoding="utf-8", errors="replace") as file:
            text = file.read(MOST_KEY_FILE)
    if "PRIVATE KEY" in text:
        raise CommandError("private_key", path=path)
    return [line for line in text.split("\n") if line.strip() and not line.startswith("#")]


def settle(context: Context, wanted: dict[str, Any], heads: dict[str, str] | None = None) -> int:
    """Shows the plan, asks, has it done. `heads`: of the columns of a list, by field. Exit code 1
    where something is wrong, was not wanted, or failed."""
    client = context.client()
    plan: Any = client.plan_accounts(wanted)
    quiet = context.json and (context.option("yes") or context.option("dry_run"))
    if not quiet:
        show_plan(context, plan, heads or {})
    steps, wrong = plan["steps"], plan["problems"]
    if wrong or not steps or context.option("dry_run"):
        if context.json:
            context.out_json({"plan": plan, "done": False, "steps": []})
        return 1 if wrong else 0
    if not context.option("yes"):
        if not os.isatty(0):
            raise CommandError("steps_unconfirmed")
        if not confirmed(context, len(steps)):
            context.err(context.say("cli_account.not_done"))
            return 1
    result: Any = client.change_accounts(wanted, plan["plan"])
    if context.json:
        context.out_json({"plan": plan, **result})
    else:
        show_result(context, result)
    return 0 if result["done"] else 1


def show_plan(context: Context, plan: Any, heads: dict[str, str]) -> None:
    """To standard error where --json has standard output."""
    tell = context.err if context.json else context.out
    say = context.say
    for problem in plan["problems"]:
        tell(problem_line(context, problem, heads))
    if plan["problems"]:
        tell(say("cli_account.nothing_done", count=len(plan["problems"])))
        return
    if plan["steps"]:
        tell(say("cli_account.steps", count=len(plan["steps"])))
        for number, step in enumerate(plan["steps"], 1):
            tell(f"  {number}. {step['text']}")
    else:
        tell(say("cli_account.no_steps"))
    for remark in plan["remarks"]:
        tell(say("cli_account.remark", text=remark["text"]))


def problem_line(context: Context, problem: Any, heads: dict[str, str]) -> str:
    """Row, column and value, then what is wrong and what to do."""
    column = str(problem["column"])
    head = heads.get(column) or context.say("cli_account.column_" + column, fallback=column)
    value, row = problem["value"], problem["row"]
    code = "problem" if row is None else "problem_row"
    who = problem["user"] or ""
    return context.say(
        "cli_account." + code, row=row, user=who, column=head, value=value, text=problem["text"]
    )


def confirmed(context: Context, count: int) -> bool:
    context.err("")
    sys.stderr.write(context.terminal.plain(context.say("cli_account.ask", count=count)) + " ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in YES


def show_result(context: Context, result: Any) -> None:
    counts = {"done": 0, "failed": 0, "not_done": 0}
    for step in result["steps"]:
        counts[step["outcome"]] += 1
        if step["outcome"] == "failed":
            text, why = step["text"], step["why"]
            context.out(context.say("cli_account.failed", text=text, why=why))
    if result["done"]:
        context.out(context.say("cli_account.done", count=counts["done"]))
    else:
        context.out(context.say("cli_account.stopped", **counts))


def listed(context: Context) -> int:
    answer: Any = context.client().accounts()
    if context.json:
        context.out_json(answer)
        return 0
    say = context.say
    names = ("user", "uid", "full_name", "state", "groups", "keys", "quota", "home")
    head = [say("cli_account.col." + name) for name in names]
    rows: list[list[str | Cell]] = [
        [
            Cell(one["user"], person=one["user"]),
            str(one["uid"]),
            one["full_name"],
            say("cli_account.state_" + one["state"], fallback=one["state"]),
            ", ".join(one["charges"]),
            str(one["keys"]),
            fmt.size(one["quota_bytes"]) if one["quota_bytes"] else fmt.UNKNOWN,
            f"{one['home']} {one['home_mode'] or ''}".rstrip(),
        ]
        for one in answer["accounts"]
    ]
    if rows:
        context.out("\n".join(lines(context.terminal, head, rows, (1, 5))))
    else:
        context.out(say("cli_account.nobody"))
    there = {one["user"] for one in answer["accounts"]}
    for archive in answer["archives"]:
        if archive["user"] not in there:
            context.out(archive_line(context, archive))
    return 0


def archive_line(context: Context, archive: Any) -> str:
    return context.say(
        "cli_account.archive", user=archive["user"], uid=archive["uid"],
        day=str(archive["time"])[:10], size=fmt.size(archive["size_bytes"]), path=archive["path"],
    )  # fmt: skip


def show(context: Context) -> int:
    name = context.given.arguments[0]
    answer: Any = context.client().accounts()
    found = next((one for one in answer["accounts"] if one["user"] == name), None)
    archives = [one for one in answer["archives"] if one["user"] == name]
    if found is None and not archives:
        raise CommandError("no_account", user=name)
    if context.json:
        context.out_json({"account": found, "archives": archives})
        return 0
    say = context.say
    if found is not None:
        quota = fmt.size(found["quota_bytes"]) if found["quota_bytes"] else fmt.UNKNOWN
        values = {
            "user": f"{found['user']} (uid {found['uid']})",
            "full_name": found["full_name"],
            "state": say("cli_account.state_" + found["state"], fallback=found["state"]),
            "home": f"{found['home']} {found['home_mode'] or ''}".rstrip(),
            "groups": ", ".join(found["charges"]),
            "linux_groups": ", ".join(found["groups"]),
            "keys": str(found["keys"]),
            "quota": quota,
            "powerful": found["powerful"] or "",
        }
        for key, value in values.items():
            if value:
                context.out(
                    say("cli_account.field", name=say("cli_account.is." + key), value=value)
                )
    for archive in archives:
        context.out(archive_line(context, archive))
    return 0
