"""The source as a whole: what the core may import, how long a file may be, what messages say."""

from __future__ import annotations

import ast
import pkgutil
import string
import sys
from importlib import import_module
from pathlib import Path

import pytest

import roost
import roost.core.text

SOURCE = Path(roost.__file__).resolve().parent
LONGEST = 430


def modules_imported(path: Path) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            found.add(node.module or "")
    return found


@pytest.mark.parametrize(
    "path", sorted((SOURCE / "core").rglob("*.py")), ids=lambda p: str(p.relative_to(SOURCE))
)
def test_the_core_imports_the_standard_library_and_itself_alone(path: Path) -> None:
    foreign = {
        name
        for name in modules_imported(path)
        if name.split(".")[0] not in sys.stdlib_module_names
        and name != "roost.core"
        and not name.startswith("roost.core.")
    }
    assert not foreign


def test_the_core_reads_no_clock_and_draws_no_chance() -> None:
    forbidden = {"time", "random", "secrets", "socket", "subprocess", "threading", "asyncio"}
    guilty = {
        str(path.relative_to(SOURCE)): sorted(modules_imported(path) & forbidden)
        for path in (SOURCE / "core").rglob("*.py")
        if modules_imported(path) & forbidden
    }
    assert not guilty
    for path in (SOURCE / "core").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                asked = ast.unparse(node.func)
                assert not asked.endswith(
                    ("datetime.now", "datetime.utcnow", "datetime.today", "date.today")
                ), f"{path}:{node.lineno}"


def test_no_source_file_is_longer_than_a_person_reads_at_once() -> None:
    lengths = {
        str(path.relative_to(SOURCE)): len(path.read_text().splitlines())
        for path in SOURCE.rglob("*.py")
    }
    assert {name: n for name, n in lengths.items() if n > LONGEST} == {}


@pytest.mark.parametrize("path", sorted(SOURCE.rglob("*.py")), ids=lambda p: str(p.name))
def test_every_file_says_at_its_top_what_it_is_for(path: Path) -> None:
    if not path.read_text().strip():
        return
    assert ast.get_docstring(ast.parse(path.read_text())), path


def catalogue_entries() -> list[tuple[str, str, str]]:
    entries = []
    for info in pkgutil.iter_modules(roost.core.text.__path__):
        area = import_module(f"roost.core.text.{info.name}")
        for code, pair in getattr(area, "MESSAGES", {}).items():
            entries.append((f"{info.name}.{code}", *pair))
    return entries


def placeholders(text: str) -> set[str]:
    return {field.split(".")[0] for _, field, _, _ in string.Formatter().parse(text) if field}


def test_every_message_is_there_in_both_languages_with_the_same_numbers() -> None:
    entries = catalogue_entries()
    assert entries, "no catalogue was found"
    for code, english, chinese in entries:
        assert bool(english.strip()) == bool(chinese.strip()), code
        assert placeholders(english) == placeholders(chinese), code


def test_the_chinese_of_a_message_is_chinese() -> None:
    for code, english, chinese in catalogue_entries():
        if code.startswith("audit.") and code.endswith(".do"):
            continue  # a command is the same in every language
        words = any(len(word) > 3 and word.isalpha() for word in english.split())
        if words and chinese == english:
            assert english.isupper() or " " not in english.strip(), f"{code} is not translated"
