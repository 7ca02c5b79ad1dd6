"""What the rules of scaling promise: one scalar for a matrix, one per named column, no constants, outliers clipped."""

import numpy as np
import pytest

from ordinate.data.scaling import FeatureMap, require_differences
from ordinate.errors import InvalidInput
from ordinate.learning.models import Answers
from ordinate.learning.models.contextual import Contextual
from ordinate.learning.models.hybrid import Hybrid

EVERY = np.ones(50, dtype=bool)


def scaled(features: np.ndarray, named: bool, scaling: str = "robust") -> np.ndarray:
    return FeatureMap.fit(features, named, scaling, np.ones(len(features), dtype=bool)).transform(features)


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
    found = FeatureMap.fit(features, False, "standard", active).transform(features)
    np.testing.assert_allclose(found[active], scaled(features[active], named=False))
    assert found[7, 0] > 1e10


def test_none_only_centres_and_studies_from_before_have_their_features_as_they_are() -> None:
    features = 1e3 * np.random.default_rng(4).normal(size=(50, 3)) + 9
    np.testing.assert_allclose(scaled(features, True, "none"), features - features.mean(axis=0), atol=1e-9)
    np.testing.assert_array_equal(scaled(features, True, "uncentred"), features)
    active = EVERY.copy()
    active[:25] = False
    found = FeatureMap.fit(features, True, "none", active).transform(features)
    np.testing.assert_allclose(found[active].mean(axis=0), 0.0, atol=1e-9)


@pytest.mark.parametrize("offset", [0.1, 1e7, 1e15, -1e300])
def test_a_constant_column_is_centred_exactly_however_large(offset: float) -> None:
    features = np.column_stack([np.full(50, offset), np.arange(50.0)])
    np.testing.assert_array_equal(scaled(features, True, "none")[:, 0], np.zeros(50))


@pytest.mark.parametrize("named", [False, True])
@pytest.mark.parametrize("columns", [1, 6, 80])
def test_on_ordinary_features_the_robust_rule_is_the_standard_one(named: bool, columns: int) -> None:
    features = np.random.default_rng(6).normal(size=(300, columns)) * np.arange(1.0, columns + 1.0)
    features[:, ::2] = np.random.default_rng(7).random(size=features[:, ::2].shape)
    if named:
        features[:, -1] = np.arange(300) % 7 == 0  # a flag that one in seven has
    np.testing.assert_array_equal(scaled(features, named), scaled(features, named, "standard"))


def test_a_flag_has_one_scale_however_few_items_have_it() -> None:
    """Flagged and other items differ as they do where half of the items have the flag."""
    columns = np.zeros((1000, 4))
    for column, share in enumerate((1, 10, 80, 500)):
        columns[:share, column] = 1.0
    gaps = scaled(columns, True).max(axis=0) - scaled(columns, True).min(axis=0)
    np.testing.assert_allclose(gaps, 2.0 / np.sqrt(4))
    assert np.ptp(scaled(columns, True, "standard")[:, 0]) > 15


@pytest.mark.parametrize("offset", [0.0, 1e3])
@pytest.mark.parametrize("named", [False, True])
def test_one_outlying_row_leaves_the_others_as_they_were(named: bool, offset: float) -> None:
    features = np.random.default_rng(8).normal(size=(400, 5))
    features[3] = [1.0, -1.0, 2.0, 1.0, -1.0]
    spoiled = features.copy()
    spoiled[3] *= 1e4
    features, spoiled = features + offset, spoiled + offset
    found, expected = scaled(spoiled, named), scaled(features, named, "standard")
    others = np.arange(400) != 3
    np.testing.assert_allclose(found[others], expected[others], rtol=0.2, atol=0.02)
    typical = np.linalg.norm(expected, axis=1).max()
    assert typical < np.linalg.norm(found[3]) < 10 * typical
    assert np.ptp(scaled(spoiled, named, "standard")[others], axis=0).max() < 1e-2
    # Clipped towards the middle: a matrix row keeps its direction, and a new item is treated in the same way.
    where = FeatureMap.fit(spoiled, named, "robust", np.ones(400, dtype=bool))
    np.testing.assert_array_equal(where.transform(spoiled[3:4] * [[1.0]]), found[3:4])
    if not named:
        cosine = found[3] @ expected[3] / np.linalg.norm(found[3]) / np.linalg.norm(expected[3])
        assert cosine > 0.99


@pytest.mark.parametrize("size", [1e-200, 1.0, 1e200])
@pytest.mark.parametrize("named", [False, True])
def test_blocks_put_together_give_the_mean_and_spread_of_all(named: bool, size: float) -> None:
    """Sorted, so that blocks differ in everything; one begins with zeros, and one has no active item."""
    x = np.sort(np.random.default_rng(0).normal(size=(140_000, 3)) * [1.0, 5.0, 1e-3] + [0.0, 1e3, 7.0], axis=0)
    x[:50_000, 0] = 0.0
    active = np.ones(140_000, dtype=np.bool_)
    active[40_000:100_000] = False  # blocks have 43,690 rows
    found = FeatureMap.fit(x * size, named, "standard", active)
    plain = x[active]
    np.testing.assert_allclose(found.centre / size, plain.mean(axis=0), rtol=1e-12)
    deviation = plain.std(axis=0)
    wanted = deviation * np.sqrt(3) if named else np.full(3, np.linalg.norm(deviation))
    np.testing.assert_allclose(found.divisor / size, wanted, rtol=1e-10)


def test_outlying_rows_are_clipped_in_every_block() -> None:
    x = np.random.default_rng(0).normal(size=(100_000, 3))
    x[60_000, 1], active = 1e4, np.ones(100_000, dtype=np.bool_)  # in the second of three blocks
    scaling = FeatureMap.fit(x, False, "robust", active)
    assert scaling.limits is not None
    clipped = scaling.limits.clipped(x)
    assert np.abs(clipped).max() < 100
    standard = FeatureMap.fit(clipped, False, "standard", active)
    np.testing.assert_array_equal(scaling.centre, standard.centre)
    np.testing.assert_array_equal(scaling.divisor, standard.divisor)


def test_of_fewer_than_ten_items_none_is_outlying() -> None:
    features = np.append(np.arange(8.0), 1e6)[:, None]
    np.testing.assert_array_equal(scaled(features, True), scaled(features, True, "standard"))


def test_differences_that_would_overflow_are_refused() -> None:
    features = np.array([[1.0, 1e155], [2.0, -1e155], [3.0, 0.0]])
    with pytest.raises(InvalidInput, match=r"feature column 2 runs from -1e\+155 to 1e\+155, too far apart"):
        require_differences(features)
    require_differences(np.array([[1e300, 5.0], [1e300, 5e14]]))


@pytest.mark.parametrize("model", [Contextual(), Hybrid()], ids=repr)
def test_more_columns_than_items_changes_no_posterior(model: Contextual | Hybrid) -> None:
    """The rotated features give the same scores, variances and predictions as the plain ones."""
    rng = np.random.default_rng(5)
    features, new = rng.normal(size=(8, 30)), rng.normal(size=(4, 30))
    centre = features.mean(axis=0)
    unit = np.sqrt(np.square(features - centre).sum(axis=1).mean())
    mapped = FeatureMap.fit(features, False, "standard", np.ones(8, dtype=bool))
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
