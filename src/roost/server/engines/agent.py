"""The engine of this machine: a connection to the agent's socket that comes back for ever.

One thread connects and reads, one writes. Whatever is lost with a connection is asked for again by
the control loop after `Connected`; so nothing here needs to be kept.
"""

from __future__ import annotations

import os
import queue
import socket
import threading
import time
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import msgspec
import structlog

from roost.core.model import EndReason
from roost.core.observation import Observation
from roost.server.engines.base import (
    Changed,
    Connected,
    Disconnected,
    EngineError,
    EngineEvent,
    LaunchRefused,
    Listener,
    Question,
    Result,
    Saw,
)
from roost.wire.accounts import AccountsChanged, AccountsSeen, DisabledListed
from roost.wire.audit import Audited, Mended
from roost.wire.data import DataDone, DataSets
from roost.wire.frames import FrameError, answers, encode, peer_credentials
from roost.wire.messages import (
    PROTOCOL_VERSION,
    AccountsChecked,
    AgentMessage,
    AgentRequest,
    AttemptChanged,
    Attempts,
    AttemptState,
    Configure,
    ForgetJob,
    FreeResult,
    Hello,
    HostFacts,
    Launch,
    LaunchSpec,
    ListAttempts,
    Observed,
    OutputRead,
    Refused,
    ResumeJob,
    Samples,
    SamplesSince,
    SignalJob,
    SignInChecked,
    StopJob,
    SuspendJob,
    Welcome,
)

log = structlog.get_logger()
RETRY_S = (0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
HANDSHAKE_S = 60.0
# A connection that lasted this long was a good one: the next is tried for at once.
STEADY_S = 2.0
_LIST, _SAMPLES, _FIRST = 1, 2, 3
ANSWERS = (
    FreeResult,
    SignInChecked,
    AccountsChecked,
    OutputRead,
    Audited,
    Mended,
    DataSets,
    DataDone,
    AccountsSeen,
    AccountsChanged,
    DisabledListed,
)


class AgentEngine:
    """`Engine` over one Unix socket. `server_id` tells the agent which server calls."""

    def __init__(self, path: Path, server_id: str) -> None:
        self._path = path
        self._server_id = server_id
        self._settings = Configure()
        self._closing = threading.Event()
        self._lock = threading.Lock()
        self._outbox: queue.SimpleQueue[bytes | None] | None = None
        self._connection: socket.socket | None = None
        self._next = _FIRST
        self._launching: dict[int, tuple[int, int]] = {}
        self._requests: dict[tuple[int, int], int] = {}
        self._asked: dict[int, Future[Any]] = {}
        self._thread: threading.Thread | None = None

    # -- Engine ----------------------------------------------------------------------------------

    def start(self, listener: Listener) -> None:
        self._thread = threading.Thread(
            target=self._run, args=(listener,), name="agent-engine", daemon=True
        )
        self._thread.start()

    def close(self) -> None:
        self._closing.set()
        with self._lock:
            connection = self._connection
        if connection is not None:
            _shut(connection)
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join(5.0)

    def configure(self, settings: Configure) -> None:
        self._settings = settings
        self._send(settings)

    def launch(self, spec: LaunchSpec) -> None:
        with self._lock:
            request = self._number()
            self._launching[request] = (spec.job, spec.attempt)
            self._requests[spec.job, spec.attempt] = request
        self._send(Launch(spec=spec, request=request))

    def end(self, job: int, attempt: int, reason: EndReason, grace_s: float) -> None:
        self._send(StopJob(job=job, attempt=attempt, reason=reason, grace_s=grace_s))

    def suspend(self, job: int, attempt: int, how: str) -> None:
        self._send(SuspendJob(job=job, attempt=attempt, how=how))

    def resume(self, job: int, attempt: int) -> None:
        self._send(ResumeJob(job=job, attempt=attempt))

    def forget(self, job: int, attempt: int) -> None:
        self._send(ForgetJob(job=job, attempt=attempt))

    def signal(self, job: int, attempt: int, number: int) -> Future[None]:
        return self._ask(SignalJob(job=job, attempt=attempt, signal=number))

    def ask(self, question: Question) -> Future[Result]:
        return self._ask(question)

    # -- sending ---------------------------------------------------------------------------------

    def _number(self) -> int:
        self._next += 1
        return self._next

    def _ask(self, message: AgentRequest) -> Future[Any]:
        answer: Future[Any] = Future()
        with self._lock:
            request = self._number()
            away = self._outbox is None
            if not away:
                self._asked[request] = answer
        if away:
            answer.set_exception(EngineError("agent_away", "the agent is not there at the moment"))
        else:
            self._send(msgspec.structs.replace(message, request=request))
        return answer

    def _send(self, message: AgentRequest) -> None:
        frame = encode(message)
        with self._lock:
            if self._outbox is not None:
                self._outbox.put(frame)

    # -- the connection's life -------------------------------------------------------------------

    def _run(self, listener: Listener) -> None:
        tries = 0
        told = ""
        while not self._closing.is_set():
            began = time.monotonic()
            try:
                with self._connect() as connection:
                    greeted = self._serve(connection, listener)
                text = "the agent closed the connection"
            except (OSError, FrameError, EngineError) as error:
                greeted = False
                text = str(error) or type(error).__name__
            if greeted and time.monotonic() - began > STEADY_S:
                tries = 0
            if text != told or greeted:
                log.warning("agent away", why=text, socket=str(self._path))
                listener.engine_said(Disconnected(text))
                told = text
            self._closing.wait(RETRY_S[min(tries, len(RETRY_S) - 1)])
            tries += 1

    def _connect(self) -> socket.socket:
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            connection.settimeout(HANDSHAKE_S)
            connection.connect(os.fspath(self._path))
            _pid, uid, _gid = peer_credentials(connection)
            if uid not in (0, os.geteuid()):
                raise EngineError("not_the_agent", f"{self._path} is served by uid {uid}")
        except BaseException:
            connection.close()
            raise
        return connection

    def _serve(self, connection: socket.socket, listener: Listener) -> bool:
        """Speaks until the connection ends. True when there was a whole handshake."""
        outbox: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        writer = threading.Thread(
            target=_write, args=(connection, outbox), name="agent-writer", daemon=True
        )
        writer.start()
        session = _Session()
        try:
            with self._lock:
                self._connection = connection
            outbox.put(encode(Hello(version=PROTOCOL_VERSION, server_id=self._server_id)))
            self._read(connection, outbox, session, listener)
        except (OSError, FrameError):
            if not session.whole:
                raise
        finally:
            with self._lock:
                self._connection = None
                self._outbox = None
                lost, self._asked = self._asked, {}
                self._launching.clear()
                self._requests.clear()
            outbox.put(None)
            _shut(connection)
            writer.join()
            gone = EngineError("agent_away", "the agent went away before it answered")
            for future in lost.values():
                if future.set_running_or_notify_cancel():
                    future.set_exception(gone)
        return session.whole

    def _read(
        self,
        connection: socket.socket,
        outbox: queue.SimpleQueue[bytes | None],
        session: _Session,
        listener: Listener,
    ) -> None:
        reader = answers()
        while not self._closing.is_set():
            data = connection.recv(1 << 18)
            if not data:
                return
            for message in reader.feed(data):
                if session.whole:
                    self._take(message, listener)
                else:
                    self._greet(message, outbox, session, connection, listener)

    def _greet(
        self,
        message: AgentMessage,
        outbox: queue.SimpleQueue[bytes | None],
        session: _Session,
        connection: socket.socket,
        listener: Listener,
    ) -> None:
        if isinstance(message, Welcome):
            if message.version != PROTOCOL_VERSION:
                raise EngineError(
                    "other_version",
                    f"the agent speaks protocol {message.version}, this server {PROTOCOL_VERSION}:"
                    " restart both after an update",
                )
            session.host = message.host
            outbox.put(encode(self._settings))
            outbox.put(encode(ListAttempts(request=_LIST)))
            since = listener.samples_wanted_since()
            outbox.put(encode(SamplesSince(at=since, request=_SAMPLES)))
        elif isinstance(message, Attempts) and message.request == _LIST:
            session.attempts = message.attempts
        elif isinstance(message, Samples) and message.request == _SAMPLES:
            session.samples = message.observations
        elif isinstance(message, Refused) and message.request == _SAMPLES:
            session.samples = ()
        elif isinstance(message, Refused):
            raise EngineError(message.code, message.text)
        else:
            session.early.append(message)
        if session.host and session.attempts is not None and session.samples is not None:
            session.whole = True
            connection.settimeout(None)
            with self._lock:
                self._outbox = outbox
            # Settings may have changed since they were sent above.
            self._send(self._settings)
            listener.engine_said(Connected(session.host, session.attempts, session.samples))
            for early in session.early:
                self._take(early, listener)
            session.early = []

    def _take(self, message: AgentMessage, listener: Listener) -> None:
        if isinstance(message, Observed):
            future = self._asked_for(_request_of(message))
            if future is not None:
                future.set_result(message)
            listener.engine_said(Saw(message.observation))
        elif isinstance(message, AttemptChanged):
            with self._lock:
                known = (message.attempt.job, message.attempt.attempt)
                self._launching.pop(self._requests.pop(known, 0), None)
            listener.engine_said(Changed(message.attempt))
        elif isinstance(message, Refused):
            self._refused(message, listener)
        else:
            future = self._asked_for(_request_of(message))
            if future is not None:
                future.set_result(message if isinstance(message, ANSWERS) else None)

    def _asked_for(self, request: int) -> Future[Any] | None:
        """What waits for that answer; None where nobody does, or has given up waiting."""
        with self._lock:
            future = self._asked.pop(request, None)
        return future if future is not None and future.set_running_or_notify_cancel() else None

    def _refused(self, message: Refused, listener: Listener) -> None:
        with self._lock:
            launching = self._launching.pop(message.request, None)
        future = self._asked_for(message.request)
        event: EngineEvent | None = None
        if launching is not None:
            event = LaunchRefused(*launching, text=message.text, code=message.code)
        elif future is not None:
            future.set_exception(EngineError(message.code, message.text))
        else:
            log.warning("the agent refused", code=message.code, text=message.text)
        if event is not None:
            listener.engine_said(event)


class _Session:
    """What one connection has said before it is whole."""

    def __init__(self) -> None:
        self.host: HostFacts | None = None
        self.attempts: tuple[AttemptState, ...] | None = None
        self.samples: tuple[Observation, ...] | None = None
        self.early: list[AgentMessage] = []
        self.whole = False


def _request_of(message: AgentMessage) -> int:
    request = getattr(message, "request", 0)
    return request if isinstance(request, int) else 0


def _write(connection: socket.socket, outbox: queue.SimpleQueue[bytes | None]) -> None:
    while True:
        frames = [outbox.get()]
        while not outbox.empty() and len(frames) < 200:
            frames.append(outbox.get())
        data = b"".join(f for f in frames if f is not None)
        try:
            connection.sendall(data)
        except OSError as error:
            # The reader sees the same end and reconnects.
            log.info("agent write failed", why=str(error))
            _shut(connection)
            return
        if None in frames:
            return


def _shut(connection: socket.socket) -> None:
    try:
        connection.shutdown(socket.SHUT_RDWR)
    except OSError as error:
        log.debug("agent socket was already shut", why=str(error))
