"""The best pair under a utility, exactly: among all pairs, a list of pairs, or a random part of either."""

from ordinate.choosing.search.choice import Choice
from ordinate.choosing.search.disagreement import most_disagreement
from ordinate.choosing.search.limits import LIMITS, Limits
from ordinate.choosing.search.search import LazySearch, Search, best_pair, best_scored
from ordinate.choosing.search.utility import CurvaturePower, MonotoneUtility, Score, Utility
from ordinate.data.pairs import AllPairs, PairList, Pool, pair_codes

__all__ = [
    "LIMITS",
    "AllPairs",
    "Choice",
    "CurvaturePower",
    "LazySearch",
    "Limits",
    "MonotoneUtility",
    "PairList",
    "Pool",
    "Score",
    "Search",
    "Utility",
    "best_pair",
    "best_scored",
    "most_disagreement",
    "pair_codes",
]
