"""However people answer, each pair that a study asks is the one that evaluating every allowed pair gives."""

from __future__ import annotations

import copy
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))  # the benchmarks are no part of the installed package

from benchmarks.people import PATTERNS, Answering, Pattern  # noqa: E402

from ordinate.choosing.search import Choice, LazySearch, Pool, Utility, best_scored  # noqa: E402
from ordinate.learning.belief import Belief  # noqa: E402
from ordinate.study.study import Study  # noqa: E402

ALGORITHMS = [
    "guro-hybrid",
    "guro-hybrid-factored",
    "guro-contextual",
    "guro-independent",
    "bald-hybrid",
    "bald-hybrid-factored",
    "bald-independent",
    "norm-min-hybrid",
]


class Checked(LazySearch):
    """Every choice of it is compared with that of brute force; one in `every`, where that takes long."""

    def __init__(self, every: int = 1) -> None:
        super().__init__()
        self.every, self.choices, self.checked = every, 0, 0

    def best(self, answered: Belief, belief: Belief, pool: Pool, utility: Utility, rng: np.random.Generator) -> Choice:
        before = copy.deepcopy(rng)
        choice = super().best(answered, belief, pool, utility, rng)
        self.choices += 1
        if self.choices % self.every == 0:
            self.checked += 1
            plain = best_scored(pool, lambda left, right: utility(*belief.differences(left, right)), before)
            assert {choice.left, choice.right} == {plain.left, plain.right}
            assert choice.utility == plain.utility
        return choice


def check(study: Study, every: int = 1) -> Checked:
    search = Checked(every)
    study._ledger.inference.search = search
    return search


def answer(answering: Answering, answers: int, every: int = 1) -> None:
    search = check(answering.people.study, every)
    for _ in range(answers):
        answering()
    assert search.checked > 0.7 * answers / every


@pytest.mark.parametrize(
    ("name", "algorithm"),
    [
        # Each pattern with a few algorithms, each algorithm with a few patterns; all of them where there is time.
        pytest.param(name, algorithm, marks=[pytest.mark.slow] if (row + column) % 4 else [])
        for row, name in enumerate(PATTERNS)
        for column, algorithm in enumerate(ALGORITHMS)
    ],
)
def test_every_pattern_asks_the_pairs_of_brute_force(name: str, algorithm: str) -> None:
    """Past the hundred answers after which refits are rarer."""
    d = 0 if algorithm.endswith("independent") else 5
    answer(PATTERNS[name].start(40, d, algorithm, refit_every=10), 130)


@pytest.mark.parametrize("name", PATTERNS)
def test_every_pattern_asks_the_pairs_of_brute_force_by_default(name: str) -> None:
    answer(PATTERNS[name].start(150, 12, None), 130, every=3)


@pytest.mark.load
@pytest.mark.parametrize("d", [0, 35])
@pytest.mark.parametrize("name", PATTERNS)
def test_every_pattern_asks_the_pairs_of_brute_force_at_two_thousand_items(name: str, d: int) -> None:
    answer(PATTERNS[name].start(2000, d, None, refit_every=10), 60, every=4)


def test_a_file_opened_again_asks_the_pairs_that_memory_asks(tmp_path: Path) -> None:
    asked = []
    for folder in (None, tmp_path):
        answering = Pattern().start(60, 8, None, folder=folder)
        for _ in range(4):
            answer(answering, 40, every=4)
            if folder is not None:
                answering.people.reopen()
        asked.append(answering.people.study.comparisons())
    assert asked[0] == asked[1]
