"""A study whose items have features in blocks: fitted scales, reopened, and with new items."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.special import expit

from ordinate.data.items import Items
from ordinate.errors import InvalidInput
from ordinate.learning.models.blocks import InBlocks
from ordinate.study.study import Study


def items(count: int = 24) -> tuple[Items, Any]:
    rng = np.random.default_rng(0)
    good, junk = rng.normal(size=(count, 2)), rng.normal(size=(count, 6))
    table: dict[str, Any] = {"id": [f"i{k}" for k in range(count)], "age": good[:, 0], "length": good[:, 1]}
    made = Items.from_columns(table, features={"text": junk}, feature_columns=["age", "length"])
    return made, 2.0 * good @ [1.0, -0.5]


def answered(study: Study, truth: Any, count: int) -> list[tuple[str, str]]:
    rng, asked = np.random.default_rng(1), []
    for _ in range(count):
        query = study.ask()
        left, right = study.rows([query.left, query.right])
        study.tell(query.id, "left" if rng.random() < expit(truth[left] - truth[right]) else "right")
        asked.append((query.left, query.right))
    return asked


def test_the_scale_of_each_block_is_fitted_and_found_again(tmp_path: Path) -> None:
    made, truth = items()
    address = f"sqlite:///{tmp_path / 'study.db'}"
    with Study.create(made, storage=address) as study:
        assert not study.prior_variances().blocks  # before the first fit
        answered(study, truth, 72)
        prior = study.prior_variances()
        text, columns = prior.blocks
        assert text < 0.3 * columns
        scores, following = study.scores(), study.ask()
    with Study.open(address) as again:
        assert again.items.blocks == made.blocks
        assert again.prior_variances() == prior
        np.testing.assert_array_equal(again.scores(), scores)
        assert again.ask() == following
        assert again.check().rows


def test_new_items_are_placed_by_all_blocks() -> None:
    made, truth = items()
    study = Study.create(made.take(range(20)))
    answered(study, truth, 60)
    new = made.take(range(20, 24))
    placed = study.ordering(new)
    features = study._ledger.inference
    with study._ledger.reading() as state:
        posterior, scaled = study.posterior(), features.scaled(state)
        rows = scaled.map.transform(new.features)
        expected = rows @ posterior.coefficients - posterior.mean.mean()
        model = features.newest_model(state)
    assert isinstance(model, InBlocks)
    found = dict(zip(placed.ids, placed.scores, strict=True))
    np.testing.assert_allclose([found[item] for item in new.ids], expected)
    with pytest.raises(InvalidInput, match="give every block"):
        study.ordering(Items(["x"], np.ones((1, 8))))
    study.add_items(new)
    assert len(study.items) == 24


def test_fixed_variances_and_models_without_features_take_blocks_as_they_are() -> None:
    made, truth = items()
    for options in ({"item_variance": 1.0}, {"algorithm": "guro-independent"}, {"algorithm": "trueskill"}):
        study = Study.create(made, **options)
        answered(study, truth, 30)
        assert len(study.ordering()) == 24
