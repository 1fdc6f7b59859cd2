"""What the agent answers of the machine's posture, and what it believes of who asks: nothing."""

from __future__ import annotations

import asyncio
import os
import pwd
from pathlib import Path

import pytest

from roost.agent import auditing
from roost.agent.auditing import Audits
from roost.agent.config import agent_config
from roost.agent.people import People
from roost.wire.audit import Audited, AuditMachine, Mended, MendMachine, UndoMends
from roost.wire.messages import AgentMessage, Refused

root_only = pytest.mark.skipif(os.geteuid() != 0, reason="needs root")


def asked(folder: Path, *messages: AuditMachine | MendMachine | UndoMends) -> list[AgentMessage]:
    async def ask() -> list[AgentMessage]:
        audits = Audits(agent_config(str(folder), str(folder / "roost.sock")), People())
        os.makedirs(folder / "agent", exist_ok=True)
        return list(await asyncio.gather(*(audits.answer(one) for one in messages)))

    return asyncio.run(ask())


def test_it_looks_in_a_process_of_its_own(tmp_path: Path) -> None:
    message = AuditMachine(checks=("tmp", "roost-files", "no-such"), request=7)
    (answer,) = asked(tmp_path, message)
    assert isinstance(answer, Audited)
    assert answer.request == 7
    assert answer.facts.tmp
    assert answer.facts.roost_files
    assert answer.facts.homes is None
    assert answer.facts.as_root is (os.geteuid() == 0)


@root_only
def test_an_account_that_is_another_by_now_is_refused(tmp_path: Path) -> None:
    person = next((one for one in pwd.getpwall() if one.pw_uid >= 1000), None)
    name, uid = (person.pw_name, person.pw_uid) if person else ("nobody-at-all", 5)
    wrong, unknown, system = asked(
        tmp_path,
        AuditMachine(user=name, uid=uid + 1, request=1),
        AuditMachine(user="nobody-at-all", uid=5, request=2),
        AuditMachine(user="daemon", uid=1, request=3),
    )
    assert isinstance(wrong, Refused)
    assert wrong.code in ("unknown_user", "system_user", "disabled_user")
    assert isinstance(unknown, Refused)
    assert isinstance(system, Refused)
    assert system.code == "system_user"


@root_only
def test_nothing_is_mended_that_is_not_found(tmp_path: Path) -> None:
    target = tmp_path / "x"
    target.write_text("")
    target.chmod(0o666)
    wanted = (("tmp", str(target)), ("shared-folders", str(target)), ("../x", "y"), ("homes", "x"))
    mended, undone, none = asked(
        tmp_path,
        MendMachine(wanted=wanted, places=("/", str(tmp_path / ".."), "/etc"), request=1),
        UndoMends(request=2),
        UndoMends(checks=("no-such",), request=3),
    )
    assert isinstance(mended, Mended)
    assert [one.outcome for one in mended.outcomes] == ["nothing"] * 4
    assert target.stat().st_mode & 0o777 == 0o666
    assert isinstance(undone, Mended)
    assert isinstance(none, Mended)
    assert undone.outcomes == none.outcomes == ()


def test_as_an_ordinary_account_it_mends_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.geteuid", lambda: 1234)
    (answer,) = asked(tmp_path, MendMachine(wanted=(("tmp", "/tmp"),), request=1))
    assert isinstance(answer, Refused)
    assert answer.code == "audit_not_root"


def test_who_asks_too_often_is_told_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(auditing, "MOST_WAITING", 2)
    answers = asked(tmp_path, *(AuditMachine(checks=("tmp",), request=n) for n in range(5)))
    refused = [one for one in answers if isinstance(one, Refused)]
    assert [one.code for one in refused] == ["audit_busy"] * 3
