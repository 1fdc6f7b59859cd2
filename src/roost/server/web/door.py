"""What a request over HTTP passes before anything looks at it: host, origin, who it comes from.

ASGI before the API. Who is not known gets no further than the page, `GET /v1/ping` and signing in;
nothing of a stranger's request is read beyond its head, but a small body to sign in with.
"""

from __future__ import annotations

import hmac
import socket
from collections.abc import Callable
from typing import Any

from starlette.responses import RedirectResponse, Response

from roost.core.text.catalogue import say
from roost.core.web import WebSettings, client_of, host_of, is_loopback, literal, within
from roost.server.api.body import BodyLimit
from roost.server.api.problems import accepted_language, of_refusal, problem
from roost.server.api.rights import is_open
from roost.server.refusal import RefusalError
from roost.server.web.access import (
    ADDRESS,
    COOKIE,
    ORIGIN,
    PREFIX,
    SECURE,
    SIGNED,
    Access,
    Signed,
    csrf_of,
)
from roost.server.web.page import Page
from roost.server.web.protocol import CONNECTION, MOST_OF_ACCOUNT

MOST_SIGN_IN_BYTES = 16 * 1024
SAFE = ("GET", "HEAD", "OPTIONS")
API_POLICY = "default-src 'none'; frame-ancestors 'none'"
ALWAYS = (
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), microphone=(), geolocation=()"),
)


class Door:
    """`api` answers /v1; `settings` says how this is reached."""

    def __init__(self, api: Any, access: Access, settings: WebSettings, page: Page) -> None:
        self._api = api
        self._small = BodyLimit(api, MOST_SIGN_IN_BYTES)
        self._access = access
        self._settings = settings
        self._page = page
        self._names = {socket.gethostname().lower(), socket.getfqdn().lower(), *settings.names}

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            return
        headers = _Headers(scope["headers"])
        language = accepted_language(headers.one(b"accept-language"))
        api = True
        try:
            path, own = self._reached(scope, headers)
            api = path == "/v1" or path.startswith("/v1/")
            scope = {**scope, "path": path, "raw_path": path.encode(), "root_path": ""}
            if scope["method"] not in SAFE:
                self._same_site(headers, own)
            if api:
                await self._to_api(scope, headers, receive, guarded(send, API_POLICY))
                return
            answer = await self._to_page(scope, language)
        except RefusalError as no:
            answer = of_refusal(no, language)
            if no.status == 401:
                answer.headers["WWW-Authenticate"] = "Bearer"
            answer.headers["Connection"] = "close"
        await answer(scope, receive, guarded(send, API_POLICY if api else None))

    # -- where it goes ---------------------------------------------------------------------------

    def _reached(self, scope: Any, headers: _Headers) -> tuple[str, str]:
        """The path after the prefix, and this origin as the browser sees it; notes in the scope who
        asks from where. Raises RefusalError."""
        settings = self._settings
        peer = scope["client"][0] if scope.get("client") else ""
        proxied = within(peer, settings.proxies)
        host, scheme, address = headers.one(b"host"), scope["scheme"], peer
        if proxied:
            address = client_of(peer, headers.parts(b"x-forwarded-for"), settings.proxies)
            scheme = _last(headers.parts(b"x-forwarded-proto")) or scheme
            host = _last(headers.parts(b"x-forwarded-host")) or host
        scope[ADDRESS], scope[PREFIX] = address, settings.prefix
        scope[SECURE] = scheme == "https"
        if not self._known_host(host):
            raise RefusalError(421, "web.unknown_host", host=host[:100] or "–")
        origin = scope[ORIGIN] = f"{scheme}://{host.lower()}"
        path = scope["path"]
        if settings.prefix:
            if path.startswith(f"{settings.prefix}/"):
                path = path.removeprefix(settings.prefix)
            elif not proxied and path not in ("/", settings.prefix):
                raise RefusalError(404, "problem.not_found", path=path[:200])
            elif not proxied:
                path = ""
        return path, origin

    def _known_host(self, header: str) -> bool:
        """A page elsewhere that has its own name lead here (DNS rebinding) comes by a name that is
        not ours; addresses cannot be made to lead elsewhere."""
        host = host_of(header)
        if host is None:
            return False
        return literal(host) is not None or is_loopback(host) or host in self._names

    def _same_site(self, headers: _Headers, own: str) -> None:
        """Raises RefusalError for a change that another site's page asks for."""
        for origin in headers.every(b"origin"):
            if origin.lower() != own:
                raise RefusalError(403, "web.other_site", origin=origin[:100])
        if headers.one(b"sec-fetch-site") in ("cross-site", "same-site"):
            raise RefusalError(403, "web.other_site", origin="?")

    # -- the page --------------------------------------------------------------------------------

    async def _to_page(self, scope: Any, language: str) -> Response:
        if scope["path"] == "":
            return RedirectResponse(f"{self._settings.prefix}/", 308)
        if scope["method"] not in ("GET", "HEAD"):
            text = say(
                language, "problem.method_not_allowed", method=scope["method"],
                path=scope["path"][:200],
            )  # fmt: skip
            answer = problem(405, "method_not_allowed", text)
            answer.headers["Allow"] = "GET, HEAD"
            return answer
        answer = await self._page.answer(scope["path"], dict(scope["headers"]), language)
        if scope["method"] == "HEAD":
            answer.body = b""
        return answer

    # -- the API ---------------------------------------------------------------------------------

    async def _to_api(self, scope: Any, headers: _Headers, receive: Any, send: Any) -> None:
        is_public = is_open(scope["method"], scope["path"])
        signed = self._signed(scope["method"], headers, is_public)
        if signed is not None:
            scope[SIGNED] = signed
            record, connection = signed.record, scope.get(CONNECTION)
            if connection is not None and not connection.belongs_to(record.uid):
                raise RefusalError(
                    429, "door.too_many_connections", {"limit": MOST_OF_ACCOUNT},
                    user=record.user, limit=MOST_OF_ACCOUNT,
                )  # fmt: skip
        elif not is_public:
            raise RefusalError(401, "signin.not_signed_in")
        await (self._small if is_public else self._api)(scope, receive, send)

    def _signed(self, method: str, headers: _Headers, is_public: bool) -> Signed | None:
        """By what it comes in; None for a stranger. Raises RefusalError for a token, a session or
        a CSRF token that does not hold. Signing in anew takes no CSRF token."""
        given = headers.one(b"authorization")
        if given:
            kind, _, secret = given.partition(" ")
            token = self._access.token_of(secret.strip()) if kind.lower() == "bearer" else None
            if token is None:
                raise RefusalError(401, "signin.bad_token")
            return Signed(token=token)
        secret = headers.cookie(COOKIE)
        if not secret:
            return None
        session = self._access.session_of(secret)
        if session is None:
            if is_public:
                return None  # signing in again, or looking how to
            raise RefusalError(401, "signin.session_over")
        if method not in SAFE and not (method == "POST" and is_public):
            sent = headers.one(b"x-roost-csrf")
            if not hmac.compare_digest(sent.encode("latin-1"), csrf_of(secret).encode()):
                raise RefusalError(403, "signin.csrf")
        return Signed(session=session)


class _Headers:
    """A request's headers by name, as text of single bytes."""

    def __init__(self, headers: list[tuple[bytes, bytes]]) -> None:
        self._headers = headers

    def every(self, name: bytes) -> list[str]:
        return [value.decode("latin-1") for key, value in self._headers if key == name]

    def one(self, name: bytes) -> str:
        """ "" for none, and for one that is there more than once: nothing is to be read from it."""
        found = self.every(name)
        return found[0] if len(found) == 1 else ""

    def parts(self, name: bytes) -> list[str]:
        """The parts between commas of all of them, in order."""
        return [part.strip() for value in self.every(name) for part in value.split(",")]

    def cookie(self, name: str) -> str:
        for value in self.every(b"cookie"):
            for part in value.split(";"):
                key, _, found = part.strip().partition("=")
                if key == name:
                    return found.strip('"')
        return ""


def _last(parts: list[str]) -> str:
    """What the nearest proxy said."""
    return parts[-1].lower() if parts else ""


def guarded(send: Any, policy: str | None) -> Callable[[Any], Any]:
    """`send` that tells browsers to be careful. `policy` is for answers that have none."""

    async def sending(message: Any) -> None:
        if message["type"] == "http.response.start":
            headers = list(message.get("headers", ()))
            said = {name.lower() for name, _ in headers}
            headers += [pair for pair in ALWAYS if pair[0] not in said]
            if policy is not None:
                if b"content-security-policy" not in said:
                    headers.append((b"content-security-policy", policy.encode()))
                if b"cache-control" not in said:
                    headers.append((b"cache-control", b"no-store"))
            message = {**message, "headers": headers}
        await send(message)

    return sending
