"""Several threads share one study object: each gets its own pairs, and the log stays one that a fold takes in."""

from __future__ import annotations

import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from ordinate.data.comparisons import Comparison, Query
from ordinate.data.items import Items
from ordinate.errors import AlreadyAnswered, NothingToUndo
from ordinate.study.rules import PEOPLE
from ordinate.study.study import Study

ITEMS = Items([str(row) for row in range(30)], np.random.default_rng(0).normal(size=(30, 3)))
THREADS, ROUNDS = 6, 10


@pytest.mark.parametrize("served", [pytest.param(False, marks=pytest.mark.slow), True])
def test_threads_that_ask_tell_and_undo_at_once(served: bool, tmp_path: Path) -> None:
    """Each speaks for itself and races the others for the queries of nobody in particular."""
    url = f"sqlite:///{tmp_path / 'study.db'}"
    told: list[list[Query]] = [[] for _ in range(THREADS)]
    raced: list[list[Query]] = [[] for _ in range(THREADS)]
    begin = threading.Barrier(THREADS)

    def work(study: Study, place: int) -> None:
        name = f"annotator {place}"
        begin.wait(30)
        for number in range(ROUNDS):
            query = study.ask(name)
            study.tell(query.id, "left")
            told[place].append(query)
            anybody = study.ask()
            try:
                study.tell(anybody.id, "tie")
                raced[place].append(anybody)
            except AlreadyAnswered:
                pass
            study.ordering()
            if number % 5 == 4:
                study.undo(name)
                told[place].pop()
                with pytest.raises(NothingToUndo):
                    study.undo("somebody else")

    def run(study: Study) -> None:
        with ThreadPoolExecutor(THREADS) as threads:
            for one in [threads.submit(work, study, place) for place in range(THREADS)]:
                one.result()

    with Study.create(ITEMS, storage=url) as study:
        if served:
            study.set_rules(**PEOPLE)
            with study.serving():
                run(study)
        else:
            run(study)
        together = study.comparisons()
        scores = study.scores()
    every = [Comparison(query.left, query.right, "left", query.annotator) for some in told for query in some]
    every += [Comparison(query.left, query.right, "tie", None) for some in raced for query in some]
    assert Counter(together) == Counter(every)
    assert len({query.id for some in raced for query in some}) == sum(map(len, raced)), "no query answered by two"
    with Study.open(url) as again:
        assert again.comparisons() == together
        np.testing.assert_array_equal(again.scores(), scores)
