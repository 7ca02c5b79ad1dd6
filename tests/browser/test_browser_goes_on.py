"""The judging page goes on by itself: at the end of a budget, after a refusal, while the study is not served."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from ordinate import Study

# One browser and one server for all; test_browser_story.py has what stands for them in every run.
pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("browser")]

THANKS = "Thank you, that is all"


def test_whoever_gives_the_last_answer_without_a_network_is_thanked(
    serve: Any, essays: Any, judge: Callable[..., Any], answers: Any
) -> None:
    (served,) = serve(essays, options=("--annotator-budget", "2"))
    someone = judge()
    someone.begin(served.annotator, "far")
    someone.press("ArrowLeft")
    someone.wait_until_sent()
    someone.page.wait_for_timeout(1500)  # it has asked for more pairs, and there are none
    someone.page.context.set_offline(True)
    someone.page.keyboard.press("ArrowLeft")
    someone.wait_for_text("message-title", "No network")
    someone.page.context.set_offline(False)
    someone.wait_for_text("message-title", THANKS)
    assert len(answers(served.path)) == 2


def test_whoever_takes_the_last_answer_back_and_answers_again_is_thanked_again(
    serve: Any, essays: Any, judge: Callable[..., Any], answers: Any
) -> None:
    (served,) = serve(essays, options=("--annotator-budget", "2"))
    someone = judge()
    someone.begin(served.annotator, "second thoughts")
    someone.press("ArrowLeft")
    someone.press("ArrowLeft")
    someone.wait_for_text("message-title", THANKS)
    # While the page still waits for the newest expected error.
    someone.page.keyboard.press("u")
    someone.wait_for_pair()
    someone.page.keyboard.press("ArrowRight")
    someone.wait_for_text("message-title", THANKS)
    someone.wait_until_sent()
    assert [row["answer"] for row in answers(served.path)] == ["left", "right"]


def test_whoever_looks_for_more_pairs_at_the_end_gets_them(serve: Any, essays: Any, judge: Callable[..., Any]) -> None:
    (served,) = serve(essays, options=("--budget", "1"))
    someone = judge()
    someone.begin(served.annotator, "eager")
    someone.press("ArrowLeft")
    someone.wait_for_text("message-title", THANKS)
    with Study.open(f"sqlite:///{served.path}") as study:
        study.set_rules(budget=3)
    someone.page.click("text=Look for more pairs")
    someone.wait_for_pair()


def test_a_pair_whose_answer_was_refused_comes_back(
    serve: Any, essays: Any, judge: Callable[..., Any], answers: Any
) -> None:
    (served,) = serve(essays)
    someone = judge()
    with Study.open(f"sqlite:///{served.path}") as study:
        for number in range(2, 8):
            study.exclude_item(f"essay-{number}")  # a single pair is left
        someone.begin(served.annotator, "tess")
        # The page learns of the rule by the refusal.
        someone.page.route("**/api/v1/studies/essays", lambda route: route.abort())
        before = someone.pair
        study.set_rules(ties=False)
        someone.page.keyboard.press(" ")
        someone.wait_for_text("refused", "One answer did not count. Ties are no answer in this study")
        someone.page.unroute_all()
        someone.wait_for_pair()
        assert someone.pair == before
        someone.until("document.getElementById('tie-button').hidden", seconds=40)
    someone.page.keyboard.press("ArrowLeft")
    someone.wait_for_text("message-title", THANKS)
    assert [row["answer"] for row in answers(served.path)] == ["left"]


def test_a_pair_whose_answer_was_taken_back_elsewhere_comes_back(
    serve: Any, essays: Any, judge: Callable[..., Any]
) -> None:
    (served,) = serve(essays)
    someone = judge()
    with Study.open(f"sqlite:///{served.path}") as study:
        for number in range(2, 8):
            study.exclude_item(f"essay-{number}")  # a single pair is left
        someone.begin(served.annotator, "tom")
        before = someone.press("ArrowLeft")
        someone.wait_for_text("message-title", THANKS)
        study.take_back("tom")
    someone.page.click("text=Look for more pairs")
    someone.wait_for_pair()
    assert someone.pair == before


def test_answers_wait_while_the_study_is_not_served(
    serve: Any, essays: Any, judge: Callable[..., Any], answers: Any
) -> None:
    (served,) = serve(essays)
    someone = judge()
    page = someone.page
    someone.begin(served.annotator, "patient")
    someone.press("ArrowLeft")
    someone.wait_until_sent()
    someone.until("Number(document.getElementById('app').dataset.ahead) >= 2")
    # As while the study is archived.
    gone = {"type": "about:blank", "status": 404, "detail": "no study 'essays' is served here"}
    page.route(
        "**/api/v1/studies/essays/**",
        lambda route: route.fulfill(status=404, content_type="application/problem+json", body=json.dumps(gone)),
    )
    while not page.is_visible("#message"):
        page.keyboard.press("ArrowLeft")
        page.wait_for_timeout(100)
    given = int(page.get_attribute("#app", "data-waiting") or 0)
    assert given >= 3
    someone.wait_for_text("network", f"The study cannot be reached, {given} answers waiting in this browser. No study")
    assert someone.text("refused") == ""
    page.unroute_all()
    someone.wait_for_pair()
    someone.wait_until_sent()
    assert len(answers(served.path)) == 1 + given


def test_undo_in_one_tab_takes_back_what_this_person_answered_in_this_study(
    serve: Any, essays: Any, photos: Any, judge: Callable[..., Any], answers: Any
) -> None:
    texts, pictures = serve(essays, photos.path)
    someone = judge()
    page = someone.page
    someone.begin(texts.annotator, "ann")
    first = someone.press("ArrowLeft")
    someone.wait_until_sent()
    someone.begin(pictures.annotator, "ann")
    shown = someone.pair
    page.keyboard.press("u")
    someone.wait_for_text("last", "There is no answer of 'ann' that could be taken back")
    assert someone.pair == shown

    someone.begin(texts.annotator, "bob")
    page.keyboard.press("u")
    someone.wait_for_text("last", "There is no answer of 'bob' that could be taken back")
    seen = someone.press("ArrowRight")
    page.keyboard.press("u")
    someone.until("document.getElementById('last').textContent === 'Taken back'")
    assert someone.pair == seen
    someone.press("ArrowRight")
    someone.wait_until_sent()
    assert [(row["annotator"], row["answer"]) for row in answers(texts.path)] == [("ann", "left"), ("bob", "right")]

    someone.begin(texts.annotator, "ann")
    page.keyboard.press("u")
    someone.until("document.getElementById('last').textContent === 'Taken back'")
    assert someone.pair == first


def test_what_was_taken_back_in_another_tab_is_not_taken_back_again(
    serve: Any, essays: Any, judge: Callable[..., Any], answers: Any
) -> None:
    (served,) = serve(essays)
    one = judge()
    one.begin(served.annotator, "twin")
    first = one.press("ArrowLeft")
    second = one.press("ArrowLeft")
    one.wait_until_sent()
    other = judge(context=one.page.context)
    other.page.goto(one.page.url)
    other.wait_for_pair()
    other.page.keyboard.press("u")
    other.until("document.getElementById('last').textContent === 'Taken back'")
    assert other.pair == second
    one.page.keyboard.press("u")
    one.until("document.getElementById('last').textContent === 'Taken back'")
    assert one.pair == first
    one.wait_until_sent()
    assert answers(served.path) == []


def test_an_open_page_follows_a_changed_question(serve: Any, essays: Any, judge: Callable[..., Any]) -> None:
    (served,) = serve(essays)
    someone = judge()
    someone.begin(served.annotator, "asked")
    with Study.open(f"sqlite:///{served.path}") as study:
        study.set_rules(question="# Which is *kinder*?\n\nTo the reader.")
    someone.page.wait_for_timeout(500)
    assert "Which argument is stronger?" in someone.text("question"), "not while somebody judges"
    # The next pair is there before the server has heard of the answer, unless it takes a moment to load.
    for _ in range(2):
        if "stronger" in someone.text("question"):
            someone.press("ArrowRight")
            someone.wait_until_sent()
    someone.wait_for_text("question", "Which is kinder?")
    assert someone.page.inner_text("#question em") == "kinder"
    someone.wait_for_text("last", "You chose right. The question has changed.")
    someone.until("document.getElementById('live').textContent.includes('The question has changed: Which is kinder?')")
    someone.press("ArrowLeft")
    someone.wait_for_text("last", "You chose left.")
    assert "changed" not in someone.text("last")


def test_whoever_has_understood_a_refusal_goes_on_by_keyboard(
    serve: Any, essays: Any, judge: Callable[..., Any], answers: Any
) -> None:
    (served,) = serve(essays)
    someone = judge()
    someone.begin(served.annotator, "kim")
    with Study.open(f"sqlite:///{served.path}") as study:
        (first, *_) = study.open_queries()
        study.withdraw(first.id)
    someone.press("ArrowLeft")
    someone.wait_for_text("refused", "One answer did not count. That pair was withdrawn.")
    someone.wait_for_pair()
    someone.page.focus("#refused button")
    someone.page.keyboard.press("Enter")
    assert someone.text("refused") == ""
    assert someone.page.evaluate("document.activeElement.id") == "stage"
