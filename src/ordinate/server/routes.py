"""Routes of the API: they authenticate and count a request before they read its body."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any, get_type_hints

from fastapi import Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.routing import APIRoute

from ordinate.server.authentication import Authenticator, Caller, require_owner
from ordinate.server.bodies import ReadRequest, parsed, read_body
from ordinate.server.limits import Limits
from ordinate.server.problems import Problem
from ordinate.server.schemas import Given

JSON = ("application/json",)


class StudyRoute(APIRoute):
    """For everybody with a link of the study that the address names."""

    as_owner = False

    def admit(self, request: Request, authenticator: Authenticator) -> Caller | None:
        """Who sends the request, which is noted on it. Raises problems 401, 403, 404, 429."""
        caller = authenticator.authenticate(request, request.path_params["study"], as_owner=self.as_owner)
        request.state.caller = caller
        return caller

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        answer = super().get_route_handler()
        models = [
            kind
            for name, kind in get_type_hints(self.endpoint).items()
            if name != "return" and isinstance(kind, type) and issubclass(kind, Given)
        ]

        async def admitted(request: Request) -> Response:
            authenticator: Authenticator = request.app.state.authenticator
            caller = await run_in_threadpool(self.admit, request, authenticator)
            limits: Limits = request.app.state.limits
            for model in models:
                most, seconds = (
                    (limits.items_body, limits.items_body_seconds)
                    if model.brings_items
                    else (limits.body, limits.body_seconds)
                )
                body = await read_body(request, JSON, most, seconds)
                request = ReadRequest(request, body, await parsed(model, body))
            async with authenticator.turn(caller):
                return await answer(request)

        return admitted


class OwnerRoute(StudyRoute):
    """For the owners of the study that the address names."""

    as_owner = True

    def admit(self, request: Request, authenticator: Authenticator) -> Caller | None:
        caller = super().admit(request, authenticator)
        if caller is not None:
            require_owner(caller)
        return caller


class ServerRoute(StudyRoute):
    """For everybody with a link of some study, or of the server; a request with a body must be an owner's.

    Where a folder is served, the owner of the server alone makes studies in it: it holds the files of all of them.
    """

    def admit(self, request: Request, authenticator: Authenticator) -> Caller | None:
        callers = authenticator.authenticate_everywhere(request)
        if request.method == "POST" and callers and not any(caller.is_owner for caller in callers):
            raise Problem(403, "to create a study, send the link of an owner of a study that is served here")
        is_folder = request.app.state.workspace is not None
        if request.method == "POST" and is_folder and callers and not any(caller.owns_server for caller in callers):
            raise Problem(403, "only the owner of the server makes studies in its folder; send the link of the server")
        request.state.callers = callers
        return callers[0] if callers else None


class FolderRoute(StudyRoute):
    """For the owner of the server, where it serves a folder."""

    def admit(self, request: Request, authenticator: Authenticator) -> None:
        authenticator.authenticate_server_owner(request)
        if request.app.state.workspace is None:
            raise Problem(404, "this server serves single studies; start it with a folder: ordinate serve FOLDER")
