"""Which pair to ask next: what an annotator may be asked, and what the strategy makes of it.

A choice depends on the state and on the number of the query alone: its generator is seeded by the study's seed and that
number. So it is the same in memory and on a disk, and before and after a study is closed and opened.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ordinate.algorithms import strategy_of
from ordinate.errors import PoolExhausted
from ordinate.fold import State
from ordinate.inference import Inference
from ordinate.search import PairList, Pool
from ordinate.storage import Entry, Settings
from ordinate.threads import one_thread


class Chosen(NamedTuple):
    """Rows of the items on the two screen sides, and what the strategy hoped to gain (nan where it does not say)."""

    left: int
    right: int
    utility: float


def choose(
    settings: Settings, state: State, inference: Inference, annotator: str | None, among: PairList | None
) -> Chosen:
    """The pair of the next query. Raises PoolExhausted."""
    rng = np.random.default_rng([settings.seed, len(state.queries) + 1])
    strategy = strategy_of(settings.algorithm, settings.candidates)
    pool = allowed_pairs(state, annotator, among)
    with one_thread():
        left, right, utility, _ = strategy.choose(inference.situation(state), pool, rng)
    return Chosen(left, right, utility) if rng.integers(2) else Chosen(right, left, utility)


def allowed_pairs(state: State, annotator: str | None, among: PairList | None) -> Pool:
    """New pairs for this annotator; without any, pairs they had before; without any, pairs that others have open."""
    pairs: Pool = state.all_pairs if among is None else among.within(state.active)
    new: Pool = state.unseen(annotator) if among is None else pairs.without(*state.seen(annotator).pairs)
    waiting = state.open()
    own = [entry for entry in waiting if entry.annotator == annotator]
    for pool, open_ones in ((new, waiting), (pairs, waiting), (pairs, own)):
        left = pool.without(*state.pairs(open_ones)) if open_ones else pool
        if left.size:
            return left
    raise PoolExhausted("no pair is left to ask; answer or withdraw the open queries, or add or include items")


def open_queries(state: State, annotator: str | None, among: PairList | None) -> list[Entry]:
    """The annotator's open queries, oldest first; of the listed pairs alone where there is a list."""
    mine = [entry for entry in state.open() if entry.annotator == annotator]
    if among is None or not mine:
        return mine
    listed = np.isin(PairList(*state.pairs(mine)).codes, among.codes)
    return [entry for entry, kept in zip(mine, listed, strict=True) if kept]
