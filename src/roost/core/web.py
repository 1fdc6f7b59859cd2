"""Where the page is served and how it is reached, from what was typed; refuses what is not safe.

Decides, and opens nothing. `WebError` names a sentence of the catalogue `web`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

Network = IPv4Network | IPv6Network
_PREFIX = re.compile(r"(/[A-Za-z0-9._~-]+)*")
_NAME = re.compile(r"[A-Za-z0-9]([A-Za-z0-9._-]{0,251}[A-Za-z0-9])?")
LOOPBACK_NAMES = ("localhost", "ip6-localhost", "ip6-loopback")


class WebError(Exception):
    """What was asked for cannot be served so. `code` is of the catalogue `web`."""

    def __init__(self, code: str, **numbers: object) -> None:
        super().__init__(code)
        self.code = code
        self.numbers = numbers


@dataclass(frozen=True, slots=True)
class WebSettings:
    """`prefix` "" or "/roost". `certificate` and `key` are PEM files, both or none. `names`: by
    which people reach it, beside its own. `proxies` alone are believed whom they speak for."""

    host: str
    port: int
    prefix: str = ""
    certificate: str | None = None
    key: str | None = None
    names: tuple[str, ...] = ()
    proxies: tuple[Network, ...] = ()

    @property
    def tls(self) -> bool:
        return self.certificate is not None

    @property
    def address(self) -> str:
        """As people type it, where no proxy stands before it."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{'https' if self.tls else 'http'}://{host}:{self.port}{self.prefix}/"


def web_settings(
    http: str,
    prefix: str = "",
    certificate: str | None = None,
    key: str | None = None,
    names: Sequence[str] = (),
    proxies: Sequence[str] = (),
) -> WebSettings:
    """`http` is HOST:PORT, [IPV6]:PORT or PORT (on 127.0.0.1). Raises WebError.

    Plain HTTP only on a loopback address: elsewhere passwords would cross the network in the clear.
    """
    host, port = _address(http)
    prefix = prefix.rstrip("/")
    if not _PREFIX.fullmatch(prefix) or "/.." in prefix or "/./" in f"{prefix}/":
        raise WebError("bad_prefix", prefix=prefix)
    if (certificate is None) != (key is None):
        raise WebError("half_a_certificate")
    if certificate is None and not is_loopback(host):
        raise WebError("plain_http", host=host, port=port)
    for name in names:
        if not _NAME.fullmatch(name):
            raise WebError("bad_name", name=name)
    known = tuple(name.lower() for name in names)
    return WebSettings(
        host, port, prefix, certificate, key, known, tuple(_network(one) for one in proxies)
    )


def _address(http: str) -> tuple[str, int]:
    host, colon, port = http.rpartition(":")
    if not colon:
        host = "127.0.0.1"
    elif host.startswith("[") and host.endswith("]"):
        host = host[1:-1]
        if literal(host) is None:
            raise WebError("bad_address", address=http)
    elif ":" in host or not _NAME.fullmatch(host):
        raise WebError("bad_address", address=http)
    if not (port.isascii() and port.isdigit() and len(port) < 6 and int(port) < 65536):
        raise WebError("bad_address", address=http)
    return host, int(port)


def _network(text: str) -> Network:
    try:
        return ip_network(text)
    except ValueError:
        raise WebError("bad_proxy", proxy=text) from None


def literal(host: str) -> IPv4Address | IPv6Address | None:
    """The address that a host is written as; None for a name."""
    try:
        return ip_address(host)
    except ValueError:
        return None


def is_loopback(host: str) -> bool:
    address = literal(host)
    return address.is_loopback if address is not None else host.lower() in LOOPBACK_NAMES


def host_of(header: str) -> str | None:
    """The host that a `Host` header names, without port and brackets; None for what is none."""
    if header.startswith("["):
        inner, bracket, port = header[1:].partition("]")
        good = bracket and literal(inner) is not None and re.fullmatch(r"(:\d{1,5})?", port)
        return inner.lower() if good else None
    host, _, port = header.partition(":")
    if not _NAME.fullmatch(host.removesuffix(".")) or not re.fullmatch(r"\d{0,5}", port):
        return None
    return host.lower().removesuffix(".")


def within(address: str, networks: Sequence[Network]) -> bool:
    """Whether an address is in one of them; what is no address is in none."""
    found = literal(address)
    if found is None:
        return False
    if isinstance(found, IPv6Address) and found.ipv4_mapped is not None:
        found = found.ipv4_mapped
    return any(found.version == network.version and found in network for network in networks)


def client_of(peer: str, forwarded: Sequence[str], proxies: Sequence[Network]) -> str:
    """Who asked: the last address that no trusted proxy vouches for. `forwarded`: what stands in
    X-Forwarded-For, first to last; anybody may have written what comes before a trusted proxy."""
    address = peer
    for said in reversed(forwarded):
        if not within(address, proxies):
            break
        said = said.strip()
        if literal(said) is None:
            break
        address = said
    return address


def account_of_address(address: str) -> str:
    """What counts as one place for limits: an IPv4 address, or the /64 of an IPv6 address."""
    found = literal(address)
    if isinstance(found, IPv6Address):
        if found.ipv4_mapped is not None:
            return str(found.ipv4_mapped)
        return str(ip_network((int(found) >> 64 << 64, 64)))
    return address
