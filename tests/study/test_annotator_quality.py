"""What a study says of its annotators, and weights and repeats in its fit."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.special import expit

from ordinate.data.comparisons import Comparison
from ordinate.data.items import Items
from ordinate.errors import InvalidInput
from ordinate.study.schedule import last_prior_fit
from ordinate.study.study import Study

COUNT = 40
FEATURES = np.random.default_rng(0).normal(size=(COUNT, 3))
ITEMS = Items([str(row) for row in range(COUNT)], FEATURES)
TRUTH = FEATURES @ [1.0, -0.5, 0.3] + np.random.default_rng(1).normal(size=COUNT)
ALPHA: dict[str | None, float] = {"ada": 2.0, "bob": 1.0, "cyd": 1.0, "mallory": 0.0}


def crowd(each: int, alpha: dict[str | None, float] = ALPHA, seed: int = 2) -> list[Comparison]:
    rng = np.random.default_rng(seed)
    made = []
    for _ in range(each):
        for name, sharpness in alpha.items():
            left, right = rng.choice(COUNT, 2, replace=False)
            won = rng.random() < expit(sharpness * (TRUTH[left] - TRUTH[right]))
            made.append(Comparison(str(left), str(right), "left" if won else "right", name))
    return made


def error(study: Study) -> float:
    one, other = np.triu_indices(COUNT, 1)
    scores = study.scores()
    return float(np.mean(np.sign(scores[one] - scores[other]) != np.sign(TRUTH[one] - TRUTH[other])))


def test_sharp_annotators_and_coins_are_told_apart() -> None:
    study = Study.create(ITEMS)
    with pytest.raises(InvalidInput, match="no answers yet"):
        study.annotator_quality()
    study.record(crowd(100, seed=5))
    found = study.annotator_quality()
    people = {one.name: one for one in found.people}
    assert list(people) == ["ada", "bob", "cyd", "mallory"]
    assert [one.answers for one in found.people] == [100] * 4
    ada, mallory = people["ada"], people["mallory"]
    assert ada.coin is not None
    assert mallory.coin is not None
    assert ada.coin < 0.01
    assert mallory.coin > 0.5
    assert ada.sharpness is not None
    assert ada.sharpness.low < ada.sharpness.estimate < ada.sharpness.high
    assert ada.sharpness.estimate > 1.2
    assert ada.better_than_coins
    assert not mallory.better_than_coins
    assert ada.with_ordering is not None
    assert mallory.with_ordering is not None
    assert ada.with_ordering.estimate > 0.75 > 0.7 > mallory.with_ordering.estimate
    assert found.left is not None
    assert 0.4 < found.left.low < found.left.estimate < found.left.high < 0.65
    assert all(one.weight == 1.0 for one in found.people)
    table = found.columns()
    assert table["name"] == list(people)
    assert table["sharpness_low"][0] == ada.sharpness.low
    assert {len(column) for column in table.values()} == {4}


def test_too_few_answers_and_no_name_give_no_verdict() -> None:
    study = Study.create(ITEMS)
    study.record([*crowd(40, {"ada": 1.0, None: 1.0}), *crowd(29, {"late": 0.0})])
    people = {one.name: one for one in study.annotator_quality().people}
    assert people["late"].coin is None
    assert people["late"].left is None
    assert people["late"].sharpness is not None
    assert people[None].answers == 40
    assert people[None].coin is None
    assert people[None].sharpness is None
    assert people[None].with_themselves is None
    assert {one.name: one for one in study.annotator_quality(fewest=10).people}["late"].coin is not None


def test_nobody_is_against_an_ordering_that_says_nothing_of_the_pair() -> None:
    study = Study.create(Items([str(row) for row in range(42)]))
    study.record([Comparison(str(row), str(row + 1), "left", "ada") for row in range(0, 40, 2)])
    [ada] = study.annotator_quality().people
    assert ada.with_ordering is None
    study.record([Comparison("40", "41", "left", "ada"), Comparison("40", "41", "left", "bob")])
    ada, bob = study.annotator_quality().people
    assert (ada.with_ordering, bob.with_ordering) == (ada.with_others, bob.with_others)
    assert ada.with_others is not None
    assert ada.with_others.estimate == 1.0


def test_answers_stored_ten_times_agree_with_the_ordering_no_more_surely() -> None:
    once = crowd(150, {"ada": 1.0, "bob": 1.0, "cyd": 1.0})
    copied = [one for one in once for _ in range(10 if one.annotator == "bob" else 1)]
    widths = []
    for given in (once, copied):
        study = Study.create(ITEMS)
        study.record(given)
        (bob,) = (one for one in study.annotator_quality().people if one.name == "bob")
        assert bob.with_ordering is not None
        widths.append(bob.with_ordering.high - bob.with_ordering.low)
    assert widths[1] == pytest.approx(widths[0], rel=0.2)


def test_excluded_annotators_and_answers_taken_back_do_not_count() -> None:
    study = Study.create(ITEMS)
    study.record(crowd(40))
    study.exclude_annotator("mallory")
    assert [one.name for one in study.annotator_quality().people] == ["ada", "bob", "cyd"]


@pytest.mark.parametrize("algorithm", ["guro-contextual", "guro-independent", "guro-hybrid-factored", "trueskill"])
def test_every_model_has_it(algorithm: str) -> None:
    study = Study.create(ITEMS, algorithm=algorithm)
    study.record(crowd(80))
    people = {one.name: one for one in study.annotator_quality().people}
    coin = {name: one.coin for name, one in people.items()}
    assert max(coin, key=lambda name: coin[name] or 0.0) == "mallory"


def test_weights_are_fitted_stored_and_the_same_after_opening_again(tmp_path: Path) -> None:
    address = f"sqlite:///{tmp_path / 'study.db'}"
    given = crowd(60, {**ALPHA, "eve": 0.0, "dan": 0.0})
    plain = Study.create(ITEMS)
    with Study.create(ITEMS, storage=address, weigh_annotators=True) as study:
        for one in (plain, study):
            one.record(given)
        assert study.settings.weigh_annotators
        weights = {one.name: one.weight for one in study.annotator_quality().people}
        assert np.mean([weights["mallory"], weights["eve"], weights["dan"]]) < 0.4 < 1.0 < weights["ada"]
        assert error(study) < error(plain)
        scores, query = study.scores(), study.ask("ada")
    with Study.open(address) as again:
        np.testing.assert_array_equal(again.scores(), scores)
        assert again.ask("ada") == query
        again.tell(query.id, "left")
        once = again.ask("new")
        again.tell(once.id, "tie")  # by somebody who came after the weights were fitted
        assert np.isfinite(again.scores()).all()


def test_with_fewer_than_three_named_annotators_nobody_is_weighed() -> None:
    given = crowd(80, {"ada": 2.0, "mallory": 0.0, None: 1.0})
    plain, weighed = Study.create(ITEMS), Study.create(ITEMS, weigh_annotators=True)
    for study in (plain, weighed):
        study.record(given)
    np.testing.assert_array_equal(plain.scores(), weighed.scores())


def test_what_cannot_be_weighed_is_refused() -> None:
    options: list[dict[str, Any]] = [
        {"likelihood": "logistic"},
        {"likelihood": "probit"},
        {"algorithm": "trueskill"},
        {"algorithm": "bald-contextual-sequential"},
    ]
    for one in options:
        with pytest.raises(InvalidInput, match="weigh_annotators needs"):
            Study.create(ITEMS, weigh_annotators=True, **one)


def test_repeats_of_one_person_among_several_count_as_one_answer() -> None:
    given = crowd(32, {"ada": 1.0, "bob": 1.0})
    # The prior variances are those of the same answers.
    assert last_prior_fit(len(given), COUNT) == last_prior_fit(len(given) + 5, COUNT)
    once, often, halves = Study.create(ITEMS), Study.create(ITEMS), Study.create(ITEMS, likelihood="logistic")
    once.record(given)
    for study in (often, halves):
        study.record([*given, *([given[0]] * 5)])
    mean, variance = (once.posterior(), often.posterior())
    left, right = np.array([int(given[0].left)]), np.array([int(given[0].right)])
    sure = [one.belief.differences(left, right)[1][0] for one in (mean, variance, halves.posterior())]
    assert sure[1] == pytest.approx(sure[0], rel=0.1)
    assert sure[2] < 0.8 * sure[0]


def test_repeats_of_the_only_person_count_in_full() -> None:
    given = crowd(30, {"ada": 1.0})
    one, other = Study.create(ITEMS), Study.create(ITEMS, likelihood="logistic")
    for study in (one, other):
        study.record([*given, *([given[0]] * 5)])
    np.testing.assert_array_equal(one.scores(), other.scores())


@pytest.mark.parametrize("weigh", [False, True])
def test_who_comes_later_changes_nothing_that_was_fitted_before(tmp_path: Path, weigh: bool) -> None:
    """So that a study goes on with the same pairs after it is opened again."""
    address = f"sqlite:///{tmp_path / 'study.db'}"
    items = Items([str(row) for row in range(6)], FEATURES[:6])
    rng = np.random.default_rng(4)
    options: dict[str, Any] = {"refit_every": 25, "weigh_annotators": weigh}
    with Study.create(items, storage=address, **options) as study:
        for name, count in (("ada", 51), ("bob", 3), ("cyd", 3), ("dan", 3)):
            for _ in range(count):
                query = study.ask(name)
                won = rng.random() < expit(TRUTH[int(query.left)] - TRUTH[int(query.right)])
                study.tell(query.id, "left" if won else "right")
        belief = study._ledger.inference.answered(study._ledger._state)
        mean, query = belief.mean.copy(), study.ask("eve")
    with Study.open(address) as again:
        again.ask("eve")
        with again._ledger.reading() as state:
            np.testing.assert_array_equal(again._ledger.inference.answered(state).mean, mean)
        assert again.ask("eve") == query


@pytest.mark.parametrize("share", [0.5, 0.8, 0.9, 1.0])
def test_who_presses_one_side_whatever_is_shown_is_a_coin(share: float) -> None:
    rng, study = np.random.default_rng(0), Study.create(ITEMS, weigh_annotators=True)
    given = crowd(80, {"ada": 1.5, "bob": 1.5, "cyd": 1.5})
    for _ in range(80):
        left, right = rng.choice(COUNT, 2, replace=False)
        given.append(Comparison(str(left), str(right), "left" if rng.random() < share else "right", "odd"))
    study.record(given)
    people = {one.name: one for one in study.annotator_quality().people}
    assert people["odd"].coin is not None
    assert people["odd"].coin > 0.9
    assert people["odd"].weight < 0.15
    assert all(people[name].weight > 0.6 for name in ("ada", "bob", "cyd"))


def test_items_that_are_added_let_nothing_be_forgotten() -> None:
    study = Study.create(ITEMS, weigh_annotators=True)
    study.record(crowd(80))
    before, weights = study.prior_variances(), [one.weight for one in study.annotator_quality().people]
    assert min(weights) < 0.3
    count = len(study.comparisons())
    rng = np.random.default_rng(7)
    study.add_items(Items([f"new {row}" for row in range(count)], rng.normal(size=(count, 3))))
    # Fitted to the same answers; the features are scaled anew.
    assert [one.weight for one in study.annotator_quality().people] == pytest.approx(weights, abs=0.1)
    assert study.prior_variances().items == pytest.approx(before.items, rel=0.2)
    study.exclude_item("0")
    assert [one.weight for one in study.annotator_quality().people] == pytest.approx(weights, abs=0.2)


def test_excluded_items_do_not_put_the_first_fit_off() -> None:
    study = Study.create(ITEMS)
    study.record([answer for answer in crowd(40) if int(answer.left) < 20 and int(answer.right) < 20][:30])
    started = study.prior_variances()
    for row in range(20, COUNT):
        study.exclude_item(str(row))
    assert len(study.comparisons()) == 30
    assert study.prior_variances() != started
