"""Sharing through the API, from a real environment to the launch of a job in it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from roost.client.errors import RoostError
from roost.machine.environments import parcel, place, venv
from tests.server.agent_peer import AgentPeer
from tests.server.rig import Server, raw, submission, wait_for
from tests.wheels import framework


@pytest.fixture
def environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> place.Environment:
    monkeypatch.setenv("UV_FIND_LINKS", str(tmp_path))
    monkeypatch.setenv("UV_NO_INDEX", "1")
    monkeypatch.setenv("UV_CACHE_DIR", str(tmp_path / "cache"))
    framework(tmp_path, "1.8.0", 24)
    wanted = venv.Wanted("ml", "/usr/bin/python3", requirements=("smallframe",))
    venv.create(str(tmp_path / "e"), wanted, "me")
    return place.needed(str(tmp_path / "e"), "ml")


def test_what_is_shared_is_listed_used_by_a_job_and_taken_back(
    server: Server, peer: AgentPeer, environment: place.Environment
):
    client = server.connected()
    me = client.ping()["user"]
    found, manifest = parcel.pack(environment)
    words = [sha + (".x" if run else "") for sha, run in sorted(found.sources)]
    missing = client.call("POST", "/v1/environments/missing", {"files": words})["missing"]
    assert missing == words
    sent = client.send_objects(*parcel.frames(found, sorted(found.sources)))
    assert sent["added"] == len(words)
    assert client.call("POST", "/v1/environments/missing", {"files": words})["missing"] == []
    digest = _send(client, manifest)
    made = client.call("PUT", "/v1/environments/ml", {"manifest": digest})
    assert client.environments()["environments"] == [made]
    assert made["owner"] == me
    path = Path(made["path"])
    script = next(path.glob("bin/smallframe"))
    assert os.popen(str(script)).read() == "command 1.8.0\n"
    job = client.submit(submission("sleep", "60", env=f"{me}/ml"))["job"]
    own = client.submit(submission("sleep", "60", env="mine"))["job"]
    wait_for(lambda: {(job, 1), (own, 1)} <= set(peer.records), "both are launched")
    assert peer.records[job, 1].spec.env_path == os.fsencode(path)
    assert peer.records[own, 1].spec.env_path == b"~/.local/share/roost/envs/mine"
    assert client.job(job)["env"] == f"{me}/ml"
    held = client.call("PUT", "/v1/environment-clones/copy", {"owner": me, "name": "ml"})
    assert held["path"] == made["path"]
    client.call("DELETE", f"/v1/environments/{me}/ml")
    assert client.environments()["environments"] == []
    assert path.is_dir()
    client.call("DELETE", "/v1/environment-clones/copy")
    actions = [line["action"] for line in client.call("GET", "/v1/audit")["audit"]]
    assert {"env_share", "env_unshare"} <= set(actions)


def _send(client, data: bytes) -> str:  # type: ignore[no-untyped-def]
    import hashlib

    digest = hashlib.sha256(data)
    frame = digest.digest() + b"\0" + len(data).to_bytes(8, "big")
    client.send_objects([frame, data], len(frame) + len(data))
    return digest.hexdigest()


@pytest.mark.parametrize("env", ["../x", "a/b/c", "nobody/ml", "a b", "/etc", "x" * 90])
def test_a_job_in_what_is_no_environment_is_refused(server: Server, env: str):
    with pytest.raises(RoostError) as refused:
        server.connected().submit(submission("true", env=env))
    assert refused.value.status == 422


def test_what_cannot_be_shared_is_refused_and_leaves_the_server_well(server: Server):
    client = server.connected()
    digest = _send(client, b'{"version":1}')
    for target, body in (
        ("/v1/environments/ml", {"manifest": digest}),
        ("/v1/environments/ml", {"manifest": "0" * 64}),
        ("/v1/environments/a%20b", {"manifest": digest}),
    ):
        assert raw(server.socket, "PUT", target, body)[0] == 422
    kind = {"Content-Type": "application/octet-stream"}
    target = "/v1/environments/objects"
    assert raw(server.socket, "POST", target, b"x" * 50, kind)[0] == 422
    assert raw(server.socket, "POST", target, b"", kind)[0] == 200
    assert raw(server.socket, "DELETE", "/v1/environments/a/b")[0] == 404
    assert client.environments()["environments"] == []


def test_where_ones_own_lie_is_the_rules_to_say(server: Server, peer: AgentPeer):
    server.rules.write_text('[environments]\ndirectory = "/scratch/{user}/envs"\n')
    client = server.connected()
    wait_for(
        lambda: client.environments()["directory"] == "/scratch/{user}/envs", "the rules are read"
    )
    job = client.submit(submission("sleep", "60", env="ml"))["job"]
    wait_for(lambda: (job, 1) in peer.records, "it is launched")
    user = client.ping()["user"]
    assert peer.records[job, 1].spec.env_path == f"/scratch/{user}/envs/ml".encode()
