import numpy as np
import pytest

from ordinate.datasets import draw_synthetic, read_synthetic
from ordinate.errors import InvalidInput


def test_features_are_standard_normal_and_theta_is_uniform():
    dataset = draw_synthetic(400, 30, np.random.default_rng(0))
    features, truth = dataset.items.features, dataset.truth
    assert truth is not None
    assert features.shape == (400, 30)
    assert abs(features.mean()) < 4 / np.sqrt(features.size)
    assert features.std() == pytest.approx(1.0, abs=0.03)
    theta = np.linalg.lstsq(features, truth, rcond=None)[0]
    np.testing.assert_allclose(features @ theta, truth)
    assert np.abs(theta).max() <= 3.0
    assert np.abs(theta).max() > 2.0


def test_the_draw_is_that_of_the_generator():
    one, two = (draw_synthetic(20, 3, np.random.default_rng(4)) for _ in range(2))
    np.testing.assert_array_equal(one.truth, two.truth)
    assert one.items.ids[0] == "s00"


def test_a_task_comes_back_from_its_file(tmp_path):
    rng = np.random.default_rng(0)
    features, theta = rng.standard_normal((9, 2)), rng.standard_normal(2)
    np.savez(tmp_path / "task.npz", features=features, theta=theta)
    dataset = read_synthetic(tmp_path / "task.npz")
    np.testing.assert_array_equal(dataset.items.features, features)
    np.testing.assert_array_equal(dataset.truth, features @ theta)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "there is no file"),
        (b"id,text\n1,hello\n", "is not an .npz file"),
        (b"", "is not an .npz file"),
        ({"features": np.ones((3, 2))}, "no array 'theta'"),
        ({"features": np.ones((3, 2)), "theta": np.ones(3)}, r"must have shape \(n, d\)"),
        ({"features": np.array([[1.0], [np.nan]]), "theta": np.ones(1)}, "fill it in"),
    ],
)
def test_a_bad_file_is_refused_by_name(tmp_path, content, message):
    path = tmp_path / "task.npz"
    if isinstance(content, bytes):
        path.write_bytes(content)
    elif content is not None:
        np.savez(path, **content)
    with pytest.raises(InvalidInput, match=message):
        read_synthetic(path)


@pytest.mark.parametrize(("n", "d"), [(1, 3), (5, 0)])
def test_sizes_are_checked(n, d):
    with pytest.raises(InvalidInput):
        draw_synthetic(n, d, np.random.default_rng(0))
