"""From the state of a log to fits and to the belief of the next choice, by the model and the schedule of refits.

A belief is a pure function of the items, the effective comparisons and the pending pairs. Its mean is a cold fit of the
answers up to the last scheduled refit. Its covariance is that of the last scheduled renewal, or of the one before it
while another process still computes the last one (see `beside`). It has one rank-one update for each answer since,
whose curvature is taken at the mean of the refit before that answer, and one for each pending pair. All that is kept
here between calls is keyed by what it depends on, and may be dropped at any moment without changing a result.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from ordinate.algorithms import MANY_ITEMS, algorithm, model_of
from ordinate.choosing.search import LazySearch, Search
from ordinate.choosing.strategies import Situation
from ordinate.data.arrays import Floats, Integers
from ordinate.data.feature_blocks import BlockMap, feature_map
from ordinate.data.lengths import Lengths, standard_lengths
from ordinate.data.scaling import FeatureMap
from ordinate.learning import belief as beliefs
from ordinate.learning.annotators import Repeats, repeats
from ordinate.learning.belief import Belief, KeptCovariance
from ordinate.learning.fitted import Fitted, People, fitted
from ordinate.learning.likelihoods.by_kind import ByKind
from ordinate.learning.membership import item_weights
from ordinate.learning.models import Answers, Model, SiteModel
from ordinate.learning.models.blocks import InBlocks
from ordinate.learning.posterior import Posterior
from ordinate.storage import Settings
from ordinate.study.aim import aim_of
from ordinate.study.fold import State, Version
from ordinate.study.schedule import is_slow, last_prior_fit, last_refit, last_renewal, next_refit
from ordinate.study.threads import one_thread


@dataclass(frozen=True, eq=False)
class Scaled:
    """The features of all items as models take them, and how new items get theirs."""

    items_epoch: int
    map: FeatureMap | BlockMap
    features: Floats


@dataclass(frozen=True, eq=False)
class _Refitted:
    """The belief right after a refit of these answers. Its covariance was renewed after `renewal` answers."""

    version: Version
    renewal: int
    covariance: KeptCovariance
    belief: Belief

    @property
    def answers(self) -> int:
        return self.version.answers

    def is_of(self, state: State, refit: int) -> bool:
        """Whether it is on the way to a refit of so many answers."""
        return self.answers <= refit and self.version == state.version(self.answers)


class Beside(Protocol):
    """Renews covariances elsewhere, while choices are based on an older one."""

    def is_ready(self, fit: Fit) -> bool:
        """Whether `take` gives the covariance of this fit; where nobody computes it yet, somebody begins to."""

    def take(self) -> KeptCovariance | None:
        """The covariance that is ready; None where that failed."""


class Fit(NamedTuple):
    """What a fit depends on; equal fits have equal keys."""

    key: Version
    model: Model
    features: Floats
    answers: Answers


Pending = Sequence[tuple[int, int]]
"""Rows (left, right) of the pairs that are asked and not answered, oldest first."""


class Inference:
    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._model = model_of(
            settings.algorithm,
            coefficient_variance=settings.coefficient_variance,
            item_variance=settings.item_variance,
            likelihood=settings.likelihood,
        )
        self._every = algorithm(settings.algorithm).refit_every or settings.refit_every
        fixed = settings.coefficient_variance is not None or settings.item_variance is not None
        # Where prior variances are fitted to the answers: the model before that.
        # Looked at once: the check of a protocol looks for each of its members.
        self._sites = self._model if isinstance(self._model, SiteModel) else None
        self.site_model = None if fixed else self._sites
        # Whether kinds of answers are told apart, once there are any.
        self._kinds = isinstance(getattr(self._model, "likelihood", None), ByKind)
        # Where it is set, a choice does not wait for a renewal that takes long, and says by which one it was made.
        self.beside: Beside | None = None
        self.drop_caches()

    def drop_caches(self) -> None:
        """Drop everything that is kept for speed."""
        self._scaled: Scaled | None = None
        # How long the items are, with the items they are of.
        self._lengths: tuple[int, Lengths | None] | None = None
        # The two latest fits: that of the last refit, and that of all answers.
        self._fits: dict[tuple[Version, Fitted], Posterior] = {}
        # What was fitted to so many answers besides the scores, the two latest.
        self._fitted_priors: dict[Version, Fitted] = {}
        # What repeated answers are worth, the latest.
        self._repeated: tuple[Version, Repeats | None] | None = None
        # After the last refit, and after the one before it with the same covariance.
        self._refitted: _Refitted | None = None
        self._earlier: _Refitted | None = None
        # Where the last renewal is not there yet: how many answers the one before it saw.
        self.overdue: int | None = None
        # Of items, for this aim, by the belief after that refit.
        self._weights: tuple[_Refitted, tuple[str, ...], Floats] | None = None
        # The belief after these answers.
        self._answered: tuple[_Refitted, Version, Belief] | None = None
        # That belief, pending pairs, and the belief with these.
        self._pending: tuple[Belief, tuple[tuple[int, int], ...], Belief] | None = None
        # It checks by itself for which beliefs and pools what it kept of earlier questions is right.
        self.search: Search = LazySearch()

    def is_slow(self, state: State) -> bool:
        """Whether a renewal of the covariance takes seconds."""
        return is_slow(self._model, len(state.items))

    def model(self, state: State) -> Model:
        """What the next choice is fitted with."""
        items = len(state.items)
        refit = last_refit(len(state.effective), items, self._every)
        return self._model_of(state, last_renewal(self._model, refit, items, self._every))

    def newest_model(self, state: State) -> Model:
        """The model that results are by: where prior variances are fitted, with the newest ones."""
        return self._model_of(state, len(state.effective))

    def _model_of(self, state: State, count: int) -> Model:
        return self.fitted(state, count).model

    def fitted(self, state: State, count: int) -> Fitted:
        """What a fit of the first `count` answers is made with, as it was last fitted on schedule."""
        if self._sites is None or not (self._kinds or self.site_model is not None):
            return Fitted(self._model)
        if not (at := last_prior_fit(count, state.one_per_item)):
            return Fitted(self._model)
        key = state.version(at)
        if key not in self._fitted_priors:
            people = self.people(state, at)
            with one_thread():
                found = fitted(
                    self._sites if self.site_model is None else self.start(state),
                    self.scaled(state).features,
                    self.first_answers(state, at),
                    people,
                    features_alone=None if self.site_model is None else self._settings.features_alone,
                    # A model counts with its own sharpness, whatever was decided about people.
                    weigh=self._kinds and bool(self._settings.weigh_annotators or people.models.any()),
                    sides=self._settings.side_bias,
                    lengths=self._settings.length_bias,
                )
            self._fitted_priors = {**dict(list(self._fitted_priors.items())[-1:]), key: found}
        return self._fitted_priors[key]

    def start(self, state: State) -> SiteModel:
        """The model before its prior variances are fitted to the answers."""
        assert self.site_model is not None
        widths = self.scaled(state).map.widths
        if len(widths) == 1 or not self.site_model.prior.coefficients:
            return self.site_model
        return InBlocks(self.site_model, widths, (1.0,) * len(widths))

    def people(self, state: State, count: int) -> People:
        """Those of the first so many answers: who came since must not change what was fitted to these."""
        number = state.effective.annotators[:count]
        asked = state.answers_to_queries[:count]
        models = _given_by(number, [state.number_of(name) for name in state.machines])
        return People(number, self._named(state, number), asked, models, self._longer(state, count))

    def _named(self, state: State, number: Integers) -> NDArray[np.bool_]:
        """(A,) which of the annotators who gave these answers have a name."""
        return (np.bincount(number) > 0) & ~_given_by(number, [state.number_of(None)])

    def _longer(self, state: State, count: int) -> Floats | None:
        """(T,) of `People`."""
        if (lengths := self._lengths_of(state)) is None:
            return None
        left, right, _ = state.effective.first(count)
        return np.nan_to_num(lengths.values[left] - lengths.values[right])

    def doubling(self, state: State) -> float:
        """By how many standard deviations an item is longer that is twice as long; 0: lengths play no role."""
        lengths = self._lengths_of(state)
        return 0.0 if lengths is None else lengths.doubling

    def _lengths_of(self, state: State) -> Lengths | None:
        if not self._settings.length_bias:
            return None
        if self._lengths is None or self._lengths[0] != state.items_epoch:
            self._lengths = state.items_epoch, standard_lengths(state.items, state.active >= 0)
        return self._lengths[1]

    def first_answers(self, state: State, count: int, used: Fitted | None = None) -> Answers:
        """The first so many, with kinds of answers where these matter, and what was fitted of the annotators."""
        answers = Answers(*state.effective.first(count))
        if not self._kinds:
            return answers
        strength, repeated = state.effective.strengths[:count], self.repeats(state, count)
        share = None if repeated is None else repeated.share
        if share is not None or strength.any() or (answers.outcome == 0.5).any():
            answers = answers._replace(strength=strength, share=share)
        if used is None or used.knows_nobody:
            return answers
        return used.applied(answers, self.people(state, count))

    def repeats(self, state: State, count: int) -> Repeats | None:
        """What the first so many answers are worth, where one person answered a pair several times."""
        key = state.version(count)
        if self._repeated is None or self._repeated[0] != key:
            left, right, outcome = state.effective.first(count)
            number = state.effective.annotators[:count]
            pairs = np.minimum(left, right) * len(state.items) + np.maximum(left, right)
            of_lower = np.where(left < right, outcome, 1.0 - outcome)
            self._repeated = key, repeats(of_lower, number, pairs, self._named(state, number))
        return self._repeated[1]

    def belief(self, state: State, pending: Pending) -> Belief:
        """What the next choice is based on: all answers, and a smaller variance where pairs are pending."""
        answered, wanted = self.answered(state), tuple(pending)
        base, done, belief = self._pending or (answered, (), answered)
        if base is not answered or done != wanted[: len(done)]:
            done, belief = (), answered
        belief = beliefs.pending(belief, *wanted[len(done) :])
        self._pending = (answered, wanted, belief)
        return belief

    def situation(self, state: State, pending: Pending, search: Search) -> Situation:
        """What a strategy may use."""
        if self.beside is not None and self._refitted is not None:
            self._after_refit(state, take=True)
        return _Situation(self, state, pending, search)

    def coefficients(self, state: State) -> Floats:
        """(k,) theta of the last scheduled refit."""
        refit = last_refit(len(state.effective), len(state.items), self._every)
        return self.fit(state, refit).coefficients

    def features(self, state: State) -> Floats:
        """(n, k) the scaled features of all items."""
        return self.scaled(state).features

    def answered(self, state: State) -> Belief:
        """The belief after all answers, without the pending pairs."""
        return self._updated(state, self._after_refit(state), len(state.effective))

    def weights(self, state: State) -> Floats | None:
        """(n,) how much the aim is about each item, by the belief right after the refit; None: the whole order.

        Grades are about all of it: weights for several marks saved no answers.
        """
        wanted = aim_of(state.rules.aim).wanted(state.rows)
        if wanted is None or wanted.has_grades(state.active):
            return None
        at = self._after_refit(state)
        if self._weights is None or self._weights[:2] != (at, state.rules.aim):
            with one_thread():
                self._weights = at, state.rules.aim, item_weights(at.belief, state.active, wanted)
        return self._weights[2]

    def _after_refit(self, state: State, take: bool = False) -> _Refitted:
        """Only with `take` a covariance that was renewed elsewhere replaces an older one: never within a choice."""
        items = len(state.items)
        refit = last_refit(len(state.effective), items, self._every)
        renewal = last_renewal(self._model, refit, items, self._every) if self._settings.renew_covariance else 0
        at = self._refitted
        if at is not None and not at.is_of(state, refit):
            at, earlier = None, self._earlier
            if earlier is not None and earlier.is_of(state, refit):
                # An answer was taken back that the last refit saw.
                self._refitted = self._answered = self._pending = self._weights = self._earlier = None
                earlier.covariance.restore()
                at = replace(earlier, belief=earlier.covariance.belief(earlier.belief.mean))
        beside = self.beside if at is not None and is_slow(self._model, items) else None
        renews = at is None or at.renewal != renewal
        if renews and beside is not None:
            renews = take and beside.is_ready(self._what(state, renewal))
        if at is None or renews:
            # The old belief is dropped first: there may be no memory for two.
            self._refitted = self._answered = self._pending = self._weights = self._earlier = at = None
            fit = self.fit(state, renewal)
            covariance = (None if beside is None else beside.take()) or fit.covariance.kept()
            at = _Refitted(state.version(renewal), renewal, covariance, covariance.belief(fit.mean))
        while at.answers < refit:
            answers = next_refit(at.answers, items, self._every)
            mean, belief = self.fit(state, answers).mean, self._updated(state, at, answers)
            # Beliefs of the old memory stop working, also if this is interrupted.
            self._refitted = self._answered = self._pending = self._weights = self._earlier = None
            at.covariance.absorb(belief)
            self._earlier = at
            at = _Refitted(state.version(answers), at.renewal, at.covariance, at.covariance.belief(mean))
        self._refitted = at
        self.overdue = None if at.renewal == renewal else at.renewal
        return at

    def _what(self, state: State, count: int) -> Fit:
        renewal = last_renewal(self._model, count, len(state.items), self._every)
        used = self.fitted(state, renewal)
        features = self.scaled(state).features
        return Fit(state.version(count), used.model, features, self.first_answers(state, count, used))

    def _updated(self, state: State, refitted: _Refitted, count: int) -> Belief:
        """The belief after the first `count` answers, of which the refit saw some."""
        at, done, belief = self._answered or (refitted, refitted.version, refitted.belief)
        if at is not refitted or done.answers > count or done != state.version(done.answers):
            done, belief = refitted.version, refitted.belief
        left, right, _ = state.effective.first(count)
        for row in range(done.answers, count):
            belief = beliefs.update(belief, int(left[row]), int(right[row]))
        self._answered = (refitted, state.version(count), belief)
        return belief

    def fit(self, state: State, count: int) -> Posterior:
        """The posterior of the first `count` answers that choices are based on."""
        renewal = last_renewal(self._model, count, len(state.items), self._every)
        used = self.fitted(state, renewal)
        key = (state.version(count), used)
        fit = self._fits.pop(key, None)
        if fit is None:
            answers = self.first_answers(state, count, used)
            with one_thread():
                fit = self._continued(state, answers) or used.model.fit(self.scaled(state).features, answers)
            newest = [(kept, one) for kept, one in self._fits.items() if kept[0] == state.version(kept[0].answers)]
            self._fits = dict(newest[-1:])
        self._fits[key] = fit
        return fit

    def _continued(self, state: State, answers: Answers) -> Posterior | None:
        """The newest kept fit with the answers since, where the model takes one answer after another."""
        counts = {kept[0].answers: fit for kept, fit in self._fits.items() if kept[0] == state.version(kept[0].answers)}
        done = max((count for count in counts if count < len(answers.left)), default=0)
        further = counts[done].further if done else None
        return None if further is None else further(answers.those(slice(done, None)))

    def scaled(self, state: State) -> Scaled:
        if self._scaled is None or self._scaled.items_epoch != state.items_epoch:
            items = state.items
            counted = state.active >= 0
            used = feature_map(
                items.features,
                items.feature_names,
                items.blocks,
                self._settings.scaling,
                counted if counted.any() else ~counted,
            )
            # Of many items one copy in float32 is kept, and nothing else of that size is made (`belief.projected`).
            kept = np.float32 if len(items) > MANY_ITEMS else np.float64
            self._scaled = Scaled(state.items_epoch, used, used.transform(items.features, kept))
        return self._scaled


def _given_by(number: Integers, some: Sequence[int | None]) -> NDArray[np.bool_]:
    """(A,) which of the annotators 0, 1, ... who gave these answers are one of some; None is nobody."""
    given = np.bincount(number) > 0
    chosen = np.zeros_like(given)
    chosen[[one for one in some if one is not None and one < len(given)]] = True
    return given & chosen


@dataclass(frozen=True)
class _Situation:
    inference: Inference
    state: State
    pending: Pending
    searching: Search

    def belief(self) -> Belief:
        return self.inference.belief(self.state, self.pending)

    def answered(self) -> Belief:
        return self.inference.answered(self.state)

    def search(self) -> Search:
        return self.searching

    def weights(self) -> Floats | None:
        return self.inference.weights(self.state)

    def coefficients(self) -> Floats:
        return self.inference.coefficients(self.state)

    def features(self) -> Floats:
        return self.inference.features(self.state)

    def asked(self) -> tuple[Integers, Integers]:
        pending = np.array(self.pending, dtype=np.int64).reshape(-1, 2)
        left, right = self.state.effective.pairs
        return np.concatenate([left, pending[:, 0]]), np.concatenate([right, pending[:, 1]])
