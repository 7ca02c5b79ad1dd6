"""What is fitted to the answers besides the scores: prior variances, thresholds, how sharp each annotator is, and
which side they prefer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ordinate.data.arrays import Floats, Integers
from ordinate.learning.annotators import FEWEST, sharpness
from ordinate.learning.likelihoods.by_kind import ByKind
from ordinate.learning.likelihoods.cumulative import Cumulative
from ordinate.learning.models import Answers, Model, SiteModel
from ordinate.learning.models.blocks import InBlocks
from ordinate.learning.models.factored import FactoredHybrid
from ordinate.learning.models.independent import Independent
from ordinate.learning.posterior import Posterior
from ordinate.learning.prior_variances import fitted_prior
from ordinate.learning.side_bias import leans
from ordinate.learning.thresholds import fitted_likelihood

_QUICK = 1000
"""Up to so many items a full covariance takes less than a second."""


class Fitted(NamedTuple):
    """weight  what margins are multiplied by, by the number of the annotator; None: nobody's are
    lean    what is added to the product, by that number, and then of those who came later; None: nobody prefers a side
    """

    model: Model
    weight: tuple[float, ...] | None = None
    lean: tuple[float, ...] | None = None

    @property
    def knows_nobody(self) -> bool:
        """Whether nothing is known of the annotators."""
        return self.weight is None and self.lean is None

    def applied(self, answers: Answers, people: People) -> Answers:
        """The answers, with kinds, and what is known of the annotators who gave them."""
        answers = with_kinds(answers)
        if self.weight is not None:
            # Who came after the weights were fitted weighs 1.
            answers = answers._replace(sharpness=_by_annotator(self.weight, 1.0, people.number))
        if self.lean is not None:
            lean = _by_annotator(self.lean[:-1], self.lean[-1], people.number)
            answers = answers._replace(lean=np.where(people.sided, lean, 0.0))
        return answers


def _by_annotator(values: tuple[float, ...], later: float, number: Integers) -> Floats:
    further = max(int(number.max(initial=-1)) + 1 - len(values), 0)
    return np.concatenate([values, np.full(further, later)])[number]


@dataclass(frozen=True)
class People:
    """Who gave the answers.

    number  (T,) of the annotator
    named   (A,) which of these numbers are one person or model, known by name
    sided   (T,) whether the left item was shown on the left, so that the answer tells of sides
    models  (A,) which of these numbers are models
    """

    number: Integers
    named: NDArray[np.bool_]
    sided: NDArray[np.bool_]
    models: NDArray[np.bool_]

    @property
    def can_be_told_apart(self) -> bool:
        """Three can be. A model is held against people, so one of these is enough, or several without a name."""
        others = bool((~self.named[self.number]).any())
        return int(self.named.sum()) >= FEWEST or (bool(self.models.any()) and int(self.named.sum()) + others >= 2)

    @property
    def unit(self) -> NDArray[np.bool_]:
        """(A,) whose sharpness is 1 on average; see `unit_of`."""
        return unit_of(self.number, self.named, self.models)


def unit_of(number: Integers, named: NDArray[np.bool_], models: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """(A,) whose sharpness is 1 on average: people with names; models, where nobody else answered. Where people have no
    names it is nobody's, because their answers weigh 1 as they are."""
    people = named & ~models
    nobody_else = not people.any() and bool(named[number].all())
    return named if nobody_else else people


def fitted(
    model: SiteModel, features: Floats, answers: Answers, people: People, *, prior: bool, weigh: bool, sides: bool
) -> Fitted:
    """`prior`: fit the prior variances too; `weigh`: how sharp people are; `sides`: whether they prefer a side."""
    found = Fitted(_of_answers(model, features, answers, prior))
    # Once more with the variances that follow: people who lean look noisier at first than they are.
    for _ in range(2 if sides else 0):
        lean = leans(plain_fit(found.model, features), with_kinds(answers), people.number, people.sided)
        if lean is None:
            break
        found = Fitted(model, lean=tuple(lean.tolist()))
        answers = found.applied(answers, people)
        found = found._replace(model=_of_answers(model, features, answers, prior))
    if not weigh or not people.can_be_told_apart:
        return found
    fit = plain_fit(found.model, features)
    sharp, _ = sharpness(fit, with_kinds(answers), people.number, people.named, people.unit)
    if (sharp.weight == 1.0).all():
        return found
    weighted = with_kinds(answers)._replace(sharpness=sharp.weight[people.number])
    return found._replace(model=_of_answers(model, features, weighted, prior), weight=tuple(sharp.weight.tolist()))


def _of_answers(model: SiteModel, features: Floats, answers: Answers, prior: bool) -> SiteModel:
    """Thresholds, prior variances given these, and thresholds once more given those."""
    found = model.with_likelihood(fitted_likelihood(model, features, answers))
    if not prior:
        return found
    found = found.with_prior(fitted_prior(found, features, answers))
    if found.likelihood == model.likelihood:
        return found
    return found.with_likelihood(fitted_likelihood(found.with_likelihood(model.likelihood), features, answers))


def with_kinds(answers: Answers) -> Answers:
    """The answers with a strength, so that kinds of them are told apart."""
    if answers.strength is not None:
        return answers
    return answers._replace(strength=np.zeros(len(answers.outcome), dtype=np.int64))


def plain_fit(model: Model, features: Floats) -> Callable[[Answers], Posterior]:
    """A fit by Laplace's approximation with the model's variances, in which answers may have a sharpness.

    Of many items the covariance is the factored one; models that take one answer after another are replaced.
    """
    if not isinstance(model, SiteModel):
        model = FactoredHybrid(likelihood=Cumulative())
    used = model if isinstance(model.likelihood, ByKind) else model.with_likelihood(Cumulative())
    columns = features
    if used.dense and len(features) > _QUICK:
        if isinstance(model, Independent):
            columns = features[:, :0]
        factored = FactoredHybrid(used.prior.coefficients or 1.0, used.prior.items, used.likelihood)
        used = replace(used, model=factored) if isinstance(used, InBlocks) else factored
    return lambda answers: used.fit(columns, answers)
