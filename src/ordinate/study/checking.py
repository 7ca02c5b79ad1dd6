"""The verdict on a study: what the checks of its answers found, under one sentence."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ordinate.data.ordering import Interval
from ordinate.learning.calibration import Bin, bins
from ordinate.learning.checks import Finding, StudyData, bridged, connected, not_run
from ordinate.learning.checks import State as CheckState
from ordinate.learning.checks.table import CHECKS
from ordinate.learning.models.blocks import InBlocks
from ordinate.study.aim import aim_of
from ordinate.study.fold import State
from ordinate.study.results import Reliability, Results, asked_at_random
from ordinate.study.rules import Rules
from ordinate.study.threads import one_thread

TOP = 10
"""So many first items matter most, where no aim and no cut says otherwise."""


class Row(NamedTuple):
    """What one check found; see `ordinate.learning.checks.Finding`."""

    check: str
    state: CheckState
    value: float | None
    threshold: float | None
    found: str
    advice: str


class AnnotatorFigures(NamedTuple):
    """An annotator as the checks see them.

    surprise   of their answers, in standard deviations; see `ordinate.learning.checks.misfit`
    limit      the most that chance explains
    influence  share of the pairs that change places without them; None where it was not computed
    prefers    the side and the length that the ordering is without, in words; empty: none
    """

    name: str | None
    answers: int
    surprise: float
    limit: float
    influence: float | None
    prefers: str = ""


class Verdict(NamedTuple):
    """What the checks found.

    sentence     whether the order can be relied on
    error        the expected error with an interval of 90 %; None where it is not to be believed
    withheld     why not; None where it is
    rows         a check each
    calibration  answers about random pairs by how sure the answers before them were
    annotators   who gave answers that count
    """

    sentence: str
    error: Interval | None
    rows: tuple[Row, ...]
    calibration: tuple[Bin, ...] = ()
    annotators: tuple[AnnotatorFigures, ...] = ()
    withheld: str | None = None

    @property
    def failed(self) -> tuple[Row, ...]:
        return tuple(row for row in self.rows if row.state == "failed")

    def fields(self) -> dict[str, Any]:
        """What the command line and the API say."""
        error, low, high = self.error or (None, None, None)
        figures = {"expected_error": error, "error_low": low, "error_high": high, "withheld": self.withheld}
        return {"sentence": self.sentence, **figures, "checks": [row._asdict() for row in self.rows]}


def study_data(state: State, results: Results, seed: int) -> StudyData:
    """What checks look at; there must be answers."""
    effective, reliability = state.effective, results.reliability(state)
    model, features = results.inference.newest_model(state), results.inference.features(state)
    refit = partial(results.refit, state, model)
    if isinstance(model, InBlocks):
        features = model.scaled(features)
        model = model.model
    return StudyData(
        ids=tuple(state.items.ids),
        names=state.annotator_names,
        group=state.active,
        features=features,
        answers=results.answers(state),
        annotators=effective.annotators,
        at_random=asked_at_random(state),
        model=model,
        posterior=results.posterior(state),
        refit=refit,
        better_than_coins=reliability.better_than_coins,
        error_high=reliability.error_high,
        top=_top(state.rules),
        seed=seed,
    )


def _top(rules: Rules) -> int:
    """How many first items are wanted, or are in the first grade; below 0: all but so many, the last being wanted."""
    aim = aim_of(rules.aim)
    return {"top": aim.size, "bottom": -aim.size}.get(aim.kind) or (rules.cuts[0] if rules.cuts else TOP)


def connection(data: StudyData) -> tuple[Finding, Finding]:
    """Whether answers connect all items, and whether single pairs alone connect several."""
    return connected.check(data), bridged.check(data)


def withheld(
    state: State, results: Results, data: StudyData | None, found: Mapping[str, Finding] | None = None
) -> str | None:
    """Why the expected error is not to be believed, so that nobody is shown it; None where it is.

    data   None: there are no answers
    found  what the checks have found, if they have been run; None: it runs those that withhold it
    """
    if data is None:
        return "there are no answers yet"
    if math.isnan(results.expected_error(state)):
        return "there is no pair to compare"

    def look() -> str | None:
        if found is not None:
            return _doubt(found)
        with one_thread():
            return _doubt({name: check.run(data) for name, check in CHECKS.items() if check.withholds})

    return results.withheld(state, look)


def _doubt(found: Mapping[str, Finding]) -> str | None:
    """What the first check found that failed and withholds the expected error; None where there is none."""
    failed = next((name for name, one in found.items() if CHECKS[name].withholds and one.state == "failed"), None)
    return None if failed is None else _lower(found[failed].found).removesuffix(".")


def reliability(state: State, results: Results, data: StudyData | None) -> Reliability:
    """Whether the answers are better than coin tosses, how wrong the ordering is expected to be, and whether that is to
    be believed."""
    return results.reliability(state)._replace(withheld=withheld(state, results, data))


def verdict(state: State, results: Results, data: StudyData | None) -> Verdict:
    """`data` None: there are no answers."""
    if data is None:
        rows, why = [Row(name, *not_run("There are no answers.")) for name in CHECKS], withheld(state, results, data)
        return Verdict("There are no answers yet, so there is nothing to check.", None, tuple(rows), withheld=why)
    with one_thread():
        found = {name: check.run(data) for name, check in CHECKS.items()}
    why = withheld(state, results, data, found)
    stated = results.reliability(state)
    error = None if why is not None else Interval(stated.expected_error, stated.error_low, stated.error_high)
    made = tuple(Row(name, *one) for name, one in found.items())
    return Verdict(
        sentence(found, error), error, made, tuple(bins(data.predictions)), _annotators(data, state, results), why
    )


def _annotators(data: StudyData, state: State, results: Results) -> tuple[AnnotatorFigures, ...]:
    surprise, influences = data.misfit_of_annotators, data.influences
    used, doubling = results.inference.fitted(state, len(state.effective)), results.inference.doubling(state)
    numbers, given = np.unique(data.annotators, return_counts=True)
    return tuple(
        AnnotatorFigures(
            data.names[number],
            count,
            float(surprise.standard[number]),
            surprise.limit,
            influences.get(number),
            _preferences(used.side_of(number), used.length_of(number) * doubling),
        )
        for number, count in zip(numbers.tolist(), given.tolist(), strict=True)
    )


def _preferences(side: float, length: float) -> str:
    """The chances to choose the one of two equal items that is on a side, and that is twice as long (or short)."""
    kinds = ((side, "left", "right"), (length, "twice as long", "half as long"))
    return ", ".join(
        f"{100.0 / (1.0 + math.exp(-abs(lean))):.0f} % {first if lean > 0.0 else second}"
        for lean, first, second in kinds
        if lean
    )


def sentence(found: dict[str, Finding], error: Interval | None) -> str:
    """One plain sentence over the rows."""
    failed = [name for name, one in found.items() if one.state == "failed"]
    withholding = [name for name in failed if CHECKS[name].withholds]
    if "better than coins" in withholding:
        return "Do not rely on this order yet: the answers cannot be told from coin tosses."
    if withholding:
        return f"Do not rely on the figures of this order: {_lower(found[withholding[0]].found)}"
    if error is None:
        return "There is no pair of items to compare."
    untested = found["better than coins"].state == "not run"
    wrong = f"about {100 * error.estimate:.0f} % of the pairs are likely to be in the wrong order"
    if "enough answers" in failed:
        return f"It is too early to rely on this order: {_lower(found['enough answers'].found)}"
    if failed:
        many = f"{len(failed)} of {_ran(found)} checks"
        presumed = ", if people answered sensibly" if untested else ""
        return f"Use this order with care: {many} failed ({', '.join(failed)}); {wrong}{presumed}."
    presumed = " if people answered sensibly, which nothing here tells" if untested else ""
    return f"This order can be relied on as far as its intervals say{presumed}: no check failed, and {wrong}."


def _ran(found: dict[str, Finding]) -> int:
    return sum(one.state != "not run" for one in found.values())


def _lower(text: str) -> str:
    return text[0].lower() + text[1:]
