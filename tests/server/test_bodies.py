"""Bodies of requests: nobody's is read before it is known who sends it; how large, how slow, how deep it may be."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import MutableMapping
from typing import Any

import pytest
from fastapi import FastAPI

JSON = [(b"content-type", b"application/json")]
FLOOD = b"[" + b"[]," * (8 * 1024 * 1024) + b"[]]"
POSTS = ("/queries", "/answers", "/shown", "/undo", "/items", "/links", "/exclusions")


class Sender:
    """Sends a body in parts to the application, as a connection does, and counts what was taken."""

    def __init__(self, parts: list[bytes], *, stalls: bool = False, leaves: bool = False) -> None:
        self._parts, self._stalls, self._leaves, self.taken = list(parts), stalls, leaves, 0
        self.status, self.body = 0, b""
        self.headers: dict[bytes, bytes] = {}

    async def receive(self) -> dict[str, Any]:
        if not self._parts and self._leaves:
            return {"type": "http.disconnect"}
        if not self._parts:
            await asyncio.sleep(3600)
        part = self._parts.pop(0)
        self.taken += len(part)
        return {"type": "http.request", "body": part, "more_body": self._stalls or self._leaves or bool(self._parts)}

    async def send(self, message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            self.status, self.headers = message["status"], dict(message["headers"])
        self.body += message.get("body", b"")

    def post(self, app: FastAPI, path: str, headers: list[tuple[bytes, bytes]]) -> Sender:
        scope = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": "POST",
            "scheme": "http",
            "path": path,
            "raw_path": path.encode(),
            "query_string": b"",
            "root_path": "",
            "headers": headers,
            "client": ("192.0.2.1", 1),
            "server": ("testserver", 80),
        }
        asyncio.run(app(scope, self.receive, self.send))
        return self


def bearer(site: Any, role: str = "annotator") -> list[tuple[bytes, bytes]]:
    return [(b"authorization", f"Bearer {site.token(role)}".encode()), *JSON]


@pytest.mark.parametrize("path", POSTS)
def test_nothing_is_read_of_a_stranger(site: Any, path: str) -> None:
    begun = time.process_time()
    sender = Sender([FLOOD]).post(site.app, f"/api/v1/studies/essays{path}", JSON)
    assert (sender.status, sender.taken) == (401, 0)
    assert time.process_time() - begun < 1.0


@pytest.mark.parametrize("path", ["/items", "/links", "/exclusions"])
def test_nothing_is_read_of_an_annotator_where_only_owners_may_write(site: Any, path: str) -> None:
    sender = Sender([FLOOD]).post(site.app, f"/api/v1/studies/essays{path}", bearer(site))
    assert (sender.status, sender.taken) == (403, 0)
    everywhere = Sender([FLOOD]).post(site.app, "/api/v1/studies", bearer(site))
    assert (everywhere.status, everywhere.taken) == (403, 0)


def test_nothing_is_read_of_a_caller_who_sent_too_many_requests(build: Any) -> None:
    site = build(limits={"requests_per_second": 0.001})
    headers = bearer(site)
    path = "/api/v1/studies/essays/answers"
    sender = Sender([FLOOD]).post(site.app, path, headers)
    assert sender.status == 429
    assert sender.taken == 0


@pytest.mark.parametrize("declared", [True, False])
def test_a_body_above_the_limit_is_not_read_to_its_end(site: Any, declared: bool) -> None:
    parts = [b"x" * 16 * 1024] * 100
    headers = bearer(site)
    if declared:
        headers.append((b"content-length", str(sum(map(len, parts))).encode()))
    sender = Sender(parts).post(site.app, "/api/v1/studies/essays/answers", headers)
    assert sender.status == 413
    assert sender.taken <= (0 if declared else 80 * 1024)
    assert b"65,536 bytes" in sender.body


def test_items_may_be_larger_than_answers(site: Any) -> None:
    item = {"id": "long", "features": [1.0, 2.0, 3.0], "text": "x" * 200_000}
    assert site.program("owner").post("/items", {"items": [item]}).status_code == 200
    assert site.program().post("/answers", {"query": "x" * 200_000, "answer": "left"}).status_code == 413


@pytest.mark.parametrize("path", ["/api/v1/studies/essays/answers", "/join/essays/{token}"])
def test_a_body_that_never_ends_is_given_up(build: Any, path: str) -> None:
    site = build(limits={"body_seconds": 0.2})
    form = [(b"content-type", b"application/x-www-form-urlencoded")]
    headers = form if "join" in path else bearer(site)
    sender = Sender([b"name="], stalls=True).post(site.app, path.format(token=site.token()), headers)
    assert sender.status == 408
    assert sender.headers[b"connection"] == b"close"


def test_a_caller_who_leaves_in_the_middle_of_a_body_is_no_failure(site: Any, caplog: pytest.LogCaptureFixture) -> None:
    sender = Sender([b"{"], leaves=True).post(site.app, "/api/v1/studies/essays/queries", bearer(site))
    assert sender.status == 400
    assert not caplog.records


@pytest.mark.parametrize(
    "body",
    [
        b"[" * 30_000,
        b'{"query": ' * 3_000 + b"1" + b"}" * 3_000,
        b'{"query": "a", "answer": "left", "duration_ms": ' + b"9" * 10_000 + b"}",
        b'{"query": "\xff", "answer": "left"}',
        b'{"query": "\\ud800", "answer": "left"}',
        b"",
        b"null",
        b"NaN",
    ],
)
def test_odd_json_is_refused(site: Any, body: bytes) -> None:
    sender = Sender([body]).post(site.app, "/api/v1/studies/essays/answers", bearer(site))
    assert sender.status == 422
    assert sender.headers[b"content-type"] == b"application/problem+json"
    assert len(sender.body) < 2_000


@pytest.mark.parametrize(
    "items",
    [
        [[]] * 200_000,
        [{}] * 100_001,
        [{"id": "x", "features": [[]] * 100_000}],
        [{"id": "x", "features": [0.5] * 100_001}],
        [{"id": "x", "features": {"a": {"b": [[[[[[[[[1]]]]]]]]]}}}],
    ],
)
def test_wrong_items_are_refused_at_the_first(site: Any, items: list[Any]) -> None:
    response = site.program("owner").post("/items", {"items": items})
    assert response.status_code == 422
    assert len(response.content) < 2_000
    assert len(site.study.items) == 12


@pytest.mark.parametrize(
    ("body", "wrong"),
    [
        ({"count": "3"}, "count"),
        ({"count": 3.0}, "count"),
        ({"count": True}, "count"),
        ({"tab": 7}, "tab"),
        ({"surprise": 1}, "surprise"),
    ],
)
def test_types_are_those_of_the_document(site: Any, body: dict[str, Any], wrong: str) -> None:
    response = site.program().post("/queries", body)
    assert response.status_code == 422
    assert response.json()["errors"][0]["where"] == f"body.{wrong}"


@pytest.mark.parametrize("shown_at", [0, 1893456000, "1893456000", "yesterday", True])
def test_times_are_texts(site: Any, shown_at: Any) -> None:
    (query,) = site.program().ask()
    assert site.program().tell(query, shown_at=shown_at).status_code == 422


@pytest.mark.parametrize("kind", [None, "text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "x"])
def test_a_body_of_another_type_is_refused(site: Any, kind: str | None) -> None:
    headers = bearer(site)[:1] + ([] if kind is None else [(b"content-type", kind.encode())])
    body = json.dumps({"count": 1}).encode()
    sender = Sender([body]).post(site.app, "/api/v1/studies/essays/queries", headers)
    assert sender.status == 415
    assert sender.headers[b"accept"] == b"application/json"
    with_parameter = [*bearer(site)[:1], (b"content-type", b"application/json; charset=utf-8")]
    assert Sender([body]).post(site.app, "/api/v1/studies/essays/queries", with_parameter).status == 200
