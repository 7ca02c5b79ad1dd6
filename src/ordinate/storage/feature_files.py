"""Features that a study does not copy: where their file is, and how to tell whether it has changed."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from ordinate.data.matrices import FileMatrix, digest
from ordinate.errors import InvalidInput
from ordinate.storage.connection import Connection


class FeatureFile(NamedTuple):
    """A file with the features of the items that the log entry at position `added` added."""

    added: int
    matrix: FileMatrix


def write(connection: Connection, folder: Path | None, added: int, matrix: FileMatrix) -> None:
    connection.execute(
        "INSERT INTO feature_files (added, sha256, path, bytes, modified_ns) VALUES (?, ?, ?, ?, ?)",
        (added, matrix.sha256, *_place(folder, matrix)),
    )


def read(connection: Connection, folder: Path | None) -> list[FeatureFile]:
    """All files of the study; they are not opened."""
    rows = connection.execute(
        "SELECT added, path, items, columns, sha256, bytes, modified_ns FROM feature_files JOIN features USING (added) "
        "ORDER BY added"
    )
    return [
        FeatureFile(added, FileMatrix(Path("" if folder is None else folder, path), (items, columns), *rest))
        for added, path, items, columns, *rest in rows
    ]


def move(connection: Connection, folder: Path | None, path: Path) -> FeatureFile:
    """Note that the feature file with these contents is at `path` now. Raises InvalidInput where it is not one."""
    found = digest(path)
    same = [kept for kept in read(connection, folder) if kept.matrix.sha256 == found]
    if not same:
        raise InvalidInput(f"{path} is not one of this study's feature files: its SHA-256 differs")
    status = path.stat()
    moved = replace(same[0].matrix, path=path.absolute(), bytes=status.st_size, modified_ns=status.st_mtime_ns)
    connection.execute(
        "UPDATE feature_files SET path = ?, bytes = ?, modified_ns = ? WHERE sha256 = ?",
        (*_place(folder, moved), found),
    )
    return FeatureFile(same[0].added, moved)


def _place(folder: Path | None, matrix: FileMatrix) -> tuple[str, int, int]:
    """The path is relative to the study's folder where the file is inside it, so that the folder can be moved."""
    inside = folder is not None and matrix.path.is_relative_to(folder)
    path = os.path.relpath(matrix.path, folder) if inside else str(matrix.path)
    return path, matrix.bytes, matrix.modified_ns
