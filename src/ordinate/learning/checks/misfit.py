"""Items, and annotators, whose answers surprise more than the model allows: by the answers that were left out.

p, y  probability, by all other answers, that left wins, and whether it did

The surprise of an answer, (y - p)(1 - 2p), has the mean 0 and the variance p (1 - p)(1 - 2p)^2. Its sum over the
answers about an item, or by an annotator, is the numerator of Rasch's infit mean square less 1 (Wright and Masters
1982). The largest of these sums, by their standard deviations, is compared with the largest in simulated answers: among
many items some misfit by chance.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ordinate.data.arrays import Floats, Integers
from ordinate.learning.checks import LEVEL, SIMULATED, Finding, StudyData, listed, not_run

_PRIOR_VARIANCE = 0.25
"""Added to the variance of each sum, so that two or three surprises do not look like many standard deviations."""


class Misfit(NamedTuple):
    """standard (u,): the summed surprise by its standard deviation; limit: exceeded by chance with 1 %."""

    standard: Floats
    limit: float


def misfit(probability: Floats, outcome: Floats, units: list[Integers], count: int, rng: np.random.Generator) -> Misfit:
    """Of `count` units; each array of `units` (T,) is the number of a unit that an answer counts for."""
    lean = 1.0 - 2.0 * probability
    variance = _total(units, probability * (1.0 - probability) * np.square(lean), count) + _PRIOR_VARIANCE

    def standard(answers: Floats) -> Floats:
        return _total(units, (answers - probability) * lean, count) / np.sqrt(variance)

    largest = [
        standard((rng.random(len(outcome)) < probability).astype(np.float64)).max(initial=0.0) for _ in range(SIMULATED)
    ]
    return Misfit(standard(outcome), float(np.quantile(largest, 1.0 - LEVEL)))


def _total(units: list[Integers], values: Floats, count: int) -> Floats:
    total: Floats = np.sum([np.bincount(numbers, values, count) for numbers in units], axis=0)
    return total


def items(data: StudyData) -> Misfit:
    data = data.without_repeats
    return _misfit(data, data.left_out.probability, [data.decided.left, data.decided.right], len(data.ids), data.rng(2))


def annotators(data: StudyData) -> Misfit:
    """Of the annotators by their numbers, as if all were as sharp: whom the fit trusts less is to be named, too."""
    data = data.without_repeats
    margin, variance, _ = data.left_out
    probability = data.likelihood.wins(margin, variance, data.answers._replace(sharpness=None))
    return _misfit(data, probability, [data.annotators[data.decisive]], len(data.names), data.rng(3))


def _misfit(
    data: StudyData, probability: Floats, units: list[Integers], count: int, rng: np.random.Generator
) -> Misfit:
    return misfit(probability[data.decisive], data.decided.outcome, units, count, rng)


def of_items(data: StudyData) -> Finding:
    if not data.decisive.any():
        return not_run("There are no answers but ties.")
    advice = "Look at {}: it may be damaged, ambiguous, or judged by something else. Exclude it if so."
    return _finding(items(data), data.named, "item", advice)


def of_annotators(data: StudyData) -> Finding:
    if not data.decisive.any():
        return not_run("There are no answers but ties.")
    if len(np.unique(data.annotators)) < 2:
        return not_run("There are fewer than two annotators.")
    advice = "Ask {} how they judged, and exclude whoever answered at random or the other way round."
    return _finding(data.misfit_of_annotators, data.annotator, "annotator", advice)


def _finding(found: Misfit, named: Callable[[int], str], what: str, advice: str) -> Finding:
    largest = float(found.standard.max())
    odd = np.flatnonzero(found.standard > found.limit)
    if not len(odd):
        return Finding("passed", largest, found.limit, f"No {what} has more surprising answers than chance explains.")
    names = listed([named(int(one)) for one in odd[np.argsort(-found.standard[odd])]])
    plural = f"{what} has" if len(odd) == 1 else f"{what}s have"
    said = f"{len(odd):,} {plural} more surprising answers than chance explains: {names}."
    return Finding("failed", largest, found.limit, said, advice.format(names))
