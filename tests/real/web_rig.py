"""A browser's side of the page by hand: cookies, CSRF, tokens, over TCP with or without TLS.

Knows HTTP as a browser speaks it; it knows nothing of what a test expects.
"""

from __future__ import annotations

import http.client
import json
import random
import socket
import ssl
import subprocess
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

# Instead of a status: the server hung up on what was still being sent.
CUT_OFF = 0


def free_port() -> int:
    """A port that nobody listens on, and that no connection is given by the kernel meanwhile."""
    while True:
        port = random.randrange(10_000, 32_000)
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("", port))
            return port


def set_password(user: str, password: str) -> None:
    subprocess.run(
        ["chpasswd"], input=f"{user}:{password}\n".encode(), check=True, capture_output=True
    )


@dataclass
class Answer:
    status: int
    headers: dict[str, str]
    cookies: list[str]
    text: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.text)


@dataclass
class Browser:
    """Keeps the session's cookie and CSRF token; `prefix` is the page's path, `source` the address
    that it sits at."""

    port: int
    prefix: str = ""
    host: str = "127.0.0.1"
    source: str = "127.0.0.1"
    tls: ssl.SSLContext | None = None
    cookie: str = ""
    csrf: str = ""
    timeout_s: float = 30.0
    headers: dict[str, str] = field(default_factory=dict)

    def ask(
        self,
        method: str,
        path: str,
        body: Any = None,
        headers: Mapping[str, str] | None = None,
    ) -> Answer:
        """One request on a connection of its own. A header of value "" is not sent."""
        given = {"Host": f"localhost:{self.port}", **self.headers}
        if self.cookie:
            given["Cookie"] = f"roost_session={self.cookie}"
        if self.csrf and method not in ("GET", "HEAD"):
            given["X-Roost-CSRF"] = self.csrf
        data = None
        if body is not None:
            data = body if isinstance(body, bytes) else json.dumps(body).encode()
            given["Content-Type"] = "application/json"
        given.update(headers or {})
        connection: http.client.HTTPConnection
        if self.tls is not None:
            connection = http.client.HTTPSConnection(
                self.host, self.port, timeout=self.timeout_s, context=self.tls,
                source_address=(self.source, 0),
            )  # fmt: skip
        else:
            connection = http.client.HTTPConnection(
                self.host, self.port, timeout=self.timeout_s, source_address=(self.source, 0)
            )
        try:
            connection.putrequest(method, self.prefix + path, skip_host=True)
            for name, value in given.items():
                if value:
                    connection.putheader(name, value)
            if data is not None or method not in ("GET", "HEAD"):
                connection.putheader("Content-Length", str(len(data or b"")))
            with suppress(BrokenPipeError, ConnectionResetError):  # it may have heard enough
                connection.endheaders(data)
            got = connection.getresponse()
            text = got.read()
        except ConnectionResetError:
            return Answer(CUT_OFF, {}, [], b"")
        finally:
            connection.close()
        found = {name.lower(): value for name, value in got.getheaders()}
        cookies = [v for n, v in got.getheaders() if n.lower() == "set-cookie"]
        return Answer(got.status, found, cookies, text)

    def sign_in(self, user: str, password: str, **headers: str) -> Answer:
        answer = self.ask("POST", "/v1/session", {"user": user, "password": password}, headers)
        if answer.status == 200:
            self.cookie = answer.cookies[0].split(";", 1)[0].removeprefix("roost_session=")
            self.csrf = answer.json["csrf"]
        return answer
