"""What is fitted to the answers besides the scores: prior variances, thresholds, how sharp each annotator is, and
which side or length they prefer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ordinate.data.arrays import Floats, Integers
from ordinate.learning.annotator_bias import Covariate, leans
from ordinate.learning.annotators import FEWEST, Fit, sharpness
from ordinate.learning.likelihoods.by_kind import ByKind
from ordinate.learning.likelihoods.cumulative import Cumulative
from ordinate.learning.models import Answers, Model, SiteModel
from ordinate.learning.models.hybrid import Hybrid
from ordinate.learning.prior_variances import fitted_prior
from ordinate.learning.thresholds import fitted_likelihood


class Fitted(NamedTuple):
    """weight       what margins are multiplied by, by the number of the annotator; None: nobody's are
    lean         what is added to the product, by that number, and then of those who came later; None: nobody prefers a
                 side
    length_lean  what is added for each standard deviation by which the left item is longer; None: all as the scores say
    """

    model: Model
    weight: tuple[float, ...] | None = None
    lean: tuple[float, ...] | None = None
    length_lean: tuple[float, ...] | None = None

    @property
    def knows_nobody(self) -> bool:
        """Whether nothing is known of the annotators."""
        return self.weight is None and self.lean is None and self.length_lean is None

    def applied(self, answers: Answers, people: People) -> Answers:
        """The answers, with kinds, and what is known of the annotators who gave them."""
        answers = with_kinds(answers)
        if self.weight is not None:
            # Who came after the weights were fitted weighs 1.
            answers = answers._replace(sharpness=_by_annotator(self.weight, 1.0, people.number))
        parts = [part for part in (self.by_side(people), self.by_length(people)) if part is not None]
        return answers._replace(lean=sum(parts[1:], parts[0])) if parts else answers

    def side_of(self, number: int) -> float:
        """The lean of the annotator with this number to the left."""
        return _of(self.lean, number)

    def length_of(self, number: int) -> float:
        """The lean of the annotator with this number to long items."""
        return _of(self.length_lean, number)

    def by_side(self, people: People) -> Floats | None:
        """(T,) what is added because of the side."""
        return None if self.lean is None else _leaning(self.lean, people.number, people.sides.value)

    def by_length(self, people: People) -> Floats | None:
        """(T,) what is added because of the length."""
        if self.length_lean is None or people.longer is None:
            return None
        return _leaning(self.length_lean, people.number, people.longer)


def _of(lean: tuple[float, ...] | None, number: int) -> float:
    return 0.0 if lean is None else lean[min(number, len(lean) - 1)]


def _leaning(lean: tuple[float, ...], number: Integers, value: Floats) -> Floats:
    return _by_annotator(lean[:-1], lean[-1], number) * value


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
    longer  (T,) by how many standard deviations the log length of the left item is larger; 0: not known; None: of none
    """

    number: Integers
    named: NDArray[np.bool_]
    sided: NDArray[np.bool_]
    models: NDArray[np.bool_]
    longer: Floats | None = None

    @property
    def sides(self) -> Covariate:
        return Covariate(self.sided.astype(np.float64))

    @property
    def lengths(self) -> Covariate | None:
        if self.longer is None or not self.can_be_told_apart:
            return None
        return Covariate(self.longer, self.reference)

    @property
    def reference(self) -> NDArray[np.bool_]:
        """(A,) against whom leans to long items are: people, named or not; models, where nobody else answered."""
        answered = np.bincount(self.number, minlength=len(self.models)) > 0
        people = answered & ~self.models
        return people if people.any() else answered

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
    model: SiteModel,
    features: Floats,
    answers: Answers,
    people: People,
    *,
    features_alone: float | None,
    weigh: bool,
    sides: bool,
    lengths: bool = False,
) -> Fitted:
    """`features_alone`: log odds with which prior variances are fitted too, as in `fitted_prior`; None: they stay.
    `weigh`: fit how sharp people are; `sides`, `lengths`: whether they prefer a side, and how they differ in preferring
    long items."""
    found, plain = Fitted(_of_answers(model, features, answers, features_alone)), answers

    def again(found: Fitted) -> tuple[Fitted, Answers]:
        """With the prior variances that follow: people who lean look noisier at first than they are."""
        given = found.applied(plain, people)
        return found._replace(model=_of_answers(model, features, given, features_alone)), given

    for _ in range(2 if sides else 0):
        lean = leans(plain_fit(found.model, features), with_kinds(plain), people.number, people.sides)
        if lean is None:
            break
        found, answers = again(found._replace(lean=tuple(lean.tolist())))
    sided = with_kinds(answers)
    for _ in range(2 if lengths else 0):
        lean = _length_leans(plain_fit(found.model, features), sided, people)
        if lean is None:
            break
        found, answers = again(found._replace(length_lean=tuple(lean.tolist())))
    if not weigh or not people.can_be_told_apart:
        return found
    fit = plain_fit(found.model, features)
    sharp, _ = sharpness(fit, with_kinds(answers), people.number, people.named, people.unit)
    if (sharp.weight == 1.0).all():
        return found
    weighted = with_kinds(answers)._replace(sharpness=sharp.weight[people.number])
    return found._replace(
        model=_of_answers(model, features, weighted, features_alone), weight=tuple(sharp.weight.tolist())
    )


def _length_leans(fit: Fit, answers: Answers, people: People) -> Floats | None:
    """Where long items are better, who is less sharp seems to lean to short ones: so sharpness is told apart first."""
    if people.lengths is None or leans(fit, answers, people.number, people.lengths) is None:
        return None
    sharp, _ = sharpness(fit, answers, people.number, people.named, people.unit)
    return leans(fit, answers._replace(sharpness=sharp.weight[people.number]), people.number, people.lengths)


def _of_answers(model: SiteModel, features: Floats, answers: Answers, features_alone: float | None) -> SiteModel:
    """Thresholds, prior variances given these, and thresholds once more given those."""
    found = model.with_likelihood(fitted_likelihood(model, features, answers))
    if features_alone is None:
        return found
    found = found.with_prior(fitted_prior(found, features, answers, features_alone))
    if found.likelihood == model.likelihood:
        return found
    return found.with_likelihood(fitted_likelihood(found.with_likelihood(model.likelihood), features, answers))


def with_kinds(answers: Answers) -> Answers:
    """The answers with a strength, so that kinds of them are told apart."""
    if answers.strength is not None:
        return answers
    return answers._replace(strength=np.zeros(len(answers.outcome), dtype=np.int64))


def plain_fit(model: Model, features: Floats) -> Fit:
    """A fit by Laplace's approximation with the model's variances, in which answers may have a sharpness.

    Models that take one answer after another are replaced.
    """
    if not isinstance(model, SiteModel):
        model = Hybrid(likelihood=Cumulative())
    return Fit(model if isinstance(model.likelihood, ByKind) else model.with_likelihood(Cumulative()), features)
