"""Which pair to ask next: what an annotator may be asked, and what the strategy makes of it.

A choice depends on the state and on the number of the query alone: its generator is seeded by the study's seed and that
number. So it is the same in memory and on a disk, and before and after a study is closed and opened.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ordinate.algorithms import strategy_of
from ordinate.choosing.search import Search
from ordinate.data.pairs import PairList, Pool
from ordinate.errors import PoolExhausted
from ordinate.storage import Entry, Settings
from ordinate.study.fold import State
from ordinate.study.inference import Inference
from ordinate.study.threads import one_thread


class Chosen(NamedTuple):
    """Rows of the items on the two screen sides, and what the strategy hoped to gain (nan where it does not say)."""

    left: int
    right: int
    utility: float


def choose(
    settings: Settings,
    state: State,
    inference: Inference,
    annotator: str | None,
    among: PairList | None,
    number: int,
    search: Search,
) -> Chosen:
    """The pair of the query with this number. Raises PoolExhausted."""
    rng = np.random.default_rng([settings.seed, number])
    strategy = strategy_of(settings.algorithm, settings.candidates)
    pool = allowed_pairs(state, annotator, among)
    situation = inference.situation(state, pending_pairs(state), search)
    with one_thread():
        left, right, utility, _ = strategy.choose(situation, pool, rng)
        if state.rules.variety is not None and {left, right} & (newest := _newest_rows(state, annotator)):
            other = _without_items(pool, newest)
            if other.size:
                fresh = strategy.choose(situation, other, np.random.default_rng([settings.seed, number, 2]))
                if not fresh.utility < state.rules.variety * utility:  # nan: a strategy that ranks no pairs
                    left, right, utility, _ = fresh
    return Chosen(left, right, utility) if rng.integers(2) else Chosen(right, left, utility)


def pending_pairs(state: State) -> list[tuple[int, int]]:
    """The rows of the open queries, oldest first."""
    left, right = state.pairs(state.open())
    return list(zip(left.tolist(), right.tolist(), strict=True))


def draw(settings: Settings, state: State, annotator: str | None) -> tuple[int, int]:
    """A random pair, rows by screen side, for whoever cannot wait for a choice. Raises PoolExhausted."""
    pool = allowed_pairs(state, annotator, None)
    if state.rules.variety is not None and (other := _without_items(pool, _newest_rows(state, annotator))).size:
        pool = other
    rng = np.random.default_rng([settings.seed, len(state.queries) + 1, 3])
    pair = pool.sample(1, rng)
    left, right = int(pair.left[0]), int(pair.right[0])
    return (left, right) if rng.integers(2) else (right, left)


def _newest_rows(state: State, annotator: str | None) -> set[int]:
    """The items that the annotator was given last."""
    number = state.newest_asked.get(annotator)
    return set() if number is None else {int(row) for rows in state.pairs([state.queries[number - 1]]) for row in rows}


def _without_items(pool: Pool, items: set[int]) -> Pool:
    """The pool less every pair that one of the items is in."""
    for item in items:
        partners = pool.partners(item)
        pool = pool.without(np.full(len(partners), item), partners)
    return pool


def allowed_pairs(state: State, annotator: str | None, among: PairList | None) -> Pool:
    """New pairs for this annotator; without any, pairs they had before; without any, pairs that others have open.

    Where queries are leased, nobody gets what another holds, and a skipped pair never comes back to who skipped it.
    """
    pairs: Pool = state.all_pairs if among is None else among.within(state.active)
    new: Pool = state.unseen(annotator) if among is None else pairs.without(*state.seen(annotator).pairs)
    waiting = state.open()
    own = [entry for entry in waiting if entry.annotator == annotator]
    choices = [(new, waiting)]
    if state.rules.again and state.rules.lease is None:
        choices += [(pairs, waiting), (pairs, own)]
    elif state.rules.again:
        skipped = [entry for entry in state.seen(annotator).entries if entry.answer == "skip"]
        choices += [(pairs.without(*state.pairs(skipped)), waiting)]
    for pool, open_ones in choices:
        left = pool.without(*state.pairs(open_ones)) if open_ones else pool
        if left.size:
            return left
    raise PoolExhausted("no pair is left to ask; answer or withdraw the open queries, or add or include items")


def open_queries(
    state: State, annotator: str | None, among: PairList | None = None, tab: str | None = None
) -> list[Entry]:
    """The annotator's open queries, oldest first; of the listed pairs alone where there is a list; without those of
    other tabs where a tab is named."""
    mine = [
        entry for entry in state.open() if entry.annotator == annotator and (tab is None or entry.tab in (None, tab))
    ]
    if among is None or not mine:
        return mine
    listed = among.holds(*state.pairs(mine))
    return [entry for entry, kept in zip(mine, listed, strict=True) if kept]
