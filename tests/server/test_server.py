"""A real server process with an honest peer: jobs through their lives, as their callers see it."""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from roost.client.errors import NotAllowedError, RoostError
from roost.core.observation import Place, ProcessFacts
from tests.server.agent_peer import GIB, AgentPeer
from tests.server.rig import Server, raw, submission, wait_for


def state_of(server: Server, job: int) -> str:
    with server.client() as client:
        return client.job(job)["state"]


def wait_state(server: Server, job: int, *states: str) -> dict[str, Any]:
    wait_for(lambda: state_of(server, job) in states, f"job {job} is {states}")
    with server.client() as client:
        return dict(client.job(job))


@contextmanager
def other_person(uid: int = 65534) -> Iterator[None]:
    """Connections made meanwhile come from another account (needs root)."""
    if os.geteuid() != 0:
        pytest.skip("only root can call as somebody else")
    os.seteuid(uid)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.fixture
def open_server(server: Server, folder: Path) -> Server:
    folder.chmod(0o755)
    server.connected()
    return server


def test_a_job_runs_and_ends_with_its_code_and_its_figures(open_server: Server) -> None:
    with open_server.client() as client:
        job = client.submit(submission("sleep", "0.7", "3", gpus=2, name="train"))["job"]
        ended = client.wait(job, 20)
        assert (ended["state"], ended["exit_code"]) == ("FAILED", 3)
        began, end = (datetime.fromisoformat(ended[f"{at}_time"]) for at in ("start", "end"))
        assert ended["gpu_s"] == pytest.approx(2 * (end - began).total_seconds(), abs=0.1)
        assert ended["gpu_s"] > 1.3
        assert len(ended["gpus"]) == 2
        rows = [row for row in client.usage()["usage"] if row["job"] == job]
        assert sum(row["held_s"] for row in rows) == pytest.approx(ended["gpu_s"], abs=0.01)
        assert {row["gpu_uuid"] for row in rows} == set(ended["gpus"])


def test_what_is_submitted_together_is_an_array(open_server: Server, peer: AgentPeer) -> None:
    with open_server.client() as client:
        made = client.submit(submission("sleep", "0", array="0-9:3,20"))
        assert len(made["jobs"]) == 5
        for number in made["jobs"]:
            assert client.wait(number, 20)["state"] == "COMPLETED"
        indices = [client.job(n)["array_index"] for n in made["jobs"]]
    assert indices == [0, 3, 6, 9, 20]
    assert sorted(peer.executed) == [(n, 1) for n in made["jobs"]]


def test_a_job_waits_for_another_and_goes_with_it(open_server: Server) -> None:
    with open_server.client() as client:
        first = client.submit(submission("sleep", "0.5", "1"))["job"]
        second = client.submit(submission("sleep", "0", after=[first]))["job"]
        assert client.job(second)["state"] == "PENDING"
        ended = client.wait(second, 20)
        assert ended["state"] == "CANCELLED"
        assert "did not complete" in ended["text"]
        third = client.submit(submission("sleep", "0", after=[first]))
        assert client.job(third["job"])["state"] == "CANCELLED"
        good = client.submit(submission("sleep", "0"))["job"]
        client.wait(good, 20)
        assert (
            client.wait(client.submit(submission("sleep", "0", after=[good]))["job"], 20)["state"]
            == "COMPLETED"
        )


def test_cancel_hold_release_requeue_and_signal(open_server: Server, peer: AgentPeer) -> None:
    with open_server.client() as client:
        held = client.submit(submission("sleep", "0", held=True))["job"]
        assert "held" in str(client.job(held)["wait"]) or client.why(held)["reasons"]
        assert client.why(held)["reasons"][0]["code"] == "held"
        client.release(held)
        assert client.wait(held, 20)["state"] == "COMPLETED"
        running = client.submit(submission("sleep", "60"))["job"]
        wait_state(open_server, running, "RUNNING")
        client.signal(running, "USR1")
        assert peer.signals == [(running, 1, 10)]
        client.requeue(running)
        again = wait_for(
            lambda: (j := client.job(running))["attempt"] == 2 and j["state"] == "RUNNING" and j,
            "it runs again",
        )
        assert again["restarts"] == 1
        client.cancel(running)
        ended = client.wait(running, 20)
        assert (ended["state"], ended["end_reason"]) == ("CANCELLED", "cancelled")
        with pytest.raises(RoostError) as refused:
            client.cancel(running)
        assert refused.value.status == 409
        assert [a["action"] for a in client.audit()["audit"]][:2] == ["cancel", "requeue"]


def test_preemption_takes_the_place_and_gives_it_back(open_server: Server) -> None:
    open_server.rules.write_text('[classes.background]\nmin_run = "0s"\ngrace = "5s"\n')
    with open_server.client() as client:
        wait_for(lambda: client.rules()["version"] == 2, "the rules are read again")
        low = client.submit(submission("sleep", "60", "0", "exit", gpus=4, **{
            "class": "background"}))["job"]  # fmt: skip
        wait_state(open_server, low, "RUNNING")
        high = client.submit(submission("sleep", "0.5", gpus=4, **{"class": "urgent"}))["job"]
        assert client.wait(high, 20)["state"] == "COMPLETED"
        back = wait_state(open_server, low, "RUNNING")
        assert (back["restarts"], back["attempt"]) == (1, 2)
        actions = [(a["action"], a["whom"]) for a in client.audit()["audit"]]
        assert ("preempt", "root") in actions


def test_what_cannot_be_is_refused_at_once_with_what_there_is(open_server: Server) -> None:
    cases: list[tuple[dict[str, Any], str]] = [
        ({"gpus": 10}, "this server has 4 GPUs"),
        ({"gpus": 0}, "at least 1"),
        ({"gpus": -1}, "at least 1"),
        ({"gpu_model": "H100"}, "Peer GPU"),
        ({"memory_bytes": 2**60}, "this server has"),
        ({"cpus": 1000}, "this server has 16"),
        ({"group": "nowhere"}, "no group nowhere"),
        ({"after": [999]}, "999"),
        ({"walltime_s": 0}, ""),
        ({"array": "9-0"}, "9-0"),
        ({"signal": "HUPP"}, "HUPP"),
        ({"begin_time": "tomorrow"}, "tomorrow"),
    ]
    for extra, said in cases:
        status, headers, problem = raw(
            open_server.socket, "POST", "/v1/jobs", submission("true", **extra)
        )
        assert status in (403, 422), (extra, problem)
        assert headers["content-type"] == "application/problem+json"
        assert said in problem["detail"], problem
        assert problem["key"]
    assert raw(open_server.socket, "GET", "/v1/jobs?ended=1")[2] == {"jobs": []}


def test_sizes_and_names_have_limits_that_are_said(open_server: Server) -> None:
    sock = open_server.socket
    for extra, status, key in [
        ({"array": "1-10001"}, 422, "array"),
        ({"array": "0-999999999"}, 422, "array"),
        ({"name": "a\nb"}, 422, "name"),
        ({"name": "x" * 300}, 422, "name"),
        ({"environment": {"BIG": "x" * 300_000}}, 413, "environment"),
        ({"environment": {"A=B": "x"}}, 422, "environment"),
        ({"environment": {"A": "nul\0"}}, 422, "environment"),
        ({"directory": "here"}, 422, "directory"),
    ]:
        found, _, problem = raw(sock, "POST", "/v1/jobs", submission("true", **extra))
        assert (found, problem.get("key")) == (status, key), problem
    status, _, problem = raw(sock, "POST", "/v1/jobs", submission("true", "x" * 2_200_000))
    assert (status, problem["key"]) == (413, "command")
    status, _, problem = raw(sock, "POST", "/v1/jobs", submission("x" * 9_000_000))
    assert (status, problem["type"]) == (413, "/problems/body_too_large")
    for name in ("quote \" and '", "emoji 🚀 训练", "x" * 200, "‮rtl"):
        status, _, made = raw(sock, "POST", "/v1/jobs", submission("sleep", "0", name=name))
        assert status == 201
        assert raw(sock, "GET", f"/v1/jobs/{made['job']}")[2]["name"] == name


def test_bytes_that_are_no_text_reach_the_job_and_show_escaped(
    open_server: Server, peer: AgentPeer
) -> None:
    body = submission("sleep", "60")
    body["command"].append({"base64": "/w=="})
    body["environment"] = [["A", {"base64": "/v8="}]]
    status, _, made = raw(open_server.socket, "POST", "/v1/jobs", body)
    assert status == 201
    wait_state(open_server, made["job"], "RUNNING")
    spec = peer.records[made["job"], 1].spec
    assert spec.argv[-1] == b"\xff"
    assert spec.environment == {b"A": b"\xfe\xff"}
    assert raw(open_server.socket, "GET", f"/v1/jobs/{made['job']}")[2]["command"][-1] == "\\xff"


def test_others_see_the_program_and_nothing_more_and_may_do_nothing(open_server: Server) -> None:
    with open_server.client() as client:
        job = client.submit(submission("sleep", "60", "secret=1"))["job"]
    with other_person():
        client = open_server.client("zh")
        assert client.ping()["operator"] is False
        seen = client.job(job)
        assert seen["command"] == ["sleep"]
        assert seen["directory"] is None
        for call in (client.cancel, client.hold, client.release, client.requeue):
            with pytest.raises(NotAllowedError) as refused:
                call(job)
            assert "只有作业所有者、所属组的组长和管理员" in refused.value.text
        with pytest.raises(NotAllowedError):
            client.signal(job, "KILL")
        for gpu_call in (client.drain, client.undrain):
            with pytest.raises(NotAllowedError):
                gpu_call("0")
        with pytest.raises(NotAllowedError):
            client.driver_release()
        assert client.audit()["audit"] == []
        listed = {row["job"]: row for row in client.jobs()["jobs"]}
        assert listed[job]["command"] == ["sleep"]
    assert state_of(open_server, job) != "CANCELLED"


def test_a_drained_gpu_gets_nothing_new_also_after_a_restart(open_server: Server) -> None:
    with open_server.client() as client:
        client.drain("0", "fan")
        client.drain("GPU-1")
        status = client.status()["gpus"]
        assert [(g["drained"], g["drain_reason"]) for g in status[:3]] == [
            (True, "fan"), (True, ""), (False, None),
        ]  # fmt: skip
    open_server.kill()
    open_server.start()
    client = open_server.connected()
    job = client.submit(submission("sleep", "60", gpus=2))["job"]
    assert set(wait_state(open_server, job, "RUNNING")["gpus"]) == {"GPU-2", "GPU-3"}
    waiting = client.submit(submission("sleep", "0", gpus=1))["job"]
    assert state_of(open_server, waiting) == "PENDING"
    client.undrain("0")
    assert client.wait(waiting, 20)["state"] == "COMPLETED"
    with pytest.raises(RoostError) as refused:
        client.drain("77")
    assert "it has 0, 1, 2, 3" in refused.value.text


def test_losing_the_agent_ends_nothing_and_frees_nothing(
    open_server: Server, peer: AgentPeer
) -> None:
    with open_server.client() as client:
        job = client.submit(submission("sleep", "3", "0", gpus=4))["job"]
        wait_state(open_server, job, "RUNNING")
        second = client.submit(submission("sleep", "0", gpus=1))["job"]
        for _ in range(3):
            peer.drop()
            time.sleep(0.2)
            assert state_of(open_server, job) == "RUNNING"
            assert state_of(open_server, second) == "PENDING"
        open_server.kill()
        time.sleep(0.5)
        open_server.start()
        assert state_of(open_server, job) in ("RUNNING", "COMPLETED")
        assert client.wait(second, 30)["state"] == "COMPLETED"
        assert client.job(job)["state"] == "COMPLETED"
    assert peer.executed == {(job, 1): 1, (second, 1): 1}


def test_after_a_reboot_every_job_ends_or_goes_back_to_the_queue(
    open_server: Server, peer: AgentPeer
) -> None:
    with open_server.client() as client:
        again = client.submit(submission("sleep", "2", gpus=2))["job"]
        never = client.submit(submission("sleep", "2", gpus=2, requeue=False))["job"]
        for job in (again, never):
            wait_state(open_server, job, "RUNNING")
        open_server.kill()
        peer.lose_all()
        open_server.start()
        lost = client.wait(never, 20)
        assert (lost["state"], lost["end_reason"]) == ("NODE_FAIL", "lost")
        ended = client.wait(again, 30)
        assert (ended["state"], ended["restarts"], ended["attempt"]) == ("COMPLETED", 1, 2)


def test_an_attempt_that_the_database_does_not_know_is_reported_and_left_alone(
    open_server: Server, peer: AgentPeer, folder: Path
) -> None:
    with open_server.client() as client:
        job = client.submit(submission("sleep", "60"))["job"]
        wait_state(open_server, job, "RUNNING")
    open_server.kill()
    for path in folder.glob("roost.db*"):
        path.unlink()
    open_server.start()
    client = open_server.connected()
    found = wait_for(
        lambda: [a for a in client.audit()["audit"] if a["action"] == "unknown_attempt"],
        "the stranger is on record",
    )
    assert found[0]["subject"] == f"attempt {job}.1"
    time.sleep(0.5)
    assert peer.records[job, 1].state.end is None
    assert peer.forgotten == []


def test_a_refused_launch_fails_the_job_with_the_agents_sentence(
    open_server: Server, peer: AgentPeer
) -> None:
    peer.refuse = "daemon is a system account"
    with open_server.client() as client:
        job = client.submit(submission("sleep", "0"))["job"]
        ended = client.wait(job, 20)
    assert (ended["state"], ended["end_reason"]) == ("FAILED", "launch_failed")
    assert ended["text"] == "daemon is a system account"


def test_rules_are_read_again_and_wrong_ones_change_nothing(open_server: Server) -> None:
    with open_server.client() as client:
        open_server.rules.write_text('time_zone = "Asia/Shanghai"\n[limits.per_user]\nmax_gpus=1\n')
        wait_for(lambda: client.rules()["version"] == 2, "version 2")
        assert client.ping()["time_zone"] == "Asia/Shanghai"
        assert client.rules()["user"] == "root"
        with pytest.raises(RoostError) as refused:
            client.submit(submission("true", gpus=2))
        assert refused.value.extra["rule"] == "limits.per_user.max_gpus"
        assert refused.value.extra["limit"] == 1
        open_server.rules.write_text("max_aray = 1\n")
        wrong = wait_for(lambda: (r := client.rules())["problem"] and r, "the mistake is shown")
        assert wrong["version"] == 2
        assert "max_aray" in wrong["mistakes"][0]["text"]
        assert wrong["rules"]["limits"]["per_user"]["max_gpus"] == 1
        assert client.status()["time"].endswith("+08:00")
    open_server.kill()
    open_server.start()
    with open_server.client() as client:
        again = client.rules()
        assert (again["version"], bool(again["problem"])) == (2, True)
        assert again["rules"]["limits"]["per_user"]["max_gpus"] == 1


def test_a_job_on_a_gpu_that_it_was_not_given_is_noticed_and_by_rule_stopped(
    open_server: Server, peer: AgentPeer
) -> None:
    with open_server.client() as client:
        job = client.submit(submission("sleep", "60"))["job"]
        granted = wait_state(open_server, job, "RUNNING")["gpu_indices"][0]
        stray = ProcessFacts(
            pid=77, start_ticks=7, uid=0, user="root", comm="python",
            place=Place(roost_job=job, roost_attempt=1),
        )  # fmt: skip
        peer.strange_on = {77: ((granted + 1) % 4, 3 * GIB)}
        peer.strange = [stray]
        said = wait_for(
            lambda: [a for a in client.audit()["audit"] if a["action"] == "stray_gpu_use"],
            "the stray is on record",
        )
        detail = json.loads(said[0]["detail"])
        assert (detail["gpu_index"], said[0]["outcome"]) == ((granted + 1) % 4, "warned")
        assert "was not given" in client.job(job)["text"]
        time.sleep(0.5)
        assert len([a for a in client.audit()["audit"] if a["action"] == "stray_gpu_use"]) == 1
        assert state_of(open_server, job) == "RUNNING"
        open_server.rules.write_text('stray_gpu_use = "stop"\n')
        wait_for(lambda: client.rules()["version"] == 2, "the rule is read")
        second = client.submit(submission("sleep", "60"))["job"]
        granted = wait_state(open_server, second, "RUNNING")["gpu_indices"][0]
        peer.strange_on = {78: ((granted + 1) % 4, 3 * GIB)}
        peer.strange = [
            ProcessFacts(pid=78, start_ticks=8, uid=0, user="root", comm="python",
                         place=Place(roost_job=second, roost_attempt=1))
        ]  # fmt: skip
        ended = client.wait(second, 20)
        assert ended["state"] == "CANCELLED"
        assert "stray_gpu_use" in ended["text"]


def test_nobodys_use_keeps_a_job_off_the_gpu(open_server: Server, peer: AgentPeer) -> None:
    """The memory that is really used counts beside what is promised."""
    peer.strange_on = {90 + n: (n, 60 * GIB) for n in range(3)}
    peer.strange = [
        ProcessFacts(pid=90 + n, start_ticks=9, uid=1234, user="wang", comm="vllm")
        for n in range(3)
    ]
    with open_server.client() as client:
        wait_for(
            lambda: len([h for h in client.who()["holders"] if h["user"] == "wang"]) == 3,
            "the hand-started servers show",
        )
        time.sleep(0.5)
        one = client.submit(submission("sleep", "60"))["job"]
        assert wait_state(open_server, one, "RUNNING")["gpu_indices"] == [3]
        two = client.submit(submission("sleep", "0"))["job"]
        assert state_of(open_server, two) == "PENDING"
        assert client.why(two)["reasons"]


def test_a_thousand_wait_without_a_thread_each(open_server: Server) -> None:
    import socket

    with open_server.client() as client:
        job = client.submit(submission("sleep", "4"))["job"]
    request = f"GET /v1/jobs/{job}/wait?timeout_s=60 HTTP/1.1\r\nHost: r\r\n\r\n".encode()
    waiting = []
    for _ in range(1000):
        connection = socket.socket(socket.AF_UNIX)
        connection.settimeout(60)
        connection.connect(str(open_server.socket))
        connection.sendall(request)
        waiting.append(connection)
    assert open_server.process is not None
    threads = len(os.listdir(f"/proc/{open_server.process.pid}/task"))
    assert threads < 20
    for connection in waiting:
        answer = b""
        while b"}" not in answer[-1:]:
            answer += connection.recv(65536)
        assert b'"state":"COMPLETED"' in answer
        connection.close()


def test_events_tell_everything_first_and_then_what_changes(open_server: Server) -> None:
    with open_server.client() as client:
        stream = open_server.client().events()
        first = dict(next(stream) for _ in range(3))
        assert set(first) == {"status", "who", "jobs"}
        assert first["jobs"] == {"jobs": []}
        client.submit(submission("sleep", "60", name="seen"))
        for name, value in stream:
            if name == "jobs" and value["jobs"] and value["jobs"][0]["state"] == "RUNNING":
                break
        stream.close()


def test_it_ends_at_once_although_people_wait(open_server: Server) -> None:
    with open_server.client() as client:
        job = client.submit(submission("sleep", "60"))["job"]

    def wait() -> None:
        with open_server.client() as client:
            try:
                client.wait(job, 50)
            except RoostError:
                return

    thread = threading.Thread(target=wait)
    thread.start()
    time.sleep(0.3)
    began = time.monotonic()
    assert open_server.stop() == 0
    assert time.monotonic() - began < 10
    thread.join()


def test_a_second_daemon_on_the_same_state_is_refused_in_a_sentence(server: Server) -> None:
    second = Server(server.state)
    second.start(ready=False)
    assert second.process is not None
    assert second.process.wait(30) == 1
    assert "another Roost (pid" in server.log()
    assert server.client().ping()["user"]


def test_a_free_plan_names_and_ends_exactly_what_it_showed(
    open_server: Server, peer: AgentPeer
) -> None:
    peer.strange_on = {4242: (1, 5 * GIB)}
    peer.strange = [ProcessFacts(pid=4242, start_ticks=5, uid=1234, user="wang", comm="python")]
    with open_server.client() as client:
        plan = wait_for(lambda: (p := client.free_plan("1"))["items"] and p, "it is in the plan")
        (item,) = plan["items"]
        assert (item["pid"], item["user"]) == (4242, "wang")
        with pytest.raises(RoostError) as refused:
            client.free("1", [{"pid": 4242, "start_ticks": 6}])
        assert refused.value.status == 409
        result = client.free("1", plan["items"], 1.0)
        assert result["processes"][0]["outcome"] == "ended"
        freed = [a for a in client.audit()["audit"] if a["action"] == "free"]
        assert freed[0]["whom"] == "wang"
    with other_person():
        assert open_server.client().free_plan("1")["items"] == []


def test_secrets_are_made_at_install_and_never_the_same(tmp_path: Path) -> None:
    """The only secret-like thing is the server's name to the agent."""
    from roost.server.main import _server_id
    from roost.store.database import open_sqlite

    stores = [open_sqlite(tmp_path / f"{n}.db") for n in range(2)]
    names = [_server_id(store) for store in stores]
    assert names[0] != names[1]
    assert _server_id(stores[0]) == names[0]
    for store in stores:
        store.close()
        assert Path(store.where).stat().st_mode & 0o777 == 0o600
