"""`ordinate aim`: what a study is to find out, and the option of other commands that says so."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from ordinate.cli.options import AsJson, StudyFile, open_study
from ordinate.cli.screen import count, duration, one_line, print_json, rough, say

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ordinate.data.ordering import Ordering, Selection
    from ordinate.learning.forecast import Forecast

NEXT = 5
"""Candidates outside the set that are named."""
LIKELY = 0.05
"""These are wanted with at least this probability."""
AimOption = Annotated[
    list[str] | None,
    typer.Option(
        "--aim",
        metavar="AIM",
        help="What is to be found: the whole order (order, as without an aim), the first or last items of each group "
        "(top:10, bottom:10), or those above an item (above:ID; given several times, such marks make grades). Fewer "
        "answers find them, but the other items are ordered worse.",
        show_default=False,
    ),
]


def aim(study: StudyFile, aim: AimOption = None, as_json: AsJson = False) -> None:
    """Show what a study is to find, or change it; what was answered stays.

    The aim decides what is asked from now on. For the ten best of 100 items, for instance, about a third of the answers
    is enough to find as many of them as by asking for the whole order. But with as many answers, more pairs of the
    whole order are wrong: about a third more, and where annotators hardly err two or three times as many.

    Algorithms whose names begin with guro or aim ask for the aim; others go on as before.
    """
    with open_study(study) as opened:
        if aim is not None:
            opened.set_rules(aim=aim)
        rule = opened.rules.aim
        if as_json:
            print_json({"study": study, "aim": list(rule)})
            return
        say(f"Aim: {aim_in_words(rule, opened.items.group is not None)}.")


def aim_in_words(rule: Sequence[str], grouped: bool) -> str:
    """ "the first 10 items"."""
    from ordinate.study.aim import aim_of

    found = aim_of(rule)
    if found.kind == "order":
        return "the whole order"
    if found.kind == "above":
        marks = ", ".join(map(one_line, found.marks))
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


def next_in_words(ordering: Ordering) -> str:
    """ "c (38 %), f (31 %)": the items outside that are the most likely to be wanted; "" where there are marks."""
    selection = ordering.selection
    if selection is None or selection.measure != "recall":
        return ""
    outside = [row for row in range(len(ordering)) if selection.part[row] != 1 and selection.membership[row] >= LIKELY]
    first = sorted(outside, key=lambda row: -selection.membership[row])[:NEXT]
    return ", ".join(f"{one_line(ordering.ids[row])} ({100 * selection.membership[row]:.0f} %)" for row in first)
