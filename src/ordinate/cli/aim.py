"""`ordinate aim`: what a study is to find out, and the option of other commands that says so."""

from __future__ import annotations

from shlex import quote
from typing import Annotated

import typer

from ordinate.cli.options import AsJson, StudyFile, open_study
from ordinate.cli.screen import one_line, print_json, say
from ordinate.errors import InvalidInput
from ordinate.study.words import aim_in_words

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


Misplaced = Annotated[str | None, typer.Argument(metavar="--aim AIM", hidden=True, show_default=False)]


def aim(study: StudyFile, misplaced: Misplaced = None, aim: AimOption = None, as_json: AsJson = False) -> None:
    """Show what a study is to find, or change it; what was answered stays.

    The aim decides what is asked from now on. In simulated studies, the best 3 to 50 of 100 items mostly took about
    half of the answers that they took by asking for the whole order, or less. But with as many answers, more pairs of
    the whole order were wrong: usually a third to a half more, and about twice as many where the features determine
    the order, or annotators rarely err.

    Algorithms whose names begin with guro or aim ask for the aim; others go on as before.
    """
    if misplaced is not None:
        raise InvalidInput(f"an aim is given by its option: --aim {quote(misplaced)}")
    with open_study(study) as opened:
        if aim is not None:
            opened.set_rules(aim=aim)
        rule = opened.rules.aim
        if as_json:
            print_json({"study": study, "aim": list(rule)})
            return
        say(one_line(f"Aim: {aim_in_words(rule, opened.items.group is not None)}."))
