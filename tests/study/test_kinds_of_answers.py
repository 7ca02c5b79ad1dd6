"""Ties, strengths of answers and "both bad": stored, exported, and told apart by the fit once there are any."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.special import expit

from ordinate.data.comparison_formats import Reading, read_comparisons, write_comparisons
from ordinate.data.comparisons import Comparison
from ordinate.data.items import Items
from ordinate.errors import InvalidInput
from ordinate.learning.checks import StudyData
from ordinate.learning.checks.response import scores_without
from ordinate.learning.likelihoods.cumulative import Cumulative
from ordinate.learning.likelihoods.davidson import Davidson
from ordinate.learning.likelihoods.logistic import LOGISTIC
from ordinate.learning.models import Answers
from ordinate.learning.models.hybrid import Hybrid
from ordinate.learning.prior_variances import fitted_prior
from ordinate.study.checking import study_data
from ordinate.study.study import Study

FEATURES = np.random.default_rng(0).normal(size=(20, 2))
ITEMS = Items([str(row) for row in range(20)], FEATURES)
WORDS = ("left", "left-much", "left-slightly", "right", "right-much", "right-slightly", "tie", "both-bad")


def crowd(count: int, *, tie: float = 0.6, much: float = np.inf, seed: int = 1) -> list[Comparison]:
    """Answers with ties below `tie` and, where `much` is finite, with strengths."""
    rng = np.random.default_rng(seed)
    truth = FEATURES @ [1.0, -0.5] + rng.normal(size=20)
    made = []
    for _ in range(count):
        left, right = rng.choice(20, 2, replace=False)
        seen = truth[left] - truth[right] + rng.logistic()
        side = "left" if seen > 0 else "right"
        if np.isfinite(much):
            side += "-much" if abs(seen) > much else "-slightly"
        answer: Any = "tie" if abs(seen) < tie else side
        made.append(Comparison(str(left), str(right), answer))
    return made


def test_every_kind_is_stored_exported_and_read_again(tmp_path: Path) -> None:
    address = f"sqlite:///{tmp_path / 'study.db'}"
    with Study.create(ITEMS, storage=address) as study:
        for answer in WORDS:
            query = study.ask("ada")
            study.tell(query.id, answer)
        assert [one.outcome for one in study.comparisons()] == list(WORDS)
        assert study.annotators() == {"ada": len(WORDS)}
    with Study.open(address) as study:
        given = study.comparisons()
        assert [one.outcome for one in given] == list(WORDS)
        assert study.history()["winner"] == list(WORDS)
        assert read_comparisons(write_comparisons("plain", given)).comparisons == given
        arena = [one.outcome for one in read_comparisons(write_comparisons("arena", given)).comparisons]
        assert arena == ["left", "left", "left", "right", "right", "right", "tie", "both-bad"]
        assert study.known([one._replace(left=one.right, right=one.left) for one in given]) == 2  # ties have no sides
        other = Study.create(ITEMS)
        assert other.record(given) == len(WORDS)
        np.testing.assert_array_equal(other.scores(), study.scores())


def test_a_column_of_strengths_belongs_to_the_winner_whose_side_or_id_is_given() -> None:
    table: dict[str, list[Any]] = {
        "left": ["a", "a", "a", "a"],
        "right": ["b", "b", "b", "b"],
        "winner": ["b", "a", "a", "a"],
        "strength": ["much", "slightly", "", None],
    }
    found = [one.outcome for one in read_comparisons(table, Reading("plain")).comparisons]
    assert found == ["right-much", "left-slightly", "left", "left"]
    for winner, strength, message in (
        ("a", "hugely", "row 2: unknown strength 'hugely'; it is much or slightly"),
        ("tie", "much", "row 2: the winner 'tie' takes no strength"),
        ("left-much", "much", "row 2: the winner 'left-much' takes no strength"),
    ):
        wrong = {
            "left": ["a", "a"],
            "right": ["b", "b"],
            "winner": ["left", winner],
            "strength": ["", strength],
        }
        with pytest.raises(InvalidInput, match=message):
            read_comparisons(wrong)


def test_where_ties_are_no_answers_both_bad_is_none_either() -> None:
    study = Study.create(ITEMS)
    study.set_rules(ties=False)
    query = study.ask()
    for answer in ("tie", "both-bad"):
        with pytest.raises(InvalidInput, match="ties are no answer"):
            study.tell(query.id, answer)
    study.tell(query.id, "left-much")


def test_both_bad_is_a_tie_to_the_fit() -> None:
    given = crowd(60)
    ties, bad = Study.create(ITEMS), Study.create(ITEMS)
    ties.record(given)
    bad.record([one._replace(outcome="both-bad") if one.outcome == "tie" else one for one in given])
    np.testing.assert_array_equal(ties.scores(), bad.scores())


@pytest.mark.parametrize("fixed", [{}, {"coefficient_variance": 2.0, "item_variance": 1.0}], ids=["fitted", "fixed"])
def test_thresholds_come_with_the_first_fit_after_one_answer_per_item(tmp_path: Path, fixed: dict[str, float]) -> None:
    address = f"sqlite:///{tmp_path / 'study.db'}"
    with Study.create(ITEMS, storage=address, **fixed) as study:  # type: ignore[arg-type]
        given = crowd(300)
        halves = Study.create(ITEMS, likelihood="logistic", **fixed)  # type: ignore[arg-type]
        study.record(given[:19])
        halves.record(given[:19])
        assert study.likelihood() == Cumulative()
        np.testing.assert_allclose(study.scores(), halves.scores(), atol=1e-3)
        study.record(given[19:])
        halves.record(given[19:])
        found = study.likelihood()
        assert isinstance(found, Cumulative)
        assert 0.4 < found.tie < 0.9
        assert found.slight == 0.0
        assert halves.likelihood() is LOGISTIC
        # Half wins make people look noisier than they are, so they shrink the scores.
        assert np.std(study.scores()) > 1.1 * np.std(halves.scores())
        scores = study.scores()
        query = study.ask("ada")
    with Study.open(address) as again:
        assert again.likelihood() == found
        np.testing.assert_array_equal(again.scores(), scores)
        assert again.ask("ada") == query


def test_strengths_tell_more_than_sides() -> None:
    given = crowd(400, tie=0.0, much=2.0)
    truth = FEATURES @ [1.0, -0.5] + np.random.default_rng(1).normal(size=20)
    strong, sides = Study.create(ITEMS), Study.create(ITEMS, likelihood="logistic")
    for study in (strong, sides):
        study.record(given)
    found: Any = strong.likelihood()
    assert found.tie == 0.0
    assert found.slight == pytest.approx(2.0, rel=0.2)
    left, right = np.triu_indices(20, 1)
    chance = expit(truth[left] - truth[right])

    def miss(study: Study) -> tuple[float, float]:
        mean, variance = study.posterior().belief.differences(left, right)
        return float(np.abs(expit(mean) - chance).mean()), float(variance.mean())

    assert miss(strong)[0] < miss(sides)[0]
    assert miss(strong)[1] < miss(sides)[1]


def test_davidson_is_another_choice_and_sequential_models_have_none() -> None:
    study = Study.create(ITEMS, likelihood="davidson")
    study.record(crowd(200))
    found = study.likelihood()
    assert isinstance(found, Davidson)
    assert found.tie > 0.3
    with pytest.raises(InvalidInput, match="has a likelihood of its own"):
        Study.create(ITEMS, algorithm="trueskill").likelihood()


@pytest.mark.parametrize("likelihood", ["cumulative", "davidson"])
def test_checks_judge_the_model_that_is_shown(likelihood: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    study = Study.create(ITEMS, likelihood=likelihood)
    study.record(crowd(400))
    state, results = study._ledger._state, study._ledger.results
    data = study_data(state, results, 0)
    assert data.answers.strength is not None
    assert isinstance(data.likelihood, Cumulative | Davidson)
    assert data.likelihood.tie > 0.0
    np.testing.assert_allclose(data.refit(data.answers, np.arange(20)).mean, results.posterior(state).mean, atol=1e-9)
    # An answer's prediction, without it, against the fit without it.
    for answer in range(0, 400, 57):
        kept = np.arange(400) != answer
        one = data.answers.those(~kept)
        margin, variance = data.cheap_fit(data.answers.those(kept)).belief.differences(one.left, one.right)
        assert data.left_out.margin[answer] == pytest.approx(margin[0], abs=0.03)
        assert data.left_out.probability[answer] == pytest.approx(
            data.likelihood.wins(margin, variance, one)[0], abs=0.01
        )
    fitted_with = []

    def noted(model: Any, *given: Any) -> Any:
        fitted_with.append(model.likelihood)
        return fitted_prior(model, *given)

    monkeypatch.setattr("ordinate.study.results.fitted_prior", noted)
    study.consistency()
    assert set(fitted_with) == {data.likelihood}


@pytest.mark.parametrize("likelihood", [Cumulative(0.8, 1.0), Davidson(0.7)])
def test_scores_without_an_annotator_follow_the_likelihood(likelihood: Any) -> None:
    rng = np.random.default_rng(0)
    left = rng.integers(0, 20, 500)
    right = (left + rng.integers(1, 20, 500)) % 20
    seen = FEATURES[left] @ [1.0, -0.5] - FEATURES[right] @ [1.0, -0.5] + rng.logistic(size=500)
    outcome = np.where(np.abs(seen) < 0.8, 0.5, (seen > 0).astype(float))
    answers = Answers(left, right, outcome, np.zeros(500, dtype=np.int64), rng.choice([0.6, 1.0, 1.4], 500))
    model = Hybrid(1.0, 1.0, likelihood)
    fit = model.fit(FEATURES, answers)
    data = StudyData(
        ids=tuple(ITEMS.ids), names=("a", "b", "c", "d", "e"), group=np.zeros(20, dtype=np.int64), features=FEATURES,
        answers=answers, annotators=rng.integers(0, 5, 500), at_random=np.ones(500, dtype=bool), model=model,
        posterior=fit, refit=lambda other, rows: model.fit(FEATURES[rows], other), better_than_coins=True,
        error_high=0.1, top=3, seed=0,
    )  # fmt: skip
    out = data.annotators == 2
    expected, found = model.fit(FEATURES, answers.those(~out)).mean, scores_without(data, model.prior, out)
    moved = np.ptp(expected - fit.mean)
    assert moved > 0.01
    assert np.abs((found - found.mean()) - (expected - expected.mean())).max() < 0.1 * moved


def test_who_tosses_coins_is_named_although_the_fit_trusts_them_less() -> None:
    rng = np.random.default_rng(3)
    truth = FEATURES @ [2.0, -1.0]
    study = Study.create(ITEMS, weigh_annotators=True)
    for number in range(900):
        left, right = rng.choice(20, 2, replace=False)
        sure = truth[left] - truth[right] + rng.logistic() > 0
        outcome: Any = "left" if (rng.random() < 0.5 if number % 5 == 4 else sure) else "right"
        study.record(Comparison(str(left), str(right), outcome, f"person {number % 5}"))
    state, results = study._ledger._state, study._ledger.results
    sharpness = study_data(state, results, 0).answers.sharpness
    assert sharpness is not None
    assert sharpness.min() < 0.5
    (row,) = [row for row in study.check().rows if row.check == "annotators fit"]
    assert row.state == "failed"
    assert row.found.endswith("'person 4'.")
