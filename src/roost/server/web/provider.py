"""A sign-in with an OpenID Connect provider: authorization code flow with PKCE (RFC 6749, 7636).

What is under way is kept here, in memory, for ten minutes and one use. Network in threads of its
own; whose account somebody is, `core.oidc` says.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
import os
import secrets
import stat
import time
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, TypeVar
from urllib.parse import quote_plus, urlencode

from joserfc import jws, jwt
from joserfc.errors import JoseError
from joserfc.jwk import ECKey, Key, KeySet, OKPKey, RSAKey

from roost.core.oidc import OidcError, checked
from roost.core.rules.model import OidcRules
from roost.server.web.fetch import allowed, asked

T = TypeVar("T")
UNDER_WAY_S = 600.0
MOST_UNDER_WAY = 10_000
MOST_ASKING = 32
WAIT_S = 25.0
KEEP_S = 3600.0
AGAIN_S = 30.0
MOST_TOKEN = 64 * 1024
LEAST_RSA_BITS = 2048
# Signatures by the provider's own key alone: neither "none" nor one by a secret (HS…).
ALGORITHMS = (
    "RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "Ed25519",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class UnderWay:
    """One browser on its way to the provider; `browser` is the SHA-256 of what its cookie holds."""

    browser: str
    nonce: str
    verifier: str
    back: str
    to: str
    rules: OidcRules
    until: float


@dataclass(frozen=True, slots=True)
class Metadata:
    authorize: str
    token: str
    keys_at: str
    iss_told: bool
    basic: bool


@dataclass(frozen=True, slots=True)
class _Known:
    metadata: Metadata
    keys: KeySet
    at: float


class Provider:
    """One a server."""

    def __init__(
        self,
        clock: Callable[[], float] = time.time,
        steady: Callable[[], float] = time.monotonic,
    ) -> None:
        self._clock, self._steady = clock, steady
        self._under_way: OrderedDict[str, UnderWay] = OrderedDict()
        self._known: dict[tuple[str, tuple[str, ...]], _Known] = {}
        self._threads = ThreadPoolExecutor(4, thread_name_prefix="oidc")
        self._asking = 0

    async def begin(self, rules: OidcRules, back: str, to: str) -> tuple[str, str, str]:
        """Where to send the browser, the state, and what its cookie is to hold. `back`: this
        Roost's own address for the answer; `to`: the view to end at. Raises OidcError."""
        known = await self._metadata(rules)
        state, nonce, verifier, browser = (secrets.token_urlsafe(32) for _ in range(4))
        now = self._steady()
        while self._under_way and (
            len(self._under_way) >= MOST_UNDER_WAY
            or next(iter(self._under_way.values())).until <= now
        ):
            self._under_way.popitem(last=False)
        self._under_way[state] = UnderWay(
            _sha256(browser), nonce, verifier, back, to, rules, now + UNDER_WAY_S
        )
        challenge = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest())
        scope = "openid email" if rules.claim.startswith("email") else "openid profile"
        asking = {
            "response_type": "code",
            "client_id": rules.client_id,
            "redirect_uri": back,
            "scope": scope,
            "state": state,
            "nonce": nonce,
            "code_challenge": challenge.rstrip(b"=").decode(),
            "code_challenge_method": "S256",
        }
        joint = "&" if "?" in known.metadata.authorize else "?"
        return f"{known.metadata.authorize}{joint}{urlencode(asking)}", state, browser

    def take(self, state: str, browser: str) -> UnderWay:
        """What this browser began, once. Raises OidcError."""
        found = self._under_way.get(state)
        if found is None or not hmac.compare_digest(found.browser, _sha256(browser)):
            raise OidcError("oidc_stale", "a state that is not this browser's, or used")
        del self._under_way[state]
        if self._steady() >= found.until:
            raise OidcError("oidc_stale", "took too long")
        return found

    async def claims(self, way: UnderWay, code: str, iss: str | None) -> dict[str, Any]:
        """What the provider says of whom it sent back with `code`. Raises OidcError."""
        known = await self._metadata(way.rules)
        if (iss is not None or known.metadata.iss_told) and iss != way.rules.issuer:
            raise OidcError("oidc_untrue", "an answer of another issuer")  # RFC 9207
        token = await self._in_thread(lambda: _redeem(known.metadata, way, code))
        keys = known.keys
        if not _has_key(token, keys) and self._steady() >= known.at + AGAIN_S:
            keys = (await self._metadata(way.rules, anew=True)).keys
        claims = await self._in_thread(lambda: _verified(token, keys))
        checked(claims, way.rules, way.nonce, self._clock())
        return claims

    async def _metadata(self, rules: OidcRules, anew: bool = False) -> _Known:
        found = self._known.get(_key_of(rules))
        if found is not None and not anew and self._steady() < found.at + KEEP_S:
            return found
        metadata, keys = await self._in_thread(lambda: _discovered(rules))
        made = _Known(metadata, keys, self._steady())
        self._known = {_key_of(rules): made}
        return made

    async def _in_thread(self, work: Callable[[], T]) -> T:
        """In one of few threads: a slow provider takes none of those that others need."""
        if self._asking >= MOST_ASKING:
            raise OidcError("oidc_away", "too many are waiting for the provider")
        self._asking += 1
        try:
            running = asyncio.get_running_loop().run_in_executor(self._threads, work)
            return await asyncio.wait_for(running, WAIT_S)
        except TimeoutError:
            raise OidcError("oidc_away", f"no answer within {WAIT_S:g} s") from None
        finally:
            self._asking -= 1


def _key_of(rules: OidcRules) -> tuple[str, tuple[str, ...]]:
    """What the provider's addresses and keys depend on."""
    return rules.issuer, rules.hosts


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


# -- in threads ------------------------------------------------------------------------------------


def _discovered(rules: OidcRules) -> tuple[Metadata, KeySet]:
    """OpenID Connect Discovery 1.0, section 4. Raises OidcError."""
    at = rules.issuer.rstrip("/") + "/.well-known/openid-configuration"
    status, found = asked(at, rules)
    if status != 200 or found.get("issuer") != rules.issuer:
        raise OidcError("oidc_away", f"{at} answers {status}, or as another issuer")
    ways = found.get("token_endpoint_auth_methods_supported")
    metadata = Metadata(
        allowed(found.get("authorization_endpoint"), rules),
        allowed(found.get("token_endpoint"), rules),
        allowed(found.get("jwks_uri"), rules),
        found.get("authorization_response_iss_parameter_supported") is True,
        not isinstance(ways, list) or "client_secret_basic" in ways,
    )
    status, answer = asked(metadata.keys_at, rules)
    listed = answer.get("keys")
    if status != 200 or not isinstance(listed, list):
        raise OidcError("oidc_away", f"{metadata.keys_at} answers {status}, or no keys")
    keys: list[Key] = [key for one in listed[:100] if (key := _key(one)) is not None]
    if not keys:
        raise OidcError("oidc_away", "the provider has no key that can be used")
    return metadata, KeySet(keys)


def _key(one: Any) -> RSAKey | ECKey | OKPKey | None:
    """A public key for signatures; None for any other."""
    if not isinstance(one, dict) or one.get("use", "sig") != "sig" or "d" in one:
        return None
    kinds: dict[Any, type[RSAKey] | type[ECKey] | type[OKPKey]] = {
        "RSA": RSAKey, "EC": ECKey, "OKP": OKPKey,
    }  # fmt: skip
    kind = kinds.get(one.get("kty")) if isinstance(one.get("kty"), str) else None
    if kind is None:
        return None
    try:
        key = kind.import_key(one)
        if isinstance(key, RSAKey) and key.public_key.key_size < LEAST_RSA_BITS:
            return None
    except (JoseError, ValueError, TypeError, KeyError):
        return None  # one that is not understood does not keep the others from being used
    return key


def _redeem(metadata: Metadata, way: UnderWay, code: str) -> str:
    """The ID token for a code. Raises OidcError."""
    form = {
        "grant_type": "authorization_code",
        "code": code,
        "redirect_uri": way.back,
        "code_verifier": way.verifier,
    }
    headers: dict[str, str] = {}
    secret = secret_of(way.rules)
    if secret is not None and metadata.basic:
        pair = f"{quote_plus(way.rules.client_id)}:{quote_plus(secret)}"
        headers["Authorization"] = "Basic " + base64.b64encode(pair.encode()).decode()
    else:
        form["client_id"] = way.rules.client_id
        if secret is not None:
            form["client_secret"] = secret
    status, found = asked(metadata.token, way.rules, urlencode(form).encode(), headers)
    token = found.get("id_token")
    if status != 200 or not isinstance(token, str) or len(token) > MOST_TOKEN:
        said = ascii(found.get("error"))[:100]
        code_ = "oidc_away" if status >= 500 else "oidc_untrue"
        raise OidcError(code_, f"the code was not taken: {status}, error {said}")
    return token


def secret_of(rules: OidcRules) -> str | None:
    """The client's secret. A file that everybody may read is refused. Raises OidcError."""
    if rules.secret_file is None:
        return None
    try:
        fd = os.open(rules.secret_file, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        with open(fd, encoding="utf-8") as file:
            found = os.fstat(fd)
            if not stat.S_ISREG(found.st_mode) or found.st_mode & 0o007:
                raise OidcError("oidc_away", f"{rules.secret_file}: no file, or open to everybody")
            secret = file.read(4096).strip()
    except (OSError, ValueError) as error:
        raise OidcError("oidc_away", f"{rules.secret_file}: {error}") from None
    if not secret:
        raise OidcError("oidc_away", f"{rules.secret_file} is empty")
    return secret


def _header(token: str) -> dict[str, Any]:
    try:
        return dict(jws.extract_compact(token.encode("ascii")).headers())
    except (JoseError, ValueError, TypeError):
        raise OidcError("oidc_untrue", "no token") from None


def _has_key(token: str, keys: KeySet) -> bool:
    kid = _header(token).get("kid")
    return any(key.kid == kid for key in keys) or (kid is None and len(keys.keys) == 1)


def _verified(token: str, keys: KeySet) -> dict[str, Any]:
    """The claims, if one of the provider's keys signed them. Raises OidcError."""
    try:
        return dict(jwt.decode(token, keys, algorithms=list(ALGORITHMS)).claims)
    except (JoseError, ValueError, TypeError, RecursionError) as error:
        raise OidcError("oidc_untrue", f"signature: {type(error).__name__}") from None
