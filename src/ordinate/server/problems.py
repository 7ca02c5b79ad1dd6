"""Errors as application/problem+json (RFC 9457): one table from the package's errors to status codes."""

from __future__ import annotations

import logging
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from ordinate import errors

log = logging.getLogger("ordinate.server")

# The first class that fits counts.
STATUS: tuple[tuple[type[errors.OrdinateError], int], ...] = (
    (errors.NotYourQuery, 403),
    (errors.UnknownQuery, 404),
    (errors.UnknownItem, 404),
    (errors.StudyNotFound, 404),
    (errors.AlreadyAnswered, 409),
    (errors.NothingToUndo, 409),
    (errors.PoolExhausted, 409),
    (errors.StudyPaused, 409),
    (errors.BudgetSpent, 409),
    (errors.StudyExists, 409),
    (errors.InvalidInput, 422),
    (errors.StorageFailed, 503),
    (errors.OrdinateError, 500),
)


class Problem(Exception):
    """A refusal by the server itself: who is asking, how often, from where."""

    def __init__(self, status: int, detail: str, headers: dict[str, str] | None = None) -> None:
        super().__init__(detail)
        self.status, self.detail, self.headers = status, detail, headers or {}


def problem(
    status: int, detail: str, kind: str = "about:blank", headers: dict[str, str] | None = None, **more: Any
) -> JSONResponse:
    body = {"type": kind, "title": HTTPStatus(status).phrase, "status": status, "detail": detail, **more}
    return JSONResponse(body, status, headers, media_type="application/problem+json")


def add_handlers(app: FastAPI) -> None:
    @app.exception_handler(Problem)
    async def _refusal(_: Request, error: Problem) -> JSONResponse:
        return problem(error.status, error.detail, headers=error.headers)

    @app.exception_handler(errors.OrdinateError)
    async def _ours(request: Request, error: errors.OrdinateError) -> JSONResponse:
        status = next(status for kind, status in STATUS if isinstance(error, kind))
        if status >= 500:
            log.error("%s %s: %s", request.method, request.url.path, error)
        return problem(status, str(error), f"urn:ordinate:{type(error).__name__}")

    @app.exception_handler(RequestValidationError)
    async def _invalid(_: Request, error: RequestValidationError) -> JSONResponse:
        places = [
            {"where": ".".join(str(part) for part in one["loc"]), "message": one["msg"]} for one in error.errors()
        ]
        detail = "; ".join(f"{place['where']}: {place['message']}" for place in places)
        return problem(422, detail, "urn:ordinate:InvalidInput", errors=places)

    @app.exception_handler(HTTPException)
    async def _http(_: Request, error: HTTPException) -> JSONResponse:
        return problem(error.status_code, str(error.detail), headers=dict(error.headers or {}))

    @app.exception_handler(Exception)
    async def _bug(request: Request, error: Exception) -> JSONResponse:
        log.error("%s %s failed", request.method, request.url.path, exc_info=error)
        return problem(500, "the server failed; its log says why. What was acknowledged before is stored")
