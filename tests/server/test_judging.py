"""What an annotator's page relies on: pairs, answers, undo, budgets, two tabs, expiry, keys."""

from __future__ import annotations

import sqlite3
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from ordinate.storage import timestamp
from ordinate.study import leases


def pair(query: dict[str, Any]) -> frozenset[str]:
    return frozenset((query["left"]["id"], query["right"]["id"]))


class Clock:
    """Stands still until the test moves it."""

    def __init__(self) -> None:
        self.time = datetime(2030, 1, 1, tzinfo=UTC)

    def __call__(self) -> str:
        return timestamp(self.time)

    def forward(self, seconds: float) -> None:
        self.time += timedelta(seconds=seconds)


@pytest.fixture
def clock() -> Clock:
    return Clock()


def test_a_person_judges(site: Any) -> None:
    ann = site.browser("Ann")
    first, second = ann.ask(2)
    assert first["left"]["text"] == f"The text of {first['left']['id']}"
    assert pair(first) != pair(second)
    told = ann.tell(first, "right", shown_at="2030-01-01T10:00:00Z", duration_ms=1200, client="page 1")
    assert told.json() == {
        "accepted": True,
        "counts": True,
        "practice": False,
        "your_answers": 1,
        "answers": 1,
        "next": [],
        "finished": None,
        "paused": False,
        "question_html": "<p>Which is better?</p>\n",
    }
    assert ann.ask() == [second]
    (comparison,) = site.study.comparisons()
    assert (comparison.left, comparison.outcome, comparison.annotator) == (first["left"]["id"], "right", "Ann")
    status = ann.get("").json()
    assert (status["answers"], status["your"]["answers"], status["open"]) == (1, 1, 1)


def test_an_answer_brings_the_next_pairs(site: Any) -> None:
    ann = site.browser()
    first, second = ann.ask(2)
    ann.ask(3)  # there is a third, so that one is ready or held
    following = ann.tell(first, count=2).json()["next"]
    assert following[0] == second
    assert len(following) == 2


def test_pages_hear_of_a_changed_question_with_pairs_and_answers(site: Any) -> None:
    ann = site.browser("Ann")
    (query,) = ann.ask()
    site.study.set_rules(question="Which is *clearer*?")
    changed = "<p>Which is <em>clearer</em>?</p>\n"
    assert ann.post("/queries").json()["question_html"] == changed
    assert ann.tell(query).json()["question_html"] == changed


def test_the_log_says_when_where_and_by_what(site: Any) -> None:
    ann = site.browser("Ann")
    (query,) = ann.ask(tab="tab 1")
    details = {"shown_at": "2030-01-01T10:00:00+02:00", "answered_at": "2030-01-01T08:00:03.5Z", "duration_ms": 3500}
    ann.tell(query, "skip", key="k", reason="both blurred", client="page 0.1", **details)
    connection = sqlite3.connect(site.served.path)
    connection.row_factory = sqlite3.Row
    asked, told = connection.execute("SELECT * FROM log WHERE query IS NOT NULL ORDER BY position").fetchall()
    connection.close()
    assert (asked["strategy"], asked["annotator"], asked["tab"]) == (
        "Greedy(utility=CurvaturePower(exponent=2))",
        "Ann",
        "tab 1",
    )
    assert asked["model"].startswith("Hybrid(")
    assert asked["based_on"] < asked["position"]
    assert asked["utility"] > 0
    assert (asked["left"], asked["right"]) == (query["left"]["id"], query["right"]["id"])
    assert dict(told) | {"reason": "both blurred", "client": "page 0.1", "key": "k", "duration_ms": 3500} == dict(told)
    assert told["shown_at"] == "2030-01-01T08:00:00.000+00:00"
    assert told["answered_at"] == "2030-01-01T08:00:03.500+00:00"


def test_nobody_gets_a_pair_that_another_holds(site: Any) -> None:
    people = [site.browser(name) for name in ("Ann", "Bob", "Cem")]
    held = [pair(query) for person in people for query in person.ask(20)]
    assert len(held) == len(set(held)) == 60
    assert len(people[0].ask(20)) == 20


def test_an_offer_does_not_stand_while_one_of_its_items_is_left_out(site: Any) -> None:
    (offer,) = site.study.choose(["Ann"])
    for item in (offer.left, offer.right):
        site.study.exclude_item(item)
        assert site.study.take("Ann", 1, [offer]) == []
        site.study.include_item(item)
    (taken,) = site.study.take("Ann", 1, [offer])
    assert (taken.query.left, taken.query.right) == (offer.left, offer.right)


def test_an_offer_to_somebody_else_serves_whom_its_pair_is_new_to(site: Any) -> None:
    study = site.study
    (offer,) = study.choose(["Ann"])
    (taken,) = study.take("Bob", 1, [offer])
    assert taken.query[1:] == (offer.left, offer.right, "Bob")
    study.tell(taken.query.id, "left")
    assert study.take("Bob", 1, [offer]) == [], "Bob knows it"
    shared = next(name for name in study.items.ids if name not in (offer.left, offer.right))
    assert study.take("Bob", 1, [offer._replace(left=shared)]) == [], "no item twice running, where others are as good"
    assert len(study.take("Cem", 1, [offer._replace(left=shared)])) == 1
    study.set_rules(again=True, variety=None)
    assert study.take("Bob", 1, [offer]) == [], "a pair comes again only to whom it was chosen for"
    assert len(study.take("Bob", 1, [offer._replace(annotator="Bob")])) == 1


def test_two_tabs_of_one_person_do_not_fight(site: Any) -> None:
    ann = site.browser("Ann")
    one, other = ann.ask(2, tab="one"), ann.ask(2, tab="other")
    assert not {query["id"] for query in one} & {query["id"] for query in other}
    assert ann.ask(2, tab="one") == one
    ann.tell(one[0], tab="one", count=2)
    assert ann.ask(2, tab="other") == other


def test_a_closed_tabs_pairs_go_to_another_tab_when_there_is_nothing_else(build: Any) -> None:
    site = build(annotator_budget=2)
    ann = site.browser("Ann")
    held = ann.ask(2, tab="closed")
    assert ann.ask(2, tab="new") == held


def test_a_closed_tabs_pairs_go_to_another_tab_when_no_pair_is_left(build: Any) -> None:
    from ordinate.data.items import Items

    site = build(Items(["a", "b", "c"]))
    ann = site.browser("Ann")
    for _ in range(3):
        (held,) = ann.ask(3, tab="closed")
        assert ann.ask(2, tab="new") == [held]
        ann.tell(held, tab="new")
    assert ann.post("/queries", {"tab": "new"}).json()["finished"] == "exhausted"


WAIT: dict[str, Any] = {
    "queries": [],
    "finished": None,
    "paused": False,
    "over": False,
    "held": True,
    "retry_after": 2,
    "question_html": "<p>Which is better?</p>\n",
}


def test_nobody_is_told_that_all_is_done_while_others_hold_the_last_pairs(build: Any) -> None:
    """Three pairs for three people, whose pages want five each: each has one at a time, until each has judged all."""
    from ordinate.data.items import Items

    site = build(Items(["a", "b", "c"]))
    people = {name: site.browser(name) for name in ("Ann", "Bob", "Cem")}
    held = {name: person.ask(5) for name, person in people.items()}
    assert [len(queries) for queries in held.values()] == [1, 1, 1]
    dora = site.browser("Dora")
    assert dora.post("/queries", {"count": 5}).json() == WAIT
    assert dora.post("/queries", {"count": 5}).headers["retry-after"] == "2"
    people["Dora"], held["Dora"] = dora, []
    judged: dict[str, set[frozenset[str]]] = {name: set() for name in people}
    for _ in range(12):
        for name, person in people.items():
            for query in held[name]:
                following = person.tell(query, count=5).json()
                judged[name].add(pair(query))
                assert following["finished"] is None, "others may hold one that is new"
                held[name] = following["next"]
            if not held[name]:
                reply = person.post("/queries", {"count": 5}).json()
                held[name] = reply["queries"]
                assert reply["queries"] or reply == (
                    {**WAIT, "finished": "exhausted", "held": False, "retry_after": None}
                    if len(judged[name]) == 3
                    else WAIT
                )
    assert all(len(pairs) == 3 for pairs in judged.values())


def test_nobody_is_told_that_the_budget_is_spent_while_others_give_its_last_answers(build: Any, clock: Clock) -> None:
    site = build(budget=2, lease=60.0)
    site.study._ledger.clock = clock
    ann, bob, cem = (site.browser(name) for name in ("Ann", "Bob", "Cem"))
    (first,), (second,) = ann.ask(5), bob.ask(5)
    assert cem.post("/queries", {"count": 5}).json() == WAIT
    assert ann.tell(first, count=5).json()["finished"] is None
    assert ann.post("/queries", {"count": 5}).json() == WAIT, "Bob may leave"
    clock.forward(61)
    (last,) = cem.ask(5)
    assert cem.tell(last).status_code == 200
    assert bob.tell(second).json()["counts"] is False
    for person in (ann, bob, cem):
        assert person.post("/queries").json()["finished"] == "total-budget"


def test_pairs_of_people_who_left_are_not_being_judged(build: Any) -> None:
    class Seconds:
        now = 0.0

        def __call__(self) -> float:
            return self.now

    seconds = Seconds()
    site = build(app={"clock": seconds})
    ann, bob, olga = site.browser("Ann"), site.browser("Bob"), site.browser("Olga", "owner")
    ann.ask(2)
    bob.ask(3)
    assert olga.get("").json()["open"] == 5
    seconds.now = 60.0
    bob.get("")  # his page looks how far the study is
    seconds.now = 120.0
    assert olga.get("").json()["open"] == 3
    assert len(site.study.open_queries()) == 5, "they stay theirs"
    ann.get("")
    assert olga.get("").json()["open"] == 5


def test_a_lease_ends_and_the_pair_goes_to_somebody_else(build: Any, clock: Clock) -> None:
    from ordinate.data.items import Items

    site = build(Items(["a", "b"]), lease=60.0)
    site.study._ledger.clock = clock
    ann, bob = site.browser("Ann"), site.browser("Bob")
    (held,) = ann.ask()
    assert bob.post("/queries").json() == WAIT
    clock.forward(61)
    (again,) = bob.ask()
    assert pair(again) == pair(held)
    late = ann.tell(held)
    assert late.status_code == 409
    assert "given to somebody else" in late.json()["detail"]
    assert bob.tell(again).status_code == 200
    assert ann.tell(held).status_code == 409


def test_a_late_answer_settles_the_pair_that_the_same_person_got_again(build: Any, clock: Clock) -> None:
    from ordinate.data.items import Items

    site = build(Items(["a", "b"]), lease=60.0)
    site.study._ledger.clock = clock
    ann = site.browser("Ann")
    (held,) = ann.ask(tab="one")
    clock.forward(61)
    (again,) = ann.ask(tab="other")
    assert (pair(again), again["id"] == held["id"]) == (pair(held), False)
    assert ann.tell(held, tab="one").json()["counts"]
    assert site.study.open_queries() == []
    twice = ann.tell(again, "right")
    assert twice.status_code == 409
    assert "was withdrawn" in twice.json()["detail"]
    assert [one.outcome for one in site.study.comparisons()] == ["left"]


def test_a_pair_that_the_same_person_answered_again_is_not_said_to_be_somebody_elses(build: Any, clock: Clock) -> None:
    from ordinate.data.items import Items

    site = build(Items(["a", "b"]), lease=60.0)
    site.study._ledger.clock = clock
    ann = site.browser("Ann")
    (held,) = ann.ask(tab="one")
    clock.forward(61)
    (again,) = ann.ask(tab="other")
    assert ann.tell(again).status_code == 200
    late = ann.tell(held)
    assert late.status_code == 409
    assert "you answered it again meanwhile" in late.json()["detail"]


def test_a_late_answer_counts_while_nobody_else_has_the_pair(build: Any, clock: Clock) -> None:
    site = build(lease=60.0)
    site.study._ledger.clock = clock
    ann = site.browser("Ann")
    (held,) = ann.ask()
    clock.forward(61)
    assert site.study.take("Bob", 1, []) == [], "he takes nothing, but it is noted that the lease has ended"
    assert site.study.open_queries() == []
    assert ann.tell(held).status_code == 200
    assert site.study.annotators() == {"Ann": 1}


def test_a_late_answer_counts_where_who_had_the_pair_next_skipped_it(build: Any, clock: Clock) -> None:
    from ordinate.data.items import Items

    site = build(Items(["a", "b"]), lease=60.0)
    site.study._ledger.clock = clock
    ann, bob = site.browser("Ann"), site.browser("Bob")
    (held,) = ann.ask()
    clock.forward(61)
    bob.tell(bob.ask()[0], "skip")
    assert ann.tell(held).status_code == 200
    assert site.study.annotators() == {"Ann": 1}


def test_a_pair_on_the_screen_keeps_its_lease(build: Any, clock: Clock) -> None:
    site = build(lease=60.0)
    site.study._ledger.clock = clock
    ann = site.browser("Ann")
    (held,) = ann.ask()
    clock.forward(20)
    assert ann.post("/shown", {"query": held["id"]}).json()["expires_at"] == held["expires_at"]
    clock.forward(20)
    renewed = ann.post("/shown", {"query": held["id"]}).json()["expires_at"]
    assert renewed == "2030-01-01T00:01:40.000+00:00"
    clock.forward(50)
    assert ann.ask() == [{**held, "expires_at": renewed}]


def test_a_skipped_pair_does_not_come_back_to_who_skipped_it(build: Any) -> None:
    from ordinate.data.items import Items

    site = build(Items(["a", "b"]))
    ann, bob = site.browser("Ann"), site.browser("Bob")
    ann.tell(ann.ask()[0], "skip", reason="cannot tell")
    assert ann.post("/queries").json()["finished"] == "exhausted"
    site.study.set_rules(again=True)
    assert ann.post("/queries").json()["finished"] == "exhausted"
    assert len(bob.ask()) == 1


def test_no_item_twice_in_a_row(build: Any) -> None:
    site = build(variety=0.0)
    ann = site.browser("Ann")
    before: frozenset[str] = frozenset()
    for _ in range(20):
        (query,) = ann.ask()
        assert not before & pair(query)
        before = pair(query)
        ann.tell(query)


def test_the_same_key_is_the_same_answer(site: Any) -> None:
    ann = site.browser("Ann")
    (query,) = ann.ask()
    assert ann.tell(query, "left", key="one").status_code == 200
    assert ann.tell(query, "left", key="one").json()["your_answers"] == 1
    assert ann.tell(query, "right", key="one").status_code == 422
    assert ann.tell(query, "left", key="two").status_code == 409
    (undone,) = (ann.post("/undo").json(),)
    assert (undone["was"], undone["query"]["id"]) == ("left", query["id"])
    assert ann.tell(query, "left", key="one").status_code == 200, (
        "sent again late: it was that answer, taken back since"
    )
    assert site.study.comparisons() == []
    assert ann.tell(query, "right", key="three").status_code == 200


def test_an_undo_that_names_its_answer_takes_no_other_back(site: Any) -> None:
    ann, bob = site.browser("Ann"), site.browser("Bob")
    first, second = ann.ask(2)
    ann.tell(first, "left", key="one")
    ann.tell(second, "right", key="two")
    assert bob.post("/undo", {"key": "one"}).status_code == 409, "it is not Bob's"
    undone = ann.post("/undo", {"key": "one"}).json()
    assert (undone["was"], undone["query"]["id"], undone["your_answers"]) == ("left", first["id"], 1)
    assert ann.post("/undo", {"key": "one"}).status_code == 409, "sent again it takes nothing else back"
    assert ann.tell(first, "right", key="three").json()["your_answers"] == 2
    assert ann.post("/undo", {"key": "one"}).status_code == 409
    assert ann.post("/undo", {"key": "never sent"}).status_code == 409
    assert ann.post("/undo", {"key": "three"}).json()["was"] == "right"


def test_answers_and_undo_tell_how_many_there_are(site: Any) -> None:
    ann, bob = site.browser("Ann"), site.browser("Bob")
    for number in (1, 2):
        told = bob.tell(bob.ask()[0]).json()
        assert (told["your_answers"], told["answers"]) == (number, number)
    assert ann.tell(ann.ask()[0], "skip").json()["answers"] == 2
    told = ann.tell(ann.ask()[0]).json()
    assert (told["your_answers"], told["answers"]) == (1, 3)
    undone = ann.post("/undo").json()
    assert (undone["your_answers"], undone["answers"]) == (0, 2)


def test_the_key_outlives_the_server(build: Any) -> None:
    site = build()
    (query,) = site.browser("Ann").ask()
    assert site.browser("Ann").tell(query, key="k").status_code == 200
    again = build()
    assert again.browser("Ann").tell(query, key="k").json()["your_answers"] == 1
    assert len(again.study.comparisons()) == 1


def test_undo_opens_the_pair_again_for_a_whole_lease(build: Any, clock: Clock) -> None:
    site = build(lease=60.0)
    site.study._ledger.clock = clock
    ann = site.browser("Ann")
    (query,) = ann.ask()
    ann.tell(query)
    clock.forward(100)
    undone = ann.post("/undo").json()["query"]
    assert undone["expires_at"] == "2030-01-01T00:02:40.000+00:00"
    assert ann.ask() == [undone]
    assert ann.post("/undo").status_code == 409


def test_undo_opens_a_pair_that_somebody_else_has_by_now(build: Any) -> None:
    """Both judge it, as two people may who are asked one after the other; meanwhile nobody else gets it."""
    from ordinate.data.items import Items

    site = build(Items(["a", "b"]))
    ann, bob, cem = (site.browser(name) for name in ("Ann", "Bob", "Cem"))
    (query,) = ann.ask()
    ann.tell(query, "left")
    (held,) = bob.ask()
    assert pair(held) == pair(query)
    undone = ann.post("/undo").json()["query"]
    assert ann.ask() == [undone]
    assert bob.ask() == [held]
    assert bob.tell(held, "left").status_code == 200
    assert cem.post("/queries").json() == WAIT
    assert ann.tell(undone, "right").status_code == 200
    assert site.study.annotators() == {"Ann": 1, "Bob": 1}
    assert len(cem.ask()) == 1


def test_budgets_end_the_questions(build: Any) -> None:
    site = build(annotator_budget=2, budget=3)
    ann, bob = site.browser("Ann"), site.browser("Bob")
    for _ in range(2):
        (query,) = ann.ask(5)
        ann.tell(query)
    assert ann.post("/queries").json() == {**WAIT, "finished": "budget", "held": False, "retry_after": None}
    assert ann.get("").json()["finished"] == "budget"
    (last,) = bob.ask(5)
    bob.tell(last)
    assert bob.post("/queries").json()["finished"] == "total-budget"
    status = bob.get("").json()
    assert (status["goal"], status["answers"], status["finished"]) == (3, 3, "total-budget")


def test_what_is_left_out_is_not_counted_and_asked_for_again(build: Any) -> None:
    site = build(budget=2)
    ann, bob, owner = site.browser("Ann"), site.browser("Bob"), site.program("owner")
    bad = bob.ask()[0]
    assert bob.tell(bad).json()["answers"] == 1
    assert ann.tell(ann.ask()[0]).json()["answers"] == 2
    assert owner.get("").json()["state"] == "finished"
    owner.post("/exclusions", {"annotator": "Bob"})
    status = owner.get("").json()
    assert (status["answers"], status["finished"], status["state"]) == (1, None, "running")
    (query,) = ann.ask()
    told = ann.tell(query).json()
    assert (told["answers"], told["your_answers"]) == (2, 2)
    assert ann.post("/undo").json()["answers"] == 1
    assert ann.tell(query).json()["answers"] == 2
    assert ann.post("/queries").json()["finished"] == "total-budget"


def test_budgets_hold_for_late_answers(build: Any, clock: Clock) -> None:
    """Five people hold a pair after another until its lease is over, and answer all of them at the end."""
    site = build(lease=1.0, budget=3, again=False)
    site.study._ledger.clock = clock
    people = {name: site.browser(name) for name in ("Ann", "Bob", "Cem", "Dora", "Emil")}
    held = []
    for _ in range(3):
        held += [(name, query) for name, person in people.items() for query in person.ask(3)]
        clock.forward(2)
    site.study.take("Fay", 1, [])
    assert len(held) > 8
    told = [people[name].tell(query, key=query["id"]) for name, query in held]
    assert [one.status_code for one in told] == [200] * len(held), "all are kept"
    assert [one.json()["counts"] for one in told] == [True] * 3 + [False] * (len(held) - 3)
    assert {one.json()["answers"] for one in told[2:]} == {3}
    again = people[held[-1][0]].tell(held[-1][1], key=held[-1][1]["id"]).json()
    assert (again["counts"], again["answers"]) == (False, 3)
    status = people["Ann"].get("").json()
    assert (status["answers"], status["goal"], status["finished"]) == (3, 3, "total-budget")
    assert len(site.study.comparisons()) == 3
    history = site.study.history()["status"]
    assert (history.count("counts"), history.count("beyond the budget")) == (3, len(held) - 3)
    reopened = build()
    assert (reopened.study.progress(None).total, len(reopened.study.comparisons())) == (3, 3)


def test_a_pause_gives_nothing_new_and_takes_what_is_open(build: Any) -> None:
    site = build()
    ann = site.browser("Ann")
    (query,) = ann.ask()
    site.study.set_rules(paused=True)
    assert ann.post("/queries", {"count": 2}).json() == {
        "queries": [query],
        "finished": None,
        "paused": False,
        "over": False,
        "held": False,
        "retry_after": None,
        "question_html": WAIT["question_html"],
    }
    assert ann.tell(query).status_code == 200
    assert ann.post("/queries").json() == {**WAIT, "paused": True, "held": False, "retry_after": None}
    assert ann.get("").json()["paused"] is True


def test_ties_only_where_the_owner_allows_them(build: Any) -> None:
    site = build(ties=False)
    ann = site.browser("Ann")
    (query,) = ann.ask()
    refused = ann.tell(query, "tie")
    assert refused.status_code == 422
    assert "ties are no answer" in refused.json()["detail"]
    assert ann.tell(query, "left").status_code == 200


def test_repeats_swap_the_sides_and_measure_agreement(build: Any) -> None:
    site = build(repeat=1.0)
    ann = site.browser("Ann")
    asked: dict[frozenset[str], dict[str, Any]] = {}
    repeated = 0
    for _ in range(leases.REPEAT_AFTER + 4):
        (query,) = ann.ask()
        if query["repeat"]:
            first = asked[pair(query)]
            assert (query["left"]["id"], query["right"]["id"]) == (first["right"]["id"], first["left"]["id"])
            ann.tell(query, "right" if repeated else "left")  # the first one disagrees
            repeated += 1
        else:
            asked[pair(query)] = query
            ann.tell(query, "left")
    assert repeated == 3
    assert site.study.agreement() == (2, 3)
    (row,) = site.program("owner").get("/annotators").json()["annotators"]
    assert (row["name"], row["repeats"], row["repeats_agreed"]) == ("Ann", 3, 2)


def test_others_pairs_are_not_mine_to_answer(site: Any) -> None:
    ann, bob = site.browser("Ann"), site.browser("Bob")
    (query,) = ann.ask()
    assert bob.tell(query).status_code == 403
    assert bob.post("/shown", {"query": query["id"]}).status_code == 403
    assert ann.tell(query).status_code == 200


def test_a_program_speaks_for_whom_it_names(site: Any) -> None:
    program = site.program()
    (query,) = program.ask(annotator="Dora")
    assert query["annotator"] == "Dora"
    assert program.tell(query).status_code == 403
    assert program.tell(query, annotator="Dora").status_code == 200
    assert site.program("owner").tell(program.ask(annotator="Emil")[0]).status_code == 200


def test_answers_of_the_excluded_are_not_asked_for(site: Any) -> None:
    ann = site.browser("Ann")
    first, second = ann.ask(2)
    ann.tell(first)
    site.study.exclude_annotator("Ann")
    refused = ann.post("/queries")
    assert (refused.status_code, refused.json()["detail"]) == (
        403,
        "the owner of the study asks you for no more answers; those that you gave are stored",
    )
    stored = ann.tell(second, count=2)
    assert (stored.status_code, stored.json()["your_answers"], stored.json()["next"]) == (200, 2, [])
