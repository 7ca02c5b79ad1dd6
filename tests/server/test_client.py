"""The Python client against the application, through a transport that loses answers on the way."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from typing import Any

import httpx
import pytest
from tests.server.test_folder import Folder

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
    """Hands requests to the application; the first `lost` answers get lost on the way back, where a proxy with `status`
    says so."""

    def __init__(self, site: Any, lost: int = 0) -> None:
        self._site, self.lost, self.sent = site, lost, 0
        self.status: int | None = None

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        self.sent += 1
        answer = self._site.client.request(
            request.method, str(request.url), content=request.read(), headers=dict(request.headers)
        )
        if self.lost:
            self.lost -= 1
            if self.status is not None:
                return httpx.Response(self.status, html=f"<h1>{self.status}</h1>", request=request)
            raise httpx.ReadError("the line went dead")
        headers = {name: value for name, value in answer.headers.items() if name in ("content-type", "retry-after")}
        return httpx.Response(answer.status_code, headers=headers, content=answer.content, request=request)


@pytest.fixture
def connect(site):
    def connected(role: str = "annotator", lost: int = 0) -> Client:
        return Client(f"http://testserver/join/essays/{site.token(role)}", pause=0.0, transport=Wire(site, lost))

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
        assert owner.check()["sentence"] == site.study.check().sentence
        assert owner.add_items([{"id": "new", "features": [1, 2, 3]}]) == 13
        assert owner.set_rules(paused=True)["paused"] is True


@pytest.mark.parametrize("status", [None, 502, 504])
def test_an_answer_whose_acknowledgement_got_lost_counts_once(site, connect, status):
    client = connect(lost=0)
    query = client.ask("Ann")[0]
    client._http._transport.lost, client._http._transport.status = 2, status
    assert client.tell(query.id, "left", "Ann") == 1
    assert len(site.study.comparisons()) == 1


@pytest.mark.parametrize("status", [None, 502, 504])
def test_an_undo_is_not_sent_twice(site, connect, status):
    client = connect()
    for _ in range(2):
        client.tell(client.ask("Ann")[0].id, "left", "Ann")
    client._http._transport.lost, client._http._transport.status = 1, status
    with pytest.raises(StorageFailed, match=f"cannot be reached: .*{status or 'dead'}"):
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
    with pytest.raises(InvalidInput, match="only owners"):
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


def test_a_server_that_is_not_there():
    with (
        Client("http://127.0.0.1:9/join/study/token", patience=0.0) as client,
        pytest.raises(StorageFailed, match="cannot be reached"),
    ):
        client.ask()


@pytest.mark.parametrize("name", ["Zoë", "李雷", "Ann %41", "a/b?c#d&e=f", "Ωμέγα 🙂", "O'Brien, Jr."])
def test_every_name_gets_through(site, connect, name):
    with connect() as client:
        (query,) = client.ask(name)
        assert query.annotator == name
        assert client.tell(query.id, "left", name) == 1
        assert client.status(name)["your"] == {"name": name, "answers": 1, "skips": 0, "budget": None}
        assert client.undo(name) == query
        assert client.shown(query.id, name)
    with connect("owner") as owner:
        owner.exclude(annotator=name)
        assert [one["name"] for one in owner.annotators() if one["excluded"]] == [name]
        link = owner.make_link(annotator=name)
    with Client(link["url"], transport=Wire(site)) as own:
        assert own.status()["your"]["name"] == name


def test_an_owner_does_everything(site, connect):
    with connect() as ann, connect("owner") as owner:
        ann.tell(ann.ask("Ann")[0].id, "left", "Ann")
        assert [one["id"] for one in owner.items()] == list(site.study.items.ids)
        assert owner.rules()["lease"] == 600.0
        owner.exclude(item="item 00")
        assert site.study.excluded_items == ("item 00",)
        owner.include(item="item 00")
        owner.exclude(annotator="Ann")
        assert owner.comparisons() == []
        owner.include(annotator="Ann")
        assert owner.warnings()["not_loaded"] == []
        assert [(one["name"], one["answers"]) for one in owner.annotators()] == [("Ann", 1)]
        assert owner.annotator_quality() == site.study.annotator_quality().fields()
        assert owner.export("comparisons").splitlines()[0] == "left,right,winner,annotator"
        assert len(owner.export("ordering").splitlines()) == 13
        made = owner.make_link(expires_at=datetime(2099, 1, 1, tzinfo=UTC))
        assert owner.links()[-1] == {**made, "names": 0}
        assert owner.names(made["id"]) == []
        assert len(owner.export("history").splitlines()) == 2
        assert owner.revoke_link(made["id"])["revoked"] is True
        with Client(made["url"], transport=Wire(site)) as gone, pytest.raises(InvalidInput, match="revoked"):
            gone.ask("Bob")
        created = owner.create_study("colours", [{"id": "red"}, {"id": "blue"}], question="Which?")
        with Client(created["owner"]["url"], transport=Wire(site)) as other:
            assert other.status()["question"] == "Which?"
            assert [one["study"] for one in other.studies()] == ["colours"]
        assert [one["annotator"] for one in owner.make_links(["Cy", "Dora"])] == ["Cy", "Dora"]
        (given, *_) = owner.answers(annotator="Ann")
        owner.let_rest("Ann")
        assert owner.rules()["resting"] == ["Ann"]
        owner.let_rest("Ann", False)
        assert owner.discard(queries=[given["query"]]) == 1
        assert given["query"] not in [one["query"] for one in owner.answers()]
        options = {"random": 0.0, "item_variance": 3.0}
        created = owner.create_study("greys", [{"id": "1"}, {"id": "2"}], rules={"target": 0.2}, **options)
        greys = site.authenticator.find_study(created["study"]).study
        assert (greys.settings.random, greys.settings.item_variance, greys.rules.target) == (0.0, 3.0, 0.2)
        assert owner.selection() is None
        assert owner.set_rules(aim=["top:2"])["aim"] == ["top:2"]
        found = owner.selection()
        assert found is not None
        assert (found["aim"], found["wanted"], found["measure"]) == (["top:2"], 2, "recall")
        assert found["withheld"] == "there are fewer than 3 answers per item"
        assert [one.part for one in owner.ordering()][:3] == [1, 1, 2]
        created = owner.create_study("best", [{"id": "1"}, {"id": "2"}], aim=["top:1"])
        assert site.authenticator.find_study(created["study"]).study.rules.aim == ("top:1",)
        with pytest.raises(InvalidInput, match="only owners"):
            ann.export("ordering")


def test_the_owner_of_a_server_names_the_study(tmp_path):
    folder = Folder(tmp_path)
    link = f"http://testserver{folder.link}"
    with Client(link, transport=Wire(folder)) as server:
        assert server.studies() == []
        server.create_study("colours", [{"id": "red"}, {"id": "blue"}])
        assert [one["study"] for one in server.studies()] == ["colours"]
    with Client(link, study="colours", transport=Wire(folder)) as colours:
        assert len(colours.items()) == 2
        with pytest.raises(InvalidInput, match="not of 'other'"):
            Client(colours.links()[0]["url"], study="other")
    folder.close()


def test_it_waits_for_a_pair_as_the_server_says(build):
    """One link holds as many pairs as it may; then somebody answers."""
    site = build(limits={"open_per_link": 2})
    link = f"http://testserver/join/essays/{site.token()}"
    with Client(link, transport=Wire(site), timeout=60.0) as client, ThreadPoolExecutor(1) as thread:
        first, _ = client.ask("Ann", 2)
        waiting = thread.submit(client.ask, "Bob")
        with pytest.raises(TimeoutError):
            waiting.result(0.5)
        client.tell(first.id, "left", "Ann")
        assert waiting.result(60)[0].annotator == "Bob"
    with (
        Client(link, transport=Wire(site), timeout=1.0) as hasty,
        pytest.raises(StorageFailed, match="ask again later"),
    ):
        hasty.ask("Cem")


def test_a_server_under_a_path(build):
    site = build(app={"url": "http://testserver/judging"})
    with Client(f"http://testserver/judging/join/essays/{site.token('owner')}", transport=Wire(site)) as owner:
        made = owner.make_link()
        assert made["url"].startswith("http://testserver/judging/join/essays/")
        with Client(made["url"], transport=Wire(site)) as ann:
            assert ann.tell(ann.ask("Ann")[0].id, "left", "Ann") == 1
