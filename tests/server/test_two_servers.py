"""Two server processes over one study in PostgreSQL: they share leases, budgets, links and names, and believe the same;
what they acknowledged is stored once, whatever happens to the database meanwhile."""

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
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest

from ordinate.client import Client
from ordinate.data.comparisons import Comparison, Outcome
from ordinate.data.items import Items
from ordinate.errors import AlreadyAnswered, BudgetSpent, OrdinateError
from ordinate.storage import open as open_storage
from ordinate.study.study import Study

ITEMS = Items([f"{row:03}" for row in range(80)], np.random.default_rng(0).normal(size=(80, 4)))
PEOPLE = ("Ann", "Bob", "Cleo", "Dan", "Eve", "Fay")
SECRET = "a secret of both servers"
SOON = 150.0
"""Seconds: however slow the machine is, a server that was started is there by then."""


class Server:
    def __init__(self, url: str, folder: Path, *options: str) -> None:
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = str(free.getsockname()[1])
        command = [sys.executable, "-m", "ordinate", "serve", url, "--port", port, "--no-open", *options]
        environment = {**os.environ, "PYTHONUNBUFFERED": "1", "OMP_NUM_THREADS": "1", "ORDINATE_SECRET": SECRET}
        self.log = folder / f"log-{port}"
        with self.log.open("w") as log:
            self._process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True, env=environment)
        assert self._process.stdout is not None
        links = [re.findall(r"http://\S+", self._process.stdout.readline()) for _ in range(3)]
        assert all(links[1:]), self.log.read_text()
        ((self.owner_link,), (self.link,)) = links[1:]

    def end(self, by: signal.Signals = signal.SIGTERM) -> None:
        self._process.send_signal(by)
        self._process.communicate(timeout=SOON)


@contextmanager
def clients_of(links: list[str]) -> Iterator[list[Client]]:
    with ExitStack() as stack:
        yield [stack.enter_context(Client(link, patience=SOON)) for link in links]


class Person:
    """Somebody who takes the servers in turn, request by request, until told to stop or until the budget is spent."""

    def __init__(self, name: str, links: list[str], stop: threading.Event) -> None:
        self.name, self._links, self._stop = name, links, stop
        self.acknowledged: list[Comparison] = []

    def judge(self) -> None:
        with clients_of(self._links) as clients:
            number = 0
            while not self._stop.is_set():
                number += 1
                try:
                    (query,) = clients[number % len(clients)].ask(self.name)
                except BudgetSpent:
                    return
                side: Outcome = "left" if query.left > query.right else "right"
                clients[(number + 1) % len(clients)].tell(query.id, side, self.name)
                self.acknowledged.append(Comparison(query.left, query.right, side, self.name))


Start = Callable[..., Server]


@pytest.fixture
def url(postgresql: Any) -> str:
    made: str = postgresql.url()
    Study.create(ITEMS, seed=3, storage=made).close()
    return made


@pytest.fixture
def start(url: str, tmp_path: Path) -> Iterator[Start]:
    running: list[Server] = []

    def started(*options: str) -> Server:
        running.append(Server(url, tmp_path, *options))
        return running[-1]

    yield started
    for server in running:
        server.end()


def judge_all(
    people: list[Person], meanwhile: Callable[[], None] | None = None, stop: threading.Event | None = None
) -> None:
    """People judge while something happens and then stop; without that, until the budget is spent."""
    with ThreadPoolExecutor(len(people)) as threads:
        judging = [threads.submit(person.judge) for person in people]
        try:
            if meanwhile is not None:
                meanwhile()
        finally:
            if stop is not None:
                stop.set()
            wait(judging)
    for one in judging:
        one.result()


def check_log(url: str, people: list[Person]) -> Counter[str]:
    """Everything acknowledged is stored once, and no pair was held twice; returns what chose the pairs."""
    with closing(open_storage(url)) as storage, storage.reading() as log:
        entries = list(log.entries(0))
    assert [entry.position for entry in entries] == list(range(1, len(entries) + 1))
    asked = [entry.query for entry in entries if entry.kind == "ask"]
    assert asked == list(range(1, len(asked) + 1))
    assert set(Counter(entry.query for entry in entries if entry.kind == "answer").values()) == {1}
    held: dict[frozenset[str | None], int | None] = {}
    for entry in entries:
        pair = frozenset((entry.left, entry.right))
        if entry.kind == "ask":
            assert pair not in held, "two people hold one pair"
            held[pair] = entry.query
        elif entry.kind == "answer":
            assert held.pop(pair) == entry.query
    with Study.open(url) as study:
        stored = study.comparisons()
    for person in people:
        assert [one for one in stored if one.annotator == person.name] == person.acknowledged
    return Counter(str(entry.strategy).partition("(")[0] for entry in entries if entry.kind == "ask")


@pytest.mark.slow
def test_both_share_everything_and_the_budget_is_exact(url: str, start: Start) -> None:
    servers = [start("--budget", "48"), start()]
    assert servers[0].link.partition("/join/")[2] == servers[1].link.partition("/join/")[2]
    links, stop = [server.link for server in servers], threading.Event()
    people = [Person(name, links, stop) for name in PEOPLE]
    judge_all(people)
    assert sum(len(person.acknowledged) for person in people) == 48
    check_log(url, people)

    with clients_of([server.owner_link for server in servers]) as owners:
        assert [owner.status()["answers"] for owner in owners] == [48, 48]
        orderings = [owner.ordering() for owner in owners]
    assert orderings[0] == orderings[1]
    with Study.open(url) as study:
        assert [row.score for row in orderings[0]] == list(study.ordering().scores)
        replayed = Study.create(ITEMS, seed=3)
        replayed.record(study.comparisons())
        np.testing.assert_array_equal(study.scores(), replayed.scores())


@pytest.mark.slow
def browser() -> httpx.Client:
    """One that is as patient as the other clients here: the first request may come before the server is ready."""
    return httpx.Client(follow_redirects=True, timeout=SOON)


@pytest.mark.slow
def test_names_links_and_rules_are_known_to_the_other_at_once(start: Start) -> None:
    one, other = start(), start()
    for number in range(2):
        with browser() as first, browser() as second:
            assert first.post(one.link, data={"name": f"Ann {number}"}).status_code == 200
            assert second.post(other.link, data={"name": f"Ann {number}"}).status_code == 409
    with clients_of([one.owner_link, other.owner_link]) as owners:
        for number in range(4):
            made = owners[number % 2].make_link("annotator", f"person {number}")
            token = made["url"].rpartition("/")[2]
            with Client(f"{[other, one][number % 2].link.rpartition('/')[0]}/{token}") as personal:
                assert len(personal.ask()) == 1
                owners[number % 2].revoke_link(made["id"])
                with pytest.raises(OrdinateError):
                    personal.ask()
            owners[number % 2].set_rules(budget=1000 + number)
            assert owners[(number + 1) % 2].rules()["budget"] == 1000 + number


def test_two_people_cannot_answer_one_query_at_two_servers(start: Start) -> None:
    def tell(client: Client, query: str) -> bool:
        try:
            client.tell(query, "left", "Ann")
        except AlreadyAnswered:
            return False
        return True

    with clients_of([start().link, start().link]) as clients, ThreadPoolExecutor(2) as threads:
        for _ in range(5):
            (query,) = clients[0].ask("Ann")
            assert clients[1].ask("Ann") == [query]
            assert sorted(threads.map(tell, clients, [query.id] * 2)) == [False, True]


@pytest.mark.parametrize("times", [pytest.param(1, marks=pytest.mark.slow), pytest.param(5, marks=pytest.mark.load)])
def test_the_database_is_restarted_and_its_connections_cut_while_people_judge(
    times: int, url: str, start: Start, postgresql: Any
) -> None:
    import psycopg

    servers, stop = [start(), start()], threading.Event()
    people = [Person(name, [server.link for server in servers], stop) for name in PEOPLE[:4]]

    def until_all_go_on() -> None:
        before, ends = [len(person.acknowledged) for person in people], time.monotonic() + SOON
        while any(len(person.acknowledged) < old + 2 for person, old in zip(people, before, strict=True)):
            assert time.monotonic() < ends
            time.sleep(0.02)

    def faults() -> None:
        until_all_go_on()
        for _ in range(times):
            postgresql.stop("immediate")  # a crash: what was committed must come back from the log of the database
            postgresql.start()
            until_all_go_on()
            with psycopg.connect(postgresql.database, autocommit=True) as connection:
                connection.execute(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'ordinate'"
                ).fetchall()
            until_all_go_on()

    judge_all(people, faults, stop)
    check_log(url, people)
    for server in servers:
        assert "secret" not in server.log.read_text()


@pytest.mark.slow
def test_while_the_database_is_away_nothing_is_acknowledged_and_reading_goes_on(start: Start, postgresql: Any) -> None:
    server = start()
    with Client(server.link) as client:
        (query,) = client.ask("Ann")
    start_, study, token = re.findall("(.+)/join/(.+)/(.+)", server.link)[0]
    api, headers = f"{start_}/api/v1/studies/{study}", {"Authorization": f"Bearer {token}"}
    answer = {"annotator": "Ann", "query": query.id, "answer": "left", "count": 0}
    key = {**headers, "Idempotency-Key": "one answer"}
    postgresql.stop()
    try:
        refused = httpx.post(f"{api}/answers", json=answer, headers=key, timeout=60)
        assert refused.status_code == 503
        assert int(refused.headers["Retry-After"]) > 0
        assert "127.0.0.1" not in refused.text
        assert httpx.get(api, headers=headers).json()["open"] == 1
        owner = httpx.get(api, headers={"Authorization": f"Bearer {server.owner_link.rpartition('/')[2]}"}).json()
        assert "the database" in owner["problem"]
        assert "secret" not in owner["problem"]
    finally:
        postgresql.start()
    ends = time.monotonic() + SOON
    while (told := httpx.post(f"{api}/answers", json=answer, headers=key, timeout=60)).status_code == 503:
        assert time.monotonic() < ends
        time.sleep(0.1)
    assert told.json()["your_answers"] == 1
    again = httpx.post(f"{api}/answers", json=answer, headers=key)
    assert again.json()["your_answers"] == 1
