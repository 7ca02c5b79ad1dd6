"""`ordinate exclude` and `ordinate include`: leave an item or an annotator out, and take them back in."""

from __future__ import annotations

from collections.abc import Collection
from shlex import quote
from typing import TYPE_CHECKING, Annotated

import typer

from ordinate.cli.options import AsJson, StudyFile, open_study
from ordinate.cli.screen import print_json, say
from ordinate.errors import InvalidInput

if TYPE_CHECKING:
    from ordinate.study.study import Study

# One at a time: each call is one entry of the log, so nothing is ever half done.
ItemName = Annotated[str | None, typer.Option("--item", metavar="ID", help="An item.", show_default=False)]
AnnotatorName = Annotated[
    str | None, typer.Option("--annotator", "-a", metavar="NAME", help="An annotator.", show_default=False)
]


def exclude(study: StudyFile, item: ItemName = None, annotator: AnnotatorName = None, as_json: AsJson = False) -> None:
    """Leave an item or an annotator out; the answers stay stored but do not count."""
    _require_one(item, annotator)
    with open_study(study) as opened:
        if item is not None:
            opened.exclude_item(item)
        if annotator is not None:
            opened.exclude_annotator(annotator)
        _report(opened, study, as_json)


def include(study: StudyFile, item: ItemName = None, annotator: AnnotatorName = None, as_json: AsJson = False) -> None:
    """Take an excluded item or annotator, with all answers, back in."""
    _require_one(item, annotator)
    with open_study(study) as opened:
        if item is not None:
            opened.include_item(item)
        if annotator is not None:
            opened.include_annotator(annotator)
        _report(opened, study, as_json)


def include_command(study: Study, address: str, annotators: Collection[str | None] = ()) -> str | None:
    """What to type to take the first excluded item or annotator back in; before all others, one of these annotators."""
    wanted = [name for name in study.excluded_annotators if name in annotators]
    kinds = (("--annotator", wanted), ("--item", study.excluded_items), ("--annotator", study.excluded_annotators))
    for option, names in kinds:
        if names:
            return f"ordinate include {quote(address)} {option} {quote(names[0])}"
    return None


def _require_one(item: str | None, annotator: str | None) -> None:
    if (item is None) == (annotator is None):
        raise InvalidInput("say whom or what, one at a time: --item ID or --annotator NAME")


def _report(study: Study, address: str, as_json: bool) -> None:
    answers = len(study.comparisons())
    if as_json:
        print_json(
            {
                "study": address,
                "excluded_items": list(study.excluded_items),
                "excluded_annotators": list(study.excluded_annotators),
                "comparisons": answers,
            }
        )
        return
    say(f"Excluded items: {', '.join(study.excluded_items) or 'none'}.")
    say(f"Excluded annotators: {', '.join(study.excluded_annotators) or 'none'}.")
    say(f"Comparisons that count: {answers:,}.")
    if back := include_command(study, address):
        say(f"Take back in with: {back}")
