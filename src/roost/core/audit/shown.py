"""A finding in words, in any language."""

from __future__ import annotations

from roost.core.audit.model import (
    Change,
    Finding,
    HoldUpdates,
    SetKernel,
    SetMode,
    SetSshd,
    SetToolkit,
)
from roost.core.text.catalogue import say
from roost.core.text.printable import printable

_KINDS = ("hugging_face", "api_key", "github", "gitlab", "aws", "slack", "google", "jwt", "roost",
          "url", "option", "variable")  # fmt: skip


def text_of(language: str, finding: Finding) -> str:
    return _said(language, finding, "")


def risk_of(language: str, finding: Finding) -> str:
    return _said(language, finding, ".risk")


def remedy_of(language: str, finding: Finding) -> str:
    return _said(language, finding, ".do")


def _said(language: str, finding: Finding, what: str) -> str:
    numbers = dict(finding.numbers)
    if numbers.get("kind") in _KINDS:
        numbers["kind"] = say(language, f"audit.kind.{numbers['kind']}")
    return say(language, f"audit.{finding.code}{what}", **numbers)


def change_of(language: str, change: Change) -> str:
    """What a fix would do, as a sentence."""
    match change:
        case SetMode(path=path):
            numbers = {
                "path": printable(path),
                "before": f"{change.mode:04o}",
                "after": f"{change.after:04o}",
            }
        case SetKernel(name=name) | SetSshd(keyword=name):
            numbers = {"name": name, "before": change.before, "after": change.after}
        case SetToolkit(path=path, key=key):
            numbers = {"path": printable(path), "name": key, "after": change.after}
        case HoldUpdates(packages=packages):
            numbers = {"name": ", ".join(packages)}
    return say(language, f"audit.change.{type(change).__name__}", **numbers)
