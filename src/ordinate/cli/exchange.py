"""`ordinate import` and `ordinate export`: comparisons from and to tables."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from ordinate.cli.options import AsJson, StudyFile, open_study
from ordinate.cli.screen import count, print_json, say


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
    as_json: AsJson = False,
) -> None:
    """Record comparisons made elsewhere: all of the table, or nothing if one row is wrong."""
    from ordinate.types import read_comparisons

    with open_study(study) as opened:
        recorded = opened.record(read_comparisons(file))
        total = len(opened.comparisons())
        if as_json:
            print_json({"study": study, "recorded": recorded, "comparisons": total})
        else:
            say(f"Recorded {count(recorded, 'comparison')} from {file}; {study} now has {total:,}.")


def export(
    study: StudyFile,
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE", help="Where to write: .csv, .tsv, .json, .jsonl or .parquet.", show_default=False
        ),
    ],
    as_json: AsJson = False,
) -> None:
    """Write every comparison that counts to a table that `ordinate import` reads."""
    from ordinate.formats import write_columns

    with open_study(study) as opened:
        comparisons = opened.comparisons()
    columns: dict[str, list[Any]] = {
        "left": [made.left for made in comparisons],
        "right": [made.right for made in comparisons],
        "winner": [made.outcome for made in comparisons],
        "annotator": [made.annotator for made in comparisons],
    }
    write_columns(file, columns)
    if as_json:
        print_json({"study": study, "file": file, "comparisons": len(comparisons)})
    else:
        say(f"Wrote {count(len(comparisons), 'comparison')} to {file}.")
