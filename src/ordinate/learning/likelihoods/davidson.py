"""Ties by Davidson (1970): left, right and a tie have odds of exp(x / 2) : exp(-x / 2) : tie."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ordinate.learning.likelihoods.by_kind import BALANCE, ByKind, Factors
from ordinate.learning.likelihoods.cumulative import STEP
from ordinate.learning.models.likelihood import Kinds

_START = 0.5


@dataclass(frozen=True)
class Davidson(ByKind):
    """tie  how much more often there is a tie than a win of either side, where x = 0; 0: a tie counts half a win"""

    tie: float = 0.0
    form = BALANCE

    def factors(self, kinds: Kinds) -> Factors:
        tied = kinds.outcome == 0.5
        constant = np.where(tied & (self.tie > 0.0), math.log(self.tie or 1.0), 0.0)
        return Factors(2.0 * kinds.outcome - 1.0, np.full(len(tied), self.tie), constant, kinds.size)

    def thresholds(self, kinds: Kinds) -> tuple[bool, bool]:
        return bool((kinds.outcome == 0.5).any()), False

    def at(self, place: tuple[int, ...], used: tuple[bool, bool]) -> Davidson:
        return Davidson(_START * math.exp(STEP * place[0]) if used[0] else 0.0)
