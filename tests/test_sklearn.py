"""The ranker for scikit-learn: its checks, a logistic regression as an independent fit, pipelines, grid searches."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.utils.estimator_checks import check_estimator

from ordinate.errors import InvalidInput
from ordinate.sklearn import ItemTransformer, PreferenceRanker

PAGE = Path(__file__).parents[1] / "docs" / "scikit-learn.md"


@pytest.fixture(scope="module")
def compared() -> dict[str, Any]:
    """40 items with 6 features, and 500 comparisons of them by a known score."""
    rng = np.random.default_rng(0)
    items = rng.normal(size=(40, 6)) + 3.0
    truth = items @ np.array([1.5, -1.0, 0.5, 0.0, 0.0, 0.0])
    left, right = rng.integers(0, 40, size=(2, 500))
    left, right = left[left != right], right[left != right]
    outcome = (rng.random(len(left)) < 1 / (1 + np.exp(truth[right] - truth[left]))).astype(float)
    return {"items": items, "truth": truth, "rows": {"left": left, "right": right, "outcome": outcome}}


def pairs_of(compared: dict[str, Any]) -> tuple[np.ndarray, np.ndarray]:
    rows, items = compared["rows"], compared["items"]
    return np.stack([items[rows["left"]], items[rows["right"]]], axis=1), rows["outcome"]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "estimator", [PreferenceRanker(), PreferenceRanker(scaling="none"), ItemTransformer(StandardScaler())]
)
def test_all_checks_of_scikit_learn_pass(estimator: Any) -> None:
    outcomes = check_estimator(estimator, on_skip=None)
    assert {one["status"] for one in outcomes} <= {"passed", "skipped"}
    assert sum(one["status"] == "passed" for one in outcomes) > 30


@pytest.mark.parametrize("variance", [0.3, 5.0])
def test_the_coefficients_are_those_of_a_logistic_regression_on_differences(compared, variance: float) -> None:
    pairs, outcome = pairs_of(compared)
    ranker = PreferenceRanker(variance, scaling="none").fit(pairs, outcome)
    regression = LogisticRegression(C=variance, fit_intercept=False, tol=1e-10, max_iter=1000)
    regression.fit(pairs[:, 0] - pairs[:, 1], outcome)
    np.testing.assert_allclose(ranker.coef_, regression.coef_[0], atol=1e-5)
    expected = regression.predict_proba(pairs[:, 0] - pairs[:, 1])[:, 1]
    np.testing.assert_allclose(ranker.preferred(pairs), expected, atol=1e-6)
    assert ranker.score(pairs, outcome) == pytest.approx(regression.score(pairs[:, 0] - pairs[:, 1], outcome))


def test_pairs_and_rows_are_the_same_comparisons(compared) -> None:
    pairs, outcome = pairs_of(compared)
    for scaling in ("none", "standard"):
        by_rows = PreferenceRanker(scaling=scaling).fit(compared["items"], **compared["rows"])
        words = np.where(outcome == 1.0, "left", "right")
        by_pairs = PreferenceRanker(scaling="none").fit(pairs, words)
        assert np.corrcoef(by_rows.predict(compared["items"]), by_pairs.predict(compared["items"]))[0, 1] > 0.999
    same = PreferenceRanker(scaling="none").fit(compared["items"], **compared["rows"])
    np.testing.assert_allclose(same.coef_, by_pairs.coef_, atol=1e-6)
    scores = same.predict(compared["items"])
    np.testing.assert_allclose(
        scores - scores.mean(), (compared["items"] - compared["items"].mean(axis=0)) @ same.coef_
    )


def test_grades_are_comparisons_of_all_items_that_differ(compared) -> None:
    items, grades = compared["items"][:9], np.array([1, 1, 2, 3, 3, 3, 5, 8, 0])
    left, right = np.triu_indices(9, 1)
    differ = grades[left] != grades[right]
    rows = {"left": left[differ], "right": right[differ]}
    expected = PreferenceRanker().fit(items, **rows, outcome=(grades[left] > grades[right])[differ])
    graded = PreferenceRanker().fit(items, grades)
    np.testing.assert_allclose(graded.coef_, expected.coef_)
    concordant = np.sign(np.subtract.outer(graded.predict(items), graded.predict(items)))[left, right][differ]
    assert graded.score(items, grades) == pytest.approx(
        np.mean(concordant == np.sign(grades[left] - grades[right])[differ])
    )


def test_more_features_than_items(compared) -> None:
    wide = np.random.default_rng(1).normal(size=(40, 90))
    ranker = PreferenceRanker(scaling="none").fit(wide, **compared["rows"])
    scores = ranker.predict(wide)
    np.testing.assert_allclose(scores - scores.mean(), (wide - wide.mean(axis=0)) @ ranker.coef_, atol=1e-8)
    regression = LogisticRegression(C=2.0, fit_intercept=False, tol=1e-10, max_iter=2000)
    regression.fit(wide[compared["rows"]["left"]] - wide[compared["rows"]["right"]], compared["rows"]["outcome"])
    np.testing.assert_allclose(ranker.coef_, regression.coef_[0], atol=1e-4)


def test_a_grid_search_over_a_pipeline_splits_pairs(compared) -> None:
    pairs, outcome = pairs_of(compared)
    pipeline = make_pipeline(ItemTransformer(PCA()), PreferenceRanker())
    grid = {"itemtransformer__transformer__n_components": [1, 6], "preferenceranker__coefficient_variance": [0.1, 2.0]}
    search = GridSearchCV(pipeline, grid, cv=3).fit(pairs, outcome)
    assert search.best_params_["itemtransformer__transformer__n_components"] == 6
    new = np.random.default_rng(5).normal(size=(50, 6)) + 3.0
    found, truth = search.predict(new), new @ [1.5, -1.0, 0.5, 0.0, 0.0, 0.0]
    assert np.corrcoef(found, truth)[0, 1] > 0.9
    assert 0.7 < search.best_score_ < 0.95
    groups = compared["rows"]["left"]
    assert cross_val_score(pipeline, pairs, outcome, cv=GroupKFold(3), groups=groups).mean() > 0.65


def test_what_a_transformer_takes_and_gives_is_its_own_affair(compared) -> None:
    """Frames, gaps, sparse matrices and containers of the output; pairs are arrays whatever is set."""
    items, (pairs, outcome) = compared["items"], pairs_of(compared)
    frame = pd.DataFrame(items, columns=list("abcdef"))
    expected = PCA(3).fit(items).transform(items)
    for set_up in (lambda made: made, lambda made: made.set_output(transform="pandas")):
        made = set_up(ItemTransformer(PCA(3))).fit(frame)
        assert np.asarray(made.transform(frame)) == pytest.approx(expected)
        assert list(made.get_feature_names_out()) == ["pca0", "pca1", "pca2"]
        of_pairs = made.fit(items).transform(np.stack([items, items], axis=1))
        assert of_pairs[:, 1] == pytest.approx(expected)
    assert isinstance(made.fit(frame).transform(frame), pd.DataFrame)
    assert isinstance(set_up(ItemTransformer(PCA(3)).fit(frame)).transform(frame), pd.DataFrame)
    with config_context(transform_output="pandas"):
        pipeline = make_pipeline(ItemTransformer(PCA(3)), PreferenceRanker()).fit(pairs, outcome)
        assert pipeline.score(pairs, outcome) > 0.6
    pipeline.set_output(transform="pandas")

    gaps = frame.mask(np.random.default_rng(0).random(frame.shape) < 0.1)
    filled = make_pipeline(ItemTransformer(SimpleImputer()), PreferenceRanker()).fit(gaps, np.arange(40))
    assert np.isfinite(filled.predict(gaps)).all()
    with pytest.raises(ValueError, match="NaN"):
        ItemTransformer(PCA(3)).fit(gaps)

    some = ItemTransformer(ColumnTransformer([("some", StandardScaler(), ["a", "b"])])).fit(frame)
    assert some.transform(frame).shape == (40, 2)
    codes = np.random.default_rng(0).integers(0, 3, (40, 2, 1)).astype(float)
    assert ItemTransformer(OneHotEncoder()).fit_transform(codes).shape == (40, 2, 3)


@pytest.mark.parametrize(
    ("fit", "message"),
    [
        (lambda p, o: (p[:, :1], o), r"pairs have the shape \(pairs, 2, features\), not \(\d+, 1, 6\)"),
        (lambda p, o: (p, o[:-1]), r"y has \d+ outcomes for \d+ comparisons"),
        (lambda p, o: (p, np.full(len(o), 2)), r"y\[0\] is 2; an outcome is 1 or 'left'"),
        (lambda p, o: (p, np.full(len(o), "neither")), r"y\[0\] is 'neither'"),
    ],
)
def test_wrong_pairs_are_refused(compared, fit, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        PreferenceRanker().fit(*fit(*pairs_of(compared)))


def test_wrong_rows_are_refused(compared) -> None:
    items, rows = compared["items"], compared["rows"]
    for change, message in (
        ({"left": rows["left"] + 1}, "left runs from 1 to 40; X has the rows 0 to 39"),
        ({"right": rows["right"][1:]}, "right must be the rows of"),
        ({"outcome": None}, "requires outcome to be passed"),
        ({"y": rows["outcome"]}, "this form of fit takes no y"),
    ):
        with pytest.raises(InvalidInput, match=message):
            PreferenceRanker().fit(items, **{**rows, **change})
    for variance in (0.0, -1.0, float("nan"), None, "x"):
        with pytest.raises(InvalidInput, match="coefficient_variance must be a number"):
            PreferenceRanker(variance).fit(items, **rows)  # type: ignore[arg-type]
    for scaling in ("robst", None, "minmax"):
        with pytest.raises(InvalidInput, match=r"unknown scaling .*; it is robust, standard, none"):
            PreferenceRanker(scaling=scaling).fit(items, **rows)  # type: ignore[arg-type]
    missing = pd.array(rows["outcome"].astype(int), dtype="Int64")
    missing[2] = pd.NA
    with pytest.raises(InvalidInput, match=r"outcome\[2\] is <NA>; an outcome is"):
        PreferenceRanker().fit(items, **{**rows, "outcome": missing})
    with pytest.raises(InvalidInput, match="1,001 graded items make too many pairs"):
        PreferenceRanker().fit(np.zeros((1001, 1)), np.arange(1001))
    with pytest.raises(InvalidInput, match="nothing to score: all comparisons are ties"):
        PreferenceRanker().fit(*pairs_of(compared)).score(pairs_of(compared)[0][:2], ["tie", "tie"])


@pytest.mark.slow
def test_the_example_of_the_page_runs(tmp_path: Path) -> None:
    (example,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), flags=re.DOTALL)
    done = subprocess.run([sys.executable, "-c", example], cwd=tmp_path, capture_output=True, text=True, check=True)
    share = float(re.findall(r"([0-9.]+) of the held-out comparisons", done.stdout)[0])
    assert share > 0.7


def test_the_missing_package_is_named() -> None:
    program = "import sys; sys.modules['sklearn'] = None\nimport ordinate.sklearn"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert "python -m pip install 'ordinate[sklearn]'" in done.stderr
