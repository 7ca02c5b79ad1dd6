"""Models first, then people: what people are asked, which models are left out, and what that is worth."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from ordinate.data.comparisons import Comparison, Outcome
from ordinate.data.items import Items
from ordinate.data.pairs import pairs_of_codes
from ordinate.storage import AnswerDetails
from ordinate.study import mixing
from ordinate.study.fold import State
from ordinate.study.machines import Machine
from ordinate.study.study import Study

MODEL = Machine("m", "0" * 64)


def study_with(answers: list[tuple[str, str, str, str]], ids: str = "abcdef") -> Study:
    study = Study.create(Items(list(ids)), algorithm="uniform-independent")
    for name in dict.fromkeys(annotator for *_, annotator in answers if annotator.startswith("m")):
        study.add_machine(name, MODEL)
    study.record([Comparison(*one) for one in answers])  # type: ignore[arg-type]
    study.set_rules(after_models=True)
    return study


def pairs_asked(study: Study, annotator: str, count: int) -> list[frozenset[str]]:
    asked = []
    for _ in range(count):
        query = study.ask(annotator)
        assert study.ask(annotator) == query, "an open query comes first"
        study.tell(query.id, "left")
        asked.append(frozenset((query.left, query.right)))
    return asked


def test_people_are_asked_where_models_are_unsure_and_to_check_them():
    sure = [("a", "b", "left", "m"), ("a", "c", "left", "m"), ("b", "c", "left", "m"), ("b", "d", "left", "m")]
    torn = [("d", "e", "left", "m"), ("e", "d", "left", "m2")]
    study = study_with([*sure, ("e", "f", "tie", "m"), *torn, ("c", "f", "tie", "m"), ("c", "f", "left", "ann")])
    study.exclude_item("a")
    asked = pairs_asked(study, "bob", 4)
    # c and f: ann has judged it. a is excluded. The others are asked, and each once.
    assert set(asked) == {frozenset("ef"), frozenset("de"), frozenset("bc"), frozenset("bd")}
    # Then as usual.
    assert len(pairs_asked(study, "bob", 3)) == 3


def test_a_pair_that_a_model_skipped_is_for_people_and_one_that_is_open_is_not():
    study = Study.create(Items(list("abc")), algorithm="uniform-independent")
    study.add_machine("m", MODEL)
    skipped = study.ask_model("m", 1)[0]
    study.tell(skipped.id, "skip", AnswerDetails("no verdict in 'A or B'"))
    study.set_rules(after_models=True)
    first = study.ask("ann")
    assert {first.left, first.right} == {skipped.left, skipped.right}
    other = study.ask("bob")
    assert {other.left, other.right} != {skipped.left, skipped.right}


def test_one_pair_in_five_checks_the_models():
    ids = [str(number) for number in range(40)]
    study = Study.create(Items(ids), algorithm="uniform-independent")
    study.add_machine("m", MODEL)
    study.record([Comparison(one, other, "tie", "m") for one, other in pairwise(ids)])
    decided = [(one, other) for one, other in zip(ids, ids[2:], strict=False)]
    study.record([Comparison(one, other, "left", "m") for one, other in decided])
    study.set_rules(after_models=True)
    asked = pairs_asked(study, "ann", 30)
    checks = sum(one in {frozenset(pair) for pair in decided} for one in asked)
    assert 2 <= checks <= 12


def test_pairs_chosen_ahead_and_random_ones_are_those_that_models_leave_to_people_too():
    unsure = [("a", "b"), ("c", "d"), ("e", "f")]
    study = study_with([(*pair, "tie", "m") for pair in unsure])
    offers = study.choose(["ann", "bob", "cid", "dan"])
    pairs = [frozenset((offer.left, offer.right)) for offer in offers if offer is not None]
    assert set(pairs[:3]) == set(map(frozenset, unsure))
    assert len(set(pairs)) == 4, "the last one is as without models"
    drawn = study.draw("ann")
    assert frozenset((drawn.left, drawn.right)) in pairs[:3]
    study.set_rules(after_models=False)
    usual = {frozenset((offer.left, offer.right)) for offer in study.choose(["ann", "bob", "cid"]) if offer is not None}
    assert usual != set(pairs[:3])
    study.set_rules(after_models=True)
    assert len(study.ask_model("m", 12)) == 12, "a model gets pairs that are new to it"


def test_agreement_counts_pairs_that_both_decided():
    study = study_with(
        [
            ("a", "b", "left", "m"), ("a", "c", "left", "m"), ("b", "c", "tie", "m"), ("c", "d", "left", "m"),
            ("b", "a", "right", "ann"), ("a", "c", "right", "ann"), ("b", "c", "left", "ann"),
            ("a", "b", "left", "bob"),
        ]
    )  # fmt: skip
    found = study.agreement_of_models()["m"]
    assert found.pairs == 2
    assert found.share is not None
    assert found.share.estimate == pytest.approx(1 / 2)
    assert not found.is_below(0.7)
    study.add_machine("m2", MODEL._replace(model="other"))
    assert study.agreement_of_models()["m2"] == (0, None)


def test_a_pair_counts_once_for_agreement_with_one_vote_of_each_person():
    often = [("a", "b", "right", "bob")] * 30
    study = study_with([("a", "b", "left", "m"), ("c", "d", "left", "m"), *often])
    found = study.agreement_of_models()["m"]
    assert found.pairs == 1
    assert not found.is_below(0.7)
    study.record([("b", "a", "right", "ann"), ("a", "b", "left", "cid"), ("c", "d", "left", "ann")])
    agreed = study.agreement_of_models()["m"]
    assert (agreed.pairs, agreed.share and agreed.share.estimate) == (2, 1.0)
    # One against one says nothing.
    study.exclude_annotator("cid")
    assert study.agreement_of_models()["m"].pairs == 1


def test_what_is_excluded_counts_neither_for_agreement_nor_for_what_people_are_asked():
    study = study_with(
        [
            ("a", "b", "left", "m"), ("a", "c", "left", "m"), ("d", "e", "left", "m"), ("e", "f", "tie", "m2"),
            ("a", "b", "right", "coin"), ("a", "c", "right", "coin"), ("a", "b", "left", "ann"),
        ]
    )  # fmt: skip
    study.exclude_annotator("coin")
    assert study.agreement_of_models()["m"].pairs == 1
    study.exclude_item("a")
    assert study.agreement_of_models()["m"] == (0, None)
    study.exclude_annotator("m2")
    assert "m2" not in study.agreement_of_models()
    assert pairs_asked(study, "bob", 1) == [frozenset("de")], "the pair of the model that counts comes first"
    study.include_item("a")
    assert pairs_asked(study, "bob", 1) == [frozenset("ac")], "an excluded person's pair is open to others"


ITEMS, BY_MODEL, BY_PERSON, RUNS = 24, 150, 60, 8


def wrong_pairs(sharpness: float, mixed: bool, seed: int) -> float:
    """The share of pairs in the wrong order: of a person's answers alone, or after those of a model."""
    rng = np.random.default_rng(seed)
    truth = 1.5 * rng.normal(size=ITEMS)
    ids = [str(number) for number in range(ITEMS)]
    study = Study.create(Items(ids), algorithm="guro-independent", item_variance=2.0, refit_every=10, seed=seed)

    def answer(left: str, right: str, sharp: float) -> Outcome:
        margin = sharp * (truth[int(left)] - truth[int(right)])
        return "left" if rng.random() < 1.0 / (1.0 + np.exp(-margin)) else "right"

    if mixed:
        study.add_machine("m", MODEL)
        pairs = [rng.choice(ids, 2, replace=False).tolist() for _ in range(BY_MODEL)]
        study.record([Comparison(left, right, answer(left, right, sharpness), "m") for left, right in pairs])
    study.set_rules(after_models=True)
    for _ in range(BY_PERSON):
        query = study.ask("ann")
        study.tell(query.id, answer(query.left, query.right, 2.0))
    models = study.agreement_of_models()
    kept = [name for name in study.annotators() if name not in models or not models[str(name)].is_below(0.7)]
    scores = study.only(kept).scores()
    one, other = np.triu_indices(ITEMS, 1)
    return float(((scores[one] - scores[other]) * (truth[one] - truth[other]) < 0).mean())


@pytest.mark.slow
def test_a_good_model_saves_answers_of_people_and_a_bad_one_costs_a_few():
    alone, good, coin, contrary = (
        np.mean([wrong_pairs(sharpness, mixed, seed) for seed in range(RUNS)])
        for sharpness, mixed in ((0.0, False), (2.0, True), (0.0, True), (-2.0, True))
    )
    print(f"{alone:.3f} {good:.3f} {coin:.3f} {contrary:.3f}")
    assert good < alone - 0.02
    assert coin < alone + 0.06
    assert contrary < alone + 0.06


def test_a_pair_that_one_person_skipped_is_for_the_others():
    study = study_with([("a", "b", "tie", "m"), ("c", "d", "tie", "m")])
    study.tell(study.ask("p").id, "skip")
    study.tell(study.ask("p").id, "skip")
    assert set(pairs_asked(study, "other", 2)) == {frozenset("ab"), frozenset("cd")}


def test_a_pair_that_a_person_skips_does_not_come_back_while_others_are_new():
    study = study_with([("a", "b", "tie", "m")])
    asked = []
    for _ in range(5):
        query = study.ask("ann")
        asked.append(frozenset((query.left, query.right)))
        study.tell(query.id, "skip")
    assert asked[0] == frozenset("ab")
    assert len(set(asked)) == 5


def test_a_reply_of_a_model_that_is_taken_back_is_forgotten_where_another_one_came():
    study = Study.create(Items(list("abcdef")), algorithm="uniform-independent")
    study.add_machine("m", MODEL)
    study.set_rules(after_models=True)
    first, second = study.ask_model("m", 2)
    study.tell(first.id, "skip")
    [doubtful] = study.choose(["ann"])
    assert doubtful is not None
    assert {doubtful.left, doubtful.right} == {first.left, first.right}
    study.discard_answers([first.id])
    study.tell(second.id, "skip")
    [doubtful] = study.choose(["ann"])
    assert doubtful is not None
    assert {doubtful.left, doubtful.right} == {second.left, second.right}


def test_what_is_kept_of_the_answers_of_models_is_what_is_found_anew() -> None:
    rng, study = np.random.default_rng(0), study_with([("a", "b", "tie", "m"), ("c", "d", "left", "m2")], "abcdefgh")
    study.record([("a", "c", "left", "ann")])
    names = study.items.ids
    for step in range(120):
        left, right = (names[place] for place in rng.choice(len(names), 2, replace=False))
        match step % 6:
            case 0 | 1:
                said = ("left", "right", "tie")[int(rng.integers(3))]
                study.record([(left, right, said, ("m", "m2")[step % 2])])
            case 2 | 3:
                study.tell(study.ask("ann").id, ("left", "skip")[int(rng.integers(2))])
            case 4:
                (study.exclude_item if step % 4 else study.include_item)("h")
                (study.exclude_annotator if step % 8 else study.include_annotator)("m2")
            case 5:
                study.undo("ann")
        with study._ledger.reading() as state:
            kept = mixing._by_models(state, state.open())
            state.told_by_models = None
            anew = mixing._by_models(state, state.open())
            judged = {frozenset(rows) for name in (None, "ann") for rows in given(state, name)}
        assert [one.tolist() for one in kept] == [one.tolist() for one in anew]
        assert judged.isdisjoint(frozenset(rows) for codes in kept for rows in zip(*pairs_of_codes(codes), strict=True))


def given(state: State, name: str | None) -> list[tuple[int, int]]:
    """The pairs that somebody judged."""
    seen = state.seen(name)
    return [rows for rows, skipped in zip(zip(*seen.pairs, strict=True), seen.skipped, strict=True) if not skipped]
