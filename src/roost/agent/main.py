"""The agent as a process: puts its parts together, serves until told to end, leaves jobs running.

`roost agent` and `python -m roost.agent` come here. Its end, by any signal, ends no job.
"""

from __future__ import annotations

import argparse
import asyncio
import fcntl
import os
import resource
import signal
import socket
import stat
import sys
from collections.abc import Sequence
from contextlib import suppress

import structlog

from roost.agent import facts
from roost.agent.attach import AttachDoor
from roost.agent.attempts import Attempts
from roost.agent.config import AgentConfig, agent_config
from roost.agent.door import listener
from roost.agent.eyes import Eyes
from roost.agent.forks import Forks
from roost.agent.gpus import Gpus
from roost.agent.people import People
from roost.agent.service import Means, Service
from roost.core.observation import Observation
from roost.machine import cgroup_base

log = structlog.get_logger()
OVERFLOW_UID = 65534  # root itself, seen from inside a user namespace


class StartError(Exception):
    """The agent cannot start; the text says why and what to do."""


def configure_logging() -> None:
    """JSON lines on stderr."""
    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            structlog.processors.JSONRenderer(ensure_ascii=False),
        ],
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
        cache_logger_on_first_use=True,
    )


def run_agent(config: AgentConfig) -> int:
    """Serves until SIGTERM or SIGINT; the exit code. Raises StartError."""
    configure_logging()
    os.umask(0o077)
    _make_folders(config)
    lock = _only_one(config)
    _take_descriptors()
    host = facts.look(config)  # tries a fork: before any thread
    try:
        asyncio.run(_serve(config, host))
    finally:
        os.close(lock)
    return 0


def _make_folders(config: AgentConfig) -> None:
    try:
        os.makedirs(config.attempts, 0o700, exist_ok=True)
        for path in (config.state, config.attempts):
            _own(path)
            os.chmod(path, 0o700)
        for path in (os.path.dirname(config.socket), config.runtime):
            if not os.path.isdir(path):
                os.makedirs(path, 0o755)
                os.chmod(path, 0o755)  # noqa: S103 - people's sockets lie in it
        _stands_safely(os.path.dirname(config.socket))
        _own(config.runtime)
        os.chmod(config.runtime, 0o711)  # noqa: S103 - each finds their own job's folder in it
    except OSError as error:
        raise StartError(
            f"{error.filename} cannot be used: {os.strerror(error.errno or 0)}. It holds the"
            " records of jobs; choose another place with --state, or make it writable."
        ) from error


def _own(path: str) -> None:
    """A folder that somebody else owns could be changed under the agent's hands.

    Raises StartError, OSError.
    """
    status = os.lstat(path)
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.geteuid():
        raise StartError(f"{path} is no folder of the account that runs the agent.")
    _stands_safely(path)


def _stands_safely(path: str) -> None:
    """Whether nobody but root and this account can put something else in the place of `path`, or
    of any folder or link on the way to it. Raises StartError, OSError."""
    own = os.geteuid()
    trusted = (0,) if own == 0 else (0, own, OVERFLOW_UID)
    shared = 0o022 if own == 0 else 0o002  # a person's own group is theirs alone, as a rule
    for way in {os.path.abspath(path), os.path.realpath(path)}:
        above = way
        while True:
            status = os.lstat(above)
            folder = stat.S_ISDIR(status.st_mode)
            loose = folder and status.st_mode & shared and not status.st_mode & stat.S_ISVTX
            if status.st_uid not in trusted or loose:
                raise StartError(
                    f"{path} cannot be used: others than root may change {above}, and with it what"
                    " the agent reads. Choose a folder with --state below which they may not."
                )
            if above == "/":
                break
            above = os.path.dirname(above)


def _only_one(config: AgentConfig) -> int:
    descriptor = os.open(
        f"{config.state}/agent.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600
    )
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        raise StartError(
            f"Another Roost agent already serves {config.state}; stop it first, or use --state."
        ) from None
    return descriptor


def _take_descriptors() -> None:
    """Each running job is a connection."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


async def _serve(config: AgentConfig, host: facts.Host) -> None:
    loop = asyncio.get_running_loop()
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    gpus, people = Gpus(config.simulate is not None), People()
    service = Service(config, host, gpus, people)
    forks = Forks(config.attempts, host.layout)
    forks.start()
    attempts = Attempts(
        config.attempts,
        config.runtime,
        host.layout,
        host.boot_id,
        forks,
        service.attempt_changed,
    )

    def deliver(observation: Observation) -> None:
        with suppress(RuntimeError):  # the loop has ended
            loop.call_soon_threadsafe(service.observed, observation)

    eyes = Eyes(config, host, deliver, forks.pid)
    service.use(attempts, Means(eyes.sampler, eyes.release, eyes.hold, eyes.free, eyes.tell_load))
    attempts.recover()
    service.recovered()
    eyes.sampler.start()
    door = AttachDoor(config.attach_socket, attempts)
    bound = listener(config.socket, config.server_gid)
    server = await loop.create_unix_server(service.door, sock=bound)
    _tell_systemd("READY=1")
    log.info("agent ready", socket=config.socket, cgroup=host.layout.kind)
    await stop.wait()
    log.info("agent ends; jobs go on")
    server.close()
    door.close()
    attempts.close()
    forks.close()
    if not any(state.state != "ended" for state in attempts.states()):
        await _tidy(host)
    people.close()
    eyes.close()


async def _tidy(host: facts.Host) -> None:
    """Without jobs the cgroup base goes too; the supervisors that were ready are just ending."""
    for _ in range(10):
        if cgroup_base.tidy(host.layout):
            return
        await asyncio.sleep(0.03)


def _tell_systemd(text: str) -> None:
    """sd_notify(3)."""
    path = os.environ.get("NOTIFY_SOCKET")
    if not path:
        return
    with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as notify:
        notify.connect("\0" + path[1:] if path.startswith("@") else path)
        notify.send(text.encode())


def main(arguments: Sequence[str] | None = None) -> int:
    """`python -m roost.agent`."""
    parser = argparse.ArgumentParser(prog="roost agent", description="The root half of Roost.")
    parser.add_argument("--state", metavar="DIR")
    parser.add_argument("--socket", metavar="PATH", help="the API's; the agent's lie beside it")
    parser.add_argument("--simulate", metavar="8xA100")
    parser.add_argument("--server-uid", type=int, metavar="UID")
    given = parser.parse_args(arguments)
    config = agent_config(given.state, given.socket, given.simulate, given.server_uid)
    try:
        code = run_agent(config)
    except StartError as error:
        sys.stderr.write(f"roost agent: {error}\n")
        code = 1
    sys.stderr.flush()
    os._exit(code)  # threads that hang in a driver or a name service keep nobody here
