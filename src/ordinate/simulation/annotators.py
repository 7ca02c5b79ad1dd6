"""Simulated annotators: a logistic crowd, or recorded answers of real people.

Common random numbers: the k-th answer to an unordered pair depends only on (seed, pair, k), not on who asks, when, or
on which side an item is shown. Two algorithms that ask the same pairs get the same answers, so a difference between
their errors is due to the algorithms alone.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Protocol

import numpy as np

from ordinate.data.arrays import Floats, Integers
from ordinate.data.comparisons import Comparison, Outcome, swapped
from ordinate.data.items import Items
from ordinate.data.pairs import Listing, PairList

_MASK = (1 << 64) - 1


class Annotators(Protocol):
    """The annotators of a simulation. Items are given as rows of the task's items."""

    def answer(self, left: int, right: int) -> Outcome:
        """The next answer to this pair."""

    def pool(self) -> PairList | None:
        """The pairs that can still be answered; None if every pair always can."""


class LogisticAnnotators:
    """A crowd that answers "left" with probability sigma(noise * (score_left - score_right)).

    scores  (n,) true scores
    noise   the paper's lambda: large means reliable answers, 0 means coin flips

    An answer takes about two microseconds: the uniform number is a hash of (seed, pair, k); there is no generator per
    pair.
    """

    def __init__(self, scores: Floats, noise: float = 1.0, seed: int = 0) -> None:
        self._scores: list[float] = np.asarray(scores, dtype=np.float64).tolist()
        self._noise = float(noise)
        self._key = int(np.random.SeedSequence([seed, 0x106]).generate_state(1, np.uint64)[0])
        self._given: dict[int, int] = {}

    def probability(self, left: int, right: int) -> float:
        """The probability that left wins."""
        return _sigmoid(self._noise * (self._scores[left] - self._scores[right]))

    def answer(self, left: int, right: int) -> Outcome:
        low, high = (left, right) if left < right else (right, left)
        pair = high * (high - 1) // 2 + low
        count = self._given.get(pair, 0)
        self._given[pair] = count + 1
        uniform = (_mix(_mix(self._key ^ pair) + count) >> 11) * 2.0**-53
        return "left" if (uniform < self.probability(low, high)) == (low == left) else "right"

    def pool(self) -> None:
        return None


class RecordedAnnotators:
    """Answers that people gave, each used once. Several answers to one pair are given in a seeded random order."""

    def __init__(self, comparisons: Sequence[Comparison], items: Items, seed: int = 0) -> None:
        row = {item: k for k, item in enumerate(items.ids)}
        answers: dict[tuple[int, int], list[Outcome]] = {}
        for comparison in comparisons:
            left, right = row[comparison.left], row[comparison.right]
            if left < right:
                answers.setdefault((left, right), []).append(comparison.outcome)
            else:
                answers.setdefault((right, left), []).append(swapped(comparison.outcome))
        rng = np.random.default_rng([seed, 0x4EC])
        self._listing = Listing(*_sorted_pairs(answers))
        self._row_of_pair: dict[tuple[int, int], int] = {}
        self._answers: list[list[Outcome]] = []
        for k, pair in enumerate(zip(self._listing.left.tolist(), self._listing.right.tolist(), strict=True)):
            given = answers[pair]
            self._row_of_pair[pair] = k
            self._answers.append([given[place] for place in rng.permutation(len(given))])
        self._remains = np.ones(len(self._listing), dtype=np.bool_)
        self._pool: PairList | None = None

    def __len__(self) -> int:
        """How many answers are left."""
        return sum(map(len, self._answers))

    def answer(self, left: int, right: int) -> Outcome:
        """The next recorded answer. Raises LookupError if none is left: ask only pairs of `pool`."""
        place = self._row_of_pair.get((left, right) if left < right else (right, left))
        if place is None or not self._answers[place]:
            raise LookupError(f"no recorded answer is left for rows {left} and {right}")
        outcome = self._answers[place].pop()
        if not self._answers[place]:
            self._remains[place] = False
            self._pool = None
        return outcome if left < right else swapped(outcome)

    def pool(self) -> PairList:
        if self._pool is None:
            self._pool = PairList(self._listing, self._remains.copy())
        return self._pool


def _sorted_pairs(answers: dict[tuple[int, int], list[Outcome]]) -> tuple[Integers, Integers]:
    pairs = np.array(sorted(answers), dtype=np.int64).reshape(-1, 2)
    return pairs[:, 0], pairs[:, 1]


def _mix(value: int) -> int:
    """The finaliser of splitmix64 (Steele et al. 2014): 64 bits in, 64 well-mixed bits out."""
    value = (value + 0x9E3779B97F4A7C15) & _MASK
    value = ((value ^ (value >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    value = ((value ^ (value >> 27)) * 0x94D049BB133111EB) & _MASK
    return value ^ (value >> 31)


def _sigmoid(value: float) -> float:
    if value >= 0.0:
        return 1.0 / (1.0 + math.exp(-value))
    power = math.exp(value)
    return power / (1.0 + power)
