"""What SECURITY.md promises, one test each, but for media (test_media.py) and the command (tests/cli/test_serve.py)."""

from __future__ import annotations

import json
import re
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from html import unescape
from html.parser import HTMLParser
from typing import Any
from urllib.parse import quote

import pytest
from fastapi.testclient import TestClient
from itsdangerous import URLSafeSerializer

from ordinate.data.items import Items
from ordinate.server.markdown import rendered
from ordinate.server.signing import LinkSigner, Session, secret_in

HOSTILE = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "'; DROP TABLE log; --",
    '" OR 1=1 --',
    "{{ 7 * 7 }}${7*7}",
    "../../../../etc/passwd",
    "javascript:alert(1)",
    "%00%0d%0aSet-Cookie: a=b",
    "\u202egpj.exe",
]


# Links and sessions ----------------------------------------------------------------------------------------------


def test_a_link_opens_its_own_study_only(site):
    token = site.token()
    assert site.client.get(f"/join/essays/{token}").status_code == 200
    other = LinkSigner("a secret of these tests").link("abcdef", "annotator")
    assert site.client.get(f"/join/essays/{other}").status_code == 401
    assert site.client.get(f"/join/nowhere/{token}").status_code == 404


def test_forged_links_are_refused(site):
    token = site.token("owner")
    signed, _, signature = token.rpartition(".")
    assert len(signature) == 27, "160 bits in base64: of the last letter two bits say nothing"
    forged = [
        f"{signed}.{'B' if signature[0] == 'A' else 'A'}{signature[1:]}",
        LinkSigner("another secret, long enough").link(site.study.token, "owner"),
        URLSafeSerializer("a secret of these tests").dumps([site.study.token, "owner"]),  # signed for something else
        json.dumps([site.study.token, "owner"]),
        "x",
        "x" * 100_000,
    ]
    for one in forged:
        if len(one) < 10_000:
            assert site.client.get(f"/join/essays/{quote(one, safe='')}").status_code == 401, one[:50]
        headers = {"Authorization": f"Bearer {one}"}
        assert site.client.get("/api/v1/studies/essays", headers=headers).status_code == 401, one[:50]


def test_a_link_that_the_study_does_not_know_is_refused(site):
    signed = site.authenticator.signer.link(site.study.token, "never-made")
    assert site.client.get(f"/join/essays/{signed}").status_code == 401


def test_a_revoked_link_ends_its_sessions_and_tokens(site):
    link = site.study.make_link("annotator")
    token = site.authenticator.signer.link(site.study.token, link.id)
    browser = site.browser("Ann", token=token)
    assert browser.get("").status_code == 200
    owner = site.browser("Olga", "owner")
    revoked = owner.post(f"/links/{link.id}/revoke").json()
    assert revoked["revoked"] is True
    assert revoked["url"] is revoked["token"] is None
    assert browser.get("").status_code == 401
    assert browser.post("/queries").status_code == 401
    assert browser.client.get("/judge/essays").status_code == 401
    assert "revoked" in site.client.get(f"/join/essays/{token}").text
    assert site.client.get("/api/v1/studies/essays", headers={"Authorization": f"Bearer {token}"}).status_code == 401


def test_an_expired_link_is_refused(site):
    past, future = (datetime.now(UTC) + timedelta(seconds=seconds) for seconds in (-1, 60))
    assert site.client.get(f"/join/essays/{site.token(expires_at=past)}").status_code == 401
    assert site.client.get(f"/join/essays/{site.token(expires_at=future)}").status_code == 200


def test_a_session_is_no_link_and_a_link_no_session(site):
    signer, token = site.authenticator.signer, site.study.token
    session = signer.session(Session(token, "owner", "Olga"))
    assert signer.read_link(session) is None
    site.token("owner", name="owner")
    visitor = TestClient(site.app, cookies={f"ordinate-{token}": signer.link(token, "owner")})
    assert visitor.get("/api/v1/studies/essays").status_code == 401
    forged = signer.session(Session("abcdef", "owner", "Olga"))
    visitor = TestClient(site.app, cookies={f"ordinate-{token}": forged})
    assert visitor.get("/api/v1/studies/essays").status_code == 401


def test_cookies_are_kept_from_scripts_and_other_sites(site):
    form: dict[str, Any] = {"data": {"name": "Ann"}, "follow_redirects": False}
    plain = site.client.post(f"/join/essays/{site.token()}", **form).headers["set-cookie"]
    assert "HttpOnly" in plain
    assert "SameSite=lax" in plain
    assert "Secure" not in plain
    form = {"data": {"name": "Bob"}, "follow_redirects": False}
    with TestClient(site.app, base_url="https://testserver") as safe:
        response = safe.post(f"/join/essays/{site.token()}", **form)
    cookies = response.headers.get_list("set-cookie")
    assert len(cookies) == 2
    assert all("Secure" in cookie and "HttpOnly" in cookie for cookie in cookies)
    assert response.headers["strict-transport-security"]


def test_a_name_with_a_link_of_its_own_is_not_to_be_taken(site):
    site.token("annotator", "Ann")
    shared = site.token()
    refused = TestClient(site.app).post(f"/join/essays/{shared}", data={"name": "Ann"})
    assert refused.status_code == 409
    own = site.browser("whatever they type", token=site.token("annotator", "Ann"))
    assert own.get("").json()["your"]["name"] == "Ann"
    assert own.post("/queries", {"annotator": "Bob"}).status_code == 403


def test_a_program_with_a_shared_link_does_not_speak_for_a_name_with_a_link_of_its_own(site):
    shared = site.program()
    (query,) = shared.ask(annotator="Ann")
    site.token("annotator", "Ann")
    assert shared.post("/queries", {"annotator": "Ann"}).status_code == 409
    assert shared.tell(query, annotator="Ann").status_code == 409
    status = shared.client.get("/api/v1/studies/essays", headers={**shared.headers, "X-Annotator": "Ann"})
    assert status.status_code == 409
    assert shared.post("/undo", {"annotator": "Ann"}).status_code == 409
    assert site.study.annotators() == {}
    assert site.program("annotator", "Ann").tell(query).status_code == 200
    assert site.program("owner").ask(annotator="Ann")


def test_the_secret_is_for_its_owner_alone(tmp_path):
    path = tmp_path / "secret"
    secret = secret_in(path)
    assert len(secret) >= 32
    assert path.stat().st_mode & 0o777 == 0o600
    assert secret_in(path) == secret
    path.chmod(0o644)
    with pytest.raises(ValueError, match="chmod 600"):
        secret_in(path)
    with pytest.raises(ValueError, match="at least 16"):
        LinkSigner("short")


def test_a_copy_of_the_study_opens_no_server(site):
    token = site.token("owner")
    site.browser("Olga", "owner", token=token)
    stored = b"".join(path.read_bytes() for path in site.served.path.parent.glob("essays.db*"))
    assert b"item 00" in stored
    for secret in ("a secret of these tests", token, token.rpartition(".")[2]):
        assert secret.encode() not in stored


# Roles -----------------------------------------------------------------------------------------------------------

OWNERS = [
    ("GET", "/ordering", None),
    ("GET", "/comparisons", None),
    ("GET", "/items", None),
    ("POST", "/items", {"items": [{"id": "x"}]}),
    ("GET", "/links", None),
    ("GET", "/links/annotator/names", None),
    ("POST", "/links", {"role": "owner"}),
    ("POST", "/links/annotator/revoke", None),
    ("GET", "/links/annotator/qr.svg", None),
    ("GET", "/rules", None),
    ("PATCH", "/rules", {"paused": True}),
    ("GET", "/annotators", None),
    ("GET", "/annotators/quality", None),
    ("GET", "/warnings", None),
    ("POST", "/exclusions", {"annotator": "Ann"}),
    ("GET", "/export/ordering.{kind}", None),
    ("GET", "/export/comparisons.{kind}", None),
    ("GET", "/export/history.{kind}", None),
    ("GET", "/export/links.{kind}", None),
    ("POST", "/links/many", {"annotators": ["Ann"]}),
    ("GET", "/events", None),
    ("GET", "/forecast", None),
    ("GET", "/answers", None),
    ("POST", "/answers/discard", {"annotator": "Ann"}),
    ("POST", "/annotators/rest", {"annotator": "Ann"}),
    ("GET", "/check", None),
    ("GET", "/machines", None),
    ("POST", "/machines", {"annotator": "m", "model": "m", "prompt": "0" * 64}),
    ("GET", "/changes", None),
    ("GET", "/export/report.html", None),
    ("GET", "/compare?left=item 00&right=item 01", None),
]


def test_annotators_do_not_do_what_owners_do(site):
    annotators, stranger = (site.browser("Ann"), site.program()), TestClient(site.app)
    for method, path, body in OWNERS:
        address = f"/api/v1/studies/essays{path.format(kind='csv')}"
        for who in annotators:
            response = who.client.request(method, address, json=body, headers=who.headers)
            assert response.status_code == 403, (method, path)
        assert stranger.request(method, address, json=body).status_code == 401, (method, path)
    assert site.browser("Bob").client.get("/owner/essays").status_code == 403


SEES = {
    "/ordering",
    "/comparisons",
    "/items",
    "/rules",
    "/annotators",
    "/annotators/quality",
    "/warnings",
    "/export/ordering.{kind}",
    "/export/comparisons.{kind}",
    "/export/history.{kind}",
    "/forecast",
    "/answers",
    "/check",
    "/changes",
    "/events",
    "/export/report.html",
    "/compare?left=item 00&right=item 01",
}
"""What viewers may read. Whatever is not here is for owners: a route that is added is closed to viewers at first."""
JUDGING: list[tuple[str, str, Any]] = [
    ("POST", "/queries", {}),
    ("POST", "/answers", {}),
    ("POST", "/shown", {}),
    ("POST", "/undo", {}),
]


def test_viewers_see_results_and_write_nothing(site):
    site.browser("Ann").tell(site.browser("Ann").ask()[0])
    site.study.make_link("annotator", name="annotator")
    viewers = [site.browser("Vera", "viewer"), site.program("viewer"), site.program("viewer", "Walt")]
    before = site.study.entries
    # The stream of events never ends; its route is of the same class.
    for method, path, body in (row for row in (*OWNERS, *JUDGING) if row[1] != "/events"):
        for who in viewers:
            address = f"/api/v1/studies/essays{path.format(kind='csv')}"
            status = who.client.request(method, address, json=body, headers=who.headers).status_code
            assert status == (200 if method == "GET" and path in SEES else 403), (method, path)
    assert site.study.entries == before


def test_every_route_that_is_not_for_annotators_is_in_this_list(site):
    paths = site.client.get("/api/v1/openapi.json").json()["paths"]
    prefix = "/api/v1/studies/{study}"
    known = {"", "/queries", "/answers", "/shown", "/undo"}
    known |= {row[1].partition("?")[0].replace("annotator/", "{link}/") for row in OWNERS}
    assert {path.removeprefix(prefix) for path in paths if path.startswith(prefix)} == known


def test_annotators_create_no_studies(site):
    body = {"name": "mine", "items": [{"id": "a"}, {"id": "b"}]}
    for who, status in ((site.program(), 403), (site.browser("Ann"), 403), (site.program("owner"), 201)):
        assert who.client.post("/api/v1/studies", json=body, headers=who.headers).status_code == status
    assert TestClient(site.app).post("/api/v1/studies", json=body).status_code == 401


# Other sites -----------------------------------------------------------------------------------------------------


def test_a_write_by_cookie_needs_the_token_of_the_page(site):
    ann, bob = site.browser("Ann"), site.browser("Bob")
    for headers in ({}, {"X-CSRF-Token": ""}, {"X-CSRF-Token": "guess"}, bob.headers):
        for method, path in (("POST", "/queries"), ("POST", "/answers"), ("POST", "/undo"), ("PATCH", "/rules")):
            response = ann.client.request(method, f"/api/v1/studies/essays{path}", json={}, headers=headers)
            assert response.status_code == 403, (headers, path)
    assert site.study.open_queries() == []


def test_a_page_whose_session_was_replaced_is_told_so_and_shows_nothing_of_the_other_person(site):
    ann = site.browser("Ann")
    ann.client.post(f"/join/essays/{site.token()}", data={"name": "Bob"})
    for response in (ann.get(""), ann.post("/queries"), ann.post("/shown", {"query": "x"})):
        told = response.json()
        assert (response.status_code, told["type"]) == (403, "urn:ordinate:OtherSession")
        assert told["detail"].startswith("another link was opened in this browser")
    assert ann.client.get("/api/v1/studies/essays").json()["your"]["name"] == "Bob", "without a page's token"


@pytest.mark.parametrize("origin", ["https://evil.example", "null", "http://testserver.evil.example"])
def test_requests_from_pages_of_other_sites_are_refused(site, origin):
    ann = site.browser("Ann")
    assert ann.post("/queries", headers={"Origin": origin}).status_code == 403
    joined = site.client.post(f"/join/essays/{site.token()}", data={"name": "x"}, headers={"Origin": origin})
    assert joined.status_code == 403
    assert ann.post("/queries", headers={"Origin": "http://testserver"}).status_code == 200


@pytest.mark.parametrize("path", ["/judge/essays", "/owner/essays", "/join/essays/x", "/", "/healthz", "/nowhere"])
def test_pages_run_no_foreign_code_and_stand_in_no_frame(site, path):
    headers = site.client.get(path).headers
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "script-src 'self'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy
    assert "http" not in policy
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "same-origin"
    assert headers["x-frame-options"] == "DENY"
    assert headers["cache-control"] == "no-store"


def test_pages_hold_no_inline_code(site):
    ann, olga = site.browser("Ann"), site.browser("Olga", "owner")
    for page in (
        ann.client.get("/judge/essays"),
        olga.client.get("/owner/essays"),
        site.client.get(f"/join/essays/{site.token()}"),
        site.client.get("/"),
    ):
        assert not re.search(r"<script(?![^>]*\bsrc=)|<style|\sstyle=|\son[a-z]+=|https?://", page.text), page.url


class Markup(HTMLParser):
    """`foreign`: the tags of a page that run code or load anything, the page's own scripts and styles aside."""

    def __init__(self) -> None:
        super().__init__()
        self.foreign: list[tuple[str, str, str | None]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            own = (value or "").startswith(("/", "#")) and not (value or "").startswith("//")
            if name.startswith("on") or (name in ("src", "href", "action", "style", "srcdoc") and not own):
                self.foreign.append((tag, name, value))
        if tag == "script" and "src" not in dict(attrs):
            self.foreign.append((tag, "", None))


# Contents --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("hostile", HOSTILE)
def test_hostile_texts_stay_texts(build, hostile):
    """As item ids, texts, links, question, names and reasons: nothing of it is markup, and the tables stay."""
    items = Items(
        [hostile, "b", "c"],
        content={"text": [hostile] * 3, "link": [hostile, "javascript:alert(1)", "https://example.org/"]},
    )
    site = build(items, question=f"{hostile} [x](javascript:alert(1)) ![y](https://evil.example/pixel.png)")
    name = hostile if hostile.isprintable() else "Ann"
    ann, olga = site.browser(name), site.browser("Olga", "owner")
    for page in (ann.client.get("/judge/essays"), olga.client.get("/owner/essays")):
        markup = Markup()
        markup.feed(page.text)
        assert markup.foreign == []
        assert hostile.split("<")[0] in unescape(page.text)
    told = ann.tell(ann.ask()[0], "skip", reason=hostile, client=hostile, tab=hostile, key=None)
    assert told.status_code == 200
    links = {item["id"]: item["link"] for item in site.program("owner").get("/items").json()["items"]}
    assert links == {hostile: None, "b": None, "c": "https://example.org/"}
    assert olga.post("/exclusions", {"annotator": name, "excluded": True}).status_code == 200
    assert olga.post("/exclusions", {"item": hostile}).status_code == 200
    assert site.study.excluded_items == (hostile,)
    assert site.study.excluded_annotators == (name,)
    for path in (f"/links/{quote(hostile, safe='')}/revoke", f"/nothing/{quote(hostile, safe='')}"):
        assert olga.post(path).status_code in (404, 405, 422)
    assert ann.post("/answers", {"query": hostile, "answer": "left"}).status_code == 404


@pytest.mark.parametrize(
    "markdown",
    [
        "<script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        "[x](javascript:alert(1))",
        "[x](data:text/html;base64,PHNjcmlwdD4=)",
        "![x](https://evil.example/pixel.png)",
        "<iframe src=//evil.example></iframe>",
        "<a href='https://x' onclick='alert(1)'>x</a>",
        "<style>*{display:none}</style>",
    ],
)
def test_the_question_is_harmless_html(markdown):
    html = rendered(f"**Which** is better? {markdown}")
    assert html.startswith("<p><strong>Which</strong>")
    tags = re.findall(r"<[^>]*>", html)
    assert not [tag for tag in tags if re.search(r"script|img|iframe|style|on\w+=|javascript|data:", tag)], html


def test_texts_of_items_are_harmless_html_where_they_are_markdown(build):
    hostile = "*ok* <script>alert(1)</script> [x](javascript:alert(1)) ![x](http://evil/x.png) [y](https://example.org)"
    site = build(Items(["a", "b"], content={"text": [hostile, "plain **b**"]}))
    ann = site.browser()
    (query,) = ann.ask()
    assert {query[side]["text_html"] for side in ("left", "right")} == {None}
    site.study.set_rules(markdown=True)
    (query,) = ann.ask()
    a, b = sorted((query["left"], query["right"]), key=lambda item: item["id"])
    assert (a["text"], b["text_html"]) == (hostile, "<p>plain <strong>b</strong></p>\n")
    assert a["text_html"].startswith("<p><em>ok</em> &lt;script&gt;alert(1)&lt;/script&gt;")
    link = '<a href="https://example.org" target="_blank" rel="noopener noreferrer">'
    assert sorted(re.findall(r"<[^/>][^>]*>", a["text_html"])) == sorted(["<p>", "<em>", link])


# Floods ----------------------------------------------------------------------------------------------------------


def test_one_caller_cannot_keep_the_others_waiting(build):
    site = build(limits={"requests_per_second": 5.0})
    ann, bob = site.browser("Ann"), site.browser("Bob")
    refused = next(reply for reply in (ann.get("") for _ in range(1000)) if reply.status_code == 429)
    assert refused.headers["content-type"] == "application/problem+json"
    assert int(refused.headers["retry-after"]) >= 1
    assert bob.get("").status_code == 200


def test_whoever_is_refused_for_many_requests_waits_for_nobody(build):
    site = build(limits={"requests_per_second": 5.0}, app={"clock": lambda: 0.0})
    ann, program = site.browser("Ann"), site.program()
    for ask in (lambda: ann.get(""), lambda: program.get("")):
        while ask().status_code != 429:
            pass
        # Everybody who uses the study waits meanwhile.
        with ThreadPoolExecutor(1) as thread, site.study.unchanged():
            assert thread.submit(ask).result(30).status_code == 429


@pytest.mark.parametrize(
    ("who", "per_second", "at_once", "a_second"),
    [("stranger", 30.0, 60, 2), ("annotator", 30.0, 120, 30), ("program", 1.0, 40, 10)],
)
def test_how_often_one_may_ask(build, who, per_second, at_once, a_second):
    clock = [0.0]
    site = build(limits={"requests_per_second": per_second}, app={"clock": lambda: clock[0]})
    annotator, program = site.browser("Ann"), site.program()
    ask = {
        "stranger": lambda: site.client.get("/join/essays/guess"),
        "annotator": lambda: annotator.get(""),
        "program": lambda: program.get(""),
    }[who]

    def answered() -> int:
        count = 0
        while ask().status_code != 429:
            count += 1
        return count

    clock[0] += 1000
    assert answered() == at_once
    clock[0] += 1
    assert answered() == a_second


def test_a_valid_link_that_is_looked_at_costs_nothing(site):
    """A lecture registry behind one address opens the link, and then everybody may come in."""
    shared = site.token()
    assert {site.client.get(f"/join/essays/{shared}").status_code for _ in range(80)} == {200}
    assert site.browser("Ann").get("").status_code == 200


def test_large_requests_are_refused(build):
    ann = build(limits={"body": 10_000}).browser("Ann")
    headers = {**ann.headers, "Content-Type": "application/json"}
    for body, status in ((b"x" * 1000, 422), (b"x" * 20_000, 413), ((b"x" * 1000 for _ in range(20)), 413)):
        response: Any = ann.client.post("/api/v1/studies/essays/queries", content=body, headers=headers)
        assert response.status_code == status
