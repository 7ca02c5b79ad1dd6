"""Every model of the table against independent numbers: another optimiser, finite differences, dense algebra, choix."""

from typing import Any

import choix
import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import log_ndtr

from ordinate.algorithms import ALGORITHMS
from ordinate.learning.belief.factored import FactoredBelief
from ordinate.learning.likelihoods.logistic import Logistic
from ordinate.learning.likelihoods.probit import UNIT, Probit
from ordinate.learning.models import Answers
from ordinate.learning.models.cholesky import PositiveDefinite
from ordinate.learning.models.contextual import Contextual
from ordinate.learning.models.factored import FactoredHybrid
from ordinate.learning.models.hybrid import Hybrid, HybridCovariance, Same, kept_prior
from ordinate.learning.models.independent import Independent
from ordinate.learning.models.map_estimate import Prior

MODELS = {repr(row.model): row.model for row in ALGORITHMS.values()}
MODELS |= {
    repr(model): model
    for kind in (Contextual, Hybrid, FactoredHybrid, Independent)
    for model in [kind(likelihood=Probit())]
}
MAP_MODELS = [
    name for name, model in MODELS.items() if isinstance(model, Contextual | Hybrid | FactoredHybrid | Independent)
]
LOSSES: dict[Any, tuple[Any, Any]] = {
    Logistic(): (lambda m: np.logaddexp(0, -m), lambda m: -1 / (1 + np.exp(m))),
    Probit(): (
        lambda m: -log_ndtr(m / UNIT),
        lambda m: -np.exp(-0.5 * (m / UNIT) ** 2 - 0.5 * np.log(2 * np.pi) - log_ndtr(m / UNIT)) / UNIT,
    ),
}
"""Likelihood -> minus the log of the probability that left wins at m, and its derivative, written out plainly."""


def draw(rng: np.random.Generator, n: int, k: int, answers: int, ties: float = 0.1) -> tuple[Any, Answers]:
    features = rng.normal(size=(n, k))
    scores = features @ rng.normal(size=k) + rng.normal(size=n)
    left = rng.integers(0, n, answers)
    right = (left + rng.integers(1, n, answers)) % n
    outcome = (rng.random(answers) < 1 / (1 + np.exp(scores[right] - scores[left]))).astype(float)
    outcome[rng.random(answers) < ties] = 0.5
    return features, Answers(left, right, outcome)


def parts(model: Any, features: Any) -> tuple[Any, Any]:
    """The design matrix [X, I] of f over (theta, zeta), and the prior precisions, written out plainly."""
    n = len(features)
    columns, precision = [], []
    if not isinstance(model, Independent):
        columns.append(features)
        precision += [1 / model.coefficient_variance] * features.shape[1]
    if not isinstance(model, Contextual):
        columns.append(np.eye(n))
        precision += [1 / model.item_variance] * n
    return np.hstack(columns), np.array(precision)


def negative_log_posterior(point: Any, design: Any, precision: Any, answers: Answers, likelihood: Any) -> float:
    scores, (loss, _) = design @ point, LOSSES[likelihood]
    margin = scores[answers.left] - scores[answers.right]
    losses = answers.outcome * loss(margin) + (1 - answers.outcome) * loss(-margin)
    return float(losses.sum() + 0.5 * (precision * point**2).sum())


def negative_gradient(point: Any, design: Any, precision: Any, answers: Answers, likelihood: Any) -> Any:
    contrast, (_, slope) = design[answers.left] - design[answers.right], LOSSES[likelihood]
    margin = contrast @ point
    slopes = answers.outcome * slope(margin) - (1 - answers.outcome) * slope(-margin)
    return contrast.T @ slopes + precision * point


def dense_posterior(model: Any, features: Any, answers: Answers) -> tuple[Any, Any, Any]:
    """Mean of (theta, zeta) by another optimiser, Hessian by central differences of the gradient, and the design."""
    design, precision = parts(model, features)
    arguments = (design, precision, answers, model.likelihood)
    found = minimize(
        negative_log_posterior, np.zeros(len(precision)), args=arguments, jac=negative_gradient, method="BFGS"
    )
    polished = minimize(
        negative_log_posterior,
        found.x,
        args=arguments,
        jac=negative_gradient,
        method="L-BFGS-B",
        options={"ftol": 0, "gtol": 1e-10},
    )
    step = 1e-5 * np.eye(len(precision))
    hessian = np.array(
        [
            (negative_gradient(polished.x + h, *arguments) - negative_gradient(polished.x - h, *arguments)) / 2e-5
            for h in step
        ]
    )
    return polished.x, hessian, design


@pytest.mark.parametrize("name", MAP_MODELS)
@pytest.mark.parametrize(("n", "k", "count"), [(6, 2, 30), (12, 4, 5), (5, 9, 40), (30, 3, 200), (7, 0, 25)])
def test_mean_and_covariance_are_those_of_another_optimiser_and_finite_differences(
    name: str, n: int, k: int, count: int
) -> None:
    model = MODELS[name]
    if k == 0 and isinstance(model, Contextual):
        pytest.skip("a contextual model without features has nothing to find")
    rng = np.random.default_rng(n * k + count)
    features, answers = draw(rng, n, k, count)
    point, hessian, design = dense_posterior(model, features, answers)
    posterior = model.fit(features, answers)
    np.testing.assert_allclose(posterior.belief.mean, design @ point, atol=1e-5)
    if isinstance(model, FactoredHybrid):
        return  # its covariance is an approximation with its own test
    inverse = np.linalg.inv(hessian)
    covariance = design @ inverse @ design.T
    rows = np.arange(n)
    np.testing.assert_allclose(posterior.belief.covariance(rows, rows), covariance, atol=1e-6)
    coefficients = len(posterior.coefficients)
    np.testing.assert_allclose(posterior.covariance.coefficients, inverse[:coefficients, :coefficients], atol=1e-6)
    np.testing.assert_allclose(
        posterior.covariance.coefficients @ posterior.covariance.score_map[:, :coefficients].T,
        (inverse @ design.T)[:coefficients],
        atol=1e-6,
    )


@pytest.mark.parametrize("likelihood", LOSSES)
def test_the_gradient_of_the_test_itself_is_the_slope_of_its_objective(likelihood: Any) -> None:
    features, answers = draw(np.random.default_rng(3), 6, 3, 20)
    arguments = (*parts(Hybrid(), features), answers, likelihood)
    point = np.random.default_rng(4).normal(size=9)
    slopes = [
        (negative_log_posterior(point + h, *arguments) - negative_log_posterior(point - h, *arguments)) / 2e-6
        for h in 1e-6 * np.eye(9)
    ]
    np.testing.assert_allclose(negative_gradient(point, *arguments), slopes, atol=1e-6)


@pytest.mark.parametrize(
    ("n", "k", "answers"),
    [(40, 6, 0), (40, 6, 30), (60, 90, 200), pytest.param(250, 30, 4000, marks=pytest.mark.slow)],
)
@pytest.mark.parametrize("scale", [1e-3, 1.0, 9.0])
def test_the_three_ways_to_the_covariance_of_the_hybrid_model_agree(n: int, k: int, answers: int, scale: float) -> None:
    features, given = draw(np.random.default_rng(n), n, k, answers)
    features *= scale / np.sqrt(k)
    covariance = Hybrid(2.0, 0.5).fit(features, given).find_covariance()
    assert isinstance(covariance, HybridCovariance)
    prior = kept_prior(Same(features), covariance.prior)
    assert prior is not None
    kept = prior.covariance.copy(), prior.precision.copy()
    by_parts = covariance.by_parts()
    for other in (covariance.by_precision(prior.precision), covariance.by_pairs(prior.covariance)):
        np.testing.assert_allclose(other, by_parts, rtol=0, atol=1e-11 * by_parts.max())
    assert np.array_equal(prior.covariance, kept[0]), "it is kept for the next fit"
    assert np.array_equal(prior.precision, kept[1])


def test_a_prior_that_would_lose_digits_or_take_much_memory_is_not_kept() -> None:
    prior = Prior(2.0, 1.0)
    assert kept_prior(Same(np.full((3, 2), 1e3)), prior) is None
    assert kept_prior(Same(np.zeros((1001, 1))), prior) is None
    assert kept_prior(Same(np.full((3, 2), np.inf)), prior) is None


@pytest.mark.parametrize("size", [0, 1, 7, 130])
def test_inverse_of_a_positive_definite_matrix(size: int, capfd: pytest.CaptureFixture[str]) -> None:
    rows = np.random.default_rng(size).normal(size=(2 * size, size)) * np.logspace(-3, 3, size)
    inverse = PositiveDefinite(rows.T @ rows, 0.5).inverse()
    plain = np.linalg.inv(rows.T @ rows + 0.5 * np.eye(size))
    scale = np.sqrt(np.outer(np.diagonal(plain), np.diagonal(plain)))
    np.testing.assert_allclose(inverse / scale, plain / scale, atol=1e-10)
    assert np.array_equal(inverse, inverse.T)
    assert capfd.readouterr() == ("", ""), "LAPACK complains on standard output"


@pytest.mark.parametrize("variance", [0.3, 1.0, 4.0])
def test_independent_model_agrees_with_choix(variance: float) -> None:
    """choix penalises alpha |x|^2 where the prior has |x|^2 / (2 variance)."""
    rng = np.random.default_rng(5)
    features, answers = draw(rng, 15, 0, 120, ties=0.0)
    won = answers.outcome == 1.0
    data = list(
        zip(np.where(won, answers.left, answers.right), np.where(won, answers.right, answers.left), strict=True)
    )
    expected = choix.opt_pairwise(15, data, alpha=0.5 / variance, tol=1e-12)
    found = Independent(item_variance=variance).fit(features, answers).belief.mean
    np.testing.assert_allclose(found - found.mean(), expected - expected.mean(), atol=1e-5)


def pair(*triples: tuple[int, int, float]) -> Answers:
    rows = np.array(triples, dtype=float).reshape(-1, 3)
    return Answers(rows[:, 0].astype(int), rows[:, 1].astype(int), rows[:, 2])


HARD = {
    "no answers": pair(),
    "one answer": pair((0, 1, 1)),
    "one class only": pair(*[(i, i + 1, 1) for i in range(4)] * 50),
    "perfectly separable": pair(*[(i, j, 1) for i in range(5) for j in range(i + 1, 5)] * 100),
    "contradictory": pair(*[(0, 1, 1), (0, 1, 0), (1, 0, 1)] * 200),
    "a cycle": pair(*[(0, 1, 1), (1, 2, 1), (2, 0, 1)] * 300),
    "repeated pair": pair(*[(0, 1, 1)] * 10_000),
    "ties only": pair(*[(0, 1, 0.5), (2, 3, 0.5)] * 20),
}
FEATURES = {
    "ordinary": np.random.default_rng(0).normal(size=(5, 3)),
    "none": np.empty((5, 0)),
    "more columns than items": np.random.default_rng(1).normal(size=(5, 40)),
    "identical items": np.ones((5, 3)),
    "zero": np.zeros((5, 2)),
    "constant column": np.column_stack([np.ones(5), np.arange(5.0)]),
    "tiny": 1e-8 * np.random.default_rng(2).normal(size=(5, 3)),
    "huge": 1e8 * np.random.default_rng(3).normal(size=(5, 3)),
    "huge and repeated": 1e8 * np.ones((5, 3)) * np.arange(5.0)[:, None],
    "mixed scales": np.random.default_rng(4).normal(size=(5, 2)) * [1e-8, 1e8],
}


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("kind", FEATURES)
@pytest.mark.parametrize("case", HARD)
def test_fit_is_defined_for_every_input(name: str, kind: str, case: str) -> None:
    features, answers = FEATURES[kind], HARD[case]
    belief = MODELS[name].fit(features, answers).belief
    left, right = np.triu_indices(5, 1)
    margins, variances = belief.differences(left, right)
    assert np.isfinite(margins).all()
    assert np.isfinite(variances).all()
    assert (variances >= 0).all()
    if (
        case == "perfectly separable"
        and kind in ("ordinary", "none", "constant column")
        and getattr(MODELS[name], "item_variance", 0) > 0
    ):
        assert (np.diff(belief.mean) < 0).all()
    if case in ("no answers", "ties only"):
        np.testing.assert_allclose(belief.mean, 0, atol=1e-9)


@pytest.mark.parametrize("name", MODELS)
def test_two_items(name: str) -> None:
    posterior = MODELS[name].fit(np.array([[0.5], [-0.5]]), pair((0, 1, 1), (1, 0, 0), (0, 1, 1)))
    assert posterior.belief.mean[0] > posterior.belief.mean[1]


@pytest.mark.parametrize("name", MAP_MODELS)
def test_sides_and_order_of_answers_do_not_matter_to_the_mean(name: str) -> None:
    rng = np.random.default_rng(9)
    features, answers = draw(rng, 10, 3, 60)
    order = rng.permutation(60)
    swapped = Answers(answers.right[order], answers.left[order], 1 - answers.outcome[order])
    np.testing.assert_allclose(
        MODELS[name].fit(features, answers).belief.mean, MODELS[name].fit(features, swapped).belief.mean, atol=1e-8
    )


def test_factored_covariance_is_the_plain_recursion() -> None:
    """Sigma_theta and V after each answer, on explicit matrices, with the cross terms dropped."""
    rng = np.random.default_rng(11)
    features, answers = draw(rng, 8, 3, 40)
    model = FactoredHybrid()
    posterior = model.fit(features, answers)
    mean = posterior.belief.mean
    sigma, own = model.coefficient_variance * np.eye(3), np.full(8, model.item_variance)
    for i, j in zip(answers.left, answers.right, strict=True):
        slope = np.exp(mean[i] - mean[j]) / (1 + np.exp(mean[i] - mean[j])) ** 2
        z = features[i] - features[j]
        total = z @ sigma @ z + own[i] + own[j]
        direction = sigma @ z
        sigma = sigma - slope * np.outer(direction, direction) / (1 + slope * total)
        for item in (i, j):
            own[item] -= slope * own[item] ** 2 / (1 + slope * total)
    rows = np.arange(8)
    np.testing.assert_allclose(posterior.covariance.coefficients, sigma, atol=1e-10)
    assert isinstance(posterior.belief, FactoredBelief)
    np.testing.assert_allclose(posterior.belief.residual, own, atol=1e-10)
    np.testing.assert_allclose(posterior.belief.covariance(rows, rows), features @ sigma @ features.T, atol=1e-9)


def test_factored_variance_is_near_the_exact_one() -> None:
    rng = np.random.default_rng(12)
    features, answers = draw(rng, 60, 5, 300)
    left, right = np.triu_indices(60, 1)
    exact = Hybrid().fit(features, answers).belief.differences(left, right)[1]
    factored = FactoredHybrid().fit(features, answers).belief.differences(left, right)[1]
    assert 0.9 < np.median(factored / exact) < 1.5


@pytest.mark.parametrize(
    "model",
    [Contextual(), Hybrid(), Independent(), Contextual(likelihood=Probit()), Hybrid(likelihood=Probit())],
    ids=repr,
)
def test_new_items_and_centred_scores_match_dense_algebra(model: Any) -> None:
    """Scores of seen and unseen items minus their group's mean, with the standard errors of exactly that difference."""
    rng = np.random.default_rng(13)
    features, answers = draw(rng, 12, 3, 50)
    group = np.array([0] * 7 + [1] * 4 + [-1])
    new, new_group = rng.normal(size=(5, 3)), np.array([0, 1, 0, 1, 9])
    posterior = model.fit(features, answers)
    point, hessian, design = dense_posterior(model, features, answers)

    width = len(point)
    extended = np.zeros((5, width + 5))  # each new item brings a term of its own, at its prior
    extended[:, : len(posterior.coefficients)] = new[:, : len(posterior.coefficients)]
    extended[:, width:] = np.eye(5)
    covariance = np.zeros((width + 5, width + 5))
    covariance[:width, :width] = np.linalg.inv(hessian)
    covariance[width:, width:] = posterior.new_item_variance * np.eye(5)
    mean = np.concatenate([point, np.zeros(5)])
    rows = np.vstack([np.hstack([design, np.zeros((12, 5))]), extended])
    groups = np.concatenate([group, new_group])

    scores, errors = posterior.centred(group)
    new_scores, new_errors = posterior.predict(new, new_group, group)
    for row, (score, error) in enumerate(zip([*scores, *new_scores], [*errors, *new_errors], strict=True)):
        members = np.flatnonzero(group == groups[row])
        if groups[row] == -1:
            assert np.isnan(score)
            continue
        contrast = rows[row] - (rows[members].mean(axis=0) if len(members) else 0.0)
        assert score == pytest.approx(contrast @ mean, abs=1e-5)
        assert error == pytest.approx(np.sqrt(contrast @ covariance @ contrast), abs=1e-5)
