"""Whether answers go in circles (a before b, b before c, c before a) more often than chance would make them.

Three items of which each two were compared are a triad. It is circular where the majorities of the answers about its
pairs are (Kendall and Babington Smith 1940). Chance: the same pairs answered as the model has it, at scores drawn from
the posterior. Since that has seen the answers, the check fails more seldom than its level says.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ordinate.compiled import compiled
from ordinate.data.arrays import Floats, Integers
from ordinate.learning.checks import LEVEL, SIMULATED, Finding, StudyData, not_run
from ordinate.learning.models import Answers
from ordinate.learning.ranks import draw_scores

_MOST = 200_000
"""Of more triads, those among a random part of the items are looked at."""
_FEWEST = 20


def check(data: StudyData) -> Finding:
    data, rng = data.without_repeats, data.rng(1)
    pair, decided = data.pair_of[data.decisive], data.decided
    rows, _, pairs = data.compared
    side = np.where(np.searchsorted(rows, decided.left) == pairs.left[pair], 1.0, -1.0)
    balance = np.bincount(pair, side * (2.0 * decided.outcome - 1.0), len(pairs.left))
    triads = triads_of(pairs.left, pairs.right, len(rows), rng)
    if len(triads) < _FEWEST:
        return not_run(f"Sets of three items that were all compared: {len(triads)}; it takes {_FEWEST}.")
    draws = draw_scores(data.posterior, data.group, rng).scores[:SIMULATED, rows]
    if len(draws) < 1.0 / LEVEL - 1.0:
        return not_run("There are too many items to simulate as many studies as it takes.")
    # Only pairs that are in a triad matter, which are few where there are many items.
    used, triads = np.unique(triads, return_inverse=True)
    triads = triads.reshape(-1, 3)
    observed = int(circular(triads, _ahead(balance[used, None]))[0])
    chosen = np.isin(pair, used)
    alike, asked = _alike(np.searchsorted(used, pair[chosen]), side[chosen], decided.those(chosen))
    place = alike.left
    left, right = pairs.left[used][place], pairs.right[used][place]

    def balance_at(scores: Floats) -> Floats:
        """(p,) wins of the left item less its losses, in answers simulated at these scores."""
        chance = data.likelihood.wins(scores[left] - scores[right], np.zeros(len(place)), alike)
        wins = rng.binomial(asked, chance).astype(np.float64)
        found: Floats = np.bincount(place, 2.0 * wins - asked, len(used)).astype(np.float64)
        return found

    simulated = circular(triads, _ahead(np.array([balance_at(one) for one in draws]).T))
    chance, limit = (1 + int((simulated >= observed).sum())) / (1 + len(draws)), np.quantile(simulated, 1.0 - LEVEL)
    found = f"{observed:,} of {len(triads):,} triads of items are circular; {simulated.mean():,.0f} are to be expected."
    if chance > LEVEL:
        return Finding("passed", float(observed), float(limit), found)
    return Finding(
        "failed",
        float(observed),
        float(limit),
        found,
        "People may judge by several things at once, so that no single order fits. Make the question narrower.",
    )


def _alike(pair: Integers, side: Floats, answers: Answers) -> tuple[Answers, Integers]:
    """Each pair with each sharpness and lean that answers about it have, and the number of these answers.

    The `left` of the former is the pair; side (t,) is 1 where an answer's left item is that of its pair, otherwise -1.
    """
    person = np.zeros(len(pair), dtype=np.complex128)
    if answers.sharpness is not None or answers.lean is not None:
        person += 1.0 if answers.sharpness is None else answers.sharpness
        person += 0.0 if answers.lean is None else 1j * side * answers.lean
    persons, number = np.unique(person, return_inverse=True)
    codes, asked = np.unique(pair * len(persons) + number, return_counts=True)
    place, of_person = codes // len(persons), persons[codes % len(persons)]
    return Answers(
        place,
        place,
        np.ones(len(place)),
        strength=None if answers.strength is None else np.zeros(len(place), dtype=np.int64),
        sharpness=None if answers.sharpness is None else of_person.real,
        lean=None if answers.lean is None else of_person.imag,
    ), asked


def triads_of(left: Integers, right: Integers, items: int, rng: np.random.Generator, most: int = _MOST) -> Integers:
    """(m, 3) places of the pairs a-b, b-c, a-c, for items a < b < c; pairs have left < right and are sorted."""
    chosen = np.ones(items, dtype=np.bool_)
    begins = np.searchsorted(left, np.arange(items + 1))
    total = int(count_triads(begins, right, chosen, np.empty((0, 3), dtype=np.int64)))
    while total > most:
        chosen &= rng.random(items) < (most / total) ** (1.0 / 3.0)
        total = int(count_triads(begins, right, chosen, np.empty((0, 3), dtype=np.int64)))
    triads = np.empty((total, 3), dtype=np.int64)
    count_triads(begins, right, chosen, triads)
    return triads


@compiled
def count_triads(begins: Integers, right: Integers, chosen: NDArray[np.bool_], triads: Integers) -> int:
    """How many triads there are among the chosen items; they are written to `triads` as far as it has room."""
    found, room = 0, triads.shape[0]
    for a in range(begins.shape[0] - 1):
        if not chosen[a]:
            continue
        for first in range(begins[a], begins[a + 1]):
            b = right[first]
            if not chosen[b]:
                continue
            near, far = first + 1, begins[b]
            while near < begins[a + 1] and far < begins[b + 1]:
                if right[near] < right[far]:
                    near += 1
                elif right[near] > right[far]:
                    far += 1
                else:
                    if chosen[right[near]]:
                        if found < room:
                            triads[found, 0], triads[found, 1], triads[found, 2] = first, far, near
                        found += 1
                    near += 1
                    far += 1
    return found


def _ahead(balance: NDArray[np.number]) -> NDArray[np.int8]:
    return np.ascontiguousarray(np.sign(balance), dtype=np.int8)


@compiled
def circular(triads: Integers, ahead: NDArray[np.int8]) -> Integers:
    """(s,) how many are circular in each of s studies.

    ahead  (p, s) 1 where the left item of a pair won more often, -1 the right one, else 0
    """
    found = np.zeros(ahead.shape[1], dtype=np.int32)
    for triad in range(triads.shape[0]):
        one, two, across = ahead[triads[triad, 0]], ahead[triads[triad, 1]], ahead[triads[triad, 2]]
        # Without branches, so that many studies are looked at in one step.
        for study in range(found.shape[0]):
            found[study] += (one[study] != 0) & (one[study] == two[study]) & (across[study] == -one[study])
    return found.astype(np.int64)
