"""From the state of a log to a posterior and a belief, by the algorithm's model and the schedule of refits.

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
from ordinate.choosing.strategies.uniform import Uniform
from ordinate.data.arrays import Floats, Integers
from ordinate.data.items import Items
from ordinate.data.joining import require_same_features
from ordinate.data.ordering import Grades, Interval, Ordering, RankIntervals, Selection, StudyRanks
from ordinate.data.pairs import members
from ordinate.data.scaling import FeatureMap
from ordinate.errors import InvalidInput
from ordinate.learning import belief as beliefs
from ordinate.learning.annotators import shares
from ordinate.learning.belief import Belief, KeptCovariance
from ordinate.learning.coin_gate import CoinGate
from ordinate.learning.consistency import (
    Consistency,
    predictions,
    separation,
    separation_of_coins,
    share_interval,
    split_half,
)
from ordinate.learning.error_spread import error_interval, error_spread
from ordinate.learning.expectation_propagation import Propagation
from ordinate.learning.expected_error import expected_error
from ordinate.learning.fitted import Fitted, People, fitted
from ordinate.learning.grades import grades_of
from ordinate.learning.likelihoods.by_kind import ByKind
from ordinate.learning.membership import item_weights
from ordinate.learning.models import Answers, Model, SiteModel
from ordinate.learning.posterior import Posterior
from ordinate.learning.prior_variances import fitted_prior
from ordinate.learning.ranks import draw_scores, ranks_among, ranks_of
from ordinate.learning.selection import Found, found_by
from ordinate.learning.thresholds import with_likelihood
from ordinate.storage import Settings
from ordinate.study.aim import aim_of
from ordinate.study.annotator_quality import FEWEST_ANSWERS, Annotators, annotators_of
from ordinate.study.fold import State, Version
from ordinate.study.schedule import is_slow, last_prior_fit, last_refit, last_renewal, next_refit
from ordinate.study.threads import one_thread

TELLING = 3
"""Answers per item from which on the expected recall of an aim is close to the true one (docs/statistics.md)."""


@dataclass(frozen=True, eq=False)
class _Scaled:
    items_epoch: int
    map: FeatureMap
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


class Reliability(NamedTuple):
    """How far the ordering can be trusted.

    better_than_coins  True: coin tosses would give such answers with a chance of less than 1 in 20; False: they could;
                       None: there are no random pairs to tell by
    expected_error     the mean over pairs of the probability of the wrong order, if the answers are not coin tosses
    error_low, error_high  the true error is between these with a probability of 90 %, if so
    """

    better_than_coins: bool | None
    expected_error: float
    error_low: float
    error_high: float


class Uncertainty(NamedTuple):
    """What draws of the scores tell: of ranks, of the expected error, of grades and of an aim where there are such.

    spread  standard deviation of the log of the true error about the expected one
    """

    ranks: RankIntervals
    spread: float
    grades: Grades | None
    found: Found | None


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


HISTORY_STEPS = 20
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
        self._site_model = self._model if isinstance(self._model, SiteModel) and not fixed else None
        # Whether kinds of answers are told apart, once there are any.
        self._kinds = isinstance(getattr(self._model, "likelihood", None), ByKind)
        # Where it is set, a choice does not wait for a renewal that takes long, and says by which one it was made.
        self.beside: Beside | None = None
        self.drop_caches()

    def drop_caches(self) -> None:
        """Drop everything that is kept for speed."""
        self._scaled: _Scaled | None = None
        # The two latest fits: that of the last refit, and that of all answers.
        self._fits: dict[tuple[Version, Fitted], Posterior] = {}
        # What was fitted to so many answers besides the scores, the two latest.
        self._fitted_priors: dict[Version, Fitted] = {}
        # The latest shares of repeated answers.
        self._repeated: tuple[Version, Floats | None] | None = None
        # The uncertainty after so many answers, with these cuts.
        self._uncertain: tuple[tuple[Version, tuple[int, ...], tuple[str, ...]], Uncertainty] | None = None
        # What was found for this aim by so many answers, with the newest prior variances.
        self._found: dict[tuple[tuple[Version, Fitted], tuple[str, ...]], Found] = {}
        # Bets against coin tosses on these answers.
        self._gate: tuple[Version, CoinGate] | None = None
        # The latest posterior that was shown.
        self._results: dict[tuple[Version, Fitted], Posterior] = {}
        # Expected errors of so many answers, with the newest prior variances.
        self._errors: dict[tuple[Version, Fitted], float] = {}
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

    def posterior(self, state: State) -> Posterior:
        """What all effective comparisons say of the scores."""
        return self._result(state, len(state.effective))

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
        return self._fitted(state, count).model

    def _fitted(self, state: State, count: int) -> Fitted:
        """What a fit of the first `count` answers is made with, as it was last fitted on schedule."""
        model = self._model
        if not isinstance(model, SiteModel) or not (self._kinds or self._site_model is not None):
            return Fitted(model)
        if not (at := last_prior_fit(count, len(state.items))):
            return Fitted(model)
        key = state.version(at)
        if key not in self._fitted_priors:
            with one_thread():
                found = fitted(
                    model,
                    self._scale(state).features,
                    self._answers(state, at),
                    self._people(state, at),
                    prior=self._site_model is not None,
                    weigh=self._settings.weigh_annotators,
                    sides=self._settings.side_bias,
                )
            self._fitted_priors = {**dict(list(self._fitted_priors.items())[-1:]), key: found}
        return self._fitted_priors[key]

    def _people(self, state: State, count: int) -> People:
        """Those of the first so many answers: who came since must not change what was fitted to these."""
        number = state.effective.annotators[:count]
        given = np.bincount(number) > 0
        named = [name is not None for name in state.annotator_names[: len(given)]]
        asked = np.isin(state.effective.positions[:count], [answer.position for answer in state.answered.values()])
        return People(number, given & np.array(named, dtype=np.bool_), asked)

    def answers(self, state: State) -> Answers:
        """All of them, as results are fitted to them."""
        total = len(state.effective)
        return self._answers(state, total, self._fitted(state, total))

    def _answers(self, state: State, count: int, used: Fitted | None = None) -> Answers:
        """The first so many, with kinds of answers where these matter, and what was fitted of the annotators."""
        answers = Answers(*state.effective.first(count))
        if not self._kinds:
            return answers
        strength, share = state.effective.strengths[:count], self._shares(state, count)
        known = used is not None and (used.weight is not None or used.lean is not None)
        if share is None and not known and not strength.any() and not (answers.outcome == 0.5).any():
            return answers
        answers = answers._replace(strength=strength, share=share)
        return used.applied(answers, self._people(state, count)) if used is not None and known else answers

    def _shares(self, state: State, count: int) -> Floats | None:
        """How much of an answer each is, where one person answered a pair several times."""
        key = state.version(count)
        if self._repeated is None or self._repeated[0] != key:
            left, right, _ = state.effective.first(count)
            people = self._people(state, count)
            pairs = np.minimum(left, right) * len(state.items) + np.maximum(left, right)
            self._repeated = key, shares(people.number, pairs, people.named)
        return self._repeated[1]

    def _result(self, state: State, count: int) -> Posterior:
        """The posterior that is shown: by expectation propagation where prior variances are fitted.

        Fits of fewer answers, for the history of the expected error, use the newest variances: they are known best.
        """
        if self._site_model is None:
            return self._fit(state, count)
        newest = self._fitted(state, len(state.effective))
        model = newest.model
        assert isinstance(model, SiteModel)
        key = (state.version(count), newest)
        if key not in self._results:
            with one_thread():
                answers = self._answers(state, count, newest)
                found = Propagation(model, self._scale(state).features, answers).posterior(model.prior)
            if count < len(state.effective):
                return found
            self._results = {key: found}
        return self._results[key]

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
        return self._fit(state, refit).coefficients

    def features(self, state: State) -> Floats:
        """(n, k) the scaled features of all items."""
        return self._scale(state).features

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
            fit = self._fit(state, renewal)
            covariance = (None if beside is None else beside.take()) or fit.covariance.kept()
            at = _Refitted(state.version(renewal), renewal, covariance, covariance.belief(fit.mean))
        while at.answers < refit:
            answers = next_refit(at.answers, items, self._every)
            mean, belief = self._fit(state, answers).mean, self._updated(state, at, answers)
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
        used = self._fitted(state, renewal)
        features = self._scale(state).features
        return Fit(state.version(count), used.model, features, self._answers(state, count, used))

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

    def expected_error(self, state: State, count: int | None = None) -> float:
        """Of the ordering by all answers, or by the first `count`."""
        return self._expected_error(state, len(state.effective) if count is None else count)

    def error_history(self, state: State, most: int, steps: int) -> list[tuple[int, float]]:
        """(answers, expected error) at even steps, of which at most `most` are computed now, newest first."""
        points: list[tuple[int, float]] = []
        for count in reversed(history_counts(len(state.effective), steps)):
            if self._error_key(state, count) not in self._errors:
                if most == 0:
                    continue
                most -= 1
            points.append((count, self._expected_error(state, count)))
        return points[::-1]

    def _expected_error(self, state: State, count: int) -> float:
        key = self._error_key(state, count)
        if key not in self._errors:
            with one_thread():
                error = expected_error(self._result(state, count), state.active)
            kept = {old: one for old, one in self._errors.items() if old == self._error_key(state, old[0].answers)}
            self._errors = {**kept, key: error}
        return self._errors[key]

    def _error_key(self, state: State, count: int) -> tuple[Version, Fitted]:
        return state.version(count), self._fitted(state, len(state.effective))

    def ordering(self, state: State, items: Items | None, cuts: tuple[int, ...] | None = None) -> Ordering:
        """The study's own items, or the given ones; `cuts` None: those of the rules."""
        with one_thread():
            if items is not None:
                scores, errors, ranks = self._place(state, items)
                return _ordered(items, np.arange(len(items)), scores, errors, study_ranks=ranks)
            scores, errors = self.posterior(state).centred(state.active)
        found = self.uncertainty(state, cuts)
        return _ordered(
            state.items,
            np.flatnonzero(state.active >= 0),
            scores,
            errors,
            intervals=found.ranks,
            error=error_interval(self.expected_error(state), found.spread),
            grades=found.grades,
            selection=self.selection(state, cuts),
        )

    def uncertainty(self, state: State, cuts: tuple[int, ...] | None = None) -> Uncertainty:
        """Of the ordering by all answers; `cuts` None: those of the rules."""
        cuts = state.rules.cuts if cuts is None else cuts
        key = (state.version(len(state.effective)), cuts, state.rules.aim)
        wanted = aim_of(state.rules.aim).wanted(state.rows)
        if self._uncertain is None or self._uncertain[0] != key:
            with one_thread():
                posterior, group = self.posterior(state), state.active
                draws = draw_scores(posterior, group, np.random.default_rng(self._settings.seed))
                mean = posterior.mean
                self._uncertain = (
                    key,
                    Uncertainty(
                        ranks_of(posterior, group, draws),
                        error_spread(draws.scores, mean, group),
                        grades_of(draws.scores, mean, group, cuts) if cuts else None,
                        None if wanted is None else found_by(posterior, draws, group, wanted),
                    ),
                )
        return self._uncertain[1]

    def selection(self, state: State, cuts: tuple[int, ...] | None = None) -> Selection | None:
        """Which items are wanted; None where the aim is the whole order. `cuts` as in `uncertainty`."""
        found = self.uncertainty(state, cuts).found
        if found is None:
            return None
        items, withheld = int(np.count_nonzero(state.active >= 0)), None
        if len(state.effective) < TELLING * items:
            withheld = f"there are fewer than {TELLING} answers per item"
        elif self.reliability(state).better_than_coins is False:
            withheld = "the answers cannot be told from coin tosses yet"
        right = found.right if withheld is None else None
        return Selection(state.rules.aim, found.measure, found.part, found.membership, right, withheld)

    def found(self, state: State, count: int) -> Found | None:
        """What the first `count` answers find for the aim; None where that is the whole order."""
        wanted = aim_of(state.rules.aim).wanted(state.rows)
        if wanted is None or count == len(state.effective):
            return self.uncertainty(state).found
        key = self._error_key(state, count), state.rules.aim
        if key not in self._found:
            with one_thread():
                posterior, group = self._result(state, count), state.active
                draws = draw_scores(posterior, group, np.random.default_rng(self._settings.seed))
                self._found = {key: found_by(posterior, draws, group, wanted)}
        return self._found[key]

    def reliability(self, state: State) -> Reliability:
        """Whether the answers are better than coin tosses, and how wrong the ordering is expected to be."""
        error = error_interval(self.expected_error(state), self.uncertainty(state).spread)
        return Reliability(self._better_than_coins(state), *error)

    def _better_than_coins(self, state: State) -> bool | None:
        """Of a `Reliability`."""
        read, gate = self._gate or (state.version(0), CoinGate())
        if read != state.version(read.answers):
            gate = CoinGate()
        answers = len(state.effective)
        with one_thread():
            gate.read(self._scale(state).features, Answers(*state.effective.first(answers)))
        self._gate = state.version(answers), gate
        # Chosen pairs are those of which nobody knows the answer, so they hardly tell people from coins.
        tested = gate.is_open or state.rules.random > 0.0 or len(state.answered) < len(state.effective)
        return gate.is_open if tested else None

    def annotators(self, state: State, fewest: int | None) -> Annotators:
        """What the answers say of each annotator; it takes some fits. For `fewest`, see `Study.annotator_quality`."""
        if fewest is None:
            # Where nobody can be told from coins, the model finds everybody equally sharp, and nobody a coin.
            fewest = FEWEST_ANSWERS if self._better_than_coins(state) is not False else len(state.effective) + 1
        total = len(state.effective)
        used = self._fitted(state, total)
        answers = self._answers(state, total, used._replace(weight=None))
        with one_thread():
            return annotators_of(
                used, self._scale(state).features, answers, state.effective.annotators, state.annotator_names, fewest
            )

    def consistency(self, state: State) -> Consistency:
        """How consistent the answers are; it takes some fits."""
        rng = np.random.default_rng([self._settings.seed, 0xC0])
        answers, group = self.answers(state), state.active
        features = self._scale(state).features
        newest = self.newest_model(state)

        def fit(answers: Answers) -> Posterior:
            return self.refit(state, newest, answers)

        def fit_anew(answers: Answers) -> Posterior:
            """With prior variances of their own, and the thresholds of the study."""
            if self._site_model is None or not isinstance(newest, SiteModel):
                return fit(answers)
            start = with_likelihood(self._site_model, newest.likelihood)
            return self.refit(state, start.with_prior(fitted_prior(start, features, answers)), answers)

        with one_thread():
            right, count = predictions(features, answers, asked_at_random(state))
            return Consistency(
                share_interval(right, count),
                count,
                split_half(fit, answers, state.effective.annotators, group, rng),
                separation(self.posterior(state), group),
                separation_of_coins(fit_anew, answers, group, rng),
            )

    def refit(self, state: State, model: Model, answers: Answers) -> Posterior:
        """The posterior of other answers about the same items, as results are computed."""
        features = self._scale(state).features
        if self._site_model is None or not isinstance(model, SiteModel):
            return model.fit(features, answers)
        return Propagation(model, features, answers).posterior(model.prior)

    def _place(self, state: State, items: Items) -> tuple[Floats, Floats, StudyRanks]:
        """Scores, standard errors and ranks, each (m,), of any items: the study's own keep theirs, others go by
        features."""
        require_same_features(state.items, items)
        groups = state.group_codes(items)
        posterior = self.posterior(state)
        features = self._scale(state).map.transform(items.features)
        scores, errors = posterior.predict(features, groups, state.active)
        known = [(place, state.rows[item]) for place, item in enumerate(items.ids) if item in state.rows]
        places, rows = np.array(known, dtype=np.int64).reshape(-1, 2).T
        if (moved := np.flatnonzero(groups[places] != state.group[rows])).size:
            item = items.ids[places[moved[0]]]
            raise InvalidInput(f"item {item!r} is in another group in the study; give it that group, or another id")
        own_scores, own_errors = posterior.centred(state.active)
        counted = state.active[rows] >= 0
        scores[places[counted]] = own_scores[rows[counted]]
        errors[places[counted]] = own_errors[rows[counted]]
        ranks = StudyRanks(*(np.ones(len(items), dtype=np.int64) for _ in StudyRanks._fields))
        own_rank = np.zeros(len(state.active), dtype=np.int64)
        for inside in members(state.active):
            these = np.flatnonzero(groups == state.active[inside[0]])
            found = ranks_among(own_scores[inside], own_errors[inside], scores[these], errors[these])
            for column, values in zip(ranks, found, strict=True):
                column[these] = values
            own_rank[inside[np.lexsort((inside, -own_scores[inside]))]] = np.arange(1, len(inside) + 1)
        own = self.uncertainty(state).ranks
        for column, values in zip(ranks, (own_rank, own.low, own.high), strict=True):
            column[places[counted]] = values[rows[counted]]
        return scores, errors, ranks

    def _fit(self, state: State, count: int) -> Posterior:
        renewal = last_renewal(self._model, count, len(state.items), self._every)
        used = self._fitted(state, renewal)
        key = (state.version(count), used)
        fit = self._fits.pop(key, None)
        if fit is None:
            answers = self._answers(state, count, used)
            with one_thread():
                fit = self._continued(state, answers) or used.model.fit(self._scale(state).features, answers)
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

    def _scale(self, state: State) -> _Scaled:
        if self._scaled is None or self._scaled.items_epoch != state.items_epoch:
            items = state.items
            counted = state.active >= 0
            used = FeatureMap.fit(
                items.features,
                items.feature_names is not None,
                self._settings.scaling,
                counted if counted.any() else ~counted,
            )
            # Of many items one copy in float32 is kept, and nothing else of that size is made (`belief.projected`).
            kept = np.float32 if len(items) > MANY_ITEMS else np.float64
            self._scaled = _Scaled(state.items_epoch, used, used.transform(items.features, kept))
        return self._scaled


def asked_at_random(state: State) -> NDArray[np.bool_]:
    """Which of the effective comparisons are answers about pairs that were drawn at random."""
    drawn = repr(Uniform())
    positions = [
        answer.position for number, answer in state.answered.items() if state.queries[number - 1].strategy == drawn
    ]
    return np.isin(state.effective.positions, np.array(positions, dtype=np.int64))


def history_counts(total: int, steps: int = HISTORY_STEPS) -> range:
    """After how many answers the history of the expected error has points, at most `steps` but the first."""
    step = 5
    while total > steps * step:
        step *= 2
    return range(0, total + 1, step)


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


def _ordered(
    items: Items,
    rows: Integers,
    scores: Floats,
    errors: Floats,
    *,
    intervals: RankIntervals | None = None,
    error: Interval | None = None,
    grades: Grades | None = None,
    selection: Selection | None = None,
    study_ranks: StudyRanks | None = None,
) -> Ordering:
    """The items in `rows`, group after group as they first appear, each from high to low; equal scores keep the order
    of the items."""
    group = None if items.group is None else [items.group[row] for row in rows]
    codes: dict[str, int] = {}
    first = np.array([codes.setdefault(name, len(codes)) for name in group or [""] * len(rows)], dtype=np.int64)
    order = np.lexsort((-scores[rows], first))
    ordered = rows[order]
    return Ordering(
        ids=tuple(items.ids[row] for row in ordered),
        scores=scores[ordered],
        standard_errors=errors[ordered],
        group=None if group is None else tuple(group[place] for place in order),
        intervals=None if intervals is None else intervals.of(ordered),
        error=error,
        grades=None if grades is None else grades.of(ordered),
        selection=None if selection is None else selection.of(ordered),
        study_ranks=None if study_ranks is None else study_ranks.of(ordered),
    )
