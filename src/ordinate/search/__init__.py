"""The best pair under a utility, exactly: among all pairs, a list of pairs, or a random part of either."""

from ordinate.search.best_pair import Bounds, best_pair, best_scored
from ordinate.search.choice import Choice, CurvaturePower, Rising, Score, Utility
from ordinate.search.disputed import most_disputed
from ordinate.search.pools import AllPairs, PairList, Pool, pair_codes
from ordinate.search.shortlist import Shortlist

__all__ = [
    "AllPairs",
    "Bounds",
    "Choice",
    "CurvaturePower",
    "PairList",
    "Pool",
    "Rising",
    "Score",
    "Shortlist",
    "Utility",
    "best_pair",
    "best_scored",
    "most_disputed",
    "pair_codes",
]
