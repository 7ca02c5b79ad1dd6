"""What owners do through the API: results, items, links, rules, annotators, exclusions, new studies; and errors."""

from __future__ import annotations

import csv
import io
import json
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from ordinate.data.comparisons import Comparison
from ordinate.data.items import Items
from ordinate.data.recipe import Recipe
from ordinate.embedding import embed, embed_like
from ordinate.errors import StorageFailed, StudyExists
from ordinate.server import helper
from ordinate.server.app import create_app
from ordinate.storage import open as open_storage
from ordinate.storage.places import SqliteFile
from ordinate.study.leases import Offer
from ordinate.study.study import Study


def test_the_ordering_comes_in_pages_and_is_that_of_the_study(site):
    owner, ann = site.program("owner"), site.browser("Ann")
    for _ in range(6):
        ann.tell(ann.ask()[0])
    rows: list[dict[str, Any]] = []
    cursor: str | None = "0"
    while cursor is not None:
        page = owner.get("/ordering", params={"limit": 5, "cursor": cursor}).json()
        rows += page["ordering"]
        cursor = page["next_cursor"]
        assert page["total"] == 12
    expected = site.study.ordering()
    assert [row["item"]["id"] for row in rows] == list(expected.ids)
    assert [row["rank"] for row in rows] == list(range(1, 13))
    assert [row["score"] for row in rows] == pytest.approx(expected.scores.tolist())
    assert [row["standard_error"] for row in rows] == pytest.approx(expected.standard_errors.tolist())


def test_comparisons_and_their_table(site):
    made = [Comparison("item 00", "item 01", "left", "Ann"), Comparison("item 02", "item 01", "tie")]
    site.study.record(made)
    owner = site.browser("Olga", "owner")
    page = owner.get("/comparisons", params={"limit": 1}).json()
    assert page["comparisons"] == [{"left": "item 00", "right": "item 01", "winner": "left", "annotator": "Ann"}]
    assert (page["total"], page["next_cursor"]) == (2, "1")
    download = owner.get("/export/comparisons.csv")
    assert download.headers["content-disposition"] == 'attachment; filename="essays-comparisons.csv"'
    assert list(csv.reader(io.StringIO(download.text)))[1:] == [
        ["item 00", "item 01", "left", "Ann"],
        ["item 02", "item 01", "tie", ""],
    ]
    columns, first = owner.get("/export/ordering.csv").text.splitlines()[:2]
    assert columns == "rank,id,score,standard_error,rank_low,rank_high,rank_best,rank_tied_low,rank_tied_high"
    assert first.startswith("1,")


def test_items_are_added_and_asked_about(site):
    owner = site.program("owner")
    new = {"items": [{"id": "new", "features": [0.1, 0.2, 0.3], "text": "A new text"}]}
    assert owner.post("/items", new).json() == {"items": 13}
    assert owner.get("/items", params={"cursor": "12"}).json()["items"][0]["text"] == "A new text"
    assert owner.post("/items", new).status_code == 422, "it is there already"
    assert owner.post("/items", {"items": [{"id": "x", "features": [1.0]}]}).status_code == 422
    assert owner.post("/items", {"items": [{"id": "x"}, {"id": "y", "group": "g"}]}).status_code == 422
    assert site.browser("Ann").ask(20)


@pytest.mark.usefixtures("batches")
def test_new_items_of_a_study_with_an_encoder_go_through_it(build):
    texts = ["a", "bb", "abc", "aabb"]
    items, recipe = embed(Items([f"t{k}" for k in range(4)], content={"text": texts}), "letters:any", pca=2)
    site = build(items, recipe=recipe)
    owner = site.program("owner")
    new = Items(["new"], content={"text": ["abab"]})
    assert owner.post("/items", {"items": [{"id": "new", "text": "abab"}]}).json() == {"items": 5}
    assert site.study.items.features[4].tolist() == embed_like(recipe, new).features[0].tolist()
    refused = owner.post("/items", {"items": [{"id": "bare"}]})
    assert refused.status_code == 422
    assert "add a column 'text'" in refused.json()["detail"]
    assert len(site.study.items) == 5


@pytest.mark.parametrize("names", [list("abc"), None], ids=["named", "a matrix"])
def test_new_items_of_a_study_with_reduced_features_bring_those_before(build, names):
    raw = np.random.default_rng(4).normal(size=(6, 3))
    items, recipe = Recipe.of_given(Items([f"t{k}" for k in range(6)], raw, names), 2)
    site = build(items, recipe=recipe)
    owner = site.program("owner")
    assert owner.post("/items", {"items": [{"id": "new", "features": raw[2].tolist()}]}).json() == {"items": 7}
    np.testing.assert_allclose(site.study.items.features[6], items.features[2])
    refused = owner.post("/items", {"items": [{"id": "short", "features": [1.0, 2.0]}]})
    assert (refused.status_code, "3" in refused.json()["detail"]) == (422, True), refused.json()


@pytest.mark.usefixtures("batches")
def test_new_items_of_a_study_with_an_encoder_bring_its_columns(build):
    texts = ["a", "bb", "abc", "aabb"]
    given = Items([f"t{k}" for k in range(4)], [[1], [2], [3], [4]], ["size"], content={"text": texts})  # type: ignore[arg-type]
    items, recipe = embed(given, "letters:any", pca=2)
    site = build(items, recipe=recipe)
    owner = site.program("owner")
    new = [{"id": "new", "text": "abab", "features": [5]}, {"id": "whole", "text": "b", "features": [0.5, 0.25, 6]}]
    for one in new:
        assert owner.post("/items", {"items": [one]}).status_code == 200
    assert site.study.items.features[4:, 2].tolist() == [5.0, 6.0]
    assert site.study.items.features[5].tolist() == [0.5, 0.25, 6.0]
    refused = owner.post("/items", {"items": [{"id": "bare", "text": "a"}]})
    assert (refused.status_code, "the numbers 'size' as its features" in refused.json()["detail"]) == (422, True)
    assert len(site.study.items) == 6


@pytest.mark.parametrize(
    ("first", "later", "held"),
    [
        ({"makers": [("item 01", "Ann")]}, {}, (600.0, False, 0.8)),
        ({}, {"after_models": True}, (600.0, False, 0.8)),
        ({"again": True, "lease": 60.0}, {}, (60.0, True, 0.8)),
        ({}, {"variety": None}, (600.0, False, None)),
    ],
)
def test_a_study_that_is_first_served_gets_what_was_never_set(build, tmp_path, first, later, held):
    items = Items([f"item {row:02}" for row in range(12)])
    with Study.create(items, rules=first, storage=f"sqlite:///{tmp_path / 'essays.db'}") as study:
        study.set_rules(**later)
    site = build()
    assert (site.study.rules.lease, site.study.rules.again, site.study.rules.variety) == held
    site.study.set_rules(lease=None)
    with Study.open(site.served.url) as again:
        again.set_first_rules({"lease": 600.0})
        assert again.rules.lease is None


def test_rules_change_while_people_answer(site):
    owner = site.browser("Olga", "owner")
    assert owner.get("/rules").json() | {"lease": 600.0, "again": False, "variety": 0.8} == owner.get("/rules").json()
    changed = owner.patch("/rules", {"budget": 10, "lease": None, "theme": "dark", "invert": True}).json()
    assert (changed["budget"], changed["lease"], changed["theme"], changed["again"]) == (10, None, "dark", False)
    assert "dark" in site.browser("Ann").get("").json()["theme"]
    for wrong in (
        {"repeat": 2},
        {"lease": 0},
        {"lease": "soon"},
        {"rule": 1},
        {"budget": -1},
        {"ties": None},
        {"theme": "x"},
    ):
        assert owner.patch("/rules", wrong).status_code == 422, wrong
    assert owner.get("/rules").json() == changed
    with Study.open(f"sqlite:///{site.served.path}") as reopened:
        assert reopened.rules == site.study.rules


def test_names_are_listed_below_the_link_that_they_were_given_by(site):
    owner, link, other = site.program("owner"), site.study.make_link("annotator"), site.study.make_link("annotator")
    for number in range(30):
        site.study.claim_name(f"Visitor {number}", lambda name, _: f"of {name}", link.id)
    listed = {one["id"]: one for one in owner.get("/links").json()["links"]}
    assert [listed[one.id]["names"] for one in (link, other)] == [30, 0]
    assert not any(one["shared"] for one in listed.values())

    def names(**wanted):
        given = owner.get(f"/links/{link.id}/names", params=wanted).json()
        return [one["annotator"] for one in given["names"]], given["total"], given["next_cursor"]

    assert names(limit=2) == (["Visitor 29", "Visitor 28"], 30, "2")
    assert names(limit=2, cursor="28") == (["Visitor 1", "Visitor 0"], 30, None)
    assert names(search="VISITOR 1", limit=1) == (["Visitor 19"], 11, "1")
    assert names(search="nobody") == ([], 0, None)
    assert owner.get(f"/links/{other.id}/names").json()["total"] == 0
    assert owner.get("/links/none/names").status_code == 422
    (ann,) = owner.get(f"/links/{link.id}/names", params={"search": "Visitor 7"}).json()["names"]
    assert owner.client.get(ann["url"].partition("testserver")[2]).status_code == 200
    assert owner.post(f"/links/{ann['id']}/revoke").json()["revoked"] is True
    assert owner.get(f"/links/{link.id}/names", params={"search": "Visitor 7"}).json()["names"][0]["url"] is None


def test_links_are_made_listed_and_revoked(site):
    owner = site.browser("Olga", "owner")
    made = owner.post("/links", {"role": "annotator", "annotator": "Ann", "expires_at": "2099-01-01T00:00:00Z"}).json()
    assert made["url"].startswith("http://testserver/join/essays/")
    assert made["url"].endswith(made["token"])
    assert site.client.get(made["url"]).status_code == 200
    assert [link["id"] for link in owner.get("/links").json()["links"]][-1] == made["id"]
    assert owner.post(f"/links/{made['id']}/revoke").json()["revoked"] is True
    assert owner.post("/links/nobody/revoke").status_code == 422
    assert owner.post("/links", {"role": "admin"}).status_code == 422


def test_exclusions(site):
    owner, ann = site.browser("Olga", "owner"), site.browser("Ann")
    ann.tell(ann.ask()[0])
    owner.post("/exclusions", {"annotator": "Ann"})
    assert site.study.comparisons() == []
    assert owner.get("/annotators").json()["annotators"][0]["excluded"] is True
    owner.post("/exclusions", {"annotator": "Ann", "excluded": False})
    assert len(site.study.comparisons()) == 1
    assert owner.post("/exclusions", {"item": "nothing"}).status_code == 404
    assert owner.post("/exclusions", {}).status_code == 422
    assert owner.post("/exclusions", {"item": "item 00", "annotator": "Ann"}).status_code == 422


def test_a_study_is_created_and_served_at_once(site):
    owner = site.program("owner")
    body = {"name": "colours", "question": "Which?", "items": [{"id": "red"}, {"id": "blue"}]}
    made = owner.client.post("/api/v1/studies", json=body, headers=owner.headers)
    assert made.status_code == 201
    assert (site.served.path.parent / "colours.db").is_file()
    headers = {"Authorization": f"Bearer {made.json()['annotators']['token']}"}
    asked = site.client.post("/api/v1/studies/colours/queries", json={}, headers=headers).json()["queries"]
    assert {asked[0]["left"]["id"], asked[0]["right"]["id"]} == {"red", "blue"}
    assert site.client.get("/api/v1/studies/essays", headers=headers).status_code == 401, "a link of another study"
    assert owner.client.post("/api/v1/studies", json=body, headers=owner.headers).status_code == 409
    for name in ("../up", "a/b", "", "A", ".hidden", "x" * 65):
        wrong = owner.client.post("/api/v1/studies", json={**body, "name": name}, headers=owner.headers)
        assert wrong.status_code == 422, name
    listed = owner.client.get("/api/v1/studies", headers=owner.headers).json()["studies"]
    assert [one["study"] for one in listed] == ["essays"]


def test_a_field_that_there_is_not_is_named_with_where_to_look(site):
    answered = site.program("owner").post("/exclusions", {"annotator": "Ann", "exclude": True})
    assert answered.status_code == 422
    assert answered.json()["detail"] == (
        "body.exclude: there is no such field; /api/v1/openapi.json lists the fields of every request"
    )


@pytest.mark.parametrize("fails", ["media.require_inside", "Prefetcher", "Study.make_link"])
def test_a_study_that_cannot_be_served_once_it_is_made_leaves_nothing(site, monkeypatch, fails):
    owner = site.program("owner")
    body = {"name": "colours", "items": [{"id": "red"}, {"id": "blue"}]}
    before = set(site.served.path.parent.iterdir())

    def refuse(*_, **__):
        raise StorageFailed("the disk is full")

    with monkeypatch.context() as patch:
        patch.setattr(f"ordinate.server.served_study.{fails}", refuse)
        assert owner.client.post("/api/v1/studies", json=body, headers=owner.headers).status_code == 503
    assert set(site.served.path.parent.iterdir()) == before
    assert owner.client.get("/api/v1/studies/colours", headers=owner.headers).status_code in (401, 404)
    assert owner.client.post("/api/v1/studies", json=body, headers=owner.headers).status_code == 201


def test_a_study_of_a_name_that_is_served_meanwhile_is_deleted_and_no_other_one(site, tmp_path):
    """As where two programs make studies of one name at once, beside studies in different folders."""
    place = SqliteFile(tmp_path / "elsewhere" / "essays.db")
    place.path.parent.mkdir()
    Study.create(Items(["red", "blue"]), storage=place.url).close()
    with pytest.raises(StudyExists):
        site.authenticator.registry.serve_new(place, "essays", ("owner",), lambda made: made.delete())
    assert not place.path.exists()
    assert site.served.path.exists()
    assert site.program("owner").get("/items").json()["total"] == 12


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/nowhere", 404),
        ("GET", "/api/v1/studies/nowhere", 404),
        ("PUT", "/healthz", 405),
        ("GET", "/api/v1/studies/essays/queries", 405),
        ("POST", "/api/v1/studies/essays/queries", 422),
        ("GET", "/api/v1/studies/essays/ordering?limit=0", 422),
        ("GET", "/api/v1/studies/essays/ordering?cursor=-1", 422),
    ],
)
def test_errors_are_problems(site, method, path, status):
    owner = site.program("owner")
    response = owner.client.request(method, path, json={"count": "many"}, headers=owner.headers)
    assert response.status_code == status
    assert response.headers["content-type"] == "application/problem+json"
    problem = response.json()
    assert problem["status"] == status
    assert problem["detail"]
    assert problem.keys() >= {"type", "title"}


def test_health(site):
    assert site.client.get("/healthz").json()["status"] == "ok"


def test_the_expected_error_falls_and_its_history_fills(site):
    ann = site.browser("Ann")
    for _ in range(12):
        ann.tell(ann.ask()[0])
    status = {}
    until = time.monotonic() + 60
    while time.monotonic() < until:
        time.sleep(0.1)  # no faster than the server lets a caller be
        status = ann.get("").json()
        if len(status["error_history"]) == 4 and status["error_history"][-1][0] == 12:
            break
    # What it would be if people answered sensibly, up to now.
    assert [count for count, _ in status["error_history"]] == [0, 5, 10, 12]
    assert status["error_history"][-1][1] == site.study.expected_error()
    assert status["error_history"][0][1] == pytest.approx(0.5)
    assert (status["expected_error"], status["better_than_coins"]) == (None, False)
    assert status["withheld"] == "the answers cannot be told from coin tosses yet"
    answer_sensibly(site.study)
    ann.get("")
    wait_for(lambda: has_all_results(site))
    status, stated = ann.get("").json(), site.study.reliability()
    assert stated.withheld is None
    assert {name: status[name] for name in stated._fields} == stated._asdict()


def test_an_error_that_a_failed_check_withholds_is_sent_nowhere(build, tmp_path):
    """Features that miss something make the error of a contextual study far too small."""
    rng = np.random.default_rng(0)
    features = rng.normal(size=(20, 3))
    scores = features.sum(axis=1) + rng.normal(size=20)
    items, path = Items([f"item {row:02}" for row in range(20)], features), tmp_path / "essays.db"
    with Study.create(items, algorithm="guro-contextual", random=0.3, storage=f"sqlite:///{path}") as study:
        for _ in range(240):
            query = study.ask("Ann")
            margin = 1.5 * (scores[study.row(query.left)] - scores[study.row(query.right)])
            study.tell(query.id, "left" if rng.random() < 1.0 / (1.0 + np.exp(-margin)) else "right")
    site = build()
    owner = site.program("owner")
    owner.get("")
    wait_for(lambda: (found := site.served.prefetcher.results) is not None and found.basis.answers == 240)
    status, verdict = owner.get("").json(), owner.get("/check").json()
    for shown in (status, verdict):
        assert [shown[name] for name in ("expected_error", "error_low", "error_high")] == [None] * 3
        assert shown["withheld"].startswith("the features miss something that people see")
    assert status["error_history"] == []
    assert status["forecast"]["withheld"] == status["withheld"]
    owner.patch("/rules", json={"cuts": [5]})
    grades = owner.get("/ordering").json()["grades"]
    assert [(grade["items"], grade["misplaced"], grade["misplaced_high"]) for grade in grades] == [
        (5, None, None),
        (15, None, None),
    ]


def answer_sensibly(study: Study) -> None:
    """All pairs three times, always in the order of the ids."""
    pairs = [(left, right) for left in study.items.ids for right in study.items.ids if left < right]
    study.record([Comparison(left, right, "left", "Olga") for left, right in pairs] * 3)


def wait_for(happened: Callable[[], bool]) -> None:
    until = time.monotonic() + 60
    while not happened() and time.monotonic() < until:
        time.sleep(0.05)
    assert happened()


def has_all_results(site: Any) -> bool:
    """Whether there are results, which there are not at first, and they are those of all answers."""
    results = site.served.prefetcher.results
    return results is not None and results.basis.answers == len(site.study.comparisons())


def test_the_forecast_is_for_the_target_asked_for_or_that_of_the_rules_as_they_are(site):
    owner = site.program("owner")
    wait_for(lambda: owner.get("/forecast").status_code == 200)
    assert owner.get("/forecast").json()["withheld"] == "there are no answers yet"
    answer_sensibly(site.study)
    owner.get("")
    wait_for(lambda: has_all_results(site))
    expected = site.study.forecast(0.005)
    assert owner.get("/forecast", params={"target": 0.005}).json() == expected.fields()
    assert owner.get("").json()["forecast"] == site.study.forecast().fields()
    assert owner.patch("/rules", {"target": 0.001}).status_code == 200
    assert owner.get("/forecast").json() == owner.get("").json()["forecast"] == site.study.forecast(0.001).fields()
    assert owner.get("/forecast", params={"target": 0.9}).status_code == 422


def test_the_check_is_that_of_the_study(site):
    owner = site.program("owner")
    assert owner.get("/check").json()["sentence"] == "There are no answers yet, so there is nothing to check."
    answer_sensibly(site.study)
    given = owner.get("/check").json()
    assert given == json.loads(json.dumps(site.study.check().fields()))
    assert {row["state"] for row in given["checks"]} >= {"passed", "not run"}


def test_a_target_that_is_met_already_finishes_the_study_without_another_answer(site):
    owner, ann = site.program("owner"), site.browser("Ann")
    answer_sensibly(site.study)
    owner.get("")
    wait_for(lambda: has_all_results(site))
    assert site.served.prefetcher.results.reliability.better_than_coins
    assert len(ann.ask()) == 1
    owner.patch("/rules", {"target": 0.5})
    wait_for(lambda: owner.get("").json()["finished"] == "total-budget")
    asked = site.browser("Bob").post("/queries", {"count": 1}).json()
    assert (asked["queries"], asked["finished"]) == ([], "total-budget")
    assert site.study.finished == "target"
    owner.patch("/rules", {"target": 0.001})
    assert site.study.finished is None
    assert owner.get("").json()["finished"] is None


def test_offers_are_only_a_cache(site):
    """Where others took the pair that was chosen for somebody, another one is given."""
    ann, bob = site.browser("Ann"), site.browser("Bob")
    (held,) = ann.ask()
    offer = site.served.prefetcher.fetch("Bob").result(60)
    site.study.take("Cem", 1, [offer._replace(annotator="Cem")])
    (other,) = bob.ask()
    assert {other["left"]["id"], other["right"]["id"]} != {offer.left, offer.right}
    assert held["id"] != other["id"]


def test_whoever_would_wait_too_long_gets_a_random_pair(build):
    executor, go_on = ThreadPoolExecutor(1), threading.Event()
    executor.submit(go_on.wait)
    try:
        site = build(app={"executor": lambda: executor}, limits={"pair_seconds": 0.0})
        ann, before = site.browser("Ann"), set[str]()
        for _ in range(5):
            (query,) = ann.ask(3)
            assert ann.ask() == [query]
            pair = {query["left"]["id"], query["right"]["id"]}
            assert not before & pair, "no item twice running"
            before = pair
            ann.tell(query)
    finally:
        go_on.set()
    with closing(open_storage(f"sqlite:///{site.served.path}")) as storage, storage.reading() as log:
        asked = [entry for entry in log.entries(0) if entry.kind == "ask"]
    assert {(entry.strategy, entry.utility) for entry in asked} == {("Uniform()", None)}
    assert len({frozenset((entry.left, entry.right)) for entry in asked}) == 5


def test_whoever_comes_too_late_for_every_offer_gets_a_random_pair(build):
    class SamePair(ThreadPoolExecutor):
        """A helper that chooses a pair which Bob holds, whoever asks."""

        def submit(self, job, /, *arguments, **named):
            if job is helper.choose and len(arguments) > 1:
                return super().submit(lambda: [Offer("item 00", "item 01", one, 0.1, 1) for one in arguments[1]])
            return super().submit(job, *arguments, **named)

    site = build(app={"executor": lambda: SamePair(1)})
    site.study.take("Bob", 1, [Offer("item 00", "item 01", "Bob", 0.1, 1)])
    (query,) = site.browser("Ann").ask()
    assert {query["left"]["id"], query["right"]["id"]} != {"item 00", "item 01"}


def test_a_study_in_use_by_others_too(site):
    """Another process writes to the file: what it wrote is seen at once."""
    ann = site.browser("Ann")
    (query,) = ann.ask()
    with Study.open(f"sqlite:///{site.served.path}") as other:
        other.tell(query["id"], "right")
        other.set_rules(paused=True)
    assert ann.tell(query).status_code == 409
    assert ann.get("").json()["paused"] is True


def test_one_file_remains(build, tmp_path):
    site = build(Items(["a", "b", "c"]))
    site.browser("Ann").ask()
    assert (tmp_path / "essays.db-wal").exists()
    site.client.__exit__(None, None, None)
    assert not list(tmp_path.glob("essays.db-*"))
    with Study.open(f"sqlite:///{tmp_path / 'essays.db'}") as study:
        assert len(study.open_queries()) == 1


def test_results_come_up_to_date_without_another_request(site):
    """After the newest answer nobody asks for anything, and the expected error is soon that of all answers."""
    ann = site.browser("Ann")
    for _ in range(7):
        ann.tell(ann.ask()[0])
    prefetcher = site.served.prefetcher

    def known() -> tuple[int, list[int]] | None:
        results = prefetcher.results
        return results and (results.basis.answers, [count for count, _ in results.history])

    until = time.monotonic() + 60
    while known() != (7, [0, 5]) and time.monotonic() < until:
        time.sleep(0.05)
    assert known() == (7, [0, 5])


def test_results_follow_what_is_left_out_added_and_given_again(site):
    """Without another answer, and although the number of answers stays the same."""
    owner, ann = site.program("owner"), site.browser("Ann")
    ids = site.study.items.ids
    answer_sensibly(site.study)
    pairs = pairwise(ids)
    site.study.record([Comparison(left, right, "right", "Bad") for left, right in pairs] * 3)
    ann.tell(ann.ask()[0])
    seen = []

    def has_new_results() -> bool:
        prefetcher = site.served.prefetcher
        results = prefetcher.results
        is_new = results is not None and results.reliability not in seen
        return is_new and results.reliability == site.study.reliability() and not prefetcher._results_are_old()

    def left_out(**what: Any) -> None:
        assert owner.post("/exclusions", what).status_code == 200

    def give_again() -> None:
        undone = ann.post("/undo").json()
        assert ann.tell(undone["query"], "right" if undone["was"] == "left" else "left").json()["answers"] == before

    wait_for(has_new_results)
    before = owner.get("").json()["answers"]
    for change in (
        give_again,
        lambda: left_out(annotator="Bad", excluded=True),
        lambda: owner.post("/answers/discard", {"annotator": "Ann"}),
        lambda: left_out(item=ids[0], excluded=True),
        lambda: owner.post("/items", {"items": [{"id": "new", "features": [0.1, 0.2, 0.3]}]}),
    ):
        seen.append(site.served.prefetcher.results.reliability)
        change()
        wait_for(has_new_results)


def test_results_are_not_computed_for_ever_where_an_annotator_is_excluded(site):
    for name, count in (("Ann", 3), ("Bob", 2)):
        annotator = site.browser(name)
        for _ in range(count):
            annotator.tell(annotator.ask()[0])
    site.study.exclude_annotator("Bob")
    assert site.program("owner").get("").json()["answers"] == 3
    until = time.monotonic() + 60
    while site.served.prefetcher._results_are_old() and time.monotonic() < until:
        time.sleep(0.05)
    assert not site.served.prefetcher._results_are_old()


def test_the_last_link_of_an_owner_is_not_revoked(site):
    first = site.study.make_link("owner")
    site.study.make_link("owner", expires_at=datetime.now(UTC) - timedelta(seconds=1))
    owner = site.program("owner")
    mine = owner.get("/links").json()["links"][-1]["id"]
    assert owner.post(f"/links/{first.id}/revoke").status_code == 200
    refused = owner.post(f"/links/{mine}/revoke")
    assert refused.status_code == 409
    assert "make another one first" in refused.json()["detail"]
    assert owner.get("").status_code == 200
    other = owner.post("/links", {"role": "owner"}).json()
    assert owner.post(f"/links/{mine}/revoke").json()["revoked"] is True
    assert owner.get("").status_code == 401
    headers = {"Authorization": f"Bearer {other['token']}"}
    assert site.client.get("/api/v1/studies/essays", headers=headers).status_code == 200


WRONG_TIMES = [
    "0001-01-01T00:00:00Z",
    "9999-12-31T23:59:59-14:00",
    "10000-01-01T00:00:00Z",
    "2099-02-30T00:00:00Z",
    "2020-01-01T00:00:00Z",
    "2099-01-01T00:00:00",
    "2099-01-01",
    "soon",
    "0",
]


@pytest.mark.parametrize("expires_at", [0, 4102444800, "", *WRONG_TIMES])
def test_a_link_ends_in_the_future_or_is_refused(site, expires_at):
    owner = site.program("owner")
    before = len(owner.get("/links").json()["links"])
    response = owner.post("/links", {"role": "annotator", "expires_at": expires_at})
    assert response.status_code == 422
    assert "expires_at" in response.json()["detail"]
    assert len(owner.get("/links").json()["links"]) == before


def test_the_quality_of_annotators_is_that_of_the_study(site):
    owner = site.program("owner")
    assert owner.get("/annotators/quality").status_code == 422
    for name in ("Ann", "Bob"):
        browser = site.browser(name)
        for _ in range(4):
            browser.tell(browser.ask()[0])
    found = owner.get("/annotators/quality").json()
    assert found == site.study.annotator_quality().fields()
    assert [row["name"] for row in found["annotators"]] == ["Ann", "Bob"]
    assert found["annotators"][0]["coin"] is None
    assert found["annotators"][0]["answers"] == 4


def test_an_aim_is_a_rule_and_the_ordering_says_what_was_found_for_it(site):
    owner = site.program("owner")
    assert owner.get("/rules").json()["aim"] == ["order"]
    assert owner.get("/ordering").json()["selection"] is None
    first = site.study.items.ids[0]
    for wrong, status in (("top:2", 422), ([], 422), (["best"], 422), (["above:nothing"], 404), (["top:12"], 422)):
        assert owner.patch("/rules", {"aim": wrong}).status_code == status, wrong
    assert owner.patch("/rules", {"aim": ["top:2"]}).json()["aim"] == ["top:2"]
    answer_sensibly(site.study)
    found = owner.get("/ordering").json()
    assert found["selection"]["aim"] == ["top:2"]
    assert found["selection"]["measure"] == "recall"
    assert found["selection"]["wanted"] == 2
    assert [row["part"] for row in found["ordering"]][:3] == [1, 1, 2]
    assert all(0.0 <= row["membership"] <= 1.0 for row in found["ordering"])
    assert found["selection"]["expected"] == site.study.selection().right.estimate
    owner.patch("/rules", {"aim": [f"above:{first}"]})
    assert owner.get("/ordering").json()["selection"]["measure"] == "right side"


def test_a_study_with_an_aim_gets_the_rules_for_people_too(tmp_path):
    path = tmp_path / "aimed.db"
    Study.create(Items(list("abcd")), aim="top:1", storage=f"sqlite:///{path}").close()
    app = create_app([path], "a secret of sixteen letters or more", executor=lambda: ThreadPoolExecutor(1))
    try:
        rules = next(iter(app.state.authenticator.registry)).study.rules
        assert (rules.aim, rules.lease, rules.again) == (("top:1",), 600.0, False)
    finally:
        app.state.authenticator.registry.close()
