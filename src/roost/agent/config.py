"""Where an agent lives and what it was told at its start; all of it fixed for its life."""

from __future__ import annotations

import hashlib
import os
import pwd
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

DEFAULT_STATE = "/var/lib/roost"
DEFAULT_RUN = "/run/roost"
SERVER_ACCOUNT = "roost"


@dataclass(frozen=True, slots=True)
class AgentConfig:
    """Paths as in docs/design/001. `server_uids` may connect, beside root and the agent's own.

    `cgroup` names the base of all jobs' cgroups (ROOST_CGROUP), `instance` tells apart agents on
    one machine. `filter_kind` is "auto", "bpf", "v1" or "none"; `new_privileges` allows setuid
    programs (sudo, ping, newuidmap) in jobs, which is off unless the operator wants it.
    `cuda_checkpoint` names that program where it is in no usual place, `cuda_checkpoint_s` bounds
    each of its steps.
    """

    state: str
    socket: str
    attach_socket: str
    runtime: str
    server_uids: tuple[int, ...] = ()
    server_gid: int | None = None
    simulate: str | None = None
    cgroup: str | None = None
    instance: str = ""
    devices: str = "/dev"
    filter_kind: str = "auto"
    only_v1: bool = False
    new_privileges: bool = False
    terminal_wait_s: float = 60.0
    cuda_checkpoint: str | None = None
    cuda_checkpoint_s: float = 300.0

    @property
    def attempts(self) -> str:
        return f"{self.state}/attempts"


def account_of_server() -> tuple[int, int] | None:
    """(uid, gid) of the system user `roost`; None where Roost is not installed."""
    try:
        entry = pwd.getpwnam(SERVER_ACCOUNT)
    except KeyError:
        return None
    return entry.pw_uid, entry.pw_gid


def agent_config(
    state: str | None = None,
    socket: str | None = None,
    simulate: str | None = None,
    server_uid: int | None = None,
    environment: Mapping[str, str] | None = None,
) -> AgentConfig:
    """The agent's configuration from what `roost serve` or `roost agent` was given.

    `state` and `socket` are those of the daemon as a whole (--state, --socket; the agent's sockets
    lie beside the API's). What is None comes from ROOST_STATE and ROOST_SOCKET, then from the
    defaults for root or for an ordinary user.
    """
    env = os.environ if environment is None else environment
    root = os.geteuid() == 0
    state = state or env.get("ROOST_STATE") or None
    socket = socket or env.get("ROOST_SOCKET") or None
    home = str(Path.home()) if not root else "/root"
    if socket:
        run = str(Path(socket).absolute().parent)
    elif state:
        run = state
    elif root:
        run = DEFAULT_RUN
    elif env.get("XDG_RUNTIME_DIR"):
        run = f"{env['XDG_RUNTIME_DIR']}/roost"
    else:
        run = ""  # with the state: a name below /tmp could be somebody else's
    if state is None:
        state = (
            DEFAULT_STATE
            if root
            else f"{env.get('XDG_STATE_HOME') or home + '/.local/state'}/roost"
        )
    state, run = os.path.abspath(state), os.path.abspath(run or state)
    uids, gid = _server(server_uid, root)
    return AgentConfig(
        state=f"{state}/agent",
        socket=f"{run}/agent.sock",
        attach_socket=f"{run}/attach.sock",
        runtime=f"{run}/jobs",
        server_uids=uids,
        server_gid=gid,
        simulate=simulate,
        cgroup=env.get("ROOST_CGROUP") or None,
        instance="" if root and state == DEFAULT_STATE else _instance(state),
        devices=(env.get("ROOST_DEVICE_DIR") or "/dev").rstrip("/"),
        filter_kind=env.get("ROOST_DEVICE_FILTER") or "auto",
        only_v1=env.get("ROOST_CGROUP_KINDS") == "v1",
        new_privileges=env.get("ROOST_NEW_PRIVILEGES") == "1",
        terminal_wait_s=float(env.get("ROOST_TERMINAL_WAIT_S") or 60.0),
        cuda_checkpoint=env.get("ROOST_CUDA_CHECKPOINT") or None,
        cuda_checkpoint_s=float(env.get("ROOST_CUDA_CHECKPOINT_S") or 300.0),
    )


def _instance(state: str) -> str:
    return hashlib.sha256(os.fsencode(state)).hexdigest()[:8]


def _server(uid: int | None, root: bool) -> tuple[tuple[int, ...], int | None]:
    if not root:
        return (), None
    account = account_of_server()
    if uid is not None:
        try:
            return (uid,), pwd.getpwuid(uid).pw_gid
        except KeyError:
            return (uid,), None
    return ((account[0],), account[1]) if account else ((), None)
