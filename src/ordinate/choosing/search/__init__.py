"""The best pair under a utility, exactly: among all pairs, a list of pairs, or a random part of either."""

from ordinate.choosing.search.best_pair import Bounds, best_pair, best_scored
from ordinate.choosing.search.choice import Choice, CurvaturePower, Rising, Score, Utility
from ordinate.choosing.search.disputed import most_disputed
from ordinate.choosing.search.shortlist import Shortlist
from ordinate.data.pairs import AllPairs, PairList, Pool, pair_codes

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
