"""Whether answers about random pairs come out as those before them predicted; see `ordinate.learning.calibration`."""

from __future__ import annotations

from ordinate.learning.calibration import bins, spiegelhalter
from ordinate.learning.checks import Finding, StudyData, not_run

FURTHEST = 2.326
"""Of a standard normal: exceeded with a probability of 1 %."""
_FEWEST = 20


def check(data: StudyData) -> Finding:
    found = data.predictions
    if len(found.outcome) < _FEWEST:
        return not_run(f"Answers about random pairs that could be predicted: {len(found.outcome)}; it takes {_FEWEST}.")
    made, count = bins(found), len(found.outcome)
    predicted = sum(one.predicted * one.answers for one in made) / count
    observed = sum(one.observed.estimate * one.answers for one in made) / count
    surprise = spiegelhalter(found)
    said = f"Of {count:,} answers about random pairs, {100 * predicted:.0f} % were expected to go the likelier way; "
    said += f"{100 * observed:.0f} % did."
    if surprise > FURTHEST:
        advice = "The stated error is too small. Look for annotators or items that do not fit."
        return Finding("failed", surprise, FURTHEST, said, advice)
    if surprise < -FURTHEST:
        said += " The true error is probably smaller than the stated one."
    return Finding("passed", surprise, FURTHEST, said)
