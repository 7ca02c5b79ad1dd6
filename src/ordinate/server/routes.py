"""Routes of the API: they authenticate and count a request before they read its body."""

from __future__ import annotations

import logging
from collections.abc import Callable, Coroutine
from typing import Any, get_type_hints

from fastapi import Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.routing import APIRoute

from ordinate.errors import DiskFull
from ordinate.server.authentication import Authenticator, Caller, require_owner, require_viewer
from ordinate.server.bodies import ReadRequest, parsed, read_body
from ordinate.server.headers import SAFE
from ordinate.server.limits import Limits
from ordinate.server.problems import Problem
from ordinate.server.proxy_users import user_of
from ordinate.server.schemas import Given
from ordinate.study.ledger import acting_as

log = logging.getLogger("ordinate.server")
JSON = ("application/json",)


class StudyRoute(APIRoute):
    """For everybody with a link of the study that the address names."""

    as_owner = False

    def admit(self, request: Request, authenticator: Authenticator) -> Caller | None:
        """Who sends the request, which is noted on it. Raises problems 401, 403, 404, 429."""
        caller = authenticator.authenticate(request, request.path_params["study"], as_owner=self.as_owner)
        if caller.link.role == "viewer" and request.method not in SAFE:
            raise Problem(403, "with this link you see results; it lets nobody judge or change anything")
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
            # Whoever judges is the annotator of what they write; a program of an owner may speak for others.
            is_owners = caller is None or (caller.is_owner and (self.as_owner or caller.session is None))
            acts_as = user_of(request.scope) or "owner" if caller is None else caller.acts_as
            async with authenticator.turn(caller):
                with acting_as(acts_as if is_owners else None):
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


class ViewerRoute(StudyRoute):
    """For the owners and viewers of the study that the address names; nothing behind it changes anything."""

    as_owner = True

    def admit(self, request: Request, authenticator: Authenticator) -> Caller | None:
        caller = super().admit(request, authenticator)
        if caller is not None:
            require_viewer(caller)
        return caller


class ServerRoute(StudyRoute):
    """For everybody with a link of some study, or of the server; a request with a body must be an owner's.

    Where a folder is served, the owner of the server alone makes studies in it: it holds the files of all of them.
    """

    as_owner = True

    def admit(self, request: Request, authenticator: Authenticator) -> Caller | None:
        callers = authenticator.authenticate_everywhere(request)
        if request.method == "POST" and callers and not any(caller.is_owner for caller in callers):
            raise Problem(403, "to create a study, send the link of an owner of a study that is served here")
        is_folder = request.app.state.workspace is not None
        if request.method == "POST" and is_folder and callers and not any(caller.owns_server for caller in callers):
            raise Problem(403, "only the owner of the server makes studies in its folder; send the link of the server")
        request.state.callers = callers
        owners = (caller for caller in callers if caller.owns_server or (caller.is_owner and not is_folder))
        return next(owners, callers[0] if callers else None)


class FolderRoute(StudyRoute):
    """For the owner of the server, where it serves a folder."""

    def admit(self, request: Request, authenticator: Authenticator) -> None:
        authenticator.authenticate_server_owner(request)
        if request.app.state.workspace is None:
            raise Problem(404, "this server serves single studies; start it with a folder: ordinate serve FOLDER")

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        answer = super().get_route_handler()

        async def told_of_full_disk(request: Request) -> Response:
            try:
                return await answer(request)
            except DiskFull as error:
                log.error("%s %s: %s", request.method, self.path, error)
                raise Problem(507, "the disk of the server is full; free some space and try again") from None

        return told_of_full_disk
