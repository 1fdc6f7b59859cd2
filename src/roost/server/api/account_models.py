"""Shapes of what the routes of accounts take and give."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from roost.server.api.shapes import In, Out

MOST_PEOPLE = 1000
MOST_KEYS = 20
MOST_KEY = 16_384
Text = Annotated[str, Field(max_length=256)]
Key = Annotated[str, Field(max_length=MOST_KEY)]


class PersonIn(In):
    """One person; what is "" or missing is left as it is. `group`: of the rules, several with
    commas between. `row`: where it stands in a list, to be told with what is wrong."""

    name: Text
    full_name: Text = ""
    group: Text = ""
    keys: list[Key] = Field(default=[], max_length=MOST_KEYS + 1)
    quota: Text = ""
    share: Text = ""
    row: int | None = Field(default=None, ge=1, le=10_000_000)


class AccountsIn(In):
    """What is wanted: "add" with all that is said of each person, the others with names alone."""

    action: Literal["add", "disable", "enable", "remove", "restore"]
    people: list[PersonIn] = Field(min_length=1, max_length=MOST_PEOPLE)
    end_jobs: bool = False


class AccountsApplyIn(AccountsIn):
    """`plan`: the fingerprint of the plan that was shown."""

    plan: str = Field(min_length=1, max_length=64)


class AccountStepOut(Out):
    step: str
    user: str | None
    text: str


class AccountRemarkOut(Out):
    user: str
    code: str
    text: str


class AccountProblemOut(Out):
    row: int | None
    user: str | None
    column: str
    value: str
    code: str
    text: str


class AccountsPlanOut(Out):
    steps: list[AccountStepOut]
    remarks: list[AccountRemarkOut]
    problems: list[AccountProblemOut]
    plan: str


class AccountStepDoneOut(AccountStepOut):
    outcome: str
    why: str | None


class AccountsDoneOut(Out):
    done: bool
    steps: list[AccountStepDoneOut]


class AccountOut(Out):
    user: str
    uid: int
    full_name: str
    state: str
    local: bool
    made: bool
    home: str
    home_mode: str | None
    groups: list[str]
    charges: list[str]
    keys: int
    quota_bytes: int | None
    powerful: str | None


class ArchiveOut(Out):
    user: str
    uid: int
    full_name: str
    time: str
    path: str
    size_bytes: int
    sha256: str


class AccountsOut(Out):
    accounts: list[AccountOut]
    archives: list[ArchiveOut]
    quota: str
