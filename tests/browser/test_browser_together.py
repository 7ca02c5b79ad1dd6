"""Tabs, links, pauses and refusals: nothing is lost, nothing counts twice, and people are told in plain words."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from ordinate import Study

# One browser and one server for all; test_browser_story.py has what stands for them in every run.
pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("browser")]


def test_two_tabs_show_two_pairs(shared: Any, judge: Callable[..., Any], answers: Any) -> None:
    served = shared["photos"]
    one = judge()
    one.begin(served.annotator, "twin")
    other = judge(context=one.page.context)
    other.page.goto(one.page.url)
    other.wait_for_pair()
    for _ in range(3):
        assert one.pair != other.pair
        one.press("ArrowLeft")
        other.press("ArrowRight")
    one.wait_until_sent()
    other.wait_until_sent()
    given = [row for row in answers(served.path) if row["annotator"] == "twin"]
    assert len(given) == len({row["query"] for row in given}) == 6
    assert {row["answer"] for row in given} == {"left", "right"}


def test_each_answer_tells_how_many_there_are_in_all(serve: Any, photos: Any, judge: Callable[..., Any]) -> None:
    (served,) = serve(photos.path, options=("--budget", "40"))
    one, other = judge(), judge()
    one.begin(served.annotator, "one")
    one.wait_for_text("progress-text", "You: 0 · all: 0 of 40")
    other.begin(served.annotator, "other")
    for _ in range(3):
        other.press("ArrowRight")
    other.wait_until_sent()
    # From now on the page cannot look where the study stands.
    one.page.route("**/api/v1/studies/photos", lambda route: route.abort())
    one.press("ArrowLeft")
    one.wait_for_text("progress-text", "You: 1 · all: 4 of 40")
    one.page.keyboard.press("u")
    one.wait_for_text("progress-text", "You: 0 · all: 3 of 40")


def test_answers_wait_through_a_closed_tab(shared: Any, judge: Callable[..., Any], answers: Any) -> None:
    served = shared["photos"]
    someone = judge()
    someone.begin(served.annotator, "cut")
    someone.press("ArrowLeft")
    someone.wait_until_sent()
    someone.until("Number(document.getElementById('app').dataset.ahead) >= 2")
    context = someone.page.context
    context.set_offline(True)
    waiting = someone.press("ArrowLeft")
    someone.wait_for_text("network", "Offline, 1 answer waiting.")
    someone.page.close()
    context.set_offline(False)
    again = judge(context=context)
    again.page.goto(served.annotator.split("/join/")[0] + "/judge/photos")
    again.wait_for_pair()
    again.wait_until_sent()
    assert again.pair != waiting
    assert len([row for row in answers(served.path) if row["annotator"] == "cut"]) == 2


def test_a_pause_and_its_end(serve: Any, essays: Any, judge: Callable[..., Any]) -> None:
    (served,) = serve(essays)
    owner, someone = judge(), judge()
    someone.begin(served.annotator, "pam")
    owner.join(served.owner)
    owner.page.click("#pause:enabled")
    owner.wait_for_text("state", "Paused")
    # Pairs that were given out before may still be judged.
    while not someone.page.is_visible("#message"):
        someone.page.keyboard.press("ArrowLeft")
        someone.page.wait_for_timeout(100)
    someone.wait_for_text("message-title", "The study is paused")
    owner.page.click("#pause")
    owner.wait_for_text("state", "Running")
    someone.wait_for_pair()


def test_a_revoked_link_says_so_and_keeps_what_waits(shared: Any, judge: Callable[..., Any]) -> None:
    served = shared["essays"]
    owner, someone = judge(), judge(width="phone")
    owner.join(served.owner)
    page = owner.page
    page.wait_for_selector("#links > *")  # what comes later would move the button
    page.click("#new-link summary")
    page.select_option("#link-role", "named")
    page.fill("#link-name", "rex")
    page.click("#link-form button")
    address = page.locator("input[aria-label='Address of the link for rex']")
    someone.page.goto(address.input_value())
    assert "This link is for rex" in someone.page.inner_text("main")
    someone.page.click("form button")
    someone.wait_for_pair()
    page.click("button[aria-label='Revoke the link for rex']")
    page.click("#sure-yes")
    page.wait_for_selector("text=For rex: revoked")
    someone.page.keyboard.press("ArrowLeft")
    someone.wait_for_text("message-title", "Your link does not open this study any more")
    text = someone.text("message")
    assert "This link was revoked" in text
    assert "One answer waits in this browser" in text
    someone.page.reload()
    assert "This link was revoked; ask the owner of the study for a new one." in someone.page.inner_text("main")


def test_a_page_whose_session_was_replaced_says_so_and_stops(
    shared: Any, judge: Callable[..., Any], answers: Any
) -> None:
    served = shared["essays"]
    someone = judge()
    page = someone.page
    page.clock.install()
    someone.begin(served.annotator, "replaced ann")
    other = judge(context=page.context)
    other.join(served.annotator, "replaced ann")
    page.clock.run_for(1000)
    someone.press("ArrowLeft")  # the same link again changes nothing
    someone.wait_until_sent()
    other.join(served.annotator, "replaced ben")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    # Only the watch over the lease is left to notice it.
    for place in ("", "/queries"):
        page.route(f"**/api/v1/studies/essays{place}", lambda route: route.abort())
    page.mouse.move(100, 100)
    page.clock.run_for(290_000)
    page.mouse.move(200, 200)
    page.clock.run_for(15_000)
    someone.wait_for_text("message-title", "Another link was opened in this browser")
    assert sum(url.endswith("/shown") for url in asked) == 1
    assert "To go on under your own name, open your own link again." in someone.text("message")
    asked.clear()
    page.clock.run_for(600_000)
    assert asked == []
    page.unroute_all()
    page.click("#message button")
    someone.wait_for_text("progress-text", "0 answers")
    assert [len(answers(served.path, name)) for name in ("replaced ann", "replaced ben")] == [1, 0]


def test_a_pair_that_is_somebody_elses_is_replaced(shared: Any, judge: Callable[..., Any]) -> None:
    someone = judge()
    page = someone.page
    page.clock.install()
    someone.begin(shared["essays"].annotator, "restored")
    # Without another pair the page would ask, and this server would list the same one again.
    someone.until("Number(document.getElementById('app').dataset.ahead) >= 1")
    before = someone.pair
    # As the server says after the study was put back to an earlier state, in which others were given this pair.
    refusal = {"type": "urn:ordinate:NotYourQuery", "status": 403, "detail": "the query was given to somebody else"}
    page.route(
        "**/shown",
        lambda route: route.fulfill(status=403, content_type="application/problem+json", body=json.dumps(refusal)),
    )
    page.mouse.move(100, 100)
    page.clock.run_for(290_000)
    page.mouse.move(200, 200)
    page.clock.run_for(15_000)
    someone.wait_for_text("last", "The time for that pair was over; here is another one.")
    someone.until("!document.getElementById('stage').hidden")
    assert someone.pair != before


def test_an_owners_page_whose_session_was_replaced_says_so_and_stops(shared: Any, judge: Any) -> None:
    served = shared["essays"]
    owner = judge()
    page = owner.page
    page.clock.install()
    owner.join(served.owner)
    owner.wait_for_text("state", "Running")
    judge(context=page.context).join(served.annotator, "ben of the owner")
    page.clock.run_for(60_000)
    owner.wait_for_text("trouble", "Another link was opened in this browser since this page was loaded")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.clock.run_for(600_000)
    page.wait_for_timeout(300)
    assert asked == []


def test_when_the_time_is_over_the_page_says_so_and_may_go_on(serve: Any, essays: Any, judge: Any) -> None:
    (served,) = serve(essays)
    with Study.open(f"sqlite:///{served.path}") as study:
        study.set_rules(deadline="2020-01-01T00:00Z", closing="Collect your **prize**.")
        someone = judge()
        someone.join(served.annotator, "late")
        someone.wait_for_text("message-title", "The time for this study is over")
        assert "Collect your prize." in someone.text("message-body")
        study.set_rules(deadline=None)
    someone.wait_for_pair()


def test_a_refused_answer_is_explained(shared: Any, judge: Callable[..., Any]) -> None:
    served = shared["essays"]
    someone = judge()
    someone.begin(served.annotator, "late")
    someone.press("ArrowLeft")  # a server that is busy gives the first pair alone; then the page asks for more
    someone.until("Number(document.getElementById('app').dataset.ahead) >= 1")
    someone.wait_until_sent()
    with Study.open(f"sqlite:///{served.path}") as study:
        (first, *_) = [query for query in study.open_queries() if query.annotator == "late"]
        study.withdraw(first.id)
    someone.press("ArrowLeft")
    someone.wait_for_text("refused", "One answer did not count. That pair was withdrawn.")
    someone.page.click("#refused button")
    assert someone.text("refused") == ""


def test_the_owners_page_follows_an_annotator_who_is_left_out(serve: Any, essays: Any, judge: Any) -> None:
    with Study.open(f"sqlite:///{essays}") as study:
        ids, texts = study.items.ids, [str(text) for text in study.items.content["text"]]
        pairs = [(left, right) for left in ids for right in ids if left < right]
        study.record([(left, right, "left", "Ann") for left, right in pairs])
        study.record([(ids[0], other, "right", "Bad") for other in ids[1:]] * 3)
    (served,) = serve(essays)
    owner = judge()
    owner.join(served.owner)
    page = owner.page
    first = "document.querySelector('#ordering .item-card')?.getAttribute('aria-label')"
    owner.until(f"{first}?.includes({json.dumps(texts[1][:40])})")
    owner.until("document.getElementById('chart-words').textContent.includes('% of pairs')")
    before = owner.text("chart-words")
    page.get_by_role("button", name="Open: Bad").click()
    page.click("#person-exclude")
    page.click("#sure-yes")
    owner.until(f"{first}?.includes({json.dumps(texts[0][:40])})")
    owner.until(f"document.getElementById('chart-words').textContent !== {json.dumps(before)}")
    page.keyboard.press("Escape")
    # Also where nothing is left that counts, the ordering stays, in which items are taken in again.
    page.get_by_role("button", name="Open: Ann").click()
    page.click("#person-exclude")
    page.click("#sure-yes")
    owner.until("document.querySelector('#figures dd').textContent === '0'")
    assert page.is_visible("#ranking")
    assert not page.is_visible("#no-answers")


def test_the_owner_changes_rules_and_leaves_out_an_annotator(serve: Any, essays: Any, judge: Any) -> None:
    (served,) = serve(essays)
    someone, owner = judge(), judge(width="phone", theme="dark")
    someone.begin(served.annotator, "olga")
    someone.press("ArrowLeft")
    someone.wait_until_sent()
    owner.join(served.owner)
    page = owner.page
    page.wait_for_selector(".item-card")
    assert page.locator(".item-card").count() == 8
    page.fill("#rule-budget", "20")
    page.fill("#rule-repeat", "12.5")
    page.uncheck("#rule-ties")
    page.click("#rules-form button")
    owner.wait_for_text("rules-saved", "Saved")
    page.click("[aria-label='Open: olga']")
    page.click("#person-exclude")
    page.click("#sure-yes")
    owner.wait_for_text("person-exclude", "Count the answers again")
    page.keyboard.press("Escape")
    with page.expect_download() as download:
        page.click("text=The comparisons")
    assert download.value.suggested_filename == "essays-comparisons.csv"
    with Study.open(f"sqlite:///{served.path}") as study:
        assert (study.rules.budget, study.rules.repeat, study.rules.ties) == (20, 0.125, False)
        assert study.rules.lease == 600
        assert "olga" in study.excluded_annotators


def test_a_double_click_makes_one_link_and_a_long_list_of_names_is_sent(serve: Any, essays: Any, judge: Any) -> None:
    (served,) = serve(essays)
    owner = judge()
    owner.join(served.owner)
    page = owner.page
    page.wait_for_selector("#links > *")
    before = page.locator("#links > *").count()
    open_all = "document.querySelectorAll('details').forEach(one => one.open = true)"
    page.evaluate(open_all)
    page.dblclick("#link-form button")
    page.wait_for_timeout(1000)
    assert page.locator("#links > *").count() == before + 1
    page.evaluate(open_all)
    page.fill("#many-names", "\n".join(f"Person number {number:05} of the class" for number in range(3000)))
    page.click("#many-form button")
    # The server says that it is too much; as a request that outlives its page the browser would not send it.
    owner.until("document.getElementById('trouble').textContent.includes('send less at a time')", seconds=20)
