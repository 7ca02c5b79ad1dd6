"""The cumulative logit (McCullagh 1980): an answer says in which interval x plus logistic noise is.

With ties alone it is that of Rao and Kupper (1967): left wins with probability sigma(x - tie), right with
sigma(-x - tie), and else it is a tie. With strengths, "slightly" is between `tie` and `tie + slight`, "much" beyond.
An answer without a strength says the side alone.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ordinate.learning.likelihoods.by_kind import ByKind, Factors
from ordinate.learning.models.likelihood import MUCH, SLIGHTLY, Kinds

STEP = 0.05
"""Thresholds are found to 5 %. On such a grid rounding does not matter, so every machine finds the same."""
_START = (0.5, 1.0)


@dataclass(frozen=True)
class Cumulative(ByKind):
    """tie     half the width of the interval in which people call it a tie; 0: a tie counts half a win for each side
    slight  how far "slightly" reaches beyond it; 0: strengths are not used"""

    tie: float = 0.0
    slight: float = 0.0

    def factors(self, kinds: Kinds) -> Factors:
        tied = kinds.outcome == 0.5
        low, high = np.where(tied, -self.tie, self.tie), np.where(tied, self.tie, np.inf)
        if self.slight:
            high[kinds.strength == SLIGHTLY] = low[kinds.strength == MUCH] = self.tie + self.slight
        lost = kinds.outcome == 0.0
        low, high = np.where(lost, -high, low), np.where(lost, -low, high)
        halved = tied & (self.tie == 0.0)
        width = np.where(halved, np.inf, high - low)
        return Factors(low, high, np.log1p(-np.exp(-width)), np.where(halved, 0.5, 1.0) * kinds.size)

    @property
    def shift(self) -> float:
        return self.tie

    def thresholds(self, kinds: Kinds) -> tuple[bool, bool]:
        return bool((kinds.outcome == 0.5).any()), bool((kinds.strength > 0).any())

    def at(self, place: tuple[int, ...], used: tuple[bool, bool]) -> Cumulative:
        tie, slight = (
            start * math.exp(STEP * steps) if one else 0.0
            for start, steps, one in zip(_START, place, used, strict=True)
        )
        return Cumulative(tie, slight)
