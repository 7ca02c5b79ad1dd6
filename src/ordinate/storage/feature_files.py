"""Features that a study does not copy: where their file is, and whether it is still the one the study was made with."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from sqlalchemy import Connection, insert, select, update

from ordinate.data.matrices import FileMatrix, digest
from ordinate.errors import InvalidInput
from ordinate.storage import tables


class Kept(NamedTuple):
    """A file of a study: the log entry whose items it has the features of."""

    added: int
    matrix: FileMatrix


def write(connection: Connection, folder: Path, added: int, matrix: FileMatrix) -> None:
    row = {"added": added, "sha256": matrix.sha256, **_place(folder, matrix)}
    connection.execute(insert(tables.feature_files), [row])


def read(connection: Connection, folder: Path) -> list[Kept]:
    """All files, unchecked."""
    query = select(tables.feature_files, tables.features.c["items"], tables.features.c["columns"]).join(
        tables.features, tables.features.c.added == tables.feature_files.c.added
    )
    return [
        Kept(
            row.added,
            FileMatrix(folder / row.path, (row.items, row.columns), row.sha256, row.bytes, row.modified_ns),
        )
        for row in connection.execute(query.order_by(tables.feature_files.c.added))
    ]


def move(connection: Connection, folder: Path, path: Path) -> Kept:
    """Remember that the file of these contents is at `path` now. Raises InvalidInput where no file is like it."""
    found = digest(path)
    like = [kept for kept in read(connection, folder) if kept.matrix.sha256 == found]
    if not like:
        raise InvalidInput(f"{path} is none of this study's feature files: its SHA-256 is another")
    status = path.stat()
    moved = replace(like[0].matrix, path=path.absolute(), bytes=status.st_size, modified_ns=status.st_mtime_ns)
    for kept in like:
        change = update(tables.feature_files).where(tables.feature_files.c.added == kept.added)
        connection.execute(change.values(**_place(folder, moved)))
    return Kept(like[0].added, moved)


def _place(folder: Path, matrix: FileMatrix) -> dict[str, str | int]:
    """A file in the study's folder is found from there, so that the folder can move as a whole."""
    inside = matrix.path.is_relative_to(folder)
    path = os.path.relpath(matrix.path, folder) if inside else str(matrix.path)
    return {"path": path, "bytes": matrix.bytes, "modified_ns": matrix.modified_ns}
