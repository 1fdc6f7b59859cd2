"""Steps, remarks and problems of accounts as sentences and JSON; a plan's fingerprint. Pure."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

from roost.core.accounts.model import Do, Plan, Problem, Remark, Step
from roost.core.text.catalogue import say
from roost.core.text.numbers import bytes_text
from roost.core.text.printable import printable


def step_text(step: Step, language: str) -> str:
    """What the step does, as a person says it."""
    code = f"step_{step.do.value}"
    if step.do in (Do.ARCHIVE, Do.REMOVE) and not step.home:
        code += "_bare"
    numbers: dict[str, Any] = {
        "user": step.user, "uid": step.uid, "group": step.group, "text": step.text,
        "home": step.home, "before": step.before,
        "numbers": ", ".join(map(str, step.numbers)),
    }  # fmt: skip
    if step.do is Do.CREATE:
        numbers["full_name"] = f" “{step.text}”" if step.text else ""
    elif step.do is Do.KEY:
        numbers["key"] = short_key(step.text)
    elif step.do is Do.QUOTA:
        numbers["size"] = _size(step.size_bytes, language)
        numbers["before"] = _size(int(step.before or 0), language)
    elif step.do is Do.PUT_OUT:
        numbers |= zip(("sessions", "tokens", "feeds"), step.numbers, strict=True)
    return say(language, f"account.{code}", **numbers)


def _size(count: int | None, language: str) -> str:
    return bytes_text(count) if count else say(language, "account.without_quota")


def short_key(key: str) -> str:
    """Type, the end of the data, and comment: enough to tell keys apart."""
    kind, data, *comment = printable(key.encode("utf-8", "replace")).split(" ", 2)
    return " ".join((kind, "…" + data[-8:], *(each[:60] for each in comment)))


def as_dict(plan: Plan, language: str) -> dict[str, Any]:
    """The plan as the API tells it."""
    return {
        "steps": [step_dict(step, language) for step in plan.steps],
        "remarks": [remark_dict(remark, language) for remark in plan.remarks],
        "problems": [problem_dict(problem, language) for problem in plan.problems],
        "plan": fingerprint(plan),
    }


def step_dict(step: Step, language: str) -> dict[str, Any]:
    text = step_text(step, language)
    return {"step": step.do.value, "user": step.user or None, "text": text}


def remark_dict(remark: Remark, language: str) -> dict[str, Any]:
    text = say(language, f"account.{remark.code}", user=remark.user, **remark.numbers)
    return {"user": remark.user, "code": remark.code, "text": text}


def problem_dict(problem: Problem, language: str) -> dict[str, Any]:
    return {
        "row": problem.row,
        "user": problem.user or None,
        "column": problem.column,
        "value": problem.value,
        "code": problem.code,
        "text": problem_text(problem, language),
    }


def problem_text(problem: Problem, language: str) -> str:
    """What is wrong, and after it what to do."""
    numbers: Mapping[str, Any] = {"user": problem.user, **problem.numbers}
    return say(language, f"account.{problem.code}", **numbers)


def fingerprint(plan: Plan) -> str:
    """The same for the same steps: what was shown is then what is done."""
    return hashlib.sha256(repr(plan.steps).encode("utf-8", "surrogatepass")).hexdigest()[:32]
