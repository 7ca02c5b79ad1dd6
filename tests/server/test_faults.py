"""Things go wrong while people judge: afterwards everything acknowledged is stored once, and they go on by themselves.

Several people answer without pause, and send again what was not acknowledged, as the page does. The table says what
they notice meanwhile.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, closing, contextmanager
from pathlib import Path
from typing import Any, Literal, NamedTuple

import httpx
import numpy as np
import pytest
from tests.conftest import no_room

from ordinate.data.items import Items
from ordinate.storage import open as open_storage
from ordinate.study.study import Study

pytestmark = [
    pytest.mark.load,
    pytest.mark.skipif(sys.platform != "linux", reason="needs /proc, signals and open files that are moved"),
]

ITEMS = Items([str(row) for row in range(120)], np.random.default_rng(0).normal(size=(120, 4)))
PEOPLE = ("Ann", "Bob", "Cleo", "Dan", "Eve")
SOON = 120.0
FAKETIME = next(Path("/usr/lib").glob("*/faketime/libfaketime.so.1"), None)


class Server:
    """A server process over one study that can be ended and started again at the same address."""

    def __init__(self, path: Path, logs: Path) -> None:
        self.path, self.logs, self.clock = path, logs, logs / "clock"
        self._environment = {**os.environ, "PYTHONUNBUFFERED": "1", "OMP_NUM_THREADS": "1"}
        with socket.create_server(("127.0.0.1", 0)) as free:
            self._port = str(free.getsockname()[1])

    def start(self) -> None:
        command = [sys.executable, "-m", "ordinate", "serve", str(self.path), "--port", self._port, "--no-open"]
        with (self.logs / "log").open("a") as log:
            self._process = subprocess.Popen(
                command, stdout=subprocess.PIPE, stderr=log, text=True, env=self._environment
            )
        assert self._process.stdout is not None
        links = [re.findall(r"http://\S+", self._process.stdout.readline()) for _ in range(3)]
        ((self.owner_link,), (self.link,)) = links[1:]

    def fake_clock(self, shift: str) -> None:
        """From the next start on the clock is that of a file, in which a shift stands; intervals stay true."""
        if FAKETIME is None:
            pytest.skip("libfaketime is not installed")
        self.clock.write_text(shift)
        self._environment |= {
            "LD_PRELOAD": str(FAKETIME),
            "FAKETIME_TIMESTAMP_FILE": str(self.clock),
            "FAKETIME_NO_CACHE": "1",
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",
        }

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def helpers(self) -> list[int]:
        """The processes below the server's that run Python code of their own, not multiprocessing's bookkeeping."""
        threads = Path(f"/proc/{self.pid}/task").glob("*/children")  # each lists the processes that it has started
        found = [int(one) for thread in threads for one in thread.read_text().split()]
        return [one for one in found if b"spawn_main" in Path(f"/proc/{one}/cmdline").read_bytes()]

    @property
    def running(self) -> bool:
        return self._process.poll() is None

    def end(self, by: signal.Signals) -> int:
        self._process.send_signal(by)
        self._process.communicate(timeout=60)
        return self._process.returncode


class Refusal(NamedTuple):
    """What somebody got instead of success; status None: no response."""

    status: int | None
    retry_after: str | None = None
    text: str = ""


class Person:
    """Somebody who answers until told to stop."""

    def __init__(self, name: str, link: str, stop: threading.Event) -> None:
        start, study, token = re.findall("(.+)/join/(.+)/(.+)", link)[0]
        self.name, self._api, self._stop = name, f"{start}/api/v1/studies/{study}", stop
        self._headers = {"Authorization": f"Bearer {token}"}
        self.acknowledged: list[str] = []  # keys
        self.refusals: list[Refusal] = []

    def judge(self) -> None:
        with httpx.Client(headers=self._headers, timeout=75.0) as client:
            while not self._stop.is_set():
                asked = self._send(client, "/queries", {"annotator": self.name})
                for query in asked["queries"]:
                    side = "left" if int(query["left"]["id"]) > int(query["right"]["id"]) else "right"
                    answer = {"annotator": self.name, "query": query["id"], "answer": side, "count": 0}
                    key = uuid.uuid4().hex
                    self._send(client, "/answers", answer, {"Idempotency-Key": key})
                    self.acknowledged.append(key)
                    time.sleep(0.02)

    def _send(self, client: httpx.Client, path: str, body: Any, headers: dict[str, str] | None = None) -> Any:
        """What the server says in the end; as the page, but with shorter pauses where it does not name one."""
        pause = 0.1
        while True:
            try:
                response = client.post(self._api + path, json=body, headers=headers)
                if response.status_code != 429 and response.status_code < 500:
                    return response.raise_for_status().json()
                wait = response.headers.get("Retry-After")
                self.refusals.append(Refusal(response.status_code, wait, response.text))
            except httpx.TransportError:
                wait = None
                self.refusals.append(Refusal(None))
            assert not self._stop.is_set(), "nothing is refused in the end"
            time.sleep(pause if wait is None else float(wait))
            pause = min(2 * pause, 2.0)


class Crowd:
    """Five people who judge at the same time, each in a thread."""

    def __init__(self, link: str, threads: ThreadPoolExecutor) -> None:
        self._stop = threading.Event()
        self.people = [Person(name, link, self._stop) for name in PEOPLE]
        self._judging: list[Future[None]] = [threads.submit(person.judge) for person in self.people]

    @property
    def acknowledged(self) -> list[str]:
        return [key for person in self.people for key in person.acknowledged]

    def until_all(self, happened: Callable[[Person], bool]) -> None:
        ends = time.monotonic() + SOON
        while not all(map(happened, self.people)):
            for one in self._judging:
                if one.done():
                    one.result()
            assert time.monotonic() < ends
            time.sleep(0.01)

    def until_all_go_on(self) -> None:
        before = {person.name: len(person.acknowledged) for person in self.people}
        self.until_all(lambda person: len(person.acknowledged) >= before[person.name] + 3)

    def until_all_are_refused(self) -> None:
        before = {person.name: len(person.refusals) for person in self.people}
        self.until_all(lambda person: len(person.refusals) > before[person.name])

    def stop(self) -> None:
        self._stop.set()
        for one in self._judging:
            one.result(SOON)


# What goes wrong, until the block ends --------------------------------------------------------------------------------

Happens = Callable[[Server], AbstractContextManager[None]]


@contextmanager
def helper_killed(server: Server) -> Iterator[None]:
    for helper in server.helpers:
        os.kill(helper, signal.SIGKILL)
    yield


@contextmanager
def helper_stopped(server: Server) -> Iterator[None]:
    for helper in server.helpers:
        os.kill(helper, signal.SIGSTOP)
    yield


@contextmanager
def deleted(server: Server) -> Iterator[None]:
    """By its name; another name of the same file lets it come back."""
    kept = server.path.with_name("kept.db")
    os.link(server.path, kept)
    server.path.unlink()
    yield
    kept.rename(server.path)


@contextmanager
def renamed(server: Server) -> Iterator[None]:
    elsewhere = server.path.with_name("elsewhere.db")
    server.path.rename(elsewhere)
    yield
    elsewhere.rename(server.path)


@contextmanager
def replaced(server: Server) -> Iterator[None]:
    kept, other = server.path.with_name("kept.db"), server.path.with_name("other.db")
    with Study.create(ITEMS, storage=f"sqlite:///{other}") as study:
        study.tell(study.ask("Olga").id, "left")
    os.link(server.path, kept)
    other.replace(server.path)
    yield
    with Study.open(f"sqlite:///{server.path}") as study:
        assert study.annotators() == {"Olga": 1}
    kept.replace(server.path)


@contextmanager
def written_over(server: Server) -> Iterator[None]:
    """With another copy of the study, in place; programs of their own copy, so that no lock of this one is dropped."""
    kept, other = server.path.with_name("kept.db"), server.path.with_name("other.db")
    Study.create(ITEMS, seed=4, storage=f"sqlite:///{other}").close()
    with locked(server):
        subprocess.run(["cp", server.path, kept], check=True)
        subprocess.run(["cp", other, server.path], check=True)
    yield
    subprocess.run(["cp", kept, server.path], check=True)


@contextmanager
def disk_full(server: Server) -> Iterator[None]:
    with no_room(server.path.parent):
        yield


@contextmanager
def no_file_may_grow(server: Server) -> Iterator[None]:
    import resource

    limits = resource.prlimit(server.pid, resource.RLIMIT_FSIZE)
    resource.prlimit(server.pid, resource.RLIMIT_FSIZE, (4096, limits[1]))
    yield
    resource.prlimit(server.pid, resource.RLIMIT_FSIZE, limits)


@contextmanager
def locked(server: Server) -> Iterator[None]:
    with closing(sqlite3.connect(server.path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        yield


@contextmanager
def clock_a_day_back(server: Server) -> Iterator[None]:
    server.clock.write_text("-1d")
    yield


@contextmanager
def clock_forty_days_ahead(server: Server) -> Iterator[None]:
    server.clock.write_text("+40d")
    yield


@contextmanager
def terminated(server: Server) -> Iterator[None]:
    assert server.end(signal.SIGTERM) == -signal.SIGTERM
    yield
    server.start()


@contextmanager
def killed(server: Server) -> Iterator[None]:
    assert server.end(signal.SIGKILL) == -signal.SIGKILL
    yield
    server.start()


class Fault(NamedTuple):
    """What happens, what people notice, and for how many seconds at least it lasts.

    notice  "nothing"; "waiting", answers come after it; "refusals" with status 503; "no server"
    reason  what the owner's page says meanwhile, in part
    """

    happens: Happens
    notice: Literal["nothing", "waiting", "refusals", "no server"]
    seconds: float = 3.0
    reason: str | None = None


FAULTS = [
    Fault(helper_killed, "nothing"),
    Fault(helper_stopped, "nothing"),
    Fault(deleted, "refusals", reason="study.db was moved or deleted"),
    Fault(renamed, "refusals", reason="study.db was moved or deleted"),
    Fault(replaced, "refusals", reason="study.db was replaced by another file"),
    Fault(written_over, "refusals", reason="study.db was "),
    Fault(disk_full, "refusals", reason="study.db: the disk is full"),
    Fault(no_file_may_grow, "refusals", reason="study.db: the disk"),
    Fault(locked, "waiting", 2.0),
    Fault(locked, "refusals", 60.0, reason="study.db: another program keeps the file locked"),
    Fault(clock_a_day_back, "nothing"),
    Fault(clock_forty_days_ahead, "nothing"),
    Fault(terminated, "no server"),
    Fault(killed, "no server"),
]


def name_of(fault: Fault) -> str:
    return f"{fault.happens.__name__}-{fault.seconds:g}s"


@pytest.mark.parametrize("fault", FAULTS, ids=name_of)
def test_nothing_acknowledged_is_lost_and_all_go_on(
    fault: Fault, tmp_path: Path, small_disk: Callable[[str], Path]
) -> None:
    folder = small_disk("4m") if fault.happens is disk_full else tmp_path
    server = Server(folder / "study.db", tmp_path)
    if fault.happens in (clock_a_day_back, clock_forty_days_ahead):
        server.fake_clock("+0d")
    Study.create(ITEMS, seed=3, storage=f"sqlite:///{server.path}").close()
    server.start()
    try:
        with ThreadPoolExecutor(len(PEOPLE)) as threads:
            crowd = Crowd(server.link, threads)
            try:
                crowd.until_all_go_on()
                with fault.happens(server):
                    until_noticed(fault, crowd, server)
                crowd.until_all_go_on()
            finally:
                crowd.stop()
        assert owners_problem(server) is None
        assert server.end(signal.SIGINT) == 130
    finally:
        if server.running:
            server.end(signal.SIGKILL)
    check_log(server.path, crowd)
    if fault.reason is not None:
        assert f"{server.path} cannot be used" in (tmp_path / "log").read_text()


def until_noticed(fault: Fault, crowd: Crowd, server: Server) -> None:
    """Wait until everybody has noticed what they are to notice, and check that it stays so while the fault lasts."""
    ends = time.monotonic() + fault.seconds
    if fault.notice == "nothing":
        crowd.until_all_go_on()
        time.sleep(max(0.0, ends - time.monotonic()))
        crowd.until_all_go_on()
        assert [refusal for person in crowd.people for refusal in person.refusals] == []
        return
    if fault.notice == "waiting":
        time.sleep(0.5)
    else:
        crowd.until_all_are_refused()
    before = crowd.acknowledged
    time.sleep(max(0.5, ends - time.monotonic()))
    assert crowd.acknowledged == before, "nothing is acknowledged that is not stored"
    refusals = [refusal for person in crowd.people for refusal in person.refusals]
    if fault.notice == "no server":
        assert {refusal.status for refusal in refusals} <= {None, 503}  # 503 while it stops
        return
    assert {refusal.status for refusal in refusals} <= ({503} if fault.notice == "refusals" else set())
    assert {refusal.retry_after for refusal in refusals} <= {"2"}
    assert not any(str(server.path.parent) in refusal.text for refusal in refusals)
    if fault.reason is not None:
        assert fault.reason in str(owners_problem(server))


def owners_problem(server: Server) -> str | None:
    """What the owner's page says of the study; reading works whatever happened to the file."""
    start, study, token = re.findall("(.+)/join/(.+)/(.+)", server.owner_link)[0]
    assert httpx.get(f"{start}/healthz", timeout=15.0).is_success
    headers = {"Authorization": f"Bearer {token}"}
    status = httpx.get(f"{start}/api/v1/studies/{study}", headers=headers, timeout=SOON)
    problem: str | None = status.raise_for_status().json()["problem"]
    return problem


def check_log(path: Path, crowd: Crowd) -> None:
    """Each acknowledged answer is stored once, in its order, and no pair was held by two people at once."""
    alone = path.with_name("alone.db")
    shutil.copy(path, alone)
    storage = open_storage(f"sqlite:///{alone}")
    with storage.reading() as log:
        entries = log.entries(0)
    storage.close()
    answers = [entry for entry in entries if entry.kind == "answer"]
    for person in crowd.people:
        assert [entry.key for entry in answers if entry.annotator == person.name] == person.acknowledged
    assert set(Counter(entry.query for entry in answers).values()) == {1}
    held: dict[frozenset[str | None], int | None] = {}
    for entry in entries:
        pair = frozenset((entry.left, entry.right))
        if entry.kind == "ask":
            assert pair not in held
            held[pair] = entry.query
        elif entry.kind in ("answer", "expire", "withdraw") and held.get(pair) == entry.query:
            del held[pair]
    with Study.open(f"sqlite:///{alone}") as study:
        assert len(study.comparisons()) == len(crowd.acknowledged)
