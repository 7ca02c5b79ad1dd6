"""A study of many items, driven as in production: time per question, memory, and what its search gives away.

The features are clusters with a falling spectrum, as embeddings have; the answers come from a logistic annotator. The
loss is measured now and then against every pair that the sampled rows are in: all rows with --rows 0. Seconds are
processor time, except wall_ms; product_s is that of a float64 product of 2,048 x 2,048, the yardstick of the machine.

    python benchmarks/large.py                                    # 100,000 x 64, 1,000 answers, contextual and factored
    python benchmarks/large.py --items 1000000 --columns 128 --answers 200 --rows 2048
"""

from __future__ import annotations

import argparse
import resource
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from ordinate.choosing.search import LIMITS, CurvaturePower
from ordinate.choosing.search.many_items import ManyItemsSearch
from ordinate.data.items import Items
from ordinate.data.pairs import PairList
from ordinate.learning.belief import ManyItemsBelief
from ordinate.learning.logistic import logistic_slope, sigmoid
from ordinate.study.study import Study
from ordinate.study.threads import one_thread

BLOCK = 1 << 14
ROWS, COLUMNS = 256, 1024
LEVELS = 32


def write_features(path: Path, n: int, d: int) -> None:
    """A float32 file, written block by block."""
    rng = np.random.default_rng(0)
    falling = np.arange(1, d + 1) ** -0.3
    centres = rng.normal(size=(200, d))
    matrix = np.lib.format.open_memmap(path, mode="w+", dtype=np.float32, shape=(n, d))
    for start in range(0, n, BLOCK):
        size = min(BLOCK, n - start)
        matrix[start : start + size] = (centres[rng.integers(0, 200, size)] + rng.normal(size=(size, d))) * falling
    matrix.flush()


def best_of_all(belief: ManyItemsBelief, asked: PairList) -> float:
    """The largest sigma'(m)^2 v of all pairs that were not asked, in float32, tile by tile.

    Left out are tiles whose scores lie so far apart that no pair in them could be better, however much its v.
    """
    order = np.argsort(belief.mean)
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    low, high = np.sort(place[[asked.left, asked.right]], axis=0)
    factor = belief.features[order] @ belief.root.astype(np.float32)
    factor -= factor.mean(axis=0)
    variance = np.einsum("nk,nk->n", factor, factor) + belief.residual[order].astype(np.float32)
    score = belief.mean[order].astype(np.float32)
    most, best = 4.0 * float(variance.max()), 0.0
    for top in range(0, len(order), ROWS):
        row = slice(top, top + ROWS)
        for start in range(top, len(order), COLUMNS):
            column = slice(start, start + COLUMNS)
            gap = max(float(score[start] - score[row][-1]), 0.0)
            if logistic_slope(gap) ** 2 * most < best:
                break
            worth = factor[row] @ factor[column].T
            worth *= -2.0
            worth += variance[row, None]
            worth += variance[column]
            fall = np.exp(-np.abs(score[row, None] - score[column]))
            slope = fall / np.square(1.0 + fall)
            worth *= slope
            worth *= slope
            if start == top:
                worth[np.tril_indices(len(worth), m=worth.shape[1])] = 0.0
            inside = (low // ROWS * ROWS == top) & (high >= start) & (high < start + COLUMNS)
            worth[low[inside] - top, high[inside] - start] = 0.0
            best = max(best, float(worth.max()))
    return best


def best_of_rows(belief: ManyItemsBelief, asked: PairList, rows: int) -> float:
    """Of the pairs not asked with one of so many items: half of them the widest at a level, half random ones."""
    factor = belief.features @ belief.root.astype(np.float32)
    variance = np.einsum("nk,nk->n", factor, factor) + belief.residual.astype(np.float32)
    levels = np.array_split(np.argsort(belief.mean), LEVELS)
    widest = np.concatenate([level[np.argsort(-variance[level])[: rows // 2 // LEVELS]] for level in levels])
    chosen = np.concatenate([widest, np.random.default_rng(1).choice(len(variance), rows // 2, replace=False)])
    centred = (belief.mean - belief.mean.mean()).astype(np.float32)
    best = 0.0
    for start in range(0, len(chosen), 16):
        part = chosen[start : start + 16]
        fall = np.exp(-np.abs(centred[part, None] - centred))
        spread = variance[part, None] + variance - 2 * (factor[part] @ factor.T)
        spread[np.arange(len(part)), part] = 0
        for number, item in enumerate(part):
            spread[number, asked.right[asked.left == item]] = spread[number, asked.left[asked.right == item]] = 0
        best = max(best, float((np.square(fall / np.square(1 + fall)) * spread).max()))
    return best


def run(
    path: Path, algorithm: str, n: int, d: int, answers: int, rows: int, checks: int, seed: int
) -> Iterator[dict[str, object]]:
    before = product_seconds()
    begin = time.process_time()
    items = Items.from_columns({"id": [f"item-{row}" for row in range(n)]}, features=path)
    read = time.process_time() - begin
    place = {item: row for row, item in enumerate(items.ids)}
    scores = np.load(path, mmap_mode="r") @ (0.5 * np.random.default_rng(5).normal(size=d)).astype(np.float32)
    rng = np.random.default_rng([7, seed])
    with tempfile.TemporaryDirectory() as folder:
        address = f"sqlite:///{folder}/study.db"
        begin = time.process_time()
        study = Study.create(items, algorithm=algorithm, storage=address, seed=seed)
        created = time.process_time() - begin
        walls, cores, losses, ceilings = [], [], [], []
        for number in range(answers):
            wall, core = time.perf_counter(), time.process_time()
            query = study.ask()
            wall, core = time.perf_counter() - wall, time.process_time() - core
            left, right = place[query.left], place[query.right]
            if checks and number % max(answers // checks, 1) == 0 and number:
                with one_thread():
                    with study._ledger.reading() as state:
                        belief = study._ledger.inference.answered(state).many_items
                        assert belief is not None, "--items is too small for the search that this measures"
                        found = float(state.queries[-1].utility or 0.0)
                        pool = state.unseen(None)
                    asked = pool.pairs_of(pool.masked)
                    best = best_of_rows(belief, asked, rows) if rows else best_of_all(belief, asked)
                    losses.append(max(1 - found / best, 0.0))
                    search = ManyItemsSearch(belief, pool, CurvaturePower(2), LIMITS)
                    ceilings.append(max(search.upper_bound(belief, pool) / found, 1.0))
            told, spent = time.perf_counter(), time.process_time()
            study.tell(query.id, "left" if rng.random() < sigmoid(scores[left] - scores[right]) else "right")
            walls.append(wall + time.perf_counter() - told)
            cores.append(core + time.process_time() - spent)
        asked_gb = peak_gb()
        begin = time.process_time()
        study.ordering()
        ordered = time.process_time() - begin
        begin = time.process_time()
        study.expected_error()
        expected = time.process_time() - begin
        study.close()
        begin = time.process_time()
        with Study.open(address):
            opened = time.process_time() - begin
    yield {
        "algorithm": algorithm,
        "n": n,
        "d": d,
        "answers": answers,
        "create_s": read + created,
        "first_s": cores[0],
        "hundred_ms": 1e3 * np.mean(cores[1:100]),
        "hundred_most_ms": 1e3 * np.max(cores[1:100]),
        "mean_ms": 1e3 * np.mean(cores[1:]),
        "p99_ms": 1e3 * np.quantile(cores[1:], 0.99),
        "wall_ms": 1e3 * np.mean(walls[1:]),
        "mean_loss": np.mean(losses) if losses else np.nan,
        "worst_loss": np.max(losses) if losses else np.nan,
        "checks": len(losses),
        "ceiling_ratio": np.mean(ceilings) if ceilings else np.nan,
        "open_s": opened,
        "ordering_s": ordered,
        "expected_error_s": expected,
        "asked_gb": asked_gb,
        "peak_gb": peak_gb(),
        "product_s": (before + product_seconds()) / 2.0,
    }


def product_seconds() -> float:
    square = np.ones((2048, 2048))
    product = square @ square
    begin = time.process_time()
    np.matmul(square, square, out=product)
    return time.process_time() - begin


def peak_gb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--items", type=int, default=100_000)
    parser.add_argument("--columns", type=int, default=64)
    parser.add_argument("--answers", type=int, default=1000)
    parser.add_argument("--rows", type=int, default=0, help="measure the loss against the pairs of this many items")
    parser.add_argument("--checks", type=int, default=5, help="how often the loss is measured")
    parser.add_argument("--algorithms", nargs="+", default=["guro-contextual", "guro-hybrid-factored"])
    parser.add_argument("--seed", type=int, default=1, help="of the study and the annotator")
    parser.add_argument("--folder", type=Path, help="keeps the feature file for the next run")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = (given.folder or Path(folder)) / f"features-{given.items}-{given.columns}.npy"
        if not path.exists():
            write_features(path, given.items, given.columns)
        for algorithm in given.algorithms:
            size = given.items, given.columns
            for row in run(path, algorithm, *size, given.answers, given.rows, given.checks, given.seed):
                print(
                    "  ".join(
                        f"{name} {value:.4g}" if isinstance(value, float) else f"{name} {value}"
                        for name, value in row.items()
                    ),
                    flush=True,
                )


if __name__ == "__main__":
    main()
