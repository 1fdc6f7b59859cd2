"""Where a person's or the machine's daemon listens (docs/design/001-two-processes.md).

`ROOST_SOCKET` names the socket, `ROOST_STATE` the folder it lies in. Must not know who calls.
"""

from __future__ import annotations

import os

SYSTEM_SOCKET = "/run/roost/roost.sock"
SYSTEM_STATE = "/var/lib/roost"
SYSTEM_RULES = "/etc/roost/rules.toml"
SOCKET_NAME = "roost.sock"


def user_runtime_dir() -> str:
    """The caller's folder for sockets: below XDG_RUNTIME_DIR, else with the state."""
    base = os.environ.get("XDG_RUNTIME_DIR", "")
    if base.startswith("/"):
        return os.path.join(base, "roost")
    return user_state_dir()


def user_state_dir() -> str:
    base = os.environ.get("XDG_STATE_HOME", "")
    if not base.startswith("/"):
        base = os.path.expanduser("~/.local/state")
    return os.path.join(base, "roost")


def user_rules() -> str:
    base = os.environ.get("XDG_CONFIG_HOME", "")
    if not base.startswith("/"):
        base = os.path.expanduser("~/.config")
    return os.path.join(base, "roost", "rules.toml")


def default_socket() -> str:
    """ROOST_SOCKET; else the socket under ROOST_STATE; else the caller's own daemon's where it has
    one, else the machine's."""
    named = os.environ.get("ROOST_SOCKET")
    if named:
        return named
    state = os.environ.get("ROOST_STATE")
    if state:
        return os.path.join(state, SOCKET_NAME)
    if os.geteuid() != 0:
        own = os.path.join(user_runtime_dir(), SOCKET_NAME)
        if os.path.exists(own):
            return own
    return SYSTEM_SOCKET


def attach_socket(socket_path: str) -> str:
    """The agent's socket for terminals, beside the API's."""
    return os.path.join(os.path.dirname(socket_path), "attach.sock")
