"""Bodies of requests: read up to a size and a time, then parsed and validated in one step."""

from __future__ import annotations

import asyncio
from email.message import Message
from typing import Any, TypeVar

from fastapi import Request
from fastapi.concurrency import run_in_threadpool
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, ValidationError
from starlette.requests import ClientDisconnect

from ordinate.server.problems import Problem

LARGE = 64 * 1024
"""Bodies above this size are parsed in a thread, so that other requests go on."""

Model = TypeVar("Model", bound=BaseModel)


async def read_body(request: Request, types: tuple[str, ...], most: int, seconds: float) -> bytes:
    """The body. Raises problems 400, 408, 413, 415."""
    header = Message()
    header["Content-Type"] = request.headers.get("content-type", "")
    if header.get_content_type() not in types or "content-type" not in request.headers:
        raise Problem(415, f"send the body as {types[0]}", {"Accept": ", ".join(types)})
    too_large = Problem(413, f"the body may have at most {most:,} bytes; send less at a time")
    length = request.headers.get("content-length", "0")
    if not length.isdecimal() or int(length) > most:
        raise too_large
    body = bytearray()
    try:
        async with asyncio.timeout(seconds):
            async for part in request.stream():
                body += part
                if len(body) > most:
                    raise too_large
    except ClientDisconnect:
        # Nobody reads this response, but a caller who leaves is no failure of the server.
        raise Problem(400, "the connection was closed before the body was complete") from None
    except TimeoutError:
        raise Problem(408, f"the body did not arrive within {seconds:g} s", {"Connection": "close"}) from None
    return bytes(body)


async def parsed(model: type[Model], body: bytes) -> Model:
    """The body as a model. Raises RequestValidationError."""
    try:
        if len(body) <= LARGE:
            return model.model_validate_json(body)
        return await run_in_threadpool(model.model_validate_json, body)
    except ValidationError as error:
        found = error.errors(include_url=False, include_context=False, include_input=False)
        raise RequestValidationError([{**one, "loc": ("body", *one["loc"])} for one in found]) from None


class ReadRequest(Request):
    """A request whose body was read and validated before FastAPI asks for it."""

    def __init__(self, request: Request, body: bytes, value: Any) -> None:
        super().__init__(request.scope, request.receive)
        self._read, self._value = body, value

    async def body(self) -> bytes:
        return self._read

    async def json(self) -> Any:
        return self._value
