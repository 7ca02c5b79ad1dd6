"""The seam between models and strategies: a Gaussian over item scores that shrinks as answers come in.

    n  items     P  pairs     f_i  score of item i     m_ij, v_ij  mean and variance of f_i - f_j
    z = e_i - e_j     S  covariance of the scores

A belief is a value. Between refits an answer, or an open query, takes a rank-one piece off the covariance (Sherman and
Morrison; the paper, section 4):   S <- S - s u u^T / (1 + s v_ij),   u = S z,   s = curvature at m_ij.

How the covariance is kept is the matter of a representation, a file each: `dense` for a covariance of all items with
all, `factored` for features and a residual per item, `projected` for the same of many items.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from ordinate.data.arrays import Floats, Integers, Singles
from ordinate.learning.belief.loops import Pieces
from ordinate.learning.logistic import logistic_slope

_TILE_CELLS = 1 << 17
"""A tile of so many float64 covariances (1 MB) stays in a core's cache between its product and its scan."""


Curvature = Callable[[float, float], float]
"""m and v of a pair -> the curvature of an answer to it."""


class Belief(Protocol):
    """What strategies and search may ask of a belief."""

    @property
    def mean(self) -> Floats:
        """(n,) of the scores."""

    @property
    def variance(self) -> Floats:
        """(n,) of the scores."""

    @property
    def history(self) -> History:
        """What was taken off the covariance since the fit."""

    @property
    def rounding(self) -> float:
        """More than the rounding error of any v_ij; each later `shrink` may add as much again."""

    @property
    def pieces(self) -> Pieces:
        """What compiled loops compute v_ij from, pair by pair, with the same bits as `differences`."""

    @property
    def free(self) -> NDArray[np.bool_] | None:
        """(n,) the items that nothing is known about: independent of all others, with one mean and one variance.

        None where there may be none. Such items are known to be free only without features.
        """

    @property
    def many_items(self) -> ManyItemsBelief | None:
        """This belief, if it is kept for so many items that search goes by blocks of them; else None."""

    def differences(self, left: Integers, right: Integers) -> tuple[Floats, Floats]:
        """m and v, each (P,), of pairs of rows; the v of (i, j) and (j, i) have the same bits."""

    def covariance(self, rows: Integers | slice, columns: Integers | slice) -> Floats:
        """Covariances of distinct items; the cells of an item with itself lack its residual."""

    def covariance_with(self, rows: Integers, others: Integers, shares: Floats) -> Floats:
        """(r,) the covariance of each row's score with the sum of shares * scores of others; all rows distinct."""

    def shrink(self, left: int, right: int, curvature: float) -> Self:
        """The belief after one more answer of this curvature to a pair, whatever the answer; the mean stays."""

    def shrink_all(self, pairs: Sequence[tuple[int, int]], curvature: Curvature) -> Self:
        """The belief after one more answer to each of the pairs, in turn; the mean stays."""

    def with_mean(self, mean: Floats) -> Self:
        """The same covariance about another mean (n,); a history of its own."""

    def sample(self, size: int, rng: np.random.Generator) -> Floats:
        """(size, n) draws of the scores."""


class ManyItemsBelief(Belief, Protocol):
    """What search besides asks of a belief about many items: v_ij = |w_i - w_j|^2 + residual_i + residual_j.

    features  (n, k) shared by all beliefs of a study
    residual  (n,)
    root      (k, k) w = features @ root
    """

    @property
    def features(self) -> Singles: ...
    @property
    def residual(self) -> Floats: ...
    @property
    def root(self) -> Floats: ...
    @property
    def at_refit(self) -> ManyItemsBelief:
        """The belief right after the refit."""

    @property
    def taken(self) -> tuple[tuple[int, int, float], ...]:
        """The pair and the curvature of each `shrink` since the refit."""


class KeptCovariance(Protocol):
    """Owner of a covariance that is kept over refits which renew the mean alone."""

    def belief(self, mean: Floats) -> Belief:
        """The belief with this mean (n,)."""

    def absorb(self, belief: Belief) -> None:
        """Become the covariance of this belief, which `belief` gave and answers have shrunk.

        Beliefs given so far may stop working; they then raise RuntimeError.
        """

    def restore(self) -> None:
        """Become what it was before the last `absorb`, up to rounding; once for each."""


class KeptBelief:
    """A `KeptCovariance` that reuses no memory."""

    def __init__(self, belief: Belief) -> None:
        self._belief = self._before = belief

    def belief(self, mean: Floats) -> Belief:
        return self._belief.with_mean(mean)

    def absorb(self, belief: Belief) -> None:
        self._before, self._belief = self._belief, belief

    def restore(self) -> None:
        self._belief = self._before


class Taken(NamedTuple):
    """What one `shrink` took off: the precision that it added to the difference of a pair's scores.

    shared  along the directions that items share, in the whole covariance
    own     (2,) to the residuals of the left and of the right item, where the two have residuals; else 0
    """

    left: int
    right: int
    shared: float
    own: tuple[float, float] = (0.0, 0.0)

    def share_of(self, other: Taken) -> float:
        """The least share, at most 1, of what the other one took off that this one did too; both of one pair."""
        mine, theirs = (self.shared, *self.own), (other.shared, *other.own[:: 1 if self.left == other.left else -1])
        return min((min(a / b, 1.0) for a, b in zip(mine, theirs, strict=True) if b > 0.0), default=1.0)


@dataclass(frozen=True, eq=False, slots=True)
class History:
    """What a belief has been through since its fit: one link per `shrink`, known by identity.

    Precisions add up in whatever order they come. So where every one of another history of the same fit is matched by
    one of the same pair, of at least the share 1 / c, no v_ij is above c times what it was under the other history.
    """

    previous: History | None = None
    length: int = 0
    taken: Taken | None = None

    def extended(self, taken: Taken) -> History:
        return History(self, self.length + 1, taken)

    def continues(self, other: History) -> bool:
        """Whether this is the other one with any number of pieces (also none) taken off since."""
        link: History | None = self
        for _ in range(self.length - other.length):
            link = link.previous if link is not None else None
        return link is other

    def growth_since(self, other: History) -> float:
        """A c such that no v_ij is above c times what it was under the other history; inf if none is known.

        1 where this history continues the other one, or where open queries have been answered since.
        """
        mine: dict[tuple[int, int], list[Taken]] = {}
        theirs: list[Taken] = []
        one: History | None = self
        two: History | None = other
        while one is not two:
            if one is None or two is None:
                return math.inf
            if one.length >= two.length and one.taken is not None:
                pair = one.taken.left, one.taken.right
                mine.setdefault((min(pair), max(pair)), []).append(one.taken)
                one = one.previous
            elif two.taken is not None:
                theirs.append(two.taken)
                two = two.previous
            else:
                return math.inf
        share = 1.0
        for taken in theirs:
            matching = mine.get((min(taken.left, taken.right), max(taken.left, taken.right)))
            if not matching:
                return math.inf
            share = min(share, matching.pop().share_of(taken))
        return 1.0 / share if share > 0.0 else math.inf


OneBelief = TypeVar("OneBelief", bound=Belief)


def update(belief: OneBelief, left: int, right: int) -> OneBelief:
    """After an answer to the pair: curvature sigma'(m); the mean waits for the next refit (the paper's practice)."""
    return belief.shrink(left, right, logistic_slope(belief.mean[left] - belief.mean[right]))


def pending(belief: OneBelief, *pairs: tuple[int, int]) -> OneBelief:
    """With these pairs asked, in this order, and not answered yet.

    sigma'(m) misjudges what an answer will take off once v is about 1, so the slope is that of the probability with the
    score's uncertainty in it: s = kappa sigma'(kappa m), kappa = 1 / sqrt(1 + pi v / 8) (MacKay 1992).
    """

    def curvature(margin: float, variance: float) -> float:
        kappa = 1.0 / math.sqrt(1.0 + math.pi * variance / 8.0)
        return kappa * logistic_slope(kappa * margin)

    return belief.shrink_all(pairs, curvature)


def shrink_in_turn(belief: OneBelief, pairs: Sequence[tuple[int, int]], curvature: Curvature) -> OneBelief:
    """`Belief.shrink_all` by one `shrink` after the other."""
    for left, right in pairs:
        margins, variances = belief.differences(np.array([left]), np.array([right]))
        belief = belief.shrink(left, right, curvature(float(margins[0]), float(variances[0])))
    return belief


def tiles(belief: Belief, rows: Integers) -> Iterator[tuple[int, Floats]]:
    """Blocks of the covariance among `rows`, as (first, block): block[a, b] is of rows[first + a] and rows[first + b].

    Only the upper triangle is covered; memory stays at one tile.
    """
    count = len(rows)
    contiguous = count == 0 or (rows[-1] - rows[0] == count - 1)
    first = 0
    while first < count:
        last = min(count, first + max(16, min(256, _TILE_CELLS // (count - first))))
        if contiguous:
            start = int(rows[0])
            yield first, belief.covariance(slice(start + first, start + last), slice(start + first, start + count))
        else:
            yield first, belief.covariance(rows[first:last], rows[first:])
        first = last


def rounding_of(largest: float, products: int) -> float:
    """`Belief.rounding` where v_ij is a difference of terms up to `largest`, sums of so many products each.

    A sum of k products is off by at most about k roundings of the largest term.
    """
    return 16.0 * (products + 16) * float(np.finfo(np.float64).eps) * largest
