"""Which pair to ask next: which pairs an annotator may be asked, and which of them the strategy chooses.

A choice depends only on the state, on the pairs that are offered already, and on the number of the query: its random
generator is seeded by the study's seed and that number. So it is the same in memory and on disk, and before and after a
study is closed and opened.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress

import numpy as np

from ordinate.algorithms import strategy_of
from ordinate.choosing.search import Search
from ordinate.choosing.strategies.uniform import Uniform
from ordinate.data.pairs import PairList, Pool
from ordinate.errors import InvalidInput, PairsHeld, PoolExhausted
from ordinate.storage import Entry, Settings
from ordinate.study import mixing
from ordinate.study.aim import ORDER
from ordinate.study.fold import Pair, State
from ordinate.study.inference import Inference
from ordinate.study.leases import Offer
from ordinate.study.threads import one_thread

FEW = 6
"""Where fewer pairs are left, or fewer than two for each annotator who holds one, nobody takes a second one."""


def choose(
    settings: Settings,
    state: State,
    inference: Inference,
    search: Search,
    annotator: str | None,
    among: PairList | None = None,
    offered: Sequence[Offer] = (),
    ahead: int = 0,
) -> Offer:
    """The pair to ask this annotator. Raises PoolExhausted.

    among    only pairs of this list; None: all pairs
    offered  pairs to treat as asked already
    ahead    how many queries will be asked before this one
    """
    number = len(state.queries) + 1 + ahead
    rng = np.random.default_rng([settings.seed, number])
    share = state.rules.random
    at_random = share > 0.0 and np.random.default_rng([settings.seed, number, 4]).random() < share
    aimed = state.rules.aim != ORDER
    strategy = Uniform() if at_random else strategy_of(settings.algorithm, settings.candidates, aimed)
    waiting: list[Pair] = [*state.open(), *filter(state.includes, offered)]
    pool = _pool(settings, state, annotator, among, waiting, number)
    situation = inference.situation(state, pending_pairs(state, waiting), search)
    with one_thread():
        left, right, utility, _ = strategy.choose(situation, pool, rng)
        if state.rules.variety is not None and {left, right} & (newest := _newest_rows(state, annotator)):
            other = _without_items(pool, newest)
            if other.size:
                varied = strategy.choose(situation, other, np.random.default_rng([settings.seed, number, 2]))
                if not varied.utility < state.rules.variety * utility:  # nan: a strategy that ranks no pairs
                    left, right, utility, _ = varied
    if not rng.integers(2):
        left, right = right, left
    ids = state.items.ids
    gain = None if math.isnan(utility) else float(utility)
    by = repr(strategy)
    if aimed and not at_random:
        by += f" for {', '.join(state.rules.aim)}"
    if inference.overdue is not None:
        by += f" with the covariance after {inference.overdue} answers"
    model = None if at_random else repr(inference.model(state))
    return Offer(ids[left], ids[right], annotator, gain, state.position, by, model=model)


def choose_at_random(settings: Settings, state: State, annotator: str | None) -> Offer:
    """A random pair for an annotator who cannot wait for a choice. Raises PoolExhausted."""
    number = len(state.queries) + 1
    pool = _pool(settings, state, annotator, None, state.open(), number)
    if state.rules.variety is not None and (other := _without_items(pool, _newest_rows(state, annotator))).size:
        pool = other
    rng = np.random.default_rng([settings.seed, number, 3])
    pair = pool.sample(1, rng)
    left, right = int(pair.left[0]), int(pair.right[0])
    if not rng.integers(2):
        left, right = right, left
    ids = state.items.ids
    return Offer(ids[left], ids[right], annotator, None, state.position, repr(Uniform()))


def _pool(
    settings: Settings,
    state: State,
    annotator: str | None,
    among: PairList | None,
    waiting: Sequence[Pair],
    number: int,
) -> Pool:
    """The pairs from which the query of this number is chosen. Raises PairsHeld, PoolExhausted."""
    if among is None and state.rules.after_models and annotator not in state.machines:
        rng = np.random.default_rng([settings.seed, number, 5])
        by_models = mixing.pairs_for_people(state, waiting, rng)
        if by_models is not None:
            with suppress(PoolExhausted):
                return allowed_pairs(state, annotator, by_models, waiting, again=False)
    return allowed_pairs(state, annotator, among, waiting)


def pending_pairs(state: State, waiting: Sequence[Pair]) -> list[tuple[int, int]]:
    """The rows (left, right) of pairs that wait for an answer, in their order."""
    return [(state.row(str(pair.left)), state.row(str(pair.right))) for pair in waiting]


def allowed_pairs(
    state: State, annotator: str | None, among: PairList | None, waiting: Sequence[Pair], *, again: bool = True
) -> Pool:
    """New pairs for this annotator; where none is left, pairs they had before; then pairs that others are asked.

    A model gets new pairs alone, and so does everybody where `again` is false.

    `waiting` are the pairs that wait for an answer. With leases, nobody gets a pair that another annotator holds, and a
    skipped pair never comes back to the annotator who skipped it. Raises PairsHeld where pairs of others could still
    come to this annotator, otherwise PoolExhausted.
    """
    pairs: Pool = state.judgeable(annotator)
    if among is not None:
        pairs = _without_items(among.within(state.active), state.own(annotator))
    new: Pool = state.unseen(annotator) if among is None else pairs.without(*state.seen(annotator).pairs)
    own = [pair for pair in waiting if pair.annotator == annotator]
    choices = [(new, waiting)]
    again = again and state.rules.again and annotator not in state.machines
    if again and state.rules.lease is None:
        choices += [(pairs, waiting), (pairs, own)]
    elif again:
        seen = state.seen(annotator)
        left, right = seen.pairs
        choices += [(pairs.without(left[seen.skipped], right[seen.skipped]), waiting)]
    for pool, taken in choices:
        free = pool.without(*state.pairs(taken)) if taken else pool
        if free.size:
            return free
    if len(own) < len(waiting) and any(pool.without(*state.pairs(own)).size for pool, _ in choices):
        raise PairsHeld("others are judging the last pairs; there may be more when they are done")
    first = "answer or withdraw the open queries, or " if waiting else ""
    if among is not None:
        raise PoolExhausted(f"none of the given pairs is left to ask; {first}give others")
    raise PoolExhausted(f"no pair is left to ask; {first}add or include items")


def are_scarce(state: State, annotator: str | None) -> bool:
    """Whether so few pairs, or answers within the study's budget, are left that nobody should take any ahead."""
    waiting = state.open()
    few = max(FEW, 2 * len({annotator, *(entry.annotator for entry in waiting)}))
    budget = state.rules.budget
    if budget is not None and budget - len(state.effective) - len(waiting) < few:
        return True
    if state.judgeable(annotator).size - len(state.seen(annotator)) - len(waiting) >= few:
        return False
    try:
        return allowed_pairs(state, annotator, None, waiting).size < few
    except PoolExhausted:
        return True


def listed_pairs(state: State, left: Sequence[str], right: Sequence[str]) -> PairList:
    """The pairs of the items left[k] and right[k], each once. Raises UnknownItem, InvalidInput."""
    rows = [(state.row(one), state.row(other)) for one, other in zip(left, right, strict=True)]
    pairs = np.array(rows, dtype=np.int64).reshape(-1, 2)
    if (same := np.flatnonzero(pairs[:, 0] == pairs[:, 1])).size:
        raise InvalidInput(f"item {left[same[0]]!r} is paired with itself")
    return PairList.of(*np.unique(np.sort(pairs, axis=1), axis=0).T.copy())


def open_queries(
    state: State, annotator: str | None, among: PairList | None = None, tab: str | None = None
) -> list[Entry]:
    """The annotator's open queries, oldest first.

    `among`: only those whose pair is in the list. `tab`: without those that other browser tabs asked for.
    """
    mine = [
        entry for entry in state.open() if entry.annotator == annotator and (tab is None or entry.tab in (None, tab))
    ]
    if among is None or not mine:
        return mine
    listed = among.holds(*state.pairs(mine))
    return [entry for entry, kept in zip(mine, listed, strict=True) if kept]


def _newest_rows(state: State, annotator: str | None) -> set[int]:
    """The rows of the items in the annotator's newest query."""
    number = state.newest_asked.get(annotator)
    return set() if number is None else {int(row) for rows in state.pairs([state.queries[number - 1]]) for row in rows}


def _without_items(pool: Pool, items: set[int]) -> Pool:
    """The pool without any pair of these items."""
    for item in items:
        partners = pool.partners(item)
        pool = pool.without(np.full(len(partners), item), partners)
    return pool
