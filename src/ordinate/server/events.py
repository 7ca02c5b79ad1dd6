"""What changes in a study, told to the owner's page as it happens (server-sent events)."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator

from fastapi import APIRouter, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import StreamingResponse

from ordinate.server.authentication import Authenticator, Caller, TheAuthenticator, TheCaller, require_viewer
from ordinate.server.headers import wants_body
from ordinate.server.limits import Limits
from ordinate.server.problems import RETRY_SECONDS, Problem
from ordinate.server.routes import ViewerRoute
from ordinate.server.served_study import ServedStudy
from ordinate.study.rules import Basis

router = APIRouter(prefix="/api/v1/studies/{study}", tags=["looking"], route_class=ViewerRoute)
LOOK_SECONDS = 1.0
STILL_HERE = 15
"""Looks without news after which a line says that the connection is alive."""


class EventStream(StreamingResponse):
    media_type = "text/event-stream"


EVENT = {"type": "object", "properties": {"data": {"type": "string", "contentMediaType": "application/json"}}}


@router.get(
    "/events",
    summary="What changes, as it happens",
    response_class=EventStream,
    responses={200: {"content": {EventStream.media_type: {"schema": EVENT}}}},
)
async def events(request: Request, caller: TheCaller, authenticator: TheAuthenticator) -> EventStream:
    """One event for each change: how many entries the log has, and after how many answers the results are.

    The stream ends when the link is revoked or the study is no longer served.
    """
    limits: Limits = request.app.state.limits
    if caller.served.listeners >= limits.listeners:
        raise Problem(503, "too many pages listen to this study; try again", {"Retry-After": str(RETRY_SECONDS)})
    # The stream has no end, so for a request that wants the headers alone it must not begin.
    told = changes(request, caller, authenticator) if wants_body(request.scope) else iter(())
    return EventStream(told, headers={"X-Accel-Buffering": "no"})


async def changes(request: Request, caller: Caller, authenticator: Authenticator) -> AsyncIterator[str]:
    served, known, quiet = caller.served, None, 0
    served.listeners += 1
    try:
        while await run_in_threadpool(_is_admitted, request, served, authenticator):
            now = await run_in_threadpool(_state, served)
            if now != known:
                quiet = 0
                entries, basis = known = now
                answers = None if basis is None else basis.answers
                yield f"data: {json.dumps({'entries': entries, 'results': answers})}\n\n"
            elif quiet >= STILL_HERE:
                quiet = 0
                yield ": still here\n\n"
            quiet += 1
            await asyncio.sleep(LOOK_SECONDS)
    finally:
        served.listeners -= 1


def _is_admitted(request: Request, served: ServedStudy, authenticator: Authenticator) -> bool:
    """Whether the request would still be let in, if it came now."""
    if authenticator.registry.get(served.name) is not served:
        return False
    try:
        require_viewer(authenticator.identify(request, served, as_owner=True))
    except Problem:
        return False
    return True


def _state(served: ServedStudy) -> tuple[int, Basis | None]:
    results = served.prefetcher.results
    return served.study.entries, None if results is None else results.basis
