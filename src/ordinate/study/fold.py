"""The fold: from the entries of a log to a state. All that is known of a study follows from its settings and its log.

An undo is an entry like any other. So the same few rules handle an answer taken back, an item excluded and included
again, answers from another process, and a study that is opened again.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from ordinate.data.arrays import Integers
from ordinate.data.comparisons import Answer, Comparison
from ordinate.data.items import Items
from ordinate.data.joining import joined, require_same_grouping
from ordinate.data.lookalikes import suggestion
from ordinate.data.names import annotator_name, caseless
from ordinate.data.pairs import AllPairs
from ordinate.errors import InvalidInput, NotAStudy, NothingToUndo, UnknownItem
from ordinate.storage import BEYOND_BUDGET, Entry, Recorded
from ordinate.study.changes import is_change
from ordinate.study.comparisons import CODES, Comparisons
from ordinate.study.machines import Machine
from ordinate.study.rules import Rules, changed


class Pair(Protocol):
    """Two items, and the annotator who is, was or may be asked about them: an entry, or an offer."""

    @property
    def left(self) -> str | None: ...
    @property
    def right(self) -> str | None: ...
    @property
    def annotator(self) -> str | None: ...


class Version(NamedTuple):
    """See `State.version`."""

    items_epoch: int
    change: int
    answers: int


class State:
    """What follows from the entries so far.

    position             of the last entry
    items, rows, group   all items, id -> row, and the code of each item's group (n,)
    queries              the `ask` entries: query number k is queries[k - 1]
    answered             query number -> its `answer` entry, unless taken back
    withdrawn            numbers of withdrawn queries
    expired              numbers of queries whose lease ended before there was an answer
    overdue              numbers of queries whose lease ended once, whatever came after that
    leases               query number -> when its lease ends, of open queries that have one
    queries_of_pair      two ids in order -> numbers of the queries that asked the pair
    newest_asked         annotator -> the number of their newest query
    repeats              numbers of the queries that repeat an earlier pair on purpose
    practices            the `practice` entries: practice pair number k is practices[k - 1]
    practised            practice pair number -> its `practised` entry
    keys                 key of an answer -> its `answer` entry, also where the answer was taken back
    rules                what the owner has set
    chosen_rules         names of those that somebody has set
    finished             the rule by which the study was finished, unless its rules or items changed since, or answers
                         were taken back; else None
    unfinished_since     the position of the last entry that did so
    names                every name that an annotator has had
    machines             name -> the model that answers under this name
    tokens               name -> how many tokens the replies of this model took
    owners_entries       what owners did, oldest first; see changes.py
    owners               names of owners that an entry has, also of one that is no such deed
    links, revoked       id -> `link` entry, and the ids of the revoked links
    linked               name that an owner made links for -> their roles
    claimed              names that annotators gave, who got links for them
    items_epoch          rises whenever items are added, excluded or included
    """

    def __init__(self, rules: Rules, only: Collection[str | None] | None = None) -> None:
        """Before the first entry. `rules`: those that the study was created with; `only`: whose answers count, None:
        everybody's."""
        self.only = only
        self.position = 0
        self.items = Items(ids=())
        self.rows: dict[str, int] = {}
        self.group: Integers = np.empty(0, dtype=np.int64)
        self.queries: list[Entry] = []
        self.answered: dict[int, Entry] = {}
        self.withdrawn: set[int] = set()
        self.expired: set[int] = set()
        self.overdue: set[int] = set()
        self.leases: dict[int, str] = {}
        self.queries_of_pair: dict[tuple[str, str], list[int]] = {}
        self.newest_asked: dict[str | None, int] = {}
        self.repeats: list[int] = []
        self.practices: list[Entry] = []
        self.practised: dict[int, Entry] = {}
        self.keys: dict[str, Entry] = {}
        self.rules = rules
        self.chosen_rules: set[str] = set()
        self.finished: str | None = None
        self.unfinished_since = 0
        self.names: set[str] = set()
        self.machines: dict[str, Machine] = {}
        self.tokens: dict[str, int] = {}
        self.owners_entries: list[Entry] = []
        self.owners: set[str] = set()
        self.links: dict[str, Entry] = {}
        self.revoked: set[str] = set()
        self.linked: dict[str, set[str]] = {}
        self.claimed: set[str] = set()
        self.excluded_items: dict[str, None] = {}
        self.excluded_annotators: dict[str, None] = {}
        self.items_epoch = 0
        self._growth: list[tuple[int, int]] = []  # where items were added: the position, and how many there were before
        self._group_codes: dict[str, int] = {}
        self._names: dict[str, str] = {}  # a name without case -> the first such name
        self._open: dict[int, Entry] = {}
        self._answered_by: dict[str | None, list[int]] = {}
        self._answers_of: dict[str | None, int] = {}
        # Answers, skips and records; the positions of those that were taken back, and of those beyond the budget.
        self._given = Comparisons()
        self._taken_back: set[int] = set()
        self._beyond_budget: set[int] = set()
        self._numbers: dict[str | None, int] = {}  # of the annotators in `_given`
        # Changes of the effective comparisons other than growth: from which one on, and the number of the change. Both
        # ascend, since a change makes those of later comparisons irrelevant.
        self._changes: list[tuple[int, int]] = []
        self._changed = 0
        self.drop_caches()

    def drop_caches(self) -> None:
        """Drop what is kept only for speed."""
        self.items_epoch += 1
        self._active: Integers | None = None
        self._all_pairs: AllPairs | None = None
        self._seen: dict[str | None, Comparisons] = {}
        # What `mixing` found of the answers of models, and by what.
        self.told_by_models: tuple[object, Integers, Integers] | None = None
        self._forget_makers()
        self._drop_effective()

    def _forget_makers(self) -> None:
        self._own: dict[str, set[int]] | None = None  # a name without case -> the rows of what they made
        self._judgeable: dict[str | None, AllPairs] = {}
        self._unseen: dict[str | None, tuple[int, AllPairs]] = {}

    def _drop_effective(self) -> None:
        self._change(0)
        self._effective: Comparisons | None = None
        self._leaving: list[int] = []  # positions of answers in it that were taken back: they leave it all at once

    def _change(self, first: int) -> None:
        """The effective comparisons from this one on are others."""
        while self._changes and self._changes[-1][0] >= first:
            self._changes.pop()
        self._changed += 1
        self._changes.append((first, self._changed))

    def version(self, count: int) -> Version:
        """What the items and the first `count` effective comparisons are known by: others have another version."""
        before = bisect_left(self._changes, (count, 0))
        return Version(self.items_epoch, self._changes[before - 1][1] if before else 0, count)

    def apply(self, parts: Iterable[Entry | Recorded], items: Callable[[int], Items]) -> None:
        """Fold the next entries in; `items` gives the items that the add-items entry at a position added.

        Raises NotAStudy where an entry does not fit those before it; the state must not be used after that.
        """
        for part in parts:
            if part.position != self.position + 1:
                raise NotAStudy(f"the log is damaged: entry {part.position} follows entry {self.position}")
            try:
                if isinstance(part, Recorded):
                    self._record(part)
                    self.position += len(part.left)
                else:
                    self._apply(part, items)
                    self.position += 1
            except (LookupError, TypeError, ValueError) as error:
                raise NotAStudy(f"the log is damaged: entry {part.position} does not fit those before it") from error

    def _record(self, recorded: Recorded) -> None:
        total = len(recorded.left)
        for name in dict.fromkeys(recorded.annotator):
            self._name(name)
            self._numbers.setdefault(name, len(self._numbers))
        columns = (
            np.arange(recorded.position, recorded.position + total),
            _looked_up(self.rows, recorded.left),
            _looked_up(self.rows, recorded.right),
            _looked_up(self._numbers, recorded.annotator),
            _looked_up(CODES, recorded.answer),
        )
        added = Comparisons(np.array(columns))
        self._given.extend(added)
        counted = np.bincount(added.annotators[~added.skipped], minlength=len(self._numbers))
        for name, answers in zip(self._numbers, counted.tolist(), strict=True):
            if answers:
                self._answers_of[name] = self._answers_of.get(name, 0) + answers
        if self._effective is not None:
            self._effective.extend(added.those(self._counting(added)))
        self._seen.clear()

    def _name(self, name: str | None) -> None:
        if name is not None and name not in self.names:
            self.names.add(name)
            self._names.setdefault(caseless(str(name)), name)

    def _apply(self, entry: Entry, items: Callable[[int], Items]) -> None:
        self._name(entry.annotator)
        if entry.by is not None:
            self.owners.add(entry.by)
        if is_change(entry):
            self.owners_entries.append(entry)
        match entry.kind:
            case "ask":
                self.queries.append(entry)
                number = len(self.queries)
                if entry.query != number:
                    raise ValueError(f"query {entry.query} comes where {number} should")
                self._require_items(entry)
                self._ask(number, entry)
            case "answer":
                number = _number(entry)
                if number in self.expired:
                    self.expired.remove(number)
                else:
                    self._close(number)
                self.answered[number] = entry
                self._answered_by.setdefault(entry.annotator, []).append(number)
                if entry.key is not None:
                    self.keys[entry.key] = entry
                self._add(entry)
            case "practice":
                if entry.query != len(self.practices) + 1:
                    raise ValueError(f"practice pair {entry.query} comes where {len(self.practices) + 1} should")
                self._require_items(entry)
                self.practices.append(entry)
            case "practised":
                self.practised[_number(self.practices[_number(entry) - 1])] = entry
            case "withdraw":
                if (number := _number(entry)) in self.expired:
                    self.expired.remove(number)
                else:
                    self._close(number)
                self.withdrawn.add(number)
            case "expire":
                self._close(number := _number(entry))
                self.expired.add(number)
                self.overdue.add(number)
            case "show":
                number = _number(entry)
                if number not in self._open:
                    raise LookupError(f"query {number} is not open")
                self._lease(number, entry.expires_at)
            case "retract":
                self._retract(entry)
                self._lease(_number(entry), entry.expires_at)
            case "record":
                self._add(entry)
            case "add-items":
                if self.rows:
                    self._growth.append((entry.position, len(self.rows)))
                self._add_items(items(entry.position))
                self._go_on(entry)
            case "exclude-item":
                self.excluded_items[self.items.ids[self.rows[_text(entry.left)]]] = None
                self.drop_caches()
                self._go_on(entry)
            case "include-item":
                del self.excluded_items[_text(entry.left)]
                self.drop_caches()
                self._go_on(entry)
            case "exclude-annotator":
                self.excluded_annotators[_text(entry.annotator)] = None
                self._drop_effective()
                self._go_on(entry)
            case "include-annotator":
                del self.excluded_annotators[_text(entry.annotator)]
                self._drop_effective()
                self._go_on(entry)
            case "set":
                self.rules = changed(self.rules, _text(entry.name), _text(entry.value))
                self.chosen_rules.add(_text(entry.name))
                if entry.name == "makers":
                    self._forget_makers()
                if entry.name == "lease":
                    # Who was asked before there were leases has one from now on: they may never come back.
                    until = self.rules.lease_until(entry.at)
                    for number in self._open.keys() - self.leases.keys():
                        self._lease(number, until)
                self._go_on(entry)
            case "machine":
                self.machines[_text(entry.annotator)] = Machine.read(_text(entry.name), _text(entry.value))
            case "spend":
                name = _text(entry.annotator)
                self.tokens[name] = self.tokens.get(name, 0) + int(_text(entry.value))
            case "finish":
                self.finished = _text(entry.value)
            case "link":
                self.links[_text(entry.name)] = entry
                if entry.annotator is not None and entry.key is None:
                    self.linked.setdefault(entry.annotator, set()).add(_text(entry.value))
                elif entry.annotator is not None:
                    self.claimed.add(entry.annotator)
            case "revoke":
                self.revoked.add(_text(self.links[_text(entry.name)].name))
            case _:
                raise ValueError(f"unknown kind {entry.kind!r}")

    def _go_on(self, entry: Entry) -> None:
        """What the study was finished by may not hold any more."""
        self.finished, self.unfinished_since = None, entry.position

    def _ask(self, number: int, entry: Entry) -> None:
        self._open[number] = entry
        self._lease(number, entry.expires_at)
        self.queries_of_pair.setdefault(pair_of(entry), []).append(number)
        self.newest_asked[entry.annotator] = number
        if entry.repeat_of is not None:
            self.repeats.append(number)

    def _close(self, number: int) -> None:
        del self._open[number]
        self.leases.pop(number, None)

    def _lease(self, number: int, until: str | None) -> None:
        if until is not None:
            self.leases[number] = until

    def _require_items(self, entry: Entry) -> None:
        if entry.left not in self.rows or entry.right not in self.rows:
            raise LookupError(f"no items {entry.left!r}, {entry.right!r}")

    def _add(self, entry: Entry) -> None:
        self._require_items(entry)
        number = self._numbers.setdefault(entry.annotator, len(self._numbers))
        left, right = self.rows[_text(entry.left)], self.rows[_text(entry.right)]
        row = (entry.position, left, right, number, CODES[_text(entry.answer)])
        self._given.add(*row)
        if entry.value == BEYOND_BUDGET:
            self._beyond_budget.add(entry.position)
        self._count(entry, 1)
        if self._effective is not None and _is_counted(entry) and self.includes(entry):
            self._effective.add(*row)
        if (seen := self._seen.get(entry.annotator)) is not None:
            seen.add(*row)

    def _retract(self, entry: Entry) -> None:
        number = _number(entry)
        answer = self.answered.pop(number)
        self._answered_by[answer.annotator].remove(number)
        self._taken_back.add(answer.position)
        self._count(answer, -1)
        self._open[number] = self.queries[number - 1]
        self._seen.pop(answer.annotator, None)
        self._unseen.pop(answer.annotator, None)
        if _is_counted(answer) and self.includes(answer):
            self._go_on(entry)
            if (effective := self._effective) is None:
                self._change(0)
            else:
                place = int(np.searchsorted(effective.positions, answer.position))
                self._change(place - bisect_left(self._leaving, answer.position))
                insort(self._leaving, answer.position)

    def _count(self, entry: Entry, by: int) -> None:
        if _is_counted(entry):
            self._answers_of[entry.annotator] = self._answers_of.get(entry.annotator, 0) + by

    def _add_items(self, added: Items) -> None:
        self.items = joined(self.items, added) if self.rows else added
        self.rows.update(zip(added.ids, range(len(self.rows), len(self.rows) + len(added)), strict=True))
        if added.group is None:
            codes = np.full(len(added), self._group_codes.setdefault("", len(self._group_codes)), dtype=np.int64)
        else:
            for name in dict.fromkeys(added.group):
                self._group_codes.setdefault(name, len(self._group_codes))
            codes = _looked_up(self._group_codes, added.group)
        self.group = np.concatenate([self.group, codes])
        self.drop_caches()

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
            self._effective = self._given.those(self._counting(self._given))
        if self._leaving:
            self._effective = self._effective.those(~np.isin(self._effective.positions, self._leaving))
            self._leaving = []
        return self._effective

    @property
    def answers_to_queries(self) -> NDArray[np.bool_]:
        """(T,) which of the effective comparisons answer queries of the study; the others were made elsewhere."""
        return np.isin(self.effective.positions, [answer.position for answer in self.answered.values()])

    @property
    def one_per_item(self) -> int:
        """The number of answers with which the study first had one per item in use; where it does not have so many yet,
        the number of these items. What answers have told is not forgotten when items are added."""
        for position, items in self._growth:
            in_use = items - sum(self.rows[item] < items for item in self.excluded_items)
            if 0 < in_use <= np.searchsorted(self.effective.positions, position):
                return in_use
        return len(self.items) - len(self.excluded_items)

    def _counting(self, given: Comparisons) -> NDArray[np.bool_]:
        """Which of them count."""
        without = np.fromiter(self._taken_back | self._beyond_budget, dtype=np.int64)
        excluded = [number for name, number in self._numbers.items() if self.is_left_out(name)]
        left, right = given.pairs
        kept: NDArray[np.bool_] = ~given.skipped & (self.active[left] >= 0) & (self.active[right] >= 0)
        return kept & ~np.isin(given.positions, without) & ~np.isin(given.annotators, excluded)

    @property
    def annotator_names(self) -> tuple[str | None, ...]:
        """The annotator of each number in `Comparisons.annotators`."""
        return tuple(self._numbers)

    def number_of(self, annotator: str | None) -> int | None:
        """That number; None where they gave nothing yet."""
        return self._numbers.get(annotator)

    def seen(self, annotator: str | None) -> Comparisons:
        """What this annotator answered, skipped or had recorded."""
        if annotator not in self._seen:
            number = self.number_of(annotator)
            self._seen[annotator] = Comparisons() if number is None else self._given_by(number)
        return self._seen[annotator]

    def _given_by(self, number: int) -> Comparisons:
        mine = self._given.those(self._given.annotators == number)
        return mine.those(~np.isin(mine.positions, np.fromiter(self._taken_back, dtype=np.int64)))

    def listed(self, given: Comparisons) -> Iterator[tuple[str, str, Answer, str | None]]:
        """Left, right, answer and annotator of each."""
        ids, names = self.items.ids, self.annotator_names
        left, right = (map(ids.__getitem__, rows.tolist()) for rows in given.pairs)
        return zip(left, right, given.answers, map(names.__getitem__, given.annotators.tolist()), strict=True)

    def own(self, annotator: str | None) -> set[int]:
        """The rows of the items that the annotator made and so does not judge."""
        if self._own is None:
            self._own = {}
            for item, maker in self.rules.makers:
                if item in self.rows:
                    self._own.setdefault(caseless(maker), set()).add(self.rows[item])
        return self._own.get(caseless(annotator), set()) if self._own and annotator is not None else set()

    def may_judge(self, pair: Pair) -> bool:
        """Whether the annotator of the pair made neither item."""
        own = self.own(pair.annotator)
        return not own or not {self.rows[_text(pair.left)], self.rows[_text(pair.right)]} & own

    def judgeable(self, annotator: str | None) -> AllPairs:
        """Every pair without an item that the annotator made."""
        own = sorted(self.own(annotator))
        if not own:
            return self.all_pairs
        if annotator not in self._judgeable:
            partners = [self.all_pairs.partners(item) for item in own]
            left = np.repeat(np.array(own, dtype=np.int64), [len(one) for one in partners])
            # Pairs are masked, and the groups stay the same, so bounds that a search keeps serve everybody.
            self._judgeable[annotator] = self.all_pairs.without(left, np.concatenate(partners))
        return self._judgeable[annotator]

    def unseen(self, annotator: str | None) -> AllPairs:
        """All pairs that the annotator may judge, less those that they have seen."""
        seen = self.seen(annotator)
        done, pool = self._unseen.get(annotator, (0, self.judgeable(annotator)))
        if done < len(seen):
            left, right = seen.pairs
            pool = pool.without(left[done:], right[done:])
            self._unseen[annotator] = len(seen), pool
        return pool

    def open(self) -> list[Entry]:
        """The queries that wait for an answer, oldest first, without those of excluded items and annotators, and
        of items that are known by now to be the annotator's own."""
        asked = (self._open[number] for number in sorted(self._open))
        return [entry for entry in asked if self.includes(entry) and self.may_judge(entry)]

    def last_answered(self, annotator: str | None) -> Entry:
        """The query that this annotator answered or skipped last. Raises NothingToUndo."""
        answered = self._answered_by.get(annotator)
        if not answered:
            whose = "without a name" if annotator is None else f"of {annotator!r}"
            raise NothingToUndo(f"there is no answer {whose} that could be taken back")
        return self.queries[answered[-1] - 1]

    def has_answered(self, annotator: str | None) -> bool:
        """Whether this annotator answered or skipped a query; at once, however many they did."""
        return bool(self._answered_by.get(annotator))

    def answered_by(self, annotator: str | None) -> list[Entry]:
        """The queries that this annotator answered or skipped, in that order."""
        return [self.queries[number - 1] for number in self._answered_by.get(annotator, ())]

    def is_open(self, number: int) -> bool:
        return number in self._open

    def annotators(self) -> dict[str | None, int]:
        """How many answers each annotator gave, without skips, answers taken back, and those beyond the budget."""
        return {name: count for name, count in self._answers_of.items() if count}

    def name_of(self, given: str | None, where: str = "") -> str | None:
        """The annotator whom a given name stands for: who has this very name, else who has it but for its case, else
        somebody new. Raises InvalidInput for what can be no name; `where` opens the message."""
        if isinstance(given, str) and given in self.names:
            return given
        name = annotator_name(given, where)
        return None if name is None else self._names.get(caseless(name), name)

    def knows_annotator(self, name: str | None) -> bool:
        """Whether they were asked, be it a practice pair, or have answered."""
        practised = any(entry.annotator == name for entry in self.practices)
        return name in self.newest_asked or practised or len(self.seen(name)) > 0

    def row(self, item: object, where: str = "") -> int:
        """The row of an item. Raises UnknownItem; `where` opens the message."""
        if not isinstance(item, str) or item not in self.rows:
            raise UnknownItem(f"{where}the study has no item {item!r}{suggestion(str(item), self.rows)}")
        return self.rows[item]

    def pairs(self, pairs: Sequence[Pair]) -> tuple[Integers, Integers]:
        """The rows of the left items (P,) and of the right items (P,)."""
        left = np.array([self.rows[_text(pair.left)] for pair in pairs], dtype=np.int64)
        return left, np.array([self.rows[_text(pair.right)] for pair in pairs], dtype=np.int64)

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
        require_same_grouping(self.items, items)
        codes = dict(self._group_codes)
        names = ("",) * len(items) if items.group is None else items.group
        return np.array([codes.setdefault(name, len(codes)) for name in names], dtype=np.int64)

    def is_left_out(self, annotator: str | None) -> bool:
        """Whether this annotator's answers do not count."""
        return annotator in self.excluded_annotators or (self.only is not None and annotator not in self.only)

    def includes(self, pair: Pair) -> bool:
        """Whether neither the items nor the annotator are excluded."""
        return not (
            self.is_left_out(pair.annotator) or pair.left in self.excluded_items or pair.right in self.excluded_items
        )


def _is_counted(entry: Entry) -> bool:
    """Whether the answer counts, unless its items or its annotator are excluded."""
    return entry.answer != "skip" and entry.value != BEYOND_BUDGET


def pair_of(pair: Pair) -> tuple[str, str]:
    """The two ids in order, so that the sides do not matter."""
    left, right = _text(pair.left), _text(pair.right)
    return (left, right) if left < right else (right, left)


def _looked_up(table: Mapping[Any, int], keys: Sequence[Any]) -> Integers:
    return np.fromiter(map(table.__getitem__, keys), dtype=np.int64, count=len(keys))


def _number(entry: Entry) -> int:
    if entry.query is None:
        raise TypeError("no query number")
    return entry.query


def _text(value: str | None) -> str:
    if value is None:
        raise TypeError("no text")
    return value
