"""sudoers(5) read as far as it says who may do what as root; its own grammar, files in order.

Only read, never changed. What is not understood is told as such: silence would look like safety.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from roost.core.audit.facts import FileMode, Sudo, SudoRule
from roost.machine.audit.tree import Tree

MAIN = "/etc/sudoers"
MOST_DEPTH = 16
MOST_MISTAKES = 20
_INCLUDE = re.compile(r"[@#]include(dir)?\s+(\S+)")
_ALIAS = re.compile(r"(User|Runas|Host|Cmnd|Cmd)_Alias\s+(.*)")
# "user hosts = commands : other hosts = commands"
_NEXT_HOSTS = re.compile(r"\s:\s*[^=:()/]+=\s*")
_TAG = re.compile(
    r"(NO)?(PASSWD|EXEC|FOLLOW|SETENV|LOG_INPUT|LOG_OUTPUT|MAIL|INTERCEPT):|"
    r"(ROLE|TYPE|APPARMOR_PROFILE|PRIVS|LIMITPRIVS|NOTBEFORE|NOTAFTER|TIMEOUT|CWD|CHROOT)=\S+\s"
)


@dataclass
class _Read:
    aliases: dict[str, list[str]] = field(default_factory=dict)
    specs: list[tuple[str, int, str]] = field(default_factory=list)
    files: list[FileMode] = field(default_factory=list)
    mistakes: list[str] = field(default_factory=list)
    no_password: bool = False


def sudo(tree: Tree) -> Sudo:
    """Empty where there is no sudo here. Raises PermissionError for who may not read it."""
    read = _Read()
    _file(tree, MAIN, read, 0)
    rules = []
    for file, line, text in read.specs:
        try:
            rules += list(_rules(tree, read, file, line, text))
        except ValueError:
            read.mistakes.append(f"{file}:{line}")
    mistakes = tuple(read.mistakes[:MOST_MISTAKES])
    return Sudo(tuple(rules), tuple(read.files), mistakes)


def admins(tree: Tree) -> frozenset[str]:
    """Who may do everything as root, by sudo."""
    found: set[str] = set()
    for rule in sudo(tree).rules:
        if "ALL" in rule.commands and not any(word.startswith("!") for word in rule.commands):
            found.update(rule.people)
    return frozenset(found)


def _file(tree: Tree, path: str, read: _Read, depth: int) -> None:
    text = tree.text(path)
    mode = tree.mode(path, "sudoers")
    if text is None or mode is None or depth > MOST_DEPTH:
        return
    read.files.append(mode)
    for number, line in _lines(text):
        include = _INCLUDE.match(line)
        if include is not None:
            base = path.rpartition("/")[0]
            target = include[2].strip('"')
            target = target if target.startswith("/") else f"{base}/{target}"
            names = tree.names(target) if include[1] else [""]
            for name in names:
                if include[1] and ("." in name or name.endswith("~")):
                    continue
                _file(tree, f"{target}/{name}" if name else target, read, depth + 1)
        elif line.startswith("#") and not re.match(r"#\d", line):
            continue
        elif line.startswith("Defaults"):
            if re.match(r"Defaults\s.*!authenticate", line):
                read.no_password = True
        elif alias := _ALIAS.match(line):
            for one in _split(alias[2], ":"):
                name, _, values = one.partition("=")
                read.aliases[name.strip()] = _split(values, ",")
        else:
            read.specs.append((path, number, line))


def _lines(text: str) -> Iterator[tuple[int, str]]:
    """Logical lines with the number of their first one; comments after them taken away."""
    held, first = "", 0
    for number, line in enumerate(text.splitlines(), 1):
        first = first or number
        if line.endswith("\\"):
            held += line[:-1] + " "
            continue
        whole = (held + line).strip()
        if not whole.startswith(("#", "@")):
            whole = re.sub(r"(?<!\\)(?<!\S)#(?!\d).*", "", whole).strip()
        if whole:
            yield first, whole
        held, first = "", 0


def _split(text: str, mark: str) -> list[str]:
    """At a mark that is neither escaped nor in quotes."""
    parts = re.findall(rf'(?:\\.|"[^"]*"|[^"{mark}\\])+', text)
    return [part.strip() for part in parts if part.strip()]


def _rules(tree: Tree, read: _Read, file: str, line: int, text: str) -> Iterator[SudoRule]:
    """Raises ValueError for what is no user specification."""
    left, equals, right = text.partition("=")
    words = re.split(r"\s*,\s*|\s+", left.strip())
    if not equals or len(words) < 2:
        raise ValueError(text)
    # The last list of words before "=" is of hosts: which of these this is does not matter here.
    users_text = re.match(r"(\S+(?:\s*,\s*\S+)*)\s+\S+(?:\s*,\s*\S+)*\s*$", left.strip())
    if users_text is None:
        raise ValueError(text)
    users = _expanded(read, _split(users_text[1], ","))
    commands, nopasswd = [], []
    for part in _NEXT_HOSTS.split(right):
        asked, free = _commands(read, part)
        commands += asked
        nopasswd += free
    for who in users:
        if who.startswith("!"):
            continue
        for without, listed in ((True, nopasswd), (False, commands)):
            if listed:
                people = tuple(sorted(_people(tree, who)))
                nothing_asked = without or read.no_password
                yield SudoRule(who, people, nothing_asked, tuple(listed), file, line)


def _commands(read: _Read, text: str) -> tuple[list[str], list[str]]:
    """Commands as root that ask for a password, and those that do not."""
    asked: list[str] = []
    free: list[str] = []
    nopasswd, as_root = False, True
    for item in _split(re.sub(r"\(([^)]*)\)", _protected, text), ","):
        rest = item
        if run_as := re.match(r"\(([^)]*)\)\s*", rest):
            targets = _expanded(read, re.split(r"[\s\x1f]+", run_as[1].partition(":")[0].strip()))
            as_root = not targets or bool({"ALL", "root", "#0"} & set(targets)) or targets == [""]
            rest = rest[run_as.end() :]
        while tag := _TAG.match(rest):
            if tag[2] == "PASSWD":
                nopasswd = tag[1] == "NO"
            rest = rest[tag.end() :].lstrip()
        if as_root and rest:
            (free if nopasswd else asked).extend(_expanded(read, [rest]))
    return asked, free


def _protected(found: re.Match[str]) -> str:
    """The list of accounts in brackets, its commas hidden from the list of commands."""
    return "(" + found[1].replace(",", "\x1f") + ")"


def _expanded(read: _Read, words: list[str], depth: int = 0) -> list[str]:
    found: list[str] = []
    for word in words:
        plain = word.lstrip("!")
        sign = "!" if (len(word) - len(plain)) % 2 else ""
        if plain in read.aliases and depth < MOST_DEPTH:
            inner = _expanded(read, read.aliases[plain], depth + 1)
            found += [sign + one if sign else one for one in inner]
        else:
            found.append(sign + plain)
    return found


def _people(tree: Tree, who: str) -> set[str]:
    people = {one.name for one in tree.people}
    if who == "ALL":
        return people
    if who.startswith("%"):
        name = who[1:]
        if name.startswith("#"):
            gid = int(name[1:]) if name[1:].isdigit() else -1
            return {m for number, ms in tree.groups.values() if number == gid for m in ms} & people
        return set(tree.groups.get(name, (0, frozenset()))[1]) & people
    if who.startswith("#") and who[1:].isdigit():
        return {one.name for one in tree.people if one.uid == int(who[1:])}
    return {who} & people
