"""`roost rules show`, `diff` and `history`: what is in force, what differs, what was before.

Compares by key, defaults included; the files are read here, the versions by the daemon.
"""

from __future__ import annotations

from roost.cli.failure import CommandError
from roost.cli.rules import default_rules, mistakes_in, read_file
from roost.cli.values import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from roost.cli.context import Context
    from roost.core.rules.model import Rules


def show(context: Context) -> int:
    """Every key in force as TOML, and whether it is a default or on which line of the file.

    With VERSION those of that version; --text: as the author wrote them.
    """
    words = context.given.arguments
    answer: Any = context.client().rules_version(words[0]) if words else context.client().rules()
    answer = {"rules": None, "problem": None, "mistakes": [], **answer}
    text = str(answer.get("text") or "")
    settings = described(text, context.terminal.language)
    if context.json:
        context.out_json(answer | {"settings": settings})
        return 0
    if answer["problem"]:
        context.err(context.say("rules_not_in_force", problem=answer["problem"]))
        for mistake in answer["mistakes"]:
            context.err(f"  {mistake.get('text')}")
    context.err(context.say("rules_version", version=answer.get("version")))
    if "text" in context.given.options or settings is None:
        context.out(text.rstrip())
    else:
        context.out(as_toml(text, context.terminal.language).rstrip())
    return 0


def described(text: str, language: str) -> list[dict[str, Any]] | None:
    """[{"key", "value", "line"}], `line` null for a default; None for a text that only a newer
    version of Roost can read."""
    if mistakes_in(text.encode("utf-8", "replace"), language):
        return None
    from roost.core.rules.load import load
    from roost.core.rules.read import dotted
    from roost.core.rules.settings import lines_set, settings_of

    lines = lines_set(text)
    return [
        {"key": dotted(path), "value": value, "line": lines.get(path)}
        for path, value in settings_of(load(text)).items()
    ]


def as_toml(text: str, language: str) -> str:
    from roost.core.rules.load import load
    from roost.core.rules.settings import lines_set, settings_of, written
    from roost.core.text.catalogue import say

    lines = lines_set(text)
    settings = settings_of(load(text))
    notes = {
        path: say(language, "rules_changes.line", line=lines[path])
        if path in lines
        else say(language, "rules_changes.default")
        for path in settings
    }
    return written(settings, notes)


def diff(context: Context) -> int:
    """From the rules in force to the file, to FILE, or from one FILE or VERSION to another."""
    words: list[str] = list(context.given.arguments)
    if len(words) > 2:
        raise UsageError("extra_argument", command="rules diff", word=words[2])
    old, new = (words[0], words[1]) if len(words) > 1 else ("", *(words or [default_rules()]))
    (old_name, old_rules), (new_name, new_rules) = _named(context, old), _named(context, new)
    from roost.core.rules.changes import as_dicts, changes
    from roost.core.text.catalogue import say

    language = context.terminal.language
    found = as_dicts(changes(old_rules, new_rules), language)
    if context.json:
        context.out_json({"old": old_name, "new": new_name, "changes": found})
        return 0
    code = "rules_changes.between" if found else "rules_changes.none"
    context.out(say(language, code, old=old_name, new=new_name))
    for change in found:
        context.out(f"  {change['text']}")
    return 0


def _named(context: Context, word: str) -> tuple[str, Rules]:
    """The rules that a word of `diff` names: none: in force; a number: that version; a file."""
    from roost.core.rules.load import load
    from roost.core.text.catalogue import say

    language = context.terminal.language
    if not word:
        name = say(language, "rules_changes.in_force")
        text = str(context.client().rules().get("text") or "").encode("utf-8", "replace")
    elif word.isascii() and word.isdecimal() and len(word) < 10:
        name = say(language, "rules_changes.version", version=int(word))
        answer = context.client().rules_version(int(word))
        text = str(answer["text"]).encode("utf-8", "replace")
    else:
        name, text = word, read_file(word)
    mistakes = mistakes_in(text, language)
    if mistakes:
        for mistake in mistakes:
            context.err(str(mistake["text"]))
        raise CommandError("rules_wrong", path=name, count=len(mistakes))
    return name, load(text)


def history(context: Context) -> int:
    """The versions, newest first: when, who, which keys changed from what to what."""
    answer: Any = context.client().rules_history(context.option("limit", 20))
    if context.json:
        context.out_json(answer)
        return 0
    from roost.core.text.catalogue import say

    language = context.terminal.language
    entries = answer.get("history") or []
    if not entries:
        context.out(say(language, "rules_changes.no_history"))
    for entry in entries:
        when = str(entry.get("time") or "").replace("T", " ")
        head = say(
            language, "rules_changes.history",
            version=entry["version"], time=when, user=entry["user"],
        )  # fmt: skip
        context.out(head)
        for line in _lines(entry, language):
            context.out(f"  {line}")
    return 0


def _lines(entry: dict[str, Any], language: str) -> list[str]:
    from roost.core.text.catalogue import say

    first = entry["version"] == 1
    if entry["changes"] is None:
        return [say(language, "rules_changes.unreadable", problem=entry["problem"])]
    if not entry["changes"]:
        return [say(language, "rules_changes.first" if first else "rules_changes.same")]
    lines = [str(change["text"]) for change in entry["changes"]]
    return [say(language, "rules_changes.first_changes"), *lines] if first else lines
