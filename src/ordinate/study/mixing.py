"""Models first, then people: which pairs people judge after models did, and which models are not to be trusted.

Where the rule `after_models` holds, this is what people are asked for as long as models leave something to look at.

People are asked about the pairs of which a model was unsure: it called a tie, skipped, gave no readable reply, its two
orders disagreed, or two models disagree. One pair in five is instead drawn from those that the models decided, so that
it is known how often people agree with each of them. A pair that one person judged is not asked again.

A model is left out where it agrees with people on fewer of these pairs than a bound says: where even the upper end of
the interval of 90 % is below it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ordinate.data.arrays import Floats, Integers
from ordinate.data.ordering import Interval
from ordinate.data.pairs import PairList, pair_codes
from ordinate.learning.consistency import share_interval
from ordinate.study.fold import Pair, State

CHECKED = 0.2
"""Share of people's pairs that models decided."""


class Agreement(NamedTuple):
    """With people, of a model: on how many pairs, and how often; None: there are no such pairs yet."""

    pairs: int
    share: Interval | None

    def is_below(self, bound: float) -> bool:
        return self.share is not None and self.share.high < bound


def pairs_for_people(state: State, waiting: Sequence[Pair], rng: np.random.Generator) -> PairList | None:
    """Those to choose a person's next pair from, none of which waits for an answer.

    None where models leave nothing to look at.
    """
    doubtful, decided = _by_models(state, waiting)
    check = rng.random() < CHECKED
    if len(decided) and (check or not len(doubtful)):
        return PairList.of(*_rows(decided[rng.integers(len(decided))][None]))
    return PairList.of(*_rows(doubtful)) if len(doubtful) else None


def agreement(state: State) -> dict[str, Agreement]:
    """Of each model with people, on pairs that both decided; what does not count in the study does not count here.

    A pair counts once, however often it was answered: each person has one vote on it, and the majority decides.
    """
    counted = {name: _majority(*_decided(state, name)) for name in _counting(state)}
    people = [found for name, found in counted.items() if name not in state.machines]
    codes, firsts = _majority(*(np.concatenate(parts) for parts in zip(*people, strict=True))) if people else _NONE
    found = {}
    for name in state.machines:
        if state.is_left_out(name):
            continue
        own = counted.get(name, _NONE)
        both, of_people, of_model = np.intersect1d(codes, own[0], assume_unique=True, return_indices=True)
        same = int((firsts[of_people] == own[1][of_model]).sum())
        found[name] = Agreement(len(both), share_interval(same, len(both)) if len(both) else None)
    return found


def _by_models(state: State, waiting: Sequence[Pair]) -> tuple[Integers, Integers]:
    """The codes of the pairs of which models are unsure, and of those that they decided, without people's pairs."""
    none = np.empty(0, dtype=np.int64)
    unsure, decided, firsts, judged = [none], [none], [np.empty(0)], [pair_codes(*state.pairs(waiting))]
    for name in _counting(state):
        seen = state.seen(name)
        codes = pair_codes(*seen.pairs)
        if name not in state.machines:
            judged.append(codes[~seen.skipped])
            continue
        unsure.append(codes[seen.skipped | (seen.outcomes == 0.5)])
        chosen, won = _decided(state, name)
        decided.append(chosen)
        firsts.append(won)
    known, place = np.unique(np.concatenate(decided), return_inverse=True)
    ahead, asked = np.bincount(place, np.concatenate(firsts), len(known)), np.bincount(place, minlength=len(known))
    torn = known[(ahead > 0) & (ahead < asked)]
    doubtful = np.unique(np.concatenate([*unsure, torn]))
    left_out, active = np.concatenate(judged), state.active
    wanted = []
    for codes in (doubtful, np.setdiff1d(known, doubtful)):
        left, right = _rows(codes)
        wanted.append(codes[(active[left] >= 0) & (active[right] >= 0) & ~np.isin(codes, left_out)])
    return wanted[0], wanted[1]


def _counting(state: State) -> list[str | None]:
    """The annotators whose answers count."""
    return [name for name in state.annotator_names if not state.is_left_out(name)]


def _decided(state: State, annotator: str | None) -> tuple[Integers, Floats]:
    """The codes of the pairs that an annotator decided, and 1 where the item of the lower row won."""
    given = state.effective
    mine = given.those(given.annotators == state.annotator_names.index(annotator))
    left, right = mine.pairs
    chosen = np.isin(mine.outcomes, (0.0, 1.0))
    return pair_codes(left, right)[chosen], np.where(left > right, 1.0 - mine.outcomes, mine.outcomes)[chosen]


def _majority(codes: Integers, firsts: Floats) -> tuple[Integers, Floats]:
    """Each pair once, with what most votes say; without those on which as many say the contrary."""
    known, place = np.unique(codes, return_inverse=True)
    share = np.bincount(place, firsts, len(known)) / np.bincount(place, minlength=len(known))
    return known[share != 0.5], (share > 0.5)[share != 0.5].astype(np.float64)


_NONE = np.empty(0, dtype=np.int64), np.empty(0)


def _rows(codes: Integers) -> tuple[Integers, Integers]:
    return codes >> 32, codes & 0xFFFFFFFF
