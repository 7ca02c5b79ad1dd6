"""A model judges the pairs of a study: what is stored, counted and given up."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from typing import Any

import pytest
from tests.judges.conftest import IDS, Answer, Model, Sent, completion, larger

from ordinate.data.items import Items
from ordinate.errors import InvalidInput, JudgeFailed, OrdinateError
from ordinate.judges.endpoint import Endpoint
from ordinate.judges.judging import UNREADABLE_IN_A_ROW, Tally, Task, combined, judge
from ordinate.judges.places import InFile
from ordinate.judges.prompt import Prompt
from ordinate.study.machines import Machine
from ordinate.study.study import Study

PROMPT = Prompt("Prefer the larger number.", "0" * 64)
ALL = len(IDS) * (len(IDS) - 1) // 2


def run(study: Study, model: Model, **options: Any) -> Tally:
    machine = Machine("m", PROMPT.sha256, options.pop("orders", "one"))
    task = Task(PROMPT, machine, options.pop("annotator", "m"), **options)

    async def whole() -> Tally:
        async with Endpoint(model.url, "m", timeout=5.0, patience=1.0, pause=0.01) as endpoint:
            return await judge(InFile(study, Path()), endpoint, task, lambda _: None)

    return asyncio.run(whole())


def test_every_pair_is_judged_once_and_the_order_is_right(study, model):
    tally = run(study, model)
    assert tally.kinds == {"decided": ALL}
    assert "no pair is left" in tally.ended
    assert len(model.sent) == ALL
    assert study.ordering().ids == tuple(reversed(IDS))
    assert study.annotators() == {"m": ALL}
    assert tally.tokens == study.tokens("m") == 100 * ALL
    # There is nothing left for it, though people would be given pairs again.
    assert run(study, model).judged == 0
    assert len(model.sent) == ALL


def test_sides_are_mixed_and_ids_are_not_sent(study, model):
    run(study, model)
    first = [int(re.sub(r"\D", "", sent.texts[0])) > int(re.sub(r"\D", "", sent.texts[1])) for sent in model.sent]
    assert 0 < sum(first) < ALL
    assert not any("entry" in str(sent.body["messages"][1]) for sent in model.sent)


def test_several_pairs_are_judged_at_once_but_not_more_than_asked(study, model):
    model.answer = lambda sent: larger(sent)._replace(delay=0.05)
    run(study, model, concurrency=3, answers=12)
    assert model.most_at_once == 3


def test_budgets_are_of_all_runs_together(study, model):
    assert run(study, model, answers=5).ended == "all 5 answers are given"
    assert run(study, model, answers=7).kinds == {"decided": 2}
    assert run(study, model, answers=7).judged == 0
    spent = run(study, model, tokens=1000, concurrency=1)
    assert (spent.kinds, spent.tokens, spent.ended) == ({"decided": 3}, 1000, "the budget of 1000 tokens is spent")


def test_a_budget_of_tokens_needs_an_endpoint_that_counts_them(study, model):
    model.answer = lambda _: completion("[[A]]", None)
    with pytest.raises(JudgeFailed, match="does not say how many tokens"):
        run(study, model, tokens=1000, concurrency=1)
    assert run(study, model, answers=3).answers == 3


def test_ties_refusals_and_unreadable_replies_are_told_apart_and_none_is_guessed(study, model):
    model.next = [
        completion("[[tie]]"),
        completion("[[skip]]"),
        completion(None, message={"refusal": "no"}),
        completion("Well, A or B?"),
        completion("[[A]]", finish_reason="length"),
    ]
    tally = run(study, model, concurrency=1, answers=2)
    assert tally.kinds == {"tie": 1, "skipped": 1, "refused": 1, "unreadable": 2, "decided": 1}
    reasons = [entry.reason for entry in study.answered() if entry.answer == "skip"]
    assert reasons == [
        "the model could not judge",
        "the model refused",
        "no verdict in 'Well, A or B?'",
        "cut off at its limit of tokens: '[[A]]'",
    ]
    assert study.comparisons()[0].outcome == "tie"


def test_a_tie_where_the_study_takes_none_is_unreadable(study, model):
    study.set_rules(ties=False)
    model.next = [completion("[[tie]]")]
    assert run(study, model, concurrency=1, answers=1).kinds == {"unreadable": 1, "decided": 1}


def test_items_that_come_while_a_model_judges_are_judged_too(study, model):
    def adding(sent: Sent) -> Answer:
        if len(model.sent) == 2:
            study.add_items(Items(["new"], content={"text": ["The number 9"]}))
        return larger(sent)

    model.answer = adding
    assert run(study, model).kinds == {"decided": ALL + len(IDS)}
    assert study.ordering().ids[0] == "new"


def test_the_question_and_the_rules_are_those_of_the_moment(study, model):
    def changing(sent: Sent) -> Answer:
        if len(model.sent) == 2:
            study.set_rules(ties=False, question="Which is greater?")
            return completion("[[tie]]")
        return larger(sent)

    model.answer = changing
    tally = run(study, model, concurrency=1, answers=3)
    assert tally.kinds == {"decided": 3, "skipped": 1}
    (skipped,) = [entry for entry in study.answered() if entry.answer == "skip"]
    assert skipped.reason == "a tie, which the study does not take any more"
    assert study.tokens("m") == 400
    asked = [re.findall("Question: (.*)", sent.body["messages"][0]["content"])[0] for sent in model.sent]
    assert asked == ["Which is larger?"] * 2 + ["Which is greater?"] * 2
    assert "[[tie]]" not in model.sent[-1].body["messages"][0]["content"]


def test_a_model_whose_replies_say_nothing_is_stopped(study, model):
    model.answer = lambda _: completion("As an AI I like both.")
    with pytest.raises(JudgeFailed, match=r"10 replies in a row .* the last: no verdict in 'As an AI"):
        run(study, model, concurrency=1)
    assert len(model.sent) == UNREADABLE_IN_A_ROW


@pytest.mark.slow
def test_a_model_of_whose_replies_most_say_nothing_is_stopped(study, model):
    study.add_items(
        Items([f"more {number}" for number in range(6)], content={"text": [f"The number {n}" for n in range(6, 12)]})
    )
    model.answer = lambda sent: larger(sent) if len(model.sent) % 9 == 0 else completion("Well.")
    with pytest.raises(JudgeFailed, match=r"15 of 16 replies could not be read"):
        run(study, model, concurrency=1)
    assert len(model.sent) == 16
    # One in three is no reason to stop.
    model.sent.clear()
    model.answer = lambda sent: completion("Well.") if len(model.sent) % 3 == 0 else larger(sent)
    assert run(study, model, concurrency=1, annotator="m2").judged == 66


def test_a_model_that_is_left_out_during_its_run_ends_it_and_what_it_was_asked_is_stored(study, model):
    def answer(sent: Sent) -> Answer:
        if len(model.sent) == 3:
            study.exclude_annotator("m")
        return larger(sent)

    model.answer = answer
    tally = run(study, model, concurrency=1)
    assert tally.ended == "m was left out of the study; its answers are kept and do not count"
    assert (tally.kinds, study.annotators(), study.comparisons()) == ({"decided": 3}, {"m": 3}, [])
    assert run(study, model).judged == 0
    study.include_annotator("m")
    assert run(study, model).judged == ALL - 3


def test_both_orders_must_agree(study, model):
    assert run(study, model, orders="both", answers=6, concurrency=2).kinds == {"decided": 6}
    assert len(model.sent) == 12
    assert all(one.texts == two.texts[::-1] for one, two in _by_pair(model.sent))
    model.answer = lambda _: completion("[[A]]")
    tally = run(study, model, orders="both", annotator="left", answers=3)
    assert tally.kinds == {"orders disagree": 3}
    assert {one.outcome for one in study.comparisons() if one.annotator == "left"} == {"tie"}
    study.set_rules(ties=False)
    assert run(study, model, orders="both", annotator="left again", tokens=700, concurrency=1).answers == 0


def _by_pair(sent: list[Sent]) -> list[tuple[Sent, Sent]]:
    of: dict[frozenset[str], list[Sent]] = {}
    for one in sent:
        of.setdefault(frozenset(one.texts), []).append(one)
    return [(first, second) for first, second in of.values()]


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ("A", "B", ("left", "decided")),
        ("B", "A", ("right", "decided")),
        ("A", "A", ("tie", "orders disagree")),
        ("tie", "tie", ("tie", "tie")),
        ("A", "tie", ("tie", "orders disagree")),
    ],
)
def test_what_two_orders_say_together(first, second, expected):
    assert combined([(first, None), (second, None)], ties=True)[:2] == expected
    if expected[1] == "orders disagree":
        assert combined([(first, None), (second, None)], ties=False)[0] == "skip"


def test_a_refused_request_costs_its_pair_alone(study, model):
    def picky(sent: Sent) -> Answer:
        return Answer(400, b'{"error": {"message": "too long"}}') if "The number 3" in sent.texts else larger(sent)

    model.answer = picky
    tally = run(study, model)
    assert tally.kinds == {"decided": ALL - 5, "request refused": 5}
    assert study.ordering().ids[0] == IDS[-1]


def test_where_every_request_is_refused_nothing_is_stored(study, model):
    model.answer = lambda _: Answer(400, b'{"error": {"message": "no such model"}}')
    with pytest.raises(JudgeFailed, match="no such model"):
        run(study, model)
    assert study.answered() == []
    model.answer = larger
    assert run(study, model).answers == ALL


def test_what_came_before_a_failure_stays_and_the_open_pairs_come_first(study, model):
    model.next, model.answer = [completion("[[A]]")] * 5, lambda _: Answer(401)
    with pytest.raises(JudgeFailed, match="status 401"):
        run(study, model, concurrency=2)
    stored = study.comparisons()
    assert 4 <= len(stored) <= 6
    assert study.open_queries()
    model.answer = larger
    assert run(study, model).answers == ALL
    assert study.comparisons()[: len(stored)] == stored
    assert len({frozenset((one.left, one.right)) for one in study.comparisons()}) == ALL


def test_another_process_with_the_same_name_costs_requests_but_no_answers(study, model):
    def overtaken(sent: Sent) -> Answer:
        if len(model.sent) == 1:
            study.tell(study.open_queries()[0].id, "tie")
        return larger(sent)

    model.answer = overtaken
    tally = run(study, model, concurrency=1, answers=4)
    assert tally.kinds == {"answered elsewhere": 1, "decided": 4}


def test_a_name_belongs_to_one_judge(study, model):
    run(study, model, answers=1)
    with pytest.raises(InvalidInput, match="'m' is another judge: orders one"):
        run(study, model, orders="both")
    study.tell(study.ask("Ann").id, "left")
    with pytest.raises(InvalidInput, match="'Ann' has been asked or has answered as a person"):
        run(study, model, annotator="Ann")
    assert list(study.machines) == ["m"]


@pytest.mark.parametrize("kind", ["audio", "link"])
def test_what_a_model_cannot_see_is_refused(kind, model):
    study = Study.create(Items(["a", "b"], content={kind: ["https://x.org/1", "https://x.org/2"]}))
    with pytest.raises(InvalidInput, match=f"a column {kind}"):
        run(study, model)


def test_a_picture_that_is_gone_is_named(model):
    study = Study.create(Items(["a", "b"], content={"image": ["gone.png", "away.png"]}))
    with pytest.raises(OrdinateError, match=r"item '[ab]': .*(gone|away)\.png"):
        run(study, model)


def test_budgets_of_people_do_not_hold_for_models(study, model):
    study.set_rules(annotator_budget=2)
    assert run(study, model, answers=5).answers == 5
    study.set_rules(budget=6)
    assert run(study, model).ended == "the study has all 6 answers it asks for"
