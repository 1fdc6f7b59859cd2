"""When a waiting job is expected to start, as a sentence: how likely and how late, or why it
cannot be said. Times come written as people read them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from roost.core.text.catalogue import say

if TYPE_CHECKING:
    from roost.core.scheduler.decisions import Reason

MESSAGES = {
    "both": (
        "Expected to start about {at} (in {span}); at the latest {latest}, unless somebody comes"
        " before.",
        "预计 {at} 前后开始（还有 {span}）；若无人排到前面，最迟 {latest}。",
    ),
    "exact": (
        "Expected to start by {at} (in {span}) at the latest, unless somebody comes before.",
        "若无人排到前面，最迟 {at} 开始（还有 {span}）。",
    ),
    "likely": (
        "Expected to start about {at} (in {span}); how late at most cannot be said: {why}.",
        "预计 {at} 前后开始（还有 {span}）；最迟何时无法确定：{why}。",
    ),
    "about": (
        "Expected to start about {at} (in {span}).",
        "预计 {at} 前后开始（还有 {span}）。",
    ),
    "latest": (
        "Starts at {latest} at the latest, unless somebody comes before.",
        "若无人排到前面，最迟 {latest} 开始。",
    ),
    "unknown": ("When it starts cannot be said: {why}.", "无法预计开始时间：{why}。"),
    "unsaid": ("When it starts cannot be said.", "无法预计开始时间。"),
    "open": (
        "job {job} of {user} runs without a time limit",
        "{user} 的作业 {job} 没有运行时限",
    ),
    "open_later": (
        "job {job} of {user} goes first and says no walltime",
        "排在前面的作业 {job}（{user}）没有给出时长",
    ),
    "never": (
        "that other jobs end is not enough",
        "仅等其他作业结束还不够",
    ),
    "far": (
        "so much goes first that it cannot be looked ahead so far",
        "排在前面的太多，无法推算到那么远",
    ),
    "listed": ("{said}; expected about {at}", "{said}；预计 {at} 前后开始"),
}


def render_unknown(language: str, reason: Reason) -> str:
    """Why it cannot be said, as a part of a sentence."""
    return say(language, f"forecast.{reason.code}", **dict[str, object](reason.numbers))


def forecast_sentence(
    language: str, at: str | None, span: str, latest: str | None, why: str | None
) -> str:
    """`at`: the likely start, `span`: how long until then, `latest`: the latest start, each None
    where it is not known; `why`: the reason for that."""
    if at is None and latest is None:
        return say(language, "forecast.unknown" if why else "forecast.unsaid", why=why)
    if at is None:
        code = "latest"
    elif latest is None:
        code = "likely" if why else "about"
    else:
        code = "exact" if latest == at else "both"
    return say(language, f"forecast.{code}", at=at, span=span, latest=latest, why=why)
