"""A study: the only door for questions and answers.

    ask():       the belief after the log -> the strategy's pair -> an entry in the log -> Query
    tell():      an entry in the log, on the disk before it returns
    ordering():  the fit of all answers, sorted

Every call first takes in what other processes have added; every write is one transaction that has read all before it.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Literal, Self, overload

import numpy as np

from ordinate import algorithms, asking
from ordinate import storage as storages
from ordinate.cells import plain_text
from ordinate.errors import AlreadyAnswered, InvalidInput, NotAStudy, PoolExhausted, UnknownQuery
from ordinate.fold import State, joined
from ordinate.inference import Inference
from ordinate.search import PairList
from ordinate.storage import Entry, Kind, Settings, Storage, now
from ordinate.types import (
    ANSWERS,
    Answer,
    Comparison,
    Floats,
    Items,
    Ordering,
    Query,
    check_comparison,
    comparisons_from_columns,
    frame_columns,
)

if TYPE_CHECKING:
    from narwhals.typing import IntoDataFrame

ATTEMPTS = 3
"""How often a choice is made again because others wrote meanwhile, before they have to wait for it."""


class Study:
    """Items, the questions asked about them, the answers, and the ordering that follows.

    >>> study = Study.create(Items(["a", "b", "c"]))
    >>> query = study.ask()
    >>> study.tell(query.id, "left")
    >>> study.ordering().ids[0] == query.left
    True
    """

    def __init__(self, storage: Storage) -> None:
        """Of a storage that is open already; use Study.create or Study.open."""
        self._storage = storage
        self._state = State()
        self._inference = Inference(storage.settings)
        self._catch_up()

    @classmethod
    def create(
        cls,
        items: Items,
        *,
        algorithm: str | None = None,
        question: str = "Which ranks higher?",
        seed: int = 0,
        storage: str | None = None,
        scaling: Literal["auto", "none"] = "auto",
        refit_every: int | None = None,
        candidates: int | None = None,
    ) -> Study:
        """A new study of these items.

        algorithm    a name of the table in algorithms.py; None: guro-hybrid, or guro-independent without features
        storage      None: in memory; "sqlite:///study.db": a new file
        scaling      "auto": features are brought to one unit; "none": they are used as they are
        refit_every  answers between two fits of the model while asking; None: the schedule of algorithms.py
        candidates   how many random pairs to look at for each question; None: all of them
        """
        name = algorithms.default_algorithm(items) if algorithm is None else algorithm
        algorithms.algorithm(name)
        if scaling not in ("auto", "none"):
            raise InvalidInput(f"unknown scaling {scaling!r}; it is auto or none")
        settings = Settings(
            algorithm=name,
            question=_text("the question", question),
            seed=_whole("seed", seed, 0),
            scaling=scaling,
            refit_every=None if refit_every is None else _whole("refit_every", refit_every, 1),
            candidates=None if candidates is None else _whole("candidates", candidates, 1),
        )
        _require_pair(items)
        return cls(storages.create(storage, settings, items))

    @classmethod
    def open(cls, url: str) -> Study:
        """The study stored at an address such as "sqlite:///study.db". Raises StudyNotFound, NotAStudy."""
        storage = storages.open(url)
        try:
            return cls(storage)
        except InvalidInput as error:
            raise NotAStudy(f"{url} is damaged, or of a newer version of ordinate: {error}") from error

    @property
    def settings(self) -> Settings:
        return self._storage.settings

    @property
    def items(self) -> Items:
        """All items, also excluded ones, in the order in which they were added."""
        return self._catch_up().items

    @property
    def excluded_items(self) -> tuple[str, ...]:
        return tuple(self._catch_up().excluded_items)

    @property
    def excluded_annotators(self) -> tuple[str, ...]:
        return tuple(self._catch_up().excluded_annotators)

    @overload
    def ask(self, annotator: str | None = None, count: None = None, *, among: PairList | None = None) -> Query: ...
    @overload
    def ask(self, annotator: str | None = None, *, count: int, among: PairList | None = None) -> list[Query]: ...
    @overload
    def ask(self, annotator: str | None, count: int, *, among: PairList | None = None) -> list[Query]: ...
    def ask(
        self, annotator: str | None = None, count: int | None = None, *, among: PairList | None = None
    ) -> Query | list[Query]:
        """The annotator's open queries, oldest first, topped up with new ones to `count`; without a count, one query.

        An annotator gets no pair twice, and no pair that is open, until nothing else is left. Fewer than `count` come
        back when the pairs run out; none left at all raises PoolExhausted. `among` allows only the pairs of a list.
        """
        name = _name(annotator)
        wanted = 1 if count is None else _whole("count", count, 1)
        if name in self._catch_up().excluded_annotators:
            raise InvalidInput(f"annotator {name!r} is excluded; include them before asking them again")
        overtaken = 0
        while len(mine := asking.open_queries(self._state, name, among)) < wanted:
            try:
                overtaken += not self._ask_another(name, among, locked=overtaken >= ATTEMPTS)
            except PoolExhausted:
                if not mine:
                    raise
                break
        queries = [self._query(entry) for entry in mine[:wanted]]
        return queries[0] if count is None else queries

    def tell(self, query_id: str, answer: Answer) -> None:
        """Answer a query: "left", "right", "tie" or "skip". Raises UnknownQuery, AlreadyAnswered."""
        if answer not in ANSWERS:
            raise InvalidInput(f"unknown answer {answer!r}; it is {', '.join(ANSWERS)}")
        self._write(lambda: [self._about(self._waiting(query_id), "answer", answer)])

    def withdraw(self, query_id: str) -> None:
        """Close a query without an answer; its pair may be asked again."""
        self._write(lambda: [self._about(self._waiting(query_id), "withdraw")])

    def undo(self, annotator: str | None = None) -> Query:
        """Take back the newest answer (or skip) that this annotator told; its query, returned, is open again."""
        name = _name(annotator)
        (retraction,) = self._write(lambda: [self._about(self._state.newest_told(name), "retract")])
        return self._query(retraction)

    def record(self, comparisons: Comparison | Iterable[Comparison] | IntoDataFrame) -> int:
        """Add comparisons that were made elsewhere, all or none; returns how many.

        One comparison, several, or a pandas or polars frame with the columns left, right, winner and, where known,
        annotator.
        """
        several = not isinstance(comparisons, Comparison)
        given = _several(comparisons) if several else [check_comparison(comparisons)]  # type: ignore[arg-type]

        def entries() -> list[Entry]:
            for row, comparison in enumerate(given, start=1):
                self._state.check_pair(comparison, f"row {row}: " if several else "")
            at, first = now(), self._state.position + 1
            return [Entry(place, "record", at, None, *comparison) for place, comparison in enumerate(given, first)]

        if given:
            self._write(entries)
        return len(given)

    def add_items(self, items: Items) -> None:
        """Add items with the same feature columns as the others; from now on they are asked about and ordered."""

        def entries() -> list[Entry]:
            joined(self._state.items, items)
            return [self._entry("add-items")]

        if len(items):
            self._write(entries, items)

    def exclude_item(self, item: str) -> None:
        """Leave an item, and all comparisons with it, out of everything until it is included again."""
        self._switch_item("exclude-item", item)

    def include_item(self, item: str) -> None:
        self._switch_item("include-item", item)

    def exclude_annotator(self, annotator: str) -> None:
        """Leave an annotator's answers out of everything until the annotator is included again."""
        self._switch_annotator("exclude-annotator", annotator)

    def include_annotator(self, annotator: str) -> None:
        self._switch_annotator("include-annotator", annotator)

    def ordering(self, items: Items | None = None) -> Ordering:
        """The study's items from the highest score to the lowest, group after group; or the given ones.

        Given items that the study knows by id keep what it knows of them; others are placed by their features.
        """
        return self._inference.ordering(self._catch_up(), items)

    def scores(self) -> Floats:
        """(n,) the posterior mean of every item, excluded ones too, from all answers; not centred."""
        return self._inference.posterior(self._catch_up()).belief.mean

    def expected_error(self) -> float:
        """How wrong the ordering is expected to be: the mean over pairs of the probability of the wrong order."""
        return self._inference.expected_error(self._catch_up())

    def comparisons(self) -> list[Comparison]:
        """The comparisons that count, in the order in which they came in."""
        entries = self._catch_up().effective.entries
        return [Comparison(entry.left, entry.right, entry.answer, entry.annotator) for entry in entries]  # type: ignore[arg-type]

    def open_queries(self) -> list[Query]:
        """Everybody's queries that wait for an answer, oldest first."""
        return [self._query(entry) for entry in self._catch_up().open()]

    def annotators(self) -> dict[str | None, int]:
        """Answers by annotator (None: nobody named), also excluded ones; skips and undone answers do not count."""
        return self._catch_up().annotators()

    def pairs(self, left: Sequence[str], right: Sequence[str]) -> PairList:
        """The pairs left[k], right[k], each once, for `ask(among=...)`."""
        if len(left) != len(right):
            raise InvalidInput(f"there are {len(left)} left ids and {len(right)} right ids")
        row = self._catch_up().row
        rows = np.array([(row(one), row(other)) for one, other in zip(left, right, strict=True)]).reshape(-1, 2)
        if (same := np.flatnonzero(rows[:, 0] == rows[:, 1])).size:
            raise InvalidInput(f"item {left[same[0]]!r} is paired with itself")
        return PairList(*np.unique(np.sort(rows.astype(np.int64), axis=1), axis=0).T.copy())

    def close(self) -> None:
        self._storage.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _catch_up(self) -> State:
        """Take in what others wrote."""
        with self._storage.reading() as log:
            self._apply(log.entries(self._state.position), log.items)
        return self._state

    def _write(self, decide: Callable[[], list[Entry]], items: Items | None = None) -> list[Entry]:
        """One transaction: take in what others wrote, decide on the entries, append them, take them in."""
        entries: list[Entry] = []
        try:
            with self._storage.writing() as log:
                self._apply(log.entries(self._state.position), log.items)
                entries = decide()
                if entries:
                    log.append(entries, items)
                # Before the commit: an entry that cannot be taken in must never reach the log.
                self._apply(entries, lambda _: items)
        except BaseException:
            if entries and self._state.position == entries[-1].position:
                self._start_anew()
            raise
        return entries

    def _apply(self, entries: Sequence[Entry], items: Callable[[int], Any]) -> None:
        if not entries:
            return
        try:
            self._state.apply(entries, items)
        except BaseException:
            self._start_anew()
            raise

    def _start_anew(self) -> None:
        """The state may hold half an entry, or one that was not stored: the next call folds the whole log again."""
        self._state = State()
        self._inference.forget()

    def _forget(self) -> None:
        """Drop every cache: nothing that a caller can see may change."""
        self._state.forget()
        self._inference.forget()

    def _ask_another(self, annotator: str | None, among: PairList | None, *, locked: bool) -> bool:
        """Choose a pair and ask it; False where others wrote meanwhile, so that the choice rests on an old log.

        A choice may take a while, so it is made before the lock is taken, unless `locked`.
        """
        chosen = None if locked else self._choose(annotator, among)

        def entries() -> list[Entry]:
            entry = chosen or self._choose(annotator, among)
            return [entry] if entry.position == self._state.position + 1 else []

        return bool(self._write(entries))

    def _choose(self, annotator: str | None, among: PairList | None) -> Entry:
        state, ids = self._state, self._state.items.ids
        left, right, utility = asking.choose(self.settings, state, self._inference, annotator, among)
        return self._entry(
            "ask",
            query=len(state.queries) + 1,
            left=ids[left],
            right=ids[right],
            annotator=annotator,
            based_on=state.position,
            utility=None if math.isnan(utility) else float(utility),
            algorithm=self.settings.algorithm,
        )

    def _waiting(self, query_id: str) -> Entry:
        """The `ask` entry of a query that can still be answered."""
        state = self._state
        token, _, digits = str(query_id).rpartition("-")
        number = int(digits) if digits.isascii() and digits.isdigit() and len(digits) < 16 else 0
        if query_id != self._id(number) or not 1 <= number <= len(state.queries):
            elsewhere = token not in ("", self._storage.token)
            reason = "it is of another study" if elsewhere else "this study never asked it"
            raise UnknownQuery(f"unknown query {query_id!r}: {reason}")
        if number in state.answered:
            raise AlreadyAnswered(f"query {query_id!r} is answered already ({state.answered[number].answer})")
        if number in state.withdrawn:
            raise AlreadyAnswered(f"query {query_id!r} was withdrawn; ask for another one")
        return state.queries[number - 1]

    def _switch_item(self, kind: Kind, item: str) -> None:
        def entries() -> list[Entry]:
            self._state.row(item)
            excluded = item in self._state.excluded_items
            return [] if excluded == (kind == "exclude-item") else [self._entry(kind, left=item)]

        self._write(entries)

    def _switch_annotator(self, kind: Kind, annotator: str) -> None:
        if _name(annotator) is None:
            raise InvalidInput("answers without a name cannot be excluded together; undo them, or exclude their items")

        def entries() -> list[Entry]:
            if not self._state.knows_annotator(annotator):
                raise InvalidInput(f"no annotator {annotator!r} was asked or has answered")
            excluded = annotator in self._state.excluded_annotators
            return [] if excluded == (kind == "exclude-annotator") else [self._entry(kind, annotator=annotator)]

        self._write(entries)

    def _about(self, asked: Entry, kind: Kind, answer: Answer | None = None) -> Entry:
        """An entry about a query."""
        return self._entry(
            kind, query=asked.query, left=asked.left, right=asked.right, answer=answer, annotator=asked.annotator
        )

    def _entry(self, kind: Kind, **fields: Any) -> Entry:
        return Entry(self._state.position + 1, kind, now(), **fields)

    def _query(self, entry: Entry) -> Query:
        return Query(self._id(entry.query), str(entry.left), str(entry.right), entry.annotator)

    def _id(self, number: int | None) -> str:
        return f"{self._storage.token}-{number}"


def _several(given: Any) -> list[Comparison]:
    if hasattr(given, "columns"):
        return comparisons_from_columns(frame_columns(given))
    comparisons = []
    for row, one in enumerate(given if isinstance(given, Iterable) else [given], start=1):
        if not isinstance(one, tuple | list) or len(one) not in (3, 4):
            raise InvalidInput(f"row {row} is no comparison (left, right, outcome, annotator): {one!r}")
        comparisons.append(check_comparison(Comparison(*one), f"row {row}: "))
    return comparisons


def _require_pair(items: Items) -> None:
    groups = items.group or ("",) * len(items)
    if len(set(groups)) == len(groups):
        within = "" if items.group is None else " of the same group"
        raise InvalidInput(f"a study needs at least two items{within} to compare; it was given {len(items)}")


def _name(annotator: str | None) -> str | None:
    if annotator is None or annotator == "":
        return None
    return _text("the annotator's name", annotator)


def _text(name: str, value: Any) -> str:
    if not isinstance(value, str):
        raise InvalidInput(f"{name} must be a text, not {value!r}")
    return plain_text(value, name)


def _whole(name: str, value: Any, least: int) -> int:
    try:
        number = operator.index(value)
    except TypeError:
        raise InvalidInput(f"{name} must be a whole number, not {value!r}") from None
    if not least <= number < 2**63:
        raise InvalidInput(f"{name} must be a whole number from {least} on, not {value!r}")
    return number
