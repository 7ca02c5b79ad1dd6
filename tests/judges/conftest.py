"""A chat endpoint on a port of this machine, which answers as a test wants."""

from __future__ import annotations

import json
import re
import socket
import struct
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from ordinate.data.items import Items
from ordinate.study.study import Study

IDS = [f"entry-{number}" for number in range(6)]
LONGEST = 20.0
"""Seconds after which a handler lets go, whatever happens."""


class Sent(NamedTuple):
    """What came to the endpoint."""

    path: str
    headers: dict[str, str]
    body: Any

    @property
    def texts(self) -> list[str]:
        """What is between the marks, in order."""
        content = self.body["messages"][1]["content"]
        whole = content if isinstance(content, str) else "\n".join(part.get("text", "") for part in content)
        return re.findall(r"<<<item \w+>>>\n(.*?)\n?<<<end \w+>>>", whole, flags=re.DOTALL)


class Answer(NamedTuple):
    """A response. `delay`: seconds before it; `drip`: seconds between its bytes; `cut`: a reset halfway."""

    status: int = 200
    body: bytes = b""
    headers: tuple[tuple[str, str], ...] = ()
    delay: float = 0.0
    drip: float = 0.0
    cut: bool = False


def completion(text: str | None, tokens: int | None = 100, **choice: Any) -> Answer:
    message = {"role": "assistant", "content": text, **choice.pop("message", {})}
    body: dict[str, Any] = {"choices": [{"index": 0, "message": message, "finish_reason": "stop", **choice}]}
    if tokens is not None:
        body["usage"] = {"total_tokens": tokens}
    return Answer(body=json.dumps(body).encode())


def larger(sent: Sent) -> Answer:
    """Whoever has the larger number in its text, without ties."""
    first, second = (int(re.sub(r"\D", "", text)) for text in sent.texts[-2:])
    return completion(f"I compare {first} with {second}.\n[[{'A' if first > second else 'B'}]]")


class Model:
    """The endpoint. `answer` decides on each request; the `next` ones come first."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.answer: Callable[[Sent], Answer] = larger
        self.next: list[Answer] = []
        self.sent: list[Sent] = []
        self.at_once = self.most_at_once = 0
        self.lock = threading.Lock()
        self.over = threading.Event()

    def take(self, sent: Sent) -> Answer:
        with self.lock:
            self.sent.append(sent)
            if self.next:
                return self.next.pop(0)
        return self.answer(sent)


class _Handler(BaseHTTPRequestHandler):
    model: Model
    protocol_version = "HTTP/1.1"
    timeout = LONGEST

    def do_POST(self) -> None:
        model = self.model
        with model.lock:
            model.at_once += 1
            model.most_at_once = max(model.most_at_once, model.at_once)
        try:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            answer = model.take(Sent(self.path, {k.lower(): v for k, v in self.headers.items()}, body))
            model.over.wait(min(answer.delay, LONGEST))
            self._send(answer)
        except OSError:
            self.close_connection = True  # the caller gave up
        finally:
            with model.lock:
                model.at_once -= 1

    def _send(self, answer: Answer) -> None:
        self.send_response(answer.status)
        for name, value in answer.headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(answer.body)))
        self.end_headers()
        if answer.cut:
            self.wfile.write(answer.body[: len(answer.body) // 2])
            self.wfile.flush()
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.connection.close()
            raise ConnectionResetError
        for byte in answer.body if answer.drip else ():
            if self.model.over.wait(answer.drip):
                return
            self.wfile.write(bytes([byte]))
            self.wfile.flush()
        if not answer.drip:
            self.wfile.write(answer.body)

    def log_message(self, *_: Any) -> None:
        pass


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_: Any) -> None:
        """A caller that is killed resets its connections."""


@pytest.fixture
def model() -> Iterator[Model]:
    handler = type("Handler", (_Handler,), {})
    server = _Server(("127.0.0.1", 0), handler)
    found = handler.model = Model(f"http://127.0.0.1:{server.server_address[1]}/v1")  # type: ignore[attr-defined]
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    yield found
    found.over.set()
    server.shutdown()
    server.server_close()
    thread.join(LONGEST)


@pytest.fixture
def study(tmp_path: Path) -> Iterator[Study]:
    """Six texts; the larger the number, the better."""
    items = Items(IDS, content={"text": [f"The number {number}" for number in range(6)]})
    where = f"sqlite:///{tmp_path / 'study.db'}"
    with Study.create(items, algorithm="uniform-independent", question="Which is larger?", storage=where) as made:
        yield made


@pytest.fixture
def prompt(tmp_path: Path) -> Path:
    path = tmp_path / "prompt.txt"
    path.write_text("Prefer the larger number.\n")
    return path
