"""A job's output, a piece at a time: for its owner and operators, read by the agent as its owner.

Knows nothing of files: who may look, how often, and what is fit to show.
"""

from __future__ import annotations

from collections import Counter
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Response

from roost.core.plain import plain, start_of_text
from roost.core.text.catalogue import say
from roost.core.text.printable import printable
from roost.server.api.context import Call, Caller, answer
from roost.server.api.jobs import Number, found
from roost.server.api.shapes import Out
from roost.server.intents import Note
from roost.server.refusal import RefusalError
from roost.server.web.access import audit_by
from roost.server.web.limits import Limit
from roost.store.records import JobRecord
from roost.wire.messages import OutputRead, ReadOutput

router = APIRouter(prefix="/v1/jobs", tags=["jobs"])
MOST_BYTES = 256 * 1024
MOST_WAIT_S = 20
AGENT_S = 15.0
MOST_AT_ONCE = 4
# Each is a process on the machine, so no program may ask for them in a loop.
MOST_READS, READS_S = 240, 60.0
NOTED_S = 3600.0
_there: Counter[int] = Counter()
_reads = Limit(MOST_READS, READS_S)
_noted = Limit(1, NOTED_S)


class OutputOut(Out):
    """`text` stands for the bytes from `offset` to `next` of a file of `size_bytes`: without escape
    sequences and control characters but line feed, tab and carriage return.

    `state`: "open"; "none": the job has no output file; "waiting": it has not begun; "gone": there
    is no such file; "no_file": no regular file; "unreadable" to its own user; "slow": the disk does
    not answer; "busy": too many are looked at. `detail` says it. `file` changes when another file
    is there: `offset` is then not what was asked for.
    """

    job: int
    state: Literal["open", "none", "waiting", "gone", "no_file", "unreadable", "slow", "busy"]
    detail: str | None
    ended: bool
    attempt: int
    file: str
    size_bytes: int
    offset: int
    next: int
    text: str


@router.get("/{number}/output", response_model=OutputOut)
async def output(
    number: Number,
    call: Caller,
    offset: Annotated[
        int | None, Query(ge=0, le=2**62, description="First byte; without it the last ones")
    ] = None,
    limit: Annotated[int, Query(ge=1024, le=MOST_BYTES, description="Bytes at most")] = 65_536,
    file: Annotated[
        str, Query(max_length=40, pattern="^[0-9a-f-]*$", description="As the last answer named it")
    ] = "",
    wait_s: Annotated[
        int, Query(ge=0, le=MOST_WAIT_S, description="Wait so long for something new")
    ] = 0,
) -> Response:
    """A piece of what the job has printed; of a file that grows, what is new since `offset`."""
    job = await found(call, number)
    person = call.person
    if not person.operator and person.uid != job.uid:
        raise RefusalError(403, "problem.not_your_output", {"job": number}, job=number)
    path = job.output_file()
    if not path:
        return _told(call, job, "none")
    if job.attempt == 0:
        return _told(call, job, "waiting")
    await _note(call, job)
    ended = job.ended_at is not None
    question = ReadOutput(
        user=job.user, uid=job.uid, path=path, offset=offset, limit=limit, file=file,
        wait_s=0 if ended else wait_s,
    )  # fmt: skip
    read = await _read(call, question)
    if read.state != "open":
        return _told(call, job, read.state, printable(read.why.encode()))
    cut = read.offset > 0 and read.offset != offset
    skipped = start_of_text(read.data) if cut else 0
    more = not ended or read.offset + len(read.data) < read.size
    text, used = plain(read.data[skipped:], more)
    begins = read.offset + skipped
    return _told(
        call, job, "open", file=read.file, size_bytes=read.size, offset=begins,
        next=begins + used, text=text,
    )  # fmt: skip


async def _read(call: Call, question: ReadOutput) -> OutputRead:
    """Raises RefusalError: too many at once, or one after another."""
    person, context = call.person, call.context
    wait = _reads.wait_s(str(person.uid))
    if _there[person.uid] >= MOST_AT_ONCE or wait > 0:
        raise RefusalError(
            429, "problem.too_many_outputs", {"limit": MOST_AT_ONCE, "wait_s": max(1, int(wait))},
            limit=MOST_AT_ONCE,
        )  # fmt: skip
    _reads.take(str(person.uid))
    _there[person.uid] += 1
    try:
        read = await context.asked(context.engine.ask(question), question.wait_s + AGENT_S)
    finally:
        _there[person.uid] -= 1
        if _there[person.uid] <= 0:
            del _there[person.uid]
    if not isinstance(read, OutputRead):
        raise RefusalError(502, "problem.agent_refused", text="no output was answered")
    return read


async def _note(call: Call, job: JobRecord) -> None:
    """That an operator looked at what another's job printed; once an hour."""
    person = call.person
    key = f"{person.uid} {job.id}"
    if person.uid == job.uid or _noted.wait_s(key) > 0:
        return
    _noted.take(key)
    said = audit_by(person, "output", subject=f"job {job.id}", whom=job.user)
    await call.context.intend(Note(said))


def _told(call: Call, job: JobRecord, state: str, why: str = "", **more: Any) -> Response:
    detail = None
    if state != "open":
        detail = say(call.language, f"problem.output_{state}", why=why or "–")
    return answer(
        {
            "job": job.id, "state": state, "detail": detail, "ended": job.ended_at is not None,
            "attempt": job.attempt, "file": "", "size_bytes": 0, "offset": 0, "next": 0, "text": "",
            **more,
        }
    )  # fmt: skip
