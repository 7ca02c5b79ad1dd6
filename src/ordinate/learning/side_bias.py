"""Whether people prefer a side: of two equal items, the left one wins with the probability sigma(b), b their lean.

A  annotators     T  answers     G  points of the grid of b     alpha  an annotator's sharpness, as in `annotators`

Left wins with probability sigma(alpha_a m + b_a), m the difference of the scores. Annotators lean alike, but not
equally: b_a ~ N(mu, tau^2), mu ~ N(0, 1), tau ~ U(0, 1). What a fit says of an answer's margin without that answer,
N(m_-, v_-), gives the answer the probability sigma((alpha m_- + b) / sqrt(1 + pi alpha^2 v_- / 8)), so each
annotator's b has a likelihood on a grid. Scores and leans are found in turns.

Leans are left out unless they make the answers 20 times as probable: where nobody leans, that happens with a
probability below 1 in 20 (Markov's inequality), and sides drawn at random keep most of a bias out of the scores.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from ordinate.data.arrays import Floats, Integers
from ordinate.learning.annotators import Alone, Fit, without_itself
from ordinate.learning.models import Answers

_GRID = np.linspace(-3.0, 3.0, 121)
"""Of b, and of mu."""
_DEVIATIONS = (np.arange(12) + 0.5) / 12.0
"""Values of tau that are equally likely before any answer."""
_EVIDENCE = math.log(20.0)
_ROUNDS = 10
_LEAST = 1e-300
"""Instead of 0, far from what many answers say, where it is compared with 1."""
_STEP = 0.05
"""Leans are found to 0.05, so that rounding does not matter and every machine finds the same."""


def leans(fit: Fit, answers: Answers, annotators: Integers, sided: NDArray[np.bool_]) -> Floats | None:
    """(A + 1,) the lean of each annotator, and of one who has not answered yet; None: nothing speaks for any.

    sided (T,): which answers' left items were shown on the left, so that they tell of sides.
    """
    if not (sided & (answers.outcome != 0.5)).any():
        return None
    people = int(annotators.max()) + 1
    alpha = np.ones(len(sided)) if answers.sharpness is None else answers.sharpness
    lean = np.zeros(people + 1)
    for _ in range(_ROUNDS):
        alone = without_itself(fit, answers._replace(lean=np.where(sided, lean[annotators], 0.0)), alpha)
        own = OwnAnswers(
            likelihoods(
                answers.those(sided), Alone(*(part[sided] for part in alone)), alpha[sided], annotators[sided], people
            )
        )
        if not lean.any() and own.evidence < _EVIDENCE:
            return None
        before, lean = lean, _STEP * np.rint(own.means() / _STEP)
        if np.array_equal(before, lean):
            break
    return lean if lean.any() else None


def likelihoods(answers: Answers, alone: Alone, alpha: Floats, annotators: Integers, people: int) -> Floats:
    """(A, G) the log-likelihood of each annotator's decided answers at each b."""
    from scipy.special import log_expit

    decided = answers.outcome != 0.5
    sign = np.sign(answers.outcome - 0.5)[decided]
    size = np.ones(len(sign)) if answers.share is None else answers.share[decided]
    spread = np.sqrt(1.0 + math.pi * np.square(alpha[decided]) * alone.variance[decided] / 8.0)
    margin, who = alpha[decided] * alone.mean[decided], annotators[decided]
    likelihood = np.empty((people, len(_GRID)))
    for place, lean in enumerate(_GRID):
        likelihood[:, place] = np.bincount(who, size * log_expit(sign * (margin + lean) / spread), people)
    return likelihood


class OwnAnswers:
    """What each annotator's own answers say of their b, from log-likelihoods (A, G).

    evidence  the log of how much more probable leans make the answers
    """

    def __init__(self, likelihood: Floats) -> None:
        from scipy.special import logsumexp

        highest = likelihood.max(axis=1, keepdims=True)
        middle = np.exp(-0.5 * np.square(_GRID))
        log_prior = np.log(middle / middle.sum())
        weight = np.empty((len(_DEVIATIONS), len(_GRID)))
        self._scaled = np.exp(likelihood - highest)
        self._mass: list[Floats] = []  # each (A, mu)
        for place, about in enumerate(_around()):
            self._mass.append(np.maximum(self._scaled @ about, _LEAST))
            weight[place] = log_prior + (np.log(self._mass[-1]) + highest).sum(axis=0) - math.log(len(_DEVIATIONS))
        total = float(logsumexp(weight))
        self._posterior = np.exp(weight - total)
        self.evidence = total - float(likelihood[:, len(_GRID) // 2].sum())

    def means(self) -> Floats:
        """(A + 1,) of each annotator's b and of a new one's; it takes as long as the evidence, which may do alone."""
        weighted = self._scaled * _GRID
        means = np.stack([weighted @ about / mass for about, mass in zip(_around(), self._mass, strict=True)])
        own = np.einsum("tam,tm->a", means, self._posterior)
        return np.append(own, float(self._posterior.sum(axis=0) @ _GRID))


def _around() -> Iterator[Floats]:
    """For each tau: (G, mu) the probability of each b."""
    for deviation in _DEVIATIONS:
        about = np.exp(-0.5 * np.square((_GRID[:, None] - _GRID) / deviation))
        about /= about.sum(axis=0)
        yield about


def left_share(answers: Answers, alone: Alone, alpha: Floats) -> tuple[float, float, float]:
    """The chance that the left item is chosen where both are equal, and its 5 % and 95 % quantiles.

    All of these answers are taken for one annotator's, with b ~ N(0, 1); 0.5 means that the side does not matter.
    """
    from scipy.special import expit, logsumexp

    one = np.zeros(len(answers.outcome), dtype=np.int64)
    log = likelihoods(answers, alone, alpha, one, 1)[0] - 0.5 * np.square(_GRID)
    mass = np.exp(log - logsumexp(log))
    below = np.cumsum(mass) - 0.5 * mass
    low, middle, high = (float(expit(np.interp(level, below, _GRID))) for level in (0.05, 0.5, 0.95))
    return middle, low, high
