"""Routes of jobs: submit, list, look, wait, and what their owners may do to them."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

from fastapi import APIRouter, Header, Path, Query, Response

from roost.core.model import JobState
from roost.core.scheduler.decisions import Wait
from roost.server.api.context import Call, Caller, answer
from roost.server.api.environments import environment_path
from roost.server.api.models import (
    MAX_JOB,
    MAX_KEY,
    DoneOut,
    JobOut,
    JobsOut,
    SignalIn,
    SubmissionIn,
    SubmittedOut,
    WhyOut,
    signal_number,
)
from roost.server.api.problems import accepted_language
from roost.server.api.render import why_json
from roost.server.api.submitted import intent_of
from roost.server.intents import Cancel, Explain, Hold, Note, Requeue
from roost.server.refusal import RefusalError
from roost.server.web.access import audit_by
from roost.store import jobs as queries
from roost.store.records import JobRecord

router = APIRouter(prefix="/v1/jobs", tags=["jobs"])
Number = Annotated[int, Path(ge=0, le=MAX_JOB, description="A job's number")]
MAX_ROWS = 10_000
AGENT_S = 30.0


def job_row(call: Call, job: JobRecord) -> Any:
    context = call.context
    return context.jobs.raw(job, call.person, call.language, context.time_zone, context.board.gpus)


async def found(call: Call, number: int) -> JobRecord:
    """The job, live or ended. Raises RefusalError 404."""
    context = call.context
    job = context.board.jobs.get(number)
    if job is None:

        def look() -> JobRecord | None:
            with context.store.read() as connection:
                return queries.find_job(connection, number)

        job = await context.in_thread(look)
    if job is None:
        raise RefusalError(404, "problem.no_job", {"job": number}, job=number)
    return job


@router.post("", status_code=201, response_model=SubmittedOut)
async def submit(
    given: SubmissionIn,
    call: Caller,
    idempotency_key: Annotated[str | None, Header(min_length=1, max_length=MAX_KEY)] = None,
) -> Response:
    """Queue a job, or an array of jobs, that runs as the caller.

    Asked again within an hour with the same `Idempotency-Key`, the answer is that of the first
    time: who lost the answer asks again, and queues once.
    """
    return await submitted(call, given, idempotency_key)


async def submitted(call: Call, given: SubmissionIn, key: str | None) -> Response:
    """Queues what was given, and the answer. Raises RefusalError, StoreError."""
    context = call.context
    env_path = await environment_path(call, given.env)
    intent = intent_of(given, call.person, context.board.rules.rules, key, env_path)
    numbers, state = await context.intend(intent)
    body: dict[str, Any] = {"job": numbers[0], "state": state.value}
    if intent.indices is not None:
        body["jobs"] = numbers
    body["notes"] = []
    return answer(body, 201)


@router.get("", response_model=JobsOut)
async def listed(
    call: Caller,
    state: Annotated[str | None, Query(description="States, by comma")] = None,
    user: Annotated[str | None, Query(max_length=200)] = None,
    ended: Annotated[bool, Query(description="Ended jobs too, newest first")] = False,
    limit: Annotated[int, Query(ge=1, le=MAX_ROWS)] = 1000,
    after: Annotated[int | None, Query(ge=0, le=MAX_JOB, description="Last number seen")] = None,
) -> Response:
    """Live jobs by number; with `ended` all jobs, newest first, `after` going back in time."""
    states = _states(state)
    jobs = [
        job
        for job in call.context.board.live()
        if (user is None or job.user == user) and (not states or job.state in states)
    ]
    if not ended:
        if after is not None:
            jobs = [job for job in jobs if job.id > after]
        jobs = jobs[: limit if after is not None else MAX_ROWS * 10]
        await call.context.somebody(user, bool(jobs))
        return answer({"jobs": [job_row(call, job) for job in jobs]})
    live = {job.id: job for job in jobs if after is None or job.id < after}
    past = await call.context.in_thread(
        lambda: _past(call, limit, after, user, [s.value for s in states if s.ended], not states)
    )
    together = {**{job.id: job for job in past}, **live}
    newest = sorted(together.values(), key=lambda job: -job.id)[:limit]
    await call.context.somebody(user, bool(newest))
    return answer({"jobs": [job_row(call, job) for job in newest]})


def _states(text: str | None) -> list[JobState]:
    if not text:
        return []
    found = []
    for word in text.split(","):
        try:
            found.append(JobState(word.strip().upper()))
        except ValueError:
            allowed = ", ".join(JobState)
            raise RefusalError(
                422, "problem.invalid", {"key": "state", "allowed": list(JobState)},
                key="state", problem=f"{word[:40]!r} ≠ {allowed}",
            ) from None  # fmt: skip
    return found


def _past(
    call: Call, limit: int, after: int | None, user: str | None, states: list[str], every: bool
) -> list[JobRecord]:
    if not states and not every:
        return []
    with call.context.store.read() as connection:
        return queries.ended_jobs(connection, limit, after, user, states)


@router.get("/{number}", response_model=JobOut)
async def one(number: Number, call: Caller) -> Response:
    """One job, whole."""
    return answer(job_row(call, await found(call, number)))


@router.get("/{number}/why", response_model=WhyOut)
async def why(number: Number, call: Caller, lang: str | None = None) -> Response:
    """What a waiting job waits for, which rules and jobs stand before it, and until when."""
    language = accepted_language(lang[:16]) if lang else call.language
    job = await found(call, number)
    wait: Wait | None = None
    if job.state.waits:
        told, future = await call.context.intend(Explain(number))
        wait = await asyncio.wrap_future(call.context.control.foresight.ask(future, told))
    return answer(why_json(job, wait, language, call.context.time_zone, call.context.clock()))


@router.get("/{number}/wait", response_model=JobOut)
async def wait(
    number: Number,
    call: Caller,
    timeout_s: Annotated[float, Query(ge=0, le=86_400, allow_inf_nan=False)] = 30.0,
) -> Response:
    """The job when it has ended, or as it is at the timeout."""
    live = call.context.live
    future = live.ending(number)
    try:
        job = await found(call, number)
        if job.ended_at is None and timeout_s > 0:
            done, _ = await asyncio.wait({future}, timeout=timeout_s)
            if done and not future.cancelled():
                job = future.result()
            else:
                job = await found(call, number)
    finally:
        live.forget(number, future)
    return answer(job_row(call, job))


@router.post("/{number}/cancel", response_model=JobOut)
async def cancel(number: Number, call: Caller) -> Response:
    """End the job: at once where it waits, by signal and grace where it runs."""
    return answer(job_row(call, await call.context.intend(Cancel(call.person, number))))


@router.post("/{number}/hold", response_model=JobOut)
async def hold(number: Number, call: Caller) -> Response:
    """Keep a pending job from starting."""
    return answer(job_row(call, await call.context.intend(Hold(call.person, number, True))))


@router.post("/{number}/release", response_model=JobOut)
async def release(number: Number, call: Caller) -> Response:
    """Let a held job start again."""
    return answer(job_row(call, await call.context.intend(Hold(call.person, number, False))))


@router.post("/{number}/requeue", response_model=JobOut)
async def requeue(number: Number, call: Caller) -> Response:
    """Stop a running job and put it back into the queue."""
    return answer(job_row(call, await call.context.intend(Requeue(call.person, number))))


@router.post("/{number}/signal", response_model=DoneOut)
async def signal(number: Number, given: SignalIn, call: Caller) -> Response:
    """Send a running job one signal."""
    try:
        which = signal_number(given.signal)
    except ValueError:
        raise RefusalError(
            422, "problem.bad_signal", {"key": "signal"}, value=given.signal
        ) from None
    context, person = call.context, call.person
    job = await found(call, number)
    if not person.may_handle(job.uid, job.group):
        raise RefusalError(403, "problem.not_your_job", {"job": number}, job=number, user=job.user)
    if not job.state.holds_gpus:
        raise RefusalError(
            409, "problem.not_running_signal", {"job": number, "state": job.state.value},
            job=number, state=job.state.value,
        )  # fmt: skip
    await context.asked(context.engine.signal(job.id, job.attempt, which), AGENT_S)
    said = audit_by(person, "signal", subject=f"job {job.id}", whom=job.user, detail=given.signal)
    await context.intend(Note(said))
    return answer({"done": True})
