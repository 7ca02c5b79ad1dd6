"""Numbers in words, for people: on the command line and in reports."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ordinate.data.ordering import Ordering, Selection
    from ordinate.learning.checks import Finding
    from ordinate.learning.forecast import Forecast
    from ordinate.study.results import Reliability

STAGES: Mapping[str, str] = {
    "running": "Running",
    "paused": "Paused",
    "over": "Over: the deadline has passed",
    "finished": "Finished",
}
"""What everybody but annotators reads of `Study.stage`."""
_BY_CHANCE = "The answers cannot be told from coin tosses yet, so these ranks may be due to chance."
_TOO_NARROW = "The likely ranks may be too narrow: a check failed that they presume."
_ENDLESS_ANSWERS = 1e6
_NEXT = 5
"""Candidates outside a set that are named."""
_LIKELY = 0.05
"""These are wanted with at least this probability."""
_WIDEST = 0.5
"""A share whose interval is wider says nothing, such as one of two pairs out of two."""


def percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def share_in_words(share: float | None, low: float | None, high: float | None) -> str:
    """A share, if its interval is narrow enough; "" where there is none."""
    if share is None or low is None or high is None:
        return ""
    return "too few" if high - low > _WIDEST else percent(share)


def error_in_words(error: float, within: tuple[float, float] | None = None) -> str:
    """An expected ordering error for a person, perhaps with its interval: 0.08 is "about 1 in 12 pairs ..."."""
    if math.isnan(error):
        return "unknown: there is no pair to compare"
    shown = percent(error)
    if within is not None and error >= 0.0005:
        shown += f" ({100 * within[0]:.1f} to {percent(within[1])})"
    if error > 0.45:
        return f"{shown}: not much better than a random order yet"
    if error < 0.0005:
        return f"{shown}: almost no pair is likely to be in the wrong order"
    if error > 0.3:
        # 0.4 is neither near 1 in 3 nor near 1 in 2.
        return f"{shown}: about {round(10 * error)} in 10 pairs are likely to be in the wrong order"
    return f"{shown}: about 1 in {round(1 / error)} pairs is likely to be in the wrong order"


def span(low: int, high: int) -> str:
    """ "3", "3 to 7"."""
    return str(low) if low == high else f"{low} to {high}"


def count(number: int, singular: str, plural: str = "") -> str:
    """ "1 item", "2 items"."""
    return f"{number:,} {singular if number == 1 else plural or singular + 's'}"


def connection_in_words(connection: tuple[Finding, Finding]) -> str:
    """What is wrong about how answers connect the items; where nothing is, that they do."""
    return " ".join(one.found for one in connection if one.state == "failed") or connection[0].found


def forecast_in_words(forecast: Forecast) -> str:
    """ "10 % after about 400 more answers (280 to 560), about 2 hours at the pace of the newest answers"."""
    more, seconds, target = forecast.more_answers, forecast.seconds, f"{100 * forecast.target:g} %"
    if more is None:
        return f"unknown: {forecast.withheld}"
    if more.estimate == 0.0:
        return (
            f"{target} is reached"
            if more.high < 1.0
            else (f"{target} is reached; to be sure of it may take {rough(more.high)} more answers")
        )
    presumed = ", if people answered sensibly" if forecast.presumes_sense else ""
    if more.estimate > _ENDLESS_ANSWERS:
        return f"{target} after more than a million more answers{presumed}"
    answers = f"about {rough(more.estimate)} more answers ({rough(more.low)} to {rough(more.high)})"
    pace = "" if seconds is None else f", about {duration(seconds.estimate)} at the pace of the newest answers"
    return f"{target} after {answers}{pace}{presumed}"


def grade_in_words(grade: Mapping[str, Any]) -> str:
    """ "Grade 1 (ranks 1 to 10): about 2 of 10 items belong elsewhere (0 to 4).", or "10 items." if withheld."""
    items = grade["items"]
    ranks = f"ranks {grade['first']:,} to {grade['last']:,}" if grade["last"] else f"ranks from {grade['first']:,} on"
    if grade["misplaced"] is None:
        return f"Grade {grade['grade']} ({ranks}): {count(items, 'item')}."
    about, low, high = (items * grade[name] for name in ("misplaced", "misplaced_low", "misplaced_high"))
    belong = "belongs" if f"{about:.0f}" == "1" else "belong"
    return (
        f"Grade {grade['grade']} ({ranks}): about {about:.0f} of {count(items, 'item')} {belong} elsewhere "
        f"({low:.0f} to {high:.0f})."
    )


def rough(number: float) -> str:
    """Two digits, and no more than a million: "420", "1,300", "more than a million"."""
    if number > _ENDLESS_ANSWERS:
        return "more than a million"
    return f"{float(f'{number:.2g}'):,.0f}"


def duration(seconds: float) -> str:
    """ "3 minutes", "2 hours", "5 days": hours of work, so a day has 24 of them."""
    for unit, size in (("day", 86400.0), ("hour", 3600.0), ("minute", 60.0)):
        if seconds >= 1.5 * size or unit == "minute":
            return count(max(round(seconds / size), 1), unit)
    raise AssertionError


def reliability_in_words(reliability: Reliability, answers: int) -> str:
    """The expected error after so many answers, with what it presumes: people who answer blindly make it too small."""
    tested, error, why = reliability.better_than_coins, reliability.expected_error, reliability.withheld
    words = error_in_words(error, (reliability.error_low, reliability.error_high))
    if not answers or math.isnan(error):
        return f"unknown: {why}"
    if tested is False:
        return f"unknown: {why} (if people answered sensibly, {words})"
    if why is not None:
        return f"withheld: {why}; `ordinate check` says what to do"
    return f"{words}, if people answered sensibly" if tested is None and error <= 0.45 else words


def caution(better_than_coins: bool | None, withheld: str | None) -> str:
    """What has to be said of ranks before they are read; "" where nothing speaks against them."""
    if better_than_coins is False:
        return _BY_CHANCE
    return "" if withheld is None else _TOO_NARROW


def error_in_short(reliability: Reliability) -> str:
    """ "12.3 %", or that it is not known, or withheld."""
    if reliability.withheld is None:
        return percent(reliability.expected_error)
    doubtful = reliability.better_than_coins is False or math.isnan(reliability.expected_error)
    return "not known yet" if doubtful else "withheld"


def aim_in_words(rule: Sequence[str], grouped: bool) -> str:
    """ "the first 10 items"."""
    from ordinate.study.aim import aim_of

    found = aim_of(rule)
    if found.kind == "order":
        return "the whole order"
    if found.kind == "above":
        marks = ", ".join(found.marks)
        return f"which items are above {marks}" if grouped or len(found.marks) == 1 else f"grades between {marks}"
    which = "first" if found.kind == "top" else "last"
    return f"the {which} {count(found.size, 'item')}{' of each group' if grouped else ''}"


def found_in_words(selection: Selection, forecast: Forecast | None) -> str:
    """ "about 84 % of the 10 wanted items are among those shown (70 to 100 %); 90 % after about 340 more answers"."""
    if selection.right is None:
        return f"how many are found is not known: {selection.withheld}"
    right = selection.right
    shares = f"about {100 * right.estimate:.0f} %", f"({100 * right.low:.0f} to {100 * right.high:.0f} %)"
    if selection.measure == "recall":
        shown = int((selection.part == 1).sum())
        words = f"{shares[0]} of the wanted items are among the {shown:,} that are marked {shares[1]}"
    elif selection.measure == "right side":
        words = f"{shares[0]} of the items are on the right side of the mark {shares[1]}"
    else:
        words = f"{shares[0]} of the items are in the right grade {shares[1]}"
    if forecast is None or forecast.more_answers is None:
        return words
    more, goal = forecast.more_answers, f"{100 * (1 - forecast.target):g} %"
    presumed = ", if people answered sensibly" if forecast.presumes_sense else ""
    if more.estimate == 0.0:
        return f"{words}; {goal} is reached{presumed}"
    pace = "" if forecast.seconds is None else f", about {duration(forecast.seconds.estimate)}"
    answers = f"about {rough(more.estimate)} more answers ({rough(more.low)} to {rough(more.high)})"
    return f"{words}; {goal} after {answers}{pace}{presumed}"


def part_in_words(selection: Selection, row: int) -> str:
    """ "yes (93 %)", "no (4 %)"; of grades "2 (83 %)"; of an item of which no mark says anything "–"."""
    if selection.part[row] == 0:
        return "–"
    part, share = int(selection.part[row]), f"{100 * float(selection.membership[row]):.0f} %"
    return f"{part if selection.measure == 'right grade' else 'yes' if part == 1 else 'no'} ({share})"


def next_in_words(ordering: Ordering) -> str:
    """ "c (38 %), f (31 %)": the items outside that are the most likely to be wanted; "" where there are marks."""
    selection = ordering.selection
    if selection is None or selection.measure != "recall":
        return ""
    outside = [row for row in range(len(ordering)) if selection.part[row] != 1 and selection.membership[row] >= _LIKELY]
    first = sorted(outside, key=lambda row: -selection.membership[row])[:_NEXT]
    return ", ".join(f"{ordering.ids[row]} ({100 * selection.membership[row]:.0f} %)" for row in first)
