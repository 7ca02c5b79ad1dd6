"""The paper's largest run in kind: 6,072 items, 75 features, 110,349 recorded comparisons, 10,000 answers.

The data is simulated: scores linear in the features plus a term per item, random pairs, and one noisy recorded answer
to each. A study then asks among the recorded pairs, with the held-out error measured every 100 answers, as `ordinate
simulate` does on a data set of recorded answers. Printed are the seconds of the study (ask and tell) and of everything,
by the clock and of the processor, and the peak memory.

    python benchmarks/largest_run.py guro-hybrid-factored        # all 10,000 answers, on one core
    python benchmarks/largest_run.py guro-hybrid --answers 1000
"""

from __future__ import annotations

import argparse
import resource
import time

import numpy as np
from threadpoolctl import threadpool_limits

from ordinate.data.comparisons import Comparison
from ordinate.data.items import Items
from ordinate.datasets import Dataset
from ordinate.simulation.run import Plan, run_once
from ordinate.simulation.tasks import RecordedTask

ITEMS, COLUMNS, COMPARISONS = 6072, 75, 110_349


def recorded(rng: np.random.Generator) -> Dataset:
    """Features of unit mean squared norm whose columns matter less and less, as principal components do."""
    features = rng.normal(size=(ITEMS, COLUMNS)) / np.sqrt(np.arange(1, COLUMNS + 1))
    features /= np.sqrt((features**2).sum(axis=1).mean())
    scores = features @ rng.normal(size=COLUMNS) * 2.0 + rng.normal(size=ITEMS)
    left = rng.integers(0, ITEMS, COMPARISONS)
    right = (left + rng.integers(1, ITEMS, COMPARISONS)) % ITEMS
    won = rng.random(COMPARISONS) < 1.0 / (1.0 + np.exp(scores[right] - scores[left]))
    ids = [f"item-{row}" for row in range(ITEMS)]
    return Dataset(
        Items(ids, features),
        comparisons=tuple(
            Comparison(ids[i], ids[j], "left" if first else "right")
            for i, j, first in zip(left.tolist(), right.tolist(), won.tolist(), strict=True)
        ),
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("algorithm")
    parser.add_argument("--answers", type=int, default=10_000)
    parser.add_argument("--every", type=int, default=100)
    options = parser.parse_args()
    task = RecordedTask(recorded(np.random.default_rng(0)))
    begun, worked = time.perf_counter(), time.process_time()
    with threadpool_limits(1):
        rows = run_once(task, Plan(options.answers, options.every), options.algorithm, seed=0)
    total, work = time.perf_counter() - begun, time.process_time() - worked
    for row in rows[:: max(1, len(rows) // 10)]:
        print(f"{row.step:>6} answers   held-out error {row.error:.4f}   {row.seconds:8.1f} s of the study")
    last, peak = rows[-1], resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(
        f"{options.algorithm}: {last.step} answers, error {last.error:.4f}, {1e3 * last.seconds / last.step:.1f} ms per"
        f" answer, {total:.1f} s in all ({work:.1f} s of the processor), peak {peak:.0f} MB"
    )


if __name__ == "__main__":
    main()
