"""The fold: what a log says, entry by entry. Everything about a study follows from its items, its settings and this.

An undo is an entry like any other, so an answer taken back, an item excluded and included again, another process's
answers and a study opened anew all come out of the same few rules.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np

from ordinate.errors import InvalidInput, NotAStudy, NothingToUndo, UnknownItem
from ordinate.search import AllPairs
from ordinate.storage import Entry
from ordinate.types import ANSWERS, CONTENT_KINDS, OUTCOME_VALUES, Comparison, Floats, Integers, Items


class State:
    """What the entries so far amount to.

    position             of the last entry
    items, rows, group   all items, id -> row, and the code of each item's group (n,)
    queries              the `ask` entries: query number k is queries[k - 1]
    answered             query number -> its `answer` entry, unless taken back
    withdrawn            numbers of withdrawn queries
    epoch                rises whenever the effective comparisons change in another way than by growing at the end
    items_epoch          rises whenever the items, or which of them are excluded, change
    """

    def __init__(self) -> None:
        self.position = 0
        self.items = Items(ids=())
        self.rows: dict[str, int] = {}
        self.group: Integers = np.empty(0, dtype=np.int64)
        self.queries: list[Entry] = []
        self.answered: dict[int, Entry] = {}
        self.withdrawn: set[int] = set()
        self.excluded_items: dict[str, None] = {}
        self.excluded_annotators: dict[str, None] = {}
        self.epoch = 0
        self.items_epoch = 0
        self._group_codes: dict[str, int] = {}
        self._open: dict[int, Entry] = {}
        self._told: dict[str | None, list[int]] = {}
        # Answers, skips and records that were not taken back, by position.
        self._live: dict[int, Entry] = {}
        self.forget()

    def forget(self) -> None:
        """Drop what was only kept to be fast."""
        self.items_epoch += 1
        self._active: Integers | None = None
        self._all_pairs: AllPairs | None = None
        self._seen: dict[str | None, Comparisons] = {}
        self._unseen: dict[str | None, tuple[int, AllPairs]] = {}
        self._forget_effective()

    def _forget_effective(self) -> None:
        self.epoch += 1
        self._effective: Comparisons | None = None

    def apply(self, entries: Iterable[Entry], items: Callable[[int], Items]) -> None:
        """Take in the next entries; `items` gives the items that an add-items entry added.

        Raises NotAStudy where an entry does not fit those before it; the state is of no use then.
        """
        for entry in entries:
            if entry.position != self.position + 1:
                raise NotAStudy(f"the log is damaged: entry {entry.position} follows entry {self.position}")
            try:
                self._apply(entry, items)
            except (LookupError, TypeError, ValueError) as error:
                raise NotAStudy(f"the log is damaged: entry {entry.position} does not fit those before it") from error
            self.position = entry.position

    def _apply(self, entry: Entry, items: Callable[[int], Items]) -> None:
        match entry.kind:
            case "ask":
                self.queries.append(entry)
                number = len(self.queries)
                if entry.query != number:
                    raise ValueError(f"query {entry.query} comes where {number} should")
                self._require_items(entry)
                self._open[number] = entry
            case "answer":
                number = _number(entry)
                del self._open[number]
                self.answered[number] = entry
                self._told.setdefault(entry.annotator, []).append(number)
                self._add(entry)
            case "withdraw":
                number = _number(entry)
                del self._open[number]
                self.withdrawn.add(number)
            case "retract":
                self._retract(_number(entry))
            case "record":
                self._add(entry)
            case "add-items":
                self._add_items(items(entry.position))
            case "exclude-item":
                self.excluded_items[self.items.ids[self.rows[_text(entry.left)]]] = None
                self.forget()
            case "include-item":
                del self.excluded_items[_text(entry.left)]
                self.forget()
            case "exclude-annotator":
                self.excluded_annotators[_text(entry.annotator)] = None
                self._forget_effective()
            case "include-annotator":
                del self.excluded_annotators[_text(entry.annotator)]
                self._forget_effective()
            case _:
                raise ValueError(f"unknown kind {entry.kind!r}")

    def _require_items(self, entry: Entry) -> None:
        if entry.left not in self.rows or entry.right not in self.rows:
            raise LookupError(f"no items {entry.left!r}, {entry.right!r}")

    def _add(self, entry: Entry) -> None:
        self._require_items(entry)
        if entry.answer not in ANSWERS:
            raise ValueError(f"unknown answer {entry.answer!r}")
        self._live[entry.position] = entry
        if self._effective is not None and self._counts(entry):
            self._effective.add(entry, self.rows)
        if (seen := self._seen.get(entry.annotator)) is not None:
            seen.add(entry, self.rows)

    def _retract(self, number: int) -> None:
        answer = self.answered.pop(number)
        self._told[answer.annotator].remove(number)
        del self._live[answer.position]
        self._open[number] = self.queries[number - 1]
        self._seen.pop(answer.annotator, None)
        self._unseen.pop(answer.annotator, None)
        if self._counts(answer):
            self._forget_effective()

    def _add_items(self, added: Items) -> None:
        self.items = joined(self.items, added) if self.rows else added
        for item in added.ids:
            self.rows[item] = len(self.rows)
        names = ("",) * len(added) if added.group is None else added.group
        codes = [self._group_codes.setdefault(name, len(self._group_codes)) for name in names]
        self.group = np.concatenate([self.group, np.array(codes, dtype=np.int64)])
        self.forget()

    @property
    def active(self) -> Integers:
        """(n,) the code of each item's group, -1 where the item is excluded."""
        if self._active is None:
            self._active = self.group.copy()
            self._active[[self.rows[item] for item in self.excluded_items]] = -1
        return self._active

    @property
    def all_pairs(self) -> AllPairs:
        """Every pair that can be asked."""
        if self._all_pairs is None:
            self._all_pairs = AllPairs.of(self.active)
        return self._all_pairs

    @property
    def effective(self) -> Comparisons:
        """The comparisons that count, in the order of the log."""
        if self._effective is None:
            self._effective = Comparisons(filter(self._counts, self._live.values()), self.rows)
        return self._effective

    def seen(self, annotator: str | None) -> Comparisons:
        """What this annotator answered, skipped or had recorded."""
        if annotator not in self._seen:
            own = (entry for entry in self._live.values() if entry.annotator == annotator)
            self._seen[annotator] = Comparisons(own, self.rows)
        return self._seen[annotator]

    def unseen(self, annotator: str | None) -> AllPairs:
        """All pairs less those that the annotator has seen."""
        seen = self.seen(annotator)
        done, pool = self._unseen.get(annotator, (0, self.all_pairs))
        if done < len(seen):
            left, right = seen.pairs
            pool = pool.without(left[done:], right[done:])
            self._unseen[annotator] = len(seen), pool
        return pool

    def open(self) -> list[Entry]:
        """The queries that wait for an answer, oldest first, without those of excluded items and annotators."""
        return [self._open[number] for number in sorted(self._open) if self._included(self._open[number])]

    def newest_told(self, annotator: str | None) -> Entry:
        """The query that this annotator answered or skipped last. Raises NothingToUndo."""
        told = self._told.get(annotator)
        if not told:
            whose = "without a name" if annotator is None else f"of annotator {annotator!r}"
            others = [repr(name) if name else "nobody named" for name, numbers in self._told.items() if numbers]
            hint = f"; there are answers of {', '.join(others[:5])}" if others else ""
            raise NothingToUndo(f"there is no answer {whose} that could be taken back{hint}")
        return self.queries[told[-1] - 1]

    def annotators(self) -> dict[str | None, int]:
        """How many answers each annotator gave, skips and what was taken back aside."""
        counts: dict[str | None, int] = {}
        for entry in self._live.values():
            if entry.answer != "skip":
                counts[entry.annotator] = counts.get(entry.annotator, 0) + 1
        return counts

    def knows_annotator(self, name: str | None) -> bool:
        return any(entry.annotator == name for entries in (self.queries, self._live.values()) for entry in entries)

    def row(self, item: str, where: str = "") -> int:
        """The row of an item. Raises UnknownItem; `where` opens the message."""
        if item not in self.rows:
            raise UnknownItem(f"{where}the study has no item {item!r}")
        return self.rows[item]

    def pairs(self, entries: Sequence[Entry]) -> tuple[Integers, Integers]:
        """The rows of the items of entries."""
        left = np.array([self.rows[_text(entry.left)] for entry in entries], dtype=np.int64)
        return left, np.array([self.rows[_text(entry.right)] for entry in entries], dtype=np.int64)

    def check_pair(self, comparison: Comparison, where: str = "") -> None:
        """Raise where this study cannot hold the comparison; `where` opens the message."""
        left, right = self.row(comparison.left, where), self.row(comparison.right, where)
        if self.group[left] != self.group[right] and self.items.group is not None:
            raise InvalidInput(
                f"{where}item {comparison.left!r} is in group {self.items.group[left]!r} and {comparison.right!r} in "
                f"{self.items.group[right]!r}; only items of one group are compared"
            )

    def group_codes(self, items: Items) -> Integers:
        """(m,) the codes of the groups of other items; groups that the study does not have get further codes."""
        _require_same_grouping(self.items, items)
        codes = dict(self._group_codes)
        names = ("",) * len(items) if items.group is None else items.group
        return np.array([codes.setdefault(name, len(codes)) for name in names], dtype=np.int64)

    def _counts(self, entry: Entry) -> bool:
        return entry.answer != "skip" and self._included(entry)

    def _included(self, entry: Entry) -> bool:
        return not (
            entry.annotator in self.excluded_annotators
            or entry.left in self.excluded_items
            or entry.right in self.excluded_items
        )


class Comparisons:
    """Answers as entries, and as columns that grow at the end: a view of the first k stays what it was."""

    def __init__(self, entries: Iterable[Entry], rows: dict[str, int]) -> None:
        self.entries: list[Entry] = []
        self._pairs = np.empty((2, 64), dtype=np.int64)
        self._outcomes = np.empty(64)
        for entry in entries:
            self.add(entry, rows)

    def __len__(self) -> int:
        return len(self.entries)

    def add(self, entry: Entry, rows: dict[str, int]) -> None:
        place = len(self.entries)
        if place == len(self._outcomes):
            self._pairs = np.concatenate([self._pairs, np.empty_like(self._pairs)], axis=1)
            self._outcomes = np.concatenate([self._outcomes, np.empty_like(self._outcomes)])
        self._pairs[0, place] = rows[_text(entry.left)]
        self._pairs[1, place] = rows[_text(entry.right)]
        self._outcomes[place] = OUTCOME_VALUES.get(_text(entry.answer), np.nan)
        self.entries.append(entry)

    def first(self, count: int) -> tuple[Integers, Integers, Floats]:
        """Left rows, right rows, and outcomes: 1 left, 0 right, 0.5 a tie."""
        return self._pairs[0, :count], self._pairs[1, :count], self._outcomes[:count]

    @property
    def pairs(self) -> tuple[Integers, Integers]:
        return self._pairs[0, : len(self)], self._pairs[1, : len(self)]


def joined(old: Items, new: Items) -> Items:
    """Both in one. Raises InvalidInput where the new ones do not fit the old ones."""
    known = set(old.ids)
    for item in new.ids:
        if item in known:
            raise InvalidInput(f"the study has an item {item!r} already; leave it out, or give the new one another id")
    require_same_features(old, new)
    _require_same_grouping(old, new)
    return Items(
        ids=(*old.ids, *new.ids),
        features=np.concatenate([old.features, new.features]),
        feature_names=old.feature_names,
        group=None if old.group is None or new.group is None else (*old.group, *new.group),
        content={
            kind: (*old.content.get(kind, (None,) * len(old)), *new.content.get(kind, (None,) * len(new)))
            for kind in CONTENT_KINDS
            if kind in old.content or kind in new.content
        },
    )


def require_same_features(old: Items, new: Items) -> None:
    if new.features.shape[1] != old.features.shape[1]:
        raise InvalidInput(
            f"these items have {new.features.shape[1]} feature columns; those of the study have {old.features.shape[1]}"
        )
    if new.feature_names != old.feature_names:
        raise InvalidInput(
            f"these items have {_named(new)}; those of the study have {_named(old)}: give the same ones, in that order"
        )


def _require_same_grouping(old: Items, new: Items) -> None:
    if old.group is None and new.group is not None:
        raise InvalidInput("the study has no groups; leave the groups of these items out")
    if old.group is not None and new.group is None:
        raise InvalidInput("the study has groups; give each of these items its group")


def _named(items: Items) -> str:
    return "unnamed features" if items.feature_names is None else f"the features {', '.join(items.feature_names)}"


def _number(entry: Entry) -> int:
    if entry.query is None:
        raise TypeError("no query number")
    return entry.query


def _text(value: str | None) -> str:
    if value is None:
        raise TypeError("no text")
    return value
