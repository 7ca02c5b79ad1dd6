"""`ordinate db`: upgrade older studies, copy studies, and check feature files outside a study."""

from __future__ import annotations

from typing import Annotated

import typer

from ordinate.cli.options import StudyFile, add_command, open_study, study_url, take_passwords
from ordinate.cli.screen import count, say
from ordinate.errors import InvalidInput

app = typer.Typer(help="Maintain and copy studies.", no_args_is_help=True)


def upgrade(
    studies: Annotated[
        list[str],
        typer.Argument(
            metavar="STUDY.db...",
            help="The files of the studies, or their addresses in PostgreSQL.",
            show_default=False,
            callback=take_passwords,
        ),
    ],
) -> None:
    """Upgrade the tables of studies that an older version of ordinate wrote.

    Each file is changed in one transaction: either it is upgraded, or it stays as it was. Its log does not change.
    """
    from ordinate import storage

    for study in studies:
        before, after = storage.upgrade(study_url(study))
        say(f"{study}: already up to date" if before == after else f"{study}: upgraded from tables {before} to {after}")


def copy(
    source: Annotated[
        str,
        typer.Argument(metavar="STUDY.db", help="The study.", show_default=False, callback=take_passwords),
    ],
    target: Annotated[
        str,
        typer.Argument(metavar="STUDY.db", help="Where its copy is made.", show_default=False, callback=take_passwords),
    ],
) -> None:
    """Copy a study between files and databases, and prove that the copy is the same.

    Log, items, rules and links are compared, and the scores and standard errors that follow from them, to the last bit.
    Links go on to work, on a server with the same secret. Stop the servers of the study first.
    """
    from ordinate.study.copying import copy_study

    made = copy_study(study_url(source), study_url(target))
    say(
        f"Copied {source} to {target}: {count(made.entries, 'entry', 'entries')}, {count(made.items, 'item')} and "
        f"{count(made.comparisons, 'comparison')}; the scores and standard errors of both are the same."
    )


def erase(
    study: StudyFile,
    annotator: Annotated[str, typer.Argument(metavar="NAME", help="Of an annotator or an owner.", show_default=False)],
) -> None:
    """Erase a person: replace their name by a random one.

    Their answers stay, under the random name, so the ordering stays the same. Their reasons for skipping and the notes
    on their device go. This cannot be undone. Stop the servers of the study first; backups still have the name.
    """
    from ordinate import storage
    from ordinate.data.lookalikes import suggestion

    with open_study(study) as opened:
        known = [one.name for one in opened.people() if one.name is not None]
        known += [link.annotator for link in opened.links() if link.annotator is not None]
        known += [maker for _, maker in opened.rules.makers]
        known += opened.owners
    if annotator not in known:
        raise InvalidInput(f"{study} has no annotator or owner {annotator!r}{suggestion(annotator, known)}")
    pseudonym, changed = storage.erase(study_url(study), annotator)
    say(f"{study}: {annotator} is {pseudonym} now, in {count(changed, 'entry', 'entries')} of the log.")


def features(
    study: StudyFile,
    file: Annotated[
        str | None,
        typer.Option(
            "--file", metavar="FILE.npy", help="The new place of a feature file that was moved.", show_default=False
        ),
    ] = None,
) -> None:
    """Check the feature files that a study refers to, byte by byte, or tell it where one was moved.

    A study does not copy a large feature file: it keeps the path of the file and the SHA-256 of its contents.
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
        say(f"{study} contains its features; it refers to no feature files.")


add_command(
    app,
    "copy",
    copy,
    "ordinate db copy study.db postgresql://db.example.org/lab/study",
    "ordinate db copy postgresql://db.example.org/lab/study study.db",
)
add_command(app, "erase", erase, "ordinate db erase study.db Ann")
add_command(
    app,
    "features",
    features,
    "ordinate db features study.db",
    "ordinate db features study.db --file /data/embeddings.npy",
)
add_command(app, "upgrade", upgrade, "ordinate db upgrade study.db")
