"""A file that arrives as the body of a request."""

from __future__ import annotations

import asyncio
from pathlib import Path

from fastapi import Request
from fastapi.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect

from ordinate.data.formats.files import failures
from ordinate.server.limits import Limits
from ordinate.server.problems import Problem

CHUNK = 1024 * 1024


def announced(request: Request) -> int | None:
    """How many bytes the body will have; None: not said. Raises a problem 413."""
    limits: Limits = request.app.state.limits
    length = request.headers.get("content-length")
    if length is not None and (not length.isdecimal() or int(length) > limits.upload):
        raise _too_large(limits)
    return None if length is None else int(length)


async def receive(request: Request, path: Path) -> None:
    """Write the body to a new file. Raises problems 400, 408, 413, and StorageFailed."""
    limits: Limits = request.app.state.limits
    received, waiting = 0, bytearray()
    with failures("written", path.parent):
        file = await run_in_threadpool(path.open, "xb")
    try:
        async with asyncio.timeout(limits.upload_seconds):
            async for part in request.stream():
                received += len(part)
                if received > limits.upload:
                    raise _too_large(limits)
                waiting += part
                if len(waiting) >= CHUNK:
                    with failures("written", path.parent):
                        await run_in_threadpool(file.write, bytes(waiting))
                    waiting.clear()
        with failures("written", path.parent):
            await run_in_threadpool(file.write, bytes(waiting))
    except ClientDisconnect:
        raise Problem(400, "the connection was closed before the file was complete") from None
    except TimeoutError:
        seconds = limits.upload_seconds
        raise Problem(408, f"the file did not arrive within {seconds:g} s", {"Connection": "close"}) from None
    finally:
        # It writes what waits in a buffer.
        with failures("written", path.parent):
            await run_in_threadpool(file.close)


def _too_large(limits: Limits) -> Problem:
    return Problem(413, f"a file may have at most {limits.upload:,} bytes")
