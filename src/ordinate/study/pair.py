"""Two items side by side: how sure their order is, and which answers say so, directly or through a third item."""

from __future__ import annotations

from math import sqrt
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from ordinate.data.comparisons import OUTCOME_VALUES, Comparison
from ordinate.errors import InvalidInput
from ordinate.learning.posterior import Posterior
from ordinate.study.fold import State

_THROUGH = 20
"""Third items that are listed."""


class Through(NamedTuple):
    """A third item that both were compared with: of how many such answers each of the two won how many, ties half."""

    item: str
    left_won: float
    left_answers: int
    right_won: float
    right_answers: int


class Compared(NamedTuple):
    """Two items by all answers that count.

    higher       the item with the higher score
    probability  that it is truly higher, if the model is right and people answered sensibly
    left_won, right_won, ties    answers about the two themselves
    through      third items, those first of which the two sides have the most answers, and how many there are in all
    """

    higher: str
    probability: float
    left_won: int
    right_won: int
    ties: int
    through: list[Through]
    through_in_all: int


def compared(state: State, posterior: Posterior, left: str, right: str) -> Compared:
    """Raises UnknownItem, and InvalidInput for one item twice, of two groups, or left out of the study."""
    if left == right:
        raise InvalidInput(f"compare {left!r} with another item")
    state.check_pair(Comparison(left, right, "left"))
    if (gone := next((one for one in (left, right) if one in state.excluded_items), None)) is not None:
        raise InvalidInput(f"item {gone!r} is left out of the study; take it in again to compare it")
    rows = np.array([state.row(left)]), np.array([state.row(right)])
    (mean,), (variance,) = posterior.belief.differences(*rows)
    # Of millions of answers a few are about these two.
    first, second = state.effective.pairs
    about = np.isin(first, rows) | np.isin(second, rows)
    direct = [0, 0, 0]
    sides: dict[str, dict[str, list[float]]] = {left: {}, right: {}}
    for one, other, answer, _ in state.listed(state.effective.those(about)):
        value = OUTCOME_VALUES[answer]
        if {one, other} == {left, right}:
            won = value if one == left else 1.0 - value
            direct[{1.0: 0, 0.0: 1}.get(won, 2)] += 1
            continue
        for mine, third, won in ((one, other, value), (other, one, 1.0 - value)):
            if mine in sides:
                sides[mine].setdefault(third, []).append(won)
    both = sorted(
        (third for third in sides[left] if third in sides[right]),
        key=lambda third: (-min(len(sides[left][third]), len(sides[right][third])), third),
    )
    through = [
        Through(
            third,
            sum(sides[left][third]),
            len(sides[left][third]),
            sum(sides[right][third]),
            len(sides[right][third]),
        )
        for third in both[:_THROUGH]
    ]
    probability = NormalDist().cdf(abs(mean) / sqrt(variance)) if variance > 0.0 else float(mean != 0.0) / 2 + 0.5
    left_won, right_won, ties = direct
    return Compared(left if mean >= 0 else right, probability, left_won, right_won, ties, through, len(both))
