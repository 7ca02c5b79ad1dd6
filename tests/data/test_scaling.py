"""What the feature rule promises: one scalar for a matrix, one per named column, constants out, no overflow."""

import numpy as np
import pytest

from ordinate.data.scaling import FeatureMap
from ordinate.learning.models import Answers
from ordinate.learning.models.contextual import Contextual
from ordinate.learning.models.hybrid import Hybrid

EVERY = np.ones(50, dtype=bool)


def scaled(features: np.ndarray, named: bool) -> np.ndarray:
    return FeatureMap.fit(features, named, "auto", np.ones(len(features), dtype=bool)).transform(features)


def test_a_matrix_is_centred_and_divided_by_one_number() -> None:
    features = np.random.default_rng(0).normal(size=(50, 4)) * [1, 2, 3, 4] + 7
    found = scaled(features, named=False)
    ratio = (features - features.mean(axis=0)) / found
    np.testing.assert_allclose(ratio, ratio[0, 0])
    assert np.square(found).sum(axis=1).mean() == pytest.approx(1.0)


def test_named_columns_are_standardised_each() -> None:
    features = np.random.default_rng(0).normal(size=(50, 3)) * [1e-8, 1.0, 1e8] + [0, 5, 1e9]
    found = scaled(features, named=True)
    np.testing.assert_allclose(found.std(axis=0), 1 / np.sqrt(3), rtol=1e-6)
    np.testing.assert_allclose(found.mean(axis=0), 0, atol=1e-6)


@pytest.mark.parametrize("named", [False, True])
@pytest.mark.parametrize("size", [1e-200, 1e-8, 1.0, 1e8, 1e200])
def test_the_unit_of_measurement_does_not_matter(named: bool, size: float) -> None:
    features = np.random.default_rng(1).normal(size=(20, 3))
    np.testing.assert_allclose(scaled(size * features, named), scaled(features, named), rtol=1e-9)


@pytest.mark.parametrize("named", [False, True])
def test_constant_columns_drop_out(named: bool) -> None:
    wanted = np.random.default_rng(2).normal(size=(20, 2))
    with_constants = np.column_stack([np.full(20, 3e8), wanted, np.full(20, 0.1), np.zeros(20)])
    np.testing.assert_allclose(scaled(with_constants, named), scaled(wanted, named))
    assert scaled(np.full((4, 3), 0.1), named).shape == (4, 0)
    assert scaled(np.empty((4, 0)), named).shape == (4, 0)


def test_excluded_items_do_not_count_but_go_through_the_map() -> None:
    features = np.random.default_rng(3).normal(size=(50, 3))
    features[7] = 1e12
    active = EVERY.copy()
    active[7] = False
    found = FeatureMap.fit(features, False, "auto", active).transform(features)
    np.testing.assert_allclose(found[active], scaled(features[active], named=False))
    assert found[7, 0] > 1e10


def test_none_leaves_features_alone() -> None:
    features = 1e3 * np.random.default_rng(4).normal(size=(50, 3)) + 9
    np.testing.assert_array_equal(FeatureMap.fit(features, True, "none", EVERY).transform(features), features)


@pytest.mark.parametrize("model", [Contextual(), Hybrid()], ids=repr)
def test_more_columns_than_items_changes_no_posterior(model: Contextual | Hybrid) -> None:
    """The rotated features give the same scores, variances and predictions as the plain ones."""
    rng = np.random.default_rng(5)
    features, new = rng.normal(size=(8, 30)), rng.normal(size=(4, 30))
    centre = features.mean(axis=0)
    unit = np.sqrt(np.square(features - centre).sum(axis=1).mean())
    mapped = FeatureMap.fit(features, False, "auto", np.ones(8, dtype=bool))
    left = rng.integers(0, 8, 40)
    answers = Answers(left, (left + rng.integers(1, 8, 40)) % 8, rng.integers(0, 2, 40).astype(float))
    plain = model.fit((features - centre) / unit, answers)
    short = model.fit(mapped.transform(features), answers)
    assert mapped.transform(features).shape == (8, 9)
    pairs = np.triu_indices(8, 1)
    for expected, found in zip(plain.belief.differences(*pairs), short.belief.differences(*pairs), strict=True):
        np.testing.assert_allclose(found, expected, atol=1e-8)
    group, new_group = np.zeros(8, dtype=np.int64), np.zeros(4, dtype=np.int64)
    expected_new = plain.predict((new - centre) / unit, new_group, group)
    for expected, found in zip(expected_new, short.predict(mapped.transform(new), new_group, group), strict=True):
        np.testing.assert_allclose(found, expected, atol=1e-8)
