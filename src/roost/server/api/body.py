"""Bodies of requests, read whole before anything parses them: neither too large nor too many parts.

A small body of very many tiny parts (`[[],[],…`) costs seconds to take apart, for everybody. Knows
bytes, not what they ask for.
"""

from __future__ import annotations

from typing import Any

from starlette.responses import Response

from roost.core.text.catalogue import say
from roost.server.api.problems import accepted_language, problem

MAX_PARTS = 250_000
_PARTS = (b",", b"[", b"{")


def parts_of(body: bytes) -> int:
    """About how many values a JSON text holds; what stands in strings does not count."""
    if sum(body.count(mark) for mark in _PARTS) <= MAX_PARTS:
        return 0
    # Without its escapes, every second piece between quotation marks stands outside strings.
    plain = body.replace(b"\\\\", b"").replace(b'\\"', b"")
    outside = b"".join(plain.split(b'"')[::2])
    return sum(outside.count(mark) for mark in _PARTS)


STREAMED = frozenset({"/v1/environments/objects"})
"""Routes that take their body in pieces, with a limit of their own, and parse none of it."""


class BodyLimit:
    """ASGI: answers 413 itself for a body above `limit` bytes or `MAX_PARTS` values."""

    def __init__(self, app: Any, limit: int) -> None:
        self._app = app
        self._limit = limit

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if (
            scope["type"] != "http"
            or scope["method"] in ("GET", "HEAD")
            or (scope["path"] in STREAMED)
        ):
            await self._app(scope, receive, send)
            return
        headers = dict(scope["headers"])
        length = headers.get(b"content-length", b"")
        body = None if length.isdigit() and int(length) > self._limit else await self._read(receive)
        if body is None:
            await self._refused("body_too_large", self._limit, headers)(scope, receive, send)
            return
        if parts_of(body) > MAX_PARTS:
            await self._refused("too_many_parts", MAX_PARTS, headers)(scope, receive, send)
            return
        given = False

        async def again() -> Any:
            nonlocal given
            if given:
                return await receive()
            given = True
            return {"type": "http.request", "body": body, "more_body": False}

        await self._app(scope, again, send)

    async def _read(self, receive: Any) -> bytes | None:
        """The body; None when it is too large. What a caller who left had sent is all there is."""
        pieces: list[bytes] = []
        seen = 0
        while True:
            message = await receive()
            pieces.append(message.get("body", b""))
            seen += len(pieces[-1])
            if seen > self._limit:
                return None
            if not message.get("more_body", False):
                return b"".join(pieces)

    def _refused(self, code: str, limit: int, headers: dict[bytes, bytes]) -> Response:
        language = accepted_language(headers.get(b"accept-language", b"").decode("latin-1"))
        area = "problem" if code == "body_too_large" else "door"
        answer = problem(413, code, say(language, f"{area}.{code}", limit=limit), {"limit": limit})
        answer.headers["connection"] = "close"
        return answer
