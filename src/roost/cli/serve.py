"""`roost serve`: agent and server in the foreground, as docs/design/001 says; `roost agent` and
`roost server` are one of the two alone, for systemd and for `serve` itself.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import stat
import subprocess
import sys
import time
from contextlib import suppress

from roost import __version__
from roost.cli import account
from roost.cli import format as fmt
from roost.cli.failure import CommandError
from roost.cli.plan import Plan, plan
from roost.cli.supervise import Part, Supervisor
from roost.cli.web import web_of, words_of
from roost.client.api import Client
from roost.client.errors import RoostError
from roost.client.http import connect
from roost.client.paths import default_socket

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from roost.cli.context import Context
    from roost.core.web import WebSettings

AUTO_SIMULATE = "8xA100"
NVML_WITHIN_S = 15.0
FIRST_SAMPLE_WITHIN_S = 5.0


def agent(context: Context) -> int:
    from roost.agent.main import main

    return int(main(context.given.arguments) or 0)


def server(context: Context) -> int:
    """The server with the paths that it was given, else those of this account's daemon."""
    from pathlib import Path

    from roost.server.config import ServerConfig
    from roost.server.main import run_server

    option = context.option
    where = plan(
        root=account.is_system(),
        state=option("state"),
        socket=option("socket"),
        rules=option("rules"),
        database=option("database"),
        record=option("record"),
    )
    return run_server(
        ServerConfig(
            state=Path(where.state),
            socket=Path(where.socket),
            agent_socket=Path(where.runtime) / "agent.sock",
            rules=Path(where.rules),
            database=where.database,
            record=Path(where.record) if where.record else None,
            language=context.terminal.language,
            web=web_of(context),
        )
    )


def serve(context: Context) -> int:
    """Serves until SIGTERM or Ctrl-C: 0. 1 if a part cannot start."""
    option = context.option
    root, web = os.geteuid() == 0, web_of(context)
    simulate = option("simulate")
    if simulate is None and option("auto_simulate") and not has_gpu():
        simulate = AUTO_SIMULATE
    where = plan(
        root=root,
        state=option("state"),
        socket=option("socket"),
        rules=option("rules"),
        database=option("database"),
        simulate=simulate,
        record=option("record"),
        web=words_of(web),
    )
    if option("rules") and not os.path.exists(where.rules):
        raise CommandError("rules_file_missing", path=where.rules)
    entry = None
    if root:
        missing = account.find() is None
        entry = account.make()
        if missing:
            context.note("serve_made_user")
        account.check_readable(entry)
    account.prepare_folders(where, entry)
    lock = only_one(where)
    free_socket(where)
    environment = {"ROOST_STATE": where.state, "ROOST_SOCKET": where.socket}
    agent_words = where.agent_words(entry.pw_uid if entry else None)
    write = context.err if os.isatty(2) else None
    parts = [
        Part("agent", agent_words, environment=environment, write=write),
        Part("server", where.server_words(), entry, environment=environment, write=write),
    ]
    client = Client(where.socket, language=context.terminal.language, timeout_s=10.0)

    answered_at: list[float] = []

    def ready() -> bool:
        try:
            status: Any = client.status()
        except RoostError:
            client.close()
            return False
        answered_at.append(time.monotonic())
        waited = answered_at[-1] - answered_at[0]
        return bool(status.get("gpus")) or waited > FIRST_SAMPLE_WITHIN_S

    def restart(part: Part, status: int, pause_s: float) -> None:
        how = said_status(context, status)
        context.note(
            "serve_restart", part=context.say("part." + part.name), how=how, seconds=f"{pause_s:g}"
        )

    supervisor = Supervisor(parts, ready, lambda: greet(context, where, client, web), restart)
    failed = supervisor.run()
    with suppress(FileNotFoundError):
        os.unlink(where.socket)  # commands then say at once that there is no daemon
    os.close(lock)
    if failed is not None:
        part, status = failed
        raise CommandError("child_gave_up", part=part.name, how=said_status(context, status))
    context.note("serve_stopped")
    return 0


def said_status(context: Context, status: int) -> str:
    if status < 0:
        return context.say("how_signal", signal=-status)
    return context.say("how_code", code=status)


def has_gpu() -> bool:
    """Whether the driver answers and has a GPU; asked in a process of its own, which may hang."""
    code = "import pynvml; pynvml.nvmlInit(); print(pynvml.nvmlDeviceGetCount())"
    try:
        done = subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            timeout=NVML_WITHIN_S,
            check=False,
            stdin=subprocess.DEVNULL,
        )
    except subprocess.TimeoutExpired:
        return True  # there is a driver, and it hangs: that is to be shown, not simulated over
    return done.returncode == 0 and done.stdout.strip() not in (b"", b"0")


def only_one(where: Plan) -> int:
    """The lock of this state, held while the descriptor is open. Raises CommandError."""
    path = os.path.join(where.state, "serve.lock")
    try:
        flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
        descriptor = os.open(path, flags, 0o600)
    except OSError as error:
        raise CommandError("cannot_write_state", path=path, text=error.strerror) from None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        pid = os.read(descriptor, 32).decode("ascii", "replace").strip() or "?"
        os.close(descriptor)
        raise CommandError("already_served", path=where.state, pid=pid) from None
    os.ftruncate(descriptor, 0)
    try:
        os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
    except OSError as error:  # a full disk: the parts could not write either
        os.close(descriptor)
        raise CommandError("cannot_write_state", path=path, text=error.strerror) from None
    return descriptor


def free_socket(where: Plan) -> None:
    """Removes a socket that nobody answers. Raises CommandError if somebody does."""
    if not os.path.lexists(where.socket):
        return
    if not stat.S_ISSOCK(os.lstat(where.socket).st_mode):
        raise CommandError("not_a_socket", path=where.socket)
    try:
        connect(where.socket, 5.0).close()
    except RoostError as error:
        if error.code == "no_daemon":
            os.unlink(where.socket)
            return
    raise CommandError("socket_taken", path=where.socket)


def greet(context: Context, where: Plan, client: Client, web: WebSettings | None) -> None:
    """The address, what is served, and the three commands to type next."""
    say = context.say
    status: Any = client.status()
    gpus = status.get("gpus") or []
    names = ", ".join(dict.fromkeys(str(gpu.get("name")) for gpu in gpus))
    count = fmt.count(say, "gpu", len(gpus))
    lines = [say("serve_ready", version=__version__, server=status["server"], path=where.socket)]
    if status.get("simulated"):
        lines.append(say("serve_simulated", gpus=count, names=names))
    elif gpus:
        lines.append(say("serve_gpus", gpus=count, names=names))
    else:
        remedy = status.get("driver_remedy") or ""
        state = status.get("driver_state")
        told = say("driver_trouble", remedy=remedy) if remedy else say("driver_state", state=state)
        lines.append(told)
    if web is not None:
        lines.append(say("serve_page", address=web.address))
    if not where.root:
        import getpass

        lines.append(say("serve_as_user", user=getpass.getuser()))
    lines += [f"- {limit}" for limit in status.get("limits") or []]
    with suppress(RoostError):
        rules: Any = client.rules()
        if rules.get("problem"):
            lines.append(say("rules_not_in_force", problem=rules["problem"]))
    lines += ["", say("serve_next")]
    program = program_name()
    if where.socket != default_socket():
        lines.append(f"  export ROOST_SOCKET={where.socket}")
    lines += [
        f"  {program} status",
        f"  {program} run -g 1 -- sleep 60",
        f"  {program} top",
    ]
    if where.root:
        lines.append(say("serve_not_root"))
    with suppress(OSError):  # a log on a full disk: the daemon serves all the same
        context.out("\n".join(lines))


def program_name() -> str:
    """ "roost" where another shell would find this one, else its path.

    ROOST_CALLER_PATH is the PATH that `make run` was called with, before its environment was put in
    front: another terminal has only that.
    """
    own = os.path.abspath(sys.argv[0])
    if os.path.basename(own) != "roost":
        return f"{sys.executable} -m roost"
    found = shutil.which("roost", path=os.environ.get("ROOST_CALLER_PATH"))
    return "roost" if found and os.path.realpath(found) == os.path.realpath(own) else own
