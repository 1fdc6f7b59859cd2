"""The application: routers, problem documents, limits, and an OpenAPI document that is true."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI
from fastapi.routing import APIRoute

from roost import __version__
from roost.server.api import (
    accounts,
    bookings,
    books,
    checked,
    data,
    drains,
    environments,
    feeds,
    health,
    history,
    jobs,
    machine,
    motd,
    notifications,
    oidc,
    output,
    posture,
    problems,
    recent,
    rules,
    session,
    stream,
    team,
    tokens,
    users,
)
from roost.server.api.body import BodyLimit
from roost.server.api.context import Context
from roost.server.api.models import MAX_BODY_BYTES, Problem
from roost.server.api.quick import QuickSubmissions

REFUSALS: dict[int | str, dict[str, Any]] = {
    status: {
        "description": problems.TITLES[status],
        "content": {
            "application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}
        },
    }
    for status in (400, 401, 403, 404, 405, 409, 413, 421, 422, 429, 500, 502, 503, 504, 507)
}


# Looked through in this order: what is asked most comes first.
PARTS = (
    jobs, machine, output, recent, bookings, books, team, history, rules, checked, stream, session,
    oidc, tokens, feeds, users, accounts, drains, health,
    notifications, motd, posture, environments, data,
)  # fmt: skip


def routes() -> list[tuple[str, str]]:
    """Method and path template of every route of the API, by path."""
    found = [
        (method, route.path)
        for part in PARTS
        for route in part.router.routes
        if isinstance(route, APIRoute)
        for method in route.methods or ()
    ]
    return sorted(found, key=lambda one: (one[1], one[0]))


def make_app(context: Context) -> FastAPI:
    """The API over this context."""
    app = FastAPI(
        title="Roost",
        version=__version__,
        description="Who uses what, a queue with rules. Identity is the caller's Linux account.",
        openapi_url="/v1/openapi.json",
        docs_url=None,
        redoc_url=None,
        responses=REFUSALS,
        redirect_slashes=False,
    )
    app.state.context = context
    problems.install(app)
    for part in PARTS:
        app.include_router(part.router)
    app.add_middleware(QuickSubmissions, context=context)
    app.add_middleware(BodyLimit, limit=MAX_BODY_BYTES)
    _document(app)
    return app


def _document(app: FastAPI) -> None:
    made = app.openapi

    def openapi() -> dict[str, Any]:
        if app.openapi_schema is None:
            document = made()
            schemas = document["components"]["schemas"]
            schemas["Problem"] = Problem.model_json_schema()
            for name in ("HTTPValidationError", "ValidationError"):
                schemas.pop(name, None)
            for path in document["paths"].values():
                for operation in path.values():
                    operation["responses"]["422"] = REFUSALS[422]
            app.openapi_schema = document
        return app.openapi_schema

    app.openapi = openapi  # type: ignore[method-assign]
