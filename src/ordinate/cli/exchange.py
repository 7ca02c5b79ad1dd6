"""`ordinate import` and `ordinate export`: comparisons from and to tables."""

from __future__ import annotations

from typing import Annotated

import typer

from ordinate.cli.options import AsJson, ReadingOptions, StudyFile, open_study, refuse_overwriting, study_url
from ordinate.cli.screen import count, note, print_json, say
from ordinate.errors import InvalidInput, naming


def import_(
    study: StudyFile,
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE",
            help="Table of comparisons in any of the forms that docs/files.md lists. In our own, the winner is left, "
            "right, tie or both-bad, or the id of the item that won; these words are always sides.",
            show_default=False,
        ),
    ],
    again: Annotated[
        bool,
        typer.Option("--again", help="Record it even if the study has most of it already: people did say it twice."),
    ] = False,
    *,
    reading: ReadingOptions,
    as_json: AsJson = False,
) -> None:
    """Record comparisons made elsewhere: all of the table, or nothing if one row is wrong.

    A table of which the study has half or more already, from the same annotators, is refused without --again. Answers
    to queries of the study are recorded once, however often their table comes back. A column group must agree with the
    groups of the study. Columns that are not read are named.
    """
    from ordinate.data.comparison_formats import read_comparison_file
    from ordinate.study.sheets import returned_answers

    with open_study(study) as opened:
        read = read_comparison_file(file, reading.reading()).called_as_in(opened.items)
        with naming(file):
            read.require_items(opened.items)
            read.require_annotators()
            returned = returned_answers(opened, read)
            known = opened.known(returned.made_elsewhere)
        if known and 2 * known >= len(returned.made_elsewhere) and not again:
            raise InvalidInput(
                f"{file}: {study} has {known:,} of these {count(len(returned.made_elsewhere), 'comparison')} already, "
                "so nothing was recorded. If people did make them once more, give --again"
            )
        with naming(file):
            reading.name_models(opened, returned.comparisons)
            recorded = opened.record(returned.comparisons, answered=returned.closed)
        notes = [*read.notes, *returned.notes]
        total, unused = len(opened.comparisons()), read.columns_not_used
        if as_json:
            print_json(
                {
                    "study": study,
                    "format": read.format,
                    "recorded": recorded,
                    "comparisons": total,
                    "columns_not_used": unused,
                    "notes": notes,
                }
            )
            return
        form = "" if read.format == "plain" else f" (read as {read.format})"
        say(f"Recorded {count(recorded, 'comparison')} from {file}{form}; {study} now has {total:,}.")
        if unused:
            say(f"Columns not used: {', '.join(unused)}.")
        for one in notes:
            note(one)


def export(
    study: StudyFile,
    destination: Annotated[
        str | None,
        typer.Argument(
            metavar="FILE", help="Where to write: .csv, .tsv, .json, .jsonl, .parquet or .xlsx.", show_default=False
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
    form: Annotated[
        str,
        typer.Option(
            "--format",
            metavar="NAME",
            help="The form of another program: crowd-kit, arena, winner-loser, pwcmp, evalica, preference, "
            "label-studio, choix or win-matrix.",
        ),
    ] = "plain",
    as_json: AsJson = False,
) -> None:
    """Write every comparison that counts to a table that `ordinate import` reads.

    With --full, one row for every answer and skip: its status (counts, skipped, taken back, item or annotator
    excluded), times, duration, reason of a skip, which query it repeats, and how the pair was chosen. Left and right
    are the sides of the screen. `ordinate import` does not read this form.

    In a .csv or .tsv file, a text that begins like a formula (=, +, -, @) has an apostrophe before it, so that no
    spreadsheet program runs it; `ordinate import` removes it.
    """
    from ordinate.data.comparison_formats import write_comparison_columns, write_comparisons
    from ordinate.storage import features_outside

    if (destination is None) == (out is None):
        raise InvalidInput("name one file to write to: ordinate export STUDY.db --out FILE")
    if full and form != "plain":
        raise InvalidInput(f"--full writes what {form} cannot hold; leave out one of --full and --format")
    place = destination or out or ""
    with open_study(study) as opened:
        # A matrix of wins is written to the same kind of file as the features that a study may refer to.
        refuse_overwriting([place], [str(matrix.path) for matrix in features_outside(study_url(study))])
        given = opened.comparisons()
        columns = opened.history() if full else write_comparisons(form, given, opened.items)
    write_comparison_columns(place, columns)
    written, what = (len(columns["left"]), "answer") if full else (len(given), "comparison")
    if as_json:
        print_json({"study": study, "file": place, f"{what}s": written})
    else:
        say(f"Wrote {count(written, what)} to {place}.")
