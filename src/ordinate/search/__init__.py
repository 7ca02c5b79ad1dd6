"""The best pair under a utility, exactly: among all pairs, a list of pairs, or a random part of either."""

from ordinate.search.best_pair import Choice, CurvaturePower, Score, Utility, best_pair, best_scored
from ordinate.search.pools import AllPairs, PairList, Pool

__all__ = ["AllPairs", "Choice", "CurvaturePower", "PairList", "Pool", "Score", "Utility", "best_pair", "best_scored"]
