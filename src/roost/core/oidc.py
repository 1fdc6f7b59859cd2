"""What a provider's word has to say before it counts, and whose account it is about.

Decides over claims whose signature was looked at; knows no network, no keys and no accounts.
"""

from __future__ import annotations

import hmac
import re
from collections.abc import Mapping
from typing import Any

from roost.core.rules.model import OidcRules

SKEW_S = 60.0
OLDEST_S = 600.0
_ACCOUNT = re.compile(r"[a-z_][a-z0-9_.-]{0,31}", re.ASCII)


class OidcError(Exception):
    """`code` is of the catalogue `signin`; `why` is for the operator's log."""

    def __init__(self, code: str, why: str = "") -> None:
        super().__init__(f"{code}: {why}")
        self.code = code
        self.why = why


def checked(claims: Mapping[str, Any], rules: OidcRules, nonce: str, now: float) -> None:
    """OpenID Connect Core 1.0, section 3.1.3.7. `now`: seconds since 1970. Raises OidcError."""
    audience = claims.get("aud")
    audiences = [audience] if isinstance(audience, str) else audience
    if claims.get("iss") != rules.issuer:
        raise OidcError("oidc_untrue", "another issuer")
    if not isinstance(audiences, list) or rules.client_id not in audiences:
        raise OidcError("oidc_untrue", "for another audience")
    if claims.get("azp", rules.client_id) != rules.client_id:
        raise OidcError("oidc_untrue", "for another party (azp)")
    if len(audiences) > 1 and "azp" not in claims:
        raise OidcError("oidc_untrue", "several audiences and no azp")
    until, made = _time(claims, "exp"), _time(claims, "iat")
    if now >= until + SKEW_S:
        raise OidcError("oidc_untrue", "expired")
    if not now - OLDEST_S <= made <= now + SKEW_S:
        raise OidcError("oidc_untrue", "not made just now (iat)")
    if "nbf" in claims and _time(claims, "nbf") > now + SKEW_S:
        raise OidcError("oidc_untrue", "not yet in force (nbf)")
    said = claims.get("nonce")
    if not isinstance(said, str) or not hmac.compare_digest(said.encode(), nonce.encode()):
        raise OidcError("oidc_untrue", "another nonce")
    subject = claims.get("sub")
    if not isinstance(subject, str) or not subject:
        raise OidcError("oidc_untrue", "no subject")


def _time(claims: Mapping[str, Any], name: str) -> float:
    value = claims.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < 2**53:
        raise OidcError("oidc_untrue", f"no time in {name}")
    return float(value)


def account_of(claims: Mapping[str, Any], rules: OidcRules) -> str:
    """The account that the rules give the claim. Nothing is folded, cut or normalised: what merely
    looks like a name is none. Raises OidcError."""
    value = claims.get(rules.claim)
    if not isinstance(value, str) or not value or len(value) > 256:
        raise OidcError("oidc_no_account", f"no text in {rules.claim}")
    if rules.claim == "email" and claims.get("email_verified") is not True:
        raise OidcError("oidc_unverified", "email_verified is not true")
    account = rules.users.get(value)
    if account is None and rules.exact and rules.claim != "email":
        account = value if _ACCOUNT.fullmatch(value) else None
    if account is None or account == "root":
        raise OidcError("oidc_no_account", f"{rules.claim} is {value!a}")
    return account
