"""What the table of data sets says about each: how it is made or read, where it comes from, what its folder holds."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from ordinate.datasets.dataset import Dataset
from ordinate.datasets.layout import Expected


class Remote(NamedTuple):
    """A published file: the name it gets, the address that serves it, and the SHA-256 of its bytes."""

    name: str
    url: str
    sha256: str


class Source(NamedTuple):
    """A row of the table.

    load     makes the data set; where `expects` is not empty, it takes the folder and nothing else
    items    how many there are in the paper's experiment, and likewise answers; None where that is yours to choose
    expects  the files that the folder must, or may, hold
    remote   files that the licence lets anyone fetch, at an address that stays
    """

    load: Callable[..., Dataset]
    summary: str
    origin: str
    licence: str
    items: int | None = None
    answers: int | None = None
    expects: tuple[Expected, ...] = ()
    remote: tuple[Remote, ...] = ()
