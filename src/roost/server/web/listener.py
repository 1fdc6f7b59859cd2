"""The listener of the page: its sockets, its certificate, its life beside the API's own socket."""

from __future__ import annotations

import asyncio
import getpass
import os
import pwd
import socket
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import structlog
import uvicorn

from roost.core.web import WebError, WebSettings, is_loopback
from roost.server.api.context import Context
from roost.server.web.door import Door
from roost.server.web.page import Page
from roost.server.web.protocol import WebProtocol
from roost.server.web.serving import config_of

log = structlog.get_logger()
BACKLOG = 1024
KEEP_ALIVE_S = 75


@dataclass(frozen=True, slots=True)
class Listening:
    """Bound sockets that nobody is served on yet, and the certificate to serve them with."""

    settings: WebSettings
    sockets: list[socket.socket]
    tls: ssl.SSLContext | None

    def close(self) -> None:
        for one in self.sockets:
            one.close()


def listen(settings: WebSettings) -> Listening:
    """Binds every address of the host. Raises WebError."""
    tls = _certificate(settings)
    try:
        found = socket.getaddrinfo(
            settings.host, settings.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )
    except OSError as error:
        raise _cannot(settings, error) from None
    sockets: list[socket.socket] = []
    try:
        for family, address in dict.fromkeys((one[0], one[4]) for one in found):
            if tls is None and not is_loopback(str(address[0])):
                raise WebError("plain_http", host=address[0], port=settings.port)
            sockets.append(_bound(family, address))
    except OSError as error:
        for one in sockets:
            one.close()
        raise _cannot(settings, error) from None
    except WebError:
        for one in sockets:
            one.close()
        raise
    return Listening(settings, sockets, tls)


def _bound(family: int, address: Any) -> socket.socket:
    # asyncio sets TCP_NODELAY only where the protocol is named: else an answer in two pieces waits
    # 40 ms for the other side's delayed acknowledgement.
    made = socket.socket(family, socket.SOCK_STREAM | socket.SOCK_CLOEXEC, socket.IPPROTO_TCP)
    try:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            made.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        made.bind(address)
        made.listen(BACKLOG)
    except BaseException:
        made.close()
        raise
    return made


def _cannot(settings: WebSettings, error: OSError) -> WebError:
    return WebError("cannot_listen", address=settings.address, detail=error.strerror or str(error))


def _certificate(settings: WebSettings) -> ssl.SSLContext | None:
    if settings.certificate is None or settings.key is None:
        return None
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.set_alpn_protocols(["http/1.1"])
    _load(context, settings)
    return context


def _load(context: ssl.SSLContext, settings: WebSettings) -> None:
    """Raises WebError. A key with a passphrase is refused, not asked for on a terminal."""
    assert settings.certificate is not None
    try:
        context.load_cert_chain(settings.certificate, settings.key, password=lambda: b"")
    except OSError as error:  # ssl.SSLError is one
        raise WebError(
            "certificate", detail=error.strerror or getattr(error, "reason", None) or str(error),
            certificate=settings.certificate, key=settings.key, user=_user(),
        ) from None  # fmt: skip


def _user() -> str:
    try:
        return pwd.getpwuid(os.geteuid()).pw_name
    except KeyError:
        return getpass.getuser()


class Web(uvicorn.Server):
    """Serves the page and the API on these sockets; leaves when the API's own server does."""

    def __init__(self, listening: Listening, api: Any, context: Context) -> None:
        settings = listening.settings
        door = Door(api, context.access, settings, Page(settings.prefix))
        config = config_of(door, WebProtocol, BACKLOG, KEEP_ALIVE_S)
        config.load()
        config.ssl = listening.tls
        super().__init__(config)
        self._listening = listening
        self._stamps = self._files()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Signals are the other server's."""
        yield

    async def run_beside(self) -> None:
        """Serves until `should_exit`."""
        log.info("serving the page", address=self._listening.settings.address)
        await self.serve(sockets=self._listening.sockets)

    async def renew_certificate(self) -> None:
        """Takes up certificate files that have changed; with what cannot be used, the old one
        stays."""
        found = await asyncio.to_thread(self._files)
        if self._listening.tls is None or found == self._stamps or None in found:
            return
        self._stamps = found
        try:
            _load(self._listening.tls, self._listening.settings)
        except WebError as error:
            log.error("the new certificate cannot be used", **error.numbers)
        else:
            log.info("the certificate was renewed")

    def _files(self) -> tuple[tuple[int, int] | None, ...]:
        settings = self._listening.settings
        return tuple(_stamp(path) for path in (settings.certificate, settings.key) if path)


def _stamp(path: str) -> tuple[int, int] | None:
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_mtime_ns, status.st_ino
