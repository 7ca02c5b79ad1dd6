"""kill -9 of a server while people answer: nothing acknowledged is lost or doubled, and everybody goes on."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections import Counter
from concurrent.futures import Future, ThreadPoolExecutor, wait
from pathlib import Path

import numpy as np
import pytest

from ordinate.client import Client
from ordinate.data.comparisons import Comparison, Outcome
from ordinate.data.items import Items
from ordinate.storage import Entry
from ordinate.storage import open as open_storage
from ordinate.study.study import Study

pytestmark = pytest.mark.skipif(os.name != "posix", reason="a process is killed by a signal")

ITEMS = Items([str(row) for row in range(120)], np.random.default_rng(0).normal(size=(120, 4)))
PEOPLE = ("Ann", "Bob", "Cleo", "Dan", "Eve")
SOON = 120.0
"""Seconds: however slow the machine is, a server that was started is there by then."""


class Server:
    """A server process that can be killed and started again at the same address."""

    def __init__(self, path: Path) -> None:
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = str(free.getsockname()[1])
        self._command = [sys.executable, "-m", "ordinate", "serve", str(path), "--port", port, "--no-open"]
        self.start()

    def start(self) -> None:
        environment = {**os.environ, "PYTHONUNBUFFERED": "1", "OMP_NUM_THREADS": "1"}
        self._process = subprocess.Popen(self._command, stdout=subprocess.PIPE, text=True, env=environment)
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if "for annotators" in line:
                (self.link,) = re.findall(r"http://\S+", line)
                return
        raise AssertionError(f"the server did not start: {self._process.wait()}")

    def end(self, by: signal.Signals) -> int:
        self._process.send_signal(by)
        self._process.communicate(timeout=SOON)
        return self._process.returncode


class Person:
    """Somebody who answers until told to stop, and never hears of the server's deaths."""

    def __init__(self, name: str, link: str, stop: threading.Event) -> None:
        self.name, self._link, self._stop = name, link, stop
        self.acknowledged: list[Comparison] = []

    def judge(self) -> None:
        with Client(self._link, patience=SOON) as client:
            while not self._stop.is_set():
                (query,) = client.ask(self.name)
                side: Outcome = "left" if int(query.left) > int(query.right) else "right"
                count = client.tell(query.id, side, self.name)
                self.acknowledged.append(Comparison(query.left, query.right, side, self.name))
                assert count == len(self.acknowledged)


@pytest.mark.parametrize("kills", [pytest.param(1, marks=pytest.mark.slow), pytest.param(20, marks=pytest.mark.load)])
def test_nothing_acknowledged_is_lost_or_doubled(kills: int, tmp_path: Path) -> None:
    path = tmp_path / "study.db"
    Study.create(ITEMS, seed=3, storage=f"sqlite:///{path}").close()
    server, stop, rng = Server(path), threading.Event(), np.random.default_rng(kills)
    people = [Person(name, server.link, stop) for name in PEOPLE]
    with ThreadPoolExecutor(len(people)) as threads:
        judging = [threads.submit(person.judge) for person in people]
        try:
            for _ in range(kills):
                until_all_go_on(people, judging)
                time.sleep(rng.uniform(0.0, 0.2))
                assert server.end(signal.SIGKILL) == -signal.SIGKILL
                server.start()
            until_all_go_on(people, judging)
        finally:
            stop.set()
            wait(judging)
            code = server.end(signal.SIGINT)
        for one in judging:
            one.result()
        assert code == 130

    with Study.open(f"sqlite:///{path}") as study:
        stored = study.comparisons()
        for person in people:
            assert [one for one in stored if one.annotator == person.name] == person.acknowledged
        assert len(stored) == sum(len(person.acknowledged) for person in people)
        replayed = Study.create(ITEMS, seed=3)
        replayed.record(stored)
        np.testing.assert_array_equal(study.scores(), replayed.scores())
        np.testing.assert_array_equal(study.ordering().standard_errors, replayed.ordering().standard_errors)
        assert study.expected_error() == replayed.expected_error()
    check_log(path)


def until_all_go_on(people: list[Person], judging: list[Future[None]]) -> None:
    """Wait until each has given some more answers."""
    before, ends = [len(person.acknowledged) for person in people], time.monotonic() + SOON
    while any(len(person.acknowledged) < old + 3 for person, old in zip(people, before, strict=True)):
        assert time.monotonic() < ends
        assert not any(one.done() for one in judging)
        time.sleep(0.01)


def check_log(path: Path) -> None:
    """No query has two answers, and no pair was held by two people at once."""
    storage = open_storage(f"sqlite:///{path}")
    with storage.reading() as log:
        entries = log.entries(0)
    storage.close()
    assert set(Counter(entry.query for entry in entries if entry.kind == "answer").values()) == {1}
    held: dict[frozenset[str | None], Entry] = {}
    for entry in entries:
        pair = frozenset((entry.left, entry.right))
        if entry.kind == "ask":
            assert pair not in held
            held[pair] = entry
        elif entry.kind == "answer":
            assert held.pop(pair).query == entry.query
