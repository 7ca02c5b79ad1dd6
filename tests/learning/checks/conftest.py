"""Answers of a known world, as the checks are given them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from ordinate.learning.checks import StudyData
from ordinate.learning.models import Answers
from ordinate.learning.models.hybrid import Hybrid

MODEL = Hybrid(coefficient_variance=1.0, item_variance=1.0)


def study_data(
    items: int, count: int, seed: int = 0, model: Any = MODEL, annotators: int = 4, **changes: Any
) -> StudyData:
    """Random pairs, and answers as the model has it."""
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(items, 2))
    scores = features @ rng.normal(size=2) + rng.normal(size=items)
    left = rng.integers(0, items, count)
    right = (left + rng.integers(1, items, count)) % items
    chance = 1.0 / (1.0 + np.exp(-(scores[left] - scores[right])))
    answers = Answers(left, right, (rng.random(count) < chance).astype(float))
    answers = changes.pop("answers", answers)
    features = changes.pop("features", features)
    made = StudyData(
        ids=tuple(f"i{row}" for row in range(items)),
        names=tuple(f"a{number}" for number in range(annotators)),
        group=np.zeros(items, dtype=np.int64),
        features=features,
        answers=answers,
        annotators=rng.integers(0, annotators, len(answers.left)),
        at_random=np.ones(len(answers.left), dtype=bool),
        model=model,
        posterior=model.fit(features, answers),
        refit=lambda other, rows: model.fit(features[rows], other),
        better_than_coins=True,
        error_high=0.15,
        top=3,
        seed=1,
    )
    return replace(made, **changes)


@pytest.fixture
def data() -> Callable[..., StudyData]:
    return study_data
