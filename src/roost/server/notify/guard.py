"""One request to an address of somebody's choosing, so that it can reach nothing else.

The name is resolved once, its addresses are looked at, and the connection goes to the one that was
looked at; no proxy, no redirect, little answer, and a time limit over all of it. Blocks.
"""

from __future__ import annotations

import http.client
import ipaddress
import socket
import ssl
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from roost.core.notices.address import AddressError, origin_of
from roost.server.notify.outcomes import LaterError, RefusedError, UnknownError

STEP_S, WITHIN_S = 5.0, 10.0
MOST_BYTES = 64 * 1024
Network = ipaddress.IPv4Network | ipaddress.IPv6Network
Resolve = Callable[[str, int], list[str]]


def resolved(host: str, port: int) -> list[str]:
    """The addresses of a name. Raises OSError."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(one[4][0]) for one in found))


@dataclass(frozen=True, slots=True)
class Guard:
    """`origin`: the one place that may be asked. `private`: networks beside the public ones."""

    origin: str
    private: tuple[Network, ...] = ()
    trust: ssl.SSLContext | None = None
    resolve: Resolve = resolved


@dataclass(frozen=True, slots=True)
class Answer:
    status: int
    body: bytes


def ask(
    guard: Guard, method: str, url: str, headers: Mapping[str, str], body: bytes | None
) -> Answer:
    """Raises LaterError (nothing arrived), RefusedError, UnknownError (it may have arrived)."""
    parts = urlsplit(url)
    try:
        origin = origin_of(f"{parts.scheme}://{parts.netloc}")
    except AddressError:
        raise RefusedError("an address that is none") from None
    if origin != guard.origin:
        raise RefusedError("an address other than the one that was agreed to")
    host, tls = parts.hostname or "", parts.scheme == "https"
    port = parts.port or (443 if tls else 80)
    until = time.monotonic() + WITHIN_S
    try:
        connected = socket.create_connection((_looked_at(guard, host, port), port), STEP_S)
    except OSError as error:
        raise LaterError(_said(error), whole=True) from error
    # What drips in byte by byte never meets a limit of one read.
    watch = threading.Timer(max(0.1, until - time.monotonic()), _cut, [connected])
    watch.daemon = True
    watch.start()
    connection: http.client.HTTPConnection | None = None
    sent = False
    try:
        if tls:
            trust = guard.trust or ssl.create_default_context()
            connection = http.client.HTTPSConnection(host, port, timeout=STEP_S, context=trust)
            connected = trust.wrap_socket(connected, server_hostname=host)
        else:
            connection = http.client.HTTPConnection(host, port, timeout=STEP_S)
        connection.sock = connected
        target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        connection.request(method, target, body, {**headers, "Connection": "close"})
        sent = True
        response = connection.getresponse()
        return Answer(response.status, response.read(MOST_BYTES))
    except (OSError, http.client.HTTPException, ValueError) as error:
        if sent:
            raise UnknownError(_said(error)) from error
        raise LaterError(_said(error), whole=True) from error
    finally:
        watch.cancel()
        with suppress(OSError):
            connected.close()
        if connection is not None:
            connection.close()


def _looked_at(guard: Guard, host: str, port: int) -> str:
    """The first address of the host that may be asked. Raises RefusedError, OSError."""
    found = guard.resolve(host.strip("[]"), port)
    for one in found:
        if may_ask(one, guard.private):
            return one
    raise RefusedError("its name leads to a private address, which mail.toml does not allow")


def may_ask(address: str, private: tuple[Network, ...]) -> bool:
    """Public addresses, and those of the networks that the operators named; never one of the link,
    where clouds keep their secrets."""
    ip: Any = ipaddress.ip_address(address.partition("%")[0])
    for inner in ("ipv4_mapped", "sixtofour"):
        ip = getattr(ip, inner, None) or ip
    if ip.is_link_local or ip.is_multicast or ip.is_unspecified:
        return False
    return bool(ip.is_global) or any(ip in network for network in private)


def _cut(connected: socket.socket) -> None:
    with suppress(OSError):
        connected.shutdown(socket.SHUT_RDWR)


def _said(error: Exception) -> str:
    """Without what was asked for: an address is a secret."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"certificate: {error.verify_message}"[:200]
    text = error.strerror if isinstance(error, OSError) else None
    return str(text or type(error).__name__)[:200]
