"""A cache of computed vectors, by the hash of the content: one SQLite file per encoder fingerprint.

A batch is one transaction, so an interrupted run loses at most one batch. Each row has a checksum: damaged rows and
damaged files count as missing. The cache may be deleted at any time.
"""

from __future__ import annotations

import hashlib
import os
import sqlite3
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

import numpy as np

from ordinate.embedding.network import Vectors
from ordinate.errors import StorageFailed

BUSY_SECONDS = 30
ROWS_PER_QUERY = 500  # SQLite limits the number of parameters


def default_folder() -> Path:
    """$ORDINATE_CACHE if it is set, otherwise the operating system's folder for caches."""
    if given := os.environ.get("ORDINATE_CACHE"):
        return Path(given)
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local"
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "ordinate" / "embeddings"


class VectorCache:
    """Vectors by the SHA-256 (in hexadecimal) of the content they belong to."""

    def __init__(self, folder: str | Path, fingerprint: str) -> None:
        self._path = Path(folder) / f"{fingerprint}.sqlite"
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StorageFailed(
                f"the cache folder {folder} cannot be created ({error.strerror}); choose another one"
            ).with_option("name one with `ordinate embed --cache FOLDER`") from error
        try:
            self._create()
        except sqlite3.DatabaseError as error:
            if isinstance(error, sqlite3.OperationalError):
                raise self._failed(error) from error
            self._path.unlink()  # not an SQLite file: nothing in it is usable
            self._create()

    def found(self, keys: Sequence[str]) -> dict[str, Vectors]:
        """The vectors in the cache that are undamaged, by key."""
        vectors: dict[str, Vectors] = {}
        for start in range(0, len(keys), ROWS_PER_QUERY):
            some = keys[start : start + ROWS_PER_QUERY]
            marks = ",".join("?" * len(some))
            try:
                with self._connected() as connection:
                    rows = connection.execute(
                        f"SELECT key, vector, checksum FROM vectors WHERE key IN ({marks})", some
                    ).fetchall()
            except StorageFailed:
                raise
            except sqlite3.DatabaseError:  # a damaged page: its vectors are computed again
                self._path.unlink()
                self._create()
                return vectors
            vectors.update(
                {key: np.frombuffer(data, "<f4") for key, data, sum_ in rows if sum_ == _checksum(key, data)}
            )
        return vectors

    def add(self, vectors: Mapping[str, Vectors]) -> None:
        """Add all of them in one transaction; on disk on return."""
        rows = [(key, data := vector.astype("<f4").tobytes(), _checksum(key, data)) for key, vector in vectors.items()]
        with self._connected() as connection, connection:
            connection.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?, ?)", rows)

    def _create(self) -> None:
        with self._connected() as connection, connection:
            connection.execute(
                "CREATE TABLE IF NOT EXISTS vectors (key TEXT PRIMARY KEY, vector BLOB, checksum BLOB) WITHOUT ROWID"
            )

    @contextmanager
    def _connected(self) -> Iterator[sqlite3.Connection]:
        try:
            with closing(sqlite3.connect(self._path, timeout=BUSY_SECONDS)) as connection:
                yield connection
        except sqlite3.OperationalError as error:
            raise self._failed(error) from error

    def _failed(self, error: Exception) -> StorageFailed:
        return StorageFailed(f"the cache {self._path} cannot be used ({error}); choose another folder").with_option(
            "name one with `ordinate embed --cache FOLDER`"
        )


def _checksum(key: str, data: bytes) -> bytes:
    return hashlib.sha256(key.encode() + data).digest()[:8]
