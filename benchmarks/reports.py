"""How long a report takes, of many items, many groups and many answers: seconds of the processor, and megabytes.

python -m benchmarks.reports
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ordinate.data.comparisons import Comparison
from ordinate.data.items import Items
from ordinate.report import write_report
from ordinate.study.study import Study

COLUMNS, ANNOTATORS = 20, 10


class Size(NamedTuple):
    items: int
    groups: int
    answers: int
    algorithm: str | None = None


SIZES = (
    Size(100, 1, 500),
    Size(640, 32, 6_400),
    Size(1_000, 1, 100_000),
    Size(3_200, 32, 16_000, "guro-hybrid-factored"),
    Size(20_000, 1, 100_000, "guro-hybrid-factored"),
)


def make(size: Size, path: Path) -> None:
    """A study of recorded answers about random pairs."""
    rng = np.random.default_rng(0)
    features = rng.normal(size=(size.items, COLUMNS))
    scores = features @ rng.normal(size=COLUMNS) / 4.0 + rng.normal(size=size.items)
    ids = [f"item {row}" for row in range(size.items)]
    group = None if size.groups == 1 else [f"group {row % size.groups}" for row in range(size.items)]
    each = size.items // size.groups
    inside, first = rng.integers(0, size.groups, size.answers), rng.integers(0, each, size.answers)
    second = (first + rng.integers(1, each, size.answers)) % each
    left, right = inside + size.groups * first, inside + size.groups * second
    wins = rng.random(size.answers) < 1.0 / (1.0 + np.exp(scores[right] - scores[left]))
    items = Items(ids, features, group=group)
    with Study.create(items, algorithm=size.algorithm, storage=f"sqlite:///{path}") as study:
        study.record(
            Comparison(ids[one], ids[other], "left" if won else "right", f"annotator {number % ANNOTATORS}")
            for number, (one, other, won) in enumerate(zip(left, right, wins, strict=True))
        )


def measure(path: Path) -> None:
    """In a process of its own: the seconds of the processor that a report takes, and its memory at most."""
    with Study.open(f"sqlite:///{path}") as study:
        began = time.process_time()
        write_report(study, path.with_suffix(".html"), folder=path.parent)
        seconds = time.process_time() - began
    print(f"{seconds:.1f} | {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f}")


def main() -> None:
    if len(sys.argv) > 1:
        measure(Path(sys.argv[1]))
        return
    print("| items | groups | answers | algorithm | s | MB | page, MB |\n|--:|--:|--:|---|--:|--:|--:|")
    with tempfile.TemporaryDirectory() as folder:
        for number, size in enumerate(SIZES):
            path = Path(folder) / f"{number}.db"
            make(size, path)
            # Twice: the first time functions may be compiled.
            for _ in range(2):
                command = [sys.executable, "-m", "benchmarks.reports", str(path)]
                took = subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()
            page = path.with_suffix(".html").stat().st_size / 1e6
            name = size.algorithm or "guro-hybrid"
            print(f"| {size.items:,} | {size.groups} | {size.answers:,} | `{name}` | {took} | {page:.1f} |", flush=True)


if __name__ == "__main__":
    main()
