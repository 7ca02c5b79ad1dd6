"""How single values are read, whatever file, frame or caller they come from: missing values, ids, texts, numbers."""

import hashlib
import math
import operator
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ordinate.errors import InvalidInput

_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
_NOT_FINITE = re.compile(r"[+-]?(nan|inf|infinity)", re.IGNORECASE)
_SHORT = 60
_GROUPED = re.compile(r"[+-]?[1-9][0-9]{0,2}([,._'\u2019\s][0-9]{3})+([.,][0-9]+)?")
"""A number with separators of thousands."""


def is_missing(value: object) -> bool:
    """Whether the value is None, an empty text, NaN, or the missing value of pandas."""
    if value is None or (isinstance(value, str) and value == ""):
        return True
    if isinstance(value, float | np.floating):
        return math.isnan(value)
    return type(value).__name__ in ("NAType", "NaTType")  # of pandas, recognised by name: it may not be installed


def id_text(value: object) -> str:
    """An id as text: 7 and 7.0 (a pandas column with a gap) are both "7", and "007" stays "007"."""
    if type(value) is str:  # nearly all are, and a table may have millions
        return value
    if is_missing(value):
        return ""
    if isinstance(value, float | np.floating) and float(value).is_integer():
        return str(int(value))
    return str(value)


def text_id(text: str) -> str:
    """The id of an item that has no other name than its text: a short text itself, or else a hash of it."""
    if len(text) <= _SHORT and text.isprintable() and text == text.strip():
        return text
    # Half a character, which JSON can hold, is refused with its row where the text itself is stored.
    return f"text-{hashlib.sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()[:12]}"


def is_nested(value: object) -> bool:
    """Whether the value is a list, an object or bytes, which JSON and Parquet can hold in a cell."""
    return isinstance(value, list | tuple | dict | set | bytes | np.ndarray)


def require_single(value: object, where: str) -> None:
    """Raise InvalidInput for a nested value."""
    if is_nested(value):
        raise InvalidInput(f"{where} holds {str(value)[:40]!r}, a nested value; give one text or number")


def plain_text(text: str, where: str) -> str:
    """The text. Raises InvalidInput for a NUL or a lone surrogate, which files and databases cannot store."""
    if "\0" in text or (not text.isascii() and any("\ud800" <= character <= "\udfff" for character in text)):
        raise InvalidInput(f"{where} holds a character that is no text: {text!r}")
    return text


def all_valid_ids(values: Sequence[Any]) -> bool:
    """Whether all are ASCII texts that are not blank, so valid ids: a fast check of a whole column."""
    if not all(type(value) is str for value in values):
        return False
    together = "".join(values)
    return all(map(str.strip, values)) and together.isascii() and "\0" not in together


def numbers(values: Sequence[Any], column: str) -> NDArray[np.float64]:
    """A column of numbers (n,). Raises InvalidInput, naming the first row that holds no finite number."""
    parsed = np.empty(len(values))
    for row, value in enumerate(values):
        if is_missing(value):
            raise InvalidInput(f"row {row + 1} of column {column!r} is empty; fill it in or leave the item out")
        try:
            if isinstance(value, str) and not looks_like_number(value) and not _NOT_FINITE.fullmatch(value.strip()):
                raise ValueError
            parsed[row] = float(value)
        except (TypeError, ValueError, OverflowError):
            raise InvalidInput(
                f"row {row + 1} of column {column!r} holds {value!r}, which is no number{_hint(value)}"
            ) from None
    bad = np.flatnonzero(~np.isfinite(parsed))
    if bad.size:
        raise InvalidInput(
            f"row {bad[0] + 1} of column {column!r} is {parsed[bad[0]]}; fill it in or leave the item out"
        )
    return parsed


def looks_like_number(text: str) -> bool:
    """Whether the text is a decimal number in ASCII digits; `float` also takes 1_000 and digits of other scripts."""
    return _NUMBER.fullmatch(text.strip()) is not None


def _hint(value: object) -> str:
    if not isinstance(value, str):
        return ""
    if _GROUPED.fullmatch(value.strip()):
        return "; leave out the separators of thousands, and write decimals with a point"
    return "; write the decimals with a point" if looks_like_number(value.replace(",", ".")) else ""


def all_numbers(values: Sequence[Any]) -> bool:
    """Whether every value of the column is a finite number."""
    try:
        numbers(values, "")
    except InvalidInput:
        return False
    return True


def text(name: str, value: Any) -> str:
    """A text argument, checked; `name` is what the error calls it."""
    if not isinstance(value, str):
        raise InvalidInput(f"{name} must be a text, not {value!r}")
    return plain_text(value, name)


def listed(name: str, value: Any) -> list[Any]:
    """What a list holds. Raises InvalidInput for anything else, also for a text, whose letters nobody means."""
    if isinstance(value, str | bytes | Mapping) or not isinstance(value, Iterable):
        raise InvalidInput(f"{name} must be a list, not {value!r}")
    return list(value)


def between(name: str, value: Any, least: float, most: float) -> float:
    """A number argument from `least` to `most`, checked; `name` is what the error calls it."""
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        raise InvalidInput(f"{name} must be a number, not {value!r}") from None
    if not least <= number <= most:
        raise InvalidInput(f"{name} must be a number from {least:g} to {most:g}, not {value!r}")
    return number


def whole(name: str, value: Any, least: int) -> int:
    """A whole-number argument of at least `least`, checked; `name` is what the error calls it."""
    try:
        number = operator.index(value)
    except TypeError:
        raise InvalidInput(f"{name} must be a whole number, not {value!r}") from None
    if not least <= number < 2**63:
        raise InvalidInput(f"{name} must be a whole number from {least} on, not {value!r}")
    return number
