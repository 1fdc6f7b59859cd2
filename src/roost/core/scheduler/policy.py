"""How the waiting are ordered and holes are filled: by the rules, or as a textbook does it.

The textbook orders are what the replay compares with. They are orderings over the same machine:
one scheduler, never a second one.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from roost.core.rules.model import Rules


class By(StrEnum):
    """What a job's turn is reckoned from, before fair share; the smallest comes first."""

    SUBMISSION = "submission"
    WALLTIME = "walltime"
    REMAINING = "remaining"
    REMAINING_AREA = "remaining_area"
    SHORT_FIRST = "short_first"


class Backfill(StrEnum):
    """What jobs behind one that finds no room may do.

    NONE: wait. ANY: start wherever they fit. FIRST: start where they do not delay the first of
    each kind. ALL: start where they delay nobody, everyone's place being laid anew each time.
    """

    NONE = "none"
    ANY = "any"
    FIRST = "first"
    ALL = "all"


@dataclass(frozen=True, slots=True)
class Policy:
    """`preempts`: a job takes GPUs from running ones of its class whose turn is later by `margin_s`
    or more and that have run for `min_run_s`, whoever they belong to. `fair`: turns are mixed with
    fair share and age of the rules.

    SHORT_FIRST: turn = submission + min(`stretch` × left × GPUs^`width`, cap) + `tail` × left,
    where left is the expected remaining time, and cap = `delay_s` + `delay_factor` × the time in
    which the queue at submission drains. The first part serves short jobs first and all others in
    the order in which they came; the last lets the few longest wait, so that all others wait less.
    """

    by: By = By.SUBMISSION
    backfill: Backfill = Backfill.FIRST
    preempts: bool = False
    fair: bool = True
    margin_s: float = 0.0
    min_run_s: float = 0.0
    stretch: float = 1.0
    width: float = 0.0
    tail: float = 0.0
    delay_s: float = 0.0
    delay_factor: float = 0.0


FAIR = Policy()
BASELINES = {
    "fifo": Policy(backfill=Backfill.NONE, fair=False),
    "easy": Policy(backfill=Backfill.FIRST, fair=False),
    "conservative": Policy(backfill=Backfill.ALL, fair=False),
    "sjf": Policy(By.WALLTIME, Backfill.NONE, fair=False),
    "srtf": Policy(By.REMAINING, Backfill.ANY, preempts=True, fair=False),
    "srsf": Policy(By.REMAINING_AREA, Backfill.ANY, preempts=True, fair=False),
}


def policy_of(rules: Rules) -> Policy:
    """The policy that the rules ask for."""
    asked = rules.scheduling
    if asked.mode != "throughput":
        return FAIR
    return Policy(
        By.SHORT_FIRST,
        Backfill.ANY,
        preempts=True,
        margin_s=asked.margin_s,
        min_run_s=asked.min_run_s,
        stretch=asked.stretch,
        width=asked.width,
        tail=asked.tail,
        delay_s=asked.delay_s,
        delay_factor=asked.delay_factor,
    )
