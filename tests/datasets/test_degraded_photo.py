import numpy as np
import pytest
from PIL import Image
from scipy.stats import spearmanr

from ordinate.datasets import degrade_photo
from ordinate.datasets.degraded_photo import SIZE, degrade, pixels, read_original
from ordinate.datasets.photo_features import FEATURE_NAMES, photo_features


@pytest.fixture(scope="module")
def photos():
    return degrade_photo(np.random.default_rng(0), n=30)


def test_the_same_generator_makes_the_same_photos(photos):
    again = degrade_photo(np.random.default_rng(0), n=30)
    assert again.files == photos.files
    np.testing.assert_array_equal(again.items.features, photos.items.features)
    assert degrade_photo(np.random.default_rng(1), n=3).files != photos.files[:3]


@pytest.mark.parametrize(
    "mix", [(1, 0, 0), (0, 1, 0), (0, 0, 1), (0.4, 0.3, 0.3)], ids=["blur", "noise", "compression", "all"]
)
def test_quality_falls_steadily_with_the_strength(mix):
    original = read_original().resize(SIZE, Image.Resampling.LANCZOS)
    sharp = np.asarray(original, dtype=float)
    rng = np.random.default_rng(0)
    amounts = np.outer(np.linspace(0.0, 1.0, 12), mix).tolist()
    errors = [np.mean((pixels(degrade(original, amount, rng)) - sharp) ** 2) for amount in amounts]
    psnr = 10 * np.log10(255**2 / np.array(errors))
    assert (np.diff(psnr) < 0).all()
    assert psnr[0] > 32
    assert psnr[-1] < 25


def test_ids_say_nothing_about_the_order_and_the_truth_is_complete(photos):
    rank, p = spearmanr(np.arange(30), photos.truth)
    assert p > 0.01, rank
    np.testing.assert_allclose(np.sort(-photos.truth), np.linspace(0, 1, 30))


def test_features_follow_the_strength_without_giving_it_away(photos):
    features = photos.items.features
    assert features.shape == (30, len(FEATURE_NAMES))
    assert photos.items.feature_names == FEATURE_NAMES
    correlation = np.abs([np.corrcoef(column, photos.truth)[0, 1] for column in features.T])
    assert (correlation > 0.5).sum() >= 5
    assert correlation.max() < 0.95


@pytest.mark.parametrize("grey", [0, 128, 255])
def test_features_of_a_blank_image_are_finite(grey):
    assert np.isfinite(photo_features(np.full((64, 48, 3), grey, dtype=np.uint8))).all()


def test_photos_are_written_where_the_items_say(photos, tmp_path):
    photos.write(tmp_path)
    for name, data in zip(photos.items.content["image"], photos.files, strict=True):
        assert (tmp_path / name).read_bytes() == data
    with Image.open(tmp_path / photos.items.content["image"][0]) as image:
        assert image.size == SIZE
