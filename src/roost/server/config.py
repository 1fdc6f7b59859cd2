"""Where the server finds and keeps its things, as its command line says."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from roost.core.web import WebSettings


@dataclass(frozen=True, slots=True)
class ServerConfig:
    """`database` None: SQLite, `roost.db` in `state`. `language`: of what is said at start.
    `record`: the file that the scheduler's steps are appended to, None for none. `web`: where the
    page is served, None for nowhere."""

    state: Path
    socket: Path
    agent_socket: Path
    rules: Path
    database: str | None = None
    language: str = "en"
    socket_mode: int = 0o666
    rules_every_s: float = 1.0
    record: Path | None = None
    web: WebSettings | None = None
