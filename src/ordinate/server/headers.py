"""What every response tells the browser not to do, and the refusal of requests that another site sends.

It stands around the whole application, so that also errors, bugs included, have these headers.
"""

from __future__ import annotations

import logging
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ordinate.server.problems import Problem, failure, problem

log = logging.getLogger("ordinate.server")

PAGES = "; ".join(
    [
        "default-src 'none'",
        *(
            f"{kind}-src 'self'"
            for kind in ("script", "style", "img", "media", "font", "connect", "manifest", "worker", "frame")
        ),
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    ]
)
ITEM_PAGE = (
    "sandbox; default-src 'none'; img-src data:; media-src data:; font-src data:; style-src 'unsafe-inline'; "
    "form-action 'none'; base-uri 'none'; frame-ancestors 'self'"
)
"""For an HTML page that is an item: it has its own styles and what it holds itself, and nothing else."""
MEDIA = "default-src 'none'; sandbox; frame-ancestors 'none'"
ALWAYS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=()",
}
DEFAULTS = {"Content-Security-Policy": PAGES, "X-Frame-Options": "DENY", "Cache-Control": "no-store"}
SAFE = ("GET", "HEAD", "OPTIONS")
_AS_HEAD = "ordinate.head"


def wants_body(scope: Scope) -> bool:
    """Whether the request came as GET. One that came as HEAD is answered in the same way, without what is sent."""
    return _AS_HEAD not in scope


class SecurityHeaders:
    """`url`: the address of the server as browsers see it, where that is not the one that requests show."""

    def __init__(self, app: ASGIApp, url: str | None) -> None:
        self._app = app
        public = urlsplit(url or "")
        self._root_path, self._host, self._https = public.path.rstrip("/"), public.netloc, public.scheme == "https"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        head, started = scope["method"] == "HEAD", False
        scope = self._public(scope)

        async def secured(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                headers = MutableHeaders(scope=message)
                headers.update(ALWAYS)
                # What is not sent again keeps the headers that it came with.
                for name, value in DEFAULTS.items() if message["status"] != 304 else ():
                    headers.setdefault(name, value)
                if scope["scheme"] == "https":
                    headers["Strict-Transport-Security"] = "max-age=31536000"
            elif head:
                message = {**message, "body": b""}
            await send(message)

        try:
            self._require_same_site(scope)
            # Every address that has GET has HEAD: the same without the body.
            scope = {**scope, "method": "GET", _AS_HEAD: True} if head else scope
            await self._app(scope, receive, secured)
        except Problem as refused:
            await problem(refused.status, refused.detail)(scope, receive, secured)
        except Exception as error:
            # By its route: the address of a link contains its token.
            log.error("%s %s failed", scope["method"], getattr(scope.get("route"), "path", "other"), exc_info=error)
            if started:
                raise
            await failure()(scope, receive, secured)

    def _public(self, scope: Scope) -> Scope:
        """The scope with the address that browsers use; a proxy may have removed the path that it begins with."""
        root, path = self._root_path, scope["path"]
        if root and path != root and not path.startswith(f"{root}/"):
            path = root + path
        scheme = "https" if self._https else scope["scheme"]
        return {**scope, "path": path, "root_path": root, "scheme": scheme}

    def _require_same_site(self, scope: Scope) -> None:
        headers = Headers(scope=scope)
        origin = headers.get("origin")
        if scope["method"] in SAFE or origin is None:
            return
        try:
            host = urlsplit(origin).netloc
        except ValueError:
            raise Problem(400, "the header Origin is not an address") from None
        if host not in (headers.get("host"), self._host or None):
            raise Problem(403, "this request came from a page of another site")
