"""What is fitted to the answers besides the scores: prior variances, thresholds, and how sharp each annotator is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ordinate.data.arrays import Floats, Integers
from ordinate.learning.annotators import FEWEST, sharpness
from ordinate.learning.likelihoods.by_kind import ByKind
from ordinate.learning.likelihoods.cumulative import Cumulative
from ordinate.learning.models import Answers, Model, SiteModel
from ordinate.learning.models.factored import FactoredHybrid
from ordinate.learning.models.independent import Independent
from ordinate.learning.posterior import Posterior
from ordinate.learning.prior_variances import fitted_prior
from ordinate.learning.thresholds import fitted_likelihood, with_likelihood

_QUICK = 1000
"""Up to so many items a full covariance takes less than a second."""


class Fitted(NamedTuple):
    """weight  what margins are multiplied by, by the number of the annotator; None: nobody's are"""

    model: Model
    weight: tuple[float, ...] | None = None


@dataclass(frozen=True)
class People:
    """Who gave the answers: numbers (T,), and of these numbers (A,) which are one person or model, known by name, and
    which are models."""

    number: Integers
    named: NDArray[np.bool_]
    models: NDArray[np.bool_]

    @property
    def can_be_told_apart(self) -> bool:
        """Three can be. A model is held against people, so one of these is enough, or several without a name."""
        others = bool((~self.named[self.number]).any())
        return int(self.named.sum()) >= FEWEST or (bool(self.models.any()) and int(self.named.sum()) + others >= 2)

    @property
    def unit(self) -> NDArray[np.bool_]:
        """(A,) whose sharpness is 1 on average: people with names; models, where nobody else answered. Where people
        have no names, nobody's: their answers weigh 1 as they are."""
        people = self.named & ~self.models
        nobody_else = not people.any() and bool(self.named[self.number].all())
        return self.named if nobody_else else people


def fitted(model: SiteModel, features: Floats, answers: Answers, people: People | None, prior: bool) -> Fitted:
    """`people`: whose answers are weighted by their sharpness, None: nobody's; `prior`: fit the prior variances too."""
    found = _of_answers(model, features, answers, prior)
    if people is None or not people.can_be_told_apart:
        return Fitted(found)
    sharp, _ = sharpness(plain_fit(found, features), with_kinds(answers), people.number, people.named, people.unit)
    if (sharp.weight == 1.0).all():
        return Fitted(found)
    weighted = with_kinds(answers)._replace(sharpness=sharp.weight[people.number])
    return Fitted(_of_answers(model, features, weighted, prior), tuple(sharp.weight.tolist()))


def _of_answers(model: SiteModel, features: Floats, answers: Answers, prior: bool) -> SiteModel:
    """Thresholds, prior variances given these, and thresholds once more given those."""
    found = with_likelihood(model, fitted_likelihood(model, features, answers))
    if not prior:
        return found
    found = found.with_prior(fitted_prior(found, features, answers))
    if found.likelihood == model.likelihood:
        return found
    return with_likelihood(found, fitted_likelihood(with_likelihood(found, model.likelihood), features, answers))


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
    used = model if isinstance(model.likelihood, ByKind) else with_likelihood(model, Cumulative())
    columns = features
    if used.dense and len(features) > _QUICK:
        if isinstance(model, Independent):
            columns = features[:, :0]
        used = FactoredHybrid(used.prior.coefficients or 1.0, used.prior.items, used.likelihood)
    return lambda answers: used.fit(columns, answers)
