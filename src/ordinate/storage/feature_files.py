"""Features that a study does not copy: where their file is, and how to tell whether it has changed."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from sqlalchemy import Connection, insert, select, update

from ordinate.data.matrices import FileMatrix, digest
from ordinate.errors import InvalidInput
from ordinate.storage import tables


class FeatureFile(NamedTuple):
    """A file with the features of the items that the log entry at position `added` added."""

    added: int
    matrix: FileMatrix


def write(connection: Connection, folder: Path, added: int, matrix: FileMatrix) -> None:
    row = {"added": added, "sha256": matrix.sha256, **_place(folder, matrix)}
    connection.execute(insert(tables.feature_files), [row])


def read(connection: Connection, folder: Path) -> list[FeatureFile]:
    """All files of the study; they are not opened."""
    query = select(tables.feature_files, tables.features.c["items"], tables.features.c["columns"]).join(
        tables.features, tables.features.c.added == tables.feature_files.c.added
    )
    return [
        FeatureFile(
            row.added,
            FileMatrix(folder / row.path, (row.items, row.columns), row.sha256, row.bytes, row.modified_ns),
        )
        for row in connection.execute(query.order_by(tables.feature_files.c.added))
    ]


def move(connection: Connection, folder: Path, path: Path) -> FeatureFile:
    """Note that the feature file with these contents is at `path` now. Raises InvalidInput where it is not one."""
    found = digest(path)
    same = [kept for kept in read(connection, folder) if kept.matrix.sha256 == found]
    if not same:
        raise InvalidInput(f"{path} is not one of this study's feature files: its SHA-256 differs")
    status = path.stat()
    moved = replace(same[0].matrix, path=path.absolute(), bytes=status.st_size, modified_ns=status.st_mtime_ns)
    for kept in same:
        change = update(tables.feature_files).where(tables.feature_files.c.added == kept.added)
        connection.execute(change.values(**_place(folder, moved)))
    return FeatureFile(same[0].added, moved)


def _place(folder: Path, matrix: FileMatrix) -> dict[str, str | int]:
    """The path is relative to the study's folder where the file is inside it, so that the folder can be moved."""
    inside = matrix.path.is_relative_to(folder)
    path = os.path.relpath(matrix.path, folder) if inside else str(matrix.path)
    return {"path": path, "bytes": matrix.bytes, "modified_ns": matrix.modified_ns}
