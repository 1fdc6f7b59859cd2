"""Asking the one provider that the rules name, and nobody else: small answers, soon, no redirects.

Blocks; for a thread of its own. Knows addresses and JSON, not what they mean.
"""

from __future__ import annotations

import http.client
import json
import ssl
import time
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from roost.core.oidc import OidcError
from roost.core.rules.model import OidcRules
from roost.core.web import is_loopback

STEP_S = 5.0
WITHIN_S = 10.0
MOST_BYTES = 256 * 1024


def allowed(address: object, rules: OidcRules) -> str:
    """The address, if it lies at the issuer's own host or one that the rules name; http only where
    the issuer itself is on this machine. Raises OidcError."""
    try:
        own, parts = urlsplit(rules.issuer), urlsplit(address if isinstance(address, str) else "")
        host, port = parts.hostname or "", parts.port
        text = parts.geturl()
    except ValueError:
        raise OidcError("oidc_away", "an address that is none") from None
    fine = parts.netloc in (own.netloc, *rules.hosts) and "@" not in parts.netloc
    plain = parts.scheme == "http" and own.scheme == "http" and is_loopback(host)
    if not fine or not (parts.scheme == "https" or plain) or port == 0 or not text.isascii():
        raise OidcError("oidc_away", f"leads to {ascii(address)[:200]}, not named by the rules")
    if any(letter <= " " or letter == "\x7f" for letter in text):
        raise OidcError("oidc_away", "an address that is none")
    return text


def _connection(tls: bool, host: str, port: int | None) -> http.client.HTTPConnection:
    if not tls:
        return http.client.HTTPConnection(host, port, timeout=STEP_S)
    trust = ssl.create_default_context()
    return http.client.HTTPSConnection(host, port, timeout=STEP_S, context=trust)


def asked(
    address: str, rules: OidcRules, body: bytes | None = None, more: Mapping[str, str] | None = None
) -> tuple[int, dict[str, Any]]:
    """Status and the JSON object of a GET, or of a POST of a form. Raises OidcError."""
    parts = urlsplit(allowed(address, rules))
    connection = _connection(parts.scheme == "https", parts.hostname or "", parts.port)
    until = time.monotonic() + WITHIN_S
    given = {"Accept": "application/json", "Connection": "close", **(more or {})}
    if body is not None:
        given["Content-Type"] = "application/x-www-form-urlencoded"
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    try:
        connection.request("GET" if body is None else "POST", target, body, given)
        response = connection.getresponse()
        raw = b""
        while part := response.read1(65536):
            raw += part
            if len(raw) > MOST_BYTES:
                raise OidcError("oidc_away", f"{parts.netloc} sends more than {MOST_BYTES} bytes")
            if time.monotonic() > until:
                raise OidcError("oidc_away", f"{parts.netloc} took more than {WITHIN_S:g} s")
    except (OSError, http.client.HTTPException, ValueError) as error:
        raise OidcError("oidc_away", f"{parts.netloc}: {error or type(error).__name__}") from None
    finally:
        connection.close()
    try:
        found = json.loads(raw)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise OidcError("oidc_away", f"{parts.netloc} answers {response.status} without JSON")
    return response.status, found
