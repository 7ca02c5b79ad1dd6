"""Expectation propagation and the evidence of prior variances, against integrals and matrices written out."""

import itertools
from typing import Any

import numpy as np
import pytest
from scipy import integrate, stats
from scipy.special import expit, log_expit

from ordinate.learning.expectation_propagation import Propagation, cavity, match, propagate, tilted
from ordinate.learning.models import Answers
from ordinate.learning.models.contextual import Contextual
from ordinate.learning.models.factored import FactoredHybrid
from ordinate.learning.models.hybrid import Hybrid
from ordinate.learning.models.independent import Independent
from ordinate.learning.models.likelihood import PairCounts
from ordinate.learning.models.map_estimate import Prior
from ordinate.learning.models.sites import Sites
from ordinate.learning.prior_variances import Evidence, fitted_prior, solve_tridiagonal


def random_answers(rng, items, count, spread=1.0):
    scores = spread * rng.normal(size=items)
    left = rng.integers(0, items, count)
    right = (left + rng.integers(1, items, count)) % items
    won = (rng.random(count) < expit(scores[left] - scores[right])).astype(float)
    won[rng.random(count) < 0.1] = 0.5
    return Answers(left, right, won)


@pytest.mark.parametrize("asked", [1.0, 3.0, 1000.0])
@pytest.mark.parametrize("share", [0.0, 0.5, 0.9])
@pytest.mark.parametrize(("mean", "variance"), [(0.0, 0.01), (2.0, 3.0), (-8.0, 0.5), (1.0, 400.0)])
def test_moments_are_those_of_numerical_integration(asked, share, mean, variance):
    pairs = PairCounts(np.array([0]), np.array([1]), np.array([asked]), np.array([asked * share]))
    width = 12 * np.sqrt(variance) + 12
    grid = np.linspace(mean - width, mean + width, 400_001)
    log = asked * (share * log_expit(grid) + (1 - share) * log_expit(-grid))
    log += stats.norm.logpdf(grid, mean, np.sqrt(variance))
    highest = log.max()
    mass = np.exp(log - highest)
    total = integrate.trapezoid(mass, grid)
    first = integrate.trapezoid(mass * grid, grid) / total
    second = integrate.trapezoid(mass * (grid - first) ** 2, grid) / total
    found = [float(part[0]) for part in tilted(pairs, np.array([mean]), np.array([variance]))]
    assert found == pytest.approx([np.log(total) + highest, first, second], rel=1e-6, abs=1e-6)


def test_of_one_answer_the_moments_are_those_of_the_rule_for_many():
    rng = np.random.default_rng(1)
    mean, variance = rng.uniform(-19.9, 19.9, 5000), np.exp(rng.uniform(np.log(1e-4), np.log(5.99), 5000))
    mean[:50], wins = 0.0, rng.integers(0, 2, 5000).astype(float)
    pairs = np.arange(5000)
    one = tilted(PairCounts(pairs, pairs, np.ones(5000), wins), mean, variance)
    # So little more than one answer that only the rule changes.
    hardly_more = tilted(PairCounts(pairs, pairs, np.full(5000, 1.0 + 1e-14), wins), mean, variance)
    assert np.abs(one[0] - hardly_more[0]).max() < 1e-10
    assert (np.abs(one[1] - hardly_more[1]) / np.sqrt(variance)).max() < 1e-10
    assert (np.abs(one[2] - hardly_more[2]) / variance).max() < 1e-10


@pytest.mark.parametrize(
    "model",
    [Contextual(0.7), Hybrid(0.7, 1.3), Hybrid(0.7, 1e-6), Hybrid(1.0, 1.3)],
    ids=["contextual", "hybrid", "hardly any terms per item", "no features"],
)
def test_margins_are_those_of_the_posterior_given_the_sites(model):
    rng = np.random.default_rng(4)
    features = rng.normal(size=(30, 0 if model == Hybrid(1.0, 1.3) else 4))
    compared = model.compared(features, random_answers(rng, 25, 90))
    sites = Sites(rng.uniform(0.01, 0.3, len(compared.pairs.left)), rng.normal(size=len(compared.pairs.left)))
    left, right = (compared.rows[side] for side in compared.pairs[:2])
    plain = model.given(features, compared, sites).belief.differences(left, right)
    mean, variance = model.margins_given(compared, sites)
    assert mean == pytest.approx(plain[0], abs=1e-9)
    assert variance == pytest.approx(plain[1], rel=1e-9)


def test_of_one_pair_the_posterior_is_exact():
    """With one pair, EP has nothing to approximate but the shape."""
    answers = Answers(np.array([0, 0, 1]), np.array([1, 1, 0]), np.array([1.0, 1.0, 1.0]))
    fit = Propagation(Independent(item_variance=1.5), np.empty((2, 0)), answers)
    mean, variance = fit.posterior(Prior(0.0, 1.5)).belief.differences(np.array([0]), np.array([1]))
    grid = np.linspace(-30, 30, 200_001)
    mass = expit(grid) ** 2 * expit(-grid) * stats.norm.pdf(grid, 0, np.sqrt(3.0))
    total = integrate.trapezoid(mass, grid)
    first = integrate.trapezoid(mass * grid, grid) / total
    assert mean[0] == pytest.approx(first, abs=1e-4)
    assert variance[0] == pytest.approx(integrate.trapezoid(mass * (grid - first) ** 2, grid) / total, abs=1e-4)


def test_of_a_triangle_the_posterior_is_near_the_integral_and_nearer_than_laplace():
    answers = Answers(np.array([0, 1, 0]), np.array([1, 2, 2]), np.array([1.0, 1.0, 1.0]))
    axis = np.linspace(-9, 9, 121)
    points = np.array(list(itertools.product(axis, axis, axis)))
    mass = np.exp(-0.5 * np.square(points).sum(axis=1) / 2.0)
    for i, j in ((0, 1), (1, 2), (0, 2)):
        mass *= expit(points[:, i] - points[:, j])
    mass /= mass.sum()
    exact = mass @ points
    spread = mass @ np.square(points[:, 0] - points[:, 2] - (exact[0] - exact[2]))
    found = Propagation(Independent(item_variance=2.0), np.empty((3, 0)), answers).posterior(Prior(0.0, 2.0))
    assert found.mean == pytest.approx(exact, abs=0.01)
    assert found.belief.differences(np.array([0]), np.array([2]))[1][0] == pytest.approx(spread, rel=0.01)
    laplace = Independent(item_variance=2.0).fit(np.empty((3, 0)), answers)
    assert np.abs(laplace.mean - exact).max() > 5 * np.abs(found.mean - exact).max()


@pytest.mark.parametrize(
    "model", [Contextual(0.7), Hybrid(0.7, 1.3), Independent(1.3)], ids=lambda model: type(model).__name__
)
def test_sites_are_a_fixed_point_and_the_posterior_is_that_of_the_matrices(model):
    rng = np.random.default_rng(3)
    features = rng.normal(size=(9, 2))
    answers = random_answers(rng, 8, 30)  # nobody compared the last item
    fit = Propagation(model, features, answers)
    prior = model.prior
    posterior = fit.posterior(prior)
    rows, _, pairs = fit.compared
    z = np.zeros((len(pairs.left), 9))
    z[np.arange(len(z)), rows[pairs.left]], z[np.arange(len(z)), rows[pairs.right]] = 1.0, -1.0
    used = features if prior.coefficients else np.zeros((9, 1))
    kernel = prior.coefficients * used @ used.T + prior.items * np.eye(9)
    inner = np.linalg.inv(np.diag(1 / fit.sites.weight) + z @ kernel @ z.T)
    covariance = kernel - kernel @ z.T @ inner @ z @ kernel
    mean = covariance @ z.T @ fit.sites.shift
    assert posterior.mean == pytest.approx(mean, abs=1e-8)
    assert posterior.covariance.variance == pytest.approx(np.diagonal(covariance), abs=1e-8)
    m, v = z @ mean, np.einsum("pn,nm,pm->p", z, covariance, z)
    again = match(pairs, *cavity(m, v, fit.sites))
    assert again.weight == pytest.approx(fit.sites.weight, rel=2e-3)
    assert again.shift == pytest.approx(fit.sites.shift, rel=2e-3, abs=1e-3)


def test_it_converges_where_answers_agree_entirely_and_where_there_are_thousands():
    left = np.repeat(np.arange(9), 500)
    answers = Answers(left, left + 1, np.ones(len(left)))
    for variance in (0.01, 1.0, 100.0):
        posterior = Propagation(Independent(), np.empty((10, 0)), answers).posterior(Prior(0.0, variance))
        assert np.isfinite(posterior.mean).all()
        assert (np.diff(posterior.mean) < 0).all()
        assert (posterior.covariance.variance > 0).all()


def test_it_reaches_the_fixed_point_where_no_answer_contradicts_another() -> None:
    rng = np.random.default_rng(0)
    features = rng.normal(size=(80, 20))
    scores = features @ rng.normal(size=20)
    left = rng.integers(80, size=200)
    right = (left + rng.integers(1, 80, size=200)) % 80
    fit = Propagation(
        Hybrid(1000.0, 0.01), features, Answers(left, right, (scores[left] > scores[right]).astype(float))
    )
    prior = fit.model.prior
    fit.propagate(prior)
    mean, variance = fit._margins(prior)(fit.sites)
    fit.propagate(prior, 1e-9)
    further, _ = fit._margins(prior)(fit.sites)
    assert np.abs(further - mean).max() < 0.001 * np.sqrt(variance).max()


def test_the_factored_model_has_the_mean_of_its_sites_and_drops_covariances_alone():
    rng = np.random.default_rng(5)
    features, answers = rng.normal(size=(40, 3)), random_answers(rng, 40, 60)
    fit = Propagation(FactoredHybrid(), features, answers)
    factored = fit.posterior(Prior(2.0, 1.0))
    exact = Hybrid().given(features, fit.compared, fit.sites)
    assert factored.mean == pytest.approx(exact.mean, abs=1e-8)
    assert (factored.covariance.variance > 0.95 * exact.covariance.variance).all()


@pytest.mark.parametrize(("items", "columns", "count"), [(12, 3, 25), (12, 0, 25), (2, 1, 1), (70, 5, 40)])
def test_evidence_is_that_of_the_matrices(items, columns, count):
    rng = np.random.default_rng(8)
    features, answers = rng.normal(size=(items, columns)), random_answers(rng, items, count)
    fit = Propagation(Hybrid(), features, answers)
    fit.propagate(Prior(2.0, 1.0))
    evidence = Evidence(fit.compared, fit.sites)
    pairs, inside = fit.compared.pairs, features[fit.compared.rows]
    z = np.zeros((len(pairs.left), len(inside)))
    z[np.arange(len(z)), pairs.left], z[np.arange(len(z)), pairs.right] = 1.0, -1.0

    def written_out(prior):
        kernel = prior.coefficients * inside @ inside.T + prior.items * np.eye(len(inside))
        noisy = z @ kernel @ z.T + np.diag(1 / fit.sites.weight)
        return stats.multivariate_normal.logpdf(fit.sites.shift / fit.sites.weight, np.zeros(len(z)), noisy)

    scales = [Prior(2.0, 1.0), Prior(0.1, 3.0), Prior(5.0, 1e-4), Prior(1e-5, 1.0), Prior(0.3, 1.0), Prior(2.0, 0.0)]
    differences = [written_out(prior) - evidence(prior) for prior in scales]
    assert differences == pytest.approx([differences[0]] * len(scales), abs=1e-6)


@pytest.mark.parametrize("rows", [1, 2, 30])
@pytest.mark.parametrize("variance", [6e-6, 1.0, 1e4])
def test_tridiagonal_systems_are_solved_as_whole_matrices_are(rows, variance):
    rng = np.random.default_rng(rows)
    root = np.diag(rng.normal(size=rows)) + np.diag(rng.normal(size=rows - 1), 1)
    matrix, columns = root @ root.T, rng.normal(size=(rows, 3))
    pivots, solved, product = solve_tridiagonal(np.diagonal(matrix), np.diagonal(matrix, 1), variance, columns)
    whole = np.eye(rows) + variance * matrix
    assert np.log(pivots).sum() == pytest.approx(np.linalg.slogdet(whole)[1], rel=1e-9)
    assert solved == pytest.approx(np.linalg.solve(whole, columns), rel=1e-9, abs=1e-12)
    assert product == pytest.approx(matrix @ np.linalg.solve(whole, columns), rel=1e-9, abs=1e-12)


def test_without_answers_the_evidence_is_that_of_nothing():
    nothing = np.empty(0, dtype=np.int64)
    fit = Propagation(Hybrid(), np.ones((4, 2)), Answers(nothing, nothing, np.empty(0)))
    assert Evidence(fit.compared, fit.sites)(Prior(2.0, 1.0)) == 0.0


def test_scales_are_near_the_maximum_of_the_evidence_by_integration():
    """Ten separate pairs: the evidence is a product of one-dimensional integrals."""
    wins = np.array([5, 0, 4, 1, 5, 5, 0, 2, 3, 5], dtype=float)
    left = np.repeat(np.arange(0, 20, 2), 5)
    outcome = np.concatenate([(np.arange(5) < won).astype(float) for won in wins])
    found = fitted_prior(Independent(), np.empty((20, 0)), Answers(left, left + 1, outcome))
    pairs = PairCounts(np.arange(10), np.arange(10), np.full(10, 5.0), wins)

    def log_posterior(log_deviation):
        variance = 2.0 * np.exp(2 * log_deviation)
        prior = -0.5 * ((log_deviation + 1.0) / 3.0) ** 2
        return tilted(pairs, np.zeros(10), np.full(10, variance))[0].sum() + prior

    grid = np.linspace(-3, 3, 601)
    best = grid[np.argmax([log_posterior(at) for at in grid])]
    assert 0.5 * np.log(found.items) == pytest.approx(best, abs=0.06)


def test_propagation_stops_at_a_given_fixed_point():
    pairs = PairCounts(np.array([0]), np.array([1]), np.array([2.0]), np.array([2.0]))
    calls = []

    def margins(sites):
        calls.append(sites)
        variance = 1.0 / (1.0 / 2.0 + sites.weight)
        return variance * sites.shift, variance

    start = propagate(pairs, margins, Sites(np.array([0.5]), np.array([1.0])))
    calls.clear()
    again = propagate(pairs, margins, start)
    assert len(calls) == 2
    assert again.weight == pytest.approx(start.weight, rel=1e-3)


@pytest.mark.parametrize("model", [Contextual(0.7), Hybrid(0.7, 1.3)], ids=lambda model: type(model).__name__)
def test_the_evidence_of_the_answers_is_near_the_integral(model: Any) -> None:
    """Of four items, whose scores are drawn from the prior: the mean of the likelihood of the answers."""
    rng = np.random.default_rng(2)
    features, answers = rng.normal(size=(4, 2)), random_answers(rng, 4, 8)
    propagation = Propagation(model, features, answers)
    propagation.propagate(model.prior)
    found = Evidence(propagation.compared, propagation.sites)(model.prior) + propagation.log_normaliser(model.prior)
    size = (400_000, 2), (400_000, 4)
    scores = np.sqrt(model.prior.coefficients) * rng.normal(size=size[0]) @ features.T
    scores += np.sqrt(model.prior.items) * rng.normal(size=size[1])
    margins = scores[:, answers.left] - scores[:, answers.right]
    log = answers.outcome * log_expit(margins) + (1 - answers.outcome) * log_expit(-margins)
    assert found == pytest.approx(np.log(np.exp(log.sum(axis=1)).mean()), abs=0.02)


@pytest.mark.parametrize("model", [Hybrid(1.5, 0.7), Contextual(1.5)])
def test_margins_that_are_known_are_not_found_again(model: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(8)
    features, answers = rng.standard_normal((12, 3)), random_answers(rng, 12, 60)
    propagation = Propagation(model, features, answers)
    propagation.propagate(model.prior)
    other = model.with_prior(model.prior._replace(coefficients=0.4)).prior
    expected = []
    for prior in (model.prior, other):
        plain = Propagation(model, features, answers)  # which knows nothing
        plain.sites = propagation.sites
        expected.append((plain.log_normaliser(prior), *plain.cavities(prior)))
    found = []
    plainly = type(model).margins_given

    def counted(*given: Any) -> Any:
        found.append(given)
        return plainly(*given)

    monkeypatch.setattr(type(model), "margins_given", counted)
    for prior, (normaliser, mean, variance) in zip((model.prior, other), expected, strict=True):
        assert propagation.log_normaliser(prior) == normaliser
        np.testing.assert_array_equal(propagation.cavities(prior), (mean, variance))
    assert len(found) == 1, "those of the other prior"


def test_answers_about_items_that_the_model_cannot_tell_apart_change_nothing() -> None:
    features = np.array([[1.0], [1.0], [0.0]])
    answers = Answers(np.array([0, 0, 1]), np.array([1, 2, 2]), np.array([1.0, 1.0, 0.0]))
    for prior in (Prior(1.0, 0.0), fitted_prior(Contextual(1.0), features, answers)):
        found = Propagation(Contextual(1.0), features, answers).posterior(prior)
        later = Answers(answers.left[1:], answers.right[1:], answers.outcome[1:])
        others = Propagation(Contextual(1.0), features, later).posterior(prior)
        assert found.mean == pytest.approx(others.mean, abs=1e-3)
        assert found.mean[0] == found.mean[1]


@pytest.mark.parametrize("columns", [0, 3])
@pytest.mark.parametrize("model", [Contextual(), FactoredHybrid(), Hybrid(), Independent()])
def test_without_answers_the_posterior_is_the_prior(model, columns):
    features = np.random.default_rng(0).normal(size=(7, columns))
    nothing = Answers(np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64), np.empty(0))
    posterior = Propagation(model, features, nothing).posterior(model.prior)
    variance = model.prior.coefficients * (features**2).sum(axis=1) + model.prior.items
    np.testing.assert_array_equal(posterior.mean, np.zeros(7))
    np.testing.assert_allclose(posterior.covariance.variance, variance, atol=1e-12)


def test_the_odds_that_features_say_all_decide_where_the_answers_do_not() -> None:
    rng = np.random.default_rng(3)
    features, left = rng.normal(size=(30, 3)), rng.integers(0, 30, 60)
    right = (left + rng.integers(1, 30, 60)) % 30
    scores = features @ np.array([1.0, -1.0, 0.5]) + 0.5 * rng.normal(size=30)
    answers = Answers(left, right, (rng.random(60) < 1.0 / (1.0 + np.exp(scores[right] - scores[left]))).astype(float))
    terms = [fitted_prior(Hybrid(2.0, 1.0), features, answers, odds).items for odds in (-1e6, -1.0, 0.0, 1.0, 1e6)]
    assert terms[0] > 1e-3
    assert terms[-1] < 1e-5
    # From some odds on there are none, and below them always the same.
    assert terms == sorted(terms, reverse=True)
    assert len(set(terms)) == 2
