"""A rules file with slips of the pen: it loads, or every problem names a line."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from roost.core.rules.calendar import Calendar
from roost.core.rules.example import EXAMPLE
from roost.core.rules.load import load
from roost.core.rules.read import RulesError, RulesProblem
from roost.core.rules.settings import settings_of, written

SETTING = re.compile(r"# (?=\[|[a-z_]+ = )")
WHOLE = "\n".join(SETTING.sub("", line, count=1) for line in EXAMPLE.splitlines())
WORDS = ["", "x", "-1", "0", '"night"', "[]", "[[]]", "true", "nan", '"4 h"', "=", "[", "]", "é"]


def problems_of(text: str) -> tuple[RulesProblem, ...]:
    try:
        load(text)
    except RulesError as error:
        return error.problems
    return ()


@given(st.data())
def test_a_mutated_example_loads_or_names_a_line(data: st.DataObject) -> None:
    """A line left out or doubled, two exchanged, a word put in place of another, a letter lost."""
    lines = WHOLE.splitlines()
    for _ in range(data.draw(st.integers(1, 3))):
        n = data.draw(st.integers(0, len(lines) - 1))
        match data.draw(st.sampled_from(["drop", "double", "swap", "value", "letter", "key"])):
            case "drop":
                lines[n] = ""
            case "double":
                lines.insert(n, lines[n])
            case "swap":
                m = data.draw(st.integers(0, len(lines) - 1))
                lines[n], lines[m] = lines[m], lines[n]
            case "value":
                lines[n] = lines[n].split("=")[0] + "= " + data.draw(st.sampled_from(WORDS))
            case "letter" if lines[n]:
                at = data.draw(st.integers(0, len(lines[n]) - 1))
                lines[n] = lines[n][:at] + data.draw(st.characters()) + lines[n][at + 1 :]
            case "key":
                lines[n] = "x" + lines[n]
    text = "\n".join(lines)
    found = problems_of(text)
    for problem in found:
        assert problem.line is not None
        assert 1 <= problem.line <= text.count("\n") + 1
        assert problem.text("en")
        assert problem.text("zh")
    if not found:
        Calendar(load(text))  # what loads can be used, and written again
        kept = written(settings_of(load(text)))
        assert written(settings_of(load(kept))) == kept
