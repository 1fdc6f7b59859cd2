"""Every refusal as a problem document (RFC 9457), in the caller's language."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from typing import Any

import msgspec
import structlog
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response

from roost.core.text.catalogue import say
from roost.core.text.printable import printable
from roost.server.refusal import RefusalError
from roost.store.errors import StoreError

log = structlog.get_logger()
TITLES = {
    400: "Bad request", 401: "Not signed in", 403: "Not allowed", 404: "Not found",
    405: "Method not allowed", 409: "Conflict", 413: "Too large", 421: "Misdirected",
    422: "Not acceptable", 429: "Too many at once", 500: "Internal error", 502: "Agent refused",
    503: "Not available now", 504: "No answer in time", 507: "No space left",
}  # fmt: skip


def accepted_language(header: str) -> str:
    """ "zh" where Chinese is asked for before English (RFC 9110 §12.5.4), else "en"."""
    best, language = 0.0, "en"
    for part in header.split(",")[:20]:
        tag, _, parameters = part.strip().partition(";")
        name = tag.split("-")[0].lower()
        if name not in ("en", "zh"):
            continue
        try:
            quality = float(parameters.strip().removeprefix("q=")) if parameters else 1.0
        except ValueError:
            continue
        if quality > best:
            best, language = quality, name
    return language


def language_of(request: Request) -> str:
    return accepted_language(request.headers.get("accept-language", ""))


def problem(
    status: int, code: str, detail: str, extra: Mapping[str, Any] | None = None
) -> Response:
    body = {
        **(extra or {}),
        "type": f"/problems/{code}",
        "title": TITLES.get(status, "Refused"),
        "status": status,
        "detail": detail,
    }
    return Response(msgspec.json.encode(body), status, media_type="application/problem+json")


def of_refusal(error: RefusalError, language: str) -> Response:
    answer = problem(error.status, error.code, error.said(language), error.extra)
    if "wait_s" in error.extra:
        answer.headers["Retry-After"] = str(error.extra["wait_s"])
    return answer


def of_store(error: StoreError, language: str) -> Response:
    status = 507 if error.code == "full" else 503
    return problem(status, f"store_{error.code}", error.said(language))


def install(app: FastAPI) -> None:
    """Problem documents for refusals, for what FastAPI refuses, and for our own faults."""

    async def refused(request: Request, error: Exception) -> Response:
        assert isinstance(error, RefusalError)
        return of_refusal(error, language_of(request))

    async def store_failed(request: Request, error: Exception) -> Response:
        assert isinstance(error, StoreError)
        return of_store(error, language_of(request))

    async def invalid(request: Request, error: Exception) -> Response:
        assert isinstance(error, RequestValidationError)
        first = error.errors()[0]
        path = [str(part) for part in first["loc"] if part not in ("body", "query", "path")]
        # A union's branches are no part of what the caller wrote.
        key = ".".join(p for p in path if not p.startswith(("function-", "tagged-"))) or "body"
        text = printable(str(first["msg"]).encode("utf-8", "surrogatepass"))[:300]
        detail = say(language_of(request), "problem.invalid", key=key, problem=text)
        return problem(422, "invalid", detail, {"key": key})

    async def http(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        language, path = language_of(request), printable(request.url.path.encode()[:200])
        if error.status_code == 404:
            detail = say(language, "problem.not_found", path=path)
            return problem(404, "not_found", detail)
        if error.status_code == 405:
            detail = say(language, "problem.method_not_allowed", method=request.method, path=path)
            answer = problem(405, "method_not_allowed", detail)
            answer.headers.update(error.headers or {})
            return answer
        detail = say(language, "problem.bad_request", detail=str(error.detail))
        return problem(error.status_code, "bad_request", detail)

    async def fault(request: Request, error: Exception) -> Response:
        reference = secrets.token_hex(4)
        log.error("fault in the API", reference=reference, path=request.url.path, exc_info=error)
        detail = say(language_of(request), "problem.internal", reference=reference)
        return problem(500, "internal", detail, {"reference": reference})

    app.add_exception_handler(RefusalError, refused)
    app.add_exception_handler(StoreError, store_failed)
    app.add_exception_handler(RequestValidationError, invalid)
    app.add_exception_handler(HTTPException, http)
    app.add_exception_handler(Exception, fault)
