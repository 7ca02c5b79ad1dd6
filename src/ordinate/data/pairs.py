"""Which pairs may be asked: every pair within the groups, or a list. Pairs are unordered, of rows of the items."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from ordinate.data.arrays import Integers

MOST_PAIRS = 200_000_000
"""Of more pairs than this (those of 20,000 items in one group), not all are evaluated."""


class Pool(Protocol):
    @property
    def size(self) -> int:
        """How many pairs there are."""

    def without(self, left: Integers, right: Integers) -> Self:
        """The pool less these pairs, whichever side is which."""

    def sample(self, count: int, rng: np.random.Generator) -> PairList:
        """`count` distinct pairs at random, all of them where there are no more."""

    def blocks(self) -> Iterator[PairList]:
        """Every pair once, a bounded number at a time, always in the same order."""

    def partners(self, item: int) -> Integers:
        """The rows of the items that this one is in a pair with, ascending."""


_BLOCK = 1 << 15
"""Pairs in a block: their rows, m, v and utility fit in a core's cache."""


class Listing:
    """Distinct pairs left[p], right[p], both (L,), in the order given, and the place of each."""

    def __init__(self, left: Integers, right: Integers) -> None:
        self.left, self.right = left, right
        self._inside: tuple[Integers, NDArray[np.bool_]] | None = None

    def __len__(self) -> int:
        return len(self.left)

    def find(self, left: Integers, right: Integers) -> Integers:
        """The place of each of some pairs, whichever side is which; -1 where it is not listed."""
        order, codes = self._sorted
        if not len(codes):
            return np.full(len(left), -1)
        wanted = pair_codes(left, right)
        at = np.minimum(np.searchsorted(codes, wanted), len(codes) - 1)
        return np.where(codes[at] == wanted, order[at], -1)

    def inside(self, group: Integers) -> NDArray[np.bool_]:
        """(L,) whether a pair is within a group; -1 and rows beyond are in none. Cached for the last group array."""
        if self._inside is None or self._inside[0] is not group:
            codes = np.full(max(len(group), 1 + int(max(self.left.max(initial=-1), self.right.max(initial=-1)))), -1)
            codes[: len(group)] = group
            self._inside = group, (codes[self.left] == codes[self.right]) & (codes[self.left] >= 0)
        return self._inside[1]

    @cached_property
    def _sorted(self) -> tuple[Integers, Integers]:
        codes = pair_codes(self.left, self.right)
        order = np.argsort(codes, kind="stable")
        return order, codes[order]


@dataclass(frozen=True, eq=False)
class PairList:
    """The pairs of a listing that `kept` (L,) marks. A list made from another one shares its listing."""

    listing: Listing
    kept: NDArray[np.bool_]

    @classmethod
    def of(cls, left: Integers, right: Integers) -> PairList:
        return cls(Listing(left, right), np.ones(len(left), dtype=np.bool_))

    @cached_property
    def left(self) -> Integers:
        """(P,)"""
        return self.listing.left[self.kept]

    @cached_property
    def right(self) -> Integers:
        """(P,)"""
        return self.listing.right[self.kept]

    @cached_property
    def size(self) -> int:
        return int(np.count_nonzero(self.kept))

    def without(self, left: Integers, right: Integers) -> PairList:
        if not len(left):
            return self
        places = self.listing.find(left, right)
        kept = self.kept.copy()
        kept[places[places >= 0]] = False
        return self._part(kept)

    def holds(self, left: Integers, right: Integers) -> NDArray[np.bool_]:
        """Which of some pairs are in the list, whichever side is which."""
        places = self.listing.find(left, right)
        held = places >= 0
        held[held] = self.kept[places[held]]
        return held

    def within(self, group: Integers) -> PairList:
        """The pairs whose two items are in one group (n,); -1 is no group, and items from n on are in none."""
        return self._part(self.kept & self.listing.inside(group))

    def _part(self, kept: NDArray[np.bool_]) -> PairList:
        part = PairList(self.listing, kept)
        return self if part.size == self.size else part

    def sample(self, count: int, rng: np.random.Generator) -> PairList:
        if count >= self.size:
            return self
        chosen = rng.choice(self.size, count, replace=False)
        return PairList.of(self.left[chosen], self.right[chosen])

    def blocks(self) -> Iterator[PairList]:
        for start in range(0, self.size, _BLOCK):
            yield PairList.of(self.left[start : start + _BLOCK], self.right[start : start + _BLOCK])

    def partners(self, item: int) -> Integers:
        return np.sort(np.concatenate([self.right[self.left == item], self.left[self.right == item]]))


def pair_codes(left: Integers, right: Integers) -> Integers:
    codes: Integers = (np.minimum(left, right) << 32) | np.maximum(left, right)
    return codes


def pairs_of_codes(codes: Integers) -> tuple[Integers, Integers]:
    """The smaller and the larger item of each pair."""
    return codes >> 32, codes & 0xFFFFFFFF


class Division(NamedTuple):
    """Items by group: the rows of each one, ascending; all of them in one array, and where each group begins there.

    sizes             (groups,)
    starts            (groups + 1,) the rank of each group's first pair, and their total
    number, position  (n,) the number of each item's group, and its place among the group's rows
    """

    rows: list[Integers]
    order: Integers
    begins: Integers
    sizes: Integers
    starts: Integers
    number: Integers
    position: Integers

    @classmethod
    def of(cls, group: Integers) -> Division:
        rows = members(group)
        sizes = np.array([len(one) for one in rows], dtype=np.int64)
        order = np.concatenate([np.empty(0, dtype=np.int64), *rows])
        begins = np.append(0, np.cumsum(sizes))
        number, position = np.zeros((2, len(group)), dtype=np.int64)
        number[order] = np.repeat(np.arange(len(rows)), sizes)
        position[order] = np.arange(len(order)) - np.repeat(begins[:-1], sizes)
        return cls(rows, order, begins, sizes, np.append(0, np.cumsum(sizes * (sizes - 1) // 2)), number, position)


@dataclass(frozen=True, eq=False)
class AllPairs:
    """Every pair of items of one group, less the masked ones; group (n,), -1 for items that are in no pair.

    A pair has a rank: groups one after another, in each the upper triangle row by row. `masked` holds ascending ranks.
    """

    group: Integers
    masked: Integers

    @classmethod
    def of(cls, group: Integers) -> AllPairs:
        return cls(group, np.empty(0, dtype=np.int64))

    @property
    def rows(self) -> list[Integers]:
        """The item rows of each group, ascending."""
        return self.division.rows

    @property
    def starts(self) -> Integers:
        """(groups + 1,) the rank of each group's first pair, and their total."""
        return self.division.starts

    @cached_property
    def division(self) -> Division:
        return Division.of(self.group)

    @property
    def size(self) -> int:
        return int(self.starts[-1]) - len(self.masked)

    def without(self, left: Integers, right: Integers) -> AllPairs:
        ranks = np.unique(self.ranks(PairList.of(left, right).within(self.group)))
        # Inserting a few is much faster than a union with what an annotator has seen in thousands of answers.
        place = np.searchsorted(self.masked, ranks)
        known = np.zeros(len(ranks), dtype=np.bool_)
        inside = place < len(self.masked)
        known[inside] = self.masked[place[inside]] == ranks[inside]
        pool = AllPairs(self.group, np.insert(self.masked, place[~known], ranks[~known]))
        pool.__dict__["division"] = self.division
        return pool

    def sample(self, count: int, rng: np.random.Generator) -> PairList:
        unmasked = np.arange(self.size) if count >= self.size else rng.choice(self.size, count, replace=False)
        # The r-th unmasked rank is r plus the masked ranks below it.
        below = np.searchsorted(self.masked - np.arange(len(self.masked)), unmasked, side="right")
        return self.pairs_of(unmasked + below)

    def blocks(self) -> Iterator[PairList]:
        for number, rows in enumerate(self.rows):
            begin, end = self.starts[number : number + 2].tolist()
            for start in range(begin, end, _BLOCK):
                stop = min(start + _BLOCK, end)
                first, second = _unrank_run(start - begin, stop - begin, len(rows))
                gone = self.masked[slice(*np.searchsorted(self.masked, [start, stop]))] - start
                if len(gone):
                    first, second = np.delete(first, gone), np.delete(second, gone)
                yield PairList.of(rows[first], rows[second])

    def partners(self, item: int) -> Integers:
        if self.group[item] < 0:
            return np.empty(0, dtype=np.int64)
        number = int(self.division.number[item])
        rows = self.rows[number]
        first, second = self.masked_in(number)
        gone = np.concatenate([rows[second[rows[first] == item]], rows[first[rows[second] == item]]])
        return np.setdiff1d(rows, np.append(gone, item), assume_unique=True)

    def masked_in(self, number: int) -> tuple[Integers, Integers]:
        """The masked pairs of one group as positions (first < second) in its rows, in order of rank."""
        first, last = np.searchsorted(self.masked, self.starts[number : number + 2])
        return self.positions(number, self.masked[first:last])

    def positions(self, number: int, ranks: Integers) -> tuple[Integers, Integers]:
        """The positions (first < second) in a group's rows of its pairs of these ranks."""
        return _unrank(ranks - self.starts[number], len(self.rows[number]))

    def ranks(self, pairs: PairList) -> Integers:
        """The ranks of pairs within the groups, whichever side is which."""
        number, position = self.division.number, self.division.position
        one, two = position[pairs.left], position[pairs.right]
        first, second = np.minimum(one, two), np.maximum(one, two)
        group = number[pairs.left]
        sizes = self.division.sizes[group]
        ranks: Integers = self.starts[group] + first * (2 * sizes - first - 1) // 2 + second - first - 1
        return ranks

    def holds(self, ranks: Integers) -> NDArray[np.bool_]:
        """Which of these ranks are not masked."""
        if not len(self.masked):
            return np.ones(len(ranks), dtype=np.bool_)
        place = np.minimum(np.searchsorted(self.masked, ranks), len(self.masked) - 1)
        kept: NDArray[np.bool_] = self.masked[place] != ranks
        return kept

    def pairs_of(self, ranks: Integers) -> PairList:
        """The pairs of these ranks."""
        division = self.division
        number = np.searchsorted(self.starts, ranks, side="right") - 1
        first, second = _unrank(ranks - self.starts[number], division.sizes[number])
        begin = division.begins[number]
        return PairList.of(division.order[begin + first], division.order[begin + second])


def _row_start(row: Integers, count: int | Integers) -> Integers:
    """The rank of the first pair of a row, in the upper triangle of `count` rows, row by row."""
    start: Integers = row * (2 * count - row - 1) // 2
    return start


def _unrank(ranks: Integers, count: int | Integers) -> tuple[Integers, Integers]:
    """Positions (first < second) of ranks in the upper triangles of `count` rows, row by row."""
    # The root of _row_start(first) = rank in floating point, which is off by less than one row.
    first = (count - 0.5 - np.sqrt(np.maximum((count - 0.5) ** 2 - 2.0 * ranks, 0.0))).astype(np.int64)
    first -= _row_start(first, count) > ranks
    first += _row_start(first + 1, count) <= ranks
    return first, ranks - _row_start(first, count) + first + 1


def _unrank_run(start: int, stop: int, count: int) -> tuple[Integers, Integers]:
    """`_unrank` of the ranks start..stop - 1, by row instead of by pair."""
    (top, bottom), _ = _unrank(np.array([start, stop - 1]), count)
    rows = np.arange(top, bottom + 1)
    pairs = np.diff(np.minimum(np.maximum(_row_start(np.append(rows, bottom + 1), count), start), stop))
    return np.repeat(rows, pairs), np.arange(start, stop) + np.repeat(rows + 1 - _row_start(rows, count), pairs)


def members(group: Integers) -> list[Integers]:
    """The rows of each group, ascending; -1 marks items that belong to none (excluded)."""
    order = np.argsort(group, kind="stable")
    order = order[np.searchsorted(group[order], 0) :]
    return np.split(order, np.flatnonzero(np.diff(group[order])) + 1) if len(order) else []
