"""The fewest answers without which others would be among the first: how far the top rests on single answers.

i, j  an item among the first and one that is not     m  mean of f_i - f_j     z_t = e_left - e_right     H: `response`
g_t, s_t  slope and weight of the answer; see `response`     v_t  variance of its margin

Without answer t the margin m falls by about psi_t = (e_i - e_j)^T H^-1 z_t g_t / (1 - s_t v_t). So the answers
with the largest psi, as many as it takes for their sum to reach m, are the fewest: the approximate maximum influence of
Broderick, Giordano and Meager (2020), with the leverage of each answer. A fit without them shows whether it is so.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ordinate.data.arrays import Floats, Integers
from ordinate.data.pairs import members
from ordinate.learning.checks import Finding, StudyData, listed, not_run
from ordinate.learning.checks.response import moved_by, residuals
from ordinate.learning.models.map_estimate import Prior
from ordinate.learning.ranks import LEVEL

_NEAREST = 10
"""Items on either side of the boundary, of a study with one group; of several, fewer of each."""
_MORE = 5
"""Where a fit without the answers keeps the order, up to so many more are left out."""
_TRIED = 3
"""Pairs of items that fits are made for."""
SHARE, MOST = 0.01, 3
"""Two items that are told apart should not change places without so few: a share of the answers about their group, and
no more than this. How many it takes grows with the root of the number of answers, and there are always items that are
only just told apart, so with many answers a share alone would be found wherever nothing is wrong."""


class Swap(NamedTuple):
    """An item among the first, and one that would come before it without some answers.

    inside, outside  rows of the two
    answers          places of the answers that hold them apart, strongest first: those needed and a few more
    needed           how many of them it takes
    order_right      the probability that the order of the two is right
    """

    inside: int
    outside: int
    answers: Integers
    needed: int
    order_right: float


def swaps(data: StudyData, prior: Prior) -> list[Swap]:
    """Of pairs of compared items across the boundary of the first `top` of each group, those with the fewest answers
    first."""
    from scipy.special import ndtr

    residual, weight = residuals(data)
    rows, mean = data.compared.rows, data.fit.mean
    left, right = (np.searchsorted(rows, side) for side in data.answers[:2])
    _, variance = data.fit.belief.differences(*data.answers[:2])
    pull = residual / np.maximum(1.0 - weight * variance, 0.05)
    found: list[Swap] = []
    groups = members(data.group)
    near = max(2, round(_NEAREST / len(groups) ** 0.5))
    for group in groups:
        inside, outside = boundary(mean, group, rows, data.top, near)
        if not len(inside) or not len(outside):
            continue
        chosen = np.concatenate([inside, outside])
        # By differences from the first one, since slopes sum to 0.
        moved = np.zeros((len(chosen), len(residual)))
        slopes = np.zeros((len(chosen) - 1, len(rows)))
        slopes[np.arange(len(slopes)), np.searchsorted(rows, chosen[1:])] = 1.0
        slopes[:, np.searchsorted(rows, chosen[0])] = -1.0
        for place, response in enumerate(moved_by(data, prior, slopes), start=1):
            moved[place] = (response[left] - response[right]) * pull
        ones, others = np.repeat(inside, len(outside)), np.tile(outside, len(inside))
        margin, spread = data.fit.belief.differences(ones, others)
        right_order = ndtr(margin / np.sqrt(np.maximum(spread, 1e-12)))
        for pair, (one, other) in enumerate(zip(ones.tolist(), others.tolist(), strict=True)):
            psi = moved[pair // len(outside)] - moved[len(inside) + pair % len(outside)]
            strongest = _strongest(psi, float(margin[pair]))
            if strongest is not None:
                found.append(Swap(one, other, *strongest, float(right_order[pair])))
    return sorted(found, key=lambda swap: swap.needed)


def boundary(mean: Floats, group: Integers, rows: Integers, top: int, near: int) -> tuple[Integers, Integers]:
    """The compared items of a group just before and just after the end of its first `top`, at most `near` of each."""
    top = within(top, len(group))
    order = group[np.lexsort((group, -mean[group]))]
    compared: NDArray[np.bool_] = np.isin(order, rows)
    return order[:top][compared[:top]][-near:], order[top:][compared[top:]][:near]


def within(top: int, items: int) -> int:
    """How many first items a boundary is drawn after, in a group of so many: half of them where there are no more."""
    first = top if top > 0 else items + top
    return first if 0 < first < items else items // 2


def _strongest(psi: Floats, margin: float) -> tuple[Integers, int] | None:
    """The places of the largest psi, from the largest, and how many of them sum to more than the margin."""
    size = min(4 * _MORE, len(psi))
    while True:
        largest = np.argpartition(-psi, size - 1)[:size]
        largest = largest[np.lexsort((largest, -psi[largest]))]
        reached = np.flatnonzero(np.cumsum(psi[largest]) > margin)
        if len(reached):
            needed = int(reached[0]) + 1
            return largest[: needed + _MORE], needed
        if size == len(psi) or psi[largest[-1]] <= 0.0:
            return None
        size = min(4 * size, len(psi))


def confirmed(data: StudyData, swap: Swap) -> Swap | None:
    """With as many answers as it takes for a fit without them to order the two the other way; None: more."""
    for needed in range(swap.needed, len(swap.answers) + 1):
        kept = np.ones(len(data.annotators), dtype=np.bool_)
        kept[swap.answers[:needed]] = False
        mean = data.cheap_fit(data.answers.those(kept)).mean
        if mean[swap.inside] < mean[swap.outside]:
            return swap._replace(needed=needed)
    return None


def check(data: StudyData) -> Finding:
    if data.prior is None:
        return not_run("The algorithm's model has no scores without some of the answers in closed form.")
    found = swaps(data, data.prior)
    if not found:
        return not_run("No answers hold items among the first apart from others.")
    about = np.bincount(data.group[data.answers.left])

    def few(swap: Swap) -> float:
        return min(SHARE * float(about[data.group[swap.inside]]), MOST)

    def first_confirmed(candidates: Iterable[Swap]) -> Swap | None:
        tried = (confirmed(data, swap) for swap in islice(candidates, _TRIED))
        return next((swap for swap in tried if swap is not None), None)

    # Where two items cannot be told apart nobody claims their order.
    weak = first_confirmed(swap for swap in found if swap.order_right >= LEVEL and swap.needed <= few(swap))
    shown = weak or first_confirmed(found)
    if shown is None:
        return not_run("A fit without the answers that seemed to matter most kept the order.")
    inside, outside = data.named(shown.inside), data.named(shown.outside)
    said = f"Without {shown.needed:,} of {len(data.annotators):,} answers, {outside} would come before {inside}, "
    first = within(data.top, int((data.group == data.group[shown.inside]).sum()))
    answers = listed([_named(data, one) for one in shown.answers[: shown.needed]])
    said += f"which is {f'among the first {first}' if first > 1 else 'the first'}: {answers}"
    if weak is None:
        if shown.order_right < LEVEL:
            said += "; but the answers do not separate these two with 90 % probability, so no order of them is claimed"
        return Finding("passed", float(shown.needed), few(shown), f"{said}.")
    return Finding("failed", float(shown.needed), few(shown), f"{said}.", f"Ask more about {inside} and {outside}.")


def _named(data: StudyData, answer: int) -> str:
    left, right, outcome = data.answers.left[answer], data.answers.right[answer], data.answers.outcome[answer]
    winner, loser = (left, right) if outcome >= 0.5 else (right, left)
    by = data.names[data.annotators[answer]]
    said = "as good as" if outcome == 0.5 else "over"
    return f"{data.named(int(winner))} {said} {data.named(int(loser))}" + ("" if by is None else f" ({by})")
