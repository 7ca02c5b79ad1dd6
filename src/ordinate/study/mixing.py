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
from ordinate.data.pairs import PairList, pair_codes, pairs_of_codes
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
        return PairList.of(*pairs_of_codes(decided[rng.integers(len(decided))][None]))
    return PairList.of(*pairs_of_codes(doubtful)) if len(doubtful) else None


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
    judged = [pair_codes(*state.pairs(waiting))]
    for name in _counting(state):
        if name not in state.machines:
            seen = state.seen(name)
            judged.append(pair_codes(*seen.pairs)[~seen.skipped])
    doubtful, decided = _told_by_models(state)
    left_out = np.concatenate(judged)
    return _unjudged(state, doubtful, left_out), _unjudged(state, decided, left_out)


def _unjudged(state: State, codes: Integers, left_out: Integers) -> Integers:
    """Those of the ascending codes whose items are in use, without some."""
    left, right = pairs_of_codes(codes)
    wanted = (state.active[left] >= 0) & (state.active[right] >= 0)
    place = np.minimum(np.searchsorted(codes, left_out), max(len(codes) - 1, 0))
    if len(codes):
        wanted[place[codes[place] == left_out]] = False
    return codes[wanted]


def _told_by_models(state: State) -> tuple[Integers, Integers]:
    """The codes, ascending, of the pairs of which models are unsure, and of the others that they judged.

    They are kept until a model answers, or what counts changes: every question of a person needs them.
    """
    given = {name: state.seen(name) for name in _counting(state) if name in state.machines}
    key = (
        state.version(len(state.effective))._replace(answers=0),
        tuple((name, len(seen), int(seen.positions[-1]) if len(seen) else 0) for name, seen in given.items()),
    )
    if state.told_by_models is None or state.told_by_models[0] != key:
        none = np.empty(0, dtype=np.int64)
        unsure, decided, firsts = [none], [none], [np.empty(0)]
        for name, seen in given.items():
            unsure.append(pair_codes(*seen.pairs)[seen.skipped | (seen.outcomes == 0.5)])
            chosen, won = _decided(state, name)
            decided.append(chosen)
            firsts.append(won)
        known, place = np.unique(np.concatenate(decided), return_inverse=True)
        ahead, asked = np.bincount(place, np.concatenate(firsts), len(known)), np.bincount(place, minlength=len(known))
        torn = known[(ahead > 0) & (ahead < asked)]
        doubtful = np.unique(np.concatenate([*unsure, torn]))
        state.told_by_models = key, doubtful, np.setdiff1d(known, doubtful)
    return state.told_by_models[1:]


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
