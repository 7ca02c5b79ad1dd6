"""What every answer tells the browser not to do, and requests that another site sends in a visitor's name."""

from __future__ import annotations

from urllib.parse import urlsplit

from fastapi import HTTPException
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ordinate.server.problems import problem

PAGES = "; ".join(
    [
        "default-src 'none'",
        *(
            f"{kind}-src 'self'"
            for kind in ("script", "style", "img", "media", "font", "connect", "manifest", "worker")
        ),
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    ]
)
MEDIA = "default-src 'none'; sandbox; frame-ancestors 'none'"
ALWAYS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=()",
}
SAFE = ("GET", "HEAD", "OPTIONS")
LARGEST_BODY = 64 * 1024 * 1024
_TOO_LARGE = f"a request may hold at most {LARGEST_BODY} bytes"


class Guard:
    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.update(ALWAYS)
                headers.setdefault("Content-Security-Policy", PAGES)
                headers.setdefault("Cache-Control", "no-store")
                if scope["scheme"] == "https":
                    headers["Strict-Transport-Security"] = "max-age=31536000"
            await send(message)

        arrived = 0

        async def counted() -> Message:
            nonlocal arrived
            message = await receive()
            arrived += len(message.get("body", b""))
            if arrived > LARGEST_BODY:
                raise HTTPException(413, _TOO_LARGE)
            return message

        refusal = _refusal(scope)
        if refusal is None:
            await self._app(scope, counted, guarded)
        else:
            await problem(*refusal)(scope, receive, guarded)


def _refusal(scope: Scope) -> tuple[int, str] | None:
    headers = Headers(scope=scope)
    length = headers.get("content-length", "0")
    if not length.isdecimal() or int(length) > LARGEST_BODY:
        return 413, _TOO_LARGE
    origin = headers.get("origin")
    if scope["method"] in SAFE or origin is None:
        return None
    if urlsplit(origin).netloc != headers.get("host"):
        return 403, "this request came from a page of another site"
    return None
