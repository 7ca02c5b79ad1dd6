"""Nobody answers what they cannot see, and nobody answers by accident."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ordinate import Items, Study

# One browser and one server for all; test_browser_story.py has what stands for them in every run.
pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("browser")]

PAIR = """[...document.querySelectorAll('#stage:not([hidden]) .item')].map(item =>
  [...item.querySelectorAll('[src]')].map(one => new URL(one.src).pathname).join() + item.textContent).join(' | ')"""
LOADING = "document.querySelectorAll('#stage .picture.loading').length"


def test_a_pair_is_answered_only_when_both_pictures_are_on_the_screen(
    shared: Any, judge: Callable[..., Any], answers: Any
) -> None:
    served = shared["photos"]
    someone, owner = judge(), judge()
    page = someone.page
    held: list[Any] = []

    def hold(route: Any) -> None:
        # A request for a range only asks how large the picture is.
        route.continue_() if "range" in route.request.headers or len(held) == 1 else held.append(route)

    page.route("**/media/**", hold)
    someone.join(served.annotator, "eager")
    someone.until(f"{LOADING} === 1")
    someone.until("document.getElementById('live').textContent === 'The pair is loading.'")
    for key in ("ArrowLeft", "ArrowRight", " "):
        page.keyboard.press(key)
    page.click("#choose-left", force=True)
    assert page.get_attribute("#choose-left", "aria-disabled") == "true"
    assert page.is_disabled("#tie-button")
    assert page.is_disabled("#skip-button")
    someone.until("document.querySelector('.picture.loading .loading-note').textContent.endsWith(' kB')")
    held[0].continue_()
    someone.wait_for_pair()
    assert someone.text("live") == "Left: a picture. Right: a picture."
    before = someone.press("ArrowLeft")
    someone.wait_until_sent()
    assert [row["answer"] for row in answers(served.path, "eager")] == ["left"]
    assert before

    # One that does not load can be loaded again, or skipped; the owner is told which one it is.
    page.unroute("**/media/**")
    page.wait_for_timeout(100)
    page.route("**/media/**", lambda route: route.abort())
    page.reload()
    page.wait_for_selector("#left .failure")
    someone.until("document.getElementById('live').textContent.endsWith(' did not load. You can skip this pair.')")
    page.unroute("**/media/**")
    page.click("#right .failure button")
    someone.until("document.querySelectorAll('.failure').length === 1")
    page.keyboard.press("ArrowRight")
    assert page.inner_text("#skip-button span") == "Skip: does not load"
    page.keyboard.press("s")
    someone.until("document.getElementById('last').textContent === 'Skipped.'")
    someone.wait_until_sent()
    skipped = answers(served.path, "eager")[-1]
    assert (skipped["answer"], skipped["reason"]) == ("skip", "does not load: left")
    # Where there is no thumbnail, the whole picture is shown.
    owner.page.route("**/thumbnail", lambda route: route.abort())
    owner.join(served.owner)
    owner.until("document.querySelector('.face img')?.src.endsWith('/image')")
    owner.wait_for_text("not-loaded", f"Did not load for annotators: {skipped['left']} (1 skip).")


def test_accidents_are_no_answers(shared: Any, judge: Callable[..., Any], answers: Any) -> None:
    served = shared["photos"]
    someone = judge()
    page = someone.page
    someone.begin(served.annotator, "clumsy")
    ahead = "Number(document.getElementById('app').dataset.ahead)"
    for accident in (
        lambda: page.dblclick("#choose-left"),
        lambda: [page.keyboard.down("ArrowLeft") for _ in range(20)] and page.keyboard.up("ArrowLeft"),
        lambda: (
            page.focus("#choose-right")
            or ([page.keyboard.down("Enter") for _ in range(20)] and page.keyboard.up("Enter"))
        ),
        # Twice within the time in which nobody can have seen the next pair.
        lambda: page.evaluate(
            "for (const key of ['ArrowLeft', 'ArrowLeft']) dispatchEvent(new KeyboardEvent('keydown', {key}))"
        ),
    ):
        someone.until(f"{ahead} > 1")
        someone.wait_for_pair()
        before = len(answers(served.path, "clumsy"))
        accident()
        someone.until("document.getElementById('app').dataset.waiting === '0'")
        page.wait_for_timeout(50)
        assert len(answers(served.path, "clumsy")) == before + 1


def test_an_undo_waits_for_the_network_like_an_answer(shared: Any, judge: Callable[..., Any], answers: Any) -> None:
    served = shared["photos"]
    someone = judge()
    page = someone.page
    someone.begin(served.annotator, "regret")
    first = someone.press("ArrowLeft")
    someone.wait_until_sent()
    someone.until("Number(document.getElementById('app').dataset.ahead) >= 2")
    page.route("**/api/v1/**", lambda route: route.abort())
    someone.press("u")
    assert someone.pair == first
    someone.press("ArrowRight")
    second = someone.press("ArrowLeft")
    page.keyboard.press("u")
    someone.until(f"{json.dumps(second)} === {PAIR}")
    assert [row["answer"] for row in answers(served.path, "regret")] == ["left"]
    page.unroute("**/api/v1/**")
    page.evaluate("dispatchEvent(new Event('online'))")
    someone.wait_until_sent()
    assert [row["answer"] for row in answers(served.path, "regret")] == ["right"]
    # After a reload, too: the page remembers its latest answers.
    page.reload()
    someone.wait_for_pair()
    someone.press("u")
    assert someone.pair == first
    someone.wait_until_sent()
    assert answers(served.path, "regret") == []


def test_who_waits_for_others_goes_on_by_itself(shared: Any, judge: Callable[..., Any]) -> None:
    served = shared["photos"]
    someone, other = judge(), judge()
    other.begin(served.annotator, "quick")
    nothing: dict[str, Any] = {"queries": [], "finished": None, "paused": False, "held": True, "retry_after": 1}
    someone.page.route("**/queries", lambda route: route.fulfill(json=nothing))
    someone.join(served.annotator, "patient")
    someone.wait_for_text("message-title", "Others are judging the last pairs")
    assert someone.page.title() == "Others are judging the last pairs · photos · ordinate"
    someone.page.unroute("**/queries")
    someone.wait_for_pair()
    assert someone.page.title() == "Judging · photos · ordinate"


def test_the_owner_finds_a_name_below_the_link_that_it_was_given_by(shared: Any, judge: Callable[..., Any]) -> None:
    served = shared["photos"]
    someone, owner, again = judge(), judge(), judge()
    for name in ("Zora Zweig", "Zeno Zweig"):
        someone.begin(served.annotator, name)
    owner.join(served.owner)
    page = owner.page
    page.click(".names > summary")
    page.wait_for_selector("text=Of Zora Zweig")
    page.fill("[aria-label='Find a name']", "zeno z")
    page.wait_for_selector("text=Of Zora Zweig", state="detached")
    again.begin(page.input_value("[aria-label='Address of the link of Zeno Zweig']"), name=None)
    again.page.keyboard.press("?")
    assert "You judge as Zeno Zweig." in again.page.inner_text("#help")
    page.click("button[aria-label='Revoke the link of Zeno Zweig']")
    page.click("#sure-yes")
    page.wait_for_selector("text=Of Zeno Zweig: revoked")


def test_short_texts_are_large_and_code_has_a_fixed_pitch(
    tmp_path: Path, serve: Any, judge: Callable[..., Any]
) -> None:
    code = ["def a(x):\n    return x", "def a(x):\n    if x:\n        return x", "if x:\n    y = a(x)"]
    paths = []
    for name, texts in (("short", ["A cat", "A dog", "A cow"]), ("code", code)):
        paths.append(tmp_path / f"{name}.db")
        question = "Which is better?" if name == "short" else "Which is easier to read?\n\n" + "Think of it.\n\n" * 12
        items = Items(ids=["a", "b", "c"], content={"text": texts})
        Study.create(items, question=question, storage=f"sqlite:///{paths[-1]}").close()
    short, code_study = serve(*paths)
    someone = judge()
    page = someone.page
    someone.begin(short.annotator, "reader")
    style = "getComputedStyle(document.querySelector('#left .words'))"
    assert page.evaluate(f"[{style}.textAlign, parseFloat({style}.fontSize) > 30]") == ["center", True]
    assert not page.is_visible("#question-button")
    someone.begin(code_study.annotator, "reader")
    assert page.evaluate(f"[{style}.whiteSpaceCollapse, {style}.fontFamily.includes('mono')]") == ["preserve", True]
    # A long question is folded, scrolls by keyboard, and opens.
    height = "document.getElementById('question').clientHeight"
    folded = page.evaluate(height)
    page.focus("#question")
    page.keyboard.press("ArrowDown")
    someone.until("document.getElementById('question').scrollTop > 0")
    page.keyboard.press("q")
    someone.until(f"{height} > {2 * folded}")
    page.click("#question-button")
    someone.until(f"{height} === {folded}")


def test_a_page_that_opens_nothing_says_where_to_go(shared: Any, judge: Callable[..., Any]) -> None:
    served = shared["photos"]
    owner = judge()
    page = owner.page
    root = served.owner.partition("/join/")[0]
    page.goto(root)
    assert "ordinate serve" in page.inner_text("main")
    assert not page.is_visible("#open-studies")
    owner.join(served.owner)
    page.goto(root)
    page.click("#open-list >> text=results")
    page.click("text=Judge yourself")
    owner.wait_for_pair()
    page.click("[aria-label='Results of the study']")
    page.wait_for_selector("#links button")
