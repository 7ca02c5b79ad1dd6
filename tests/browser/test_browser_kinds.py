"""What one can do with pictures, texts and sounds while judging."""

import json
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest

from ordinate import Comparison, Items, Study

# One browser and one server for all; test_browser_story.py has what stands for them in every run.
pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("browser")]

IMAGES, TEXTS = (f"[...document.querySelectorAll('#stage {one}')]" for one in (".picture img", ".text"))
SCALES = f"{IMAGES}.map(i => new DOMMatrix(getComputedStyle(i).transform).a)"
LIGHT = f"getComputedStyle({IMAGES}[0]).filter"
GROUND = f"getComputedStyle({IMAGES}[0]).backgroundImage"
SCROLLED = f"{TEXTS}.map(t => t.scrollTop / (t.scrollHeight - t.clientHeight || 1))"


def test_pictures_are_enlarged_and_moved_together(shared: Any, judge: Callable[..., Any]) -> None:
    served = shared["photos"]
    someone = judge()
    page = someone.page
    someone.begin(served.annotator, "zoe")
    assert page.evaluate(SCALES) == [1, 1]
    page.keyboard.press("+")
    left, right = page.evaluate(SCALES)
    assert left == right > 1
    page.keyboard.press("0")
    assert page.evaluate(SCALES) == [1, 1]

    box = page.locator("#left .picture").bounding_box()
    page.mouse.move(box["x"] + 50, box["y"] + 60)
    # What lies below the pointer stays there.
    page.mouse.wheel(0, -300)
    someone.until(f"{SCALES}[1] > 1.2")
    x, y = page.evaluate(
        "(() => { const i = document.querySelector('#left img'), m = new DOMMatrix(getComputedStyle(i).transform);"
        "const w = i.parentElement.offsetWidth / 2, h = i.parentElement.offsetHeight / 2;"
        "return [m.e + w + (50 - w) * m.a, m.f + h + (60 - h) * m.a] })()"
    )
    assert (x, y) == pytest.approx((50, 60), abs=0.5)

    # Drag, then apart from each other.
    moved = SCALES.replace(".a)", ".e)")
    before = page.evaluate(moved)
    page.mouse.down()
    page.mouse.move(box["x"] + 20, box["y"] + 60)
    page.mouse.up()
    after = page.evaluate(moved)
    assert after == pytest.approx([before[0] - 30] * 2, abs=0.5)
    page.keyboard.press("l")
    page.mouse.dblclick(box["x"] + 20, box["y"] + 60)
    scales = page.evaluate(SCALES)
    assert scales[0] == 1 < scales[1]
    page.keyboard.press("l")

    # A new pair is whole again.
    someone.press("ArrowLeft")
    assert page.evaluate(SCALES) == [1, 1]


def test_brightness_contrast_ground_and_theme_by_keys_are_remembered_and_recorded(
    shared: Any, judge: Callable[..., Any], answers: Any
) -> None:
    served, others = shared["photos"], shared["essays"]
    someone = judge()
    page = someone.page
    someone.begin(served.annotator, "rad")
    assert page.evaluate(LIGHT) == "none"
    assert "conic-gradient" in page.evaluate(GROUND)
    for key in "bCig":
        page.keyboard.press(key)
    assert page.evaluate(LIGHT) == "invert(1) brightness(1.1) contrast(0.91)"
    changed = "brightness 110 %, contrast 91 %, inverted, white ground"
    assert page.inner_text("#changed-words") == f"You changed the pictures: {changed}."
    page.keyboard.press("d")
    someone.press("ArrowLeft")
    someone.wait_until_sent()
    page.reload()
    someone.wait_for_pair()
    assert page.evaluate(LIGHT) == "invert(1) brightness(1.1) contrast(0.91)"
    assert page.get_attribute("html", "data-theme") == "dark"
    page.click("#appearance-button")
    page.fill("#brightness", "150")
    assert "brightness(1.5)" in page.evaluate(LIGHT)
    page.keyboard.press("Escape")
    page.click("#appearance >> text=Reset")
    assert page.evaluate(LIGHT) == "none"
    someone.press("ArrowLeft")
    someone.wait_until_sent()
    first, second = (row["client"].partition("; ")[2] for row in answers(served.path, "rad"))
    assert (first, second) == (changed, "")
    # Another study has settings of its own, and texts have none.
    someone.begin(others.annotator, "rad")
    someone.press("ArrowLeft")
    someone.wait_until_sent()
    assert ";" not in answers(others.path, "rad")[0]["client"]


def test_the_aim_is_chosen_and_its_items_are_marked(serve: Any, tones: Any, judge: Callable[..., Any]) -> None:
    """Also that an aim which cannot be is refused, and what was typed stays."""
    with Study.open(f"sqlite:///{tones}") as study:
        ids = study.items.ids
        people = [f"somebody {number}" for number in range(10)]
        study.record([Comparison(one, other, "left", who) for who in people for one, other in pairwise(ids)])
    (served,) = serve(tones)
    owner = judge()
    owner.join(served.owner)
    page = owner.page
    page.wait_for_selector("#rules-form:not([inert])")
    assert page.input_value("#rule-aim") == "order"
    page.fill("#rule-aim", "top:1")
    page.click("#rules-form button")
    owner.wait_for_text("rules-saved", "Saved")
    page.click("#refresh")
    owner.until("document.querySelector('#ordering-words').textContent.includes('Aim: top:1. About ')")
    marked = page.locator("#ordering .part").all_inner_texts()
    assert marked[0].startswith("wanted, ")
    assert all(words.startswith("not wanted, ") for words in marked[1:])
    page.fill("#rule-aim", "above:nothing")
    page.click("#rules-form button")
    owner.wait_for_text("rules-saved", "Not saved")
    assert page.input_value("#rule-aim") == "above:nothing"


def test_pictures_are_at_first_as_the_owner_set_them(
    serve: Any, photos: Any, judge: Callable[..., Any], answers: Any
) -> None:
    (served,) = serve(photos.path)
    owner, someone = judge(), judge()
    owner.join(served.owner)
    owner.page.wait_for_selector("#rules-form:not([inert])")
    owner.page.fill("#rule-brightness", "150")
    owner.page.check("#rule-invert")
    owner.page.click("#rules-form button")
    owner.wait_for_text("rules-saved", "Saved")
    page = someone.page
    someone.begin(served.annotator, "rad")
    assert page.evaluate(LIGHT) == "invert(1) brightness(1.5) contrast(1)"
    assert page.inner_text("#changed-words") == "The owner of the study set the pictures: brightness 150 %, inverted."
    assert not page.is_visible("#changed-reset")
    someone.press("ArrowLeft")
    page.keyboard.press("i")
    page.keyboard.press("B")
    assert page.inner_text("#changed-words") == "You changed the pictures: brightness 136 %."
    someone.press("ArrowLeft")
    # What one changed stays, also where the owner changes the rest.
    owner.page.fill("#rule-brightness", "100")
    owner.page.fill("#rule-contrast", "200")
    owner.page.click("#rules-form button")
    owner.wait_for_text("rules-saved", "Saved")
    someone.wait_until_sent()
    page.reload()
    someone.wait_for_pair()
    assert page.evaluate(LIGHT) == "invert(0) brightness(1.36) contrast(2)"
    page.keyboard.press("r")
    assert page.evaluate(LIGHT) == "invert(1) brightness(1) contrast(2)"
    someone.press("ArrowLeft")
    someone.wait_until_sent()
    recorded = [row["client"].partition("; ")[2] for row in answers(served.path, "rad")]
    assert recorded == ["brightness 150 %, inverted", "brightness 136 %", "contrast 200 %, inverted"]


def test_texts_are_markdown_where_the_owner_says_so(serve: Any, essays: Any, judge: Callable[..., Any]) -> None:
    (served,) = serve(essays)
    with Study.open(f"sqlite:///{served.path}") as study:
        study.set_rules(markdown=True)
        study.add_items(Items(["list"], content={"text": ["# Two reasons\n\n- *one*\n- two\n\n<b>no element</b>"]}))
    owner, someone = judge(), judge()
    page = someone.page
    someone.begin(served.annotator, "tess")
    while page.locator("#stage .words li").count() == 0:
        someone.press("ArrowLeft")
    assert page.locator("#stage .words :is(h1, em)").count() == 2
    assert page.locator("#stage .words b, #stage script, #stage .words img").count() == 0
    assert "<b>no element</b>" in page.inner_text("#stage")
    someone.press("ArrowLeft")
    someone.wait_until_sent()
    owner.join(served.owner)
    owner.page.wait_for_selector("#rule-markdown:checked")
    owner.page.click(".item-card:has-text('Two reasons')")
    assert owner.page.locator("#item-body .markdown li").count() == 2


def test_texts_scroll_together_or_apart_and_stay_text(shared: Any, judge: Callable[..., Any]) -> None:
    served = shared["essays"]
    someone = judge(width="phone")
    page = someone.page
    someone.begin(served.annotator, "tess")
    assert page.locator("#question h1").count() == 1
    for _ in range(20):
        if page.evaluate("[...document.querySelectorAll('#stage .text')].some(t => t.scrollHeight > t.clientHeight)"):
            break
        someone.press("ArrowLeft")
    page.keyboard.press("ArrowDown")
    someone.until(f"Math.max(...{SCROLLED}) > 0")
    # Markup in an item is shown, not run: the fixture fails where a script ran.
    seen: set[str] = set()
    while "alert(1)" not in "".join(seen):
        seen.add(page.inner_text("#stage"))
        assert page.locator("#stage script, #stage .words img").count() == 0
        if "alert(1)" in page.inner_text("#stage"):
            break
        someone.press("ArrowRight")


def test_sounds_play_one_at_a_time(shared: Any, judge: Callable[..., Any]) -> None:
    served = shared["tones"]
    someone = judge()
    page = someone.page
    someone.begin(served.annotator, "ear")
    playing = "[...document.querySelectorAll('#stage audio')].map(a => !a.paused)"
    for key, expected in (("1", [True, False]), ("2", [False, True]), ("2", [False, False])):
        page.keyboard.press(key)
        someone.until(f"JSON.stringify({playing}) === {json.dumps(json.dumps(expected, separators=(',', ':')))}")


def test_keys_can_be_switched_off_and_do_not_act_while_typing(shared: Any, judge: Any) -> None:
    served = shared["essays"]
    someone = judge()
    page = someone.page
    someone.begin(served.annotator, "sam")
    before = someone.pair
    page.keyboard.press("s")
    page.keyboard.press("u")
    page.keyboard.press("ArrowLeft")
    assert page.input_value("#reason") == "u"
    page.keyboard.press("Escape")
    assert someone.pair == before
    page.keyboard.press("?")
    page.uncheck("#keys-on")
    page.click("#help button")
    page.keyboard.press("ArrowLeft")
    page.wait_for_timeout(100)
    assert someone.pair == before
    # The buttons still do, and after one is clicked the space key does not press it again.
    page.click("#choose-right")
    someone.until("document.getElementById('last').textContent === 'You chose right.'")
    assert page.evaluate("!document.activeElement.matches('button')")
