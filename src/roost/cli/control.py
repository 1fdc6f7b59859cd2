"""Commands that change one thing and say what became of it: jobs, GPUs, the driver."""

from __future__ import annotations

from roost.client.errors import RoostError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from roost.cli.context import Context


def cancel(context: Context) -> int:
    return each_job(context, context.client().cancel)


def hold(context: Context) -> int:
    return each_job(context, context.client().hold)


def release(context: Context) -> int:
    return each_job(context, context.client().release)


def requeue(context: Context) -> int:
    return each_job(context, context.client().requeue)


def each_job(context: Context, act: Callable[[int], Any]) -> int:
    """Does it to every job named, tells each that failed, and exits as the first that did."""
    from roost.cli.failure import sentence

    first, done = 0, []
    for number in context.given.arguments:
        try:
            job = act(number)
        except RoostError as error:
            text, code = sentence(context, error)
            if code == 3:
                raise
            context.err(f"roost {context.command} {number}: {text}")
            first = first or code
            continue
        done.append(job)
        if not context.json:
            state = context.say("state." + str(job.get("state", "")))
            context.out(context.say("did." + context.command, job=number, state=state))
    if context.json:
        context.out_json({"jobs": done})
    return first


def drain(context: Context) -> int:
    gpu = context.given.arguments[0]
    answer = context.client().drain(gpu, context.option("reason", ""))
    return _done(context, answer, "did.drain", gpu=gpu)


def undrain(context: Context) -> int:
    gpu = context.given.arguments[0]
    return _done(context, context.client().undrain(gpu), "did.undrain", gpu=gpu)


def driver_release(context: Context) -> int:
    return _done(context, context.client().driver_release(), "did.driver_release")


def driver_hold(context: Context) -> int:
    return _done(context, context.client().driver_hold(), "did.driver_hold")


def _done(context: Context, answer: Any, message: str, **numbers: object) -> int:
    if context.json:
        context.out_json(answer)
    else:
        context.out(context.say(message, **numbers))
    return 0
