"""A real server process for tests, with its socket, its state and a client."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from roost.client.api import Client


def wait_for(condition: Callable[[], Any], what: str, timeout_s: float = 45.0) -> Any:
    end = time.monotonic() + timeout_s
    while time.monotonic() < end:
        value = condition()
        if value:
            return value
        time.sleep(0.02)
    raise AssertionError(f"not within {timeout_s:g} s: {what}")


@dataclass
class Server:
    """`python -m roost server` in a folder; `uid` runs it as another account."""

    state: Path
    database: str | None = None
    process: subprocess.Popen[bytes] | None = None
    environment: dict[str, str] | None = None

    @property
    def socket(self) -> Path:
        return self.state / "roost.sock"

    @property
    def rules(self) -> Path:
        return self.state / "rules.toml"

    def words(self) -> list[str]:
        code = "import sys; from roost.server.main import main; sys.exit(main(sys.argv[1:]))"
        words = [sys.executable, "-c", code, "--state", str(self.state),
                 "--socket", str(self.socket), "--rules", str(self.rules)]  # fmt: skip
        return [*words, "--database", self.database] if self.database else words

    def start(self, ready: bool = True) -> None:
        with (self.state / "server.log").open("ab") as log:
            self.process = subprocess.Popen(
                self.words(), stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                env={**os.environ, "LC_ALL": "C.UTF-8", **(self.environment or {})},
            )  # fmt: skip
        if ready:
            self.wait_ready()

    def wait_ready(self) -> None:
        def answers() -> bool:
            assert self.process is not None
            assert self.process.poll() is None, self.log()
            with suppress(OSError), socket.socket(socket.AF_UNIX) as probe:
                probe.connect(str(self.socket))
                return True
            return False

        wait_for(answers, "the server listens")

    def log(self) -> str:
        path = self.state / "server.log"
        return path.read_text(errors="replace")[-5000:] if path.exists() else ""

    def kill(self) -> None:
        assert self.process is not None
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(10)

    def stop(self) -> int:
        if self.process is None or self.process.poll() is not None:
            return self.process.returncode if self.process else 0
        self.process.terminate()
        return self.process.wait(15)

    def client(self, language: str = "en") -> Client:
        return Client(str(self.socket), language=language)

    def connected(self) -> Client:
        """A client, once the agent is there and has been looked at."""
        client = self.client()
        wait_for(lambda: client.status()["gpus"], "the agent's GPUs show")
        return client


def raw(
    path: Path, method: str, target: str, body: Any = None, headers: dict[str, str] | None = None
) -> tuple[int, dict[str, str], Any]:
    """One request by hand: status, headers and JSON (or text)."""
    data = b""
    if body is not None:
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
    lines = [f"{method} {target} HTTP/1.1", "Host: roost", "Connection: close",
             f"Content-Length: {len(data)}"]  # fmt: skip
    given = {"Content-Type": "application/json", **(headers or {})}
    lines += [f"{name}: {value}" for name, value in given.items()]
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(30)
        connection.connect(str(path))
        answer = b""
        with suppress(BrokenPipeError, ConnectionResetError):  # refused before all of it was read
            connection.sendall("\r\n".join(lines).encode() + b"\r\n\r\n" + data)
        with suppress(ConnectionResetError):
            while chunk := connection.recv(1 << 16):
                answer += chunk
    head, _, rest = answer.partition(b"\r\n\r\n")
    first, *others = head.decode("latin-1").split("\r\n")
    found = dict(line.lower().split(": ", 1) for line in others)
    try:
        value: Any = json.loads(rest)
    except ValueError:
        value = rest.decode("utf-8", "replace")
    return int(first.split()[1]), found, value


def submission(*words: str, **more: Any) -> dict[str, Any]:
    return {"command": list(words), "directory": "/tmp", **more}
