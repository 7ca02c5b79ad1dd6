"""Errors as application/problem+json (RFC 9457), or as a page for people: one table from errors to status codes."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException
from starlette.routing import Match

from ordinate import errors
from ordinate.server.rendering import error_page, wants_page

log = logging.getLogger("ordinate.server")

# The first class that fits counts.
STATUS: tuple[tuple[type[errors.OrdinateError], int], ...] = (
    (errors.NotYourQuery, 403),
    (errors.AnnotatorExcluded, 403),
    (errors.NameTaken, 409),
    (errors.UnknownQuery, 404),
    (errors.UnknownItem, 404),
    (errors.AlreadyAnswered, 409),
    (errors.NothingToUndo, 409),
    (errors.PoolExhausted, 409),
    (errors.StudyPaused, 409),
    (errors.BudgetSpent, 409),
    (errors.StudyExists, 409),
    (errors.InvalidInput, 422),
    (errors.MissingExtra, 422),  # something was asked for that takes a package which the server lacks
    (errors.StorageFailed, 503),
    (errors.StudyNotFound, 503),
    (errors.NotAStudy, 503),
    (errors.FeaturesChanged, 503),
    (errors.OrdinateError, 500),
)
EXCLUDED = "the owner of the study asks you for no more answers; those that you gave are stored"
OTHER_SESSION = "urn:ordinate:OtherSession"
"""The page that sends a request was loaded in a session that the browser has no longer."""
NO_SUCH_FIELD = "there is no such field; /api/v1/openapi.json lists the fields of every request"
UNUSABLE = "the study cannot be read or written at the moment; the page of its owner says why"
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE")
RETRY_SECONDS = 2
"""When a caller should try again after an error that passes by itself."""
MOST_ERRORS = 10
"""How many wrong values of one request are described."""


class Problem(Exception):
    """A request that the server itself refuses: who is asking, how often, how much, in which form."""

    def __init__(
        self, status: int, detail: str, headers: dict[str, str] | None = None, kind: str = "about:blank"
    ) -> None:
        super().__init__(detail)
        self.status, self.detail, self.headers, self.kind = status, detail, headers or {}, kind


class TryLater(errors.StorageFailed):
    """The server cannot do this just now, for a reason that every client may know."""


def problem(
    status: int, detail: str, kind: str = "about:blank", headers: dict[str, str] | None = None, **more: Any
) -> JSONResponse:
    body = {"type": kind, "title": HTTPStatus(status).phrase, "status": status, "detail": detail, **more}
    return JSONResponse(body, status, headers, media_type="application/problem+json")


def failure() -> JSONResponse:
    """The response to a request that showed a bug of the server."""
    return problem(500, "the server failed; its log says why. Every answer that was acknowledged is stored")


def add_handlers(app: FastAPI) -> None:
    @app.exception_handler(Problem)
    async def _refusal(request: Request, error: Problem) -> Response:
        return _response(request, error.status, error.detail, error.kind, error.headers)

    @app.exception_handler(errors.OrdinateError)
    async def _ours(request: Request, error: errors.OrdinateError) -> Response:
        status = next(status for kind, status in STATUS if isinstance(error, kind))
        kind, registry = f"urn:ordinate:{type(error).__name__}", request.app.state.authenticator.registry
        if status < 500 or isinstance(error, TryLater):
            headers = {"Retry-After": str(RETRY_SECONDS)} if status == 503 else {}
            # The error's own words are for the owner.
            detail = EXCLUDED if isinstance(error, errors.AnnotatorExcluded) else registry.without_folders(str(error))
            return _response(request, status, detail, kind, headers)
        name = request.path_params.get("study")
        served = next((one for one in registry.served() if one.name == name), None)
        if status == 503 and served is not None:
            served.note_failure(error)
            return _response(request, status, UNUSABLE, kind, {"Retry-After": str(RETRY_SECONDS)})
        # By its route: the address of a link contains its token.
        log.error("%s %s: %s", request.method, getattr(request.scope.get("route"), "path", "other"), error)
        return _response(request, status, "the server cannot do this; its log says why", kind)

    @app.exception_handler(RequestValidationError)
    async def _invalid(request: Request, error: RequestValidationError) -> Response:
        found = error.errors()[:MOST_ERRORS]
        places = [{"where": ".".join(map(str, one["loc"])), "message": _message(one)} for one in found]
        detail = "; ".join(f"{place['where']}: {place['message']}" for place in places)
        return _response(request, 422, detail, "urn:ordinate:InvalidInput", errors=places)

    @app.exception_handler(HTTPException)
    async def _http(request: Request, error: HTTPException) -> Response:
        headers, detail = dict(error.headers or {}), str(error.detail)
        if error.status_code == 405:
            headers["Allow"] = ", ".join(_allowed(request))
        elif error.status_code == 404:
            detail = f"there is nothing at {request.url.path}"
        return _response(request, error.status_code, detail, headers=headers)


def _message(wrong: Mapping[str, Any]) -> str:
    """What pydantic says of a value; of a field that is unknown it says only that it is not permitted."""
    return NO_SUCH_FIELD if wrong["type"] == "extra_forbidden" else str(wrong["msg"])


def _response(
    request: Request,
    status: int,
    detail: str,
    kind: str = "about:blank",
    headers: dict[str, str] | None = None,
    **more: Any,
) -> Response:
    if wants_page(request):
        return error_page(request, status, detail, headers or {})
    return problem(status, detail, kind, headers, **more)


def _allowed(request: Request) -> list[str]:
    """The methods that the address of a request has; HEAD is where GET is."""
    found = {
        method
        for method in METHODS
        for route in request.app.router.routes
        if route.matches({**request.scope, "method": method})[0] == Match.FULL
    }
    return [method for method in METHODS if method in found or (method == "HEAD" and "GET" in found)]
