"""Models first, then people: which pairs people judge after models did, and which models are not to be trusted.

People are asked about the pairs of which a model was unsure: it called a tie, skipped, gave no readable reply, its two
orders disagreed, or two models disagree. One pair in five is instead drawn from those that the models decided, so that
it is known how often people agree with each of them. A pair that one person judged is not asked again.

A model is left out where it agrees with people on fewer of these pairs than a bound says: where even the upper end of
the interval of 90 % is below it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ordinate.data.arrays import Floats, Integers
from ordinate.data.ordering import Interval
from ordinate.data.pairs import PairList, pair_codes
from ordinate.learning.consistency import share_interval
from ordinate.study.fold import State

CHECKED = 0.2
"""Share of people's pairs that models decided."""


class Agreement(NamedTuple):
    """With people, of a model: on how many pairs, and how often; None: there are no such pairs yet."""

    pairs: int
    share: Interval | None

    def is_below(self, bound: float) -> bool:
        return self.share is not None and self.share.high < bound


def pairs_for_people(state: State, seed: int) -> PairList | None:
    """Those to choose a person's next pair from; None where models leave nothing to look at."""
    doubtful, decided = _by_models(state)
    rng = np.random.default_rng([seed, len(state.queries) + 1, 5])
    check = rng.random() < CHECKED
    if len(decided) and (check or not len(doubtful)):
        return PairList.of(*_rows(decided[rng.integers(len(decided))][None]))
    return PairList.of(*_rows(doubtful)) if len(doubtful) else None


def agreement(state: State) -> dict[str, Agreement]:
    """Of each model with all people, on pairs that both decided."""
    people = [_decided(state, name) for name in state.annotator_names if name not in state.machines]
    found = {}
    for name in state.machines:
        codes, firsts = _decided(state, name)
        own = dict(zip(codes.tolist(), firsts.tolist(), strict=True))
        same = [
            own[code] == first
            for others in people
            for code, first in zip(others[0].tolist(), others[1].tolist(), strict=True)
            if code in own
        ]
        found[name] = Agreement(len(same), share_interval(sum(same), len(same)) if same else None)
    return found


def _by_models(state: State) -> tuple[Integers, Integers]:
    """The codes of the pairs of which models are unsure, and of those that they decided, without people's pairs."""
    none = np.empty(0, dtype=np.int64)
    unsure, decided, firsts, judged = [none], [none], [np.empty(0)], [pair_codes(*state.pairs(state.open()))]
    for name in state.annotator_names:
        seen = state.seen(name)
        codes = pair_codes(*seen.pairs)
        if name not in state.machines:
            judged.append(codes)
            continue
        unsure.append(codes[seen.skipped | (seen.outcomes == 0.5)])
        decided.append(_decided(state, name)[0])
        firsts.append(_decided(state, name)[1])
    known, place = np.unique(np.concatenate(decided), return_inverse=True)
    won, asked = np.bincount(place, np.concatenate(firsts), len(known)), np.bincount(place, minlength=len(known))
    torn = known[(won > 0) & (won < asked)]
    doubtful = np.unique(np.concatenate([*unsure, torn]))
    left_out, active = np.concatenate(judged), state.active
    wanted = []
    for codes in (doubtful, np.setdiff1d(known, doubtful)):
        left, right = _rows(codes)
        wanted.append(codes[(active[left] >= 0) & (active[right] >= 0) & ~np.isin(codes, left_out)])
    return wanted[0], wanted[1]


def _decided(state: State, annotator: str | None) -> tuple[Integers, Floats]:
    """The codes of the pairs that an annotator decided, and 1 where the item of the lower row won."""
    seen = state.seen(annotator)
    left, right = seen.pairs
    chosen = np.isin(seen.outcomes, (0.0, 1.0))
    return pair_codes(left, right)[chosen], np.where(left > right, 1.0 - seen.outcomes, seen.outcomes)[chosen]


def _rows(codes: Integers) -> tuple[Integers, Integers]:
    return codes >> 32, codes & 0xFFFFFFFF
