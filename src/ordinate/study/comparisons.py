"""Answers as columns: of some there are millions, and an entry of the log takes 300 bytes and a microsecond."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from ordinate.data.arrays import Floats, Integers
from ordinate.data.comparisons import ANSWERS, OUTCOME_VALUES, Answer
from ordinate.learning.models.likelihood import MUCH, SLIGHTLY

CODES: Mapping[str, int] = {answer: code for code, answer in enumerate(ANSWERS)}
"""What an answer is in its column."""
_VALUES = np.array([OUTCOME_VALUES.get(answer, np.nan) for answer in ANSWERS])
_STRENGTHS = np.array([MUCH if "much" in answer else SLIGHTLY if "slightly" in answer else 0 for answer in ANSWERS])


class Comparisons:
    """Answers in the order of the log. They only grow at the end, so a view of the first k never changes.

    In a row of `whole`: the entry's position, the rows of the left and the right item, the number of the annotator, and
    the code of the answer.
    """

    def __init__(self, whole: Integers | None = None) -> None:
        self._whole = np.empty((5, 0), dtype=np.int64) if whole is None else whole
        self._outcomes: Floats = _VALUES[self._whole[4]]
        self._count = len(self._outcomes)

    def __len__(self) -> int:
        return self._count

    def add(self, position: int, left: int, right: int, annotator: int, code: int) -> None:
        place = self._count
        self._grow(1)
        self._whole[:, place] = position, left, right, annotator, code
        self._outcomes[place] = _VALUES[code]

    def extend(self, other: Comparisons) -> None:
        place = self._count
        self._grow(len(other))
        self._whole[:, place : self._count] = other._whole[:, : len(other)]
        self._outcomes[place : self._count] = other.outcomes

    def _grow(self, by: int) -> None:
        self._count += by
        room = len(self._outcomes)
        if self._count > room:
            more = max(self._count, 2 * room, 16) - room
            self._whole = np.concatenate([self._whole, np.empty((5, more), dtype=np.int64)], axis=1)
            self._outcomes = np.concatenate([self._outcomes, np.empty(more)])

    def those(self, chosen: NDArray[np.bool_]) -> Comparisons:
        """The answers that a mask chooses, in a new object."""
        return Comparisons(self._whole[:, : self._count][:, chosen])

    def first(self, count: int) -> tuple[Integers, Integers, Floats]:
        """Left rows (count,), right rows (count,), and outcomes (count,): 1 left, 0 right, 0.5 a tie."""
        return self._whole[1, :count], self._whole[2, :count], self._outcomes[:count]

    @property
    def positions(self) -> Integers:
        return self._whole[0, : self._count]

    @property
    def pairs(self) -> tuple[Integers, Integers]:
        return self._whole[1, : self._count], self._whole[2, : self._count]

    @property
    def annotators(self) -> Integers:
        """The number of the annotator of each, by `State.annotator_names`."""
        return self._whole[3, : self._count]

    @property
    def outcomes(self) -> Floats:
        return self._outcomes[: self._count]

    @property
    def skipped(self) -> NDArray[np.bool_]:
        skipped: NDArray[np.bool_] = np.isnan(self.outcomes)
        return skipped

    @property
    def answers(self) -> list[Answer]:
        """In words."""
        return [ANSWERS[code] for code in self._whole[4, : self._count].tolist()]

    @property
    def strengths(self) -> Integers:
        """0 no strength, SLIGHTLY, MUCH."""
        strengths: Integers = _STRENGTHS[self._whole[4, : self._count]]
        return strengths
