"""The hottest paths against what the core can do: products and copies measured in the same run, and a profile of each.

GFlop/s counts the multiplications and additions of the products alone; GB/s the matrix that must be read once. Where
neither is near the roofline, the profile says where the time goes: own time of functions, with the operators and BLAS
calls in them; compiled loops appear under their own names.
"""

from __future__ import annotations

import cProfile
import pstats
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks.fits import ours as independent_fit
from benchmarks.fits import work as independent_work
from benchmarks.machine import Roofline, best_of
from benchmarks.questions import Questions
from benchmarks.refits import problem
from ordinate.choosing.search import CurvaturePower, best_pair
from ordinate.data.pairs import AllPairs
from ordinate.learning.belief import Belief, update
from ordinate.learning.models import Answers
from ordinate.learning.models.contextual import Contextual
from ordinate.learning.models.factored import FactoredHybrid
from ordinate.learning.models.hybrid import Hybrid
from ordinate.study.threads import one_thread

SHOWN = 6
CALLS = 4


class HotPath(NamedTuple):
    """flops, bytes: per unit of work, where they can be counted; 0: they cannot."""

    name: str
    call: Callable[[], object]
    units: int = 1
    flops: float = 0.0
    read: float = 0.0


def paths(quick: bool) -> Iterator[HotPath]:
    n, d = (400, 20) if quick else (6072, 75)
    pairs = n * (n - 1) / 2
    features, answers = problem(n, d)
    early = Answers(answers.left[:100], answers.right[:100], answers.outcome[:100])
    factored = Contextual().fit(features, early).belief
    cold = "search of all pairs, nothing known"
    yield HotPath(f"{cold}, contextual", _cold(factored, n), flops=2 * d * pairs, read=8 * n * d)
    questions = Questions(n, d, "guro-contextual").warmed_up()
    yield HotPath("question, contextual", questions, questions.size)
    dense = Hybrid().fit(features, early).belief
    yield HotPath(f"{cold}, exact hybrid", _cold(dense, n), read=8 * pairs)
    exact = Questions(n, d, "guro-hybrid").warmed_up()
    yield HotPath("question, exact hybrid", exact, exact.size)
    yield HotPath("refit, factored hybrid", lambda: FactoredHybrid().fit(features, answers))
    given = independent_work(*((200, 4000) if quick else (6000, 110_000)))
    yield HotPath("fit of a score per item with standard errors", independent_fit(given))


def _cold(belief: Belief, n: int) -> Callable[[], object]:
    """A first search of a belief that nobody has searched: `update` makes a new one of the answered pair."""
    pool, rng = AllPairs.of(np.zeros(n, dtype=np.int64)), np.random.default_rng(0)
    best_pair(belief, pool, CurvaturePower(2), rng)
    updated = update(belief, 0, 1)
    return lambda: best_pair(updated, pool, CurvaturePower(2), rng)


def report(roof: Roofline, quick: bool) -> str:
    """Markdown: a line for each path, then the profile of each."""
    lines = [
        f"One core of this machine, at best: {roof.gflops:.0f} GFlop/s in a float64 product of 2,048 x 2,048, "
        f"{roof.copy_gb:.1f} GB/s read and written in a copy of 256 MiB.",
        "",
        "| path | ms | GFlop/s | of the product's | GB/s | of the copy's |",
        "|---|--:|--:|--:|--:|--:|",
    ]
    profiles = []
    with one_thread():
        for path in paths(quick):
            seconds = best_of(path.call, 1 if quick else 4) / path.units
            flops, read = path.flops / seconds / 1e9, path.read / seconds / 1e9
            cells = [f"{1e3 * seconds:.1f}"]
            cells += [f"{flops:.1f}", f"{100 * flops / roof.gflops:.0f} %"] if flops else ["", ""]
            cells += [f"{read:.1f}", f"{100 * read / roof.copy_gb:.0f} %"] if read else ["", ""]
            lines.append("| " + " | ".join([path.name, *cells]) + " |")
            profiles.append(f"{path.name}\n{profile(path)}")
    return "\n".join(lines) + "\n\n```text\n" + "\n\n".join(profiles) + "\n```"


def profile(path: HotPath) -> str:
    """The functions that take most own time, by cProfile, over a few calls."""
    profiler = cProfile.Profile()
    profiler.enable()
    for _ in range(CALLS):
        path.call()
    profiler.disable()
    stats = pstats.Stats(profiler).stats  # type: ignore[attr-defined]  # typeshed leaves it out
    total = sum(own for _, _, own, _, _ in stats.values())
    most = sorted(stats.items(), key=lambda item: -item[1][2])[:SHOWN]
    return "\n".join(
        f"  {100 * own / total:5.1f} %  {Path(file).stem if line else 'built in'}: {name.strip('<>')} ({calls} calls)"
        for (file, line, name), (_, calls, own, _, _) in most
    )
