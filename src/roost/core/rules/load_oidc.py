"""From `[oidc]`: the one provider whose word counts for signing in, and whose account that is.

Part of `roost.core.rules.load`. Decides, and asks nobody.
"""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from roost.core.rules.model import OidcRules
from roost.core.rules.read import Table, shown
from roost.core.web import is_loopback

_ACCOUNT = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,63}", re.ASCII)
_CLAIM = re.compile(r"[A-Za-z_][A-Za-z0-9_.:/-]{0,99}", re.ASCII)
_HOST = re.compile(r"[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?(:\d{1,5})?", re.ASCII)


def oidc_of(table: Table) -> OidcRules | None:
    """None where the table is not there."""
    if not table.names:
        return None
    issuer, secret_file = table.text("issuer", ""), table.text("secret_file", "")
    client_id, claim = table.text("client_id", ""), table.text("claim", "preferred_username")
    if not _issuer(issuer):
        table.wrong("issuer", "oidc_issuer", value=shown(issuer))
    if not client_id.strip():
        table.wrong("client_id", "oidc_client")
    if secret_file and not secret_file.startswith("/"):
        table.wrong("secret_file", "oidc_secret_file", value=shown(secret_file))
    if not _CLAIM.fullmatch(claim):
        table.wrong("claim", "oidc_claim", value=shown(claim))
    hosts = table.texts("hosts")
    for host in hosts:
        if not _HOST.fullmatch(host):
            table.wrong("hosts", "oidc_host", value=shown(host))
    exact = table.flag("exact", False)
    if exact and claim == "email":
        table.wrong("exact", "oidc_exact")
    users, found = table.table("users"), {}
    for name in users.names:
        account = users.text(name, "")
        if _ACCOUNT.fullmatch(account) and account != "root":
            found[name] = account
        elif users.is_text(name):
            users.wrong(name, "alias", value=shown(account))
    label = table.text("name", "")
    table.close()
    return OidcRules(
        issuer, client_id, secret_file or None, claim, exact, found, hosts,
        label[:60] or urlsplit(issuer).hostname or "",
    )  # fmt: skip


def _issuer(text: str) -> bool:
    """https, or http on a loopback address; no query, no fragment, no user."""
    try:
        parts = urlsplit(text)
        host, _ = parts.hostname or "", parts.port
    except ValueError:
        return False
    plain = parts.scheme == "http" and is_loopback(host)
    odd = parts.query or parts.fragment or "@" in parts.netloc or not text.isprintable()
    return bool(host) and (parts.scheme == "https" or plain) and not odd and " " not in text
