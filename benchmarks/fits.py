"""Fits of a score per item (Bradley and Terry): ours with standard errors, and choix, evalica, arena-rank, plain NumPy.

Each gets the answers in the form that it asks for, made outside the timing; what compiles has compiled. First each runs
in a process of its own, which shows its peak memory and leaves out those that take longer than the limit; then the rest
take turns. All on one core.

choix's penalty alpha * sum(scores^2) with alpha = 1/2 is our prior N(0, 1): the same optimum. choix's ilsr and evalica
maximise the likelihood alone; arena-rank too, up to a ridge in its errors. Their scores are compared with ours under a
prior so wide (variance 1e6) that it says nothing.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from benchmarks.measure import Call, Row, Trial, apart, interleaved, row
from benchmarks.plain import fit_scores
from ordinate.learning.models import Answers
from ordinate.learning.models.independent import Independent
from ordinate.study.threads import one_thread

SIZES = [(1000, 1_000_000), (6000, 110_000)]
WIDE = 1e6
SLOW = 10.0  # seconds of a first fit above which compiling is no matter


class Work(NamedTuple):
    n: int
    answers: Answers

    @property
    def winners(self) -> tuple[np.ndarray, np.ndarray]:
        """Rows of the winners and of the losers."""
        won = self.answers.outcome > 0.5
        left, right = self.answers.left, self.answers.right
        return np.where(won, left, right), np.where(won, right, left)


def work(n: int, count: int) -> Work:
    rng = np.random.default_rng(n)
    scores = rng.normal(size=n)
    left = rng.integers(0, n, count)
    right = (left + rng.integers(1, n, count)) % n
    won = rng.random(count) < 1.0 / (1.0 + np.exp(scores[right] - scores[left]))
    return Work(n, Answers(left, right, won.astype(float)))


Fit = Callable[[], np.ndarray]  # -> (n,) scores


def ours(given: Work, variance: float = 1.0) -> Fit:
    nothing, together = np.empty((given.n, 0)), np.zeros(given.n, dtype=np.int64)

    def fit() -> np.ndarray:
        with one_thread():
            scores, errors = Independent(variance).fit(nothing, given.answers).centred(together)
        assert np.isfinite(errors).all()
        return scores

    return fit


def plain(given: Work) -> Fit:
    def fit() -> np.ndarray:
        scores, covariance = fit_scores(*given.answers[:3], given.n, 1.0)
        centred = covariance.diagonal() - 2.0 * covariance.mean(axis=1) + covariance.mean()
        assert (centred > 0.0).all()
        return scores

    return fit


def choix_opt(given: Work) -> Fit:
    import choix

    data = list(zip(*(rows.tolist() for rows in given.winners), strict=True))
    return lambda: choix.opt_pairwise(given.n, data, alpha=0.5, tol=1e-8)


def choix_ilsr(given: Work) -> Fit:
    import choix

    data = list(zip(*(rows.tolist() for rows in given.winners), strict=True))
    return lambda: choix.ilsr_pairwise(given.n, data)


def evalica(given: Work) -> Fit:
    import evalica as package
    import pandas as pd

    left, right = given.answers.left.tolist(), given.answers.right.tolist()
    winners = [package.Winner.X if won else package.Winner.Y for won in given.answers.outcome > 0.5]
    index = pd.Index(range(given.n))

    def fit() -> np.ndarray:
        found = package.bradley_terry(left, right, winners, index=index, tolerance=1e-9, limit=10_000)
        scores: np.ndarray = np.log(found.scores.reindex(index).to_numpy())
        return scores

    return fit


def arena_rank(given: Work) -> Fit:
    import jax.numpy as jnp
    from arena_rank.models.bradley_terry import BradleyTerry
    from arena_rank.utils.data_utils import PairDataset

    pairs = jnp.stack([jnp.array(given.answers.left), jnp.array(given.answers.right)], axis=1).astype(jnp.int32)
    ones = jnp.ones(len(pairs), dtype=jnp.float64)
    data = PairDataset(list(range(given.n)), pairs, jnp.array(given.answers.outcome), ones, ones, ones)

    def fit() -> np.ndarray:
        model = BradleyTerry(given.n, scale=1.0, base=np.e, init_rating=0.0)
        return np.asarray(model.compute_ratings_and_cis(data)["ratings"])

    return fit


class Competitor(NamedTuple):
    """errors: with standard errors, or intervals; same: "MAP" under N(0, 1), or "MLE"."""

    build: Callable[[Work], Fit]
    errors: bool
    same: str


COMPETITORS = {
    "ordinate": Competitor(ours, True, "MAP"),
    "NumPy, dense Newton": Competitor(plain, True, "MAP"),
    "choix opt_pairwise": Competitor(choix_opt, False, "MAP"),
    "choix ilsr_pairwise": Competitor(choix_ilsr, False, "MLE"),
    "evalica bradley_terry": Competitor(evalica, False, "MLE"),
    "arena-rank BradleyTerry": Competitor(arena_rank, True, "MLE"),
}


def one_fit(who: str, n: int, count: int) -> float:
    """Seconds of a first fit, for a process of its own."""
    fit = COMPETITORS[who].build(work(n, count))
    begun = time.process_time()
    fit()
    return time.process_time() - begun


def compare(n: int, count: int, rounds: int, seconds_each: float, limit: float) -> Iterator[Row]:
    given = work(n, count)
    trials: dict[str, Trial] = {who: apart(one_fit, who, n, count, limit=limit) for who in COMPETITORS}
    found: dict[str, np.ndarray] = {}
    calls: dict[str, Call] = {}
    for who, trial in trials.items():
        if trial.failure:
            nothing = np.full(1, np.nan)
            yield row("fit", "fit", who, (n, 0, count), nothing, note=trial.failure)
            continue
        calls[who] = _call(who, COMPETITORS[who].build(given), found)
        if trial.seconds < SLOW:
            calls[who]()  # compiles what there is to compile
    times = interleaved(calls, rounds, seconds_each)
    reference = {"MAP": ours(given)(), "MLE": ours(given, WIDE)()}
    for who, seconds in times.items():
        competitor = COMPETITORS[who]
        scores = found[who] - found[who].mean()
        apart_by = float(np.abs(scores - reference[competitor.same]).max())
        with_errors = "with" if competitor.errors else "without"
        same = "" if who == "ordinate" else f"; scores within {apart_by:.0e} of ours"
        note = f"{competitor.same}, {with_errors} standard errors{same}"
        yield row("fit", "fit", who, (n, 0, count), seconds, peak_mb=trials[who].peak_mb, note=note)


def _call(who: str, fit: Fit, found: dict[str, Any]) -> Call:
    def call() -> int:
        found[who] = fit()
        return 1

    return call


def rows(quick: bool) -> Iterator[Row]:
    for n, count in [(100, 5000)] if quick else SIZES:
        yield from compare(n, count, 2 if quick else 5, 1.0 if quick else 8.0, 45.0)
