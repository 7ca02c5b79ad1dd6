"""Time of a refit against n and d: the fits that a study makes, and the same optimum in plain NumPy."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from benchmarks.measure import Call, Row, interleaved, row
from benchmarks.plain import fit_linear
from ordinate.learning.models import Answers, Model
from ordinate.learning.models.contextual import Contextual
from ordinate.learning.models.factored import FactoredHybrid
from ordinate.learning.models.hybrid import Hybrid
from ordinate.study.threads import one_thread

BY_N = [(n, 35) for n in (100, 200, 500, 1000, 2000, 4000)]
BY_D = [(1000, d) for d in (5, 10, 20, 40, 80, 160)]
ANSWERS_PER_ITEM = 5
MOST_DENSE = 1000  # items; the plain hybrid solves systems of n + d
MODELS: dict[str, Model] = {
    "ordinate, contextual": Contextual(),
    "ordinate, hybrid factored": FactoredHybrid(),
    "ordinate, hybrid": Hybrid(),
}


def problem(n: int, d: int) -> tuple[np.ndarray, Answers]:
    rng = np.random.default_rng(n + d)
    features = rng.normal(size=(n, d)) / np.sqrt(d)
    scores = 2.0 * features @ rng.normal(size=d) + rng.normal(size=n)
    left = rng.integers(0, n, ANSWERS_PER_ITEM * n)
    right = (left + rng.integers(1, n, len(left))) % n
    won = rng.random(len(left)) < 1.0 / (1.0 + np.exp(scores[right] - scores[left]))
    return features, Answers(left, right, won.astype(float))


def plain_contextual(features: np.ndarray, answers: Answers) -> np.ndarray:
    """theta; the covariance is computed and dropped, since ours has it too."""
    precision = np.eye(features.shape[1]) / Contextual().coefficient_variance
    return fit_linear(features[answers.left] - features[answers.right], answers.outcome, precision)[0]


def plain_hybrid(features: np.ndarray, answers: Answers) -> np.ndarray:
    """theta of the model whose columns are the features and an indicator per item."""
    n, d = features.shape
    design = np.zeros((len(answers.left), d + n))
    design[:, :d] = features[answers.left] - features[answers.right]
    each = np.arange(len(design))
    design[each, d + answers.left] += 1.0
    design[each, d + answers.right] -= 1.0
    prior = Hybrid()
    precision = np.diag(np.r_[np.full(d, 1.0 / prior.coefficient_variance), np.full(n, 1.0 / prior.item_variance)])
    return fit_linear(design, answers.outcome, precision)[0][:d]


PLAIN = {"NumPy, contextual": plain_contextual, "NumPy, hybrid": plain_hybrid}


def compare(n: int, d: int, rounds: int, seconds_each: float) -> Iterator[Row]:
    features, answers = problem(n, d)
    found: dict[str, np.ndarray] = {}

    def call(who: str) -> Call:
        def fit() -> int:
            if who in MODELS:
                posterior = MODELS[who].fit(features, answers)
                _ = posterior.belief.variance  # the covariance too, where it is made when it is first asked for
                found[who] = posterior.coefficients
            else:
                found[who] = PLAIN[who](features, answers)
            return 1

        return fit

    names = [*MODELS, "NumPy, contextual", *(["NumPy, hybrid"] if n <= MOST_DENSE else [])]
    with one_thread():
        times = interleaved({who: call(who) for who in names}, rounds, seconds_each)
    for who, seconds in times.items():
        same = found[f"NumPy, {'contextual' if 'contextual' in who else 'hybrid'}"] if n <= MOST_DENSE else None
        note = "" if same is None else f"theta within {np.abs(found[who] - same).max():.0e}"
        yield row("refit", "refit", who, (n, d, len(answers.left)), seconds, note=note)


def rows(quick: bool) -> Iterator[Row]:
    for n, d in (BY_N[:2] if quick else BY_N) + (BY_D[:2] if quick else BY_D):
        yield from compare(n, d, 2 if quick else 3, 1.0 if quick else 3.0)
