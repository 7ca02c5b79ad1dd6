"""Whether answers about random pairs come out as those before them predicted; see `ordinate.learning.calibration`."""

from __future__ import annotations

from ordinate.learning.calibration import bins, spiegelhalter
from ordinate.learning.checks import Finding, StudyData, not_run

FURTHEST = 2.576
"""Of a standard normal, on both sides: exceeded with a probability of 1 %."""
_FEWEST = 20


def check(data: StudyData) -> Finding:
    found = data.predictions
    if len(found.outcome) < _FEWEST:
        return not_run(f"{len(found.outcome)} answers about random pairs could be predicted; it takes {_FEWEST}.")
    made = bins(found)
    count = len(found.outcome)
    predicted, observed = (
        sum(share * one.answers for share, one in zip(shares, made, strict=True)) / count
        for shares in ([one.predicted for one in made], [one.observed.estimate for one in made])
    )
    surprise = spiegelhalter(found)
    said = f"Of {count:,} answers about random pairs, {100 * predicted:.0f} % were to go the likelier way, and "
    said += f"{100 * observed:.0f} % did."
    if abs(surprise) <= FURTHEST:
        return Finding("passed", abs(surprise), FURTHEST, said)
    advice = (
        "Answers surprise more than the model allows: look for annotators or items that do not fit."
        if surprise > 0.0
        else "Answers surprise less than the model allows: the true error is probably smaller than stated."
    )
    return Finding("failed", abs(surprise), FURTHEST, said, advice)
