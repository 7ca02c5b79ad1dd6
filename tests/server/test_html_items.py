"""Pages of HTML as items: sent with headers that keep a browser from doing what they ask for."""

from __future__ import annotations

import time

import pytest
from tests.server.test_folder import Folder, picture

from ordinate.data.folders import list_folder
from ordinate.data.items import Items
from ordinate.data.media import LONGEST_PAGE
from ordinate.data.showing import shown
from ordinate.errors import InvalidInput
from ordinate.server.headers import ITEM_PAGE
from ordinate.server.item_pages import disarmed
from ordinate.study.study import Study

PAGES = ["<h1>One</h1>", "<!doctype html><style>p { color: red }</style><p>Two &amp; more</p>"]


def test_a_page_is_sent_as_it_is_with_headers_that_disarm_it(build):
    site = build(Items(["a", "b"], content={"html": PAGES}))
    annotator = site.browser()
    (query,) = annotator.ask()
    address = query["left"]["html_url"]
    assert address == f"/media/essays/{'ab'.index(query['left']['id'])}/html"
    assert query["left"]["text"] is None
    page = annotator.client.get(address)
    assert page.text in PAGES
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    policy = page.headers["content-security-policy"].split("; ")
    assert policy[:2] == ["sandbox", "default-src 'none'"]
    assert not any("http" in part or "script" in part or "allow-" in part or "*" in part for part in policy)
    assert page.headers["x-frame-options"] == "SAMEORIGIN"
    assert page.headers["x-content-type-options"] == "nosniff"
    assert page.headers["content-security-policy"] == ITEM_PAGE
    assert page.headers["cache-control"] == "no-store"


LEADS = [
    ("<LINK rel=preconnect href=//a>", "<not-LINK rel=preconnect not-href=//a>"),
    ("<link/rel=x><meta\nhttp-equiv=x><base>", "<not-link/rel=x><not-meta\nhttp-equiv=x><not-base>"),
    ("<links>a &lt;link href=></links>", "<links>a &lt;link href=></links>"),
    ("<a class=x HREF='//a' title=href>", "<a class=x not-HREF='//a' title=href>"),
    ("<a title='>' href=x>", "<a title='>' not-href=x>"),
    ("<a/href=x><a\thref=x><area href>", "<a/not-href=x><a\tnot-href=x><area not-href>"),
    ("<svg><a xlink:href = 'x'>", "<svg><a not-xlink:href = 'x'>"),
    # Which of two readings is right only a browser knows, so both are disarmed.
    ("<!-- <a title=' --><a href=x b='>", "<!-- <a title=' --><a not-href=x b='>"),
    ("<a title='<a href=x'>", "<a title='<a not-href=x'>"),
    ("<a =href=x href=y>", "<a =href=x not-href=y>"),
    ('<a b="c"href=x>', '<a b="c"not-href=x>'),
    ("<a b= href=x>", "<a b= href=x>"),
    ("<a b=>href=x", "<a b=>href=x"),
    ("<form action=x><button formaction=x ping>", "<form not-action=x><button not-formaction=x not-ping>"),
    ("<iframe srcdoc=x><object data=x><embed src=x>", "<not-iframe not-srcdoc=x><not-object data=x><not-embed src=x>"),
    ("5 < 6, a <3, <p>href=x", "5 < 6, a <3, <p>href=x"),
]


@pytest.mark.parametrize(("page", "sent"), LEADS)
def test_what_a_policy_does_not_disarm_has_other_names(page, sent):
    assert disarmed(page) == sent


@pytest.mark.parametrize("part", ["<a ", "<a x='", "<a\n", "<a b=", "<a <a '", "<", "<a href"])
def test_a_hostile_page_is_disarmed_soon(part):
    page = part * (LONGEST_PAGE // len(part))
    began = time.process_time()
    disarmed(page)
    assert time.process_time() - began < 30


def test_a_page_is_for_those_with_a_link(build):
    site = build(Items(["a", "b"], content={"html": PAGES}))
    site.client.cookies.clear()
    assert site.client.get("/media/essays/0/html").status_code == 401
    annotator = site.browser()
    for row in (-1, 2, 10**9):
        assert annotator.client.get(f"/media/essays/{row}/html").status_code == 404
    # A text, a picture and an address are no pages, and a page is nothing else.
    for kind in ("text", "link", "image"):
        assert annotator.client.get(f"/media/essays/0/{kind}").status_code == 404


def test_no_other_answer_may_be_framed(build):
    annotator = build().browser()
    for address in ("/judge/essays", "/media/essays/0/html", "/api/v1/studies/essays"):
        headers = annotator.client.get(address).headers
        assert headers["x-frame-options"] == "DENY"
        assert "frame-ancestors 'none'" in headers["content-security-policy"]


def test_a_folder_with_pages(tmp_path):
    (tmp_path / "a.html").write_text(PAGES[0], encoding="utf-8")
    (tmp_path / "b.HTM").write_text(PAGES[1], encoding="utf-8")
    (tmp_path / "c.txt").write_text("<b>", encoding="utf-8")
    columns = list_folder(tmp_path).columns
    assert columns == {"id": ["a.html", "b.HTM", "c.txt"], "text": [None, None, "<b>"], "html": [*PAGES, None]}
    Study.create(Items.from_columns(columns), storage=f"sqlite:///{tmp_path / 'x.db'}").close()
    with Study.open(f"sqlite:///{tmp_path / 'x.db'}") as study:
        assert study.items.content["html"] == (*PAGES, None)


@pytest.mark.parametrize(
    ("page", "reason"),
    [
        ("no tag", "has no tag of HTML"),
        ("pages/a.html", "has no tag"),
        ("<" + "p" * LONGEST_PAGE, "has 2,000,001 characters"),
    ],
)
def test_what_is_no_page_is_refused(page, reason):
    items = Items(["a", "b"], content={"html": [PAGES[0], page]})
    with pytest.raises(InvalidInput, match=f"row 2, item 'b': html {reason}") as refused, shown(items, "."):
        pass
    assert len(str(refused.value)) < 300


def test_pages_that_are_dropped_and_those_that_pretend(tmp_path):
    folder = Folder(tmp_path)
    draft = folder.dropped({"a.html": PAGES[0].encode(), "b.htm": PAGES[1].encode()})
    for name, content in (
        ("c.html", b"only words"),
        ("d.png", PAGES[1].encode()),
        ("e.html", b"<p>\xff"),
        ("f.svg", b"<svg xmlns='http://www.w3.org/2000/svg'/>"),
        ("g.html", b"<p>" + b"x" * 2_000_001),
    ):
        assert folder.drop(draft, name, content).status_code == 422, name
    # A picture is one whatever its name says.
    assert folder.drop(draft, "h.html", picture(3)).json()["kind"] == "image"
    made = folder.send("POST", f"/drafts/{draft}/study", {"name": "pages"})
    assert made.status_code == 201, made.text
    items = folder.study("pages").items
    assert items.content["html"] == (*PAGES, None)
    assert folder.client.get("/media/pages/0/html").text == PAGES[0]
    folder.close()


def test_a_program_adds_pages(build):
    site = build(Items(["a", "b"], content={"html": PAGES}))
    owner = site.program("owner")
    assert owner.post("/items", {"items": [{"id": "c", "html": "<p>Three"}]}).status_code == 200
    assert owner.post("/items", {"items": [{"id": "d", "html": "nothing"}]}).status_code == 422
    assert site.study.items.content["html"] == (*PAGES, "<p>Three")
