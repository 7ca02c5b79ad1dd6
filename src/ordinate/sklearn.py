"""scikit-learn: a ranker that learns from comparisons of items with features, for pipelines and grid searches.

>>> from sklearn.decomposition import PCA
>>> from sklearn.model_selection import GridSearchCV
>>> from sklearn.pipeline import make_pipeline
>>> ranker = make_pipeline(ItemTransformer(PCA(5)), PreferenceRanker())
>>> search = GridSearchCV(ranker, {"preferenceranker__coefficient_variance": [0.1, 1.0, 10.0]})
>>> search.fit(pairs, outcomes).predict(new_items)  # doctest: +SKIP

The model is the contextual one (f = X theta); for terms per item, questions and intervals use a `Study`.

n  items     p  pairs     d  features
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse
from scipy.special import expit

from ordinate.data.arrays import Floats, Integers
from ordinate.data.cells import between, is_missing
from ordinate.data.scaling import FeatureMap, Scaling
from ordinate.errors import InvalidInput, MissingExtra
from ordinate.learning.models import Answers
from ordinate.learning.models.contextual import Contextual

try:
    from sklearn.base import BaseEstimator, TransformerMixin, clone
    from sklearn.utils import get_tags
    from sklearn.utils.validation import check_is_fitted, validate_data
except ModuleNotFoundError as error:
    raise MissingExtra("scikit-learn", "sklearn", "ordinate.sklearn") from error

_MOST_GRADED = 1000
"""More items with grades would make more than half a million pairs."""
_VARIANCES = 1e-9, 1e9
_WORDS = {"left": 1.0, "right": 0.0, "tie": 0.5}


class PreferenceRanker(BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Scores of items, learned from which of two items was preferred.

    coefficient_variance  prior variance of each coefficient: scikit-learn's C of a logistic regression
    scaling               "standard": features are centred and divided by one scalar; "robust": outlying rows are
                          clipped as well; "none": only centred

    After `fit`: `coef_` (d,) by which an item's features are multiplied for its score.
    """

    def __init__(self, coefficient_variance: float = 2.0, scaling: Scaling = "standard") -> None:
        self.coefficient_variance = coefficient_variance
        self.scaling = scaling

    def fit(
        self,
        X: ArrayLike,  # noqa: N803
        y: ArrayLike | None = None,
        *,
        left: ArrayLike | None = None,
        right: ArrayLike | None = None,
        outcome: ArrayLike | None = None,
    ) -> Self:
        """Learn from comparisons, in one of three forms.

        X (p, 2, d), y (p,)             pairs of items, left and right, and their outcomes; splits are over pairs
        X (n, d), left, right, outcome  items, and for each comparison the rows of its items and its outcome
        X (n, d), y (n,)                items and their grades: of two items the one of the higher grade is preferred

        An outcome is 1 or "left", 0 or "right", 0.5 or "tie".
        """
        items = _items(self, X, reset=True)
        if _are_pairs(X):
            _refuse("left, right and outcome", left, right, outcome)
            answers = _of_pairs(_outcomes("y", y, len(items) // 2))
        elif left is not None or right is not None or outcome is not None:
            _refuse("y", y)
            outcomes = _outcomes("outcome", outcome, np.size(left) if left is not None else 0)
            size = (len(items), len(outcomes))
            answers = Answers(_rows("left", left, *size), _rows("right", right, *size), outcomes)
        else:
            answers = _of_grades(_grades(y, len(items)))
        variance = between("coefficient_variance", self.coefficient_variance, *_VARIANCES)
        if self.scaling not in get_args(Scaling):
            raise InvalidInput(f"unknown scaling {self.scaling!r}; it is {', '.join(get_args(Scaling))}")
        every = np.ones(len(items), dtype=np.bool_)
        self.map_ = FeatureMap.fit(items, False, self.scaling, every)
        model = Contextual(variance)
        self.coefficients_ = model.fit(self.map_.transform(items), answers).coefficients
        inside = self.coefficients_ if self.map_.basis is None else self.map_.basis @ self.coefficients_[:-1]
        self.coef_ = np.zeros(items.shape[1])
        self.coef_[self.map_.kept] = inside / self.map_.divisor
        return self

    def predict(self, X: ArrayLike) -> Floats:  # noqa: N803
        """Scores (n,) of items (n, d), higher is better; or outcomes (p,) of pairs (p, 2, d): 1, 0, or 0.5."""
        check_is_fitted(self)
        scores: Floats = self.map_.transform(_items(self, X, reset=False)) @ self.coefficients_
        if not _are_pairs(X):
            return scores
        outcomes: Floats = 0.5 + 0.5 * np.sign(scores[::2] - scores[1::2])
        return outcomes

    def preferred(self, X: ArrayLike) -> Floats:  # noqa: N803
        """(p,) the probability that the left item of pairs (p, 2, d) is preferred."""
        check_is_fitted(self)
        if not _are_pairs(X):
            raise InvalidInput(f"probabilities are of pairs (pairs, 2, features), not of {np.asarray(X).ndim} axes")
        scores = self.map_.transform(_items(self, X, reset=False)) @ self.coefficients_
        probabilities: Floats = expit(scores[::2] - scores[1::2])
        return probabilities

    def score(self, X: ArrayLike, y: ArrayLike) -> float:  # noqa: N803
        """The share of comparisons that are predicted right, in the first or the third form of `fit`.

        Ties do not count; a tie that is predicted counts one half.
        """
        predicted = self.predict(X)
        if _are_pairs(X):
            truth = _outcomes("y", y, len(predicted))
        else:
            answers = _of_grades(_grades(y, len(predicted)))
            predicted = 0.5 + 0.5 * np.sign(predicted[answers.left] - predicted[answers.right])
            truth = answers.outcome
        decided = truth != 0.5
        if not decided.any():
            raise InvalidInput("there is nothing to score: all comparisons are ties")
        return float(1.0 - np.abs(predicted - truth)[decided].mean())

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.three_d_array = True
        tags.target_tags.required = True
        return tags


# Its results are wrapped by the transformer inside, since pairs fit in no frame.
class ItemTransformer(TransformerMixin, BaseEstimator, auto_wrap_output_keys=None):  # type: ignore[misc, call-arg]
    """A transformer of items, such as PCA, for the items of pairs too: (p, 2, d) -> (p, 2, k), (n, d) -> (n, k).

    Items may be a frame and have gaps, if the transformer takes these. `set_output` is about items; pairs are an array.
    """

    def __init__(self, transformer: Any) -> None:
        self.transformer = transformer

    def fit(self, X: ArrayLike, y: object = None) -> Self:  # noqa: N803
        self.transformer_ = clone(self.transformer).fit(self._items(X, reset=True))
        return self

    def transform(self, X: ArrayLike) -> Any:  # noqa: N803
        check_is_fitted(self)
        made = self.transformer_.transform(self._items(X, reset=False))
        if not _are_pairs(X):
            return made
        array = made.toarray() if issparse(made) else np.asarray(made)
        return array.reshape(-1, 2, array.shape[1])

    def set_output(self, *, transform: Any = None) -> Self:
        """In which container the transformer inside gives items; see scikit-learn's `set_output`."""
        for one in (self.transformer, getattr(self, "transformer_", None)):
            if one is not None:
                one.set_output(transform=transform)
        return self

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        check_is_fitted(self)
        return self.transformer_.get_feature_names_out(input_features)

    def _items(self, given: ArrayLike, *, reset: bool) -> Any:
        """As they are given, or of pairs: the transformer inside decides what it takes."""
        items = _stacked(given)
        table = getattr(items, "ndim", 2) == 2  # what is none has no columns to count: the transformer says so
        return validate_data(self, items, reset=reset, skip_check_array=True) if table else items

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags = get_tags(self.transformer).input_tags
        tags.input_tags.three_d_array = True
        return tags


def _stacked(given: ArrayLike) -> Any:
    """(2 p, d) items of pairs, the left one of each first; items (n, d) as they are."""
    if not _are_pairs(given):
        return given
    pairs = np.asarray(given)
    if pairs.shape[1] != 2:
        raise InvalidInput(f"pairs have the shape (pairs, 2, features), not {pairs.shape}")
    return pairs.reshape(-1, pairs.shape[2])


def _are_pairs(given: ArrayLike) -> bool:
    return np.asarray(given).ndim == 3


def _items(estimator: Any, given: ArrayLike, *, reset: bool) -> Floats:
    items: Floats = validate_data(estimator, _stacked(given), dtype=np.float64, reset=reset)
    return items


def _of_pairs(outcomes: Floats) -> Answers:
    left: Integers = np.arange(0, 2 * len(outcomes), 2)
    return Answers(left, left + 1, outcomes)


def _of_grades(grades: Floats) -> Answers:
    left, right = np.triu_indices(len(grades), 1)
    different = grades[left] != grades[right]
    left, right = left[different], right[different]
    return Answers(left, right, (grades[left] > grades[right]).astype(np.float64))


def _grades(given: ArrayLike | None, count: int) -> Floats:
    if given is None:
        raise InvalidInput("requires y to be passed, but the target y is None; or give left, right and outcome")
    grades = np.asarray(given)
    if grades.dtype.kind not in "biuf" or grades.shape not in ((count,), (count, 1)):
        raise InvalidInput(
            f"Unknown label type: y must be {count} numbers, the grades of the items, not {grades.dtype} {grades.shape}"
        )
    if not np.isfinite(grades.astype(np.float64)).all():
        raise InvalidInput("y holds NaN or infinity")
    if count > _MOST_GRADED:
        raise InvalidInput(
            f"{count:,} graded items make too many pairs; {_MOST_GRADED:,} is the most. Give left, right and outcome"
        )
    return grades.astype(np.float64).ravel()


def _outcomes(name: str, given: ArrayLike | None, count: int) -> Floats:
    if given is None:
        raise InvalidInput(f"requires {name} to be passed: the outcome of each comparison, but it is None")
    listed: Sequence[Any] = np.asarray(given, dtype=object).ravel().tolist()
    if len(listed) != count:
        raise InvalidInput(f"{name} has {len(listed)} outcomes for {count} comparisons")
    found = [_WORDS.get(value, value) if isinstance(value, str) else value for value in listed]
    for place, value in enumerate(found):
        if is_missing(value) or value not in (0, 0.5, 1):
            raise InvalidInput(
                f"{name}[{place}] is {listed[place]!r}; an outcome is 1 or 'left', 0 or 'right', 0.5 or 'tie'"
            )
    return np.array(found, dtype=np.float64)


def _rows(name: str, given: ArrayLike | None, items: int, count: int) -> Integers:
    rows: NDArray[Any] = np.asarray([] if given is None else given)
    if rows.shape != (count,) or (count and rows.dtype.kind not in "iu"):
        raise InvalidInput(
            f"{name} must be the rows of {count} items in X, whole numbers, not {rows.dtype} {rows.shape}"
        )
    if count and not (rows.min() >= 0 and rows.max() < items):
        raise InvalidInput(f"{name} runs from {rows.min()} to {rows.max()}; X has the rows 0 to {items - 1}")
    return rows.astype(np.int64)


def _refuse(names: str, *given: object) -> None:
    if any(value is not None for value in given):
        raise InvalidInput(f"this form of fit takes no {names}; see its docstring")
