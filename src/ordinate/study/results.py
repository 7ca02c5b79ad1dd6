"""What a study says of its answers: the ordering and how far it can be trusted.

All that is kept here between calls is keyed by what it depends on, and may be dropped at any moment without changing a
result.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ordinate.choosing.strategies.uniform import Uniform
from ordinate.data.arrays import Floats, Integers
from ordinate.data.items import Items
from ordinate.data.joining import require_same_features
from ordinate.data.ordering import Grades, Interval, Ordering, RankIntervals, Selection, StudyRanks
from ordinate.data.pairs import members
from ordinate.errors import InvalidInput
from ordinate.learning.annotators import may_be_copies, worth
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
from ordinate.learning.fitted import Fitted
from ordinate.learning.grades import grades_of
from ordinate.learning.models import Answers, Model, SiteModel
from ordinate.learning.posterior import Posterior
from ordinate.learning.prior_variances import fitted_prior
from ordinate.learning.ranks import draw_scores, ranks_among, ranks_of
from ordinate.learning.selection import TELLING, Found, found_by
from ordinate.storage import Settings
from ordinate.study import mixing
from ordinate.study.aim import aim_of
from ordinate.study.annotator_quality import FEWEST_ANSWERS, Annotators, annotators_of
from ordinate.study.fold import State, Version
from ordinate.study.inference import Inference
from ordinate.study.threads import one_thread

FEWEST_PER_ITEM = 3
"""Answers per item from which on the expected recall of an aim is close to the true one (docs/statistics.md)."""


Doubt = Callable[[], str | None]
"""Says why the expected error is not to be believed, None where it is; see `checking.withheld`. It takes some fits."""
HISTORY_STEPS = 20
SLOW_ABOVE = 2000
"""Items; above so many, results take seconds: the expected error is that of all pairs."""


class Reliability(NamedTuple):
    """How far the ordering can be trusted.

    better_than_coins  True: coin tosses would give such answers with a chance of less than 1 in 100; False: they could;
                       None: there are no random pairs to tell by
    expected_error     the mean over pairs of the probability of the wrong order, if the answers are not coin tosses
    error_low, error_high  the true error is between these with a probability of 90 %, if so
    withheld           why these figures are not to be believed, so that they are not shown; None where they are
    """

    better_than_coins: bool | None
    expected_error: float
    error_low: float
    error_high: float
    withheld: str | None = None

    def fields(self) -> dict[str, Any]:
        """What the command line and the API say."""
        hidden = dict.fromkeys(("expected_error", "error_low", "error_high")) if self.withheld is not None else {}
        return self._asdict() | hidden


class Uncertainty(NamedTuple):
    """What draws of the scores tell: of ranks, of the expected error, of grades and of an aim where there are such.

    spread  standard deviation of the log of the true error about the expected one
    """

    ranks: RankIntervals
    spread: float
    grades: Grades | None
    found: Found | None


class Results:
    def __init__(self, settings: Settings, inference: Inference) -> None:
        self._settings, self.inference = settings, inference
        self.drop_caches()

    def drop_caches(self) -> None:
        """Drop everything that is kept for speed."""
        # The uncertainty after so many answers, with these cuts.
        self._uncertain: tuple[tuple[Version, tuple[int, ...], tuple[str, ...]], Uncertainty] | None = None
        # What was found for this aim by so many answers, with the newest prior variances.
        self._found: dict[tuple[tuple[Version, Fitted], tuple[str, ...]], Found] = {}
        # Which of these answers are bet on (see `_bet_on`), and the bets on them against coin tosses.
        self._bets: tuple[Version, NDArray[np.bool_]] | None = None
        self._gate: tuple[Version, NDArray[np.bool_], CoinGate] | None = None
        # The latest posterior that was shown.
        self._results: dict[tuple[Version, Fitted], Posterior] = {}
        # Why the expected error of these answers is withheld, by what the checks depend on.
        self._withheld: dict[tuple[tuple[Version, Fitted], bool | None], str | None] = {}
        # Expected errors of so many answers, with the newest prior variances.
        self._errors: dict[tuple[Version, Fitted], float] = {}

    def posterior(self, state: State) -> Posterior:
        """What all effective comparisons say of the scores."""
        return self._result(state, len(state.effective))

    def answers(self, state: State) -> Answers:
        """All of them, as results are fitted to them."""
        total = len(state.effective)
        return self.inference.first_answers(state, total, self.inference.fitted(state, total))

    def _worth(self, state: State, count: int) -> int:
        """Of the first so many answers."""
        return worth(self.inference.first_answers(state, count))

    def _result(self, state: State, count: int) -> Posterior:
        """The posterior that is shown: by expectation propagation where prior variances are fitted.

        Fits of fewer answers, for the history of the expected error, use the newest variances: they are known best.
        """
        if self.inference.site_model is None:
            return self.inference.fit(state, count)
        newest = self.inference.fitted(state, len(state.effective))
        model = newest.model
        assert isinstance(model, SiteModel)
        key = (state.version(count), newest)
        if key not in self._results:
            with one_thread():
                answers = self.inference.first_answers(state, count, newest)
                found = Propagation(model, self.inference.scaled(state).features, answers).posterior(model.prior)
            if count < len(state.effective):
                return found
            self._results = {key: found}
        return self._results[key]

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
        return state.version(count), self.inference.fitted(state, len(state.effective))

    def ordering(self, state: State, items: Items | None, cuts: tuple[int, ...] | None, doubt: Doubt) -> Ordering:
        """The study's own items, or the given ones; `cuts` None: those of the rules.

        doubt  why the expected error is not to be believed, which shares of grades and of an aim presume as much
        """
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
            grades=found.grades and found.grades._replace(withheld=doubt()),
            selection=self.selection(state, doubt, cuts),
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
                mean, answers = posterior.mean, self._worth(state, len(state.effective))
                self._uncertain = (
                    key,
                    Uncertainty(
                        ranks_of(posterior, group, draws),
                        error_spread(draws.scores, mean, group, answers),
                        grades_of(draws.scores, mean, group, cuts) if cuts else None,
                        None if wanted is None else found_by(posterior, draws, group, wanted, answers),
                    ),
                )
        return self._uncertain[1]

    def selection(self, state: State, doubt: Doubt, cuts: tuple[int, ...] | None = None) -> Selection | None:
        """Which items are wanted; None where the aim is the whole order.

        doubt, cuts  as in `ordering`
        """
        found = self.uncertainty(state, cuts).found
        if found is None:
            return None
        items, withheld = int(np.count_nonzero(state.active >= 0)), None
        if self._worth(state, len(state.effective)) < FEWEST_PER_ITEM * items:
            withheld = f"there are fewer than {FEWEST_PER_ITEM} answers per item"
        elif (why := doubt()) is not None:
            withheld = why
        elif found.information < TELLING:
            withheld = "people find the items so much alike that the answers do not say enough about them yet"
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
                self._found = {key: found_by(posterior, draws, group, wanted, self._worth(state, count))}
        return self._found[key]

    def reliability(self, state: State) -> Reliability:
        """Whether the answers are better than coin tosses, and how wrong the ordering is expected to be.

        `checking.reliability` says whether that is withheld.
        """
        error = error_interval(self.expected_error(state), self.uncertainty(state).spread)
        return Reliability(self._better_than_coins(state), *error)

    def withheld(self, state: State, look: Doubt) -> str | None:
        """What `look` says of all answers until now, which takes some fits, so it is kept."""
        key = self._error_key(state, len(state.effective)), self._better_than_coins(state)
        if key not in self._withheld:
            self._withheld = {key: look()}
        return self._withheld[key]

    def _better_than_coins(self, state: State) -> bool | None:
        """Of a `Reliability`."""
        answers, bets = len(state.effective), self._bet_on(state)
        read, before, gate = self._gate or (state.version(0), bets[:0], CoinGate())
        if read != state.version(read.answers) or not np.array_equal(before, bets[: read.answers]):
            gate = CoinGate()
        told = Answers(*state.effective.first(answers))
        with one_thread():
            gate.read(self.inference.scaled(state).features, told if bets.all() else told.those(bets))
        self._gate = state.version(answers), bets, gate
        # Chosen pairs are those of which nobody knows the answer, so they hardly tell people from coins.
        tested = gate.is_open or state.rules.random > 0.0 or not state.answers_to_queries.all()
        return gate.is_open if tested else None

    def _bet_on(self, state: State) -> NDArray[np.bool_]:
        """(T,) all answers but those that may be earlier ones, stored again: one toss would give away its copies."""
        key = state.version(len(state.effective))
        if self._bets is None or self._bets[0] != key:
            total, recorded = key.answers, ~state.answers_to_queries
            bets = np.ones(total, dtype=np.bool_)
            if recorded.any():
                told, people = Answers(*state.effective.first(total)), self.inference.people(state, total)
                repeated = self.inference.repeats(state, total)
                bets = ~may_be_copies(told, people.number, people.named, recorded, repeated)
            self._bets = key, bets
        return self._bets[1]

    def annotators(self, state: State, fewest: int | None) -> Annotators:
        """What the answers say of each annotator; it takes some fits. For `fewest`, see `Study.annotator_quality`."""
        if fewest is None:
            # Where nobody can be told from coins, the model finds everybody equally sharp, and nobody a coin.
            fewest = FEWEST_ANSWERS if self._better_than_coins(state) is not False else len(state.effective) + 1
        total = len(state.effective)
        used = self.inference.fitted(state, total)
        answers = self.inference.first_answers(state, total, used._replace(weight=None))
        features, people = self.inference.scaled(state).features, self.inference.people(state, total)
        doubling = self.inference.doubling(state)
        names = state.annotator_names[: len(people.named)]
        with_people: dict[str | None, Interval | None] = {
            name: found.share for name, found in mixing.agreement(state).items()
        }
        with one_thread():
            return annotators_of(
                used, features, answers, people, names, with_people, fewest, doubling, self._bet_on(state)
            )

    def consistency(self, state: State) -> Consistency:
        """How consistent the answers are; it takes some fits."""
        rng = np.random.default_rng([self._settings.seed, 0xC0])
        answers, group = self.answers(state), state.active
        features = self.inference.scaled(state).features
        newest = self.inference.newest_model(state)

        def fit(answers: Answers) -> Posterior:
            return self.refit(state, newest, answers)

        def fit_anew(answers: Answers) -> Posterior:
            """With prior variances of their own, and the thresholds of the study."""
            if self.inference.site_model is None or not isinstance(newest, SiteModel):
                return fit(answers)
            start = self.inference.start(state).with_likelihood(newest.likelihood)
            prior = fitted_prior(start, features, answers, self._settings.features_alone)
            return self.refit(state, start.with_prior(prior), answers)

        with one_thread():
            right, count = predictions(features, answers, asked_at_random(state))
            return Consistency(
                share_interval(right, count),
                count,
                split_half(fit, answers, state.effective.annotators, group, rng),
                separation(self.posterior(state), group),
                separation_of_coins(fit_anew, answers, group, rng),
            )

    def refit(self, state: State, model: Model, answers: Answers, rows: Integers | None = None) -> Posterior:
        """The posterior of other answers, as results are computed.

        rows  (r,) of the items, where it is about these alone: the sides of the answers are then places among them
        """
        features = self.inference.scaled(state).features
        if rows is not None:
            features = features[rows]
        if self.inference.site_model is None or not isinstance(model, SiteModel):
            return model.fit(features, answers)
        return Propagation(model, features, answers).posterior(model.prior)

    def _place(self, state: State, items: Items) -> tuple[Floats, Floats, StudyRanks]:
        """Scores, standard errors and ranks, each (m,), of any items: the study's own keep theirs, others go by
        features."""
        require_same_features(state.items, items)
        groups = state.group_codes(items)
        posterior = self.posterior(state)
        features = self.inference.scaled(state).map.transform(items.features)
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
        if counted.any():
            own = self.uncertainty(state).ranks
            for column, values in zip(ranks, (own_rank, own.low, own.high), strict=True):
                column[places[counted]] = values[rows[counted]]
        return scores, errors, ranks


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
        items=items,
    )
