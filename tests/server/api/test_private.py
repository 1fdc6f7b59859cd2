"""What is told to others of a job and of a process: no arguments, no folders of its owner's."""

from __future__ import annotations

import pytest

from roost.core.model import EndReason, JobState, PriorityClass, Request
from roost.server.api.context import Call
from roost.server.api.holders import command_for
from roost.server.api.render import job_json
from roost.server.intents import Person
from roost.store.records import JobRecord, Said

ANN = Person(1001, "ann", frozenset(), operator=False)
OLGA = Person(1002, "olga", frozenset(), operator=True)


def failed(said: Said | None, text: str = "", reason: EndReason | None = None) -> JobRecord:
    return JobRecord(
        id=1, user="ben", uid=1003, group="lab", priority_class=PriorityClass.REGULAR,
        state=JobState.FAILED, name="x", request=Request(1), submitted_at=0.0, text=text,
        said=said, end_reason=reason,
    )  # fmt: skip


GONE = {"path": "/home/ben/secret", "detail": "-"}
NO_COMMAND = {"command": "./secret"}
OF_THE_OWNER = [
    failed(Said("agent.directory_gone", GONE), reason=EndReason.LAUNCH_FAILED),
    failed(Said("agent.command_not_found", NO_COMMAND), reason=EndReason.LAUNCH_FAILED),
    failed(None, "The directory /home/ben/secret is gone", EndReason.LAUNCH_FAILED),
]


@pytest.mark.parametrize("job", OF_THE_OWNER)
def test_why_a_job_could_not_be_started_is_its_owners(job: JobRecord) -> None:
    assert "secret" in job_json(job, True, "en", "UTC", {})["text"]
    told = job_json(job, False, "en", "UTC", {})["text"]
    assert told == "it could not be started; its owner is told why"
    assert "所有者" in job_json(job, False, "zh", "UTC", {})["text"]


def test_any_other_end_is_told_to_everybody() -> None:
    job = failed(Said("job.stray_stopped", {"gpu": "3"}), reason=EndReason.CANCELLED)
    assert "GPU 3" in job_json(job, False, "en", "UTC", {})["text"]
    assert job_json(failed(None, "out of memory"), False, "en", "UTC", {})["text"]


@pytest.mark.parametrize(
    ("uid", "command", "told"),
    [
        (1003, "python train.py --password secret", "python"),
        (0, "dockerd -H secret", "dockerd"),
        (1003, "[kworker/0:1 x]", "[kworker/0:1 x]"),
        (1001, "python mine.py", "python mine.py"),
        (None, "the driver hides who holds it", "the driver hides who holds it"),
    ],
)
def test_of_anothers_process_only_the_program_is_told(
    uid: int | None, command: str, told: str
) -> None:
    def asked(person: Person) -> str | None:
        return command_for(Call(None, person, "en"), uid, command)  # type: ignore[arg-type]

    assert asked(ANN) == told
    assert asked(OLGA) == command
