"""Thresholds of a likelihood that tells kinds of answers apart: maximum likelihood, with a weak prior.

At the fixed point of expectation propagation, the gradient of its evidence by a parameter of the likelihood is that of
the sum of log integrals of each pair's likelihood times its cavity, with the cavities fixed (Seeger 2005). So the
thresholds are moved with the cavities fixed and the sites are propagated again, in turns, until they stay.
"""

from __future__ import annotations

from ordinate.data.arrays import Floats
from ordinate.learning.expectation_propagation import Propagation, tilted
from ordinate.learning.likelihoods import Likelihood
from ordinate.learning.likelihoods.by_kind import ByKind
from ordinate.learning.likelihoods.cumulative import STEP
from ordinate.learning.models import Answers, SiteModel
from ordinate.learning.prior_variances import MOST_ITEMS, ROUGHLY, among_most_compared, climb

_DEVIATION = 2.0
"""Standard deviation of the logarithm of a threshold about its start, before any answer."""
_MOST_ROUNDS = 10

Place = tuple[int, ...]


def fitted_likelihood(model: SiteModel, features: Floats, answers: Answers) -> Likelihood:
    """The model's likelihood with the most probable thresholds, to 5 %, given the model's prior variances."""
    likelihood = model.likelihood
    if answers.strength is None:
        return likelihood
    answers = among_most_compared(answers, MOST_ITEMS)
    kinds = model.compared(features, answers).pairs.kinds
    if kinds is None or not isinstance(likelihood, ByKind) or not any(used := likelihood.thresholds(kinds)):
        return likelihood
    place: Place = (0, 0)
    propagation = Propagation(model, features, answers)
    axes = [axis for axis, one in enumerate(used) if one]
    for _ in range(_MOST_ROUNDS):
        last = place
        propagation.model = model.with_likelihood(likelihood.at(place, used))
        propagation.propagate(model.prior, ROUGHLY)
        cavities = propagation.cavities(model.prior)

        def probability(place: Place, cavities: tuple[Floats, Floats] = cavities) -> float:
            penalty = sum((STEP * steps / _DEVIATION) ** 2 for steps in place)
            at = likelihood.at(place, used)
            return float(tilted(propagation.compared.pairs, *cavities, at)[0].sum()) - 0.5 * penalty

        place = climb(probability, place, axes)
        if place == last:
            break
    return likelihood.at(place, used)
