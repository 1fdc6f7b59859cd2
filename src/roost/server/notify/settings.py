"""How mail is sent, and to whom: `mail.toml` beside the rules. It must not know of notices.

It may hold a password, so it is refused where everybody can read it.
"""

from __future__ import annotations

import ipaddress
import os
import re
import stat
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import time as clock
from pathlib import Path

from roost.core.notices.address import SERVICES, Address, AddressError, origin_of
from roost.core.notices.quiet import read_quiet
from roost.server.notify.guard import Guard, Network

KEYS = {"host", "port", "tls", "from", "domain", "user", "password", "language", "quiet",
        "off", "people", "channels"}  # fmt: skip
CHANNEL_KEYS = {"services", "webhooks", "private"}
OWN_KEYS = {"address", "language", "quiet", "off"}
ADDRESS = re.compile(r"[A-Za-z0-9._%+-]{1,64}@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*", re.ASCII)
MOST_BYTES = 1 << 20


class MailSettingsError(Exception):
    """The file cannot be used; the text says why and what to do."""


@dataclass(frozen=True, slots=True)
class Recipient:
    """`address` "" for none; `off`: the kinds of notices that do not go by mail, "all" for all."""

    address: str
    language: str
    quiet: tuple[clock, clock] | None
    off: frozenset[str]


@dataclass(frozen=True, slots=True)
class ChannelSettings:
    """Which services people may use, to which origins ("https://host:port") webhooks may go, and
    which networks beside the public ones the names of those may lead to."""

    services: tuple[str, ...] = ()
    webhooks: tuple[str, ...] = ()
    private: tuple[Network, ...] = ()

    def allow(self, address: Address) -> bool:
        if address.kind == "webhook":
            return address.origin in self.webhooks
        return address.kind in self.services

    def guard(self, address: Address) -> Guard:
        """Services lie at public addresses; only webhooks may lead into the operators' networks."""
        return Guard(address.origin, self.private if address.kind == "webhook" else ())


@dataclass(frozen=True, slots=True)
class MailSettings:
    """`host` "": no mail. `tls`: "starttls", "tls" (from the first byte) or "none"."""

    host: str
    port: int
    tls: str
    sender: str
    user: str
    password: str = field(repr=False)
    default: Recipient
    domain: str
    people: Mapping[str, Recipient]
    channels: ChannelSettings = ChannelSettings()

    def recipient(self, user: str) -> Recipient | None:
        """Where mail for that account goes, None where nowhere."""
        if not self.host:
            return None
        found = self.people.get(user, self.default)
        address = found.address or (f"{user}@{self.domain}" if self.domain else "")
        if ADDRESS.fullmatch(address) is None:
            return None
        return Recipient(address, found.language, found.quiet, found.off)


def read_settings(path: Path) -> MailSettings | None:
    """None where there is no such file. Raises MailSettingsError."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise MailSettingsError(f"{path}: {error.strerror}") from error
    with os.fdopen(fd, "rb") as file:
        seen = os.fstat(file.fileno())
        if not stat.S_ISREG(seen.st_mode):
            raise MailSettingsError(f"{path} is no regular file")
        if seen.st_mode & 0o007:
            raise MailSettingsError(
                f"{path} can be read by everybody and may hold a password: chmod o= {path}"
            )
        raw = file.read(MOST_BYTES)
    try:
        given = tomllib.loads(raw.decode("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise MailSettingsError(f"{path}: {error}") from error
    try:
        return _settings(given)
    except (ValueError, TypeError) as error:
        raise MailSettingsError(f"{path}: {error}") from error


def _settings(given: Mapping[str, object]) -> MailSettings:
    _known(given, KEYS, "")
    tls = _text(given, "tls", "starttls")
    if tls not in ("starttls", "tls", "none"):
        raise ValueError(f'tls = "{tls}": say "starttls", "tls" or "none"')
    password, host = _text(given, "password", ""), _text(given, "host", "")
    channels = _channels(given)
    if not host and "channels" not in given:
        raise ValueError("host is missing: the name of the mail server")
    if password and tls == "none" and host not in ("localhost", "127.0.0.1", "::1"):
        raise ValueError('a password over the network needs tls = "starttls" or "tls"')
    sender = _text(given, "from", "")
    if host and ADDRESS.fullmatch(sender) is None:
        raise ValueError(f'from = "{sender}" is no mail address')
    port = given.get("port", {"tls": 465, "starttls": 587, "none": 25}[tls])
    if not isinstance(port, int) or not 0 < port < 65536:
        raise ValueError(f"port = {port!r} is no port")
    default = _recipient(given, Recipient("", "en", None, frozenset()), "")
    people, own = given.get("people", {}), {}
    if not isinstance(people, dict):
        raise ValueError("people is a table: [people.NAME]")
    for name, table in people.items():
        if not isinstance(table, dict):
            raise ValueError(f"people.{name} is a table")
        _known(table, OWN_KEYS, f"people.{name}.")
        own[name] = _recipient(table, default, f"people.{name}.")
    return MailSettings(
        host, port, tls, sender, _text(given, "user", ""), password, default,
        _text(given, "domain", ""), own, channels,
    )  # fmt: skip


def _channels(given: Mapping[str, object]) -> ChannelSettings:
    table = given.get("channels", {})
    if not isinstance(table, dict):
        raise ValueError("channels is a table: [channels]")
    _known(table, CHANNEL_KEYS, "channels.")
    services = _texts(table, "services")
    for one in services:
        if one not in SERVICES:
            raise ValueError(f'channels.services: "{one}"; known are {", ".join(SERVICES)}')
    webhooks, private = [], []
    for one in _texts(table, "webhooks"):
        try:
            webhooks.append(origin_of(one))
        except AddressError:
            raise ValueError(
                f'channels.webhooks: "{one}": say it as "https://hooks.example.org"'
            ) from None
    for one in _texts(table, "private"):
        try:
            private.append(ipaddress.ip_network(one))
        except ValueError:
            raise ValueError(f'channels.private: "{one}": say it as "10.1.0.0/16"') from None
    return ChannelSettings(services, tuple(webhooks), tuple(private))


def _texts(given: Mapping[str, object], key: str) -> tuple[str, ...]:
    found = given.get(key, [])
    if not isinstance(found, list) or not all(isinstance(one, str) for one in found):
        raise ValueError(f"channels.{key} is a list of texts")
    return tuple(found)


def _recipient(given: Mapping[str, object], default: Recipient, where: str) -> Recipient:
    language = _text(given, "language", default.language)
    if language not in ("en", "zh"):
        raise ValueError(f'{where}language = "{language}": say "en" or "zh"')
    address = _text(given, "address", "")
    if address and ADDRESS.fullmatch(address) is None:
        raise ValueError(f'{where}address = "{address}" is no mail address')
    off = given.get("off", sorted(default.off))
    if not isinstance(off, list) or not all(isinstance(one, str) for one in off):
        raise ValueError(f"{where}off is a list of kinds")
    quiet = default.quiet
    if "quiet" in given:
        try:
            quiet = read_quiet(_text(given, "quiet", ""))
        except ValueError as error:
            raise ValueError(f'{where}quiet: say it as "22:00-07:00", or "" for never') from error
    return Recipient(address, language, quiet, frozenset(off))


def _known(given: Mapping[str, object], keys: set[str], where: str) -> None:
    for key in given:
        if key not in keys:
            raise ValueError(f"{where}{key} is unknown; known are {', '.join(sorted(keys))}")


def _text(given: Mapping[str, object], key: str, default: str) -> str:
    found = given.get(key, default)
    if not isinstance(found, str):
        raise ValueError(f"{key} is a text")
    return found
