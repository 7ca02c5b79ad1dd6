"""The result of a study: items from the highest score to the lowest."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from ordinate.data.arrays import Floats, Integers
from ordinate.data.tables import columns_to_frame

if TYPE_CHECKING:
    from ordinate.data.items import Items

REACH = 1.6449
"""90 % of a normal distribution are within so many standard deviations."""


def rank_in_words(rank: int, low: int, high: int) -> str:
    """ "4 (2 to 7)": a rank, and the ranks that are likely; "4" where no other is."""
    return str(rank) if low == rank == high else f"{rank} ({low} to {high})"


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


class Grades(NamedTuple):
    """Items in grades, each a stretch of ranks; see `ordinate.learning.grades`.

    cuts         the last rank of each grade but the last one
    grade        (n,) from 1, the grade of the highest scores
    probability  (n,) that the item's true rank is in its grade
    misplaced    share of items in the wrong grade, with an interval of 90 %
    by_grade     the same of the items of each grade
    withheld     why these shares are not to be believed, so that they are not shown; None where they are
    """

    cuts: tuple[int, ...]
    grade: Integers
    probability: Floats
    misplaced: Interval
    by_grade: tuple[Interval, ...]
    withheld: str | None = None

    def rows(self) -> list[dict[str, Any]]:
        """Each grade with its first and last rank and the share of its items that are in the wrong grade, which is
        None where it is withheld."""
        return [
            {
                "grade": place + 1,
                "first": self.cuts[place - 1] + 1 if place else 1,
                "last": self.cuts[place] if place < len(self.cuts) else None,
                "items": int((self.grade == place + 1).sum()),
                "misplaced": estimate,
                "misplaced_low": low,
                "misplaced_high": high,
            }
            for place, (estimate, low, high) in enumerate(
                self.by_grade if self.withheld is None else [(None, None, None)] * len(self.by_grade)
            )
        ]

    def of(self, rows: Integers) -> Grades:
        """Those of some of the items; the shares stay those of all."""
        return self._replace(grade=self.grade[rows], probability=self.probability[rows])


Measure = Literal["recall", "right side", "right grade"]


class Selection(NamedTuple):
    """Which items are wanted where a study has an aim, and how surely; see `ordinate.learning.selection`.

    aim         such as ("top:10",) or ("above:a", "above:b")
    measure     of what `right` is the share: of the wanted items those that are shown as such; with marks, of all items
                but the marks those on the right side of the mark, or in the right one of the grades between marks
    part        (n,) 1: the item is among the wanted ones; 2: it is not; of grades their number, from the top
    membership  (n,) the probability that the item is wanted; of grades, that it is in its grade
    right       the expected share, with an interval of 90 %; None: withheld
    withheld    why; None where it is not
    """

    aim: tuple[str, ...]
    measure: Measure
    part: Integers
    membership: Floats
    right: Interval | None
    withheld: str | None

    def of(self, rows: Integers) -> Selection:
        """Those of some of the items; the share stays that of all."""
        return self._replace(part=self.part[rows], membership=self.membership[rows])

    def fields(self) -> dict[str, Any]:
        """What the command line and the API say of it."""
        right, low, high = self.right or (None, None, None)
        return {
            "aim": list(self.aim),
            "wanted": int((self.part == 1).sum()),
            "measure": self.measure,
            "expected": right,
            "expected_low": low,
            "expected_high": high,
            "withheld": self.withheld,
        }


class StudyRanks(NamedTuple):
    """Ranks that given items have, or would have, among the study's items of their group, (m,) each.

    low, high  the rank is in this interval with a probability of 90 %
    """

    rank: Integers
    low: Integers
    high: Integers

    def of(self, rows: Integers) -> StudyRanks:
        """Those of some of the items."""
        return StudyRanks(self.rank[rows], self.low[rows], self.high[rows])


class Ranked(NamedTuple):
    """An item in an ordering."""

    id: str
    rank: int
    score: float
    standard_error: float
    group: str | None = None


@dataclass(frozen=True, eq=False)
class Ordering:
    """The result: items from the highest score to the lowest, group after group.

    scores           centred: 0 is the mean of the study's items (of the item's group where there are groups)
    standard_errors  of score minus that mean, under the model
    intervals        of the ranks; None where other items than the study's own are ordered
    error            the expected ordering error with an interval of 90 %; None likewise
    grades           where cuts between grades were given, or the study's rules have some
    selection        where the study has an aim other than the whole order
    study_ranks      of given items, where they belong among the study's own; else None
    items            what is ordered, for its pictures and texts in a notebook; a copy in another process has None
    """

    ids: tuple[str, ...]
    scores: Floats
    standard_errors: Floats
    group: tuple[str, ...] | None = None
    intervals: RankIntervals | None = None
    error: Interval | None = None
    grades: Grades | None = None
    selection: Selection | None = None
    study_ranks: StudyRanks | None = None
    items: Items | None = None

    def __len__(self) -> int:
        return len(self.ids)

    def __iter__(self) -> Iterator[Ranked]:
        """The items from the highest score to the lowest, group after group."""
        group = self.group or [None] * len(self)
        return map(Ranked, self.ids, self.ranks.tolist(), self.scores.tolist(), self.standard_errors.tolist(), group)

    def __repr__(self) -> str:
        shown = ", ".join(f"{name} {score:+z.2f}" for name, score in zip(self.ids[:3], self.scores[:3], strict=True))
        return f"Ordering({len(self)} items: {shown}{', ...' if len(self) > 3 else ''})"

    def _repr_html_(self) -> str:
        from ordinate.data.html_tables import ordering_table

        return ordering_table(self)

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"items": None}

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
        columns["score"] = (self.scores + 0.0).tolist()  # without negative zeros
        columns["standard_error"] = self.standard_errors.tolist()
        if self.intervals is not None:
            columns |= {f"rank_{name}": values.tolist() for name, values in self.intervals._asdict().items()}
        if self.grades is not None:
            columns |= {"grade": self.grades.grade.tolist(), "grade_probability": self.grades.probability.tolist()}
        if self.selection is not None:
            columns |= {"part": self.selection.part.tolist(), "membership": self.selection.membership.tolist()}
        if self.study_ranks is not None:
            reach = REACH * self.standard_errors
            columns |= {"score_low": (self.scores - reach).tolist(), "score_high": (self.scores + reach).tolist()}
            names = ("study_rank", "study_rank_low", "study_rank_high")
            columns |= {name: values.tolist() for name, values in zip(names, self.study_ranks, strict=True)}
        return columns

    def to_frame(self, backend: Literal["polars", "pandas"] | None = None) -> Any:
        """A native frame; where no library is named, of polars, or else of pandas.

        The columns are rank, id, group (where there are groups), score, standard_error; of the study's own items those
        of the rank intervals, rank_low, rank_high, rank_best, rank_tied_low, rank_tied_high, where there are grades
        grade and grade_probability, and where there is an aim part and membership; of other items score_low,
        score_high, study_rank, study_rank_low and study_rank_high.
        """
        alone = find_spec("polars") is None and find_spec("pandas") is not None
        return columns_to_frame(self.to_columns(), backend or ("pandas" if alone else "polars"))

    def save(self, path: str | Path) -> None:
        """Write to .csv, .tsv, .json, .jsonl, .parquet or .xlsx; the file is written completely or not at all."""
        from ordinate.data.formats import write_columns

        write_columns(path, self.to_columns())
