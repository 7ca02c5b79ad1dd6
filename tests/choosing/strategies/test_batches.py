"""Several queries at once: no pair twice, and GURO, which conditions on what is open, learns no less than BayesGURO."""

from typing import Any

import numpy as np
import pytest

from ordinate.datasets import draw_synthetic
from ordinate.simulation.annotators import LogisticAnnotators
from ordinate.simulation.metrics import ordering_error
from ordinate.study.study import Study

BATCHES, SIZE = 12, 10


def run(algorithm: str, seed: int) -> tuple[float, int]:
    """The ordering error after the batches, averaged over the last four, and the pairs that batches repeated."""
    dataset = draw_synthetic(100, 10, np.random.default_rng(0))
    assert dataset.truth is not None
    people = LogisticAnnotators(dataset.truth, noise=0.5, seed=seed)
    fixed: dict[str, Any] = {"coefficient_variance": 2.0, "random": 0.0}
    study = Study.create(dataset.items, algorithm=algorithm, seed=seed, scaling="none", **fixed)
    row = {item: k for k, item in enumerate(study.items.ids)}
    repeated, errors = 0, []
    for _ in range(BATCHES):
        queries = study.ask(count=SIZE)
        repeated += SIZE - len({frozenset((query.left, query.right)) for query in queries})
        for query in queries:
            study.tell(query.id, people.answer(row[query.left], row[query.right]))
        errors.append(ordering_error(study.scores(), dataset.truth, None))
    return float(np.mean(errors[-4:])), repeated


@pytest.mark.parametrize("algorithm", ["guro-contextual", "guro-hybrid", "bayes-guro-contextual"])
def test_a_batch_repeats_no_pair(algorithm: str) -> None:
    assert run(algorithm, seed=0)[1] == 0


@pytest.mark.slow
def test_guro_in_batches_is_not_above_bayes_guro_in_batches() -> None:
    """Paired over seeds, the same people: above would be more than two standard errors of the difference."""
    seeds = range(12)
    gaps = np.array([run("guro-contextual", seed)[0] - run("bayes-guro-contextual", seed)[0] for seed in seeds])
    assert gaps.mean() < 2.0 * gaps.std(ddof=1) / np.sqrt(len(gaps))
