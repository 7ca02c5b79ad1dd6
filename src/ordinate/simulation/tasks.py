"""Tasks to simulate: for each seed, a task builds the items, the annotators and the error measures."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from ordinate.data.arrays import Floats, Integers
from ordinate.data.comparisons import OUTCOME_VALUES, Comparison
from ordinate.data.items import Items
from ordinate.data.ordering import Ordering
from ordinate.datasets import Dataset
from ordinate.errors import InvalidInput
from ordinate.simulation.annotators import Annotators, LogisticAnnotators, RecordedAnnotators
from ordinate.simulation.metrics import HoldOutUnit, held_out_error, hold_out, ordering_error, share_right
from ordinate.study.aim import aim_of, require_possible


class Learned(Protocol):
    """The part of a study that error measures use."""

    def scores(self) -> Floats: ...
    def ordering(self, items: Items | None = None) -> Ordering: ...
    def comparisons(self) -> list[Comparison]: ...
    def expected_error(self) -> float: ...


class Arrival(NamedTuple):
    """Items that are added to the study after this number of comparisons."""

    after: int
    items: Items


class Trial(NamedTuple):
    """The items, annotators and measures of one run.

    annotators  answer about rows of the items: those at the start, then those that arrive
    evaluate    study -> name of each measure -> its value
    """

    items: Items
    annotators: Annotators
    evaluate: Callable[[Learned], Mapping[str, float]]
    arrivals: tuple[Arrival, ...] = ()


class Task(Protocol):
    """A frozen value that can be pickled and sent to another process."""

    def build(self, seed: int) -> Trial:
        """The trial of this seed, with the same items, answers and split for every algorithm."""


@dataclass(frozen=True, eq=False)
class SimulatedTask:
    """Logistic annotators over a data set with known truth; the error is the ordering error.

    noise  the paper's lambda: P(left wins) = sigma(noise * (truth_left - truth_right))
    """

    dataset: Dataset
    noise: float = 1.0

    def __post_init__(self) -> None:
        if self.dataset.truth is None:
            raise InvalidInput("annotators can be simulated only if the true scores are known")
        if not 0.0 <= self.noise < math.inf:
            raise InvalidInput(f"the noise must be 0 (coin flips) or a positive number; got {self.noise}")

    def build(self, seed: int) -> Trial:
        truth = self.dataset.truth
        assert truth is not None  # __post_init__ refuses it
        group = group_codes(self.dataset.items)
        return Trial(
            items=self.dataset.items,
            annotators=LogisticAnnotators(truth, self.noise, seed),
            evaluate=lambda study: {"ordering error": ordering_error(study.scores(), truth, group)},
        )


@dataclass(frozen=True, eq=False)
class RecordedTask:
    """Recorded human answers, each used once; the error is measured on a held-out share of them.

    by  "answers" or "pairs", see `hold_out`; the split depends on the seed alone
    """

    dataset: Dataset
    share: float = 0.1
    by: HoldOutUnit = "answers"

    def build(self, seed: int) -> Trial:
        items = self.dataset.items
        learn, held = hold_out(self.dataset.comparisons, self.share, self.by, np.random.default_rng([seed, 0x5D1]))
        row = {item: k for k, item in enumerate(items.ids)}
        left = np.array([row[comparison.left] for comparison in held], dtype=np.int64)
        right = np.array([row[comparison.right] for comparison in held], dtype=np.int64)
        outcome = np.array([OUTCOME_VALUES[comparison.outcome] for comparison in held])
        if (outcome == 0.5).all():
            raise InvalidInput(
                f"all {len(held)} held-out answers are ties, which have no right prediction; hold out more"
            )
        return Trial(
            items=items,
            annotators=RecordedAnnotators(learn, items, seed),
            evaluate=lambda study: {"held-out error": held_out_error(study.scores(), left, right, outcome)},
        )


FOUND = "share found"
"""The measure of an aim; see `share_right`."""


@dataclass(frozen=True, eq=False)
class AimedTask:
    """A task that also measures how much of what an aim wants is found.

    aim    not the whole order; see `study.aim`
    truth  (n,) the true scores, or those by all answers
    """

    task: Task
    aim: tuple[str, ...]
    truth: Floats

    def build(self, seed: int) -> Trial:
        trial = self.task.build(seed)
        rows, group = {item: row for row, item in enumerate(trial.items.ids)}, group_codes(trial.items)
        codes = np.zeros(len(rows), dtype=np.int64) if group is None else group
        require_possible(self.aim, rows, codes, trial.items.group or ())
        wanted = aim_of(self.aim).wanted(rows)
        if wanted is None:
            raise InvalidInput("the aim of a simulation is to find some of the items, as in top:10")
        evaluate = trial.evaluate
        return trial._replace(
            evaluate=lambda study: {
                **evaluate(study),
                FOUND: share_right(study.scores(), self.truth, group, wanted),
            }
        )


def group_codes(items: Items) -> Integers | None:
    """(n,) the number of each item's group; None where there are no groups."""
    if items.group is None:
        return None
    return np.unique(items.group, return_inverse=True)[1].astype(np.int64)
