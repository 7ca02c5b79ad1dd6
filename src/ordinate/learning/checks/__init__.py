"""Checks of the answers: whether they are such that the figures computed from them can be believed. A file per check.

n  items     T  answers, in the order of the log     p  distinct compared pairs     k  columns of features

A check is a function from the data of a study to a finding. Those that need chance to compare with simulate it, and
fail where chance would give such a value with a probability of 1 % at most.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ordinate.data.arrays import Floats, Integers
from ordinate.learning.annotators import independent
from ordinate.learning.likelihoods import Likelihood
from ordinate.learning.likelihoods.logistic import LOGISTIC
from ordinate.learning.models import Answers, Model, SiteModel
from ordinate.learning.models.factored import FactoredHybrid
from ordinate.learning.models.map_estimate import Compared, Prior
from ordinate.learning.posterior import Posterior

if TYPE_CHECKING:
    from ordinate.learning.calibration import Predictions
    from ordinate.learning.checks.misfit import Misfit
    from ordinate.learning.left_out import LeftOut

State = Literal["passed", "failed", "not run"]
SIMULATED = 199
"""Simulations: as many as it takes to tell a chance of 1 %, twice over."""
LEVEL = 0.01
"""The chance at most that a check against chance fails where nothing is wrong."""
FEATURES_ALONE = "Scores follow from the features alone, which connect all items."
_NEARLY_NONE = 1e-5
"""Of the variance of the terms per item: below it there are none."""
_FEW_ITEMS = 300
"""Of more compared items, predictions are by Laplace's approximation, which sees differences as a little too small."""
_MANY_ITEMS = 2000
"""With more items the covariance is the factored one, which takes no n x n matrix."""


class Finding(NamedTuple):
    """What a check found.

    value, threshold  what is compared; None where there is nothing to compare
    found             a sentence
    advice            what to do; empty where nothing is to be done
    """

    state: State
    value: float | None
    threshold: float | None
    found: str
    advice: str = ""


def not_run(why: str) -> Finding:
    return Finding("not run", None, None, why)


@dataclass(frozen=True, eq=False)
class StudyData:
    """What checks look at.

    ids                (n,) of the items
    names              of the annotators, by their number
    group              (n,) the code of each item's group, -1 where the item is not in use
    features           (n, k) scaled
    answers            those that count, as the model is fitted to them
    annotators         (T,) the number of each answer's annotator
    at_random          (T,) whether its pair was drawn at random
    model              what results are by, with the newest prior variances
    posterior          of all answers, as results show it
    refit              the same of other answers about rows (r,) of the items alone, where sides are places among them;
                       with the same prior variances
    better_than_coins  see `Reliability`
    error_high         likewise
    top                so many first items matter most; below 0: all but so many, since the last ones matter
    seed               of the simulations
    """

    ids: tuple[str, ...]
    names: tuple[str | None, ...]
    group: Integers
    features: Floats
    answers: Answers
    annotators: Integers
    at_random: NDArray[np.bool_]
    model: Model
    posterior: Posterior
    refit: Callable[[Answers, Integers], Posterior]
    better_than_coins: bool | None
    error_high: float
    top: int
    seed: int

    def rng(self, check: int) -> np.random.Generator:
        """For the simulations of one check: each has a number of its own."""
        return np.random.default_rng([self.seed, 0xC4, check])

    @cached_property
    def without_repeats(self) -> StudyData:
        """For checks against chance: a person who repeats an answer, or a copy of it, would be no second surprise."""
        kept = independent(self.answers, self.annotators)
        if kept.all():
            return self
        return replace(
            self,
            answers=self.answers.those(kept)._replace(share=None),
            annotators=self.annotators[kept],
            at_random=self.at_random[kept],
        )

    @cached_property
    def decisive(self) -> NDArray[np.bool_]:
        """(T,) answers that are not ties."""
        decisive: NDArray[np.bool_] = self.answers.outcome != 0.5
        return decisive

    @cached_property
    def decided(self) -> Answers:
        """The answers that are not ties."""
        return self.answers.those(self.decisive)

    @property
    def prior(self) -> Prior | None:
        """The prior variances; None where the model has none."""
        return self.model.prior if isinstance(self.model, SiteModel) else None

    @property
    def likelihood(self) -> Likelihood:
        """That of the model; logistic where it has none of its own."""
        found: Likelihood = getattr(self.model, "likelihood", LOGISTIC)
        return found

    @property
    def features_alone(self) -> bool:
        """Whether scores follow from the features alone, so that answers need not connect the items."""
        return self.prior is not None and self.prior.items < _NEARLY_NONE

    @cached_property
    def cheap_model(self) -> Model:
        """The model, of many items with the factored covariance."""
        prior = self.prior
        if prior is None or not self.model.dense or len(self.ids) <= _MANY_ITEMS:
            return self.model
        return FactoredHybrid(prior.coefficients or 1.0, prior.items, self.likelihood)

    @property
    def used_features(self) -> Floats:
        """(n, k) those that the model uses."""
        return self.features if self.prior is None or self.prior.coefficients else self.features[:, :0]

    def cheap_fit(self, answers: Answers) -> Posterior:
        """Laplace's approximation."""
        return self.cheap_model.fit(self.used_features, answers)

    @cached_property
    def fit(self) -> Posterior:
        """Laplace's approximation: at its mode an answer's share in the scores is known in closed form."""
        return self.cheap_fit(self.answers)

    @cached_property
    def compared(self) -> Compared:
        return Compared.of(self.used_features, self.answers)

    @cached_property
    def pair_of(self) -> Integers:
        """(T,) the place of each answer's pair in `compared.pairs`."""
        rows, _, pairs = self.compared
        place = np.searchsorted(rows, np.column_stack(self.answers[:2]))
        low, high = place.min(axis=1), place.max(axis=1)
        codes = pairs.left * len(rows) + pairs.right
        found: Integers = np.searchsorted(codes, low * len(rows) + high)
        return found

    @cached_property
    def left_out(self) -> LeftOut:
        from ordinate.learning.left_out import left_out_by

        return left_out_by(self.model, self.used_features, self.answers)

    @cached_property
    def predictions(self) -> Predictions:
        """Of the answers about random pairs, by those before them."""
        from ordinate.learning.calibration import predictions

        # Of the compared items alone: a covariance of all of them would take n^3 for each of the fits.
        rows, answers = self.answers.of_compared()

        def fit(answers: Answers) -> Posterior:
            few = len(rows) <= _FEW_ITEMS
            return self.refit(answers, rows) if few else self.cheap_model.fit(self.used_features[rows], answers)

        return predictions(fit, answers, self.at_random & self.decisive, self.likelihood)

    @cached_property
    def misfit_of_annotators(self) -> Misfit:
        from ordinate.learning.checks.misfit import annotators

        return annotators(self)

    @cached_property
    def influences(self) -> dict[int, float]:
        """Number of an annotator -> share of the pairs that change places without their answers."""
        from ordinate.learning.checks.influence import influences

        return influences(self)

    def named(self, row: int) -> str:
        return repr(self.ids[row])

    def annotator(self, number: int) -> str:
        return "somebody without a name" if self.names[number] is None else repr(self.names[number])


def listed(names: list[str], most: int = 5) -> str:
    """ "a, b and 3 more"."""
    shown, more = names[:most], len(names) - most
    return ", ".join(shown) + (f" and {more:,} more" if more > 0 else "")
