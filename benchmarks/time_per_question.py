"""Time to find the next pair among all n (n - 1) / 2, against plain NumPy on the same belief in the same run.

The plain version is what one would write first: the difference vectors of all pairs as one (pairs, d) array, their
quadratic forms, sigma', the maximum. Ours is the product path: the rank-one update of an answer and the exact search.

    python benchmarks/time_per_question.py                       # n = 200, 500, 935 against it, and 6,072 alone
    python benchmarks/time_per_question.py --largest-plain 1000  # largest n at which the plain version is run
"""

from __future__ import annotations

import argparse
import resource
import time
from collections.abc import Callable

import numpy as np

from ordinate.belief import FactoredBelief, update
from ordinate.search import AllPairs, Choice, CurvaturePower, best_pair
from ordinate.types import Floats

SIZES = [(200, 35), (500, 35), (935, 162), (6072, 75)]


def plain(mean: Floats, features: Floats, covariance: Floats) -> tuple[int, int]:
    """All difference vectors at once: (pairs, d) floats of memory."""
    left, right = np.triu_indices(len(mean), 1)
    contrast = features[left] - features[right]
    variance = np.einsum("pd,pd->p", contrast @ covariance, contrast)
    probability = 1 / (1 + np.exp(-(mean[left] - mean[right])))
    best = int(np.argmax((probability * (1 - probability)) ** 2 * variance))
    return int(left[best]), int(right[best])


def problem(n: int, d: int, rng: np.random.Generator) -> tuple[FactoredBelief, Floats, Floats]:
    features = rng.normal(size=(n, d)) / np.sqrt(d)
    root = rng.normal(size=(d, d)) / np.sqrt(d) + 0.3 * np.eye(d)
    mean = features @ rng.normal(size=d)
    return FactoredBelief(mean, features @ root, np.zeros(n)), features, root @ root.T


def ours(belief: FactoredBelief, pool: AllPairs, rng: np.random.Generator) -> Choice:
    updated = update(belief, 0, 1)
    return best_pair(updated, pool, CurvaturePower(2), rng)


def median_seconds(call: Callable[[], object], repeats: int) -> float:
    times = []
    for _ in range(repeats):
        started = time.perf_counter()
        call()
        times.append(time.perf_counter() - started)
    return float(np.median(times))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--largest-plain", type=int, default=1000)
    largest_plain = parser.parse_args().largest_plain
    print(f"{'n':>6} {'d':>4} {'pairs':>11} {'plain ms':>10} {'ours ms':>9} {'ratio':>7} {'peak MB':>8}")
    # The plain version would dominate the peak, so the large case, which runs without it, comes first.
    for n, d in sorted(SIZES, reverse=True):
        rng = np.random.default_rng(n)
        belief, features, covariance = problem(n, d, rng)
        pool = AllPairs.of(np.zeros(n, dtype=np.int64))
        choice = best_pair(belief, pool, CurvaturePower(2), rng)
        mine = median_seconds(lambda: ours(belief, pool, rng), 15)  # noqa: B023 - called at once
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        line = f"{n:>6} {d:>4} {n * (n - 1) // 2:>11,}"
        if n <= largest_plain:
            assert plain(belief.mean, features, covariance) == choice[:2], "both must find the same pair"
            theirs = median_seconds(lambda: plain(belief.mean, features, covariance), 3)  # noqa: B023
            print(f"{line} {1e3 * theirs:>10.1f} {1e3 * mine:>9.2f} {theirs / mine:>7.0f} {'':>8}")
        else:
            print(f"{line} {'':>10} {1e3 * mine:>9.2f} {'':>7} {peak:>8.0f}")


if __name__ == "__main__":
    main()
