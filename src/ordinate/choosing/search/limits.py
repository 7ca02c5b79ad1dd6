"""How much a search evaluates, and how far its numbers may be off: the one place for limits and tolerances."""

from __future__ import annotations

from dataclasses import dataclass

from ordinate.data.pairs import MOST_PAIRS

TIE = 1e-9
"""Utilities this close, relatively, tie."""
PRODUCT_ROUNDING = 1e-10
"""More than the relative error of sigma'(m) from exp(f_i) exp(-f_j)."""
SINGLE_ROUNDING = 1e-5
"""More than the relative error of a squared length in float32."""
BOUND_ROUNDING = 1e-6
"""More than the relative error of a bound on the disagreement of draws, whose product is in float32."""
SIGMOID_ROUNDING = 1e-14
"""More than the rounding of sigmoids adds to a sample variance of them."""
MANY_TIES = 1e-4
"""Utilities this close, relatively, count as equal where more pairs tie than can be listed."""


@dataclass(frozen=True)
class Limits:
    """How much a search evaluates.

    most_pairs        of more pairs than this, not all are evaluated
    sampled_pairs     random pairs that stand for more than `most_pairs` where no bound helps

    Of many items, for `ManyItemsSearch`:
    most_items        of more items with more than `most_pairs` pairs, only those with the largest variance bounds
    tiles             tiles of pairs evaluated among more than `most_pairs` pairs
    block             items in a block of those to evaluate; a tile has block^2 pairs
    outer_blocks      blocks of the other items
    rows_at_once      rows of a factor that are computed together
    direction_sample  items from which the direction that scores follow is estimated
    listed_pairs      the length of the list, at most
    reference_rank    pairs are listed relative to the one of this rank, so that one odd pair does not decide
    evaluated_first   pairs of the list evaluated first, and often alone
    pairs_at_once     pairs that one call of the compiled loop may return
    """

    most_pairs: int = MOST_PAIRS
    sampled_pairs: int = 200_000
    most_items: int = 1 << 17
    tiles: int = 2000
    block: int = 128
    outer_blocks: int = 512
    rows_at_once: int = 1024
    direction_sample: int = 4096
    listed_pairs: int = 1 << 14
    reference_rank: int = 256
    evaluated_first: int = 256
    pairs_at_once: int = 1 << 18


LIMITS = Limits()
