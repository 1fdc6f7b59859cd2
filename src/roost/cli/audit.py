"""`roost audit`: what is at risk on this machine, what to do, and mending it after it was shown."""

from __future__ import annotations

import os
import sys

from roost.cli.commands import CHECKS
from roost.cli.failure import CommandError
from roost.cli.terminal import GREY, RED, YELLOW
from roost.cli.values import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from roost.cli.context import Context

SEVERITIES = ("high", "medium", "low", "note")
YES = ("y", "yes", "是", "好")


def audit(context: Context) -> int:
    """Exit code 1 where something is at risk and not accepted, or could not be mended."""
    fixes, undoes = context.option("fix"), context.option("undo")
    named = list(context.given.arguments)
    if fixes and undoes:
        raise UsageError("audit_fix_or_undo")
    if named and not (fixes or undoes):
        raise UsageError("audit_checks", word=named[0])
    for name in named:
        if name not in CHECKS:
            raise UsageError("not_a_choice", what="CHECK", given=name, choices=", ".join(CHECKS))
    names = named + (context.option("check") or [])
    if undoes:
        return undo(context, names)
    found: Any = context.client().audit_checks(names)
    if fixes:
        return fix(context, found, bool(names))
    if context.json:
        context.out_json({**found, "outcomes": []})
    else:
        show(context, found)
    return 1 if any(at_risk(one) for one in found["findings"]) else 0


def at_risk(finding: Any) -> bool:
    return finding["severity"] != "note" and finding["accepted"] is None


def show(context: Context, found: Any) -> None:
    """Findings of one kind together, with their risk once."""
    groups: dict[tuple[str, str, bool], list[Any]] = {}
    for one in found["findings"]:
        key = (one["severity"], one["code"], one["accepted"] is not None)
        groups.setdefault(key, []).append(one)
    lines: list[str] = []
    for (_, _, accepted), ones in groups.items():
        if not accepted:
            lines += [*kind(context, ones), ""]
    for one in found["findings"]:
        if one["accepted"] is not None:
            reason = one["accepted"]["reason"]
            lines.append(context.say("cli_audit.accepted", text=one["text"], reason=reason))
    for one in found["unseen"]:
        lines.append(context.say("cli_audit.unseen", title=one["title"], text=one["text"]))
    lines.append(summary(context, found))
    if found["undoable"]:
        lines.append(context.say("cli_audit.undoable", count=len(found["undoable"])))
    context.out("\n".join(lines))


def kind(context: Context, ones: list[Any]) -> list[str]:
    first, say = ones[0], context.say
    head = context.terminal.paint(
        say("cli_audit.severity." + first["severity"]), _colour(first["severity"])
    )
    lines = [f"{head}  {first['check']}"]
    lines += ["  " + one["text"] for one in ones]
    lines.append("  " + say("cli_audit.risk", risk=first["risk"]))
    for remedy in dict.fromkeys(one["remedy"] for one in ones):
        lines.append("  " + say("cli_audit.remedy", remedy=remedy))
    if any(one["change"] for one in ones):
        lines.append("  " + say("cli_audit.fixable", check=first["check"]))
    return lines


def _colour(severity: str) -> str:
    return {"high": RED, "medium": YELLOW}.get(severity, GREY)


def summary(context: Context, found: Any) -> str:
    counts = dict.fromkeys(SEVERITIES, 0)
    accepted = 0
    for one in found["findings"]:
        if one["accepted"] is not None:
            accepted += 1
        else:
            counts[one["severity"]] += 1
    made = len(found["checks"])
    code = "cli_audit.summary" if found["whose"] is None else "cli_audit.summary_own"
    return context.say(code, made=made, accepted=accepted, **counts)


def fix(context: Context, found: Any, named: bool) -> int:
    """Every change first, then the question. Notes are mended only where their check is named."""
    wanted = [
        one
        for one in found["findings"]
        if one["change"] is not None and one["accepted"] is None
        and (named or one["severity"] != "note")
    ]  # fmt: skip
    lines = [f"{one['check']}: {one['change']}" for one in wanted]
    shown = "cli_audit.nothing_to_fix", "cli_audit.would_change"
    if (code := _shown_first(context, found, lines, *shown)) is not None:
        return code
    answer: Any = context.client().audit_fix(wanted)
    return _told(context, answer["outcomes"], found)


def undo(context: Context, names: list[str]) -> int:
    found: Any = context.client().audit_checks(names)
    kept = [one for one in found["undoable"] if not names or one["check"] in names]
    lines = [f"{one['check']}: {one['subject']}" for one in kept]
    shown = "cli_audit.nothing_to_undo", "cli_audit.would_undo"
    if (code := _shown_first(context, found, lines, *shown)) is not None:
        return code
    answer: Any = context.client().audit_undo(names)
    return _told(context, answer["outcomes"], found)


def _shown_first(
    context: Context, found: Any, lines: list[str], nothing: str, heading: str
) -> int | None:
    """Every change on a line, then the question. None where it may be made, else the exit code."""
    tell = context.err if context.json else context.out
    if not lines:
        if context.json:
            context.out_json({**found, "outcomes": []})
        else:
            tell(context.say(nothing))
        return 0
    tell(context.say(heading, count=len(lines)))
    for line in lines:
        tell(f"  {line}")
    return None if _agreed(context, len(lines)) else 1


def _agreed(context: Context, count: int) -> bool:
    if context.option("yes"):
        return True
    if not os.isatty(0):
        raise CommandError("nothing_confirmed")
    sys.stderr.write(context.terminal.plain(context.say("cli_audit.ask", count=count)) + " ")
    sys.stderr.flush()
    if sys.stdin.readline().strip().lower() in YES:
        return True
    context.err(context.say("cli_audit.not_done"))
    return False


def _told(context: Context, outcomes: list[Any], found: Any) -> int:
    if context.json:
        context.out_json({**found, "outcomes": outcomes})
    else:
        for one in outcomes:
            context.out(f"{one['check']}: {one['subject']}: {one['text']}")
    good = ("done", "nothing", "undone")
    return 0 if all(one["outcome"] in good for one in outcomes) else 1
