"""The Python client against the application, through a transport that loses answers on the way."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from ordinate import client as clients
from ordinate.client import Client
from ordinate.data.comparisons import Comparison
from ordinate.data.items import Items
from ordinate.errors import (
    AlreadyAnswered,
    BudgetSpent,
    InvalidInput,
    PoolExhausted,
    StorageFailed,
    StudyPaused,
    UnknownQuery,
)


class Wire(httpx.BaseTransport):
    """Hands requests to the application; the first `lost` answers get lost on the way back."""

    def __init__(self, site: Any, lost: int = 0) -> None:
        self._site, self.lost, self.sent = site, lost, 0

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        self.sent += 1
        answer = self._site.client.request(
            request.method, str(request.url), content=request.read(), headers=dict(request.headers)
        )
        if self.lost:
            self.lost -= 1
            raise httpx.ReadError("the line went dead")
        headers = {name: value for name, value in answer.headers.items() if name in ("content-type", "retry-after")}
        return httpx.Response(answer.status_code, headers=headers, content=answer.content, request=request)


@pytest.fixture
def connect(site, monkeypatch):
    monkeypatch.setattr(clients, "PAUSE", 0.0)

    def connected(role: str = "annotator", lost: int = 0) -> Client:
        return Client(f"http://testserver/join/essays/{site.token(role)}", transport=Wire(site, lost))

    return connected


def test_it_asks_and_tells_as_a_study_does(site, connect):
    with connect() as ann, connect("owner") as owner:
        first, second = ann.ask("Ann", 2)
        assert [first, second] == site.study.open_queries()
        assert ann.tell(first.id, "left", "Ann") == 1
        assert ann.tell(second.id, "skip", "Ann", reason="blurred") == 1
        assert owner.comparisons() == [Comparison(first.left, first.right, "left", "Ann")]
        assert ann.undo("Ann") == second
        assert ann.status("Ann")["your"]["answers"] == 1
        assert [row.id for row in owner.ordering()] == list(site.study.ordering().ids)
        assert owner.add_items([{"id": "new", "features": [1, 2, 3]}]) == 13
        assert owner.set_rules(paused=True)["paused"] is True


def test_an_answer_whose_acknowledgement_got_lost_counts_once(site, connect):
    client = connect(lost=0)
    query = client.ask("Ann")[0]
    client._http._transport.lost = 2
    assert client.tell(query.id, "left", "Ann") == 1
    assert len(site.study.comparisons()) == 1


def test_an_undo_is_not_sent_twice(site, connect):
    client = connect()
    for _ in range(2):
        client.tell(client.ask("Ann")[0].id, "left", "Ann")
    client._http._transport.lost = 1
    with pytest.raises(StorageFailed):
        client.undo("Ann")
    assert len(site.study.comparisons()) == 1


def test_errors_are_those_of_the_package(site, connect):
    client = connect()
    query = client.ask("Ann")[0]
    client.tell(query.id, "left", "Ann")
    with pytest.raises(AlreadyAnswered):
        client.tell(query.id, "right", "Ann")
    with pytest.raises(UnknownQuery):
        client.tell("nonsense", "right", "Ann")
    with pytest.raises(InvalidInput, match="only the owner"):
        client.ordering()
    site.study.set_rules(annotator_budget=1)
    with pytest.raises(BudgetSpent) as spent:
        client.ask("Ann")
    assert not spent.value.total
    site.study.set_rules(paused=True)
    with pytest.raises(StudyPaused):
        client.ask("Bob")


def test_no_pair_is_left(build):
    site = build(Items(["a", "b"]))
    with Client(f"http://testserver/join/essays/{site.token()}", transport=Wire(site)) as client:
        client.tell(client.ask("Ann")[0].id, "left", "Ann")
        with pytest.raises(PoolExhausted):
            client.ask("Ann")


@pytest.mark.parametrize(
    "link", ["", "study.db", "http://127.0.0.1:8000", "http://127.0.0.1:8000/judge/x", "ftp://x/join/a/b"]
)
def test_what_is_no_link_is_refused(link):
    with pytest.raises(InvalidInput, match="a link such as"):
        Client(link)


def test_a_server_that_is_not_there(monkeypatch):
    monkeypatch.setattr(clients, "PAUSE", 0.0)
    with (
        Client("http://127.0.0.1:9/join/study/token") as client,
        pytest.raises(StorageFailed, match="cannot be reached"),
    ):
        client.ask()
