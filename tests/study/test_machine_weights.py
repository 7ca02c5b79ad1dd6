"""Answers of a model count with its own sharpness, held against people."""

from __future__ import annotations

import numpy as np
import pytest

from ordinate.data.comparisons import Comparison
from ordinate.data.items import Items
from ordinate.study.machines import Machine
from ordinate.study.study import Study

IDS = [str(number) for number in range(16)]
MODEL = Machine("m", "0" * 64)


def judged(sharpness: float, annotator: str | None, seed: int, answers: int = 160) -> list[Comparison]:
    rng = np.random.default_rng(seed)
    truth = np.random.default_rng(9).normal(size=len(IDS)) * 1.5
    left = rng.integers(len(IDS), size=answers)
    right = (left + rng.integers(1, len(IDS), size=answers)) % len(IDS)
    won = rng.random(answers) < 1.0 / (1.0 + np.exp(-sharpness * (truth[left] - truth[right])))
    return [
        Comparison(IDS[one], IDS[other], "left" if first else "right", annotator)
        for one, other, first in zip(left, right, won, strict=True)
    ]


def weights(model: float, person: str | None, registered: bool = True) -> dict[str | None, float]:
    study = Study.create(Items(IDS), algorithm="guro-independent")
    if registered:
        study.add_machine("m", MODEL)
    study.record(judged(1.0, person, seed=1) + judged(model, "m", seed=2))
    return {one.name: one.weight for one in study.annotator_quality().people}


@pytest.mark.parametrize("person", [None, "ann"])
def test_a_model_that_tosses_coins_hardly_counts_and_a_sharp_one_does(person):
    blind = weights(0.0, person)
    sharp = weights(2.0, person)
    assert blind["m"] < 0.3
    assert 0.9 < sharp["m"] < 3.0
    assert 0.8 <= blind[person] <= 1.25
    assert 0.8 <= sharp[person] <= 1.25


def test_without_a_model_two_annotators_are_not_weighed():
    assert weights(0.0, "ann", registered=False) == {"ann": 1.0, "m": 1.0}
