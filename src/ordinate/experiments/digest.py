"""A digest of a task's data, by which rows that were made of other data are told apart.

It is of what was read or drawn. What was computed from that, such as principal components, fitted scores or X theta,
differs in its last digits from one kind of processor to another, and rows are continued on any machine. So it is left
out: a data set says what it was computed from (`Dataset.computed`), and a task which of its fields follow from others.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any

import numpy as np

from ordinate.datasets import Dataset

FOLLOWS = {"follows": True}
"""Metadata of a field of a task that is computed from its other fields."""


def digest(value: Any, *, computed: bool = False) -> str:
    """A hash of a task and its data, the same in every process; `computed`: also of what was computed from these."""
    hashed = hashlib.sha256()
    _feed(hashed.update, value, None if computed else ())
    return hashed.hexdigest()[:16]


def _feed(update: Callable[[bytes], None], value: Any, left_out: Collection[str] | None) -> None:
    """left_out: fields of a data set and its items that were computed; None: nothing is left out."""
    if is_dataclass(value) and not isinstance(value, type):
        update(type(value).__name__.encode())
        if isinstance(value, Dataset):
            value = replace(value, notes=())  # sentences for people, which may be put in other words
            left_out = None if left_out is None else value.computed.keys()
        for field in fields(value):
            if left_out is None:
                if field.name == "computed":
                    continue
            elif field.name in left_out or field.metadata.get("follows"):
                continue
            update(field.name.encode())
            _feed(update, getattr(value, field.name), left_out)
    elif isinstance(value, np.ndarray):
        update(f"{value.dtype.str}{value.shape}".encode())
        update(np.ascontiguousarray(value).tobytes())
    elif isinstance(value, Mapping):
        _feed(update, list(value.items()), left_out)
    elif isinstance(value, tuple | list):
        update(f"({len(value)}".encode())
        for one in value:
            _feed(update, one, left_out)
    elif isinstance(value, bytes):
        update(value)
    elif value is None or isinstance(value, str | int | float):
        update(f"{type(value).__name__}{value!r};".encode())
    else:
        raise TypeError(f"a task holds {type(value).__name__}, which has no digest")
