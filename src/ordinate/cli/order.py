"""`ordinate order`: the result, of the study's items or of items that nobody has compared."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from ordinate.cli.answering import item_contents
from ordinate.cli.create import read_items_like
from ordinate.cli.options import AsJson, FeatureColumns, FeaturesFile, IdColumn, StudyFile, open_study
from ordinate.cli.screen import console, count, error_in_words, one_line, print_json, say

if TYPE_CHECKING:
    from ordinate.types import Ordering

PREVIEW = 60


def order(
    study: StudyFile,
    out: Annotated[
        str | None,
        typer.Option(
            "--out",
            "-o",
            metavar="FILE",
            help="Write the ordering to .csv, .tsv, .json, .jsonl or .parquet.",
            show_default=False,
        ),
    ] = None,
    items: Annotated[
        str | None,
        typer.Option(
            "--items",
            metavar="FILE",
            help="Order the items of this table instead, by their features.",
            show_default=False,
        ),
    ] = None,
    features: FeaturesFile = None,
    feature_columns: FeatureColumns = None,
    id_column: IdColumn = "id",
    as_json: AsJson = False,
) -> None:
    """Show the ordering that follows from all answers, highest first.

    A score is a difference to the mean of the study's items, in units in which one point means odds of about 2.7 to
    1 in a comparison. The standard error says how sure the score is.
    """
    with open_study(study) as opened:
        given = None if items is None else read_items_like(opened, items, id_column, features, feature_columns)
        contents = item_contents(given or opened.items)
        known = set(opened.items.ids)
        blind = given is not None and not opened.items.features.size and not known.issuperset(given.ids)
        ordering = opened.ordering(given)
        # Asked for new items, the error between the study's own would be beside the point.
        error = opened.expected_error() if given is None else None
        answers = len(opened.comparisons())
    if out is not None:
        ordering.save(out)
    if as_json:
        summary = {"study": study, "comparisons": answers, "expected_error": error, "file": out}
        print_json({**summary, "items": _rows(ordering)})
        return
    if out is not None:
        say(f"Wrote {count(len(ordering), 'item')} in order to {out}.")
    else:
        _show(ordering, contents)
    if blind:
        say("The study has no features, so items that nobody compared cannot be told apart: their places mean nothing.")
    if error is None:
        say(f"From {count(answers, 'comparison')}.")
    else:
        say(f"From {count(answers, 'comparison')}. Expected error {error_in_words(error)}.")


def _rows(ordering: Ordering) -> list[dict[str, Any]]:
    columns = ordering.to_columns()
    return [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]


def _show(ordering: Ordering, contents: dict[str, dict[str, str]]) -> None:
    from rich.table import Table

    grouped = ordering.group is not None
    kinds = list(dict.fromkeys(kind for shown in contents.values() for kind in shown))
    table = Table()
    if grouped:
        table.add_column("group")
    table.add_column("rank", justify="right")
    table.add_column("id", overflow="fold")
    table.add_column("score", justify="right")
    table.add_column("standard error", justify="right")
    if kinds:
        table.add_column(kinds[0], no_wrap=True, overflow="ellipsis", max_width=PREVIEW)
    previous: str | None = None
    for row in _rows(ordering):
        if grouped and previous not in (None, row["group"]):
            table.add_section()
        previous = row.get("group")
        cells = [str(row["rank"]), one_line(row["id"]), f"{row['score']:.2f}", f"{row['standard_error']:.2f}"]
        if kinds:
            cells.append(one_line(contents.get(row["id"], {}).get(kinds[0], "")))
        table.add_row(*([one_line(row["group"])] if grouped else []), *cells)
    console().print(table)
