"""Connections of the server: deadlines, errors that come before any route, and a stop that always ends."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from types import FrameType

import h11
import uvicorn
from fastapi import FastAPI
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

from ordinate.server.authentication import Authenticator
from ordinate.server.bodies import LARGE
from ordinate.server.headers import ALWAYS, DEFAULTS
from ordinate.server.limits import Limits
from ordinate.server.problems import RETRY_SECONDS, problem
from ordinate.server.proxy_users import PlainAddresses, ProxyUsers

FINISH_SECONDS = 2
"""How long requests may take to finish when the server stops; then they are cancelled."""
REFUSED_AT_ONCE = 100
"""Connections above the limit that are told so."""
FILES = 300
"""Files that the server opens beside its connections: the study's, those of items, pipes to helpers."""
STOP_SECONDS = 4.5
"""When a server that was told to stop ends in any case; every answer that it acknowledged is on the disk."""


async def crowded(scope: Scope, receive: Receive, send: Send) -> None:
    """The application of connections above the limit."""
    headers = {**ALWAYS, **DEFAULTS, "Retry-After": str(RETRY_SECONDS), "Connection": "close"}
    refusal = problem(503, "the server has as many connections as it takes; try again soon", headers=headers)
    await refusal(scope, receive, send)


class Connection(H11Protocol):
    """A connection whose requests must have their headers, and whose responses must be taken, before a deadline.

    Above the limit of connections, requests are refused; far above it, connections are closed unheard.
    """

    limits: Limits
    _deadline: asyncio.TimerHandle | None = None
    _write_deadline: asyncio.TimerHandle | None = None
    _is_deaf = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        if (others := len(self.connections) - self.limits.connections) > 0:
            self.app = crowded
            if others > REFUSED_AT_ONCE:
                transport.abort()
        self._start_deadline()

    def data_received(self, data: bytes) -> None:
        if self._is_deaf:
            return
        super().data_received(data)
        # Also what follows a response that was sent before the request's body was read ends by the deadline.
        cycle: RequestResponseCycle | None = self.cycle
        if cycle is not None and not cycle.response_complete:
            self._end_deadline()
        elif self._deadline is None:
            self._start_deadline()

    def pause_writing(self) -> None:
        # A caller who takes nothing must not keep a response in memory for ever.
        self._write_deadline = self.loop.call_later(self.limits.send_seconds, self.transport.abort)
        super().pause_writing()

    def resume_writing(self) -> None:
        if self._write_deadline is not None:
            self._write_deadline.cancel()
        super().resume_writing()

    def connection_lost(self, exc: Exception | None) -> None:
        self._end_deadline()
        if self._write_deadline is not None:
            self._write_deadline.cancel()
        super().connection_lost(exc)

    def on_response_complete(self) -> None:
        super().on_response_complete()
        # After this uvicorn's own deadline for idle connections holds, until the first byte comes.
        self._end_deadline()
        if self.conn.their_state is h11.SEND_BODY and self._is_body_large():
            # The request was refused. Closed at once, the connection might be reset before the caller has read why: so
            # the rest of the body is taken, not parsed, until the caller has seen the end or the deadline comes.
            self._is_deaf = True
            self.transport.write_eof()
            self._unset_keepalive_if_required()
            self._start_deadline()

    def _is_body_large(self) -> bool:
        length = dict(self.headers).get(b"content-length")
        return length is None or int(length) > LARGE

    def send_400_response(self, msg: str) -> None:
        self._refuse(400, "Bad Request", "this is not a valid HTTP request")

    def _start_deadline(self) -> None:
        self._deadline = self.loop.call_later(self.limits.header_seconds, self._give_up)

    def _end_deadline(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _give_up(self) -> None:
        self._deadline = None
        if self.transport.is_closing():
            return
        if self.conn.their_state is h11.IDLE:
            self._refuse(408, "Request Timeout", f"the headers did not arrive within {self.limits.header_seconds:g} s")
        else:
            self.transport.close()

    def _refuse(self, status: int, title: str, detail: str) -> None:
        """Send an error that no route could send, and close the connection."""
        if self.conn.our_state not in (h11.IDLE, h11.SEND_RESPONSE):
            self.transport.close()
            return
        problem = {"type": "about:blank", "title": title, "status": status, "detail": detail}
        body = json.dumps(problem).encode()
        headers = {
            "Content-Type": "application/problem+json",
            "Content-Length": str(len(body)),
            "Connection": "close",
            **ALWAYS,
            **DEFAULTS,
        }
        pairs = [(name.encode(), value.encode()) for name, value in headers.items()]
        start = h11.Response(status_code=status, headers=pairs, reason=title)
        for event in (start, h11.Data(body), h11.EndOfMessage()):
            self.transport.write(self.conn.send(event) or b"")
        self.transport.close()


class Server(uvicorn.Server):
    """Stops within STOP_SECONDS of a signal, whatever threads and helpers still do."""

    def __init__(self, config: uvicorn.Config, authenticator: Authenticator, is_ending: Callable[[], bool]) -> None:
        super().__init__(config)
        self._authenticator = authenticator
        self._is_ending = is_ending

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        if not self.should_exit:
            last = threading.Timer(STOP_SECONDS, self._end, [sig])
            last.daemon = True
            last.start()
        super().handle_exit(sig, frame)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        # From here on this class hears every signal.
        self.should_exit |= self._is_ending()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        # Whoever waits for a pair is told to come again; else these requests would be cut off, each with a traceback.
        self._authenticator.registry.stop()
        await super().shutdown(sockets)

    def _end(self, sig: int) -> None:
        self._authenticator.registry.kill_helpers()
        os._exit(128 + sig)


def server(
    app: FastAPI,
    proxies: Sequence[str] = (),
    user_header: str | None = None,
    is_ending: Callable[[], bool] = lambda: False,
) -> Server:
    """A server of this application.

    Only requests from `proxies` may say for whom they were forwarded, and, in `user_header`, who that is. `is_ending`
    says whether a signal to end came before the server could hear it.
    """
    limits = replace(app.state.limits, connections=_room_for(app.state.limits.connections))
    served: ASGIApp = ProxyHeadersMiddleware(app, list(proxies)) if proxies else app  # type: ignore[arg-type,assignment]
    if user_header is not None:
        served = ProxyUsers(served, user_header.lower(), proxies)
    config = uvicorn.Config(
        PlainAddresses(served),
        http=type("LimitedConnection", (Connection,), {"limits": limits}),
        ws="none",
        log_level="warning",
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=FINISH_SECONDS,
        proxy_headers=False,
    )
    return Server(config, app.state.authenticator, is_ending)


def _room_for(connections: int) -> int:
    """How many connections this process may have, of those wanted; each is a file to the operating system."""
    try:
        import resource
    except ModuleNotFoundError:  # Windows has no such limit
        return connections
    wanted = connections + REFUSED_AT_ONCE + FILES
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        with suppress(ValueError, OSError):  # some systems allow fewer than they say
            resource.setrlimit(
                resource.RLIMIT_NOFILE, (wanted if hard == resource.RLIM_INFINITY else min(wanted, hard), hard)
            )
        soft = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return connections if soft == resource.RLIM_INFINITY else min(connections, max(soft - REFUSED_AT_ONCE - FILES, 10))
