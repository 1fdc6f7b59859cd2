"""`roost wait`: until jobs have ended, through restarts of the daemon; then exit as they did."""

from __future__ import annotations

import time
from functools import partial

from roost.cli.commands import ENDED
from roost.client.errors import AnswerLostError, NoDaemonError, RoostError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from roost.cli.context import Context

TIMED_OUT = 124
POLL_S = 30.0


def wait(context: Context) -> int:
    """Exit code of the first job that did not end well, in the order given."""
    return wait_for(context, context.given.arguments, context.option("timeout"))


def wait_for(context: Context, jobs: list[int], timeout_s: float | None = None) -> int:
    deadline = None if timeout_s is None else time.monotonic() + timeout_s
    codes, ended = [], []
    for number in jobs:
        job = until_ended(context, number, deadline)
        if job["state"] not in ENDED:
            if not context.json:
                context.note("still_waits", job=number, state=job["state"])
            codes.append(TIMED_OUT)
        else:
            codes.append(exit_code(job))
        ended.append(job)
    if context.json:
        context.out_json({"jobs": ended})
    return next((code for code in codes if code), 0)


def until_ended(context: Context, number: int, deadline: float | None = None) -> Any:
    """The job when it has ended, or as it is at the deadline."""
    context.client().job(number)  # an unknown job is said at once, as is a daemon that is not there
    while True:
        left = POLL_S if deadline is None else min(POLL_S, max(0.0, deadline - time.monotonic()))
        job = patiently(context, partial(context.client().wait, number, left), deadline)
        if job["state"] in ENDED or (deadline is not None and time.monotonic() >= deadline):
            return job


def patiently(context: Context, ask: Callable[[], Any], deadline: float | None = None) -> Any:
    """What `ask` returns; while the daemon is away it is asked again, and that is said once.

    A daemon that was never there is an error at once: only one that answered before is waited for.
    """
    told = False
    while True:
        try:
            return ask()
        except (NoDaemonError, AnswerLostError):
            if not context.client().answered:
                raise
        except RoostError as error:
            if error.status not in (502, 503, 504) and error.code != "timeout":
                raise
        if not told:
            context.note("daemon_away")
            told = True
        if deadline is not None and time.monotonic() >= deadline:
            return ask()
        time.sleep(0.3)


def exit_code(job: Any) -> int:
    """As the job ended: its code, 128+N for a signal, 124 for its time limit, 1 for no code."""
    state = job["state"]
    if state == "COMPLETED":
        return 0
    if state == "TIMEOUT":
        return TIMED_OUT
    if job.get("signal"):
        return 128 + int(job["signal"])
    if job.get("exit_code"):
        return int(job["exit_code"])
    return 137 if state == "OUT_OF_MEMORY" else 1
