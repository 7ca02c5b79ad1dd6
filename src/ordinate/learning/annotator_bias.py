"""What sways annotators besides the scores: the side on which an item is shown, and how long it is.

A  annotators     T  answers     G  points of the grid of b     alpha  an annotator's sharpness, as in `annotators`
x  (T,) what may sway them: 1 for the left side, or by how many standard deviations the left item's log length is larger

Left wins with probability sigma(alpha_a m + b_a x), m the difference of the scores. Annotators lean alike, but not
equally: b_a ~ N(mu, tau^2), mu ~ N(0, 1), tau ~ U(0, 1). What a fit says of an answer's margin without that answer,
N(m_-, v_-), gives the answer the probability sigma((alpha m_- + b x) / sqrt(1 + pi alpha^2 v_- / 8)), so each
annotator's b has a likelihood on a grid. Annotators with few answers share one b. Scores and leans are found in turns.

Sides are drawn at random, so a lean that all share can be told from the scores. Length belongs to the item: where all
prefer long texts, long texts are better by the only measure there is. So of length only the differences between
annotators are found, with a mean of 0 over the answers of the reference (people, where models judge beside them).

Leans are left out unless they make the answers 20 times as probable as b = 0 or, of length, as one b of all: where they
do not exist, that happens with a probability below 1 in 20 (Markov's inequality). Sides drawn at random keep most of
a bias out of the scores.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

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
_FEW = 10
"""Annotators with fewer decided answers share one b. One's own would be made of these answers and explain them away, so
that they no longer told of the scores: of people with an answer each, all of it went into leans."""
_ROUNDS = 10
_LEAST = 1e-300
"""Instead of 0, far from what many answers say, where it is compared with 1."""
_STEP = 0.05
"""Leans are found to 0.05, so that rounding does not matter and every machine finds the same."""


class Covariate(NamedTuple):
    """value      (T,) x; 0 where it is not known
    reference  (A,) whose mean b is 0, as of length; None: a b of all can be told from the scores, as of sides
    """

    value: Floats
    reference: NDArray[np.bool_] | None = None


def leans(fit: Fit, answers: Answers, annotators: Integers, swayed_by: Covariate) -> Floats | None:
    """(A + 1,) the b of each annotator, and of one who has not answered yet; None: nothing speaks for any.

    Where answers have a `lean`, it is what is known to sway them besides.
    """
    value, known = swayed_by.value, swayed_by.value != 0.0
    if not (known & (answers.outcome != 0.5)).any():
        return None
    shares, sharing = _sharing(annotators, np.bincount(annotators[known & (answers.outcome != 0.5)]))
    alpha = np.ones(len(value)) if answers.sharpness is None else answers.sharpness
    besides = np.zeros(len(value)) if answers.lean is None else answers.lean
    lean = np.zeros(len(shares) + 1)
    for _ in range(_ROUNDS):
        alone = without_itself(fit, answers._replace(lean=besides + lean[annotators] * value), alpha)
        own = OwnAnswers(
            likelihoods(
                answers.those(known),
                Alone(*(part[known] for part in alone)),
                alpha[known],
                shares[annotators[known]],
                sharing,
                value[known],
            ),
            shared=swayed_by.reference is not None,
        )
        if not lean.any() and own.evidence < _EVIDENCE:
            return None
        found = own.means()[np.append(shares, sharing)]
        if swayed_by.reference is not None:
            found = np.append(found[:-1] - _mean(found, answers, annotators, known, swayed_by.reference), 0.0)
        before, lean = lean, _STEP * np.rint(found / _STEP)
        if np.array_equal(before, lean):
            break
    return lean if lean.any() else None


def _sharing(annotators: Integers, decided: Integers) -> tuple[Integers, int]:
    """(A,) the number of each annotator's b, and how many b there are."""
    few = np.ones(int(annotators.max()) + 1, dtype=np.bool_)
    few[: len(decided)] = decided < _FEW
    own = np.cumsum(~few) - 1
    count = int(np.count_nonzero(~few))
    return np.where(few, count, own), count + bool(few.any())


def _mean(
    found: Floats, answers: Answers, annotators: Integers, known: NDArray[np.bool_], reference: NDArray[np.bool_]
) -> float:
    """Over the decided answers of these people."""
    weight = np.bincount(annotators[known & (answers.outcome != 0.5)], minlength=len(reference)) * reference
    return float(weight @ found[:-1]) / float(weight.sum()) if weight.any() else 0.0


def likelihoods(
    answers: Answers, alone: Alone, alpha: Floats, annotators: Integers, people: int, value: Floats
) -> Floats:
    """(A, G) the log-likelihood of each annotator's decided answers at each b."""
    from scipy.special import log_expit

    decided = answers.outcome != 0.5
    sign = np.sign(answers.outcome - 0.5)[decided]
    size = np.ones(len(sign)) if answers.share is None else answers.share[decided]
    spread = np.sqrt(1.0 + math.pi * np.square(alpha[decided]) * alone.variance[decided] / 8.0)
    margin, who, value = alpha[decided] * alone.mean[decided], annotators[decided], value[decided]
    if answers.lean is not None:
        margin = margin + answers.lean[decided]
    likelihood = np.empty((people, len(_GRID)))
    for place, lean in enumerate(_GRID):
        likelihood[:, place] = np.bincount(who, size * log_expit(sign * (margin + lean * value) / spread), people)
    return likelihood


class OwnAnswers:
    """What each annotator's own answers say of their b, from log-likelihoods (A, G).

    evidence  the log of how much more probable leans make the answers: than b = 0 or, with `shared`, than one b of all
    """

    def __init__(self, likelihood: Floats, *, shared: bool = False) -> None:
        from scipy.special import logsumexp

        highest = likelihood.max(axis=1, keepdims=True)
        middle = np.exp(-0.5 * np.square(_GRID))
        log_prior = np.log(middle / middle.sum())
        weight = np.empty((len(_DEVIATIONS), len(_GRID)))
        self._scaled = np.exp(likelihood - highest)
        self._mass: list[Floats] = []  # for each tau: (A, mu)
        for place, about in enumerate(_around()):
            mass = np.maximum(self._scaled @ about, _LEAST)
            weight[place] = log_prior + (np.log(mass) + highest).sum(axis=0) - math.log(len(_DEVIATIONS))
            self._mass.append(mass)
        total = float(logsumexp(weight))
        self._posterior = np.exp(weight - total)
        each = likelihood.sum(axis=0)
        self.evidence = total - (float(logsumexp(log_prior + each)) if shared else float(each[len(_GRID) // 2]))

    def means(self) -> Floats:
        """(A + 1,) of each annotator's b and of a new one's. As slow as the evidence, so only asked for where that
        speaks for leans."""
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


def chosen_share(
    answers: Answers, alone: Alone, alpha: Floats, value: Floats, at: float = 1.0, average: float = 0.0
) -> tuple[float, float, float]:
    """The chance that the left of two equal items is chosen where x = `at`, and its 5 % and 95 % quantiles.

    All of these answers are taken for one annotator's, with b ~ N(average, 1); 0.5 means that x does not matter more
    than it does to those whose b is the average.
    """
    from scipy.special import expit, logsumexp

    one = np.zeros(len(answers.outcome), dtype=np.int64)
    log = likelihoods(answers, alone, alpha, one, 1, value)[0] - 0.5 * np.square(_GRID - average)
    mass = np.exp(log - logsumexp(log))
    below = np.cumsum(mass) - 0.5 * mass
    low, middle, high = (float(expit(at * (np.interp(level, below, _GRID) - average))) for level in (0.05, 0.5, 0.95))
    return middle, low, high


def average_lean(answers: Answers, alone: Alone, alpha: Floats, value: Floats) -> float:
    """The mean of the b that these answers have in common, with b ~ N(0, 1)."""
    from scipy.special import logsumexp

    one = np.zeros(len(answers.outcome), dtype=np.int64)
    log = likelihoods(answers, alone, alpha, one, 1, value)[0] - 0.5 * np.square(_GRID)
    return float(np.exp(log - logsumexp(log)) @ _GRID)
