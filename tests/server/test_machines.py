"""A model judges a study on a server, through the owner's link."""

from __future__ import annotations

import asyncio
import io
import itertools
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from tests.judges.conftest import Answer, Model, Sent, completion, model
from tests.server.test_client import Wire

from ordinate.client import Client
from ordinate.data.items import Items
from ordinate.errors import AnnotatorExcluded, InvalidInput, NotYourQuery, OrdinateError
from ordinate.judges.endpoint import Endpoint
from ordinate.judges.judging import Tally, Task, judge
from ordinate.judges.places import OnServer
from ordinate.judges.prompt import Prompt
from ordinate.server.authentication import Caller
from ordinate.study.machines import Machine

__all__ = ["model"]
PROMPT = Prompt("Prefer the calmer one.", "1" * 64)


def client(site: Any, role: str = "owner", name: str | None = None) -> Client:
    return Client(f"http://testserver/join/essays/{site.token(role, name)}", pause=0.0, transport=Wire(site))


def run(site: Any, model: Model, answers: int | None) -> Tally:
    task = Task(PROMPT, Machine("m", PROMPT.sha256), "m", answers=answers)

    async def whole() -> Tally:
        async with Endpoint(model.url, "m", timeout=5.0, patience=1.0, pause=0.01) as endpoint:
            with client(site, "owner", "Olga") as owner:
                return await judge(OnServer(owner), endpoint, task, lambda _: None)

    return asyncio.run(whole())


def test_people_get_what_the_model_left_to_them_first_where_the_owner_says_so(site, model):
    verdicts = itertools.cycle(["tie", "A", "B"])
    model.answer = lambda _: completion(f"[[{next(verdicts)}]]")
    assert run(site, model, 12).answers == 12
    ties = {frozenset((one.left, one.right)) for one in site.study.comparisons() if one.outcome == "tie"}
    assert ties
    owner = site.program("owner")
    assert owner.patch("/rules", {"after_models": True}).json()["after_models"] is True
    asked = []
    for name in ("Ann", "Bob") * 5:
        with client(site, "annotator", name) as person:
            (query,) = person.ask(name)
            asked.append(frozenset((query.left, query.right)))
            person.tell(query.id, "left", name)
    assert ties <= set(asked)
    by_model = {frozenset((one.left, one.right)) for one in site.study.comparisons() if one.annotator == "m"}
    assert set(asked) <= by_model
    assert len(set(asked)) == len(asked), "no pair is given to two of them"


def test_answers_and_tokens_reach_the_study(site, model):
    model.answer = lambda _: completion("[[B]]")
    assert run(site, model, 3).kinds == {"decided": 3}
    assert run(site, model, 4).kinds == {"decided": 1}
    assert site.study.annotators() == {"m": 4}
    assert {entry.client for entry in site.study.answered()} == {"ordinate judge"}
    # That an owner let it judge is told once, and not of every answer.
    (told,) = [one for one in site.study.changes() if "judge" in one.what or "answer" in one.what or "ask" in one.what]
    assert (told.by, told.what) == ("Olga", "let the model m judge as m")
    with client(site) as owner:
        (shown,) = owner.machines()
    assert shown == {
        "annotator": "m",
        "model": "m",
        "prompt": "1" * 64,
        "orders": "one",
        "parameters": "{}",
        "tokens": 400,
    }


def test_groups_and_pictures_reach_the_model(build, model, tmp_path: Path):
    for name, grey in (("a", 10), ("b", 90)):
        Image.new("L", (4, 4), grey).save(tmp_path / f"{name}.png")
    items = Items(["a", "b"], group=["Draw a cat"] * 2, content={"image": ["a.png", "b.png"]})
    model.answer = lambda _: completion("[[A]]")
    assert run(build(items), model, None).kinds == {"decided": 1}
    (sent,) = model.sent
    assert sent.texts[0] == "Draw a cat"
    import base64

    urls = [part["image_url"]["url"] for part in sent.body["messages"][1]["content"] if part["type"] == "image_url"]
    greys = set()
    for url in urls:
        with Image.open(io.BytesIO(base64.b64decode(url.partition(",")[2]))) as shown:
            greys.add(shown.getpixel((0, 0)))
    assert greys == {10, 90}


def test_whoever_has_the_shared_link_does_not_answer_as_the_model(site, model):
    model.answer = lambda _: completion("[[B]]")
    run(site, model, 1)
    with client(site, "owner", "Olga") as owner:
        held = owner.ask("m")[0]
    with client(site, "annotator") as shared:
        for use in (lambda: shared.ask("M"), lambda: shared.status("m"), lambda: shared.tell(held.id, "left", "m")):
            with pytest.raises(OrdinateError, match="m is the name of a model"):
                use()
        own = shared.ask("Ann")[0]
        with pytest.raises(OrdinateError, match="only an owner's program says how many tokens"):
            shared.tell(own.id, "left", "Ann", tokens=10**12)
        shared.tell(own.id, "left", "Ann")
    assert site.study.annotators() == {"m": 1, "Ann": 1}
    assert (site.study.tokens("m"), site.study.tokens("Ann")) == (100, 0)


def test_only_who_speaks_as_the_model_answers_its_queries(site):
    with client(site) as owner:
        owner.add_machine("m", "a model", "1" * 64)
        (query, other) = owner.ask("m", 2)
        for annotator in (None, "Ann"):
            with pytest.raises(NotYourQuery, match="was given to the model 'm'"):
                owner.tell(query.id, "left", annotator)
        assert owner.tell(query.id, "left", "M") == 1
        (person,) = (one for one in owner.annotators() if one["name"] == "m")
        assert (person["model"], person["answers"]) == ("a model", 1)
        (asked,) = owner.ask("Ann")
        assert owner.tell(asked.id, "left") == 0, "for a person an owner's program answers"
        assert [one["model"] for one in owner.annotators() if one["name"] == "Ann"] == [None]
        owner.exclude(annotator="m")
        with pytest.raises(AnnotatorExcluded):
            owner.ask("m", 3)
        assert owner.tell(other.id, "left", "m") == 2, "its reply is on its way"


def test_an_owner_does_not_come_in_under_the_name_of_a_model(site):
    with client(site) as owner:
        owner.add_machine("m", "a model", "1" * 64)
    visitor = site.browser("Olga", "owner").client
    refused = visitor.post(f"/join/essays/{site.token('owner')}", data={"name": "M"})
    assert (refused.status_code, "is the name of a model; choose another name" in refused.text) == (409, True)


def test_an_owner_whose_name_a_model_has_by_now_goes_on_as_owner_and_judges_no_more(site):
    olga = site.browser("Olga", "owner")
    with client(site) as owner:
        owner.add_machine("Olga", "a model", "1" * 64)
    assert olga.patch("/rules", {"budget": 70}).status_code == 200
    refused = olga.post("/queries")
    assert (refused.status_code, refused.json()["detail"]) == (409, "Olga is the name of a model; choose another name")


def test_the_name_of_a_session_waits_for_nobody_who_uses_the_study(site):
    """The server's event loop asks for it."""
    caller = Caller(site.served, site.study.make_link("annotator"), "Ann", "a session")
    with ThreadPoolExecutor(1) as threads, site.study._ledger._lock:
        assert threads.submit(caller.name, None).result(60) == "Ann"


def test_groups_question_and_items_of_the_moment_reach_the_model(build, model):
    site = build(Items(["a", "b"], group=["First"] * 2, content={"text": ["x", "y"]}))

    def changing(sent: Sent) -> Answer:
        if len(model.sent) == 1:
            site.study.add_items(Items(["c", "d"], group=["Second"] * 2, content={"text": ["v", "w"]}))
            site.study.set_rules(ties=False, question="Which now?")
            return completion("[[tie]]")
        return completion("[[A]]")

    model.answer = changing
    assert run(site, model, 1).kinds == {"skipped": 1, "decided": 1}
    first, second = model.sent
    assert (first.texts[0], second.texts[0]) == ("First", "Second")
    assert "Question: Which now?" in second.body["messages"][0]["content"]


ON_THE_WEB = ["https://example.org/a.png", "https://example.org/b.png"]


def test_of_a_picture_on_the_web_the_address_is_sent(build, model):
    model.answer = lambda _: completion("[[A]]")
    assert run(build(Items(["a", "b"], content={"image": ON_THE_WEB})), model, None).kinds == {"decided": 1}
    parts = model.sent[0].body["messages"][1]["content"]
    assert {part["image_url"]["url"] for part in parts if part["type"] == "image_url"} == set(ON_THE_WEB)


@pytest.mark.parametrize("kind", ["link", "audio", "video"])
def test_what_else_is_on_the_web_is_refused(build, model, kind):
    with pytest.raises(InvalidInput, match="a model judges texts and pictures"):
        run(build(Items(["a", "b"], content={"image": ON_THE_WEB, kind: ON_THE_WEB})), model, None)
    assert model.sent == []


def test_only_an_owner_lets_a_model_judge(site, model):
    with client(site, "annotator") as ann, pytest.raises(OrdinateError, match="owner"):
        OnServer(ann)
    with client(site, "annotator") as ann, pytest.raises(OrdinateError, match="owner"):
        ann.add_machine("m", "m", "1" * 64)


def test_a_machine_that_is_none_is_refused(site):
    with client(site) as owner:
        with pytest.raises(InvalidInput, match="parameters of a model are an object"):
            owner.add_machine("m", "m", "1" * 64, parameters="[1]")
        with pytest.raises(InvalidInput, match="without NaN or infinity"):
            owner.add_machine("m", "m", "1" * 64, parameters='{"a": 1e999}')
        with pytest.raises(InvalidInput):
            owner.add_machine("m", "m", "no hash")
        site.study.tell(site.study.ask("Ann").id, "left")
        with pytest.raises(InvalidInput, match="as a person"):
            owner.add_machine("Ann", "m", "1" * 64)


def test_the_client_takes_the_id_of_the_winner_as_a_study_does(site):
    with client(site, "annotator") as ann, client(site, "annotator") as bob:
        query = ann.ask("Ann")[0]
        with pytest.raises(InvalidInput, match=r"unknown answer 'nobody'.*or the id of the item that won"):
            ann.tell(query.id, "nobody", "Ann")
        # Whoever holds no such query is not told which items are in it.
        with pytest.raises(OrdinateError) as refused:
            bob.tell(query.id, "nobody", "Bob")
        assert query.left not in str(refused.value)
        assert ann.tell(query.id, query.right, "Ann") == 1
    assert site.study.comparisons()[0].outcome == "right"


def test_pictures_are_fetched_from_the_server_of_the_link_alone(site):
    with client(site) as owner, pytest.raises(InvalidInput, match="not on this server"):
        owner.media("https://elsewhere.example/media/essays/0/image")
