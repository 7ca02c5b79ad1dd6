"""`ordinate import` and `ordinate export`: comparisons from and to tables."""

from __future__ import annotations

from typing import Annotated

import typer

from ordinate.cli.options import AsJson, StudyFile, open_study
from ordinate.cli.screen import count, print_json, say
from ordinate.errors import InvalidInput, naming


def import_(
    study: StudyFile,
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE",
            help="Table with the columns left, right, winner and, where known, annotator and strength (much or "
            "slightly). The winner is left, right, tie or both-bad, or the id of the item that won; these words are "
            "always sides, also if an item is called so.",
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

    A table of which the study has half or more already, from the same annotators, is refused without --again. A column
    group must agree with the groups of the study. Columns that are not read are named.
    """
    from ordinate.data.comparisons import comparisons_from_columns, require_same_groups, unused_columns
    from ordinate.data.formats import read_columns

    with open_study(study) as opened:
        columns = read_columns(file)
        with naming(file):
            given = comparisons_from_columns(columns)
            require_same_groups(columns, opened.items)
        known = opened.known(given)
        if known and 2 * known >= len(given) and not again:
            raise InvalidInput(
                f"{file}: {study} has {known:,} of these {count(len(given), 'comparison')} already, so nothing was "
                "recorded. If people did make them once more, give --again"
            )
        with naming(file):
            recorded = opened.record(given)
        total, unused = len(opened.comparisons()), unused_columns(columns)
        if as_json:
            print_json({"study": study, "recorded": recorded, "comparisons": total, "columns_not_used": unused})
            return
        say(f"Recorded {count(recorded, 'comparison')} from {file}; {study} now has {total:,}.")
        if unused:
            say(f"Columns not used: {', '.join(unused)}.")


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
    full: Annotated[
        bool,
        typer.Option(
            "--full",
            help="Write every answer and skip, also those that do not count, with all that is stored of them.",
        ),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Write every comparison that counts to a table that `ordinate import` reads.

    With --full, one row for every answer and skip: its status (counts, skipped, taken back, item or annotator
    excluded), times, duration, reason of a skip, which query it repeats, and how the pair was chosen. Left and right
    are the sides of the screen. `ordinate import` does not read this form.

    In a .csv or .tsv file, a text that begins like a formula (=, +, -, @) has an apostrophe before it, so that no
    spreadsheet program runs it; `ordinate import` removes it.
    """
    from ordinate.data.comparisons import comparison_columns
    from ordinate.data.formats import write_columns

    if (file is None) == (out is None):
        raise InvalidInput("name one file to write to: ordinate export STUDY.db --out FILE")
    place = file or out or ""
    with open_study(study) as opened:
        columns = opened.history() if full else comparison_columns(opened.comparisons())
    write_columns(place, columns)
    written, what = len(columns["left"]), "answer" if full else "comparison"
    if as_json:
        print_json({"study": study, "file": place, f"{what}s": written})
    else:
        say(f"Wrote {count(written, what)} to {place}.")
