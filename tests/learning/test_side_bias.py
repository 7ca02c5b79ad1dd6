"""Which side people prefer: against logistic regression, integrals written out, and simulated people."""

from typing import Any

import numpy as np
import pytest
from scipy import integrate, stats
from scipy.optimize import minimize
from scipy.special import expit, log_expit

from ordinate.data.comparisons import Comparison
from ordinate.data.items import Items
from ordinate.learning.annotators import Alone, sharpness
from ordinate.learning.likelihoods.cumulative import Cumulative
from ordinate.learning.models import Answers
from ordinate.learning.models.contextual import Contextual
from ordinate.learning.models.hybrid import Hybrid
from ordinate.learning.side_bias import OwnAnswers, leans, left_share, likelihoods
from ordinate.study.study import Study

MODEL = Hybrid(likelihood=Cumulative())


def world(seed: int, each: int, lean: Any, items: int = 60) -> tuple[Any, Answers, Any, Any]:
    """Features, answers about random pairs on random sides, who gave each, and the true scores."""
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(items, 5)) / np.sqrt(5)
    truth = np.sqrt(2.0) * features @ rng.normal(size=5) + rng.normal(size=items)
    who = np.tile(np.arange(len(lean)), each)
    left = rng.integers(0, items, len(who))
    right = (left + rng.integers(1, items, len(who))) % items
    won = (rng.random(len(who)) < expit(truth[left] - truth[right] + np.asarray(lean)[who])).astype(float)
    return features, Answers(left, right, won, np.zeros(len(who), dtype=np.int64)), who, truth


def every(answers: Answers) -> Any:
    return np.ones(len(answers.outcome), dtype=np.bool_)


def regression(design: Any, won: Any) -> tuple[Any, Any]:
    """Logistic regression by another optimiser: the coefficients, and their standard errors."""

    def loss(point: Any) -> tuple[float, Any]:
        place = design @ point
        return -float(log_expit(np.where(won == 1.0, place, -place)).sum()), design.T @ (expit(place) - won)

    found = minimize(loss, np.zeros(design.shape[1]), jac=True, method="BFGS", options={"gtol": 1e-8}).x
    chance = expit(design @ found)
    return found, np.sqrt(np.diagonal(np.linalg.inv(design.T @ (design * (chance * (1 - chance))[:, None]))))


def test_it_is_the_intercept_of_a_logistic_regression() -> None:
    """Where features say everything, the scores' model with a lean is just that."""
    features, answers, who, _ = world(0, 1500, [0.7])
    design = np.column_stack([features[answers.left] - features[answers.right], np.ones(len(who))])
    expected, error = regression(design, answers.outcome)
    model = Contextual(1e6, likelihood=Cumulative())
    given = answers._replace(lean=np.full(len(who), expected[-1]))
    fit = model.fit(features, given).coefficients
    np.testing.assert_allclose(fit, expected[:-1], atol=1e-5)
    found = leans(lambda one: model.fit(features, one), answers, who, every(answers))
    assert found is not None
    assert found[0] == pytest.approx(expected[-1], abs=0.025 + 0.1 * error[-1])  # on a grid of 0.05


def test_leans_and_their_evidence_are_those_of_integrals() -> None:
    rng = np.random.default_rng(1)
    who = np.repeat([0, 1, 2], [8, 25, 40])
    alone = Alone(rng.normal(size=73), rng.uniform(0.1, 1.5, 73))
    won = (rng.random(73) < np.array([0.9, 0.7, 0.6])[who]).astype(float)
    answers = Answers(np.zeros(73, int), np.ones(73, int), won)
    grid = likelihoods(answers, alone, np.full(73, 1.2), who, 3)

    def chance(lean: Any) -> Any:
        """(3, g) what each person's answers have as a probability at leans (g,)."""
        place = (1.2 * alone.mean + lean[:, None]) / np.sqrt(1 + np.pi * 1.44 * alone.variance / 8)
        each = expit((2 * won - 1) * place)
        return np.array([np.prod(each[:, who == person], axis=1) for person in range(3)])

    np.testing.assert_allclose(np.exp(grid), chance(np.linspace(-3, 3, 121)), rtol=1e-9)
    fine = np.linspace(-5, 5, 401)
    at, step = chance(fine), fine[1] - fine[0]
    total, means, new = 0.0, np.zeros(3), 0.0
    for deviation in np.linspace(0.025, 0.975, 20):
        about = stats.norm.pdf(fine[:, None], fine, deviation)
        about /= about.sum(axis=0) * step
        mass = at @ about * step  # (3, mu)
        weight = stats.norm.pdf(fine) * mass.prod(axis=0) * step / 20
        total += weight.sum()
        means += ((at * fine) @ about * step / mass) @ weight
        new += fine @ weight
    own = OwnAnswers(grid)
    np.testing.assert_allclose(own.means(), [*means / total, new / total], atol=0.01)
    assert own.evidence == pytest.approx(np.log(total / chance(np.zeros(1)).prod()), abs=0.05)


def test_people_with_few_answers_are_taken_to_lean_as_the_others_do() -> None:
    features, answers, who, _ = world(2, 400, [1.0, 0.8, 0.9, 0.9])
    kept = (who < 3) | (np.arange(len(who)) < 8)
    answers, who = answers.those(kept), who[kept]
    found = leans(lambda given: MODEL.fit(features, given), answers, who, every(answers))
    assert found is not None
    np.testing.assert_allclose(found, 0.9, atol=0.25)


def test_where_nobody_leans_there_are_no_leans() -> None:
    seen = 0
    for seed in range(25):
        features, answers, who, _ = world(100 + seed, 60, [0.0, 0.0, 0.0])
        seen += leans(lambda given, x=features: MODEL.fit(x, given), answers, who, every(answers)) is not None  # type: ignore[misc]
    assert seen <= 1
    features, answers, who, _ = world(3, 40, [0.0])
    assert leans(lambda given: MODEL.fit(features, given), answers, who, ~every(answers)) is None
    tied = answers._replace(outcome=np.full(40, 0.5))
    assert leans(lambda given: MODEL.fit(features, given), tied, who, every(tied)) is None


@pytest.mark.parametrize("bias", [-0.8, 0.0, 1.2])
def test_the_chance_of_the_left_one_of_two_equal_items_is_found(bias: float) -> None:
    features, answers, who, _ = world(5, 400, [bias] * 3)
    lean = leans(lambda given: MODEL.fit(features, given), answers, who, every(answers))
    given = answers if lean is None else answers._replace(lean=lean[who])
    found, alone = sharpness(lambda given: MODEL.fit(features, given), given, who, np.ones(3, dtype=np.bool_))
    middle, low, high = left_share(answers, alone, found.weight[who])
    assert middle == pytest.approx(expit(bias), abs=0.04)
    assert 0.01 < high - low < 0.1


def test_side_bias_is_that_of_an_integral() -> None:
    rng = np.random.default_rng(6)
    answers = Answers(np.zeros(30, int), np.ones(30, int), (rng.random(30) < 0.7).astype(float))
    alone, alpha = Alone(rng.normal(size=30), rng.uniform(0.1, 1.0, 30)), np.full(30, 1.3)

    def density(bias: float) -> float:
        place = (alpha * alone.mean + bias) / np.sqrt(1 + np.pi * alpha**2 * alone.variance / 8)
        return float(np.prod(2 * expit((2 * answers.outcome - 1) * place)) * stats.norm.pdf(bias))

    total = integrate.quad(density, -6, 6)[0]
    for level, found in zip((0.5, 0.05, 0.95), left_share(answers, alone, alpha), strict=True):
        below = integrate.quad(density, -6, np.log(found / (1 - found)))[0] / total
        assert below == pytest.approx(level, abs=2e-3)


def judged(study: Any, truth: Any, lean: float, count: int, seed: int) -> None:
    """Answers of one person who prefers a side."""
    rng, ids = np.random.default_rng(seed), study.items.ids
    for _ in range(count):
        query = study.ask("ada")
        margin = truth[ids.index(query.left)] - truth[ids.index(query.right)]
        study.tell(query.id, "left" if rng.random() < expit(margin + lean) else "right")


def test_a_study_takes_account_of_a_side_that_is_preferred(tmp_path: Any) -> None:
    features, _, _, truth = world(9, 1, [0.0], items=25)
    items = Items([f"i{k}" for k in range(25)], features)
    address = f"sqlite:///{tmp_path / 'study.db'}"
    with Study.create(items, storage=address) as study:
        assert study.settings.side_bias
        judged(study, truth, 1.5, 100, seed=2)
        (ada,) = study.annotator_quality().people
        assert ada.lean == pytest.approx(1.5, abs=0.8)
        assert ada.left is not None
        assert ada.left.estimate == pytest.approx(expit(1.5), abs=0.1)
        scores = study.ordering().scores
    with Study.open(address) as again:
        np.testing.assert_array_equal(again.ordering().scores, scores)
        assert again.annotator_quality().people[0].lean == ada.lean


def test_sides_that_nobody_saw_say_nothing() -> None:
    """In many tables of comparisons the winner stands on the left."""
    features, answers, _, _ = world(8, 120, [0.0], items=25)
    ids = [f"i{k}" for k in range(25)]
    study = Study.create(Items(ids, features))
    for left, right, won in zip(*answers[:3], strict=True):
        pair = (ids[left], ids[right]) if won else (ids[right], ids[left])
        study.record([Comparison(*pair, "left", "ada")])
    assert study.annotator_quality().people[0].lean == 0.0


@pytest.mark.parametrize("given", [{"likelihood": "logistic"}, {"item_variance": 1.0}, {"algorithm": "trueskill"}])
def test_where_nothing_else_is_fitted_no_bias_is(given: Any) -> None:
    assert not Study.create(Items(["a", "b"], np.eye(2)), **given).settings.side_bias
