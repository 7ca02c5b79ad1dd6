"""The result of a study: items from the highest score to the lowest."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np

from ordinate.data.arrays import Floats, Integers
from ordinate.data.tables import columns_to_frame


class Interval(NamedTuple):
    """An estimate, and the interval in which the truth is with some probability."""

    estimate: float
    low: float
    high: float


class RankIntervals(NamedTuple):
    """How sure each rank is, (n,) each; see `ordinate.learning.ranks`.

    low, high    the rank is in this interval with a probability of 90 %
    best         the probability that the item ranks first in its group
    tied_low, tied_high  the ranks of the neighbours in order from which the item cannot be told apart with 90 %
    """

    low: Integers
    high: Integers
    best: Floats
    tied_low: Integers
    tied_high: Integers

    def of(self, rows: Integers) -> RankIntervals:
        """Those of some of the items."""
        return RankIntervals(
            self.low[rows], self.high[rows], self.best[rows], self.tied_low[rows], self.tied_high[rows]
        )


@dataclass(frozen=True, eq=False)
class Ordering:
    """The result: items from the highest score to the lowest, group after group.

    scores           centred: 0 is the mean of the study's items (of the item's group where there are groups)
    standard_errors  of score minus that mean, under the model
    intervals        of the ranks; None where items outside the study are among those ordered
    """

    ids: tuple[str, ...]
    scores: Floats
    standard_errors: Floats
    group: tuple[str, ...] | None = None
    intervals: RankIntervals | None = None

    def __len__(self) -> int:
        return len(self.ids)

    def __repr__(self) -> str:
        shown = ", ".join(f"{name} {score:+.2f}" for name, score in zip(self.ids[:3], self.scores[:3], strict=True))
        return f"Ordering({len(self)} items: {shown}{', ...' if len(self) > 3 else ''})"

    @property
    def ranks(self) -> Integers:
        """1 for the highest score; starts again in each group."""
        if self.group is None:
            return np.arange(1, len(self.ids) + 1)
        seen: dict[str, int] = {}
        ranks = np.empty(len(self.ids), dtype=np.int64)
        for row, name in enumerate(self.group):
            ranks[row] = seen[name] = seen.get(name, 0) + 1
        return ranks

    def to_columns(self) -> dict[str, list[Any]]:
        columns: dict[str, list[Any]] = {"rank": self.ranks.tolist(), "id": list(self.ids)}
        if self.group is not None:
            columns["group"] = list(self.group)
        columns["score"] = self.scores.tolist()
        columns["standard_error"] = self.standard_errors.tolist()
        if self.intervals is not None:
            columns |= {f"rank_{name}": values.tolist() for name, values in self.intervals._asdict().items()}
        return columns

    def to_frame(self, backend: Literal["polars", "pandas"] = "polars") -> Any:
        """A native frame with the columns rank, id, group (where there are groups), score, standard_error, and those of
        the rank intervals: rank_low, rank_high, rank_best, rank_tied_low, rank_tied_high."""
        return columns_to_frame(self.to_columns(), backend)

    def save(self, path: str | Path) -> None:
        """Write to .csv, .tsv, .json, .jsonl or .parquet; the file is written completely or not at all."""
        from ordinate.data.formats import write_columns

        write_columns(path, self.to_columns())
