"""Annotators who prefer a side: what that does to a fit that knows of it, and to one that does not.

python -m benchmarks.sides --seeds 16

simulates three annotators who lean to the left, each by as much, and answer 100 random pairs of 60 items each.
"""

from __future__ import annotations

import argparse

import numpy as np
from scipy.special import expit

from ordinate.learning.expectation_propagation import Propagation
from ordinate.learning.expected_error import expected_error
from ordinate.learning.fitted import People, fitted
from ordinate.learning.likelihoods.cumulative import Cumulative
from ordinate.learning.models import Answers, SiteModel
from ordinate.learning.models.hybrid import Hybrid
from ordinate.simulation.metrics import ordering_error

ITEMS, COLUMNS, PEOPLE, EACH = 60, 5, 3, 100
LEANS = (0.0, 0.7, 1.5)


def run(seed: int, lean: float) -> list[float]:
    """The ordering error and the expected one of a fit that leaves sides out, then of one that does not; the lean."""
    rng = np.random.default_rng([seed, 23])
    features = rng.normal(size=(ITEMS, COLUMNS)) / np.sqrt(COLUMNS)
    truth = np.sqrt(2.0) * features @ rng.normal(size=COLUMNS) + rng.normal(size=ITEMS)
    who = np.tile(np.arange(PEOPLE), EACH)
    left = rng.integers(0, ITEMS, len(who))
    right = (left + rng.integers(1, ITEMS, len(who))) % ITEMS
    won = (rng.random(len(who)) < expit(truth[left] - truth[right] + lean)).astype(np.float64)
    answers = Answers(left, right, won)
    everybody = np.ones(PEOPLE, dtype=np.bool_)
    people = People(who, everybody, np.ones(len(who), dtype=np.bool_), ~everybody)
    found: list[float] = []
    for sides in (False, True):
        start = Hybrid(likelihood=Cumulative())
        used = fitted(start, features, answers, people, features_alone=0.0, weigh=False, sides=sides)
        model = used.model
        assert isinstance(model, SiteModel)
        posterior = Propagation(model, features, used.applied(answers, people)).posterior(model.prior)
        found += [ordering_error(posterior.mean, truth), expected_error(posterior, np.zeros(ITEMS, dtype=np.int64))]
        leans = used.lean
    return [*found, 0.0 if leans is None else leans[-1]]


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.sides", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", type=int, default=16)
    options = parser.parse_args()
    print("| lean | found | error without | error with it | expected / true without | with it |")
    print("|--:|--:|--:|--:|--:|--:|")
    for lean in LEANS:
        without, expected, with_it, expected_with, found = np.mean(
            [run(seed, lean) for seed in range(options.seeds)], axis=0
        )
        print(
            f"| {lean} | {found:.2f} | {without:.3f} | {with_it:.3f} | {expected / without:.2f} | "
            f"{expected_with / with_it:.2f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
