"""HTML pages as items: sent with headers that keep a browser from doing what they ask for."""

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


WRITTEN = [
    ("<LINK rel=preconnect href=//a>x", "x"),
    ("<link/rel=x><meta\nhttp-equiv=x><base>", ""),
    ("<links>a &lt;link href=></links>", "<links>a &lt;link href=></links>"),
    ("<a class=x HREF='//a' title=href>", '<a class="x" title="href">'),
    ("<a title='>' href=x>", '<a title="&gt;">'),
    ("<a/href=x><a\thref=x><area href>", "<a><a><area>"),
    ("<svg><a xlink:href = 'x'>", "<svg><a>"),
    ("<a title='<a href=x \"y\"'>", '<a title="&lt;a href=x &quot;y&quot;">'),
    ("<a =href=x href=y>", "<a>"),
    ('<a b="c"href=x>', '<a b="c">'),
    ("<a b= href=x>", '<a b="href=x">'),
    ("<a b=>href=x", "<a b>href=x"),
    ("<form action=x><button formaction=x ping onclick=x>", "<form><button>"),
    ("<iframe srcdoc=x><b>no</b></iframe>1<object data=x>2</object><embed src=x>3", "123"),
    ("<script>'<a>'</script><xmp><a href=x></xmp>", "<a>"),
    ("5 < 6, a <3, <p>href=x", "5 &lt; 6, a &lt;3, <p>href=x"),
    # Spaces of Python that are none of HTML: the quote is a part of the value, which ends before "foo".
    *((f'<a x={space}"foo href=//a y">', f'<a x="{space}&quot;foo">') for space in "\xa0\x85\x0b\x1c\x1f\u2028"),
    # What is a tag in one place and none in another is none anywhere.
    ("<!-- <a title=' --><a href=x b='>", ""),
    ("<style>p::before { content: '<a href=x>' }</style>", "<style>p::before { content: '\\3c a href=x>' }</style>"),
    ("<textarea></text<a href=x></textarea>", "<textarea>&lt;/text&lt;a href=x></textarea>"),
    ("<![CDATA[<a href=x>]]>", "]]>"),
    ("<p </style><b c>", "<p style><b c>"),
    ("<a href='x", ""),
    # Links that come to be by an animation.
    ("<set attributeName=href to=//a>", '<set to="//a">'),
    ("<animate attributeName='xlink:href' to=//a>", '<animate to="//a">'),
    ("<animate attributeName='&#104;ref' to=//a>", '<animate to="//a">'),
    ("<animate attributeName=stroke-width to=3 />", '<animate attributeName="stroke-width" to="3" />'),
    # What a page holds itself stays.
    ("<svg viewBox='0 0 1 1'><use xlink:href='#g'/>", '<svg viewBox="0 0 1 1"><use xlink:href="#g" />'),
    ("<a href=#part>Part</a>", '<a href="#part">Part</a>'),
    ("<image href=data:image/png;base64,AA==>", '<image href="data:image/png;base64,AA==">'),
    ("<img src='data:image/gif,x' srcset=//a alt>", '<img src="data:image/gif,x" alt>'),
    ("<a href=data:image/png,x>", "<a>"),
    ("<style><!-- b {} --></style>", "<style> b {} </style>"),
    ("<style><![CDATA[b {}]]></style>", "<style>b {}</style>"),
    ("<style>@media (width < 9px) {}</style>", "<style>@media (width < 9px) {}</style>"),
    ("<svg><title/><p>x", "<svg><title></title><p>x"),
    ("<!DOCTYPE html>\n<p data-src=x>", '<!DOCTYPE html>\n<p data-src="x">'),
]


@pytest.mark.parametrize(("page", "sent"), WRITTEN)
def test_a_page_is_written_without_what_leads_elsewhere(page, sent):
    assert disarmed(page) == sent
    assert disarmed(sent) == sent


SLOW = [
    "<a/b=",
    "<",
    "<a ",
    "<!--",
    "&",
    "<a x='",
    "<a\n",
    "<a b=",
    "<a <a '",
    "<a href",
    "</",
    "<style>",
    "<a>",
    "<b c=d>",
]


@pytest.mark.parametrize("part", SLOW)
def test_a_hostile_page_is_disarmed_soon(part):
    """A page of a quarter of what one may have: what takes as many steps as its square, takes minutes there, too."""
    page = part * (LONGEST_PAGE // 4 // len(part))
    began = time.process_time()
    disarmed(page)
    assert time.process_time() - began < 5


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
