"""Whoever leaves does not keep the last pairs, or the last answers of a budget, from those who wait."""

from __future__ import annotations

from typing import Any

import pytest

from ordinate.data.items import Items
from ordinate.server.served_study import PRESENT_SECONDS

ONE_PAIR = Items(["a", "b"])


class Clock:
    """Time that passes when a test says so; the rate limits of the server use it, too."""

    def __init__(self) -> None:
        self.time = 1000.0

    def __call__(self) -> float:
        return self.time


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def start(build: Any, clock: Clock) -> Any:
    def start(items: Items | None = None, **rules: Any) -> Any:
        return build(items, app={"clock": clock}, limits={"pair_seconds": 10.0}, **rules)

    return start


def ask(person: Any, tab: str | None = "tab") -> Any:
    return person.post("/queries", {"count": 1, "tab": tab}).json()


def pair(query: dict[str, Any]) -> set[str]:
    return {query["left"]["id"], query["right"]["id"]}


def test_the_last_pair_of_somebody_who_left_is_given_to_whoever_waits(start: Any, clock: Clock) -> None:
    site = start(ONE_PAIR)
    ann, bob = site.browser("Ann"), site.browser("Bob")
    (held,) = ask(ann)["queries"]
    assert ask(bob)["held"]
    clock.time += PRESENT_SECONDS - 1
    assert ask(bob)["held"], "Ann may still be there"
    clock.time += 2
    (given,) = ask(bob)["queries"]
    assert pair(given) == pair(held)
    late = ann.tell(held)
    assert late.status_code == 409
    assert "given to somebody else" in late.json()["detail"]
    assert bob.tell(given).json()["counts"]


def test_whoever_shows_that_they_are_there_keeps_the_pair(start: Any, clock: Clock) -> None:
    site = start(ONE_PAIR)
    ann, bob = site.browser("Ann"), site.browser("Bob")
    (held,) = ask(ann)["queries"]
    for _ in range(5):
        clock.time += PRESENT_SECONDS / 2
        assert ann.get("").status_code == 200
        assert ask(bob)["held"]
    assert ann.tell(held).json()["counts"]


def test_an_answer_that_comes_before_anybody_was_given_the_pair_counts(start: Any, clock: Clock) -> None:
    """Bob asks while pairs of his own are left, so nothing is taken from Ann."""
    site = start(Items(list("abcdefgh")))
    ann, bob = site.browser("Ann"), site.browser("Bob")
    (held,) = ask(ann)["queries"]
    clock.time += 2 * PRESENT_SECONDS
    (other,) = ask(bob)["queries"]
    assert pair(other) != pair(held)
    assert {query.annotator for query in site.study.open_queries()} == {"Ann", "Bob"}
    assert ann.tell(held).json()["counts"]


def test_the_last_answer_of_a_budget_is_not_kept_by_somebody_who_left(start: Any, clock: Clock) -> None:
    site = start(Items(list("abcdefgh")), budget=1)
    ann, bob = site.browser("Ann"), site.browser("Bob")
    (held,) = ask(ann)["queries"]
    assert ask(bob)["held"]
    clock.time += PRESENT_SECONDS + 1
    (given,) = ask(bob)["queries"]
    if pair(given) != pair(held):
        late = ann.tell(held)
        assert (late.status_code, late.json()["counts"]) == (200, False), "stored, and beyond the budget"
    assert bob.tell(given).json()["counts"]
    assert sum(site.study.annotators().values()) == 1


def test_a_link_that_was_revoked_keeps_nothing_for_long(start: Any, clock: Clock) -> None:
    site = start(ONE_PAIR)
    token = site.token()
    ann, bob = site.browser("Ann", token=token), site.browser("Bob")
    ask(ann)
    for link in site.study.links():
        if link.annotator == "Ann":
            site.study.revoke_link(link.id)
    clock.time += PRESENT_SECONDS / 2
    assert ann.get("").status_code == 401, "no sign of life"
    assert ask(bob)["held"]
    clock.time += PRESENT_SECONDS / 2 + 1
    assert len(ask(bob)["queries"]) == 1


def test_programs_show_no_sign_of_life_and_keep_their_pairs(start: Any, clock: Clock) -> None:
    site = start(ONE_PAIR)
    script, bob = site.program(annotator="Script"), site.browser("Bob")
    (held,) = ask(script, tab=None)["queries"]
    clock.time += 2 * PRESENT_SECONDS
    assert ask(bob)["held"]
    assert script.tell(held).json()["counts"]


def test_after_a_restart_everybody_has_the_time_to_show_that_they_are_there(start: Any, clock: Clock) -> None:
    (held,) = ask(start(ONE_PAIR).browser("Ann"))["queries"]
    clock.time += 2 * PRESENT_SECONDS
    site = start()
    bob = site.browser("Bob")
    assert ask(bob)["held"]
    clock.time += PRESENT_SECONDS + 1
    (given,) = ask(bob)["queries"]
    assert pair(given) == pair(held)


def test_of_a_study_that_may_have_other_servers_nothing_is_taken(start: Any, clock: Clock, monkeypatch: Any) -> None:
    site = start(ONE_PAIR)
    ask(site.browser("Ann"))
    monkeypatch.setattr("ordinate.server.served_study.SqliteFile", tuple)  # the study lies somewhere else
    clock.time += 2 * PRESENT_SECONDS
    assert ask(site.browser("Bob"))["held"]


def test_without_leases_a_pair_stays_with_its_annotator(start: Any, clock: Clock) -> None:
    site = start(ONE_PAIR, lease=None)
    ann, bob = site.browser("Ann"), site.browser("Bob")
    (held,) = ask(ann)["queries"]
    clock.time += 2 * PRESENT_SECONDS
    assert {query.annotator for query in site.study.open_queries()} == {"Ann"}
    ask(bob)
    assert ann.tell(held).json()["counts"]
