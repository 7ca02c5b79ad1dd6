"""What a study keeps: its settings, its items, and a log of everything that happened. Nothing else is ever stored.

The log is append-only. An entry's position is one more than the position of the entry before it, and it is given out
only after the writer has read everything before it: so whoever appends has seen all that the entry could contradict.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal, NamedTuple, Protocol

from ordinate.types import Answer, Items

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
]


@dataclass(frozen=True)
class Settings:
    """What is decided when a study is created and never changes.

    refit_every  answers between two fits of the model; None: the schedule of algorithms.py
    candidates   how many random pairs the strategy looks at; None: every pair of the pool
    """

    algorithm: str
    question: str = "Which ranks higher?"
    seed: int = 0
    scaling: Literal["auto", "none"] = "auto"
    refit_every: int | None = None
    candidates: int | None = None


class Entry(NamedTuple):
    """One thing that happened. Which fields are filled depends on the kind:

    ask                        query, left, right, annotator, based_on, utility, algorithm
    answer                     query, left, right, answer, annotator
    withdraw, retract          query, left, right, annotator (a retraction takes the query's answer back)
    record                     left, right, answer, annotator
    exclude-item, include-item            left (the item)
    exclude-annotator, include-annotator  annotator
    add-items                  none: the items stored under this position

    `based_on` is the last position that the choice of a query took into account; `at` is UTC in ISO 8601.
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


class Log(Protocol):
    """The log and the items, inside one transaction."""

    def entries(self, after: int) -> Sequence[Entry]:
        """The entries past a position, in order."""

    def items(self, added: int) -> Items:
        """The items that the entry at this position added."""

    def append(self, entries: Sequence[Entry], items: Items | None = None) -> None:
        """All entries, or none. `items` belong to the first one, which is then of the kind add-items."""


class Storage(Protocol):
    """Where one study is kept. `token` begins the ids of its queries, to tell them from another study's."""

    @property
    def settings(self) -> Settings: ...

    @property
    def token(self) -> str: ...

    def reading(self) -> AbstractContextManager[Log]:
        """A consistent view of the log; not for appending."""

    def writing(self) -> AbstractContextManager[Log]:
        """Nobody else writes meanwhile. What was appended is on the disk when the block ends, or, where the block or
        the disk fails, it never happened."""

    def close(self) -> None: ...


def now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
