"""Who is behind a container: what an engine tells is weighed, and never waited for."""

from __future__ import annotations

import json
import os
import shutil
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from roost.core.observation import Place, ProcessFacts
from roost.machine.owner import ContainerDirectory, Evidence, stop_container, weigh
from roost.machine.proc.users import Account

ID = "ab" * 32
PEOPLE = (
    Account("root", 0, "/root"),
    Account("daemon", 2, "/"),
    Account("alice", 1001, "/home/alice"),
    Account("ali", 1002, "/home/ali"),
)


def described(**more: Any) -> dict[str, Any]:
    return {"Name": "/train", "Config": {"Image": "pytorch", "Labels": {}}, "Mounts": [], **more}


@pytest.mark.parametrize(
    ("what", "owner", "sure"),
    [
        (described(), None, None),
        (described(Config={"Labels": {"owner": "alice"}}), "alice", "likely"),
        (described(Config={"Labels": {"owner": "root"}}), None, None),
        (described(Config={"Labels": {"owner": "mallory"}}), None, None),
        (described(Mounts=[{"Source": "/home/alice/data"}]), "alice", "likely"),
        (described(Mounts=[{"Source": "/home/alice"}]), "alice", "likely"),
        (described(Mounts=[{"Source": "/home/ali/x/../../alice"}]), "alice", "likely"),
        (described(Mounts=[{"Source": "/home/alice2"}]), None, None),
        (
            described(Mounts=[{"Source": "/home/alice"}, {"Source": "/home/ali"}]),
            "ali",
            "possible",
        ),
        (described(Config={"User": "1001:100"}), "alice", "possible"),
        (described(Config={"User": "0"}), None, None),
        (
            described(Config={"Labels": {"com.docker.compose.project.working_dir": "/home/ali/p"}}),
            "ali",
            "likely",
        ),
        ({}, None, None),
        ({"Config": None, "Mounts": None}, None, None),
        ({"Config": {"Labels": 7}, "Mounts": [7, {"Source": 7}]}, None, None),
    ],
)
def test_traces_are_weighed(what: dict[str, Any], owner: str | None, sure: str | None) -> None:
    found = weigh(what, PEOPLE)
    assert (found.owner if found else None, found.sure if found else None) == (owner, sure)


def test_who_started_it_counts_most() -> None:
    client = Evidence("ali", "started by pid 7 of ali", "likely")
    assert weigh(described(Config={"Labels": {"owner": "alice"}}), PEOPLE, client) == client


class Engine:
    """An engine's socket that answers, or keeps silent."""

    def __init__(self, path: Path, silent: bool = False) -> None:
        self.path, self.silent = str(path), silent
        self.asked: list[str] = []
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.bind(self.path)
        self._socket.listen()
        self._open: list[socket.socket] = []
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            self._open.append(connection)
            line = connection.recv(65536).split(b"\r\n", 1)[0].decode()
            self.asked.append(line)
            if self.silent:
                continue
            status, body = "404 Not Found", b"{}"
            if line.startswith(f"GET /containers/{ID}/json"):
                mounts = [{"Source": "/home/alice/x"}]
                status, body = "200 OK", json.dumps(described(Mounts=mounts)).encode()
            elif line.startswith(f"POST /containers/{ID}/stop"):
                status, body = "204 No Content", b""
            head = f"HTTP/1.1 {status}\r\nContent-Length: {len(body)}\r\n\r\n"
            connection.sendall(head.encode() + body)
            connection.close()

    def close(self) -> None:
        self._socket.close()
        for connection in self._open:
            connection.close()


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    made = Engine(tmp_path / "e.sock")
    yield made
    made.close()


def inside(container: str = ID, uid: int = 0) -> tuple[ProcessFacts, ...]:
    place = Place(container_id=container, container_engine="docker")
    return (ProcessFacts(100, 1, uid=uid, place=place),)


def directory_of(*sockets: str) -> ContainerDirectory:
    return ContainerDirectory(lambda: PEOPLE, lambda uid: None, sockets=lambda: sockets)


def until_known(directory: ContainerDirectory, container: str = ID) -> Any:
    for _ in range(100):
        facts = directory.facts(container, inside(container))
        if facts is not None and facts.name:
            return facts
        time.sleep(0.02)
    raise AssertionError("never known")


def test_the_first_answer_is_at_once_and_the_person_comes_later(engine: Engine) -> None:
    directory = directory_of(engine.path)
    first = directory.facts(ID, inside())
    assert first is not None and (first.engine, first.owner) == ("docker", None)
    facts = until_known(directory)
    assert (facts.name, facts.owner, facts.owner_sure) == ("train", "alice", "likely")
    assert len(engine.asked) == 1, "asked once and remembered"
    directory.close()


def test_a_silent_engine_stalls_nothing_and_the_next_is_asked(
    tmp_path: Path, engine: Engine
) -> None:
    silent = Engine(tmp_path / "silent.sock", silent=True)
    directory = directory_of(silent.path, engine.path)
    began = time.monotonic()
    directory.facts(ID, inside())
    assert time.monotonic() - began < 1.0, "it is asked for two seconds"
    time.sleep(2.2)
    assert until_known(directory).owner == "alice"
    directory.close()
    silent.close()


@pytest.mark.root
@pytest.mark.skipif(os.geteuid() != 0, reason="needs root: a folder in /run/user")
def test_a_person_s_engine_is_believed_about_that_person_only() -> None:
    uid = 987_000 + os.getpid() % 1000
    folder = Path(f"/run/user/{uid}/podman")
    folder.mkdir(parents=True)
    own = Engine(folder / "podman.sock")
    try:
        directory = directory_of(own.path)
        directory.facts(ID, inside(uid=0))
        time.sleep(0.2)
        assert own.asked == []
        directory.close()
        directory = directory_of(own.path)
        directory.facts(ID, inside(uid=uid))
        assert until_known(directory).owner == "alice"
        directory.close()
    finally:
        own.close()
        shutil.rmtree(f"/run/user/{uid}")


def test_names_that_are_no_ids_are_asked_of_nobody(engine: Engine) -> None:
    directory = directory_of(engine.path)
    directory.facts("../../../evil", inside("../../../evil"))
    time.sleep(0.1)
    assert engine.asked == []
    with pytest.raises(OSError, match="no container id"):
        stop_container("../x", 1.0, (engine.path,))
    directory.close()


def test_stopping_asks_the_engine_that_knows_it(engine: Engine, tmp_path: Path) -> None:
    stop_container(ID, 7.9, (str(tmp_path / "none.sock"), engine.path))
    assert engine.asked == [f"POST /containers/{ID}/stop?t=7 HTTP/1.1"]
    with pytest.raises(OSError, match="404"):
        stop_container("cd" * 32, 1.0, (engine.path,))
