"""Who an owner is, by a personal link or a proxy's header; what viewers may do; and that the log says who did what."""

from __future__ import annotations

import asyncio
import re
from typing import Any

import pytest
from fastapi.testclient import TestClient

from ordinate.server.connections import server
from ordinate.server.proxy_users import ProxyUsers


def test_a_viewer_has_the_page_of_results_and_no_other(site):
    vera = site.browser("Vera", "viewer")
    page = vera.client.get("/owner/essays")
    assert page.status_code == 200
    assert 'data-role="viewer"' in page.text
    assert "viewing" in page.text
    assert vera.client.get("/judge/essays").status_code == 403
    assert vera.client.get("/owner/essays/sheet").status_code == 403
    assert "/join/" not in page.text
    assert vera.client.post("/api/v1/studies", json={}, headers=vera.headers).status_code in (403, 422)
    assert vera.get("").json()["role"] == "viewer"
    named = site.client.get(f"/join/essays/{site.token('viewer', 'Walt')}").text
    assert "Walt" in named
    assert "See the results" in named


def test_the_log_says_who_created_a_study(site, tmp_path):
    body = {"name": "colours", "items": [{"id": "red"}, {"id": "blue"}], "rules": {"budget": 9}}
    oskar, olga = site.program("owner", "Oskar"), site.browser("Olga", "owner")
    for number, who in enumerate((oskar, olga)):
        made = who.client.post("/api/v1/studies", json={**body, "name": f"colours-{number}"}, headers=who.headers)
        assert made.status_code == 201, made.text
        study = site.authenticator.find_study(f"colours-{number}").study
        assert {change.by for change in study.changes()} == {["Oskar", "Olga"][number]}
        assert study.changes()[-1].what == "created the study"
        assert any(change.what == "set the rule budget to 9" for change in study.changes())


def test_a_viewers_link_becomes_no_owners(site):
    """Neither a session with the owner's cookie name nor a link of another role goes through."""
    vera = site.browser("Vera", "viewer")
    link = next(link for link in site.study.links() if link.role == "viewer")
    signed = site.authenticator.signer.link(site.study.token, link.id)
    assert vera.post("/links", {"role": "owner"}).status_code == 403
    assert vera.patch("/rules", {"paused": True}).status_code == 403
    site.study.revoke_link(link.id)
    assert vera.get("/ordering").status_code == 401
    assert site.client.get(f"/join/essays/{signed}").status_code == 401


def test_the_log_says_which_owner_did_what(site):
    olga, oskar = site.browser("Olga", "owner"), site.program("owner", "Oskar")
    ann = site.browser("Ann")
    for query in ann.ask(2):
        ann.tell(query)
    olga.post("/exclusions", {"item": "item 03"})
    oskar.post("/exclusions", {"item": "item 03", "excluded": False})
    oskar.patch("/rules", {"budget": 70})
    olga.post("/annotators/rest", {"annotator": "Ann"})
    olga.post("/answers/discard", {"annotator": "Ann"})
    made = olga.post("/links", {"role": "viewer", "annotator": "Vera"}).json()
    olga.post(f"/links/{made['id']}/revoke")
    found = [(one["by"], one["what"]) for one in olga.get("/changes").json()["changes"]]
    assert found[:7] == [
        ("Olga", "revoked the link for the viewer Vera"),
        ("Olga", "made the link for the viewer Vera"),
        ("Olga", "took back the answers of Ann to 2 pairs"),
        ("Olga", "set the rule resting to Ann"),
        ("Oskar", "set the rule budget to 70"),
        ("Oskar", "took the item item 03 in again"),
        ("Olga", "left out the item item 03"),
    ]
    assert found[-1] == (None, "created the study")
    paged = olga.get("/changes?limit=1&cursor=1").json()
    assert [one["what"] for one in paged["changes"]] == ["made the link for the viewer Vera"]


def test_answers_by_an_owners_program_are_no_changes_but_its_taking_back_is(site):
    oskar = site.program("owner", "Oskar")
    (query,) = oskar.ask(annotator=None)
    oskar.post("/shown", {"query": query["id"]})
    oskar.tell(query)
    assert oskar.get("/changes").json()["changes"][0]["what"] == "made the link for the owner Oskar"
    oskar.post("/undo", {})
    assert oskar.get("/changes").json()["changes"][0]["by"] == "Oskar"
    oskar.tell(query)
    assert site.study.owners == {"Oskar"}
    mine = site.browser("Olga", "owner")
    (query,) = mine.ask()
    mine.tell(query)
    who = [one["by"] for one in mine.get("/changes").json()["changes"]]
    assert (who.count("Oskar"), who.count("Olga")) == (1, 0), "judging is no change by an owner"


def test_people_of_two_owners_in_one_transaction_are_told_apart(site):
    from concurrent.futures import ThreadPoolExecutor

    owners = [site.program("owner", f"Owner {number}") for number in range(6)]

    def leave_out(number: int) -> int:
        found = owners[number].post("/exclusions", {"item": f"item {number:02}"}).status_code
        return int(found)

    with ThreadPoolExecutor(6) as pool:
        assert set(pool.map(leave_out, range(6))) == {200}
    changes = owners[0].get("/changes").json()["changes"][:6]
    assert {(one["by"], one["what"]) for one in changes} == {
        (f"Owner {number}", f"left out the item item {number:02}") for number in range(6)
    }


# A proxy that says who somebody is -----------------------------------------------------------------------------------

PROXY, STRANGER = "10.1.2.3", "192.0.2.9"


def through(site: Any, address: str, user: str | None, **headers: str) -> TestClient:
    app: Any = ProxyUsers(site.app, "x-remote-user", ["10.1.2.0/24"])
    given = {} if user is None else {"X-Remote-User": user}
    client = TestClient(app, client=(address, 5000), headers={**given, **headers}, raise_server_exceptions=False)
    client.portal = site.client.portal
    return client


def test_whom_a_named_proxy_names_has_the_role_of_their_link(site):
    for role, name in (("owner", "Olga"), ("viewer", "Vera"), ("annotator", "Ann")):
        site.study.make_link(role, name)
    for name, role in (("Olga", "owner"), ("Vera", "viewer"), ("Ann", "annotator")):
        status = through(site, PROXY, name).get("/api/v1/studies/essays")
        assert (status.json()["role"], status.json()["your"]["name"]) == (role, name)
    olga = through(site, PROXY, "Olga")
    page = olga.get("/owner/essays").text
    (token,) = re.findall('data-csrf="([^"]+)"', page)
    address = "/api/v1/studies/essays/exclusions"
    assert olga.post(address, json={"item": "item 01"}).status_code == 403, "a page of another site could send this"
    assert olga.post(address, json={"item": "item 01"}, headers={"X-CSRF-Token": token}).status_code == 200
    assert site.study.changes()[0].by == "Olga"
    vera = through(site, PROXY, "Vera")
    assert vera.post(address, json={"item": "item 02"}, headers={"X-CSRF-Token": token}).status_code == 403


@pytest.mark.parametrize("user", ["olga", "Mallory", "owner", "", " ", "x" * 5000])
def test_a_name_without_a_link_has_no_role(site, user):
    site.study.make_link("owner", "Olga")
    site.study.make_link("owner", "owner", name="owner")  # as `ordinate serve` does
    site.study.make_link("annotator", name="shared")
    response = through(site, PROXY, user).get("/api/v1/studies/essays")
    assert response.status_code == 401


def test_a_header_from_anybody_else_is_nothing(site):
    site.study.make_link("owner", "Olga")
    for one in (
        through(site, STRANGER, "Olga"),
        through(site, STRANGER, "Olga", **{"X-Forwarded-For": PROXY}),
        through(site, STRANGER, "Olga", Forwarded=f"for={PROXY}"),
        through(site, STRANGER, None, X_Remote_User="Olga"),
        through(site, PROXY, None, X_Remote_User="Olga"),
        through(site, "not an address", "Olga"),
        TestClient(site.app, headers={"X-Remote-User": "Olga"}),
    ):
        assert one.get("/api/v1/studies/essays").status_code == 401
        assert one.get("/owner/essays").status_code == 401


def test_a_proxy_names_one_user(site):
    site.study.make_link("owner", "Olga")
    site.study.make_link("viewer", "Vera")
    both = [("X-Remote-User", "Vera"), ("x-remote-user", "Olga")]
    assert through(site, PROXY, None).get("/api/v1/studies/essays", headers=both).status_code == 400
    scope = {"type": "http", "client": (PROXY, 5000), "headers": [(b"x-remote-user", b"\xff")]}
    sent: list[dict[str, Any]] = []

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    asyncio.run(ProxyUsers(site.app, "x-remote-user", [PROXY])(scope, None, send))  # type: ignore[arg-type]
    assert sent[0]["status"] == 400


def test_a_role_ends_with_the_link(site):
    link = site.study.make_link("owner", "Olga")
    olga = through(site, PROXY, "Olga")
    assert olga.get("/owner/essays").status_code == 200
    site.study.make_link("viewer", "Olga")
    assert olga.get("/api/v1/studies/essays").json()["role"] == "viewer", "the newest one says what somebody is now"
    site.study.revoke_link(next(one.id for one in site.study.links() if one.role == "viewer"))
    assert olga.get("/api/v1/studies/essays").json()["role"] == "owner", "the older one holds, as deploy.md says"
    site.study.revoke_link(link.id)
    assert olga.get("/owner/essays").status_code == 401


def test_who_keeps_another_link_is_named_when_one_is_revoked(site):
    first, second = site.study.make_link("owner", "Olga"), site.study.make_link("viewer", "Olga")
    owner = site.program("owner")
    assert [one["id"] for one in owner.post(f"/links/{second.id}/revoke").json()["others"]] == [first.id]
    assert owner.post(f"/links/{first.id}/revoke").json()["others"] == []


def left_behind(site: Any, name: str, **more: str) -> dict[str, str]:
    """The cookies of a browser in which this annotator judged."""
    before = site.browser(name, token=site.token("annotator", name))
    return {key: value for key, value in before.client.cookies.items() if key.startswith("ordinate-")} | more


def test_whom_a_proxy_names_is_not_whose_session_was_left_in_the_browser(site):
    cookies = left_behind(site, "Ann")
    site.study.make_link("annotator", "Vera")
    vera, nobody = through(site, PROXY, "Vera"), through(site, PROXY, "Walt")
    vera.cookies.update(cookies)
    nobody.cookies.update(cookies)
    assert vera.get("/api/v1/studies/essays").json()["your"]["name"] == "Vera"
    assert vera.get("/judge/essays").status_code == 200
    assert nobody.get("/api/v1/studies/essays").json()["your"]["name"] == "Ann", "who opened a link and has no other"


def test_a_revoked_session_does_not_keep_out_whom_a_proxy_names(site):
    old = site.study.make_link("annotator", "Vera")
    signed = site.authenticator.signer.link(site.study.token, old.id)
    cookies = site.browser("Vera", token=signed).client.cookies
    site.study.make_link("annotator", "Vera")
    site.study.revoke_link(old.id)
    vera = through(site, PROXY, "Vera")
    vera.cookies.update(cookies)
    assert vera.get("/api/v1/studies/essays").status_code == vera.get("/judge/essays").status_code == 200


def test_the_owner_of_the_server_is_one_whatever_a_proxy_says(site):
    site.study.make_link("annotator", "Olga")
    olga = through(site, PROXY, "Olga")
    olga.cookies.set("ordinate-server", site.authenticator.signer.server_session())
    assert olga.get("/owner/essays").status_code == olga.get("/judge/essays").status_code == 200
    assert olga.get("/api/v1/studies/essays").json()["role"] == "annotator", "where she judges"


def test_a_viewer_by_proxy_who_owns_the_server_judges(site):
    site.study.make_link("viewer", "Olga")
    olga = through(site, PROXY, "Olga")
    olga.cookies.set("ordinate-server", site.authenticator.signer.server_session())
    assert olga.get("/owner/essays").status_code == olga.get("/judge/essays").status_code == 200


@pytest.mark.parametrize("role", ["owner", "viewer"])
def test_a_role_goes_to_no_name_that_differs_in_case(site, role):
    ann = site.browser("olga")
    ann.tell(ann.ask()[0])
    owner = site.program("owner")
    refused = owner.post("/links", {"role": role, "annotator": "Olga"})
    assert refused.status_code == 422
    assert "'olga' already" in refused.json()["detail"]
    assert through(site, PROXY, "olga").get("/api/v1/studies/essays").status_code == 401
    assert owner.post("/links", {"role": role, "annotator": " olga "}).status_code == 201
    assert owner.post("/links", {"role": "annotator", "annotator": "OLGA"}).status_code == 422, (
        "it would be a role less"
    )
    assert owner.post("/links/many", {"annotators": ["OLGA"]}).status_code == 422
    assert site.study.make_link("owner", "Owner", name="owner").annotator == "Owner"


def test_a_viewers_link_is_none_to_judge_by(site):
    site.study.make_link("viewer", "Ann")
    made = site.program("owner").post("/links/many", {"annotators": ["Ann"]}).json()["links"]
    assert [one["role"] for one in made] == ["annotator"]


@pytest.mark.parametrize("role", ["owner", "viewer"])
def test_a_link_of_another_role_leaves_judging_by_the_shared_one(site, role):
    ann = site.browser("Ann")
    (query,) = ann.ask()
    site.study.make_link(role, "Ann")
    assert ann.tell(query).status_code == ann.get("").status_code == 200
    assert site.program().post("/queries", {"annotator": "Ann"}).status_code == 409


@pytest.mark.parametrize(("proxy", "address"), [("127.0.0.1", "::ffff:127.0.0.1"), ("10.1.2.0/24", "::ffff:10.1.2.3")])
def test_a_proxy_of_ipv4_is_known_where_the_server_listens_at_ipv6(site, proxy, address):
    site.study.make_link("owner", "Olga")
    app: Any = server(site.app, [proxy], "X-Remote-User").config.app
    for client, status in ((address, 200), ("::ffff:192.0.2.9", 401), ("::1", 401)):
        olga = TestClient(app, client=(client, 5000), headers={"X-Remote-User": "Olga"})
        olga.portal = site.client.portal
        assert olga.get("/api/v1/studies/essays").status_code == status


def test_a_name_is_the_same_however_a_proxy_writes_its_letters(site):
    site.study.make_link("owner", "Zo\u00eb")
    decomposed: Any = "Zoe\u0308".encode()
    assert through(site, PROXY, decomposed).get("/api/v1/studies/essays").json()["role"] == "owner"
