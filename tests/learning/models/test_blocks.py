"""Blocks of features: against matrices written out, integrals, and simulated blocks that say nothing."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats
from scipy.special import expit, log_expit

from ordinate.learning.expectation_propagation import Propagation
from ordinate.learning.models import Answers
from ordinate.learning.models.blocks import InBlocks
from ordinate.learning.models.contextual import Contextual
from ordinate.learning.models.factored import FactoredHybrid
from ordinate.learning.models.hybrid import Hybrid
from ordinate.learning.models.map_estimate import Prior
from ordinate.learning.prior_variances import Evidence, fitted_prior, log_hyperprior

WIDTHS, VARIANCES = (2, 3), (0.5, 3.0)


def drawn(rng: np.random.Generator, items: int, count: int) -> Answers:
    left = rng.integers(0, items, count)
    return Answers(left, (left + rng.integers(1, items, count)) % items, rng.integers(0, 2, count).astype(float))


@pytest.mark.parametrize("inside", [Hybrid(), FactoredHybrid(), Contextual()], ids=lambda model: type(model).__name__)
def test_a_fit_is_that_of_scaled_columns_in_the_units_that_are_given(inside: Any) -> None:
    rng = np.random.default_rng(0)
    features, new, answers = rng.normal(size=(20, 5)), rng.normal(size=(4, 5)), drawn(rng, 20, 60)
    root = np.sqrt(np.repeat(VARIANCES, WIDTHS))
    group, others = np.zeros(20, dtype=np.int64), np.zeros(4, dtype=np.int64)
    found, plain = InBlocks(inside, WIDTHS, VARIANCES).fit(features, answers), inside.fit(features * root, answers)
    np.testing.assert_array_equal(found.mean, plain.mean)
    np.testing.assert_allclose(found.coefficients, plain.coefficients * root)
    np.testing.assert_allclose(found.predict(new, others, group), plain.predict(new * root, others, group))
    np.testing.assert_array_equal(found.centred(group), plain.centred(group))
    np.testing.assert_array_equal(found.scores_covariance(), plain.scores_covariance())


def test_scores_are_those_of_a_prior_covariance_written_out() -> None:
    rng = np.random.default_rng(1)
    features, answers = rng.normal(size=(8, 5)), drawn(rng, 8, 30)
    model = InBlocks(Hybrid(2.0, 0.7), WIDTHS, VARIANCES)
    fit = Propagation(model, features, answers)
    fit.propagate(model.prior)
    found = model.given(features, fit.compared, fit.sites)
    kernel = 0.7 * np.eye(8)
    for part, variance in ((features[:, :2], 0.5), (features[:, 2:], 3.0)):
        kernel += 2.0 * variance * part @ part.T
    pairs, z = fit.compared.pairs, np.zeros((len(fit.sites.weight), 8))
    z[np.arange(len(z)), fit.compared.rows[pairs.left]] = 1.0
    z[np.arange(len(z)), fit.compared.rows[pairs.right]] = -1.0
    covariance = np.linalg.inv(np.linalg.inv(kernel) + z.T @ (z * fit.sites.weight[:, None]))
    np.testing.assert_allclose(found.scores_covariance(), covariance, atol=1e-8)
    np.testing.assert_allclose(found.mean, covariance @ z.T @ fit.sites.shift, atol=1e-6)


def test_evidence_is_that_of_the_matrices() -> None:
    rng = np.random.default_rng(2)
    features, answers = rng.normal(size=(12, 5)), drawn(rng, 12, 40)
    model = InBlocks(Hybrid(), WIDTHS, VARIANCES)
    fit = Propagation(model, features, answers)
    fit.propagate(model.prior)
    evidence = Evidence(fit.compared, fit.sites)
    pairs, inside = fit.compared.pairs, features[fit.compared.rows]
    z = np.zeros((len(pairs.left), len(inside)))
    z[np.arange(len(z)), pairs.left], z[np.arange(len(z)), pairs.right] = 1.0, -1.0

    def written_out(prior: Prior) -> float:
        variances = prior.coefficients * np.repeat(prior.blocks, WIDTHS)
        kernel = (inside * variances) @ inside.T + prior.items * np.eye(len(inside))
        noisy = z @ kernel @ z.T + np.diag(1 / fit.sites.weight)
        return float(stats.multivariate_normal.logpdf(fit.sites.shift / fit.sites.weight, np.zeros(len(z)), noisy))

    def relative(prior: Prior) -> Any:
        return model.by_column(prior.blocks) / model.by_column(VARIANCES)

    scales = [Prior(2.0, z, blocks) for z in (1.0, 0.1, 0.0) for blocks in (VARIANCES, (1e-4, 1.0), (2.0, 0.1))]
    differences = [written_out(prior) - evidence(prior, relative(prior)) for prior in scales]
    assert differences == pytest.approx([differences[0]] * len(scales), abs=1e-6)


def test_the_evidence_of_the_answers_is_near_the_integral() -> None:
    rng = np.random.default_rng(3)
    features, answers = rng.normal(size=(4, 5)), drawn(rng, 4, 8)
    model = InBlocks(Hybrid(0.7, 0.5), WIDTHS, VARIANCES)
    fit = Propagation(model, features, answers)
    fit.propagate(model.prior)
    found = Evidence(fit.compared, fit.sites)(model.prior) + fit.log_normaliser(model.prior)
    theta = np.sqrt(0.7 * np.repeat(VARIANCES, WIDTHS)) * rng.normal(size=(400_000, 5))
    scores = theta @ features.T + np.sqrt(0.5) * rng.normal(size=(400_000, 4))
    margins = scores[:, answers.left] - scores[:, answers.right]
    log = answers.outcome * log_expit(margins) + (1 - answers.outcome) * log_expit(-margins)
    assert found == pytest.approx(np.log(np.exp(log.sum(axis=1)).mean()), abs=0.03)


def test_blocks_share_the_variance_that_is_expected_of_one() -> None:
    at_mean = Prior(2.0, np.exp(-2.0), (1.0, 1.0))
    assert log_hyperprior(at_mean) == pytest.approx(0.0)
    assert log_hyperprior(at_mean._replace(blocks=(np.exp(6.0), 1.0))) == pytest.approx(-0.5)


def test_a_block_that_says_nothing_costs_next_to_nothing() -> None:
    """Twenty columns of noise beside the five that scores are made of: against these alone, and one scale for all."""
    errors = []
    for seed in range(6):
        rng = np.random.default_rng([seed, 4])
        good, junk = rng.normal(size=(60, 5)) / np.sqrt(5), rng.normal(size=(60, 20)) / np.sqrt(20)
        truth = 2.0 * good @ rng.normal(size=5) + 0.3 * rng.normal(size=60)
        answers = drawn(rng, 60, 180)
        chance = expit(truth[answers.left] - truth[answers.right])
        answers = answers._replace(outcome=(rng.random(180) < chance).astype(float))
        both = np.hstack([good, junk]) / np.sqrt(2)
        row = []
        for model, features in ((Hybrid(), good), (InBlocks(Hybrid(), (5, 20), (1.0, 1.0)), both), (Hybrid(), both)):
            fitted: Any = model.with_prior(fitted_prior(model, features, answers))
            scores = Propagation(fitted, features, answers).posterior(fitted.prior).mean
            one, other = np.triu_indices(60, 1)
            row.append(np.mean((scores[one] > scores[other]) != (truth[one] > truth[other])))
            if isinstance(fitted, InBlocks):
                assert fitted.variances[1] < 0.1 * fitted.variances[0]
        errors.append(row)
    alone, blocks, together = np.mean(errors, axis=0)
    assert blocks < alone + 0.01
    assert blocks < together - 0.01
