"""Single answers, as owners see them: of a person, with an item; taken back; and people who rest."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest


@pytest.fixture
def olga(site):
    return site.browser("Olga", "owner")


def give(person, *answers: str, **more: object) -> list[dict]:
    queries = []
    for answer in answers:
        (query,) = person.ask()
        assert person.tell(query, answer, **more).status_code == 200
        queries.append(query)
    return queries


def test_answers_come_newest_first_and_by_person_or_item(site, olga):
    ann, bob = site.browser("Ann"), site.browser("Bob")
    mine = give(ann, "left", "right", "skip", reason="blurred", duration_ms=1234)
    give(bob, "tie")
    found = olga.get("/answers").json()
    assert (found["total"], [one["annotator"] for one in found["answers"]]) == (4, ["Bob", "Ann", "Ann", "Ann"])
    of_ann = olga.get("/answers", params={"annotator": "ann", "limit": 2}).json()
    assert [one["query"] for one in of_ann["answers"]] == [mine[2]["id"], mine[1]["id"]]
    assert of_ann["answers"][0]["reason"] == "blurred"
    assert of_ann["answers"][1]["duration_ms"] == 1234
    rest = olga.get("/answers", params={"annotator": "Ann", "cursor": of_ann["next_cursor"]}).json()
    assert [one["query"] for one in rest["answers"]] == [mine[0]["id"]]
    item = mine[0]["left"]["id"]
    with_item = olga.get("/answers", params={"item": item}).json()["answers"]
    assert with_item
    assert all(item in (one["left"]["id"], one["right"]["id"]) for one in with_item)
    assert olga.get("/answers", params={"item": "nothing"}).status_code == 404
    unknown = olga.get("/answers", params={"annotator": "Anm"})
    assert (unknown.status_code, unknown.json()["detail"]) == (422, "nobody is called 'Anm'; 'Ann' is the nearest")


def test_a_surprise_is_the_chance_of_the_opposite_answer(site, olga):
    give(site.browser("Ann"), *["left"] * 20)
    assert {one["surprise"] for one in olga.get("/answers").json()["answers"]} == {None}
    scores = {row["item"]["id"]: row["score"] for row in olga.get("/ordering").json()["ordering"]}
    for one in olga.get("/answers").json()["answers"]:
        ahead = scores[one["left"]["id"]] - scores[one["right"]["id"]]
        assert one["surprise"] == pytest.approx(1 / (1 + 2.718281828459045**ahead), rel=1e-6)


def test_single_answers_are_taken_back_for_good(site, olga):
    ann = site.browser("Ann")
    first, second = give(ann, "left", "left")
    assert olga.post("/answers/discard", {"queries": [first["id"]]}).json() == {"discarded": 1}
    assert [one["query"] for one in olga.get("/answers").json()["answers"]] == [second["id"]]
    assert len(site.study.comparisons()) == 1
    assert first["id"] not in [query.id for query in site.study.open_queries()]
    again = olga.post("/answers/discard", {"queries": [second["id"], first["id"]]})
    assert again.status_code == 409
    assert len(site.study.comparisons()) == 1, "all or none"
    history = site.study.history()
    assert history["status"] == ["taken back", "counts"]


def test_all_answers_of_a_person_from_some_time_on_are_taken_back(site, olga):
    ann, bob = site.browser("Ann"), site.browser("Bob")
    give(ann, "left")
    give(bob, "left")
    (kept,) = site.study.given_answers(annotator="Ann")
    since = datetime.fromisoformat(kept[1].at) + timedelta(milliseconds=1)
    while datetime.now(UTC) <= since:
        pass
    give(ann, "left", "skip", "tie")
    body = {"annotator": "Ann", "since": since.isoformat()}
    assert olga.post("/answers/discard", body).json() == {"discarded": 3}
    assert [query.id for query, _ in site.study.given_answers(annotator="Ann")] == [kept[0].id]
    assert olga.post("/answers/discard", {"annotator": "Ann"}).json() == {"discarded": 1}
    assert site.study.annotators() == {"Bob": 1}


@pytest.mark.parametrize("body", [{}, {"queries": ["x"], "annotator": "Ann"}, {"since": "2030-01-01T00:00:00Z"}])
def test_what_is_taken_back_must_be_named(olga, body):
    assert olga.post("/answers/discard", body).status_code == 422


def test_whoever_rests_gets_no_pairs_and_their_answers_count(site, olga):
    ann, bob = site.browser("Ann"), site.browser("Bob")
    give(ann, "left")
    (held,) = ann.ask()
    assert olga.post("/annotators/rest", {"annotator": "ann"}).status_code == 200
    assert olga.get("/rules").json()["resting"] == ["Ann"]
    assert ann.tell(held).status_code == 200, "answers to open queries are taken"
    reply = ann.post("/queries", {"count": 1}).json()
    assert (reply["queries"], reply["paused"]) == ([], True)
    assert bob.ask()
    assert site.study.annotators()["Ann"] == 2
    assert olga.post("/annotators/rest", {"annotator": "Ann", "resting": False}).status_code == 200
    assert ann.ask()
    assert olga.post("/annotators/rest", {"annotator": "nobody"}).status_code == 422


def test_what_the_log_says_of_a_person(site, olga):
    ann = site.browser("Ann")
    for ms, answer in ((900, "left"), (1100, "right"), (5000, "left"), (3000, "tie"), (100, "skip")):
        give(ann, answer, duration_ms=ms)
    (row,) = olga.get("/annotators").json()["annotators"]
    assert (row["answers"], row["skips"], row["decided"], row["left"], row["median_ms"]) == (4, 1, 3, 2, 2050)
    assert row["last_answer"] == site.study.newest_answer.at
    assert not row["resting"]


def test_owners_see_how_many_answers_came_within_the_last_hour(site, olga):
    ann = site.browser("Ann")
    give(ann, "left", "skip", "tie")
    assert olga.get("").json()["last_hour"] == 2
    assert ann.get("").json()["last_hour"] is None
    assert site.study.answers_since(datetime.now(UTC) + timedelta(seconds=1)) == 0


def test_seats_limit_how_many_give_names(site):
    site.study.set_rules(seats=2)
    token = site.token()
    site.browser("Ann", token=token)
    site.browser("Bob", token=token)
    refused = site.client.post(f"/join/essays/{token}", data={"name": "Cy"})
    assert refused.status_code == 409
    assert "All 2 places" in refused.text
    assert site.browser("Ann", token=token).get("").status_code == 200, "whoever has a place comes back"
