"""Who a request comes from, where a reverse proxy has asked for a password and says so in a header.

Only proxies that the server names are believed: from anybody else the header is taken away, as are headers that differ
from it in "_" for "-" alone, which some proxies cannot tell from it. The proxy must replace what its caller sends.
"""

from __future__ import annotations

import ipaddress
import unicodedata
from collections.abc import Sequence
from typing import Any

from starlette.types import ASGIApp, Receive, Scope, Send

from ordinate.server.problems import problem

_USER = "ordinate.user"


def user_of(scope: Scope) -> str | None:
    """Whom a proxy names; None: no proxy does."""
    found: Any = scope.get(_USER)
    return None if found is None else str(found)


class ProxyUsers:
    """Stands around what reads X-Forwarded-For, so that the address is that of the connection.

    header   in small letters
    proxies  addresses and networks
    """

    def __init__(self, app: ASGIApp, header: str, proxies: Sequence[str]) -> None:
        self._app, self._header = app, header.encode()
        self._networks = [ipaddress.ip_network(one) for one in proxies]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        given = [value for name, value in scope["headers"] if name == self._header]
        kept = [(name, value) for name, value in scope["headers"] if name.replace(b"_", b"-") != self._header]
        scope = {**scope, "headers": kept}
        if given and self._is_proxy(scope):
            try:
                (user,) = (unicodedata.normalize("NFC", one.decode("utf-8").strip()) for one in given)
            except ValueError:
                await problem(400, "the proxy must name one user, in UTF-8")(scope, receive, send)
                return
            if user:
                scope[_USER] = user
        await self._app(scope, receive, send)

    def _is_proxy(self, scope: Scope) -> bool:
        try:
            address = ipaddress.ip_address((scope.get("client") or ("",))[0])
        except ValueError:
            return False
        return any(address in network for network in self._networks)


class PlainAddresses:
    """Stands around everything that compares addresses: one of IPv4 is that also where the server listens at IPv6."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        host, port = scope.get("client") or ("", 0)
        await self._app({**scope, "client": (_plain(host), port)} if host else scope, receive, send)


def _plain(host: str) -> str:
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return host
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return host if mapped is None else str(mapped)
