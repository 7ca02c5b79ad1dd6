"""Slow, silent, broken and long connections to a server with real sockets; and how a server stops."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest

from ordinate.data.items import Items
from ordinate.server.app import create_app
from ordinate.server.connections import REFUSED_AT_ONCE, Server, server
from ordinate.server.limits import Limits
from ordinate.server.signing import LinkSigner
from ordinate.study.study import Study

SECRET = "a secret of these tests"
SOON = 60.0
Address = tuple[str, int]


def parts_of(link: str) -> tuple[str, ...]:
    """The address of the server, the name of the study, and the token."""
    found = re.fullmatch(r"(.+)/join/(.+)/(.+)", link)
    assert found is not None
    return found.groups()


@pytest.fixture
def listen(tmp_path: Path) -> Iterator[Callable[..., Address]]:
    """Start a server in a thread, at any free port."""
    running: list[tuple[Server, threading.Thread]] = []

    def start(proxies: tuple[str, ...] = (), **limits: Any) -> Address:
        path = tmp_path / "essays.db"
        if not path.exists():
            Study.create(Items(["a", "b", "c"]), storage=f"sqlite:///{path}").close()
        app = create_app([path], SECRET, executor=lambda: ThreadPoolExecutor(1), limits=Limits(**limits))
        listener = socket.create_server(("127.0.0.1", 0))
        one = server(app, proxies)
        thread = threading.Thread(target=one.run, args=([listener],))
        thread.start()
        running.append((one, thread))
        address: Address = listener.getsockname()
        return address

    yield start
    for one, thread in running:
        one.should_exit = True
        thread.join(SOON)
        assert not thread.is_alive()


@contextmanager
def connected(address: Address) -> Iterator[socket.socket]:
    with socket.create_connection(address, timeout=SOON) as connection:
        yield connection


def everything(connection: socket.socket) -> bytes:
    """What comes until the server closes the connection."""
    received = b""
    while part := connection.recv(65536):
        received += part
    return received


def ends_while_sending(connection: socket.socket, part: bytes) -> bool:
    """Whether the server closes the connection while this comes again and again."""
    until = time.monotonic() + SOON
    try:
        while time.monotonic() < until:
            connection.sendall(part)
            time.sleep(0.02)
    except OSError:
        return True
    return False


@pytest.mark.parametrize("begun", [b"", b"GET /healthz HTTP/1.1\r\n", b"GET /healthz HTTP/1.1\r\nHost: x\r\nX-Slow: 1"])
def test_headers_that_do_not_come_are_given_up(listen: Any, begun: bytes) -> None:
    address = listen(header_seconds=0.3)
    with connected(address) as connection:
        connection.sendall(begun)
        head, _, body = everything(connection).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 408 ")
    assert b"x-frame-options: deny" in head.lower()
    assert json.loads(body)["status"] == 408


def test_headers_that_trickle_are_given_up(listen: Any) -> None:
    address = listen(header_seconds=0.5)
    with connected(address) as connection:
        connection.sendall(b"GET / HTTP/1.1\r\n")
        assert ends_while_sending(connection, b"X-Slow: 1\r\n")


def test_headers_that_grow_for_ever_end_the_connection(listen: Any) -> None:
    with connected(listen(header_seconds=SOON)) as connection:
        connection.sendall(b"GET / HTTP/1.1\r\n")
        begun = time.monotonic()
        assert ends_while_sending(connection, b"X-Long: " + b"x" * 8192 + b"\r\n")
        assert time.monotonic() - begun < SOON / 2


def test_a_second_request_on_a_connection_has_the_same_deadline(listen: Any) -> None:
    address = listen(header_seconds=0.3)
    with connected(address) as connection:
        connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
        assert b"200 OK" in connection.recv(65536)
        connection.sendall(b"GET /healthz HTTP/1.1\r\n")
        assert b" 408 " in everything(connection)


def test_above_the_limit_of_connections_requests_are_refused_until_others_end(listen: Any) -> None:
    address = listen(connections=5)
    url = f"http://{address[0]}:{address[1]}/healthz"

    def open_connection(waiting: list[socket.socket]) -> None:
        waiting.append(socket.create_connection(address, timeout=SOON))
        waiting[-1].sendall(b"GET /healthz HTTP/1.1\r\nX-Slow: 1")

    held: list[socket.socket] = []
    try:
        for _ in range(5):
            open_connection(held)
        refused = httpx.get(url, timeout=SOON)
        assert (refused.status_code, refused.headers["retry-after"]) == (503, "2")
        assert refused.headers["content-type"] == "application/problem+json"
        assert (refused.headers["x-frame-options"], refused.headers["connection"]) == ("DENY", "close")
        # Those within the limit are served.
        held[0].sendall(b"\r\nHost: x\r\n\r\n")
        assert b"200 OK" in held[0].recv(65536)
        # Far above the limit they are closed at once.
        for _ in range(REFUSED_AT_ONCE):
            open_connection(held)
        with connected(address) as connection, suppress(ConnectionResetError):
            assert connection.recv(1) == b""
    finally:
        for one in held:
            one.close()
    ends = time.monotonic() + SOON
    while httpx.get(url, timeout=SOON).status_code == 503:
        assert time.monotonic() < ends
        time.sleep(0.05)


def test_a_process_that_may_open_few_files_takes_fewer_connections(tmp_path: Path) -> None:
    code = (
        "import resource; resource.setrlimit(resource.RLIMIT_NOFILE, (256, {hard}));"
        "from ordinate.server.connections import _room_for; print(_room_for(2000), _room_for(50))"
    )
    for hard, room in (("700", "300 50"), ("5000", "2000 50")):
        command = [sys.executable, "-c", code.format(hard=hard)]
        assert subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip() == room


def test_a_refused_body_that_trickles_on_ends_the_connection(listen: Any) -> None:
    """The refusal comes at once; what is sent after it is thrown away, and not for ever."""
    address = listen(header_seconds=0.5)
    head = b"POST /api/v1/studies/essays/answers HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n"
    with connected(address) as connection:
        connection.sendall(head)
        assert b"401 Unauthorized" in connection.recv(65536)
        assert ends_while_sending(connection, b"x")


def test_a_large_body_of_a_stranger_is_refused_at_once(listen: Any) -> None:
    address = listen()
    body = b"[" + b"[]," * (4 * 1024 * 1024) + b"[]]"
    url = f"http://{address[0]}:{address[1]}/api/v1/studies/essays/items"
    with httpx.Client(timeout=SOON) as client:
        for _ in range(2):
            response = client.post(url, content=body, headers={"Content-Type": "application/json"})
            assert response.status_code == 401


def test_what_is_sent_after_a_refusal_is_not_parsed(listen: Any) -> None:
    """The response and the end come at once, and the caller may go on sending until the deadline."""
    address = listen()
    head = b"POST /api/v1/studies/essays/items HTTP/1.1\r\nHost: x\r\nContent-Length: 10000000000\r\n\r\n"
    part = b"x" * 2**20
    with connected(address) as connection:
        connection.sendall(head + part)
        received = connection.recv(65536)
        assert b"401 Unauthorized" in received
        while more := connection.recv(65536):
            received += more
        for _ in range(256):
            connection.sendall(part)
    assert received.endswith(b"}")


@pytest.mark.parametrize("length", [b"Content-Length: 4\r\n", b"Transfer-Encoding: chunked\r\n"])
def test_after_a_small_refused_body_the_connection_goes_on(listen: Any, length: bytes) -> None:
    address = listen()
    body = b"body" if b"4" in length else b"4\r\nbody\r\n0\r\n\r\n"
    request = b"POST /api/v1/studies/essays/answers HTTP/1.1\r\nHost: x\r\n" + length + b"\r\n" + body
    with connected(address) as connection:
        for _ in range(3):
            connection.sendall(request)
            received = b""
            while not received.endswith(b"}"):
                part = connection.recv(65536)
                assert part, "the connection was closed"
                received += part
            assert received.startswith(b"HTTP/1.1 401")


@pytest.mark.parametrize(
    "request_",
    [
        b"nonsense\r\n\r\n",
        b"\r\n",
        b"GET / HTTP/1.1\r\nHost : x\r\n\r\n",
        b"GET / HTTP/1.1\r\n\r\n",
        b"POST /api/v1/studies HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nxx",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\x00" * 200,
    ],
)
def test_what_is_not_http_gets_a_problem(listen: Any, request_: bytes) -> None:
    with connected(listen()) as connection:
        connection.sendall(request_)
        head, _, body = everything(connection).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 400 "), head
    assert b"application/problem+json" in head
    assert b"x-content-type-options: nosniff" in head.lower()
    assert json.loads(body)["detail"]


def test_a_caller_who_takes_nothing_does_not_keep_the_response(listen: Any, tmp_path: Path) -> None:
    picture = b"\x89PNG\r\n\x1a\n" + bytes(30_000_000)
    (tmp_path / "large.png").write_bytes(picture)
    path = tmp_path / "essays.db"
    with Study.create(Items(["a", "b"], content={"image": ["large.png", None]}), storage=f"sqlite:///{path}") as study:
        link = study.make_link("annotator")
        token = LinkSigner(SECRET).link(study.token, link.id)
    address = listen(send_seconds=0.3)
    with connected(address) as connection:
        head = f"GET /media/essays/0/image HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\n\r\n"
        connection.sendall(head.encode())
        taken = len(connection.recv(1))
        time.sleep(1.5)
        try:
            while part := connection.recv(1 << 20):
                taken += len(part)
        except ConnectionError:
            pass
    assert taken < len(picture)


@pytest.mark.parametrize(("proxies", "seen"), [((), "http"), (("127.0.0.1",), "https"), (("10.0.0.0/8",), "http")])
def test_forwarded_headers_are_believed_from_named_proxies_only(listen: Any, proxies: Any, seen: str) -> None:
    host, port = listen(proxies)
    headers = {"X-Forwarded-Proto": "https", "X-Forwarded-For": "192.0.2.7"}
    response = httpx.get(f"http://{host}:{port}/healthz", headers=headers, timeout=SOON)
    assert ("strict-transport-security" in response.headers) == (seen == "https")


def test_an_address_cannot_escape_its_failure_limit_by_a_header(listen: Any) -> None:
    host, port = listen(failures_per_second=0.1)
    url = f"http://{host}:{port}/join/essays/guess"
    with httpx.Client(timeout=SOON) as client:
        statuses = [client.get(url, headers={"X-Forwarded-For": f"192.0.2.{n}"}).status_code for n in range(8)]
    assert statuses[:3] == [401] * 3
    assert statuses[-1] == 429


# Stopping ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def process(tmp_path: Path) -> Iterator[tuple[subprocess.Popen[str], str, Path]]:
    """A server in a process of its own, its shared link, and its study."""
    path = tmp_path / "study.db"
    items = Items([str(row) for row in range(40)], np.random.default_rng(0).normal(size=(40, 4)))
    Study.create(items, storage=f"sqlite:///{path}").close()
    command = [sys.executable, "-m", "ordinate", "serve", str(path), "--port", "0", "--no-open"]
    environment = {**os.environ, "PYTHONUNBUFFERED": "1", "OMP_NUM_THREADS": "1"}
    running = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)
    assert running.stdout is not None
    assert running.stderr is not None
    try:
        for line in running.stdout:
            if "for annotators" in line:
                yield running, re.findall(r"http://\S+", line)[0], path
                break
    finally:
        running.kill()
        running.wait()
        running.stdout.close()
        running.stderr.close()


def helpers_of(pid: int) -> list[int]:
    """The processes below a process that run Python code of their own, not multiprocessing's bookkeeping."""
    threads = list(Path(f"/proc/{pid}/task").glob("*/children"))  # each lists the processes that it has started
    if not threads:
        pytest.skip("this system does not list child processes")
    found = [int(child) for thread in threads for child in thread.read_text().split()]
    return [child for child in found if b"spawn_main" in Path(f"/proc/{child}/cmdline").read_bytes()]


STATES = ["idle", "slow clients", "helper signalled, too", "helper stopped", "requests wait", "file locked"]


@pytest.mark.parametrize("state", [STATES[0], *(pytest.param(state, marks=pytest.mark.slow) for state in STATES[1:])])
def test_a_signal_stops_the_server_within_five_seconds(process: Any, state: str) -> None:
    running, link, path = process
    base, study, token = parts_of(link)
    api = f"{base}/api/v1/studies/{study}"
    headers = {"Authorization": f"Bearer {token}"}
    address = (httpx.URL(base).host, httpx.URL(base).port)
    assert httpx.post(f"{api}/queries", json={"annotator": "Ann"}, headers=headers, timeout=SOON).is_success
    helpers, sockets, threads = helpers_of(running.pid), [], []
    assert helpers
    if state in ("helper stopped", "requests wait"):
        for helper in helpers:
            os.kill(helper, signal.SIGSTOP)
    if state == "requests wait":
        with Study.open(f"sqlite:///{path}") as opened:
            opened.set_rules(variety=1.0)

    def ask(name: str) -> None:
        with suppress(httpx.TransportError):
            httpx.post(f"{api}/queries", json={"annotator": name, "count": 20}, headers=headers, timeout=SOON)

    if state == "file locked":
        import sqlite3

        locked = sqlite3.connect(path, isolation_level=None)
        locked.execute("BEGIN IMMEDIATE")
    if state in ("requests wait", "file locked"):
        threads = [threading.Thread(target=ask, args=(f"P{number}",)) for number in range(60)]
        for thread in threads:
            thread.start()
        time.sleep(0.5)
        assert httpx.get(f"{base}/healthz", timeout=15.0).is_success, "health waits for nothing"
    if state == "slow clients":
        for number in range(50):
            sockets.append(socket.create_connection(address, timeout=SOON))
            head = f"POST /api/v1/studies/{study}/queries HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\n"
            body = "Content-Type: application/json\r\nContent-Length: 20\r\n\r\n{"
            sockets[-1].sendall((head if number % 2 else head + body).encode())
    if state == "helper signalled, too":
        for helper in helpers:
            os.kill(helper, signal.SIGTERM)
    begun = time.monotonic()
    running.send_signal(signal.SIGTERM)
    running.wait(SOON)
    took = time.monotonic() - begun
    if state == "file locked":
        locked.close()
    for thread in threads:
        thread.join()
    for one in sockets:
        one.close()
    assert took < 6.0  # five seconds, and one for a busy machine
    if state in ("idle", "helper signalled, too", "requests wait"):
        assert running.stderr.read() == "Stop with Ctrl-C. Answers are stored as they come in.\n"
    ends = time.monotonic() + SOON
    while any(Path(f"/proc/{helper}").exists() for helper in helpers):
        assert time.monotonic() < ends, "no helper is left behind"
        time.sleep(0.05)


@pytest.mark.slow
def test_a_stopped_helper_keeps_nobody_from_judging(process: Any) -> None:
    running, link, _ = process
    base, study, token = parts_of(link)
    api, headers = f"{base}/api/v1/studies/{study}", {"Authorization": f"Bearer {token}"}
    for helper in helpers_of(running.pid):
        os.kill(helper, signal.SIGSTOP)
    with httpx.Client(headers=headers, timeout=SOON) as client, ThreadPoolExecutor(60) as threads:
        many = [threads.submit(client.post, f"{api}/queries", json={"annotator": f"P{n}"}) for n in range(60)]
        health = client.get(f"{base}/healthz", timeout=15.0)
        assert health.is_success
        responses = [one.result().json() for one in many]
        assert [one for one in responses if not one.get("queries")] == []
        given = [one["queries"] for one in responses]
        for n, queries in enumerate(given[:5]):
            answer = {"annotator": f"P{n}", "query": queries[0]["id"], "answer": "left"}
            assert client.post(f"{api}/answers", json=answer, timeout=SOON).is_success
