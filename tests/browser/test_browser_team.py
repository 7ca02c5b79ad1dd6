"""An owner runs a study with three people: links, the order as it changes, an item, a person, what is taken back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from tests.browser.test_browser_access import FEW, LOOKS, check

from ordinate.client import Client

# One browser and one server for all; test_browser_story.py has what stands for them in every run.
pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("browser")]


def test_an_owner_sees_who_answered_what_and_takes_it_back(
    serve: Callable[..., Any], photos: Any, judge: Callable[..., Any], answers: Any
) -> None:
    (served,) = serve(photos.path)
    owner = judge()
    page = owner.page
    owner.join(served.owner)
    page.wait_for_selector("#first-link button")
    page.click("#many-links summary")
    page.fill("#many-names", "Ada\nBob\n\nCarla\n")
    page.click("#many-form button")
    page.wait_for_selector("[aria-label='Address of the link for Carla']")
    field = "[aria-label='Address of the link for {}']"
    links = {name: page.input_value(field.format(name)) for name in ("Ada", "Bob", "Carla")}
    page.click("text=A sheet with QR codes to print")
    assert page.locator(".coupons li").count() == 4
    check(page, "sheet", looks=FEW)
    page.go_back()
    page.wait_for_selector("#rules-form:not([inert])")
    page.click("text=Guidelines, practice, and words at the end")
    page.fill("#rule-guidelines", "Look at the **edges**, not at the colours.")
    page.fill("#rule-closing", "Thank you from *all* of us.")
    page.fill("#rule-practice", "photo-01 | photo-40 | left")
    page.fill("#rule-makers", "photo-02 | Carla")
    page.fill("#rule-deadline", "2099-01-31T12:00")
    page.check("#rule-strengths")
    page.fill("#rule-annotator_budget", "8")
    page.click("#rules-form .main-button")
    owner.wait_for_text("rules-saved", "Saved")

    people = {name: judge(photos.truth) for name in links}
    for name, someone in people.items():
        someone.begin(links[name], None)
    ada = people["Ada"]
    ada.page.keyboard.press("h")
    assert "edges" in ada.page.inner_text("#guidelines")
    check(ada.page, "guidelines", looks=FEW)
    ada.page.keyboard.press("Escape")
    assert ada.page.is_visible("#practice")
    check(ada.page, "practice", looks=FEW)
    for someone in people.values():
        someone.press("ArrowRight")
    assert (
        ada.text("last")
        == "You chose right. The owner expects left. Practice is over; from here on your answers count."
    )
    assert not ada.page.is_visible("#practice")
    check(ada.page, "strengths", looks=(LOOKS[2],))
    people["Bob"].press("7")
    assert people["Bob"].text("last") == "You chose right, much better."
    for _ in range(6):
        for name, someone in people.items():
            someone.press("ArrowLeft") if name == "Carla" else someone.answer()
    page.wait_for_selector("#people tr:nth-child(3)", timeout=60_000)
    owner.until("document.querySelectorAll('#ordering li').length === 24", seconds=60)

    # The list follows the answers without a reload, within seconds.
    before = page.inner_text("#figures")
    ada.answer()
    owner.until(f"document.getElementById('figures').innerText !== {before!r}", seconds=10)

    assert page.inner_text("#deadline-words").startswith("Deadline: Jan 31, 2099, 12:00")
    page.fill("#find-item", "photo-07")
    owner.until("document.querySelectorAll('#ordering li').length === 1")
    page.fill("#find-item", "")
    page.click("#to-lowest")
    owner.until("document.getElementById('ordering-words').textContent.startsWith('The last 24 of 40')")
    page.click("#to-highest")
    owner.until("document.getElementById('ordering-words').textContent.startsWith('The first 24 of 40')")

    compared = page.evaluate(
        "(async () => (await (await fetch('/api/v1/studies/photos/answers?limit=1')).json()).answers[0].left.id)()"
    )
    page.fill("#find-item", compared)
    owner.until("document.querySelectorAll('#ordering li').length === 1")
    page.click(".item-card")
    page.wait_for_selector("#item-answers li")
    page.fill("#compare-with", compared)
    page.click("#compare-form button")
    owner.wait_for_text("compare-words", "Compare 'photo-")
    page.fill("#compare-with", "photo-40" if compared != "photo-40" else "photo-39")
    page.click("#compare-form button")
    page.wait_for_selector("#compare-body .small-item img")
    assert "if people answered sensibly" in page.inner_text("#compare-words")
    check(page, "compare", looks=FEW)
    page.evaluate("document.getElementById('item-answers').scrollIntoView()")
    check(page, "item-answers", looks=FEW)
    total = len(answers(photos.path))
    page.click("#item-answers li button")
    owner.until("document.getElementById('live').textContent === 'The answer is taken back.'")
    assert len(answers(photos.path)) == total - 1
    page.click("#item-exclude")
    owner.until("document.getElementById('item-exclude').textContent === 'Take it in again'")
    page.keyboard.press("Escape")
    page.fill("#find-item", "")
    page.wait_for_selector("#left-out summary")
    page.click("#left-out summary")
    page.click("#left-out-list button")
    owner.until("document.getElementById('left-out').hidden")

    page.click("#checks summary")
    page.wait_for_selector("#checks-rows tr")
    assert page.locator("#checks-rows th").all_inner_texts()[0][0] in "✓✗–"
    check(page, "checks", looks=FEW)

    page.click("[aria-label='Open: Carla']")
    page.wait_for_selector("#person-answers li")
    assert "Practice, which does not count: 1 pair, 0 of 1 as expected" in page.inner_text("#person-words")
    check(page, "person", looks=FEW)
    page.click("#person-rest")
    owner.wait_for_text("person-rest", "Give pairs again")
    page.click("#person summary")
    page.click("#person-undo-form button")
    page.click("#sure-yes")
    owner.until("document.querySelectorAll('#person-answers li').length === 0")
    assert answers(photos.path, "Carla") == []
    assert [one["answer"] for one in answers(photos.path, "Bob")].count("right-much") == 1
    page.keyboard.press("Escape")

    # A viewer sees the results, with nothing to press that would change them.
    page.click("#new-link summary")
    page.select_option("#link-role", "viewer")
    page.fill("#link-name", "Vera")
    page.click("#link-form .main-button")
    link = page.input_value(field.format("the viewer Vera"))
    vera = judge()
    vera.join(link)
    vera.page.wait_for_selector("#people tr:nth-child(2)")
    vera.page.click(".item-card")
    vera.page.wait_for_selector("#item-answers li")
    for what in (
        "#item-answers li button",
        "#item-exclude",
        "#pause",
        "#links-title",
        "#rules-form",
        "text=Judge yourself",
    ):
        assert not vera.page.is_visible(what), what
    vera.page.keyboard.press("Escape")
    vera.page.evaluate("scrollTo(0, 0)")
    check(vera.page, "viewer", looks=FEW)
    page.click("#history summary")
    page.wait_for_selector("#history-list li")
    assert "owner made the link for the viewer Vera" in page.inner_text("#history-list li:nth-child(1)")
    assert "took back the answers of Carla" in page.inner_text("#history-list")
    page.evaluate("document.getElementById('history-title').scrollIntoView()")
    check(page, "history", looks=FEW)

    while not ada.page.is_visible("#message"):
        ada.answer()
    ada.wait_for_text("message-title", "Thank you")
    assert "all of us" in ada.page.inner_text("#message-body")


def test_two_pictures_in_one_place(serve: Callable[..., Any], photos: Any, judge: Callable[..., Any]) -> None:
    """What is behind is loaded and decoded, so it is there in the next frame; answers wait until both were seen."""
    (served,) = serve(photos.path)
    ann = judge(photos.truth)
    page = ann.page
    ann.begin(served.annotator, "Ann")
    page.keyboard.press("v")
    ann.until("document.getElementById('right').classList.contains('behind')")
    before = ann.pair
    page.wait_for_timeout(300)
    page.keyboard.press("ArrowLeft")
    page.wait_for_timeout(200)
    assert ann.pair == before, "the other one was not seen yet"
    boxes = [page.locator(f"#{side} .picture img").bounding_box() for side in ("left", "right")]
    assert boxes[0] == boxes[1]
    milliseconds = page.evaluate(
        """new Promise((done) => {
          const began = performance.now();
          document.querySelector('[data-do=flip]').click();
          requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now() - began)));
        })"""
    )
    assert milliseconds < 50
    ann.until("document.getElementById('left').classList.contains('behind')")
    check(page, "flip", looks=FEW)
    ann.press("ArrowLeft")
    page.keyboard.press("Shift+V")
    ann.until("!document.getElementById('stage').classList.contains('flips')")
    page.keyboard.press("+")
    page.keyboard.press("z")
    enlarged = page.evaluate("document.querySelector('#left .picture img').style.transform")
    ann.press("ArrowRight")
    assert page.evaluate("document.querySelector('#left .picture img').style.transform") == enlarged != ""
    page.keyboard.press("z")
    ann.press("ArrowRight")
    assert page.evaluate("document.querySelector('#left .picture img').style.transform") == ""


def test_whoever_tosses_coins_is_mentioned(serve: Callable[..., Any], photos: Any, judge: Callable[..., Any]) -> None:
    (served,) = serve(photos.path)
    rng = np.random.default_rng(0)
    ids = [f"photo-{row + 1:02}" for row in range(len(photos.truth))]
    truth = dict(zip(ids, photos.truth, strict=True))
    with Client(served.annotator) as program:
        for turn in range(300):
            name = ("Ada", "Bob", "Carla")[turn % 3]
            (query,) = program.ask(name)
            right = truth[query.left] > truth[query.right]
            if name == "Carla":
                right = bool(rng.random() < 0.5) == right
            program.tell(query.id, "left" if right else "right", name)
    owner = judge()
    with owner.page.expect_response("**/annotators/quality", timeout=90_000):
        owner.join(served.owner)
    # What it says is shown when it comes, not with the next look at a study that nothing happens in.
    row = "[...document.querySelectorAll('#people tr')].find(row => row.innerText.startsWith('{}'))?.innerText ?? ''"
    owner.until(f"({row.format('Carla')}).includes('may toss coins')", seconds=10)
    for name in ("Ada", "Bob"):
        assert "coins" not in owner.page.evaluate(row.format(name))
    owner.page.evaluate("document.getElementById('people-title').scrollIntoView()")
    check(owner.page, "people", looks=FEW)
