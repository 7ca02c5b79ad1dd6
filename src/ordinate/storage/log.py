"""What a study stores: its settings, its items, and a log of everything that happened. Nothing else is stored.

The log is append-only. Each entry's position is one more than that of the entry before it. A writer has read all
entries before it appends one, so it has seen everything that the new entry could contradict.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal, NamedTuple, Protocol

from ordinate.data.cells import text, whole
from ordinate.data.comparisons import Answer
from ordinate.data.items import Items
from ordinate.data.recipe import Recipe
from ordinate.errors import InvalidInput

Kind = Literal[
    "add-items",
    "ask",
    "answer",
    "withdraw",
    "retract",
    "record",
    "exclude-item",
    "include-item",
    "exclude-annotator",
    "include-annotator",
    "expire",
    "show",
    "set",
    "link",
    "revoke",
    "finish",
    "practice",
    "practised",
    "machine",
    "spend",
]


BEYOND_BUDGET = "beyond the budget"


@dataclass(frozen=True)
class Settings:
    """What is decided when a study is created; it never changes.

    scaling               the rule of scaling.py by which features are brought to one unit
    refit_every           answers between two fits of the model; None: the schedule of schedule.py
    candidates            how many random pairs the strategy looks at; None: every pair of the pool
    recipe                how the features were made from texts or images; None: they were given
    coefficient_variance  prior variance of each coefficient of the features
    item_variance         prior variance of each item's own term; both None: fitted to the answers, where the model can
    features_alone        log odds, before any answer, that features say all, so that items have no terms of their own
    random                share of queries whose pair is drawn at random, until a rule says otherwise
    likelihood            the name of the probability of an answer given the scores; None: the algorithm's own
    weigh_annotators      whether fits multiply differences of scores by how sharp the annotator is
    side_bias             whether fits take account of annotators who prefer a side, where answers show that
    length_bias           whether they take account of annotators who differ in preferring long items, likewise
    renew_covariance      whether refits recompute the covariance, on a schedule; else answers only update it
    """

    algorithm: str
    question: str = "Which ranks higher?"
    seed: int = 0
    scaling: Literal["robust", "standard", "none", "uncentred"] = "robust"
    refit_every: int | None = None
    candidates: int | None = None
    recipe: Recipe | None = None
    coefficient_variance: float | None = None
    item_variance: float | None = None
    renew_covariance: bool = True
    likelihood: str | None = None
    random: float = 0.0
    weigh_annotators: bool = False
    side_bias: bool = False
    length_bias: bool = False
    features_alone: float = 0.7


class Entry(NamedTuple):
    """One thing that happened. Which fields are filled depends on the kind:

    ask                        query, left, right, annotator, based_on, utility, algorithm, strategy, model, expires_at,
                               tab, repeat_of
    answer                     query, left, right, answer, annotator, shown_at, answered_at, duration_ms, client,
                               reason, key, value (BEYOND_BUDGET where it does not count; see leases.py)
    withdraw, expire           query, left, right, annotator
    retract                    the same, expires_at (a retraction takes the query's answer back and opens it again)
    show                       the same, shown_at, expires_at (the lease starts again when a pair reaches the screen)
    record                     left, right, answer, annotator
    exclude-item, include-item            left (the item)
    exclude-annotator, include-annotator  annotator
    add-items                  value: the labels of the items stored under this position, as JSON; None: they have none
    set                        name, value: a rule that the owner changed, and its new value as JSON
    link                       name (its id), value (the role), annotator (whose it is, if one person's), expires_at,
                               key (the id of the shared link by which the annotator came, where they gave their name)
    revoke                     name (the id of a link)
    practice                   query (its number among practice pairs), left, right, annotator, value (the right answer)
    practised                  the same, and what an answer has
    machine                    annotator, name (the model), value (the rest as JSON): from now on this annotator is a
                               model; see study/machines.py
    spend                      query, annotator, value: how many tokens the replies to this query took
    finish                     value: the rule that is met, "target" or "misplaced", so that no more pairs are given out

    `left` and `right` are the sides as shown. `based_on` is the position of the last entry that the choice of a query
    took into account. `repeat_of` is the earlier query whose pair is asked again. `tab` names the browser tab that
    asked. `key` tells a repeated request from a new answer. `by` is the name of the owner who did it, where one did
    through a server. Times are UTC in ISO 8601: `at` is when the entry was
    written; `shown_at` and `answered_at` come from the annotator's device.
    """

    position: int
    kind: Kind
    at: str
    query: int | None = None
    left: str | None = None
    right: str | None = None
    answer: Answer | None = None
    annotator: str | None = None
    based_on: int | None = None
    utility: float | None = None
    algorithm: str | None = None
    strategy: str | None = None
    model: str | None = None
    expires_at: str | None = None
    tab: str | None = None
    repeat_of: int | None = None
    shown_at: str | None = None
    answered_at: str | None = None
    duration_ms: int | None = None
    client: str | None = None
    reason: str | None = None
    key: str | None = None
    name: str | None = None
    value: str | None = None
    by: str | None = None


class Recorded(NamedTuple):
    """Comparisons recorded one after another, as columns: the entries from `position` on, all of the kind "record"."""

    position: int
    left: Sequence[str]
    right: Sequence[str]
    answer: Sequence[Answer]
    annotator: Sequence[str | None]


class AnswerDetails(NamedTuple):
    """What the client says about an answer: see Entry. `tokens`: what the replies of a model took."""

    reason: str | None = None
    shown_at: str | None = None
    answered_at: str | None = None
    duration_ms: int | None = None
    client: str | None = None
    key: str | None = None
    tokens: int | None = None


def checked(given: AnswerDetails) -> AnswerDetails:
    """The details as the log keeps them. Raises InvalidInput."""
    plain = {
        name: None if value is None else text(name, value)
        for name, value in given._asdict().items()
        if name not in ("duration_ms", "tokens")
    }
    for name in ("shown_at", "answered_at"):
        if (value := plain[name]) is not None:
            plain[name] = _time(name, value)
    duration = None if given.duration_ms is None else whole("duration_ms", given.duration_ms, 0)
    tokens = None if given.tokens is None else whole("tokens", given.tokens, 0)
    return AnswerDetails(duration_ms=duration, tokens=tokens, **plain)


def _time(name: str, value: str) -> str:
    try:
        when = datetime.fromisoformat(value)
        return timestamp(when if when.tzinfo is not None else when.replace(tzinfo=UTC))
    except (ValueError, OverflowError):
        raise InvalidInput(f"{name} must be a time such as 2025-01-31T12:00:00Z, not {value!r}") from None


class Log(Protocol):
    """The log and the items, inside one transaction."""

    def entries(self, after: int) -> Sequence[Entry]:
        """The entries past a position, in order."""

    def parts(self, after: int) -> Iterable[Entry | Recorded]:
        """`entries`, with recorded comparisons as columns: there may be millions."""

    def items(self, added: int) -> Items:
        """The items that the entry at this position added."""

    def append(self, entries: Sequence[Entry], items: Items | None = None) -> None:
        """All entries, or none. `items` belong to the first one, which is then of the kind add-items."""

    def record(self, recorded: Recorded, at: str) -> None:
        """Append entries that were written at this time."""


class Storage(Protocol):
    """Where one study is kept. `token` begins the ids of its queries, to tell them from another study's."""

    @property
    def settings(self) -> Settings: ...

    @property
    def token(self) -> str: ...

    @property
    def folder(self) -> Path | None:
        """Where relative paths of items start; None: the study is in no file."""

    def reading(self) -> AbstractContextManager[Log]:
        """A consistent view of the log; not for appending."""

    def writing(self) -> AbstractContextManager[Log]:
        """Nobody else writes while the block runs. When it ends, everything that was appended is on disk; where the
        block or the disk fails, none of it is."""

    def check(self) -> None:
        """Raises StudyMoved where what is written now would be lost, as when the file was deleted or replaced."""

    def version(self) -> int | None:
        """While the storage is served, a number that changes with every write, also of others; otherwise None."""

    def serving(self) -> AbstractContextManager[None]:
        """While the block runs, many short transactions are cheap and readers do not wait for writers."""

    def close(self) -> None: ...


asked_at: ContextVar[float | None] = ContextVar("asked_at", default=None)
"""When the request came that is being answered, by time.monotonic: it must see what others had stored by then."""

Clock = Callable[[], str]
"""Gives the present time as `timestamp` writes it."""


def now() -> str:
    """The present time by this computer's clock."""
    return timestamp(datetime.now(UTC))


def timestamp(when: datetime) -> str:
    """A time as the log writes it. All have one length, so texts sort as times do."""
    return when.astimezone(UTC).isoformat(timespec="milliseconds")
