"""Tasks with answers that people gave, evaluated on held-out answers, the true order, and the Bradley-Terry order.

The Bradley-Terry order is the target: it sorts the items by one score per item, fitted to all answers. The prior of
that fit is so wide that it matters only if the answers alone would give an infinite score.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from ordinate.data.arrays import Floats, Integers
from ordinate.data.comparisons import OUTCOME_VALUES, Comparison
from ordinate.data.items import Items
from ordinate.datasets import Dataset
from ordinate.experiments.digest import FOLLOWS
from ordinate.learning.models import Answers
from ordinate.learning.models.factored import FactoredHybrid
from ordinate.simulation.annotators import RecordedAnnotators
from ordinate.simulation.metrics import HoldOutUnit, held_out_error, hold_out, ordering_error
from ordinate.simulation.tasks import Arrival, Learned, Trial

HELD_OUT = "held-out error"
TRUTH = "distance to the true order"
TARGET = "distance to the Bradley-Terry order"
SUBSET = "distance to the Bradley-Terry order of the subset"

HYBRIDS = (
    "guro-hybrid-factored",
    "bald-hybrid-factored",
    "bald-paper-hybrid-sequential",
    "uniform-hybrid-factored",
)
CONTEXTUAL = ("guro-contextual", "bald-contextual", "bald-paper-contextual-sequential", "uniform-contextual")
COMPARED = (*HYBRIDS, *CONTEXTUAL, "trueskill")
"""The algorithms that the paper compares on human answers, with exact BALD beside the paper's, which is sequential."""
BY_DEFAULT = ("guro-hybrid", "uniform-hybrid", "guro-contextual", "uniform-contextual", "trueskill")
"""The algorithms that are also run with the default options of a study."""
FEATURE_FREE = ("guro-independent", "bald-independent", "bald-paper-independent", "uniform-independent", "trueskill")

_WIDE = 100.0


def bradley_terry(items: Items, comparisons: Sequence[Comparison]) -> Floats:
    """(n,) a score per item, fitted to all these answers."""
    answers = Answers(*_rows(items, comparisons))
    return FactoredHybrid(item_variance=_WIDE).fit(np.empty((len(items), 0)), answers).belief.mean


def unit_to_hold_out(comparisons: Sequence[Comparison]) -> HoldOutUnit:
    """What to hold out: whole pairs if most pairs have several answers, otherwise single answers."""
    pairs = len({frozenset((one.left, one.right)) for one in comparisons})
    return "pairs" if pairs < 0.5 * len(comparisons) else "answers"


@dataclass(frozen=True, eq=False)
class HumanTask:
    """Recorded answers, a share of them held out. The seed also decides which items are present from the start.

    target  (n,) scores whose order is the Bradley-Terry order
    by      hold out single answers or whole pairs, see `hold_out`
    first   number of items at the start, None: all; the others arrive after `after` comparisons
    """

    dataset: Dataset
    target: Floats = field(metadata=FOLLOWS)
    by: HoldOutUnit
    share: float = 0.1
    first: int | None = None
    after: int = 0

    def build(self, seed: int) -> Trial:
        rng = np.random.default_rng([seed, 0x5D1])
        learn, held = hold_out(self.dataset.comparisons, self.share, self.by, rng)
        count = len(self.dataset.items)
        order = np.arange(count) if self.first is None else rng.permutation(count)
        items = self.dataset.items if self.first is None else self.dataset.items.take(order)
        left, right, outcome = _rows(items, held)
        truth = None if self.dataset.truth is None else self.dataset.truth[order]
        target = self.target[order]
        group = _groups(items)

        def evaluate(study: Learned) -> Mapping[str, float]:
            scores = study.scores()
            present = len(scores)
            asked = (left < present) & (right < present)
            here = None if group is None else group[:present]
            errors = {
                HELD_OUT: held_out_error(scores, left[asked], right[asked], outcome[asked]),
                TARGET: ordering_error(scores, target[:present], here),
            }
            if truth is not None:
                errors[TRUTH] = ordering_error(scores, truth[:present], here)
            return errors

        first = count if self.first is None else self.first
        arrivals = () if first == count else (Arrival(self.after, items.take(np.arange(first, count))),)
        start = items if first == count else items.take(np.arange(first))
        return Trial(start, RecordedAnnotators(learn, items, seed), evaluate, arrivals)


@dataclass(frozen=True, eq=False)
class SubsetTask:
    """The paper's counterexample: only a subset of the answers can be asked, and the order is compared with the
    Bradley-Terry orders of the subset and of all answers.

    count  number of answers in the subset that each seed draws
    """

    dataset: Dataset
    target: Floats = field(metadata=FOLLOWS)
    count: int

    def build(self, seed: int) -> Trial:
        items, made = self.dataset.items, self.dataset.comparisons
        rng = np.random.default_rng([seed, 0x5B5])
        drawn = np.sort(rng.choice(len(made), min(self.count, len(made)), replace=False))
        few = [made[place] for place in drawn]
        own = bradley_terry(items, few)
        group = _groups(items)

        def evaluate(study: Learned) -> Mapping[str, float]:
            scores = study.scores()
            return {
                SUBSET: ordering_error(scores, own, group),
                TARGET: ordering_error(scores, self.target, group),
            }

        return Trial(items, RecordedAnnotators(few, items, seed), evaluate)


def without_features(dataset: Dataset) -> Dataset:
    """The same items and answers without features."""
    items = dataset.items
    return replace(dataset, items=Items(ids=items.ids, group=items.group, content=items.content))


def _groups(items: Items) -> Integers | None:
    return None if items.group is None else np.unique(items.group, return_inverse=True)[1].astype(np.int64)


def _rows(items: Items, comparisons: Sequence[Comparison]) -> tuple[Integers, Integers, Floats]:
    row = {item: k for k, item in enumerate(items.ids)}
    return (
        np.array([row[one.left] for one in comparisons], dtype=np.int64),
        np.array([row[one.right] for one in comparisons], dtype=np.int64),
        np.array([OUTCOME_VALUES[one.outcome] for one in comparisons], dtype=np.float64),
    )
