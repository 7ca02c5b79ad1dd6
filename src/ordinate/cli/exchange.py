"""`ordinate import` and `ordinate export`: comparisons from and to tables."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from ordinate.cli.options import AsJson, StudyFile, open_study
from ordinate.cli.screen import count, print_json, say
from ordinate.errors import InvalidInput


def import_(
    study: StudyFile,
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE",
            help="Table with the columns left, right, winner and, where known, annotator. "
            "The winner is left, right, tie, or the id of the item that won.",
            show_default=False,
        ),
    ],
    again: Annotated[
        bool,
        typer.Option("--again", help="Record it even if the study has most of it already: people did say it twice."),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Record comparisons made elsewhere: all of the table, or nothing if one row is wrong.

    A table of which the study has half or more already, from the same annotators, is refused without --again.
    """
    from ordinate.data.comparisons import read_comparisons

    with open_study(study) as opened:
        given = read_comparisons(file)
        known = opened.known(given)
        if known and 2 * known >= len(given) and not again:
            raise InvalidInput(
                f"{file}: {study} has {known:,} of these {count(len(given), 'comparison')} already, so nothing was "
                "recorded. If people did make them once more, give --again"
            )
        recorded = opened.record(given)
        total = len(opened.comparisons())
        if as_json:
            print_json({"study": study, "recorded": recorded, "comparisons": total})
        else:
            say(f"Recorded {count(recorded, 'comparison')} from {file}; {study} now has {total:,}.")


def export(
    study: StudyFile,
    file: Annotated[
        str | None,
        typer.Argument(
            metavar="FILE", help="Where to write: .csv, .tsv, .json, .jsonl or .parquet.", show_default=False
        ),
    ] = None,
    out: Annotated[
        str | None,
        typer.Option("--out", "-o", metavar="FILE", help="The same, as other commands have it.", show_default=False),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Write every comparison that counts to a table that `ordinate import` reads."""
    from ordinate.data.formats import write_columns

    if (file is None) == (out is None):
        raise InvalidInput("name one file to write to: ordinate export STUDY.db --out FILE")
    place = file or out or ""
    with open_study(study) as opened:
        comparisons = opened.comparisons()
    columns: dict[str, list[Any]] = {
        "left": [made.left for made in comparisons],
        "right": [made.right for made in comparisons],
        "winner": [made.outcome for made in comparisons],
        "annotator": [made.annotator for made in comparisons],
    }
    write_columns(place, columns)
    if as_json:
        print_json({"study": study, "file": place, "comparisons": len(comparisons)})
    else:
        say(f"Wrote {count(len(comparisons), 'comparison')} to {place}.")
