"""A submission that the rules allow, as records and scheduler events: one job, or an array's.

Elements of an array share everything but their number and index, here, in memory and in the
database: what is done for each of them is done ten thousand times.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from roost.core.model import EndReason, JobState
from roost.core.scheduler.events import JobSubmitted
from roost.core.text.catalogue import say
from roost.server.intents import Submit
from roost.server.submission import checked
from roost.server.work import Work
from roost.store.jobs import find_job
from roost.store.records import JobRecord, Said

SHOWN_COMMAND_BYTES = 4096


def queue(work: Work, wanted: Submit) -> Callable[[], Any]:
    """Queues it; after the commit: the jobs' numbers, and the first one's state.

    Raises RefusalError, StoreError.
    """
    key = None if wanted.key is None else (wanted.person.uid, wanted.key)
    if key is not None and (known := work.submitted.get(key) or work.new_submissions.get(key)):
        return _answer(work, *known)
    group, priority_class, after = checked(work, wanted)
    number = work.next_job
    first = JobRecord(
        id=number, user=wanted.person.name, uid=wanted.person.uid, group=group,
        priority_class=priority_class, state=JobState.PENDING, name=wanted.name,
        request=wanted.request, submitted_at=work.now, begin_at=wanted.begin_at,
        after=wanted.after, array_limit=wanted.array_limit, held=wanted.held,
        requeue=wanted.requeue, pty=wanted.pty, directory=wanted.directory,
        output=wanted.output, command=_shown(wanted.command), source=wanted.source,
        input_id=number, env=wanted.env,
    )  # fmt: skip
    if wanted.indices is None:
        jobs = [first]
        work.add(first)
    else:
        alike = msgspec.structs.replace
        jobs = [
            alike(first, id=each, array_id=number, array_index=index)
            for each, index in enumerate(wanted.indices, number)
        ]
        work.add_array(jobs)
    work.next_job += len(jobs)
    work.inputs[number] = wanted.given
    work.new_inputs.append(number)
    if after is None:
        _never(work, jobs)
    else:
        now = work.now
        work.events += [JobSubmitted(now, job.scheduled(after)) for job in jobs]
    if wanted.reason:
        numbers = f"job {number}" if len(jobs) == 1 else f"jobs {number} to {work.next_job - 1}"
        work.audit(
            wanted.person.uid, wanted.person.name, "submit", subject=numbers,
            outcome=priority_class.value, detail=wanted.reason,
        )  # fmt: skip
    if key is not None:
        work.new_submissions[key] = (number, len(jobs))
    return _answer(work, number, len(jobs))


def _answer(work: Work, first: int, count: int) -> Callable[[], Any]:
    def answer() -> tuple[list[int], JobState]:
        job = work.jobs.get(first)
        if job is None:
            with work.store.read() as connection:
                job = find_job(connection, first)
        state = job.state if job is not None else JobState.CANCELLED
        return list(range(first, first + count)), state

    return answer


def _never(work: Work, jobs: list[JobRecord]) -> None:
    """Jobs that wait for one that has ended without completing end like they would have."""
    said = Said("wait.dependency_failed")
    text = say("en", said.message)
    for job in jobs:
        work.put(
            msgspec.structs.replace(
                job, state=JobState.CANCELLED, ended_at=work.now, end_reason=EndReason.CANCELLED,
                text=text, said=said,
            )
        )  # fmt: skip


def _shown(command: tuple[bytes, ...]) -> tuple[bytes, ...]:
    """The command cut to what is worth showing."""
    room = SHOWN_COMMAND_BYTES
    shown: list[bytes] = []
    for word in command:
        if len(word) > room:
            shown.append(word[:room] + "…".encode())
            break
        shown.append(word)
        room -= len(word) + 1
    return tuple(shown)
