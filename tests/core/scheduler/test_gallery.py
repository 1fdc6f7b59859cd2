"""Each reason that the scheduler can give stands in a picture, with its whole sentence in both
languages; and a reason that is new fails here until it has one.
"""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from roost.core.scheduler import booked, explain, future
from roost.core.text import forecast, submit, wait
from tests.core.scheduler import gallery, gallery_forecast, gallery_refused

HERE = Path(__file__).parent
# Of the catalogue of waits what is no reason but a part of a sentence.
PARTS = {"after_more", "rule", "join", "is_free", "are_free", "gpu_list"}
# Of the catalogue of forecasts the sentences around the reasons.
AROUND = {"both", "exact", "likely", "about", "latest", "unknown", "unsaid", "listed"}


def written(name: str) -> dict[str, str]:
    """The situations of a text, by name."""
    text = (HERE / name).read_text(encoding="utf-8")
    return {part.partition("\n")[0]: part for part in text.rstrip("\n").split("\n\n")}


@pytest.mark.parametrize("name", gallery.SITUATIONS)
def test_a_wait_is_told_as_it_is_written(name: str) -> None:
    assert gallery.told(name) == written("gallery.txt")[name]


@pytest.mark.parametrize("name", gallery_refused.SITUATIONS)
def test_a_refusal_is_told_as_it_is_written(name: str) -> None:
    assert gallery_refused.told(name) == written("gallery_refused.txt")[name]


@pytest.mark.parametrize("name", gallery_forecast.SITUATIONS)
def test_a_start_that_cannot_be_told_says_why_as_it_is_written(name: str) -> None:
    assert gallery_forecast.told(name) == written("gallery_forecast.txt")[name]


def test_nothing_is_written_that_is_not_shown() -> None:
    assert written("gallery.txt").keys() == gallery.SITUATIONS.keys()
    assert written("gallery_refused.txt").keys() == gallery_refused.SITUATIONS.keys()
    assert written("gallery_forecast.txt").keys() == gallery_forecast.SITUATIONS.keys()


def test_every_reason_for_a_wait_has_a_picture() -> None:
    shown = {code for make in gallery.SITUATIONS.values() for code in gallery.codes_of(*make())}
    reasons = {
        code for code in wait.MESSAGES.keys() - PARTS if not code.startswith(("scope_", "out_"))
    }
    assert shown == reasons, "add a situation to gallery_rules.py or gallery_room.py"


def test_every_reason_for_a_refusal_has_a_picture() -> None:
    shown = {p.code for asked in gallery_refused.SITUATIONS.values() for p in asked.problems()}
    assert shown == submit.MESSAGES.keys(), "add a situation to gallery_refused.py"


def test_every_reason_why_a_start_cannot_be_told_has_a_picture() -> None:
    shown = {gallery_forecast.why(*make()).code for make in gallery_forecast.SITUATIONS.values()}
    assert shown == forecast.MESSAGES.keys() - AROUND, "add a situation to gallery_forecast.py"


def test_every_reason_in_the_code_has_a_sentence() -> None:
    """The first argument of whatever makes a reason, where it is written out."""
    for module, messages in ((explain, wait.MESSAGES), (booked, wait.MESSAGES),
                             (future, forecast.MESSAGES)):  # fmt: skip
        tree = ast.parse(Path(module.__file__ or "").read_text(encoding="utf-8"))
        for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
            name = call.func.id if isinstance(call.func, ast.Name) else ""
            if name in ("_reason", "_reason_of", "Reason") and call.args:
                code = call.args[0]
                if isinstance(code, ast.Constant):
                    assert code.value in messages, ast.unparse(call)


def test_chinese_is_chinese() -> None:
    """Every sentence of the pictures has its Chinese, and it is not the English one."""
    for name in ("gallery.txt", "gallery_refused.txt", "gallery_forecast.txt"):
        for part in written(name).values():
            english, chinese = part.split("\n    ")[-2:]
            assert english != chinese
            assert any("\u4e00" <= letter <= "\u9fff" for letter in chinese), part
