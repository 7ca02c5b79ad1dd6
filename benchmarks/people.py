"""How people answer: each pattern drives one study as a kind of use does, one answer at a time.

Tests check that every pattern asks the pairs that brute force gives; `patterns` measures what each costs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from ordinate.data.comparisons import Query
from ordinate.data.items import Items
from ordinate.study.study import Study

HOLDING = 20
"""Queries that others hold open where a pattern says so."""


class People:
    """A study, and people who answer as the logistic model says, with some noise of their own."""

    def __init__(
        self, n: int, d: int, algorithm: str | None, *, groups: int = 1, folder: Path | None = None, **options: Any
    ) -> None:
        self.rng, self.answers = np.random.default_rng([n, d]), 0
        features = self.rng.normal(size=(n, d)) / np.sqrt(max(d, 1))
        slopes = 2.0 * self.rng.normal(size=d)
        self.scores = features @ slopes + (0.5 if d else 1.5) * self.rng.normal(size=n)
        self.address = None if folder is None else f"sqlite:///{folder}/study.db"
        self.study = Study.create(
            Items(
                [f"item-{row}" for row in range(n)],
                features,
                group=[f"group-{row % groups}" for row in range(n)] if groups > 1 else None,
            ),
            algorithm=algorithm,
            storage=self.address,
            seed=1,
            **options,
        )
        self.waiting: list[Query] = []
        # Twenty pairs for each item, for those who are asked among a list.
        left = self.rng.integers(0, n, 20 * n)
        right = (left + self.rng.integers(1, n, 20 * n)) % n
        same = np.flatnonzero(left % groups == right % groups)
        ids = self.study.items.ids
        self.listed = self.study.pairs([ids[row] for row in left[same]], [ids[row] for row in right[same]])

    def answer(self, query: Query) -> None:
        margin = self.scores[self.study.row(query.left)] - self.scores[self.study.row(query.right)]
        self.study.tell(query.id, "left" if self.rng.random() < 1.0 / (1.0 + np.exp(-margin)) else "right")
        self.answers += 1

    def reopen(self) -> None:
        assert self.address is not None, "only a study in a file can be opened again"
        self.study.close()
        self.study = Study.open(self.address)


Turn = Callable[[People, int], None]


def one(people: People, number: int) -> None:
    people.answer(people.study.ask("ada"))


def in_turns(count: int) -> Turn:
    return lambda people, number: people.answer(people.study.ask(f"person-{number % count}"))


def new(people: People, number: int) -> None:
    people.answer(people.study.ask(f"person-{number}"))


def skipping(people: People, number: int) -> None:
    while people.rng.random() < 0.1:
        people.study.tell(people.study.ask("ada").id, "skip")
    one(people, number)


def undoing(people: People, number: int) -> None:
    """One answer in twenty is taken back and given again."""
    one(people, number)
    if number % 20 == 19:
        people.answer(people.study.undo("ada"))


def excluding(people: People, number: int) -> None:
    one(people, number)
    if number % 50 == 49:
        people.study.exclude_item(f"item-{number % len(people.scores)}")


def beside_open_ones(people: People, number: int) -> None:
    """Others hold twenty queries, and answer one of them, whichever it is, as often as they take another."""
    while len(people.waiting) < HOLDING:
        people.waiting.append(people.study.ask(f"person-{number}-{len(people.waiting)}"))
    one(people, number)
    if number % 5 == 4:
        people.answer(people.waiting.pop(int(people.rng.integers(HOLDING))))


def in_batches(people: People, number: int) -> None:
    people.waiting = people.waiting or people.study.ask("ada", 5)
    people.answer(people.waiting.pop(0))


def from_a_list(people: People, number: int) -> None:
    people.answer(people.study.ask("ada", among=people.listed))


@dataclass(frozen=True)
class Pattern:
    """A way to answer, the rules of the study, and the options that it is created with."""

    turn: Turn = one
    rules: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    options: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))

    def start(self, n: int, d: int, algorithm: str | None, **options: Any) -> Answering:
        return Answering(self, n, d, algorithm, **options)


class Answering:
    """A pattern under way: each call takes so many turns and returns how many answers these gave."""

    def __init__(self, pattern: Pattern, n: int, d: int, algorithm: str | None, **options: Any) -> None:
        self.turn, self.turns, self.block = pattern.turn, 0, 1
        self.people = People(n, d, algorithm, **{**pattern.options, **options})
        if pattern.rules:
            self.people.study.set_rules(**pattern.rules)

    def __call__(self) -> int:
        before = self.people.answers
        for _ in range(self.block):
            self.turn(self.people, self.turns)
            self.turns += 1
        return self.people.answers - before


PATTERNS: dict[str, Pattern] = {
    "one person": Pattern(),
    "five in turns": Pattern(in_turns(5)),
    "fifty in turns": Pattern(in_turns(50)),
    "a new person each time": Pattern(new),
    "with skips": Pattern(skipping),
    "with repeats": Pattern(rules={"repeat": 0.1}),
    "with undo": Pattern(undoing),
    "items excluded": Pattern(excluding),
    "five groups": Pattern(options={"groups": 5}),
    "variety": Pattern(rules={"variety": 0.8}),
    "beside 20 open queries": Pattern(beside_open_ones),
    "batches of 5": Pattern(in_batches),
    "a list of pairs": Pattern(from_a_list),
}
