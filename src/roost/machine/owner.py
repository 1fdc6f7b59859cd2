"""The person behind a container: asks its engine over the Unix socket, and weighs the traces.

A container's process is root's as a rule. What an engine tells is written by whoever made the
container, so it is evidence with a degree, never proof. Nothing here waits: questions are asked in
a thread of its own with a deadline, and the answer is there at a later sample.
"""

from __future__ import annotations

import http.client
import json
import os
import queue
import re
import socket
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any
from urllib.parse import quote

from roost.core.observation import ContainerFacts, ProcessFacts
from roost.core.text.printable import printable
from roost.machine.containers import Containers
from roost.machine.guard import GivenUpError, Guard
from roost.machine.proc.read import GoneError, HiddenError, list_pids, open_process, read_at
from roost.machine.proc.users import Account

ASK_S = 2.0
AGAIN_S = 300.0
AGAIN_AFTER_FAILURE_S = 30.0
ANSWER_BYTES = 4 * 1024 * 1024
DOCKER_SOCKETS = ("/var/run/docker.sock", "/run/docker.sock")
PODMAN_SOCKETS = ("/run/podman/podman.sock",)
_LABELS = ("roost.user", "roost.owner", "owner", "user", "username", "maintainer.user")
_USER_SOCKET = re.compile(r"/run/user/(\d+)/")
_ID = re.compile(r"[0-9a-f]{12,64}\Z")


class _UnixConnection(http.client.HTTPConnection):
    def __init__(self, path: str, timeout_s: float) -> None:
        super().__init__("localhost", timeout=timeout_s)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self._path)


def ask_engine(path: str, method: str, target: str, timeout_s: float) -> tuple[int, bytes]:
    """One request to an engine's socket: status and body. Raises OSError."""
    connection = _UnixConnection(path, timeout_s)
    try:
        connection.request(method, target, headers={"Host": "localhost"})
        answer = connection.getresponse()
        return answer.status, answer.read(ANSWER_BYTES)
    except http.client.HTTPException as error:
        raise OSError(f"no HTTP answer from {path}: {error}") from error
    finally:
        connection.close()


def stop_container(container_id: str, grace_s: float, sockets: Sequence[str] | None = None) -> None:
    """Asks the engine to stop a container (SIGTERM, grace, SIGKILL). Raises OSError."""
    if not _ID.match(container_id):
        raise OSError(f"{container_id!r} is no container id that an engine here would know")
    last = "no container engine answers here"
    for path in sockets if sockets is not None else engine_sockets():
        target = f"/containers/{container_id}/stop?t={int(grace_s)}"
        try:
            status, body = ask_engine(path, "POST", target, grace_s + 10.0)
        except OSError as error:
            last = str(error)
            continue
        if status in (204, 304):
            return
        last = f"{path} answers {status}: {body[:200].decode('utf-8', 'replace')}"
    raise OSError(last)


def engine_sockets() -> tuple[str, ...]:
    """Sockets of Docker and Podman that exist here, root's and those of people."""
    paths = [*DOCKER_SOCKETS[:1], *PODMAN_SOCKETS]
    try:
        people = [name for name in os.listdir("/run/user") if name.isdigit()]
    except OSError:
        people = []
    paths += [f"/run/user/{uid}/podman/podman.sock" for uid in sorted(people)]
    paths += [f"/run/user/{uid}/docker.sock" for uid in sorted(people)]
    return tuple(path for path in paths if os.path.exists(path))


@dataclass(frozen=True, slots=True)
class Evidence:
    """A person and why. `sure` as in core.attribution: "certain", "likely", "possible"."""

    owner: str
    text: str
    sure: str


def weigh(
    described: dict[str, Any], accounts: Sequence[Account], client: Evidence | None = None
) -> Evidence | None:
    """The best evidence in what an engine says of a container; None if nothing points to anybody.

    In order: the client that started it, a label that names an account, a mounted home or a compose
    project below one, the account that it runs as.
    """
    people = {account.name: account for account in accounts if account.uid >= 1000}
    config = _mapping(described.get("Config"))
    labels = _mapping(config.get("Labels"))
    if client is not None:
        return client
    for key in _LABELS:
        value = labels.get(key)
        if isinstance(value, str) and value in people:
            return Evidence(value, f"label {key}={value}", "likely")
    owners: dict[str, str] = {}
    mounts = described.get("Mounts")
    for mount in mounts if isinstance(mounts, list) else []:
        source = _mapping(mount).get("Source")
        if isinstance(source, str):
            name = _home_of(source, people.values())
            if name is not None:
                owners.setdefault(name, source)
    if len(owners) == 1:
        name, source = next(iter(owners.items()))
        shown = printable(os.fsencode(source))
        return Evidence(name, f"mounts {shown}, below the home of {name}", "likely")
    project = labels.get("com.docker.compose.project.working_dir")
    if isinstance(project, str) and (name := _home_of(project, people.values())) is not None:
        return Evidence(name, f"compose project in {printable(os.fsencode(project))}", "likely")
    runs_as = str(config.get("User") or "").partition(":")[0]
    for account in people.values():
        if runs_as in (account.name, str(account.uid)):
            return Evidence(account.name, f"runs as {account.name}", "possible")
    if owners:
        names = ", ".join(sorted(owners))
        return Evidence(min(owners), f"mounts homes of several people: {names}", "possible")
    return None


def client_of(
    container_id: str, name: str, users: Callable[[int | None], str | None], proc: bytes = b"/proc"
) -> Evidence | None:
    """The attached `docker run` or `podman run` of a person for this container, if one runs."""
    marks = {container_id.encode(), container_id[:12].encode()}
    if name:
        marks |= {name.encode(), b"--name=" + name.encode()}
    for pid in list_pids(proc):
        try:
            directory = open_process(proc, pid)
        except (GoneError, HiddenError):
            continue
        try:
            if read_at(directory, b"comm").strip() not in (b"docker", b"podman", b"nerdctl"):
                continue
            arguments = set(read_at(directory, b"cmdline").split(b"\0"))
            if not arguments & marks or not arguments & {b"run", b"start", b"create", b"exec"}:
                continue
            login = read_at(directory, b"loginuid").strip()
            uid = os.fstat(directory).st_uid
            if uid == 0 and login.isdigit() and int(login) not in (0, 4294967295):
                uid = int(login)
            person = users(uid) if uid else None
            if person is not None:
                return Evidence(person, f"started by pid {pid} of {person}", "likely")
        except (GoneError, HiddenError):
            continue
        finally:
            os.close(directory)
    return None


class ContainerDirectory(Containers):
    """Describes containers by asking engines in a helper thread; answers from what it knows."""

    def __init__(
        self,
        accounts: Callable[[], Sequence[Account]],
        users: Callable[[int | None], str | None],
        sockets: Callable[[], Sequence[str]] = engine_sockets,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._accounts = accounts
        self._users = users
        self._sockets = sockets
        self._clock = clock
        self._known: dict[str, tuple[ContainerFacts, float]] = {}
        self._asked: set[str] = set()
        self._guard = Guard("container-engines", most_hanging=2)
        self._work: queue.SimpleQueue[tuple[str, str, frozenset[int | None]] | None] = (
            queue.SimpleQueue()
        )
        self._thread: threading.Thread | None = None

    def facts(
        self, container_id: str, processes: tuple[ProcessFacts, ...]
    ) -> ContainerFacts | None:
        engine = processes[0].place.container_engine or "unknown"
        known, until = self._known.get(container_id, (None, -1.0))
        if self._clock() >= until and container_id not in self._asked:
            self._asked.add(container_id)
            if self._thread is None:
                self._thread = threading.Thread(
                    target=self._serve, name="container-facts", daemon=True
                )
                self._thread.start()
            uids = frozenset(uid for p in processes for uid in (p.uid, p.login_uid))
            self._work.put((container_id, engine, uids))
        return known or ContainerFacts(id=container_id, engine=engine)

    def close(self) -> None:
        if self._thread is not None:
            self._work.put(None)
            self._thread = None
        self._guard.close()

    def _serve(self) -> None:
        while (asked := self._work.get()) is not None:
            container_id, engine, uids = asked
            try:
                found = self._ask(container_id, engine, uids)
            except (OSError, ValueError, GivenUpError):
                found = None  # no engine, or none that knows it: asked again later
            keep = AGAIN_S if found is not None else AGAIN_AFTER_FAILURE_S
            known = found or ContainerFacts(id=container_id, engine=engine)
            self._known[container_id] = (known, self._clock() + keep)
            if len(self._known) > 1000:
                self._known.pop(next(iter(self._known)))
            self._asked.discard(container_id)

    def _ask(
        self, container_id: str, engine: str, uids: frozenset[int | None]
    ) -> ContainerFacts | None:
        if not _ID.match(container_id):
            return None
        for path in self._sockets():
            owner = _USER_SOCKET.match(path)
            if owner and int(owner.group(1)) not in uids:
                continue  # a person's engine is believed about that person's own processes only
            target = f"/containers/{quote(container_id)}/json"
            try:
                status, body = self._guard.run(
                    partial(ask_engine, path, "GET", target, ASK_S), 2 * ASK_S
                )
            except (OSError, GivenUpError):
                continue
            if status != 200:
                continue
            described = json.loads(body)
            if not isinstance(described, dict):
                continue
            name = str(described.get("Name") or "").lstrip("/")
            client = client_of(container_id, name, self._users)
            evidence = weigh(described, self._accounts(), client)
            image = str(_mapping(described.get("Config")).get("Image") or "")
            return ContainerFacts(
                id=container_id,
                engine="podman" if "podman" in path else engine,
                name=printable(name.encode("utf-8", "surrogatepass")),
                image=printable(image.encode("utf-8", "surrogatepass")),
                owner=evidence.owner if evidence else None,
                owner_evidence=evidence.text if evidence else None,
                owner_sure=evidence.sure if evidence else None,
            )
        return None


def _home_of(path: str, people: Any) -> str | None:
    clean = os.path.normpath(path)
    for account in people:
        home = os.path.normpath(account.home)
        if len(home) > 1 and (clean == home or clean.startswith(home + "/")):
            return str(account.name)
    return None


def _mapping(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
