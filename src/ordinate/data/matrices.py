"""Feature matrices that stay in their file, read in blocks of rows; and matrices stacked without a copy.

Both have the part of the array interface that a study uses: shape, size, ndim, len and row indexing.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ordinate.data.formats.files import failures
from ordinate.data.formats.matrix import open_matrix
from ordinate.errors import FeaturesChanged, InvalidInput

LARGEST_IN_MEMORY = 64 * 2**20
"""A feature file of more bytes than this is not read into memory, and not copied into a study."""
_BLOCK = 1 << 14
_AT_ONCE = 1 << 21
"""Numbers that are read together: opening the file takes longer than reading a small block."""
Rows = slice | Sequence[int] | NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class FileMatrix:
    """The matrix (n, d) in a .npy file, with the SHA-256, size and time of the file when it was checked."""

    path: Path
    shape: tuple[int, int]
    sha256: str
    bytes: int
    modified_ns: int

    @classmethod
    def read(cls, path: str | Path, name: Callable[[int], str] = lambda row: f"row {row + 1}") -> FileMatrix:
        """Hash the file and check that all numbers are finite; `name` says what an error calls a row."""
        place = Path(path).absolute()
        mapped = open_matrix(path)
        found = cls(place, (mapped.shape[0], mapped.shape[1]), digest(place), *_size_and_time(place))
        for start, block in row_blocks(found):
            finite = np.isfinite(block)
            if not finite.all():
                row, column = np.argwhere(~finite)[0]
                raise InvalidInput(
                    f"the features of {name(start + int(row))}, column {column + 1}, hold {block[row, column]}; "
                    "fill it in or leave the item out"
                )
        return found

    def check(self, thorough: bool = False) -> None:
        """Raise FeaturesChanged if the file is gone or changed. `thorough` hashes it even where size and time agree."""
        moved = "; if it was moved, say where to: ordinate db features STUDY.db --file FILE.npy"
        if not self.path.is_file():
            raise FeaturesChanged(f"the feature file {self.path} is not there{moved}")
        if (thorough or _size_and_time(self.path) != (self.bytes, self.modified_ns)) and (
            digest(self.path) != self.sha256
        ):
            raise FeaturesChanged(
                f"the feature file {self.path} is not the one that the study was made with: its SHA-256 is another; "
                f"bring the old file back{moved}"
            )

    @property
    def size(self) -> int:
        return self.shape[0] * self.shape[1]

    @property
    def ndim(self) -> int:
        return 2

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows: Rows) -> NDArray[Any]:
        with failures("read", self.path):
            mapped = open_matrix(self.path)
            if not isinstance(rows, slice):
                return np.array(mapped[rows])
            start, stop, step = rows.indices(len(self))
            if step != 1 or not mapped.flags.c_contiguous:
                return np.array(mapped[rows])
            # Read, not mapped: the pages of a mapping would count as memory of this process.
            count, offset = max(stop - start, 0) * self.shape[1], mapped.offset + start * mapped.strides[0]
            block = np.fromfile(self.path, dtype=mapped.dtype, count=count, offset=offset)
            return block.reshape(-1, self.shape[1])


@dataclass(frozen=True, eq=False)
class StackedMatrix:
    """Matrices with the same columns stacked vertically, without copying those that stay in a file."""

    parts: tuple[Any, ...]

    @property
    def shape(self) -> tuple[int, int]:
        return sum(len(part) for part in self.parts), self.parts[0].shape[1]

    @property
    def size(self) -> int:
        return self.shape[0] * self.shape[1]

    @property
    def ndim(self) -> int:
        return 2

    def __len__(self) -> int:
        return self.shape[0]

    def astype(self, kept: str) -> NDArray[Any]:
        """A copy, as a new study of these items stores it."""
        return self[:].astype(kept)

    def __getitem__(self, rows: Rows) -> NDArray[Any]:
        ends = np.cumsum([len(part) for part in self.parts])
        if isinstance(rows, slice):
            start, stop, _ = rows.indices(len(self))
            pieces = [
                part[max(start - end + len(part), 0) : max(stop - end + len(part), 0)]
                for part, end in zip(self.parts, ends, strict=True)
            ]
            return np.concatenate([piece for piece in pieces if len(piece)] or pieces[:1])
        wanted = np.asarray(rows, dtype=np.intp)
        taken = np.empty((len(wanted), self.shape[1]))
        for part, end in zip(self.parts, ends, strict=True):
            inside = (wanted >= end - len(part)) & (wanted < end)
            taken[inside] = part[wanted[inside] - (end - len(part))]
        return taken


def stacked(first: Any, second: Any) -> Any:
    """The second matrix below the first; an array if both are arrays."""
    if isinstance(first, np.ndarray) and isinstance(second, np.ndarray):
        return np.concatenate([first, second])
    return StackedMatrix((*getattr(first, "parts", (first,)), *getattr(second, "parts", (second,))))


def row_blocks(matrix: Any, rows: int = _BLOCK) -> Iterator[tuple[int, NDArray[Any]]]:
    """Blocks of rows, each with the index of its first row; several small ones are read at once."""
    blocks = max(1, _AT_ONCE // max(1, rows * matrix.shape[1]))
    for first in range(0, len(matrix), blocks * rows):
        read = matrix[first : first + blocks * rows]
        for start in range(0, len(read), rows):
            yield first + start, read[start : start + rows]


def digest(path: Path) -> str:
    with failures("read", path), path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _size_and_time(path: Path) -> tuple[int, int]:
    with failures("read", path):
        status = path.stat()
    return status.st_size, status.st_mtime_ns
