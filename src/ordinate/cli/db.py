"""`ordinate db`: bring studies of older versions up to date, and look after feature files outside them."""

from __future__ import annotations

from typing import Annotated

import typer

from ordinate.cli.options import StudyFile, examples, help_text, study_url
from ordinate.cli.screen import say

app = typer.Typer(help="Look after the files of studies.", no_args_is_help=True)


def upgrade(
    studies: Annotated[
        list[str], typer.Argument(metavar="STUDY.db...", help="The files of the studies.", show_default=False)
    ],
) -> None:
    """Bring studies that an older version of ordinate wrote to the tables of this one.

    Each file is changed in one transaction: afterwards it is upgraded, or just as it was. Nothing in its log changes.
    """
    from ordinate import storage

    for study in studies:
        before, after = storage.upgrade(study_url(study))
        say(f"{study}: up to date already" if before == after else f"{study}: upgraded from tables {before} to {after}")


def features(
    study: StudyFile,
    file: Annotated[
        str | None,
        typer.Option("--file", metavar="FILE.npy", help="Where a feature file was moved to.", show_default=False),
    ] = None,
) -> None:
    """Check the feature files that a study did not copy, byte by byte; or say where one was moved to.

    A study keeps the path of a large feature file, and the SHA-256 of what is in it.
    """
    from ordinate import storage

    if file is not None:
        moved = storage.move_features(study_url(study), file)
        say(f"{study} now reads its features from {moved.path}.")
        return
    files = storage.features_outside(study_url(study))
    for matrix in files:
        matrix.check(thorough=True)
        say(f"{matrix.path}: unchanged, {matrix.shape[0]:,} x {matrix.shape[1]:,}")
    if not files:
        say(f"{study} holds its features itself.")


app.command(
    "features",
    help=help_text(features),
    epilog=examples("ordinate db features study.db", "ordinate db features study.db --file /data/embeddings.npy"),
)(features)
app.command("upgrade", help=help_text(upgrade), epilog=examples("ordinate db upgrade study.db"))(upgrade)
