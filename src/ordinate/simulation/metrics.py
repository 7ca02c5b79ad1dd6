"""How good an ordering is, compared with the true order or with held-out answers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from ordinate.data.arrays import Floats, Integers
from ordinate.data.comparisons import Comparison
from ordinate.errors import InvalidInput
from ordinate.learning.membership import Wanted
from ordinate.learning.selection import parts_of

HoldOutUnit = Literal["answers", "pairs"]


def ordering_error(scores: Floats, truth: Floats, group: Integers | None = None) -> float:
    """The normalised Kendall tau distance: the share of pairs that `scores` puts in the wrong order.  All shapes (n,).

    Counts pairs within a group whose truth differs; equal scores count one half. NaN if there is no such pair.

    >>> ordering_error(np.array([3.0, 1.0, 2.0]), np.array([0.3, 0.2, 0.1]))
    0.3333333333333333
    """
    if group is None:
        wrong, pairs = _wrong_pairs(scores, truth)
    else:
        counts = [_wrong_pairs(scores[group == name], truth[group == name]) for name in np.unique(group)]
        wrong, pairs = sum(wrong for wrong, _ in counts), sum(pairs for _, pairs in counts)
    return wrong / pairs if pairs else float("nan")


def _wrong_pairs(scores: Floats, truth: Floats) -> tuple[float, int]:
    """Pairs in the wrong order (equal scores one half) and pairs whose truth differs, in O(n log n)."""
    from scipy.stats import kendalltau

    pairs = len(scores) * (len(scores) - 1) // 2
    untied_truth, untied_scores = pairs - _tied_pairs(truth), pairs - _tied_pairs(scores)
    if untied_truth == 0 or untied_scores == 0:
        return untied_truth / 2, untied_truth
    # tau-b = (concordant - discordant) / sqrt(untied_truth * untied_scores): solve for the difference, a whole number.
    tau = kendalltau(scores, truth).statistic
    agreement = round(tau * np.sqrt(float(untied_truth)) * np.sqrt(float(untied_scores)))
    return (untied_truth - agreement) / 2, untied_truth


def _tied_pairs(values: Floats) -> int:
    counts = np.unique(values, return_counts=True)[1]
    return int(np.sum(counts * (counts - 1) // 2))


def share_right(scores: Floats, truth: Floats, group: Integers | None, wanted: Wanted) -> float:
    """Of the items that are wanted by their true scores, the share that is by `scores`, too: the recall of an aim.

    With marks, the share of all items but the marks that is on the right side of them, or in the right grade. All
    shapes (n,).

    >>> share_right(np.array([3.0, 1.0, 2.0]), np.array([0.3, 0.2, 0.1]), None, Wanted(first=2))
    0.5
    """
    codes = np.zeros(len(truth), dtype=np.int64) if group is None else group
    found, true = parts_of(np.stack([scores, truth]), codes, wanted)
    counted = true == 1
    if len(wanted.marks):
        counted = np.ones(len(truth), dtype=np.bool_)
        counted[wanted.marks] = False
    return float((found == true)[counted].mean())


def held_out_error(scores: Floats, left: Integers, right: Integers, outcome: Floats) -> float:
    """The share of held-out answers that the scores predict wrongly; equal scores count one half.

    left, right  (T,) rows of the items
    outcome      (T,) 1 where left won, 0 where right won; a tie (0.5) has no right prediction and is left out

    NaN if no answer remains.
    """
    decided = outcome != 0.5
    difference = (scores[left] - scores[right])[decided]
    won = outcome[decided] > 0.5
    wrong = np.where(difference == 0.0, 0.5, (difference > 0.0) != won)
    return float(wrong.mean()) if wrong.size else float("nan")


def hold_out(
    comparisons: Sequence[Comparison], share: float, by: HoldOutUnit, rng: np.random.Generator
) -> tuple[list[Comparison], list[Comparison]]:
    """Split into (to learn from, held out), each in the given order.

    by  "answers" draws single answers; "pairs" draws whole pairs, so that the algorithm sees no answer to a held-out
        pair: use it if pairs have several answers
    """
    if not 0.0 < share < 1.0:
        raise InvalidInput(f"the held-out share must be between 0 and 1, such as 0.1; got {share}")
    if by == "answers":
        unit = np.arange(len(comparisons))
    elif by == "pairs":
        number: dict[frozenset[str], int] = {}
        unit = np.array([number.setdefault(frozenset((c.left, c.right)), len(number)) for c in comparisons])
    else:
        raise InvalidInput(f"hold out 'answers' or 'pairs'; got {by!r}")
    units = int(unit.max()) + 1 if len(unit) else 0
    chosen = np.zeros(units, dtype=np.bool_)
    chosen[rng.permutation(units)[: round(share * units)]] = True
    if not 0 < chosen.sum() < units:
        raise InvalidInput(
            f"holding out {100 * share:.0f} % of {units} {by} leaves nothing to learn from or to test; record more "
            "answers"
        )
    held = chosen[unit]
    return (
        [comparison for comparison, out in zip(comparisons, held, strict=True) if not out],
        [comparison for comparison, out in zip(comparisons, held, strict=True) if out],
    )
