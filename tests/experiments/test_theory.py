"""The paper's bound against a plain loop over its equations, its limits, and what it says on the synthetic task."""

import math
from itertools import combinations, product

import numpy as np
import pytest

from ordinate.errors import InvalidInput
from ordinate.experiments.theory import (
    FORMS,
    CoefficientBelief,
    Constants,
    Truth,
    bounds_over_run,
    lemma_terms,
    paper_bound,
)
from ordinate.learning.models import Answers
from ordinate.learning.models.contextual import Contextual

VIEWS = ("verifiable", "unverifiable")
FORMS_AND_VIEWS = [(form, view) for form in FORMS for view in VIEWS]


def sigma(m: float) -> float:
    return 1 / (1 + math.exp(-m))


def answers_to(features: np.ndarray, theta: np.ndarray, count: int, rng: np.random.Generator) -> Answers:
    """To random pairs, by annotators with the parameter theta."""
    n = len(features)
    left = rng.integers(n, size=count)
    right = (left + rng.integers(1, n, size=count)) % n
    chance = 1 / (1 + np.exp(-(features[left] - features[right]) @ theta))
    return Answers(left, right, (rng.random(count) < chance).astype(float))


def random_belief(
    n: int = 9, d: int = 3, shrink: float = 1.0, seed: int = 0
) -> tuple[CoefficientBelief, Truth, np.random.Generator]:
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(d, d))
    features, theta = rng.normal(size=(n, d)), rng.uniform(-3, 3, d)
    covariance = shrink * (root @ root.T + 0.1 * np.eye(d))
    estimate = 0.5 * theta + 0.1 * rng.normal(size=d)
    return CoefficientBelief(features, estimate, covariance), Truth(theta, 0.5), rng


def literal_constant(form: str, belief: CoefficientBelief, theta: np.ndarray) -> float:
    S = math.sqrt(sum(value**2 for value in theta))
    if form == "figure":
        return 3 * (1 + S) ** 2
    Q = max(math.sqrt(sum(value**2 for value in x)) for x in belief.features)
    least = 1 / max(np.linalg.eigvalsh(belief.covariance))
    rho = math.sqrt(3 + 2 * math.log(1 + 4 * Q**2 / least))
    return rho**2 * (1 + 2 * S) ** 2


def literal_terms(
    form: str, view: str, belief: CoefficientBelief, i: int, j: int, delta: float, count: int, c1: float
) -> tuple[float, float]:
    """alpha_ij(Delta) and beta_ij(Delta) as Lemma 1 prints them, with the tilde Hessian."""
    d = len(belief.coefficients) if view == "verifiable" else 1
    tilde_inverse = belief.covariance / count if form == "figure" else count * belief.covariance
    z = belief.features[i] - belief.features[j]
    norm = math.sqrt(z @ tilde_inverse @ z)
    m = z @ belief.coefficients
    slope = sigma(m) * (1 - sigma(m))
    alpha = math.exp(-(delta**2) * count / (8 * d * c1 * (slope * norm) ** 2))
    beta = math.exp(-delta * count / (d * c1 * norm**2))
    return alpha, beta


def literal_bound(
    form: str, view: str, belief: CoefficientBelief, truth: Truth, count: int, epsilon: float
) -> tuple[float, float, float, float, float]:
    """E[R], P(R >= epsilon), Delta_*, alpha_*, beta_*."""
    theta = truth.coefficients * (truth.noise if form == "right" else 1.0)
    n = len(belief.features)
    d = len(theta) if view == "verifiable" else 1
    c1 = literal_constant(form, belief, theta)
    place = {int(item): rank for rank, item in enumerate(np.argsort(-belief.features @ theta))}
    margin = {
        (i, j): abs(sigma((belief.features[i] - belief.features[j]) @ theta) - 1 / 2)
        for i, j in combinations(range(n), 2)
    }
    smallest = min(delta / abs(place[i] - place[j]) for (i, j), delta in margin.items())
    total, alpha_star, beta_star = 0.0, 0.0, 0.0
    for (i, j), delta in margin.items():
        alpha, beta = literal_terms(form, view, belief, i, j, delta, count, c1)
        total += min(2 * d * count * (alpha + beta), 1)
        alpha, beta = literal_terms(form, view, belief, i, j, smallest, count, c1)
        alpha_star, beta_star = max(alpha_star, alpha), max(beta_star, beta)
    expected = 2 / (n * (n - 1)) * total
    if form == "figure":
        return expected, min(expected / epsilon, 1), smallest, alpha_star, beta_star
    theorem = (
        4
        * d
        * count
        / (epsilon * n)
        * sum(1 / (1 / value - 1) if value > 0 else 0.0 for value in (alpha_star, beta_star))
    )
    return expected, min(theorem, 1), smallest, alpha_star, beta_star


@pytest.mark.parametrize("shrink", [1.0, 1e-3, 1e-5, 1e-8])
@pytest.mark.parametrize(("form", "view"), FORMS_AND_VIEWS)
def test_bound_follows_the_equations(form, view, shrink):
    belief, truth, _ = random_belief(shrink=shrink)
    bound = paper_bound(belief, 40, 0.2, form=form, view=view, truth=truth)
    expected, probability, margin, alpha, beta = literal_bound(form, view, belief, truth, 40, 0.2)
    assert bound.error_bound == pytest.approx(expected, rel=1e-9)
    assert bound.probability_bound == pytest.approx(probability, rel=1e-9)
    assert bound.probability_by_pairs == pytest.approx(min(expected / 0.2, 1))
    assert (bound.margin, bound.alpha, bound.beta) == pytest.approx((margin, alpha, beta), rel=1e-8)
    assert (bound.form, bound.view, bound.answers, bound.threshold) == (form, view, 40, 0.2)
    theta = truth.coefficients * (0.5 if form == "right" else 1.0)
    assert bound.constant == pytest.approx(literal_constant(form, belief, theta))


def test_the_cases_above_are_not_all_one():
    """So that the loop is compared where the bound says something: the sum, and the closed form of Theorem 1."""
    belief, truth, _ = random_belief(shrink=1e-5)
    bound = paper_bound(belief, 40, 0.2, truth=truth)
    assert 0 < bound.error_bound < 1
    belief, truth, _ = random_belief(shrink=1e-8)
    assert 0.01 < paper_bound(belief, 40, 0.2, truth=truth).probability_bound < 0.1


@pytest.mark.parametrize(("form", "view"), FORMS_AND_VIEWS)
def test_lemma_terms_follow_the_equations(form, view):
    belief, _, rng = random_belief(shrink=1e-3)
    left, right = np.array([0, 3, 7]), np.array([5, 1, 2])
    constants = Constants(1.3, 2.5, 4.0)
    delta = rng.uniform(0.01, 0.4, 3)
    alpha, beta = lemma_terms(belief, left, right, delta, 60, constants, form=form, view=view)
    C1 = 3 * 2.3**2 if form == "figure" else (3 + 2 * math.log(1 + 4 * 2.5**2 / 4)) * 3.6**2
    for pair in range(3):
        expected = literal_terms(form, view, belief, left[pair], right[pair], delta[pair], 60, C1)
        assert (alpha[pair], beta[pair]) == pytest.approx(expected, rel=1e-9)
    same = lemma_terms(belief, left, right, 0.1, 60, constants, form=form, view=view)
    np.testing.assert_array_equal(
        same, lemma_terms(belief, right, left, np.full(3, 0.1), 60, constants, form=form, view=view)
    )


def test_many_items_go_through_tiles():
    belief, truth, _ = random_belief(n=900, d=4, shrink=1e-5, seed=3)
    bound = paper_bound(belief, 30, 0.3, truth=truth)
    theta = 0.5 * truth.coefficients
    order = np.argsort(-belief.features @ theta)
    x = belief.features[order]
    i, j = np.triu_indices(900, 1)
    z = x[i] - x[j]
    variance = np.einsum("pk,kl,pl->p", z, belief.covariance, z)
    slope = 1 / (2 + np.exp(z @ belief.coefficients) + np.exp(-z @ belief.coefficients))
    delta = np.abs(1 / (1 + np.exp(-z @ theta)) - 0.5)
    scale = 4 * literal_constant("right", belief, theta)
    terms = np.exp(-(delta**2) / (8 * scale * slope**2 * variance)) + np.exp(-delta / (scale * variance))
    assert 0 < bound.error_bound < 1
    assert bound.error_bound == pytest.approx(np.minimum(2 * 4 * 30 * terms, 1).mean(), rel=1e-9)
    assert bound.margin == pytest.approx((delta / (j - i)).min(), rel=1e-6)


def test_the_order_of_the_items_and_a_shift_of_them_do_not_matter():
    belief, truth, rng = random_belief(n=30, shrink=1e-5)
    given = {"feature_norm": 50.0}
    bound = paper_bound(belief, 40, 0.2, truth=truth, given=given)
    shuffled = CoefficientBelief(
        rng.permutation(belief.features) + np.array([5.0, -3.0, 8.0]), belief.coefficients, belief.covariance
    )
    other = paper_bound(shuffled, 40, 0.2, truth=truth, given=given)
    assert other.error_bound == pytest.approx(bound.error_bound, rel=1e-9)
    assert other.margin == pytest.approx(bound.margin, rel=1e-6)


@pytest.mark.parametrize(("form", "view"), FORMS_AND_VIEWS)
def test_bound_falls_from_one_to_zero_as_the_variance_falls(form, view):
    values = []
    for power in range(-4, 13):
        belief, truth, _ = random_belief(shrink=10.0**-power)
        values.append(paper_bound(belief, 40, 0.2, form=form, view=view, truth=truth, given={"least_eigenvalue": 1.0}))
    for name in ("error_bound", "probability_bound", "probability_by_pairs"):
        numbers = [getattr(bound, name) for bound in values]
        assert numbers == sorted(numbers, reverse=True)
        assert numbers[0] == pytest.approx(1.0)
        assert numbers[-1] == 0.0
    assert all(0 <= bound.error_bound <= 1 and 0 <= bound.probability_bound <= 1 for bound in values)


def test_theorem_1_is_never_below_the_sum_over_pairs():
    for seed, power in product(range(5), range(3, 10)):
        belief, truth, _ = random_belief(shrink=10.0**-power, seed=seed)
        bound = paper_bound(belief, 40, 0.2, truth=truth)
        assert bound.probability_bound >= bound.probability_by_pairs * (1 - 1e-12)


def test_without_an_answer_nothing_is_known():
    belief, truth, _ = random_belief(shrink=1e-9)
    for form in FORMS:
        bound = paper_bound(belief, 0, 0.2, form=form, truth=truth)
        assert (bound.error_bound, bound.probability_bound, bound.probability_by_pairs) == (1.0, 1.0, 1.0)
        assert {"answers", "full rank"} <= {violation.assumption for violation in bound.violated}


def test_the_noise_factor_scales_the_true_parameter_except_in_the_figure():
    belief, truth, _ = random_belief(shrink=1e-4)
    plain, unscaled = Truth(0.5 * truth.coefficients), Truth(truth.coefficients)
    assert paper_bound(belief, 40, 0.2, truth=truth) == paper_bound(belief, 40, 0.2, truth=plain)
    assert paper_bound(belief, 40, 0.2, truth=truth, form="figure") == paper_bound(
        belief, 40, 0.2, truth=unscaled, form="figure"
    )


def test_exponents_of_the_figure_are_the_square_of_answers_too_large():
    belief, _, _ = random_belief(shrink=1.0)
    constants = Constants(1.0, 1.0, 1.0)
    left, right = np.array([0]), np.array([1])
    right_form = lemma_terms(belief, left, right, 0.1, 7, constants, form="right")
    figure = lemma_terms(belief, left, right, 0.1, 7, constants, form="figure")
    C1 = (3 + 2 * math.log(5)) * 9 / 12
    np.testing.assert_allclose(np.log(figure), np.log(right_form) * 49 * C1, rtol=1e-9)


def test_the_hessian_at_a_parameter_is_that_of_the_paper():
    rng = np.random.default_rng(4)
    features, theta = rng.normal(size=(6, 3)), rng.normal(size=3)
    answers = answers_to(features, theta, 25, rng)
    hessian = 0.5 * np.eye(3)
    for i, j in zip(answers.left, answers.right, strict=True):
        z = features[i] - features[j]
        hessian += sigma(z @ theta) * (1 - sigma(z @ theta)) * np.outer(z, z)
    belief = CoefficientBelief.at(features, theta, answers, prior_precision=0.5)
    np.testing.assert_allclose(belief.covariance, np.linalg.inv(hessian), rtol=1e-9)
    assert belief.spectrum == pytest.approx(np.linalg.eigvalsh(hessian))
    no_prior = CoefficientBelief.at(features, theta, answers)
    np.testing.assert_allclose(no_prior.covariance, np.linalg.inv(hessian - 0.5 * np.eye(3)), rtol=1e-9)


def test_a_hessian_without_full_rank_has_no_inverse():
    rng = np.random.default_rng(5)
    features = rng.normal(size=(6, 3))
    answers = answers_to(features, np.ones(3), 2, rng)
    with pytest.raises(InvalidInput, match=r"2 answers .* full rank"):
        CoefficientBelief.at(features, np.ones(3), answers)
    with_prior = CoefficientBelief.at(features, np.ones(3), answers, prior_precision=1.0)
    bound = paper_bound(with_prior, 2, 0.2, truth=Truth(np.ones(3)), view="unverifiable")
    assert "full rank" in {violation.assumption for violation in bound.violated}


def violated(belief: CoefficientBelief, answers: int = 40, **options) -> set[str]:
    return {violation.assumption for violation in paper_bound(belief, answers, 0.2, **options).violated}


def test_a_bound_whose_assumptions_hold_lists_nothing():
    features = np.linspace(-0.5, 0.5, 5)[:, None]
    belief = CoefficientBelief(features, np.array([2.0]), np.array([[1e-8]]))
    assert violated(belief, truth=Truth(np.array([2.0]))) == set()
    assert violated(belief) == {"known margins"}


def test_constants_that_were_assumed_too_small_or_too_large_are_listed():
    features = np.linspace(-0.5, 0.5, 5)[:, None]
    belief = CoefficientBelief(features, np.array([2.0]), np.array([[1e-8]]))
    truth = Truth(np.array([2.0]))
    assert violated(belief, truth=truth, given={"coefficient_norm": 1.9}) == {"coefficient norm"}
    assert violated(belief, truth=truth, given={"feature_norm": 0.4}) == {"feature norm"}
    assert violated(belief, truth=truth, given={"least_eigenvalue": 2e8}) == {"least eigenvalue"}
    loose = {"coefficient_norm": 3.0, "feature_norm": 1.0, "least_eigenvalue": 1e6}
    assert violated(belief, truth=truth, given=loose) == set()
    bound = paper_bound(belief, 40, 0.2, truth=truth, given=loose)
    assert bound.constants == Constants(3.0, 1.0, 1e6)


def test_conditions_that_do_not_hold_are_listed():
    features = np.array([[0.0], [0.4], [0.4], [-0.3]])
    tied = CoefficientBelief(features, np.array([2.0]), np.array([[1e-8]]))
    bound = paper_bound(tied, 40, 0.2, truth=Truth(np.array([2.0])))
    assert bound.margin == 0.0
    assert (bound.alpha, bound.beta, bound.probability_bound) == (1.0, 1.0, 1.0)
    assert bound.error_bound == pytest.approx(1 / 6)  # the tied pair
    assert {v.assumption for v in bound.violated} == {"distinct scores", "small terms", "small largest terms"}
    apart = CoefficientBelief(np.array([[0.0], [0.5], [1.01]]), np.array([2.0]), np.array([[1e-8]]))
    (violation,) = paper_bound(apart, 40, 0.2, truth=Truth(np.array([2.0]))).violated
    assert violation.assumption == "short contrasts"
    assert "1.01" in violation.detail
    wide = CoefficientBelief(np.array([[0.0], [0.4], [0.8]]), np.array([2.0]), np.array([[1e5]]))
    assert violated(wide, truth=Truth(np.array([2.0]))) == {"small terms", "small largest terms"}
    assert violated(wide, truth=Truth(np.array([2.0])), form="figure") == {"small terms"}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"form": "wrong"}, "unknown form or view"),
        ({"view": "visible"}, "unknown form or view"),
        ({"answers": -1}, "answers must be at least 0"),
        ({"threshold": 0.0}, "threshold"),
        ({"threshold": math.nan}, "threshold"),
        ({"view": "unverifiable"}, "true coefficients"),
        ({"truth": Truth(np.ones(2))}, "the truth is"),
        ({"truth": Truth(np.ones(3), 0.0)}, "noise"),
        ({"given": {"coefficient_norm": -1.0}}, "must be positive"),
        ({"given": {"least_eigenvalue": 0.0}}, "must be positive"),
        ({"given": {"feature_norm": math.nan}}, "must be positive"),
        ({"given": {"S": 1.0}}, "constants are given by the names"),
    ],
)
def test_what_makes_no_sense_is_refused(options, message):
    belief, _, _ = random_belief()
    with pytest.raises(InvalidInput, match=message):
        paper_bound(belief, **({"answers": 10, "threshold": 0.2} | options))


def test_shapes_that_do_not_fit_are_refused():
    with pytest.raises(InvalidInput, match="features"):
        CoefficientBelief(np.ones((4, 3)), np.ones(2), np.eye(2))
    with pytest.raises(InvalidInput, match="features"):
        CoefficientBelief(np.ones((4, 0)), np.ones(0), np.ones((0, 0)))


def test_a_run_gives_flat_columns():
    rng = np.random.default_rng(6)
    features, theta = rng.normal(size=(20, 3)), rng.uniform(-3, 3, 3)
    answers = answers_to(features, 0.5 * theta, 60, rng)
    columns = bounds_over_run(features, answers, [0, 30, 60], 0.2, truth=Truth(theta, 0.5))
    assert columns["step"] == [0] * 4 + [30] * 4 + [60] * 4
    assert columns["form"] == ["right", "right", "figure", "figure"] * 3
    assert columns["view"] == ["verifiable", "unverifiable"] * 6
    assert {len(column) for column in columns.values()} == {12}
    assert columns["expected_error"][0] == 0.5
    assert columns["violated"][0].startswith("answers; ")
    for column in columns.values():
        assert {type(value) for value in column} <= {int, float, str}

    # Each row is that of paper_bound on the refitted model.
    early = Answers(answers.left[:30], answers.right[:30], answers.outcome[:30])
    posterior = Contextual(1.0).fit(features, early)
    learned = CoefficientBelief(features, posterior.coefficients, posterior.covariance.coefficients, 1.0)
    true = CoefficientBelief.at(features, 0.5 * theta, early, 1.0)
    least = min(learned.spectrum[0], true.spectrum[0])
    bound = paper_bound(learned, 30, 0.2, truth=Truth(theta, 0.5), given={"least_eigenvalue": least})
    assert columns["error_bound"][4] == bound.error_bound
    assert columns["least_eigenvalue"][4] == least == columns["least_eigenvalue"][5]


def test_a_run_without_the_truth_has_the_verifiable_view_only():
    rng = np.random.default_rng(7)
    features = rng.normal(size=(10, 2))
    answers = answers_to(features, np.ones(2), 20, rng)
    columns = bounds_over_run(features, answers, [20], 0.2)
    assert columns["view"] == ["verifiable", "verifiable"]
    assert all("known margins" in names for names in columns["violated"])
    for steps in ([], [21], [-1]):
        with pytest.raises(InvalidInput, match="0 to 20"):
            bounds_over_run(features, answers, steps, 0.2)


def test_on_the_synthetic_task_the_bound_stays_at_one_and_the_form_of_the_figure_falls(synthetic_task):
    """100 items, 10 features, noise factor 0.5, 2,000 random comparisons, threshold 0.2."""
    with np.load(synthetic_task) as arrays:
        features, theta = arrays["features"], arrays["theta"]
    answers = answers_to(features, 0.5 * theta, 2000, np.random.default_rng(8))
    columns = bounds_over_run(features, answers, [10, 100, 300, 1000, 2000], 0.2, truth=Truth(theta, 0.5))

    def curve(form: str, view: str, name: str = "probability_bound") -> list[float]:
        chosen = zip(columns["form"], columns["view"], columns[name], strict=True)
        return [value for row_form, row_view, value in chosen if (row_form, row_view) == (form, view)]

    for view, name in product(VIEWS, ("error_bound", "probability_bound", "probability_by_pairs")):
        assert curve("right", view, name) == pytest.approx([1.0] * 5)
    figure = curve("figure", "verifiable")
    assert figure[0] == figure[1] == 1.0
    assert 0.1 < figure[2] < 0.9
    assert figure[3] < 0.1
    assert figure[4] < 0.03
    assert figure == sorted(figure, reverse=True)
    # The realised error is far below: what a user can act on is the expected error under the belief.
    assert curve("right", "verifiable", "expected_error")[-1] < 0.03


def test_on_the_synthetic_task_the_bound_takes_some_ten_million_comparisons(synthetic_task):
    """With the information of 2,000 comparisons per 2,000, the sum over pairs gets below the threshold near 10^7."""
    with np.load(synthetic_task) as arrays:
        features, theta = arrays["features"], arrays["theta"]
    truth = Truth(theta, 0.5)
    answers = answers_to(features, 0.5 * theta, 2000, np.random.default_rng(9))
    belief = CoefficientBelief.at(features, 0.5 * theta, answers)

    def by_pairs(times: int) -> float:
        more = CoefficientBelief(features, belief.coefficients, belief.covariance / times)
        return paper_bound(more, 2000 * times, 0.2, truth=truth).probability_by_pairs

    assert by_pairs(1_000) == 1.0
    assert by_pairs(20_000) < 1.0
