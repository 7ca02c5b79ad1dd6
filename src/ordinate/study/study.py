"""A study: the only door for questions and answers.

    ask():       the belief after the log -> the strategy's pair -> an entry in the log -> Query
    tell():      an entry in the log, on the disk before it returns
    ordering():  the fit of all answers, sorted

Every call first takes in what other processes have added; every write is one transaction that has read all before it.
"""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal, Self, get_args

import numpy as np

from ordinate import algorithms
from ordinate import storage as storages
from ordinate.data.arrays import Floats
from ordinate.data.cells import text, whole
from ordinate.data.comparisons import Comparison, Query, check_comparison, comparisons_of
from ordinate.data.items import Items
from ordinate.data.joining import joined
from ordinate.data.ordering import Ordering
from ordinate.data.pairs import PairList
from ordinate.data.recipe import Recipe
from ordinate.errors import InvalidInput, NotAStudy
from ordinate.storage import Entry, Kind, Settings, moment, now
from ordinate.study import leases
from ordinate.study.ledger import locked
from ordinate.study.questions import Questions, named
from ordinate.study.rules import Link, Person, Role, Rules, differences

if TYPE_CHECKING:
    from narwhals.typing import IntoDataFrame


class Study(Questions):
    """Items, the questions asked about them, the answers, and the ordering that follows.

    >>> study = Study.create(Items(["a", "b", "c"]))
    >>> query = study.ask()
    >>> study.tell(query.id, "left")
    >>> study.ordering().ids[0] == query.left
    True
    """

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
        recipe: Recipe | None = None,
    ) -> Study:
        """A new study of these items.

        algorithm    a name of the table in algorithms.py; None: guro-hybrid, or guro-independent without features
        storage      None: in memory; "sqlite:///study.db": a new file
        scaling      "auto": features are brought to one unit; "none": they are used as they are
        refit_every  answers between two fits of the model while asking; None: the schedule of algorithms.py
        candidates   how many random pairs to look at for each question; None: all of them
        recipe       how `ordinate.embedding` made the features, kept so that new items get theirs in the same way
        """
        name = algorithms.default_algorithm(items) if algorithm is None else algorithm
        algorithms.require_size(name, len(items))
        if scaling not in ("auto", "none"):
            raise InvalidInput(f"unknown scaling {scaling!r}; it is auto or none")
        settings = Settings(
            algorithm=name,
            question=text("the question", question),
            seed=whole("seed", seed, 0),
            scaling=scaling,
            refit_every=None if refit_every is None else whole("refit_every", refit_every, 1),
            candidates=None if candidates is None else whole("candidates", candidates, 1),
            recipe=recipe,
        )
        if recipe is not None:
            recipe.require_made(items)
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
    @locked
    def items(self) -> Items:
        """All items, also excluded ones, in the order in which they were added."""
        return self._catch_up().items

    @property
    @locked
    def excluded_items(self) -> tuple[str, ...]:
        return tuple(self._catch_up().excluded_items)

    @property
    @locked
    def excluded_annotators(self) -> tuple[str, ...]:
        return tuple(self._catch_up().excluded_annotators)

    @property
    @locked
    def rules(self) -> Rules:
        """What the owner may change while people answer."""
        return self._catch_up().rules

    def set_rules(self, **changes: Any) -> None:
        """Change rules by name, for instance `set_rules(paused=True, budget=500)`; all or none."""

        def change() -> None:
            for name, value in differences(self._state.rules, changes):
                self._append([self._entry("set", name=name, value=value)])

        self._write(change)

    def make_link(
        self, role: Role, annotator: str | None = None, expires_at: datetime | None = None, *, name: str | None = None
    ) -> Link:
        """A new way in for an owner or for annotators, or for one annotator; a server signs its id.

        `name`: its id, None for a random one; a link of that name that is there already is returned as it is.
        """
        if role not in get_args(Role):
            raise InvalidInput(f"unknown role {role!r}; it is {' or '.join(get_args(Role))}")
        whose = named(annotator)
        until = None if expires_at is None else moment(expires_at)
        chosen = secrets.token_hex(6) if name is None else text("the link's name", name)

        def make() -> Link:
            if chosen not in self._state.links:
                self._append([self._entry("link", name=chosen, value=role, annotator=whose, expires_at=until)])
            return self._link(chosen)

        return self._write(make)

    def revoke_link(self, name: str) -> None:
        """From now on nobody comes in by this link, nor stays in by it."""

        def revoke() -> None:
            if not self._link(name).revoked:
                self._append([self._entry("revoke", name=name)])

        self._write(revoke)

    @locked
    def link(self, name: str) -> Link:
        """Raises InvalidInput where there is none of this name."""
        self._catch_up()
        return self._link(name)

    @locked
    def links(self) -> list[Link]:
        """All links, oldest first."""
        return [self._link(name) for name in self._catch_up().links]

    @locked
    def agreement(self) -> tuple[int, int]:
        """Of the pairs that annotators were asked twice: how many they answered alike, and how many there are."""
        return leases.agreement(self._catch_up())

    @property
    def token(self) -> str:
        """What the ids of this study's queries begin with."""
        return self._storage.token

    def serving(self) -> AbstractContextManager[None]:
        """A block in which many people use the study at once; see Storage."""
        return self._storage.serving()

    @locked
    def row(self, item: str) -> int:
        """The place of an item among `items`. Raises UnknownItem."""
        return self._catch_up().row(item)

    def record(self, comparisons: Comparison | Iterable[Comparison] | IntoDataFrame) -> int:
        """Add comparisons that were made elsewhere, all or none; returns how many.

        One comparison, several, or a pandas or polars frame with the columns left, right, winner and, where known,
        annotator.
        """
        several = not isinstance(comparisons, Comparison)
        given = comparisons_of(comparisons) if several else [check_comparison(comparisons)]  # type: ignore[arg-type]

        def record() -> None:
            for row, comparison in enumerate(given, start=1):
                self._state.check_pair(comparison, f"row {row}: " if several else "")
            at, first = now(), self._state.position + 1
            self._append(
                [Entry(place, "record", at, None, *comparison) for place, comparison in enumerate(given, first)]
            )

        if given:
            self._write(record)
        return len(given)

    @locked
    def known(self, comparisons: Iterable[Comparison]) -> int:
        """How many of these comparisons the study has already, from the same annotators and as often."""

        def facts(one: Comparison | Entry) -> tuple[Any, ...]:
            outcome = one.answer if isinstance(one, Entry) else one.outcome
            return one.annotator, *min((one.left, one.right, outcome), (one.right, one.left, _mirrored(outcome)))

        wanted = Counter(map(facts, comparisons))
        state = self._catch_up()
        entries = (entry for who in {fact[0] for fact in wanted} for entry in state.seen(who).entries)
        return (wanted & Counter(map(facts, entries))).total()

    def add_items(self, items: Items) -> None:
        """Add items with the same feature columns as the others; from now on they are asked about and ordered."""

        def add() -> None:
            algorithms.require_size(self.settings.algorithm, len(joined(self._state.items, items)))
            self._append([self._entry("add-items")], items)

        if len(items):
            self._write(add)

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

    @locked
    def ordering(self, items: Items | None = None) -> Ordering:
        """The study's items from the highest score to the lowest, group after group; or the given ones.

        Given items that the study knows by id keep what it knows of them; others are placed by their features.
        """
        return self._inference.ordering(self._catch_up(), items)

    @locked
    def scores(self) -> Floats:
        """(n,) the posterior mean of every item, excluded ones too, from all answers; not centred."""
        return self._inference.posterior(self._catch_up()).mean

    @locked
    def expected_error(self) -> float:
        """How wrong the ordering is expected to be: the mean over pairs of the probability of the wrong order."""
        return self._inference.expected_error(self._catch_up())

    @locked
    def error_history(self, most: int = 21) -> list[tuple[int, float]]:
        """(answers, expected error by them) from none to all in up to 21 even steps.

        A point that was not asked for before takes a fit; `most` limits how many of these are made now.
        """
        return self._inference.error_history(self._catch_up(), most)

    @locked
    def comparisons(self) -> list[Comparison]:
        """The comparisons that count, in the order in which they came in."""
        entries = self._catch_up().effective.entries
        return [Comparison(entry.left, entry.right, entry.answer, entry.annotator) for entry in entries]  # type: ignore[arg-type]

    @locked
    def open_queries(self) -> list[Query]:
        """Everybody's queries that wait for an answer, oldest first."""
        return [self._query(entry) for entry in self._catch_up().open()]

    @locked
    def annotators(self) -> dict[str | None, int]:
        """Answers by annotator (None: nobody named), also excluded ones; skips and undone answers do not count."""
        return self._catch_up().annotators()

    @locked
    def skips(self, annotator: str | None) -> int:
        """How many pairs the annotator skipped."""
        return sum(entry.answer == "skip" for entry in self._catch_up().seen(annotator).entries)

    @locked
    def answered(self) -> list[Entry]:
        """Answers and skips that were not taken back, with all that is known of each, in the order of the log."""
        return sorted(self._catch_up().answered.values(), key=lambda entry: entry.position)

    @locked
    def people(self) -> list[Person]:
        """Everybody who was asked, or whose answers were recorded, by name."""
        state = self._catch_up()
        answers = state.annotators()
        waiting = [entry.annotator for entry in state.open()]
        names = {*state.newest_asked, *answers}
        return [
            Person(
                name,
                answers.get(name, 0),
                self.skips(name),
                waiting.count(name),
                *leases.agreement(state, name)[::-1],
                name in state.excluded_annotators,
            )
            for name in sorted(names, key=lambda name: (name is not None, name))
        ]

    @locked
    def pairs(self, left: Sequence[str], right: Sequence[str]) -> PairList:
        """The pairs left[k], right[k], each once, for `ask(among=...)`."""
        if len(left) != len(right):
            raise InvalidInput(f"there are {len(left)} left ids and {len(right)} right ids")
        row = self._catch_up().row
        rows = np.array([(row(one), row(other)) for one, other in zip(left, right, strict=True)]).reshape(-1, 2)
        if (same := np.flatnonzero(rows[:, 0] == rows[:, 1])).size:
            raise InvalidInput(f"item {left[same[0]]!r} is paired with itself")
        return PairList.of(*np.unique(np.sort(rows.astype(np.int64), axis=1), axis=0).T.copy())

    def close(self) -> None:
        self._storage.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _switch_item(self, kind: Kind, item: str) -> None:
        def switch() -> None:
            self._state.row(item)
            excluded = item in self._state.excluded_items
            if excluded != (kind == "exclude-item"):
                self._append([self._entry(kind, left=item)])

        self._write(switch)

    def _switch_annotator(self, kind: Kind, annotator: str) -> None:
        if named(annotator) is None:
            raise InvalidInput("answers without a name cannot be excluded together; undo them, or exclude their items")

        def switch() -> None:
            if not self._state.knows_annotator(annotator):
                raise InvalidInput(f"no annotator {annotator!r} was asked or has answered")
            excluded = annotator in self._state.excluded_annotators
            if excluded != (kind == "exclude-annotator"):
                self._append([self._entry(kind, annotator=annotator)])

        self._write(switch)

    def _link(self, name: str) -> Link:
        if name not in self._state.links:
            raise InvalidInput(f"the study has no link {name!r}")
        entry = self._state.links[name]
        role: Any = entry.value
        return Link(name, role, entry.annotator, entry.expires_at, entry.at, name in self._state.revoked)


def _mirrored(outcome: str | None) -> str | None:
    """The same answer with the sides changed."""
    return {"left": "right", "right": "left"}.get(outcome or "", outcome)


def _require_pair(items: Items) -> None:
    groups = items.group or ("",) * len(items)
    if len(set(groups)) == len(groups):
        within = "" if items.group is None else " of the same group"
        raise InvalidInput(f"a study needs at least two items{within} to compare; it was given {len(items)}")
