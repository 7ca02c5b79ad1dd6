"""Nobody takes so much that the others go without: pairs, requests, failed attempts; and nothing is refused unasked."""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from fastapi import APIRouter
from fastapi.testclient import TestClient

from ordinate.data.items import Items
from ordinate.server.authentication import TheCaller
from ordinate.server.routes import StudyRoute
from ordinate.study.leases import MOST_HELD

MANY = Items([str(row) for row in range(60)])


def test_many_tabs_of_one_annotator_hold_no_more_than_one_may(build: Any) -> None:
    site = build(MANY, limits={"requests_per_second": 1000.0})
    ann = site.browser("Ann")
    with ThreadPoolExecutor(30) as threads:
        given = list(threads.map(lambda tab: ann.ask(20, tab=f"tab {tab}"), range(120)))
    assert all(given), "every tab has something to judge"
    assert len(site.study.open_queries()) == MOST_HELD
    assert {query["id"] for queries in given for query in queries} <= {one.id for one in site.study.open_queries()}
    assert len(site.browser("Bob").ask(20)) == 20


def test_answers_of_many_tabs_hold_no_more_than_one_may(build: Any) -> None:
    site = build(MANY, limits={"requests_per_second": 1000.0})
    ann = site.browser("Ann")
    held = ann.ask(20, tab="one") + ann.ask(20, tab="two")
    for query in held[:5]:
        assert ann.tell(query, tab="three", count=20).status_code == 200
    assert len(site.study.open_queries()) <= MOST_HELD


def test_one_link_holds_no_more_than_one_may(build: Any) -> None:
    site = build(MANY, limits={"open_per_link": 6})
    token = site.token()
    ann, bob = (site.browser(name, token=token) for name in ("Ann", "Bob"))
    mine = ann.ask(6)
    for _ in range(2):
        response = bob.post("/queries", {"count": 2})
        told = {"finished": None, "paused": False, "over": False, "held": False, "retry_after": 2}
        assert response.json() == {"queries": [], **told, "question_html": "<p>Which is better?</p>\n"}
        assert response.headers["retry-after"] == "2"
    assert ann.ask(6) == mine, "what is held stays"
    assert len(site.browser("Cem").ask(2)) == 2, "another link has its own share"
    assert ann.tell(mine[0], count=6).json()["next"] == mine[1:]
    assert len(bob.ask(1, tab="one")) == 1
    assert bob.post("/queries", {"count": 2, "tab": "other"}).json()["retry_after"] == 2


def test_what_a_link_holds_is_known_after_a_restart(build: Any) -> None:
    site = build(MANY, limits={"open_per_link": 6})
    token = site.token()
    held = site.browser("Ann", token=token).ask(6)
    olgas = site.token("annotator", "Olga")
    own = site.browser("Olga", token=olgas).ask(6)
    again = build(limits={"open_per_link": 6})
    assert again.browser("Bob", token=token).post("/queries").json()["retry_after"] == 2
    assert again.browser("Ann", token=token).ask(6) == held
    assert again.browser("Olga", token=olgas).ask(8, tab="other") == own
    assert len(again.browser("Cem").ask(2)) == 2


def test_whoever_comes_first_gets_a_random_pair_before_the_helper_is_up(build: Any) -> None:
    """Also where there is one pair only."""
    executor, go_on = ThreadPoolExecutor(1), threading.Event()
    executor.submit(go_on.wait, 60)
    site = build(Items(["a", "b"]), app={"executor": lambda: executor}, limits={"pair_seconds": 0.05})
    assert len(site.browser("Ann").ask(5)) == 1
    go_on.set()


def test_many_who_come_at_once_before_the_helper_is_up_all_get_a_pair(build: Any) -> None:
    executor, go_on = ThreadPoolExecutor(1), threading.Event()
    executor.submit(go_on.wait, 60)
    site = build(MANY, app={"executor": lambda: executor}, limits={"pair_seconds": 0.3})
    people = [site.browser(f"P{number}") for number in range(40)]
    with ThreadPoolExecutor(40) as threads:
        given = list(threads.map(lambda person: person.ask(2), people))
    go_on.set()
    assert all(given)
    held = [frozenset((one["left"]["id"], one["right"]["id"])) for queries in given for one in queries]
    assert len(set(held)) == len(held)


def test_a_class_behind_one_address_joins_at_once(site: Any) -> None:
    token = site.token()
    for number in range(100):
        site.browser(f"Pupil {number}", token=token)


def test_whoever_guesses_links_is_refused_and_keeps_nobody_else_out(build: Any) -> None:
    site = build(limits={"failures_per_second": 0.1})
    token, browser = site.token(), site.browser("Ann")
    paths = (
        "/join/essays/guess",
        "/judge/essays",
        "/api/v1/studies/essays",
        "/media/essays/0/image",
        "/api/v1/studies",
    )
    stranger = TestClient(site.app)
    statuses = [stranger.get(path).status_code for path in paths * 2]
    assert 429 in statuses
    refused = stranger.get("/join/essays/guess")
    assert refused.status_code == 429
    assert int(refused.headers["retry-after"]) >= 1
    # From the same address.
    assert browser.get("").status_code == 200
    assert site.browser("Bob", token=token).get("").status_code == 200
    assert site.program().get("").status_code == 200


def test_one_caller_has_a_few_requests_answered_at_a_time(build: Any) -> None:
    """The others of theirs wait, and other people's do not wait behind them."""
    site = build(MANY, limits={"requests_per_second": 1000.0, "at_once": 3})
    slow = APIRouter(prefix="/api/v1/studies/{study}", route_class=StudyRoute)
    running, most, others_came = Counter[str | None](), Counter[str | None](), asyncio.Event()

    @slow.get("/slow")
    async def wait(caller: TheCaller) -> None:
        name = caller.annotator
        running[name] += 1
        most[name] = max(most[name], running[name])
        if name != "Ann":
            others_came.set()
        await asyncio.wait_for(others_came.wait(), 60)
        running[name] -= 1

    site.app.include_router(slow)
    ann, bob = site.browser("Ann"), site.browser("Bob")
    with ThreadPoolExecutor(13) as threads:
        many = [threads.submit(ann.get, "/slow") for _ in range(12)]
        threading.Event().wait(0.5)
        assert bob.get("/slow").status_code == 200
        assert [one.result().status_code for one in many] == [200] * 12
    assert most == {"Ann": 3, "Bob": 1}
