"""What an owner gives out and takes in: links for many, a sheet to print, words for those who judge, exports."""

from __future__ import annotations

import asyncio
import io
import json
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

import polars
import pytest
from fastapi.testclient import TestClient

from ordinate.data.formats import FORMATS
from ordinate.data.items import Items
from ordinate.server.events import changes


@pytest.fixture
def olga(site):
    return site.browser("Olga", "owner")


def test_links_for_many_are_made_all_or_none_and_once(site, olga):
    made = olga.post("/links/many", {"annotators": ["Ann", " Bob ", "ann"]})
    assert made.status_code == 201, made.text
    assert [link["annotator"] for link in made.json()["links"]] == ["Ann", "Bob"]
    again = olga.post("/links/many", {"annotators": ["Bob", "Cy"]}).json()["links"]
    assert again[0]["url"] == made.json()["links"][1]["url"]
    before = len(site.study.links())
    refused = olga.post("/links/many", {"annotators": ["Dora", "x" * 81]})
    assert refused.status_code == 422
    assert "row 2" in refused.json()["detail"]
    assert len(site.study.links()) == before
    past = (datetime.now(UTC) - timedelta(days=1)).isoformat()
    assert olga.post("/links/many", {"annotators": ["Eve"], "expires_at": past}).status_code == 422
    until = (datetime.now(UTC) + timedelta(days=1)).isoformat()
    (short,) = olga.post("/links/many", {"annotators": ["Bob"], "expires_at": until}).json()["links"]
    assert short["expires_at"] is not None
    assert short["id"] != again[0]["id"]
    joined = TestClient(site.app).post(again[1]["url"], data={"name": "whatever"})
    assert "Cy" in joined.text


def test_links_are_exported_and_printed(site, olga):
    olga.post("/links/many", {"annotators": ["Ann", "=Bob"]})
    shared = site.study.make_link("annotator")
    gone = site.study.make_link("annotator", "Cy")
    site.study.revoke_link(gone.id)
    columns = FORMATS[".csv"].decode(olga.get("/export/links.csv").content)
    assert columns["annotator"] == ["Ann", "=Bob"]
    assert all(url.startswith("http://testserver/join/essays/") for url in columns["url"])
    sheet = olga.client.get("/owner/essays/sheet").text
    assert sheet.count("qr.svg") == 3
    assert f"/links/{shared.id}/qr.svg" in sheet
    assert gone.id not in sheet
    assert site.browser("Ann2").client.get("/owner/essays/sheet").status_code == 403


def test_guidelines_and_words_at_the_end_are_shown_as_harmless_html(site, olga):
    assert site.browser("Bob").client.get("/judge/essays").text.count("Guidelines") == 0
    words = {"guidelines": "Look at the *edges*. <script>alert(1)</script>", "closing": "**Thanks** [x](javascript:x)"}
    assert olga.patch("/rules", words).status_code == 200
    page = site.browser("Ann").client.get("/judge/essays").text
    assert "<em>edges</em>" in page
    assert "<strong>Thanks</strong>" in page
    assert "<script>alert" not in page
    assert "javascript:x" not in page.replace("[x](javascript:x)", "")
    assert "<em>edges</em>" in site.client.get(f"/join/essays/{site.token()}").text


@pytest.mark.parametrize("what", ["ordering", "comparisons", "history"])
def test_exports_come_as_csv_json_lines_and_parquet(site, olga, what):
    ann = site.browser("Ann")
    for answer in ("left", "right", "tie"):
        (query,) = ann.ask()
        ann.tell(query, answer)
    lines = olga.get(f"/export/{what}.jsonl")
    rows = [json.loads(line) for line in lines.text.splitlines()]
    frame = polars.read_parquet(io.BytesIO(olga.get(f"/export/{what}.parquet").content))
    table = FORMATS[".csv"].decode(olga.get(f"/export/{what}.csv").content)
    assert len(rows) == len(frame) == len(next(iter(table.values()))) == (12 if what == "ordering" else 3)
    assert list(rows[0]) == frame.columns == list(table)
    assert f"essays-{what}.jsonl" in lines.headers["content-disposition"]
    assert olga.get(f"/export/{what}.exe").status_code == 422


def test_the_ordering_is_searched_by_id_and_text_and_by_group(build):
    texts = ["Apple pie", "pear", "Quince", "apples", "fig", "date"]
    items = Items([f"i{k}" for k in range(6)], group=list("aabbab"), content={"text": texts})
    owner = build(items).browser("Olga", "owner")

    def found(**wanted):
        reply = owner.get("/ordering", params=wanted).json()
        assert reply["total"] == len(reply["ordering"])
        return {row["item"]["id"] for row in reply["ordering"]}

    assert found(search="APPLE") == {"i0", "i3"}
    assert found(search="i5") == {"i5"}
    assert found(group="a") == {"i0", "i1", "i4"}
    assert found(group="b", search="apple") == {"i3"}
    assert found(search="nothing") == set()
    assert owner.get("/ordering").json()["groups"] == ["a", "b"]
    owner.post("/exclusions", {"item": "i4"})
    assert owner.get("/ordering").json()["excluded"] == ["i4"]
    assert found(group="a") == {"i0", "i1"}


# What changes ----------------------------------------------------------------------------------------------------


class Listening:
    """A page that listens, without a connection: events come as they would be sent."""

    def __init__(self, site, link, monkeypatch):
        """`link`: None where a proxy says who it is."""
        monkeypatch.setattr("ordinate.server.events.LOOK_SECONDS", 0.01)
        token = link and site.authenticator.signer.link(site.study.token, link.id)
        headers = {"authorization": f"Bearer {token}"} if token else {}
        request: Any = SimpleNamespace(headers=headers, cookies={}, method="GET", scope={})
        caller = site.authenticator.identify(request, site.served, as_owner=True)
        self.events = changes(request, caller, site.authenticator)

    async def next(self) -> str:
        return await asyncio.wait_for(anext(self.events), 20)


def test_a_page_is_told_of_each_change_until_its_link_is_revoked(site, monkeypatch):
    link = site.study.make_link("owner")

    async def listen():
        page = Listening(site, link, monkeypatch)
        first = json.loads((await page.next()).removeprefix("data: "))
        assert site.served.listeners == 1
        site.study.set_rules(budget=7)
        second = first
        while second["entries"] == first["entries"]:
            second = json.loads((await page.next()).removeprefix("data: "))
        assert second["entries"] == first["entries"] + 1
        site.study.make_link("owner", name="other")
        site.served.revoke_link(link.id)
        assert [event async for event in page.events if event.startswith("data")][1:] == []
        assert site.served.listeners == 0

    asyncio.run(listen())


def test_a_page_whose_link_is_revoked_is_told_nothing_more_however_much_changes(site, monkeypatch):
    site.study.make_link("owner")
    link = site.study.make_link("viewer", "Vera")

    async def listen():
        page = Listening(site, link, monkeypatch)
        await page.next()
        site.served.revoke_link(link.id)
        heard = []
        # Each look finds a change.
        for number in range(50):
            site.study.set_rules(budget=number + 1)
            try:
                heard.append(await page.next())
            except StopAsyncIteration:
                break
        assert heard == []
        assert site.served.listeners == 0

    asyncio.run(listen())


def test_a_page_of_somebody_who_only_judges_by_now_is_told_nothing_more(build, monkeypatch):
    """The newest link of whom a proxy names gives their role."""
    site = build()
    site.study.make_link("owner")
    site.study.make_link("annotator", "Vera")
    viewer = site.study.make_link("viewer", "Vera")
    monkeypatch.setattr("ordinate.server.authentication.user_of", lambda scope: "Vera")

    async def listen():
        page = Listening(site, None, monkeypatch)
        await page.next()
        site.served.revoke_link(viewer.id)
        with pytest.raises(StopAsyncIteration):
            await page.next()

    asyncio.run(listen())


def test_a_request_for_the_headers_of_the_stream_ends(site):
    owner = site.program("owner")
    head = site.client.head("/api/v1/studies/essays/events", headers=owner.headers)
    assert (head.status_code, head.content) == (200, b"")
    assert head.headers["content-type"].startswith("text/event-stream")
    assert head.headers["x-accel-buffering"] == "no"
    assert site.served.listeners == 0


def test_only_so_many_pages_listen(build):
    owner = build(limits={"listeners": 0}).browser("Olga", "owner")
    refused = owner.get("/events")
    assert refused.status_code == 503
    assert refused.headers["retry-after"]
