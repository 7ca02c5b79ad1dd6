"""The paper's bound on the ordering error: Lemma 1, its consequence for E[R], and Theorem 1 for P(R >= epsilon).

    n  items     d  columns of the features     T  answers     z_ij = x_i - x_j     |i - j|  distance in the true order
    m_ij = z_ij . theta      v_ij = z_ij^T H^-1 z_ij      Delta_ij = |sigma(z_ij . theta_*) - 1/2|
    Delta_* = min Delta_ij / |i - j|      S >= ||theta_*||      Q >= ||x_i||      lambda_0  least eigenvalue of H
    rho^2 = 3 + 2 log(1 + 4 Q^2 / lambda_0)      C1 = rho^2 (1 + 2 S)^2

    alpha_ij(Delta) = exp(-Delta^2 / (8 d C1 sigma'(m_ij)^2 v_ij))      beta_ij(Delta) = exp(-Delta / (d C1 v_ij))
    P(|sigma(z_ij . theta_*) - sigma(z_ij . theta_T)| > Delta) <= 2 d T (alpha + beta),  if both are <= 1 / (4 d T)
    E[R] <= 2 / (n (n - 1)) sum_{i < j} min(2 d T (alpha_ij(Delta_ij) + beta_ij(Delta_ij)), 1)
    P(R >= epsilon) <= 4 d T / (epsilon n) (1 / (1 / alpha_* - 1) + 1 / (1 / beta_* - 1)),
        alpha_* = max alpha_ij(Delta_*),  beta_* = max beta_ij(Delta_*)

Two views. Verifiable: theta is theta_T and H is H_T(theta_T). Unverifiable: theta is theta_* and H is H_T(theta_*), and
every d above is 1. Two forms: "right", as above, and "figure", what the authors plotted (see FORMS).

This is the paper's bound, not a guarantee: steps of its proof do not hold as written, and the true margins Delta_ij are
known only in simulations. Users should rely on `Study.expected_error` instead.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from scipy.special import expit

from ordinate.data.arrays import Floats, Integers
from ordinate.errors import InvalidInput
from ordinate.learning.belief import tiles
from ordinate.learning.belief.factored import FactoredBelief
from ordinate.learning.expected_error import expected_error
from ordinate.learning.models import Answers
from ordinate.learning.models.cholesky import PositiveDefinite, root_of
from ordinate.learning.models.contextual import Contextual, information
from ordinate.learning.models.likelihood import PairCounts

Form = Literal["right", "figure"]
View = Literal["verifiable", "unverifiable"]

_ROUNDING = 1e-9  # a relative difference, or a share of the largest eigenvalue, that counts as 0


class Truth(NamedTuple):
    """The annotators of a simulation: P(i beats j) = sigma(noise * coefficients . z_ij).

    The parameter of the paper's model, theta_*, is noise * coefficients; the figure leaves the noise factor out.
    """

    coefficients: Floats
    noise: float = 1.0


class Constants(NamedTuple):
    """S, Q and lambda_0 of the paper's Assumptions 1 to 3."""

    coefficient_norm: float
    feature_norm: float
    least_eigenvalue: float


class Violation(NamedTuple):
    """An assumption that does not hold, and how it fails. `paper_bound` lists the names."""

    assumption: str
    detail: str


class _Rules(NamedTuple):
    """The differences between the two forms.

    constant   C1
    power      of T, by which the exponents of alpha and beta are multiplied
    scaled     whether theta_* contains the noise factor
    geometric  whether P(R >= epsilon) is Theorem 1's, or Markov's inequality on the sum over pairs
    """

    constant: Callable[[Constants], float]
    power: int
    scaled: bool
    geometric: bool

    def theta(self, truth: Truth) -> Floats:
        return truth.coefficients * (truth.noise if self.scaled else 1.0)

    def rate(self, constants: Constants, answers: int, dimensions: int) -> float:
        """The common factor of both exponents: 1 / (d C1)."""
        return float(answers) ** self.power / (dimensions * self.constant(constants))


def _right_constant(constants: Constants) -> float:
    ratio = 4.0 * constants.feature_norm**2 / constants.least_eigenvalue
    return (3.0 + 2.0 * math.log1p(ratio)) * (1.0 + 2.0 * constants.coefficient_norm) ** 2


FORMS: dict[Form, _Rules] = {
    "right": _Rules(_right_constant, power=0, scaled=True, geometric=True),
    # The authors use H^-1 / T instead of T H^-1, so the exponents are too large by T^2.
    "figure": _Rules(lambda c: 3.0 * (1.0 + c.coefficient_norm) ** 2, power=2, scaled=False, geometric=False),
}


@dataclass(frozen=True, eq=False)
class CoefficientBelief:
    """theta and H^-1, and the features that turn them into m_ij and v_ij.

    features         (n, d); for a model with a term per item: the columns [X, identity]
    coefficients     (d,) theta
    covariance       (d, d) H^-1
    prior_precision  the multiple of the identity in H that comes from the prior, not from the answers
    """

    features: Floats
    coefficients: Floats
    covariance: Floats
    prior_precision: float = 0.0

    def __post_init__(self) -> None:
        d = len(self.coefficients)
        if self.features.ndim != 2 or self.features.shape[1] != d or self.covariance.shape != (d, d):
            raise InvalidInput(
                f"features {self.features.shape} and covariance {self.covariance.shape} do not fit d = {d}"
            )
        if len(self.features) < 2 or d < 1:
            raise InvalidInput(f"a bound needs at least 2 items and 1 feature; got features {self.features.shape}")

    @property
    def spectrum(self) -> Floats:
        """(d,) the eigenvalues of H, ascending."""
        eigenvalues: Floats = 1.0 / np.maximum(np.linalg.eigvalsh(self.covariance)[::-1], np.finfo(float).tiny)
        return eigenvalues

    @classmethod
    def at(
        cls, features: Floats, coefficients: Floats, answers: Answers, prior_precision: float = 0.0
    ) -> CoefficientBelief:
        """With H = H_T(theta) + prior_precision I, from the answers, at any theta (theta_* for the unverifiable view).

        Raises InvalidInput if H has no inverse: fewer than d independent comparisons, and no prior.
        """
        pairs = PairCounts.of(answers, len(features))
        scores = features @ coefficients
        hessian = information(features, pairs, pairs.weight(scores[pairs.left] - scores[pairs.right]))
        spectrum = np.linalg.eigvalsh(hessian) + prior_precision
        if spectrum[0] <= _ROUNDING * spectrum[-1]:
            count = len(answers.left)
            raise InvalidInput(
                f"the Hessian of {count} answers does not have full rank; give more answers, or a prior_precision"
            )
        root = PositiveDefinite(hessian, prior_precision).inverse_root()
        return cls(features, coefficients, root @ root.T, prior_precision)

    def dimensions(self, view: View) -> int:
        """The value of d in the bounds of this view."""
        return len(self.coefficients) if view == "verifiable" else 1

    def item_belief(self) -> FactoredBelief:
        """The belief about scores, up to a common shift. Relative to the mean item, differences lose no digits."""
        centred = _centred(self.features)
        factor = centred @ root_of(self.covariance)
        return FactoredBelief(centred @ self.coefficients, factor, np.zeros(len(centred)))


class Bound(NamedTuple):
    """The paper's bound after T answers, and the values that it depends on.

    error_bound           on E[R], at most 1
    probability_bound     on P(R >= threshold), at most 1: Theorem 1, or in the figure's form the next line
    probability_by_pairs  error_bound / threshold, at most 1: far below Theorem 1, which uses the worst pair for all
    margin, alpha, beta   Delta_*, alpha_*, beta_*
    constant              C1
    violated              the assumptions that fail; the paper claims the bound only if there are none
    """

    form: Form
    view: View
    answers: int
    threshold: float
    error_bound: float
    probability_bound: float
    probability_by_pairs: float
    margin: float
    alpha: float
    beta: float
    constant: float
    constants: Constants
    violated: tuple[Violation, ...]


def lemma_terms(
    coefficients: CoefficientBelief,
    left: Integers,
    right: Integers,
    margin: float | Floats,
    answers: int,
    constants: Constants,
    *,
    form: Form = "right",
    view: View = "verifiable",
) -> tuple[Floats, Floats]:
    """alpha_ij(Delta) and beta_ij(Delta) of Lemma 1, each (P,), for pairs by rows; margin: Delta, a number or (P,)."""
    gap, variance = coefficients.item_belief().differences(left, right)
    rate = FORMS[form].rate(constants, answers, coefficients.dimensions(view))
    delta = np.broadcast_to(np.asarray(margin, dtype=np.float64), variance.shape)
    alpha, beta = np.exp(-_exponents(rate, delta, (expit(gap) * expit(-gap)) ** 2 * variance, variance))
    return alpha, beta


def paper_bound(
    coefficients: CoefficientBelief,
    answers: int,
    threshold: float,
    *,
    form: Form = "right",
    view: View = "verifiable",
    truth: Truth | None = None,
    given: Mapping[str, float] | None = None,
) -> Bound:
    """The paper's bound on E[R] and on P(R >= threshold) after T answers; O(n^2 d) time, one tile of memory.

    coefficients  at theta_T for the verifiable view; at theta_* (`CoefficientBelief.at`) for the unverifiable one
    truth         gives Delta_ij, the true order and S; if it is None, theta is used instead
    given         S, Q, lambda_0 by name; the others are ||theta_*||, max ||x_i|| and the least eigenvalue of H

    What may be violated: "answers" (none yet), "known margins", "coefficient norm", "feature norm", "least eigenvalue",
    "full rank" (of the answers' part of H), "distinct scores", "short contrasts" (||z_ij|| <= 1, a step of the proof),
    "small terms", "small largest terms" (alpha, beta <= 1 / (4 d T), for every pair and for alpha_*, beta_*).
    """
    _check(coefficients, answers, threshold, form, view, truth)
    rules = FORMS[form]
    theta = coefficients.coefficients if truth is None else rules.theta(truth)
    spectrum = coefficients.spectrum
    longest = np.linalg.norm(coefficients.features, axis=1).max()
    found = Constants(float(np.linalg.norm(theta)), float(longest), float(spectrum[0]))
    if not {*(given or ())} <= {*Constants._fields}:
        raise InvalidInput(f"constants are given by the names {', '.join(Constants._fields)}; got {given}")
    constants = found._replace(**given) if given else found
    if not (all(value >= 0.0 for value in constants) and constants.least_eigenvalue > 0.0):
        raise InvalidInput(f"norms and the least eigenvalue must be positive; got {constants}")
    repeats = coefficients.dimensions(view) * answers
    rate = rules.rate(constants, answers, coefficients.dimensions(view))
    pairs = _scan(coefficients, theta, rate, repeats)
    exponents = _exponents(rate, np.array(pairs.margin), np.array(pairs.noisy), np.array(pairs.variance))
    alpha, beta = np.exp(-exponents).tolist()
    # T is a factor of the formulas, so they would be 0 without answers.
    error = pairs.mean if answers else 1.0
    by_pairs = theorem = min(error / threshold, 1.0)
    if rules.geometric and answers:
        with np.errstate(divide="ignore", over="ignore"):
            tail = float((1.0 / np.expm1(exponents)).sum())  # 1 / (1 / alpha_* - 1) + 1 / (1 / beta_* - 1)
        theorem = min(4.0 * repeats / (threshold * len(coefficients.features)) * tail, 1.0)
    largest = max(alpha, beta) if rules.geometric else 0.0
    above = [own > taken * (1.0 + _ROUNDING) for own, taken in zip(found, constants, strict=True)]
    least = found.least_eigenvalue
    singular = not answers or least - coefficients.prior_precision <= _ROUNDING * spectrum[-1]
    conditions = (
        ("answers", not answers, "there are no answers yet"),
        ("known margins", truth is None, "no truth was given; the margins and S are estimates"),
        ("coefficient norm", above[0], f"it is {found.coefficient_norm:.4g}"),
        ("feature norm", above[1], f"it is {found.feature_norm:.4g}"),
        ("least eigenvalue", least < constants.least_eigenvalue * (1.0 - _ROUNDING), f"it is {least:.4g}"),
        ("full rank", singular, "the answers alone, without the prior, leave H singular"),
        ("distinct scores", pairs.ties, "two items have the same true score, so Delta_* is 0"),
        ("short contrasts", pairs.contrast > 1.0 + _ROUNDING, f"some ||z_ij|| is {pairs.contrast:.4g}, above 1"),
        ("small terms", pairs.not_small > 0, f"{pairs.not_small} pairs have alpha_ij or beta_ij above 1 / (4 d T)"),
        ("small largest terms", 4.0 * repeats * largest > 1.0, f"alpha_* or beta_* is {largest:.4g}"),
    )
    return Bound(
        form=form,
        view=view,
        answers=answers,
        threshold=threshold,
        error_bound=error,
        probability_bound=theorem,
        probability_by_pairs=by_pairs,
        margin=pairs.margin,
        alpha=alpha,
        beta=beta,
        constant=rules.constant(constants),
        constants=constants,
        violated=tuple(Violation(name, detail) for name, broken, detail in conditions if broken),
    )


def bounds_over_run(
    features: Floats,
    answers: Answers,
    steps: Sequence[int],
    threshold: float,
    *,
    truth: Truth | None = None,
    model: Contextual = Contextual(1.0),  # noqa: B008 - immutable; the paper's prior
    given: Mapping[str, float] | None = None,
) -> dict[str, list[Any]]:
    """Every form and view after each number of answers in `steps`: flat columns, a row per step, form and view.

    theta_T and H are fitted from scratch by `model` at each step, with its prior as part of H; a computed lambda_0 is
    below the eigenvalues at theta_T and at theta_*, as Assumption 3 says. Without `truth` there are verifiable rows
    only. `expected_error` is the one under the belief; `violated` lists names, separated by "; ".
    """
    if not steps or not all(0 <= step <= len(answers.left) for step in steps):
        raise InvalidInput(f"steps are one or more numbers of answers from 0 to {len(answers.left)}; got {steps}")
    rows: list[dict[str, Any]] = []
    precision = 1.0 / model.coefficient_variance
    for step in steps:
        seen = Answers(answers.left[:step], answers.right[:step], answers.outcome[:step])
        posterior = model.fit(features, seen)
        error = expected_error(posterior, np.zeros(len(features), dtype=np.int64))
        learned = CoefficientBelief(features, posterior.coefficients, posterior.covariance.coefficients, precision)
        for form, rules in FORMS.items():
            beliefs: dict[View, CoefficientBelief] = {"verifiable": learned}
            if truth is not None:
                beliefs["unverifiable"] = CoefficientBelief.at(features, rules.theta(truth), seen, precision)
            least = min(float(belief.spectrum[0]) for belief in beliefs.values())
            fixed = {"least_eigenvalue": least, **(given or {})}
            for view, belief in beliefs.items():
                bound = paper_bound(belief, step, threshold, form=form, view=view, truth=truth, given=fixed)
                row = {"step": step, "expected_error": error, **bound._asdict(), **bound.constants._asdict()}
                del row["answers"], row["constants"]
                rows.append(row | {"violated": "; ".join(broken.assumption for broken in bound.violated)})
    return {name: [row[name] for row in rows] for name in rows[0]}


class _Pairs(NamedTuple):
    """The result of one pass over all pairs.

    mean       of min(2 d T (alpha + beta), 1)
    not_small  the number of pairs where alpha or beta is above 1 / (4 d T)
    margin     Delta_*
    noisy, variance, contrast  the largest sigma'(m)^2 v, v and ||z||
    ties       whether two true scores are equal
    """

    mean: float
    not_small: int
    margin: float
    noisy: float
    variance: float
    contrast: float
    ties: bool


def _scan(coefficients: CoefficientBelief, theta: Floats, rate: float, repeats: int) -> _Pairs:
    centred = _centred(coefficients.features)
    # From the highest true score down, so that |i - j| is the distance of the rows.
    order = np.argsort(-(centred @ theta), kind="stable")
    truth = (centred @ theta)[order]
    items, rows = coefficients.item_belief(), np.arange(len(order))
    belief = FactoredBelief(items.mean[order], items.factor[order], items.residual)
    lengths = FactoredBelief(truth, centred[order], items.residual)
    spread, squares = belief.variance, lengths.variance
    total, not_small = 0.0, 0
    margin, noisy, variance, contrast = math.inf, 0.0, 0.0, 0.0
    for (first, covariance), (_, products) in zip(tiles(belief, rows), tiles(lengths, rows), strict=True):
        row, column = np.nonzero(rows[: covariance.shape[1]] > rows[: len(covariance), None])
        if not len(row):
            continue
        i, j = row + first, column + first
        v = np.maximum(spread[i] + spread[j] - 2.0 * covariance[row, column], 0.0)
        gap = belief.mean[i] - belief.mean[j]
        slope_v = (expit(gap) * expit(-gap)) ** 2 * v
        delta = 0.5 * np.tanh(0.5 * (truth[i] - truth[j]))
        alpha, beta = np.exp(-_exponents(rate, delta, slope_v, v))
        total += float(np.minimum(2.0 * repeats * (alpha + beta), 1.0).sum())
        not_small += int(np.count_nonzero(4.0 * repeats * np.maximum(alpha, beta) > 1.0))
        margin = min(margin, float((delta / (j - i)).min()))
        noisy, variance = max(noisy, float(slope_v.max())), max(variance, float(v.max()))
        contrast = max(contrast, float((squares[i] + squares[j] - 2.0 * products[row, column]).max()))
    count = len(order) * (len(order) - 1) // 2
    ties = bool((-np.diff(truth) <= _ROUNDING * np.abs(truth).max()).any())
    return _Pairs(total / count, not_small, margin, noisy, variance, math.sqrt(contrast), ties)


def _exponents(rate: float, delta: Floats, noisy: Floats, variance: Floats) -> Floats:
    """-log alpha and -log beta, stacked, from Delta, sigma'(m)^2 v and v of any one shape."""
    above, below = np.stack([rate * delta**2, rate * delta]), np.stack([8.0 * noisy, variance])
    # 0 over anything is 0; something over nothing is infinite.
    exponents: Floats = np.where(above > 0.0, np.inf, 0.0)
    with np.errstate(over="ignore"):
        np.divide(above, below, out=exponents, where=(above > 0.0) & (below > 0.0))
    return exponents


def _centred(features: Floats) -> Floats:
    centred: Floats = features - features.mean(axis=0)
    return centred


def _check(
    coefficients: CoefficientBelief, answers: int, threshold: float, form: Form, view: View, truth: Truth | None
) -> None:
    if form not in FORMS or view not in get_args(View):
        raise InvalidInput(f"unknown form or view; got {form!r}, {view!r}; there are {[*FORMS, *get_args(View)]}")
    if answers < 0 or not 0.0 < threshold < 1.0:
        raise InvalidInput(f"answers must be at least 0, the threshold within (0, 1); got {answers}, {threshold}")
    if view == "unverifiable" and truth is None:
        raise InvalidInput("the unverifiable view takes the true coefficients; give truth=Truth(...)")
    wanted, got = coefficients.coefficients.shape, None if truth is None else truth.coefficients.shape
    if truth is not None and (got != wanted or not 0.0 < truth.noise < math.inf):
        raise InvalidInput(f"the truth is {wanted} coefficients and a noise above 0; got {got}, {truth.noise}")
