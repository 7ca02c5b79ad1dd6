"""The table of checks, in the order in which they are shown."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from ordinate.learning.checks import (
    Finding,
    StudyData,
    bridged,
    calibrated,
    coins,
    connected,
    cycles,
    drift,
    enough,
    few_answers,
    influence,
    misfit,
    separated,
    terms,
)


class Check(NamedTuple):
    """run  from the data of a study to a finding
    withholds  whether the stated error of the order is not to be believed where this fails
    """

    run: Callable[[StudyData], Finding]
    withholds: bool = False


CHECKS: Mapping[str, Check] = {
    "enough answers": Check(enough.check),
    "better than coins": Check(coins.check, withholds=True),
    "predictions hold": Check(calibrated.check, withholds=True),
    "features suffice": Check(terms.check, withholds=True),
    "connected": Check(connected.check),
    "no weak links": Check(bridged.check),
    "wins and losses": Check(separated.check),
    "no circles": Check(cycles.check),
    "items fit": Check(misfit.of_items),
    "annotators fit": Check(misfit.of_annotators),
    "no drift": Check(drift.of_scores),
    "steady sharpness": Check(drift.of_sharpness),
    "no dominant annotator": Check(influence.check),
    "firm top": Check(few_answers.check),
}
