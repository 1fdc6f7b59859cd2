"""The short way for what is asked most, a submission that is right: no routing, one validation.

Anything else, and any doubt, goes the ordinary way untouched, which answers the same; there the
route is documented too. Knows the bytes of a request, not what is done with a submission.
"""

from __future__ import annotations

import json
from typing import Any

from starlette.responses import Response

from roost.server.api.context import Context, caller
from roost.server.api.jobs import submitted
from roost.server.api.models import MAX_KEY, SubmissionIn
from roost.server.api.problems import accepted_language, of_refusal, of_store
from roost.server.refusal import RefusalError
from roost.store.errors import StoreError

_WANTED = (b"content-type", b"idempotency-key", b"accept-language")


class QuickSubmissions:
    """ASGI, inside `BodyLimit`: answers a right `POST /v1/jobs` itself, and hands all else on."""

    def __init__(self, app: Any, context: Context) -> None:
        self._app = app
        self._context = context

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http" or scope["path"] != "/v1/jobs" or scope["method"] != "POST":
            await self._app(scope, receive, send)
            return
        first = await receive()
        headers = _plain(scope["headers"])
        given = None if headers is None or first.get("more_body") else _given(first)
        if headers is None or given is None:
            await self._app(scope, _again(first, receive), send)
            return
        answer = await self._submit(scope, headers, given)
        await answer(scope, receive, send)

    async def _submit(
        self, scope: Any, headers: dict[bytes, bytes], given: SubmissionIn
    ) -> Response:
        language = accepted_language(headers.get(b"accept-language", b"").decode("latin-1"))
        key = headers.get(b"idempotency-key")
        try:
            call = await caller(self._context, scope, language, scope["path"])
            return await submitted(call, given, None if key is None else key.decode("latin-1"))
        except RefusalError as error:
            return of_refusal(error, language)
        except StoreError as error:
            return of_store(error, language)


def _plain(headers: list[tuple[bytes, bytes]]) -> dict[bytes, bytes] | None:
    """What matters of the headers; None where one is doubled or not as our own client sends it."""
    found = [(name, value) for name, value in headers if name in _WANTED]
    plain = dict(found)
    key = plain.get(b"idempotency-key")
    if len(plain) < len(found) or plain.get(b"content-type") != b"application/json":
        return None
    return None if key is not None and not 0 < len(key) <= MAX_KEY else plain


def _given(message: Any) -> SubmissionIn | None:
    try:
        return SubmissionIn.model_validate(json.loads(message.get("body", b"")))
    except (ValueError, RecursionError):
        return None  # what is wrong is said by the ordinary way


def _again(first: Any, receive: Any) -> Any:
    """Gives the message that was already taken once more."""
    given = False

    async def again() -> Any:
        nonlocal given
        if given:
            return await receive()
        given = True
        return first

    return again
