"""`ordinate db upgrade`: bring studies of older versions up to date."""

from __future__ import annotations

from typing import Annotated

import typer

from ordinate.cli.options import examples, help_text, study_url
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


app.command("upgrade", help=help_text(upgrade), epilog=examples("ordinate db upgrade study.db"))(upgrade)
