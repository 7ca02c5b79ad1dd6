"""Rank-one updates against refactorisation, pending pairs, expected error against sampling."""

from typing import Any

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm

from ordinate.data.pairs import members
from ordinate.learning.belief import Belief, KeptBelief, KeptCovariance, pending, update
from ordinate.learning.belief.dense import DenseBelief, DenseCovariance
from ordinate.learning.belief.factored import FactoredBelief
from ordinate.learning.belief.projected import ProjectedBelief
from ordinate.learning.expected_error import error_of, expected_error
from ordinate.learning.logistic import logistic_slope
from ordinate.learning.models import Answers
from ordinate.learning.models.hybrid import Hybrid
from ordinate.learning.posterior import FactoredCovariance, Posterior


def random_dense(rng: np.random.Generator, n: int) -> tuple[DenseBelief, np.ndarray]:
    root = rng.normal(size=(n, n))
    covariance = root @ root.T / n + 0.1 * np.eye(n)
    return DenseCovariance(covariance.copy()).belief(rng.normal(size=n)), covariance


def random_factored(rng: np.random.Generator, n: int, k: int, residual: float) -> tuple[FactoredBelief, np.ndarray]:
    factor, own = rng.normal(size=(n, k)), residual * rng.random(n)
    return FactoredBelief(rng.normal(size=n), factor, own), factor @ factor.T + np.diag(own)


def full(belief: Belief) -> np.ndarray:
    rows = np.arange(len(belief.mean))
    return belief.covariance(rows, rows) + np.diag(belief.pieces.residual)


def contrasts(n: int) -> np.ndarray:
    left, right = np.triu_indices(n, 1)
    z = np.zeros((len(left), n))
    z[np.arange(len(left)), left] = 1.0
    z[np.arange(len(left)), right] = -1.0
    return z


@pytest.mark.parametrize("kind", ["dense", "factored"])
def test_updates_equal_refactorisation(kind: str) -> None:
    rng = np.random.default_rng(0)
    belief: Belief
    belief, covariance = random_dense(rng, 9) if kind == "dense" else random_factored(rng, 9, 9, 0.0)
    mean = belief.mean
    precision = np.linalg.inv(covariance)
    for _ in range(25):
        i, j = rng.choice(9, 2, replace=False)
        belief = update(belief, int(i), int(j))
        z = np.zeros(9)
        z[i], z[j] = 1.0, -1.0
        slope = 1 / (2 + np.exp(mean[i] - mean[j]) + np.exp(mean[j] - mean[i]))
        precision = precision + slope * np.outer(z, z)
        np.testing.assert_allclose(full(belief), np.linalg.inv(precision), atol=1e-9)
        np.testing.assert_allclose(belief.variance, np.diagonal(np.linalg.inv(precision)), atol=1e-9)
    np.testing.assert_array_equal(belief.mean, mean)


def test_a_projected_belief_shrinks_as_the_factored_one_that_it_stands_for() -> None:
    projected = random_belief(np.random.default_rng(3), "projected", 8)
    factored: Belief = FactoredBelief(projected.mean, projected.pieces.factor, projected.pieces.residual)
    for left, right in ((0, 1), (3, 0), (5, 7), (1, 0)):
        projected, factored = (pending(update(belief, left, right), (2, 6)) for belief in (projected, factored))
        np.testing.assert_allclose(full(projected), full(factored), atol=1e-12)
        np.testing.assert_allclose(projected.variance, factored.variance, atol=1e-12)


@pytest.mark.parametrize("kind", ["dense", "contextual", "hybrid", "projected"])
def test_no_variance_grows_by_more_than_histories_say(kind: str) -> None:
    """Open queries are answered in another order than they were asked in, and others come in between."""
    rng, largest, named = np.random.default_rng(5), 0.0, 0
    for _ in range(200):
        if kind == "dense":
            fit: Belief = random_dense(rng, 8)[0]
        elif kind == "projected":
            fit = random_belief(rng, "projected", 8)
        else:
            fit = random_factored(rng, 8, 4, float(kind == "hybrid"))[0]
        asked = [tuple(rng.choice(8, 2, replace=False).tolist()) for _ in range(5)]
        before = after = update(fit, 0, 1)
        for left, right in asked:
            before = pending(before, (left, right))
        for step, place in enumerate(rng.permutation(5)):
            left, right = asked[place][:: 1 - 2 * int(rng.integers(2))]
            after = pending(after, (left, right)) if step > 2 else update(after, left, right)
        after = update(after, *rng.choice(8, 2, replace=False).tolist())
        left, right = np.triu_indices(8, 1)
        growth = after.history.growth_since(before.history)
        assert 1.0 <= growth < np.inf
        named += growth > 1.0
        ratio = float((after.differences(left, right)[1] / before.differences(left, right)[1]).max())
        largest = max(largest, ratio / growth)
        assert ratio <= growth * (1 + 1e-12)
        # Without one of them, variance may come back, and so it may under another fit.
        fewer = update(update(fit, 0, 1), *asked[0])
        assert fewer.history.growth_since(before.history) == np.inf
        assert pending(fewer.with_mean(fewer.mean), asked[0]).history.growth_since(before.history) == np.inf
    assert largest > 0.9
    assert named > 10


@pytest.mark.parametrize("pieces", [2, 20])
@pytest.mark.parametrize("kind", ["dense", "factored", "hybrid"])
def test_a_kept_covariance_is_that_of_the_belief_it_absorbed(kind: str, pieces: int) -> None:
    rng = np.random.default_rng(6)
    kept: KeptCovariance
    if kind == "dense":
        kept = DenseCovariance(random_dense(rng, 9)[1])
    else:
        kept = KeptBelief(random_factored(rng, 9, 4, float(kind == "hybrid"))[0])
    belief = kept.belief(rng.normal(size=9))
    for _ in range(pieces):
        belief = update(belief, *rng.choice(9, 2, replace=False))
    before, history, mean = full(belief), belief.history, rng.normal(size=9)
    kept.absorb(belief)
    after = kept.belief(mean)
    np.testing.assert_allclose(full(after), before, atol=1e-12)
    np.testing.assert_array_equal(after.mean, mean)
    assert not after.history.continues(history)
    if kind == "dense":
        assert after.pieces.factor.shape[1] == (2 if pieces == 2 else 0)


@pytest.mark.parametrize(("first", "then"), [(2, 3), (2, 20), (20, 2), (20, 20)])
@pytest.mark.parametrize("kind", ["dense", "factored"])
def test_a_kept_covariance_becomes_what_it_was_before_it_absorbed_a_belief(kind: str, first: int, then: int) -> None:
    rng = np.random.default_rng(first + then)
    kept: KeptCovariance
    if kind == "dense":
        kept = DenseCovariance(random_dense(rng, 9)[1])
    else:
        kept = KeptBelief(random_factored(rng, 9, 4, 1.0)[0])
    before = full(kept.belief(np.zeros(9)))
    for pieces in (first, then):
        belief = kept.belief(rng.normal(size=9))
        before = full(belief)
        for _ in range(pieces):
            belief = update(belief, *rng.choice(9, 2, replace=False))
        kept.absorb(belief)
    kept.restore()
    restored = kept.belief(np.zeros(9))
    np.testing.assert_allclose(full(restored), before, atol=1e-12)
    assert np.isfinite(restored.sample(3, rng)).all()
    kept.absorb(update(restored, 0, 1))
    assert full(kept.belief(np.zeros(9)))[0, 0] < before[0, 0]


def test_a_belief_whose_memory_was_absorbed_says_so() -> None:
    kept = DenseCovariance(random_dense(np.random.default_rng(0), 5)[1])
    first = belief = kept.belief(np.zeros(5))
    for _ in range(20):
        belief = update(belief, 0, 1)
    kept.absorb(belief)
    rows, rng = np.arange(2), np.random.default_rng(0)
    for old in (first, belief):
        for use in (
            lambda old=old: old.covariance(rows, rows),
            lambda old=old: old.differences(rows, rows + 1),
            lambda old=old: old.shrink(0, 1, 0.2),
            lambda old=old: old.sample(1, rng),
        ):
            with pytest.raises(RuntimeError, match="memory"):
                use()
    assert kept.belief(np.ones(5)).differences(rows, rows + 1)[0].tolist() == [0.0, 0.0]


def test_factored_update_with_residuals_drops_the_cross_terms_only() -> None:
    rng = np.random.default_rng(1)
    belief, _ = random_factored(rng, 6, 3, 1.0)
    i, j, slope = 1, 4, 0.2
    after = belief.shrink(i, j, slope)
    z = np.zeros(6)
    z[i], z[j] = 1.0, -1.0
    shared = belief.factor @ belief.factor.T
    total = z @ full(belief) @ z
    expected = shared - slope / (1 + slope * total) * np.outer(shared @ z, shared @ z)
    np.testing.assert_allclose(after.factor @ after.factor.T, expected, atol=1e-12)
    own = belief.residual.copy()
    own[[i, j]] -= slope * own[[i, j]] ** 2 / (1 + slope * total)
    np.testing.assert_allclose(after.residual, own, atol=1e-15)
    assert belief.residual[i] > after.residual[i], "a belief is a value: the old one stays as it was"


def random_belief(rng: np.random.Generator, kind: str, n: int) -> Belief:
    if kind == "dense":
        return random_dense(rng, n)[0]
    if kind == "projected":
        features = rng.normal(size=(n, 3)).astype(np.float32)
        return ProjectedBelief(rng.normal(size=n), features, rng.random(n), rng.normal(size=(3, 3)))
    return random_factored(rng, n, 3, float(kind == "hybrid"))[0]


@pytest.mark.parametrize("kind", ["dense", "factored", "hybrid", "projected"])
def test_differences_are_those_of_the_full_covariance(kind: str) -> None:
    belief = random_belief(np.random.default_rng(2), kind, 7)
    belief = pending(update(belief, 0, 3), (2, 5))
    left, right = np.triu_indices(7, 1)
    margins, variances = belief.differences(left, right)
    z = contrasts(7)
    np.testing.assert_allclose(margins, z @ belief.mean, atol=1e-12)
    np.testing.assert_allclose(variances, np.einsum("pi,ij,pj->p", z, full(belief), z), atol=1e-12)
    swapped = belief.differences(right, left)
    np.testing.assert_array_equal(swapped[1], variances)
    np.testing.assert_array_equal(swapped[0], -margins)


def taken_by(belief: Belief, count: int) -> list[tuple[float, ...]]:
    """The newest links of a belief's history."""
    found: list[tuple[float, ...]] = []
    link = belief.history
    for _ in range(count):
        assert link.taken is not None
        assert link.previous is not None
        found.append((link.taken.left, link.taken.right, link.taken.shared, *link.taken.own))
        link = link.previous
    return found


@pytest.mark.parametrize("count", [1, 3, 20])
@pytest.mark.parametrize("kind", ["dense", "factored", "hybrid", "projected"])
def test_open_queries_taken_together_shrink_a_belief_as_one_by_one(kind: str, count: int) -> None:
    rng = np.random.default_rng(count)
    belief = update(random_belief(rng, kind, 9), 0, 3)
    pairs = [tuple(rng.choice(9, 2, replace=False).tolist()) for _ in range(count)]
    together, one_by_one = pending(belief, *pairs), belief
    for pair in pairs:
        one_by_one = pending(one_by_one, pair)
    np.testing.assert_allclose(full(together), full(one_by_one), atol=1e-12)
    np.testing.assert_allclose(together.variance, one_by_one.variance, atol=1e-12)
    np.testing.assert_allclose(taken_by(together, count), taken_by(one_by_one, count), atol=1e-12)


def test_pending_is_close_to_the_expected_shrinkage_of_an_answer() -> None:
    """At m = 4, v = 4 the expectation over scores and answers leaves about 0.86 v; sigma'(m) would leave 0.93 v."""
    belief = FactoredBelief(np.array([4.0, 0.0]), np.array([[2.0], [0.0]]), np.zeros(2))
    left_over = pending(belief, (0, 1)).differences(np.array([0]), np.array([1]))[1][0] / 4.0

    def posterior_variance(answer: int) -> tuple[float, float]:
        def weight(x: float, power: int) -> float:
            chance = 1 / (1 + np.exp(-x)) if answer else 1 / (1 + np.exp(x))
            return float(x**power * chance * norm.pdf(x, 4, 2))

        zeroth, first, second = (quad(weight, -16, 24, args=(power,))[0] for power in range(3))
        return zeroth, second / zeroth - (first / zeroth) ** 2

    expected = sum(chance * variance for chance, variance in map(posterior_variance, (0, 1))) / 4.0
    assert left_over == pytest.approx(expected, abs=0.02)
    assert left_over == pytest.approx(0.86, abs=0.01)
    assert update(belief, 0, 1).differences(np.array([0]), np.array([1]))[1][0] / 4.0 == pytest.approx(0.93, abs=0.005)


@pytest.mark.parametrize("kind", ["dense", "hybrid"])
def test_samples_have_the_mean_and_covariance(kind: str) -> None:
    rng = np.random.default_rng(3)
    belief: Belief
    belief, _ = random_dense(rng, 4) if kind == "dense" else random_factored(rng, 4, 2, 1.0)
    belief = update(belief, 0, 2)
    draws = belief.sample(200_000, np.random.default_rng(4))
    np.testing.assert_allclose(draws.mean(axis=0), belief.mean, atol=0.02)
    np.testing.assert_allclose(np.cov(draws.T), full(belief), atol=0.05)


@pytest.mark.parametrize("pieces", [0, 3, 40])
@pytest.mark.parametrize("alike", [False, True])
def test_draws_of_a_dense_belief_follow_its_answers_open_queries_and_refits(pieces: int, alike: bool) -> None:
    """Few pieces stay apart at a refit, many go into the base; items that are known to be alike are drawn alike."""
    rng, n = np.random.default_rng(7), 5
    mean, (_, covariance) = rng.normal(size=n), random_dense(rng, n)
    if alike:
        covariance[4], covariance[:, 4] = covariance[3], covariance[:, 3]
        covariance[4, 4] = covariance[3, 3]
    kept = DenseCovariance(covariance)
    belief: Belief = kept.belief(mean)
    belief.sample(1, rng)
    for _ in range(pieces):
        belief = update(belief, *rng.choice(n, 2, replace=False))
    kept.absorb(belief)
    belief = pending(update(kept.belief(rng.normal(size=n)), 0, 3), (1, 2))
    belief = belief.shrink(2, 3, 0.0)  # an answer that was certain
    wanted, draws = full(belief), belief.sample(400_000, np.random.default_rng(8))
    scale = np.sqrt(np.outer(np.diagonal(wanted), np.diagonal(wanted)))
    np.testing.assert_allclose((np.cov(draws.T) - wanted) / scale, 0.0, atol=0.008)
    np.testing.assert_allclose((draws.mean(axis=0) - belief.mean) / np.sqrt(np.diagonal(wanted)), 0.0, atol=0.006)
    if alike:
        np.testing.assert_allclose(draws[:, 3] - belief.mean[3], draws[:, 4] - belief.mean[4], atol=1e-6)


def test_draws_of_a_dense_belief_are_those_of_one_made_anew() -> None:
    """What was drawn before, and from which belief on the way, decides nothing."""
    fit, covariance = random_dense(np.random.default_rng(9), 6)
    again = DenseCovariance(covariance).belief(fit.mean)
    for i, j in ((0, 1), (2, 5), (1, 4)):
        fit.sample(3, np.random.default_rng(0))
        fit, again = fit.shrink(i, j, 0.2), again.shrink(i, j, 0.2)
    np.testing.assert_array_equal(fit.sample(9, np.random.default_rng(1)), again.sample(9, np.random.default_rng(1)))


@pytest.mark.parametrize("grouped", [False, True])
@pytest.mark.parametrize("kind", ["dense", "hybrid"])
def test_expected_error_is_the_mean_probability_of_the_wrong_order(kind: str, grouped: bool) -> None:
    rng = np.random.default_rng(5)
    n = 60
    belief: Belief
    belief, _ = random_dense(rng, n) if kind == "dense" else random_factored(rng, n, 3, 1.0)
    group = rng.integers(-1, 4, n) if grouped else np.zeros(n, dtype=np.int64)
    left, right = np.triu_indices(n, 1)
    inside = (group[left] == group[right]) & (group[left] >= 0)
    z = contrasts(n)[inside]
    margin, variance = z @ belief.mean, np.einsum("pi,ij,pj->p", z, full(belief), z)
    assert error_of(belief, group) == pytest.approx(norm.cdf(-np.abs(margin) / np.sqrt(variance)).mean(), abs=1e-10)


def test_expected_error_without_uncertainty_counts_equal_scores_half() -> None:
    belief = FactoredBelief(np.array([1.0, 1.0, 0.0]), np.zeros((3, 1)), np.zeros(3))
    assert error_of(belief, np.zeros(3, dtype=np.int64)) == pytest.approx(1 / 6)
    assert np.isnan(error_of(belief, np.array([0, 1, -1])))


def factored_posterior(mean: Any, factor: Any, residual: Any) -> Posterior:
    columns = factor.shape[1]
    covariance = FactoredCovariance(np.eye(columns), factor, factor, residual)
    return Posterior(mean, np.zeros(columns), lambda: covariance, 0.0)


def test_above_so_many_pairs_the_expected_error_is_a_mean_over_random_ones() -> None:
    """Groups of very unequal size and error, one of a single item, one of two, and items that do not count."""
    rng = np.random.default_rng(6)
    group = np.repeat([0, 1, 2, 3, 4, -1], [6, 60, 1, 180, 2, 7])
    rng.shuffle(group)
    spread = np.choose(group + 1, [1.0, 0.01, 0.3, 1.0, 6.0, 1.0])
    posterior = factored_posterior(spread * rng.normal(size=256), rng.normal(size=(256, 3)), rng.uniform(0.1, 1.0, 256))
    pairs = sum(size * (size - 1) // 2 for size in (6, 60, 1, 180, 2))
    exact = expected_error(posterior, group)
    assert expected_error(posterior, group, most_pairs=pairs) == exact
    sampled = expected_error(posterior, group, most_pairs=pairs - 1)
    assert sampled != exact
    # The probabilities of 262,144 pairs have a standard deviation of 0.17.
    assert sampled == pytest.approx(exact, abs=0.0015)
    assert expected_error(posterior, group, most_pairs=0) == sampled, "always the same pairs"
    certain = factored_posterior(np.array([2.0, 2.0, 1.0]), np.zeros((3, 1)), np.zeros(3))
    assert expected_error(certain, np.zeros(3, dtype=np.int64), most_pairs=0) == pytest.approx(1 / 6, abs=0.003)
    assert expected_error(certain, np.array([0, -1, 0]), most_pairs=0) == 0.0


def test_members_are_ascending_rows_of_each_group() -> None:
    found = members(np.array([2, 0, -1, 2, 0, 7]))
    assert [rows.tolist() for rows in found] == [[1, 4], [0, 3], [5]]
    assert members(np.array([-1, -1])) == []


def test_slope_of_the_logistic_does_not_overflow() -> None:
    assert logistic_slope(0.0) == 0.25
    assert logistic_slope(800.0) == 0.0
    assert logistic_slope(-30.0) == pytest.approx(np.exp(-30.0))


@pytest.mark.parametrize("columns", [0, 4])
@pytest.mark.parametrize("answers", [100, 800, 20_000])
@pytest.mark.parametrize("near", [False, True], ids=["any pairs", "pairs of near scores"])
def test_the_expected_error_of_many_items_needs_no_covariance_of_all_with_all(
    columns: int, answers: int, near: bool
) -> None:
    """Of 400 items; what is left out falls with their number, and the error is sampled from 6,300 on."""
    rng, n = np.random.default_rng(answers), 400
    features = rng.normal(size=(n, columns))
    scores = np.sort(rng.normal(size=n) + features.sum(axis=1))
    left = rng.integers(0, n, answers)
    right = (left + rng.integers(1, 6 if near else n, answers)) % n
    outcome = (rng.random(answers) < 1.0 / (1.0 + np.exp(scores[right] - scores[left]))).astype(float)
    posterior = Hybrid(0.5, 1.5).fit(features, Answers(left, right, outcome))
    every = np.triu_indices(n, 1)
    margin, variance = posterior.belief.differences(*every)
    found = posterior.covariance.random_pairs(*every)
    error, exact = (norm.cdf(-np.abs(margin) / np.sqrt(one)).mean() for one in (found, variance))
    assert error == pytest.approx(exact, abs=1e-3)
    assert found.mean() == pytest.approx(variance.mean(), rel=1e-9), "the mean is that of the formula"
