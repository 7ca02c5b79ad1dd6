"""A row of the table of data sets: how to load a data set, where it comes from, what its folder contains."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from ordinate.datasets.dataset import Dataset
from ordinate.datasets.layout import Expected


class Remote(NamedTuple):
    """A published file: its local name, its address, and the SHA-256 of its bytes."""

    name: str
    url: str
    sha256: str


class Source(NamedTuple):
    """A row of the table.

    load            makes the data set; if `expects` is not empty, its only argument is the folder
    origin          where to get the data
    items, answers  numbers in the paper's experiment; None if the user chooses them
    sampled         whether the paper's items are drawn from the data set for each run
    columns         number of principal components that the paper keeps of the features
    r_squared       share of the truth's variance that a ridge regression on these components explains in the paper
    expects         the required and optional files of the folder
    remote          files that the licence allows to download, at permanent addresses
    """

    load: Callable[..., Dataset]
    summary: str
    origin: str
    licence: str
    items: int | None = None
    answers: int | None = None
    sampled: bool = False
    columns: int | None = None
    r_squared: float | None = None
    expects: tuple[Expected, ...] = ()
    remote: tuple[Remote, ...] = ()
