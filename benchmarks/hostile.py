"""Three hostile clients of a server, in one process of their own: large bodies, slow requests, and many tabs.

Each counts what the server answered: a status code, or that the connection was closed.
"""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import Callable, Coroutine
from multiprocessing.connection import Connection
from typing import Any

import httpx

CLOSED = "closed"
SLOW_CONNECTIONS = 50
TABS = 120

Counts = Counter[int | str]
Attack = Callable[[str, Counts], Coroutine[Any, Any, None]]


async def large_bodies(link: str, counts: Counts) -> None:
    """24 MiB for items from a stranger and from an annotator, 1 MiB as an annotator's answer, in turn."""
    api, headers = address_of(link)
    large, less = b"[" + b"[]," * 2**23 + b"[]]", b'{"query": "' + b"x" * 2**20 + b'"}'
    json = {"Content-Type": "application/json"}
    async with httpx.AsyncClient(timeout=60) as client:
        while True:
            for path, credentials, body in (
                ("items", {}, large),
                ("items", headers, large),
                ("answers", headers, less),
            ):
                try:
                    response = await client.post(f"{api}/{path}", content=body, headers={**json, **credentials})
                    counts[response.status_code] += 1
                except httpx.TransportError:
                    counts[CLOSED] += 1
                await asyncio.sleep(0.2)


async def slow_requests(link: str, counts: Counts) -> None:
    """Half of the connections send headers and half a body, a byte each second; a closed one is opened again."""
    url, (api, headers) = httpx.URL(link), address_of(link)
    head = f"POST {httpx.URL(api).path}/queries HTTP/1.1\r\nHost: {url.host}\r\n"
    fields = {**headers, "Content-Type": "application/json", "Content-Length": "1000"}
    body_next = head + "".join(f"{name}: {value}\r\n" for name, value in fields.items()) + "\r\n{"

    async def trickle(start: str) -> None:
        while True:
            reader, writer = await asyncio.open_connection(url.host, url.port)
            ended = asyncio.create_task(reader.read())
            try:
                writer.write(start.encode())
                while not ended.done():
                    writer.write(b"x")
                    await writer.drain()
                    await asyncio.sleep(1.0)
                status = re.match(rb"HTTP/1.1 (\d+)", ended.result())
                counts[CLOSED if status is None else int(status[1])] += 1
            except ConnectionError:
                counts[CLOSED] += 1
            finally:
                ended.cancel()
                writer.close()

    await asyncio.gather(*(trickle(body_next if k % 2 else head + "X-Slow: ") for k in range(SLOW_CONNECTIONS)))


async def parallel_tabs(link: str, counts: Counts) -> None:
    """One annotator's browser asks for 20 pairs in each of many tabs, all at the same time, without end."""
    url = httpx.URL(link)
    limits = httpx.Limits(max_connections=None, keepalive_expiry=3.0)
    async with httpx.AsyncClient(base_url=url.copy_with(path="/"), timeout=60, limits=limits) as client:
        page = await client.post(url.path, data={"name": "many tabs"}, follow_redirects=True)
        (token,) = re.findall('data-csrf="([^"]+)"', page.text)

        async def tab(name: str) -> None:
            while True:
                response = await client.post(
                    f"{address_of(link)[0]}/queries",
                    json={"count": 20, "tab": name},
                    headers={"X-CSRF-Token": token},
                )
                counts[response.status_code] += 1
                await asyncio.sleep(float(response.headers.get("Retry-After", 0)))

        await asyncio.gather(*(tab(f"tab-{k}") for k in range(TABS)))


ATTACKS: dict[str, Attack] = {
    "large bodies": large_bodies,
    "slow requests": slow_requests,
    "parallel tabs": parallel_tabs,
}


def address_of(link: str) -> tuple[str, dict[str, str]]:
    """The address of the study's API, and the headers of a program that has the link."""
    start, study, token = re.findall("(.+)/join/(.+)/(.+)", link)[0]
    return f"{start}/api/v1/studies/{study}", {"Authorization": f"Bearer {token}"}


def attack(link: str, connection: Connection) -> None:
    """All attacks until something comes over the connection; then send back what each counted."""
    counts: dict[str, Counts] = {name: Counter() for name in ATTACKS}

    async def until_told_to_stop() -> None:
        running = [asyncio.create_task(one(link, counts[name])) for name, one in ATTACKS.items()]
        told = asyncio.create_task(asyncio.to_thread(connection.recv))
        done, _ = await asyncio.wait([told, *running], return_when=asyncio.FIRST_COMPLETED)
        for task in running:
            task.cancel()
        for task in done:
            task.result()  # an attack ends only by an error

    asyncio.run(until_told_to_stop())
    connection.send(counts)
