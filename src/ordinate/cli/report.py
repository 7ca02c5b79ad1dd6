"""`ordinate report`: one HTML file that says what a study found, how sure that is, and how it was made."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ordinate.cli.media import study_folder
from ordinate.cli.options import AsJson, StudyFile, open_study, study_url
from ordinate.cli.screen import note, print_json, say


def report(
    study: StudyFile,
    out: Annotated[
        str | None,
        typer.Option(
            "--out",
            "-o",
            metavar="FILE",
            help="The HTML file to write. Default: named after the study, beside it.",
            show_default=False,
        ),
    ] = None,
    figures: Annotated[
        str | None,
        typer.Option(
            metavar="FOLDER", help="Also write each figure to this folder, as SVG and PNG.", show_default=False
        ),
    ] = None,
    media: Annotated[
        list[str] | None,
        typer.Option("--media", metavar="FOLDER", help="A folder outside the study's own that pictures may lie in."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Write a report that needs nothing else: one HTML file for the browser, for paper, or to send on.

    It begins with one sentence on whether the order can be relied on. Then come the order with its pictures and texts,
    how sure the ranks are, what more answers would bring, whether predictions hold, the annotators, the checks of the
    answers, and how the order was made. Of many items, the first and the last ones are shown, and all are in a table
    that the page saves.
    """
    from ordinate.report import write_report
    from ordinate.storage.places import place

    path = Path(out) if out is not None else study_folder(study) / f"{Path(study).stem}-report.html"
    pictures = None if figures is None else Path(figures)
    if pictures is not None:
        pictures.mkdir(parents=True, exist_ok=True)
    with open_study(study) as opened:
        folder, folders = place(study_url(study)).folder, [Path(one).absolute() for one in media or []]
        written = write_report(opened, path, folder=folder, media=folders, pictures=pictures)
    if as_json:
        print_json({"study": study, "files": [str(one) for one in written.files], "notes": written.left_out})
        return
    for path in written.files:
        say(f"Wrote {path}.")
    for one in written.left_out:
        note(one)
