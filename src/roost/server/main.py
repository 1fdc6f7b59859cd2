"""The server process: opens the database, starts the control loop, serves the API.

Runs in whatever account it was started; needs no right but its own files and the agent's socket.
"""

from __future__ import annotations

import argparse
import asyncio
import errno
import gc
import io
import logging
import os
import resource
import secrets
import signal
import socket
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TextIO, cast

import structlog
import uvicorn

from roost import __version__
from roost.core.text.catalogue import language_of, say
from roost.core.web import WebError, web_settings
from roost.server.api.app import make_app
from roost.server.api.context import Context
from roost.server.api.live import Live
from roost.server.api.peer import PeerProtocol, People
from roost.server.api.render import Jobs
from roost.server.board import Board
from roost.server.config import ServerConfig
from roost.server.control import Control
from roost.server.desk import settings_of
from roost.server.engines.agent import AgentEngine
from roost.server.intents import AdoptRules, RulesWrong
from roost.server.notify.post import Post
from roost.server.record import Recorder
from roost.server.rules import RulesFile, last_in_force
from roost.server.web.keeper import keep
from roost.server.web.listener import Listening, Web, listen
from roost.server.web.serving import config_of
from roost.store.database import Store, open_sqlite, open_url
from roost.store.errors import StoreError
from roost.store.log import get_meta, set_meta

log = structlog.get_logger()
BACKLOG = 4096
KEEP_ALIVE_S = 120
MOST_DESCRIPTORS = 65_536
STORED_WITHIN_S = 30.0


def run_server(config: ServerConfig) -> int:
    """Serves until SIGTERM or SIGINT. Exit code 0, or 1 with a sentence on standard error."""
    _log_as_json()
    os.umask(0o077)
    _take_descriptors()
    try:
        store = _open(config)
    except StoreError as error:
        sys.stderr.write(f"roost: {error.said(config.language)}\n")
        return 1
    try:
        listening = _listen(config)
    except OSError as error:
        sentence = say(
            config.language, "problem.cannot_listen", path=str(config.socket),
            detail=error.strerror or str(error),
        )  # fmt: skip
        sys.stderr.write(f"roost: {sentence}\n")
        store.close()
        return 1
    web = None
    try:
        web = listen(config.web) if config.web is not None else None
        return asyncio.run(_serve(config, store, listening, web))
    except WebError as error:
        sentence = say(config.language, f"web.{error.code}", **error.numbers)
        sys.stderr.write(f"roost: {sentence}\n")
        return 1
    except StoreError as error:
        sys.stderr.write(f"roost: {error.said(config.language)}\n")
        return 1
    finally:
        listening.close()
        if web is not None:
            web.close()
        store.close()


def _take_descriptors() -> None:
    """Each connection is one; systemd gives 1,024 unless more is asked for."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = MOST_DESCRIPTORS if hard == resource.RLIM_INFINITY else min(hard, MOST_DESCRIPTORS)
    if soft == resource.RLIM_INFINITY or soft < most:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


def _open(config: ServerConfig) -> Store:
    if config.database:
        return open_url(config.database)
    return open_sqlite(config.state / "roost.db")


def _listen(config: ServerConfig) -> socket.socket:
    """The API's socket. One that nobody listens on is replaced. Raises OSError."""
    path = config.socket
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o755)
    if path.is_socket():
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
            probe.settimeout(1.0)
            try:
                probe.connect(os.fspath(path))
            except (ConnectionRefusedError, FileNotFoundError):
                path.unlink(missing_ok=True)
            else:
                raise OSError(errno.EADDRINUSE, os.strerror(errno.EADDRINUSE))
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        listening.bind(os.fspath(path))
        path.chmod(config.socket_mode)
        listening.listen(BACKLOG)
    except BaseException:
        listening.close()
        raise
    return listening


def _settle_memory() -> None:
    """What was loaded to serve stays until the end: the garbage collector need not look through it
    again, which would hold up every call for a tenth of a second each time."""
    gc.collect()
    gc.freeze()


def _server_id(store: Store) -> str:
    """This server's name to the agent, made once and never the same twice."""
    with store.read() as connection:
        found = get_meta(connection, "server_id")
    if found is None:
        found = secrets.token_hex(16)
        with store.write() as connection:
            set_meta(connection, "server_id", found)
    return found


async def _serve(
    config: ServerConfig, store: Store, listening: socket.socket, bound: Listening | None
) -> int:
    board = Board()
    name = _server_id(store)
    engine = AgentEngine(config.agent_socket, name)
    force = last_in_force(store)
    rules_file = RulesFile(config.rules)
    at_start = rules_file.poll()
    if isinstance(at_start, RulesWrong) and not force.version:
        # Nobody ever agreed to the defaults here: better no queue than one without its limits.
        sys.stderr.write(_wrong_at_start(config, at_start))
        return 1
    engine.configure(settings_of(force.rules))
    recorder = None if config.record is None else Recorder(config.record, __version__)
    control = Control(store, board, engine, force, recorder=recorder)
    live = Live(asyncio.get_running_loop())
    board.listeners.append(live.changed)
    control.start()
    post = Post(
        store, lambda kept: control.submit(kept).result(STORED_WITHIN_S),
        lambda: board.rules.rules.time_zone, config.rules.with_name("mail.toml"), name, time.time,
    )  # fmt: skip
    post.start()
    context = Context(
        control, board, store, engine, live, People(), Jobs(), time.time, str(config.rules),
        config.state, post,
    )  # fmt: skip
    app = make_app(context)
    web = Web(bound, app, context) if bound is not None else None
    _settle_memory()
    server = _Server(config_of(app, PeerProtocol, BACKLOG, KEEP_ALIVE_S), live, web)
    look_again = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGHUP, look_again.set)
    await _take_rules(rules_file, control, at_start)
    tasks = [
        asyncio.create_task(_watch(config, rules_file, control, look_again, server), name="rules"),
        asyncio.create_task(keep(context), name="access"),
    ]
    if web is not None:
        tasks.append(asyncio.create_task(web.run_beside(), name="web"))
    log.info("serving", socket=str(config.socket), database=store.where, pid=os.getpid())
    try:
        await server.serve(sockets=[listening])
    finally:
        for task in tasks:
            if task.get_name() != "web":
                task.cancel()
        for ended in await asyncio.gather(*tasks, return_exceptions=True):
            if isinstance(ended, Exception):
                log.error("a part of the server failed", exc_info=ended)
        died = not control.alive
        await asyncio.to_thread(post.close)
        await asyncio.to_thread(control.close)
    return 1 if died else 0


async def _watch(
    config: ServerConfig,
    file: RulesFile,
    control: Control,
    look_again: asyncio.Event,
    server: _Server,
) -> None:
    """Looks at the rules file every second and on SIGHUP; ends the server with its control loop."""
    while True:
        forced = True
        try:
            await asyncio.wait_for(look_again.wait(), config.rules_every_s)
            look_again.clear()
        except TimeoutError:
            forced = False
        if not control.alive:
            log.error("the control loop has ended; the server goes with it")
            server.leave()
            return
        await _look_at_rules(file, control, forced)
        if server.web is not None:
            await server.web.renew_certificate()


async def _look_at_rules(file: RulesFile, control: Control, forced: bool) -> None:
    await _take_rules(file, control, await asyncio.to_thread(file.poll, forced))


async def _take_rules(
    file: RulesFile, control: Control, found: AdoptRules | RulesWrong | None
) -> None:
    if found is None:
        return
    if isinstance(found, RulesWrong):
        log.error("the rules file is not in force", file=str(file.path), why=found.problem)
    try:
        await asyncio.wrap_future(control.submit(found))
    except StoreError as error:
        log.error("the rules could not be stored", why=str(error))
        file.again()


def _wrong_at_start(config: ServerConfig, wrong: RulesWrong) -> str:
    """The mistakes, one a line, and what to do."""
    said = [mistake.text(config.language) for mistake in wrong.mistakes] or [wrong.problem]
    last = say(config.language, "rules.wrong_at_start", path=str(config.rules))
    return "".join(f"roost: {line}\n" for line in [*said, last])


class _Server(uvicorn.Server):
    """Ends streams and long waits when it is told to stop, instead of waiting for them."""

    def __init__(self, config: uvicorn.Config, live: Live, web: Web | None) -> None:
        super().__init__(config)
        self._live = live
        self.web = web

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """uvicorn would end the process by the signal again, before the ledger is stored."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self.leave)
        yield

    def leave(self) -> None:
        self.should_exit = True
        if self.web is not None:
            self.web.should_exit = True
        self._live.close()

    def _log_started_message(self, listeners: object) -> None:
        """Said by `serving`, for a socket that uvicorn would take for a port."""


class _Lines(io.TextIOBase):
    """Standard error as a log: a line that cannot be written (a full disk) is lost, and ends
    nothing; there is no other place to say so."""

    def write(self, text: str) -> int:
        with suppress(OSError):
            sys.stderr.write(text)
        return len(text)

    def flush(self) -> None:
        with suppress(OSError):
            sys.stderr.flush()


def _log_as_json() -> None:
    logging.basicConfig(level=logging.WARNING, stream=_Lines(), format="%(message)s")
    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            structlog.processors.JSONRenderer(),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(logging.INFO),
        logger_factory=structlog.WriteLoggerFactory(cast(TextIO, _Lines())),
    )


def main(arguments: Sequence[str]) -> int:
    """`roost server`: the options that `roost serve` hands on.

    The agent's socket lies beside the API's. Returns the exit code.
    """
    parser = argparse.ArgumentParser("roost server", allow_abbrev=False)
    parser.add_argument("--state", type=Path, default=Path("/var/lib/roost"))
    parser.add_argument("--socket", type=Path, default=Path("/run/roost/roost.sock"))
    parser.add_argument("--rules", type=Path, default=Path("/etc/roost/rules.toml"))
    parser.add_argument("--database")
    parser.add_argument("--record", type=Path)
    parser.add_argument("--http")
    parser.add_argument("--http-prefix", default="")
    parser.add_argument("--tls-cert")
    parser.add_argument("--tls-key")
    parser.add_argument("--http-name", action="append", default=[])
    parser.add_argument("--trusted-proxy", action="append", default=[])
    given = parser.parse_args(arguments)
    locale = os.environ.get("LC_ALL") or os.environ.get("LC_MESSAGES") or os.environ.get("LANG")
    web = None
    if given.http:
        web = web_settings(
            given.http, given.http_prefix, given.tls_cert, given.tls_key, given.http_name,
            given.trusted_proxy,
        )  # fmt: skip
    return run_server(
        ServerConfig(
            state=given.state,
            socket=given.socket,
            agent_socket=given.socket.with_name("agent.sock"),
            rules=given.rules,
            database=given.database,
            record=given.record,
            language=language_of(locale or ""),
            web=web,
        )
    )
