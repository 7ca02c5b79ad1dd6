"""The kept map is that of scikit-learn, and what went through it once goes through it again in the same way."""

import numpy as np
import pytest
from sklearn.decomposition import PCA

from ordinate.data.projection import Projection, principal_components


@pytest.fixture
def features():
    rng = np.random.default_rng(0)
    return rng.standard_normal((60, 12)) @ rng.standard_normal((12, 12)) + 5.0


@pytest.mark.parametrize("keep", [3, 12, 0.9])
def test_new_rows_go_where_scikit_learn_puts_them(features, keep):
    new = np.random.default_rng(1).standard_normal((7, 12))
    fitted = PCA(keep, svd_solver="full").fit(features)
    ours = Projection.fit(features, keep)
    sign = np.sign(np.sum(ours.components * fitted.components_, axis=1))
    np.testing.assert_allclose(ours.apply(new) * sign, fitted.transform(new), atol=1e-9)


@pytest.mark.parametrize("shape", [(60, 12), (5, 40)])
def test_the_map_and_the_reduction_agree(shape):
    features = np.random.default_rng(2).standard_normal(shape)
    np.testing.assert_allclose(
        Projection.fit(features, 0.95).apply(features), principal_components(features, 0.95), atol=1e-9
    )
