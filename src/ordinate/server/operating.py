"""What whoever runs a server sees of it: readiness, metrics for Prometheus, and a log line for each request.

None of it has contents of items, names of annotators or tokens: a request is named by its route, such as
/join/{study}/{token}.
"""

from __future__ import annotations

import ipaddress
import json
import logging
import threading
import time
import uuid
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse, PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ordinate.server.problems import RETRY_SECONDS, Problem
from ordinate.server.registry import StudyRegistry
from ordinate.storage.log import asked_at

log = logging.getLogger("ordinate.requests")
router = APIRouter(include_in_schema=False)

BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
"""Upper bounds of the histogram of durations, in seconds."""
_request: ContextVar[str | None] = ContextVar("request", default=None)


class Requests:
    """Counts and times requests by route."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counts: Counter[tuple[str, str, int]] = Counter()
        self._buckets: defaultdict[str, list[int]] = defaultdict(lambda: [0] * (len(BUCKETS) + 1))
        self._seconds: Counter[str] = Counter()

    def note(self, method: str, route: str, status: int, seconds: float) -> None:
        with self._lock:
            self._counts[method, route, status] += 1
            self._buckets[route][bisect_left(BUCKETS, seconds)] += 1
            self._seconds[route] += seconds  # type: ignore[assignment]

    def lines(self) -> Iterator[str]:
        with self._lock:
            counts, seconds = dict(self._counts), dict(self._seconds)
            buckets = {route: list(found) for route, found in self._buckets.items()}
        yield from _head("ordinate_requests_total", "counter", "Requests by method, route and status.")
        for (method, route, status), number in sorted(counts.items()):
            yield _sample("ordinate_requests_total", number, method=method, route=route, status=status)
        yield from _head("ordinate_request_seconds", "histogram", "Time from a request to the end of its response.")
        for route, found in sorted(buckets.items()):
            total = 0
            for bound, number in zip((*BUCKETS, "+Inf"), found, strict=True):
                total += number
                yield _sample("ordinate_request_seconds_bucket", total, route=route, le=bound)
            yield _sample("ordinate_request_seconds_sum", round(seconds[route], 6), route=route)
            yield _sample("ordinate_request_seconds_count", total, route=route)


class RequestLog:
    """Notes each request, writes a log line for it, and gives it an id that its other lines and its response have."""

    def __init__(self, app: ASGIApp, requests: Requests) -> None:
        self._app, self._requests = app, requests

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began, status, name = time.perf_counter(), 500, uuid.uuid4().hex[:16]
        token = _request.set(name)
        asked_at.set(time.monotonic())

        async def noted(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message = {**message, "headers": [*message["headers"], (b"x-request-id", name.encode())]}
            await send(message)

        try:
            await self._app(scope, receive, noted)
        finally:
            seconds, route = time.perf_counter() - began, route_of(scope)
            self._requests.note(scope["method"], route, status, seconds)
            fields = {
                "method": scope["method"],
                "route": route,
                "study": scope.get("path_params", {}).get("study"),
                "status": status,
                "milliseconds": round(1000 * seconds, 1),
            }
            log.info("%s %s %s", scope["method"], route, status, extra={"fields": fields})
            _request.reset(token)


def route_of(scope: Scope) -> str:
    """The pattern of the address that was asked for; what follows "/static" is one."""
    route = scope.get("route")
    return str(getattr(route, "path", None) or ("/static" if "/static/" in scope["path"] else "other"))


class JsonLines(logging.Formatter):
    """A log record as a line of JSON."""

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            "request": _request.get(),
            **getattr(record, "fields", {}),
        }
        if record.exc_info:
            line["trace"] = self.formatException(record.exc_info)
        return json.dumps({name: value for name, value in line.items() if value is not None}, ensure_ascii=False)


def log_json_lines() -> None:
    """From now on the logs of the server, a line for each request among them, are JSON on standard error."""
    handler = logging.StreamHandler()
    handler.setFormatter(JsonLines())
    for name in ("ordinate.server", "ordinate.requests", "uvicorn"):
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [handler], False
        logger.setLevel(logging.WARNING if name == "uvicorn" else logging.INFO)


@router.get("/readyz")
def ready(request: Request) -> Response:
    """Whether every study can be read and written; /healthz only says that the process answers."""
    registry: StudyRegistry = request.app.state.authenticator.registry
    unusable = sum(not served.is_ready for served in registry)
    if unusable or not registry.is_reachable:
        return JSONResponse(
            {"status": "unavailable", "studies": unusable}, 503, headers={"Retry-After": str(RETRY_SECONDS)}
        )
    return JSONResponse({"status": "ok"})


@router.get("/metrics")
def metrics(request: Request) -> Response:
    """In Prometheus' text format, for the addresses that the server names."""
    if not _is_among(request.client.host if request.client else "", request.app.state.metrics):
        raise Problem(404, f"there is nothing at {request.url.path}")
    registry: StudyRegistry = request.app.state.authenticator.registry
    requests: Requests = request.app.state.requests
    lines = [*requests.lines(), *_studies(registry)]
    return PlainTextResponse("\n".join(lines) + "\n", media_type="text/plain; version=0.0.4; charset=utf-8")


def _studies(registry: StudyRegistry) -> Iterator[str]:
    served = [(one, one.study.progress(None)) for one in registry]
    for name, kind, meaning, values in (
        ("ordinate_study_answers", "gauge", "Answers that count.", [one.total for _, one in served]),
        ("ordinate_study_open_pairs", "gauge", "Pairs that somebody holds.", [one.open for _, one in served]),
        ("ordinate_study_items", "gauge", "Items in use.", [one.items for _, one in served]),
        (
            "ordinate_study_ready",
            "gauge",
            "1: answers can be stored; 0: they cannot.",
            [int(one.is_ready) for one, _ in served],
        ),
        (
            "ordinate_helper_restarts_total",
            "counter",
            "How often the helper process had to be replaced.",
            [one.prefetcher.restarts for one, _ in served],
        ),
    ):
        yield from _head(name, kind, meaning)
        for (one, _), value in zip(served, values, strict=True):
            yield _sample(name, value, study=one.name)


def _is_among(address: str, networks: Sequence[str]) -> bool:
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return False
    return any(found in ipaddress.ip_network(network) for network in networks)


def _head(name: str, kind: str, meaning: str) -> Iterable[str]:
    return f"# HELP {name} {meaning}", f"# TYPE {name} {kind}"


def _sample(name: str, value: float, **labels: object) -> str:
    written = ",".join(f'{label}="{_escaped(str(one))}"' for label, one in labels.items())
    return f"{name}{{{written}}} {value}"


def _escaped(value: str) -> str:
    return value.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
