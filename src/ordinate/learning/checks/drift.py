"""Whether people judged late as they judged early: by the answers that were left out.

p, y  probability, by all other answers, that left wins, and whether it did
t  the place of an answer among all, from -1 to 1     e = y - p

Had an item's score risen while people judged, t e would lean its way; the mean over items of its squared sum by its
variance is compared with that of simulated answers (a score test of random trends). Had people become less sharp,
answers would surprise more late than early: t e (1 - 2p) would lean above 0.
"""

from __future__ import annotations

import numpy as np

from ordinate.data.arrays import Floats, Integers
from ordinate.learning.checks import LEVEL, SIMULATED, Finding, StudyData, not_run

_FEWEST = 50
_PRIOR_VARIANCE = 0.25
"""Added to the variance of each item's sum, as in `misfit`."""
FURTHEST = 2.576
"""Of a standard normal, on both sides: exceeded with a probability of 1 %."""


def moved(left: Integers, right: Integers, probability: Floats, outcome: Floats, time: Floats, items: int) -> float:
    """Mean over the compared items of the squared sum of t e by its variance; 1 is to be expected."""
    spread = time**2 * probability * (1.0 - probability)
    variance = np.bincount(left, spread, items) + np.bincount(right, spread, items) + _PRIOR_VARIANCE
    lean = time * (outcome - probability)
    total = np.bincount(left, lean, items) - np.bincount(right, lean, items)
    compared = np.bincount(left, minlength=items) + np.bincount(right, minlength=items) > 0
    return float((np.square(total) / variance)[compared].mean())


def against_chance(data: StudyData, time: Floats, rng: np.random.Generator) -> tuple[float, float]:
    """`moved` of the answers that are not ties, at these times, and what 1 % of simulated answers exceed."""
    chance, items = data.left_out.probability[data.decisive], len(data.ids)
    left, right, outcome, *_ = data.decided
    simulated = [
        moved(left, right, chance, (rng.random(len(chance)) < chance).astype(np.float64), time, items)
        for _ in range(SIMULATED)
    ]
    return moved(left, right, chance, outcome, time, items), float(np.quantile(simulated, 1.0 - LEVEL))


def of_scores(data: StudyData) -> Finding:
    data = data.without_repeats
    used = np.flatnonzero(data.decisive)
    if len(used) < _FEWEST:
        return not_run(f"Answers that are not ties: {len(used)}; it takes {_FEWEST}.")
    value, limit = against_chance(data, _time(used, len(data.answers.outcome)), data.rng(4))
    if value <= limit:
        return Finding("passed", value, limit, "Items were judged the same way late in the study as early on.")
    return Finding(
        "failed",
        value,
        limit,
        "Items were judged otherwise late than early.",
        "See whether the question, the annotators or the items changed on the way; if so, use the answers since then.",
    )


def of_sharpness(data: StudyData) -> Finding:
    data = data.without_repeats
    used = np.flatnonzero(data.decisive)
    if len(used) < _FEWEST:
        return not_run(f"Answers that are not ties: {len(used)}; it takes {_FEWEST}.")
    chance, time = data.left_out.probability[used], _time(used, len(data.answers.outcome))
    lean = time * (1.0 - 2.0 * chance)
    variance = float((np.square(lean) * chance * (1.0 - chance)).sum())
    if variance == 0.0:
        return not_run("No answer could be predicted at all.")
    value = float((lean * (data.answers.outcome[used] - chance)).sum()) / variance**0.5
    if abs(value) <= FURTHEST:
        return Finding("passed", value, FURTHEST, "Answers are as predictable late as they are early.")
    late, early = ("more", "less") if value > 0.0 else ("less", "more")
    advice = "People may be tired; ask for fewer answers at a time." if value > 0.0 else "People may have had to learn."
    return Finding("failed", value, FURTHEST, f"Late answers surprise {late}, and early ones {early}.", advice)


def _time(used: Integers, total: int) -> Floats:
    return 2.0 * used / max(total - 1, 1) - 1.0
