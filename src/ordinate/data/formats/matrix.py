"""A feature matrix: a .npy file (numpy.save) of numbers with one row per item."""

from pathlib import Path
from tokenize import TokenError
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ordinate.data.formats.files import failures, require_file
from ordinate.errors import InvalidInput, naming


def read_matrix(path: str | Path) -> NDArray[np.number]:
    """The matrix, of shape (n, d), in the type it was saved in."""
    mapped = open_matrix(path)
    with failures("read", path):
        return np.array(mapped)


def open_matrix(path: str | Path) -> np.memmap[Any, Any]:
    """The matrix as a memory map. Never runs code from the file (pickles are refused)."""
    require_file(path)
    with naming(path), failures("read", path):
        if Path(path).suffix.lower() != ".npy":
            raise InvalidInput("a feature matrix is a .npy file; write one with numpy.save(path, matrix)")
        _check_start(path)
        try:
            # Mapping refuses a header that promises more than the file holds, before any memory is allocated.
            mapped: np.memmap[Any, Any] = np.lib.format.open_memmap(path, mode="r")
        except (ValueError, TypeError, SyntaxError, OverflowError, TokenError) as error:  # numpy evaluates the header
            raise InvalidInput("this .npy file is cut short or damaged; copy or write it again") from error
        if mapped.dtype.kind not in "biuf":
            raise InvalidInput(f"the matrix holds {mapped.dtype}, not numbers; write floats with numpy.save")
        if mapped.ndim != 2:
            raise InvalidInput(
                f"the matrix must have two axes (items, columns); this one has shape {mapped.shape}"
                + ("; for one column, reshape it to (-1, 1)" if mapped.ndim == 1 else "")
            )
        return mapped


def _check_start(path: str | Path) -> None:
    with Path(path).open("rb") as file:
        start = file.read(256)
    if not start:
        raise InvalidInput("the file is empty")
    if start.startswith(b"PK"):
        raise InvalidInput("this is a .npz archive; write its matrix with numpy.save(path, matrix)")
    if not start.startswith(b"\x93NUMPY"):
        raise InvalidInput("this is no .npy file, whatever its suffix says; write one with numpy.save(path, matrix)")
    if b"'|O'" in start:
        raise InvalidInput("the matrix holds Python objects, not numbers; convert it with matrix.astype(float)")
