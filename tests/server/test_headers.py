"""What the layer around every response does where the application fails."""

import asyncio
from typing import Any

import pytest

from ordinate.server.headers import SecurityHeaders

SCOPE = {"type": "http", "method": "GET", "path": "/", "scheme": "http", "root_path": "", "headers": []}


def answered(begins: bool) -> list[dict[str, Any]]:
    """The messages of a response whose application fails, after its first message or before."""
    sent: list[dict[str, Any]] = []

    async def fails(scope: Any, receive: Any, send: Any) -> None:
        if begins:
            await send({"type": "http.response.start", "status": 200, "headers": []})
        raise ZeroDivisionError("the application failed")

    async def receive() -> Any:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Any) -> None:
        sent.append(message)

    asyncio.run(SecurityHeaders(fails, None)(SCOPE, receive, send))
    return sent


def test_a_failure_before_the_response_begins_is_answered_without_its_reason() -> None:
    start, *rest = answered(begins=False)
    assert start["status"] == 500
    assert b"ZeroDivision" not in b"".join(message.get("body", b"") for message in rest)


def test_a_failure_amid_a_response_is_passed_on_so_that_the_connection_is_closed() -> None:
    """A second response in the middle of the first one would be taken for its content."""
    with pytest.raises(ZeroDivisionError):
        answered(begins=True)
