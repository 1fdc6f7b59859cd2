"""What operators ask of a real server: a text of the rules checked, the audit log by pages and
filters, people, drains, health; and that nobody else is told."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from roost.server.checker import verdict
from roost.store.bookings import BookingRecord, store_bookings
from roost.store.database import open_sqlite
from tests.server.agent_peer import AgentPeer
from tests.server.rig import Server, raw, submission, wait_for

RULES = (
    'operators = ["root"]\n[groups.lab]\nmembers = ["nobody"]\n[limits.per_user]\nmax_gpus = 4\n'
)


@contextmanager
def as_nobody() -> Iterator[None]:
    if os.geteuid() != 0:
        pytest.skip("only root can call as somebody else")
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.fixture
def running(folder: Path, peer: AgentPeer) -> Iterator[Server]:
    folder.chmod(0o755)
    made = Server(folder)
    made.rules.write_text(RULES)
    made.start()
    made.connected().close()
    yield made
    made.stop()


def ask(server: Server, method: str, path: str, body: Any = None) -> Any:
    status, _, answer = raw(server.socket, method, path, body)
    assert status == 200, answer
    return answer


def test_a_text_of_the_rules_is_checked_and_changes_nothing(running: Server) -> None:
    def check(text: str) -> Any:
        return ask(running, "POST", "/v1/rules/check", {"text": text})

    wrong = check(RULES.replace("= 4", "= -1") + "max_gpu = 1\n[enforcement]\n")
    assert wrong["ok"] is False
    assert wrong["changes"] is None
    first, second = wrong["mistakes"][:2]
    assert (first["key"], first["line"], first["value"]) == ("limits.per_user.max_gpus", 5, "-1")
    assert (second["key"], second["line"]) == ("limits.per_user.max_gpu", 6)
    assert "max_gpus" in second["allowed"]
    assert check("a = [")["mistakes"][0]["code"] == "syntax"
    assert check(RULES) == {"ok": True, "mistakes": [], "changes": []}
    good = check("# as before\n" + RULES.replace("= 4", "= 2"))
    assert [change["text"] for change in good["changes"]] == ["limits.per_user.max_gpus: 4 → 2"]
    status, _, _ = raw(running.socket, "POST", "/v1/rules/check", {"text": "#" * 300_000})
    assert status == 422
    shown = ask(running, "GET", "/v1/rules")
    assert (shown["version"], shown["text"]) == (1, RULES)
    assert shown["path"] == str(running.rules)


def test_a_text_that_is_made_to_be_slow_is_refused_and_slows_nobody(running: Server) -> None:
    import threading

    slow = "".join(f'[groups.g{n}]\nparent = "g{n + 1}"\n' for n in range(7000))
    found: list[tuple[int, Any]] = []

    def ask_slowly() -> None:
        status, _, answer = raw(running.socket, "POST", "/v1/rules/check", {"text": slow})
        found.append((status, answer))

    asking = threading.Thread(target=ask_slowly)
    asking.start()
    worst = 0.0
    while asking.is_alive():
        began = time.monotonic()
        ask(running, "GET", "/v1/ping")
        worst = max(worst, time.monotonic() - began)
        time.sleep(0.2)
    ((status, answer),) = found
    assert (status, answer["type"]) == (422, "/problems/rules_too_heavy")
    assert worst < 2.0, "it is read elsewhere"


def test_mistakes_say_value_and_what_is_allowed() -> None:
    found = verdict('enforcement = "off"\n', "", "en")["mistakes"][0]
    assert (found["key"], found["value"], found["line"]) == ("enforcement", '"off"', 1)
    assert "observe" in found["allowed"]
    assert verdict('enforcement = "off"\n', "", "zh")["mistakes"][0]["text"] != found["text"]


def test_the_audit_log_goes_by_pages_and_filters(running: Server) -> None:
    for number in range(5):
        gpu = number % 2
        ask(running, "POST", f"/v1/gpus/{gpu}/drain", {"reason": f"fan {number}"})
        ask(running, "POST", f"/v1/gpus/{gpu}/undrain")
    everything = ask(running, "GET", "/v1/audit")
    assert everything["next"] is None
    rows = everything["audit"]
    seen: list[Any] = []
    before: Any = ""
    while before is not None:
        page = ask(running, "GET", f"/v1/audit?limit=4{f'&before={before}' if before else ''}")
        assert 0 < len(page["audit"]) <= 4
        seen += page["audit"]
        before = page["next"]
    assert seen == rows
    assert {row["origin"] for row in rows} == {""}, "by the socket, on the server itself"
    assert [row["id"] for row in seen] == sorted({row["id"] for row in seen}, reverse=True)
    drains = ask(running, "GET", "/v1/audit?action=drain&limit=3")
    assert [row["detail"] for row in drains["audit"]] == ["fan 4", "fan 3", "fan 2"]
    assert drains["next"] == drains["audit"][-1]["id"]
    assert ask(running, "GET", "/v1/audit?user=nobody-at-all")["audit"] == []
    assert len(ask(running, "GET", "/v1/audit?user=root&limit=1000")["audit"]) >= 10
    cut = drains["audit"][1]["time"].replace("+", "%2B")
    later = ask(running, "GET", f"/v1/audit?action=drain&from={cut}")["audit"]
    earlier = ask(running, "GET", f"/v1/audit?action=drain&to={cut}")["audit"]
    # Times are told to the millisecond, so the row itself is at or just after its own time.
    assert {row["detail"] for row in later} >= {"fan 4", "fan 3"}
    assert not {row["id"] for row in later} & {row["id"] for row in earlier}
    assert len(later) + len(earlier) == 5
    assert raw(running.socket, "GET", "/v1/audit?from=soon")[0] == 422


def test_others_see_of_the_audit_log_what_concerns_them(running: Server) -> None:
    ask(running, "POST", "/v1/gpus/0/drain", {"reason": "secret plan"})
    with as_nobody():
        for path in ("/v1/audit", "/v1/audit?user=root", "/v1/audit?action=drain&user=root"):
            assert ask(running, "GET", path)["audit"] == []
        for path in ("/v1/users", "/v1/drains", "/v1/health"):
            assert raw(running.socket, "GET", path)[0] == 403
        assert raw(running.socket, "POST", "/v1/rules/check", {"text": ""})[0] == 403


def test_people_are_those_of_the_rules_and_of_the_record(running: Server) -> None:
    with running.client() as client:
        client.submit(submission("sleep", "60", gpus=3))
        waiting = client.submit(submission("sleep", "60", gpus=3))["job"]
        wait_for(lambda: client.jobs()["jobs"], "the jobs are there")
        wait_for(lambda: len(client.status()["gpus"][0]["holders"]), "the first job runs")
        client.cancel(waiting)
        client.submit(submission("sleep", "60", gpus=4))
    found = {row["user"]: row for row in ask(running, "GET", "/v1/users")["users"]}
    assert next(iter(found)) == "root", "who holds most comes first"
    root = found["root"]
    assert (root["role"], root["gpus"], root["jobs_running"], root["jobs_waiting"]) == (
        "operator", [0, 1, 2], 1, 1,
    )  # fmt: skip
    nobody = found["nobody"]
    assert (nobody["role"], nobody["groups"], nobody["gpus"]) == ("member", ["lab"], [])
    assert (nobody["uid"], nobody["sessions"], nobody["used_time"]) == (65534, 0, None)


def test_drains_name_whom_they_touch_by_whom_and_why(running: Server, folder: Path) -> None:
    uuids = [gpu["gpu_uuid"] for gpu in ask(running, "GET", "/v1/drains")["gpus"]]
    running.stop()
    start = int(time.time()) // 60 * 60 + 3600
    store = open_sqlite(folder / "roost.db")
    booking = BookingRecord(
        id=1, user="nobody", uid=65534, group="lab", starts_at=start, ends_at=start + 3600,
        made_at=float(start), made_by="nobody", gpu_uuids=(uuids[1],), purpose="secret",
    )  # fmt: skip
    with store.write() as connection:
        store_bookings(connection, [booking], [])
    store.close()
    running.start()
    with running.connected() as client:
        job = client.submit(submission("sleep", "60", gpus=1, walltime_s=600))["job"]
        wait_for(lambda: client.job(job)["state"] == "RUNNING", "it runs")
        held = client.job(job)["gpus"][0]
    ask(running, "POST", f"/v1/gpus/{held}/drain", {"reason": "fan"})
    answer = ask(running, "GET", "/v1/drains")
    rows = {row["gpu_uuid"]: row for row in answer["gpus"]}
    row = rows[held]
    assert (row["drained"], row["reason"], row["by"]) == (True, "fan", "root")
    assert row["time"] is not None
    assert [(j["job"], j["user"]) for j in row["jobs"]] == [(job, "root")]
    assert row["jobs"][0]["latest_end"] is not None
    assert [b["user"] for b in rows[uuids[1]]["bookings"]] == ["nobody"]
    assert "secret" not in str(answer)
    with running.client() as client:
        assert client.job(job)["state"] == "RUNNING", "what runs goes on"
    ask(running, "POST", f"/v1/gpus/{held}/undrain")
    row = {r["gpu_uuid"]: r for r in ask(running, "GET", "/v1/drains")["gpus"]}[held]
    assert (row["drained"], row["reason"], row["by"], row["time"]) == (False, None, None, None)


def test_health_tells_what_is_wrong_and_when_it_is_mended(running: Server, peer: AgentPeer) -> None:
    def parts() -> dict[str, Any]:
        return {check["part"]: check for check in ask(running, "GET", "/v1/health")["checks"]}

    found = ask(running, "GET", "/v1/health")
    assert {"store", "disk", "agent", "record", "clock", "rules", "gpu"} <= set(parts())
    assert parts()["store"]["state"] == "ok"
    assert found["observed_time"] is not None
    running.rules.write_text("max_gpus = 1\n")
    wait_for(lambda: parts()["rules"]["state"] == "bad", "the wrong file shows")
    wrong = ask(running, "GET", "/v1/health")
    assert wrong["state"] == "bad"
    assert wrong["checks"][0]["state"] == "bad", "what needs a hand comes first"
    assert parts()["rules"]["remedy"]
    running.rules.write_text(RULES)
    wait_for(lambda: parts()["rules"]["state"] == "ok", "it is mended")
    peer.__exit__(None, None, None)

    def agent_in_chinese() -> str:
        peer.drop()  # its listener may have let one more in while it closed
        headers = {"Accept-Language": "zh-CN"}
        status, _, zh = raw(running.socket, "GET", "/v1/health", headers=headers)
        assert status == 200
        (agent,) = [check for check in zh["checks"] if check["part"] == "agent"]
        return f"{agent['state']} {agent['text']}"

    wait_for(lambda: agent_in_chinese().startswith("bad agent 未连接"), "the agent is away")
