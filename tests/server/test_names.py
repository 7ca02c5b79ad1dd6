"""Who has which name: whoever gives it first by a shared link, or whom the owner made a link for."""

from __future__ import annotations

import sqlite3
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from ordinate.data.items import Items
from ordinate.server.served_study import WRITERS
from ordinate.server.signing import Session
from ordinate.study.study import Study

TAKEN = "Someone is already judging as &#39;Ann&#39;. If that is you, go on in the browser where you began"


def join(site: Any, token: str, name: str, browser: TestClient | None = None) -> Any:
    return (browser or TestClient(site.app)).post(f"/join/essays/{token}", data={"name": name})


def test_a_second_browser_does_not_go_on_under_a_name_of_the_first(site: Any) -> None:
    token = site.token()
    ann = site.browser("Ann", token=token)
    ann.tell(ann.ask()[0])
    for name in ("Ann", " ann ", "ANN"):
        refused = join(site, token, name)
        assert refused.status_code == 409
        assert TAKEN in refused.text
        assert 'name="name"' in refused.text, "the form is there for another name"
    assert site.browser("Bob", token=token).post("/undo").status_code == 409
    assert site.study.annotators() == {"Ann": 1}
    assert ann.post("/undo").status_code == 200


def test_a_name_is_taken_as_soon_as_it_is_given(site: Any) -> None:
    token = site.token()
    site.browser("Ann", token=token)
    assert join(site, token, "Ann").status_code == 409
    assert join(site, site.token(), "Ann").status_code == 409, "by whichever link"


def test_of_many_who_give_a_name_at_the_same_time_one_has_it(site: Any) -> None:
    token = site.token()
    with ThreadPoolExecutor(8) as threads:
        replies = list(threads.map(lambda _: join(site, token, "Ann").status_code, range(8)))
    assert sorted(replies) == [200] + [409] * 7


def test_whoever_comes_while_a_study_goes_is_told_to_try_again(site: Any) -> None:
    """It may be archived or deleted, or the server stops, after the link was found to be valid."""
    token, served = site.token(), site.served
    with ThreadPoolExecutor(WRITERS + 2) as threads, served.study._ledger._writing:
        # All writers wait for the file, so the last ones wait for a writer.
        coming = [threads.submit(join, site, token, f"person {number}") for number in range(WRITERS + 2)]
        while served._writers._work_queue.qsize() < 2:
            time.sleep(0.01)
        served._is_closed = True
        served._writers.shutdown(wait=False, cancel_futures=True)
        late = join(site, token, "late")
    statuses = sorted(one.result().status_code for one in coming)
    assert (statuses, late.status_code) == ([200] * WRITERS + [503] * 2, 503)
    assert "try again soon" in late.text


def test_the_same_browser_comes_back(build: Any) -> None:
    site = build()
    token = site.token()
    shared = TestClient(site.app)
    for name in ("Ann", "Bob", "Ann"):
        assert join(site, token, name, shared).status_code == 200, "several people may use one browser"
    assert shared.get("/api/v1/studies/essays").json()["your"]["name"] == "Ann"
    again = build()
    restarted = TestClient(again.app, cookies=shared.cookies)
    assert join(again, token, "bob", restarted).status_code == 200
    assert restarted.get("/api/v1/studies/essays").json()["your"]["name"] == "Bob"
    assert len([link for link in again.study.links() if link.annotator]) == 2


def test_whoever_did_not_hear_that_a_name_is_theirs_gives_it_again(site: Any) -> None:
    """The browser is known before it sends the form, so a response that was lost on its way locks nobody out."""
    path = f"/join/essays/{site.token()}"
    browser = TestClient(site.app)
    assert browser.get(path).status_code == 200
    lost = TestClient(site.app, cookies=browser.cookies)
    assert lost.post(path, data={"name": "Ann"}).status_code == 200
    assert browser.post(path, data={"name": "Ann"}).status_code == 200
    assert browser.get("/api/v1/studies/essays").json()["your"]["name"] == "Ann"


def test_each_of_hundreds_who_come_at_once_has_the_name_they_gave(tmp_path: Path) -> None:
    """While others write, somebody looks in from another program, and the file is locked again and again."""
    address, many = f"sqlite:///{tmp_path / 'essays.db'}", 400
    Study.create(Items([str(row) for row in range(60)]), storage=address).close()
    done = threading.Event()

    def lock() -> None:
        with closing(sqlite3.connect(tmp_path / "essays.db", isolation_level=None, timeout=30)) as other:
            while not done.wait(0.02):
                other.execute("BEGIN IMMEDIATE")
                done.wait(0.05)
                other.execute("COMMIT")

    def judge(study: Study) -> None:
        while not done.is_set():
            study.tell(study.ask("Olga").id, "left")

    with Study.open(address) as study, study.serving(), ThreadPoolExecutor(50) as threads:
        others = [threads.submit(lock), threads.submit(judge, study)]

        def claim(number: int) -> str | None:
            return study.claim_name(f"visitor {number}", lambda name, _: f"link of {name}", "shared").annotator

        try:
            assert list(threads.map(claim, range(many))) == [f"visitor {number}" for number in range(many)]
        finally:
            done.set()
        assert [one.result(60) for one in others] == [None, None]
    with Study.open(address) as study:
        assert sorted(link.id for link in study.links()) == sorted(f"link of visitor {n}" for n in range(many))


def test_whoever_makes_a_link_ends_what_began_with_the_shared_one(site: Any) -> None:
    """Answers of that browser are kept there until it opens the new link: 401 is what its page waits after."""
    token = site.token()
    somebody = site.browser("Ann", token=token)
    (query,) = somebody.ask()
    own = site.program("owner").post("/links", {"role": "annotator", "annotator": "ann"}).json()
    assert own["annotator"] == "Ann"
    for reply in (somebody.tell(query), somebody.post("/queries"), somebody.get("")):
        assert reply.status_code == 401
        assert "there is a link for you alone now" in reply.json()["detail"]
    assert join(site, token, "Ann", somebody.client).status_code == 401
    ann = site.browser("whatever", token=own["token"])
    assert ann.get("").json()["your"]["name"] == "Ann"
    assert ann.tell(query).status_code == 200


def test_a_session_of_an_older_version_goes_on_until_there_is_a_link_for_its_name(site: Any) -> None:
    link = site.study.make_link("annotator")
    signer, token = site.authenticator.signer, site.study.token
    signed, old = signer.link(token, link.id), signer.session(Session(token, link.id, "Ann"))
    (query,) = site.study.ask("Ann", 1)
    assert join(site, signed, "Ann").status_code == 409, "she has been asked"
    browser = TestClient(site.app, cookies={f"ordinate-{token}": old})
    headers = {"X-CSRF-Token": signer.form_token(old)}
    body = {"query": query.id, "answer": "left"}
    assert browser.post("/api/v1/studies/essays/answers", json=body, headers=headers).status_code == 200
    came = TestClient(site.app, cookies={f"ordinate-{token}": old})
    assert join(site, signed, "Ann", came).status_code == 200, "the earlier browser"
    site.token("annotator", "Ann")
    assert browser.get("/api/v1/studies/essays").status_code == 401


def test_revoking_the_shared_link_ends_the_sessions_of_those_who_gave_names(site: Any) -> None:
    link = site.study.make_link("annotator")
    ann = site.browser("Ann", token=site.authenticator.signer.link(site.study.token, link.id))
    (own,) = site.program("owner").get(f"/links/{link.id}/names").json()["names"]
    assert own["shared"] == link.id
    handed_out = site.browser("whatever", token=own["token"])
    assert handed_out.get("").json()["your"]["name"] == "Ann", "to go on with on another device"
    site.study.revoke_link(link.id)
    assert ann.get("").status_code == handed_out.get("").status_code == 401
    again = site.browser("Ann")
    assert again.get("").json()["your"]["name"] == "Ann", "the same browser, by the next shared link"
    site.study.revoke_link(next(one.id for one in site.study.links() if one.annotator == "Ann" and one.id != own["id"]))
    assert again.get("").status_code == 401
    assert join(site, site.token(), "Ann", again.client).status_code == 409


def test_a_program_does_not_speak_for_who_came_by_a_browser(site: Any) -> None:
    ann, program = site.browser("Ann"), site.program()
    ann.tell(ann.ask()[0])
    assert program.post("/undo", {"annotator": "ANN"}).status_code == 409
    assert program.post("/queries", {"annotator": "Ann"}).status_code == 409
    (query,) = program.ask(annotator="Dora")
    assert program.tell(query, annotator=" dora ").status_code == 200
    assert site.study.annotators() == {"Ann": 1, "Dora": 1}


def test_nobody_gives_names_without_end(build: Any) -> None:
    # The clock stands still: on a slow machine they would come slowly enough.
    site = build(limits={"requests_per_second": 0.5}, app={"clock": lambda: 0.0})
    token = site.token()
    replies = [join(site, token, f"Name {number}").status_code for number in range(30)]
    assert (replies[0], replies[-1]) == (200, 429)
    assert len(site.study.links()) == 1 + replies.count(200) < 30


@pytest.mark.parametrize("name", ["", "  ", "x" * 81, "\u202eAnn", "An\0n"])
def test_what_is_no_name_is_asked_for_again(site: Any, name: str) -> None:
    refused = join(site, site.token(), name)
    assert refused.status_code == 422
    assert 'role="alert"' in refused.text
    assert 'name="name"' in refused.text
    program = site.program().post("/queries", {"annotator": name})
    assert program.status_code == (200 if name == "" else 422)


def test_an_annotator_is_told_nobody_elses_name(site: Any) -> None:
    zoe, bob = site.browser("Zoe"), site.browser("Bob")
    (query,) = zoe.ask()
    zoe.tell(query)
    bob.ask()
    site.study.exclude_annotator("Bob")
    replies = [
        bob.post("/undo"),
        bob.post("/queries"),
        bob.tell(query),
        bob.post("/shown", {"query": query["id"]}),
        bob.post("/undo", {"key": "k"}),
        bob.get(""),
    ]
    assert [reply.status_code for reply in replies] == [409, 403, 403, 403, 409, 200]
    for reply in replies:
        assert "Zoe" not in reply.text
        assert "include them" not in reply.text
