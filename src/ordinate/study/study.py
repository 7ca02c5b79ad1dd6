"""A study: the only door for questions and answers.

    ask():       the belief after the log -> the strategy's pair -> an entry in the log -> Query
    tell():      an entry in the log, on disk before it returns
    ordering():  the fit of all answers, sorted

Every call first reads what other processes have written. Every write is one transaction that has read the whole log.
"""

from __future__ import annotations

import secrets
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from datetime import datetime
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, Self, get_args, overload

from ordinate import storage as storages
from ordinate.algorithms import LikelihoodName
from ordinate.data.arrays import Floats
from ordinate.data.cells import text, whole
from ordinate.data.comparison_formats import comparisons_of
from ordinate.data.comparisons import ANSWERS, Answer, Comparison, Query, check_comparison
from ordinate.data.feature_notes import feature_notes
from ordinate.data.items import Items
from ordinate.data.lookalikes import suggestion
from ordinate.data.ordering import Ordering, Selection
from ordinate.data.pairs import PairList
from ordinate.data.recipe import Recipe
from ordinate.data.scaling import Scaling
from ordinate.errors import FeatureWarning, InvalidInput, NotAStudy, NothingToUndo
from ordinate.learning.checks import Finding, StudyData
from ordinate.learning.consistency import Consistency
from ordinate.learning.forecast import Forecast
from ordinate.learning.likelihoods import Likelihood
from ordinate.learning.models import SiteModel
from ordinate.learning.models.map_estimate import Prior
from ordinate.learning.posterior import Posterior
from ordinate.storage import AnswerDetails, Clock, Entry, Settings, Storage, checked, now, timestamp
from ordinate.study import (
    changes,
    checking,
    creation,
    history,
    leases,
    mixing,
    next_pair,
    owner,
    pair,
    practice,
    stopping,
)
from ordinate.study import leaderboard as leaderboards
from ordinate.study.aim import ORDER, require_more
from ordinate.study.annotator_quality import Annotators
from ordinate.study.changes import Change
from ordinate.study.checking import Verdict
from ordinate.study.fold import State
from ordinate.study.inference import Beside
from ordinate.study.leaderboard import Leaderboard
from ordinate.study.leases import Lease, Offer
from ordinate.study.ledger import Ledger, Transaction, acting
from ordinate.study.machines import Machine
from ordinate.study.mixing import Agreement
from ordinate.study.pair import Compared
from ordinate.study.practice import Expected
from ordinate.study.questions import Answered, Questions
from ordinate.study.results import HISTORY_STEPS, SLOW_ABOVE, Reliability
from ordinate.study.rules import RANDOM_SHARE, Link, Person, Progress, Role, Rules, Stage, checked_cuts
from ordinate.study.stopping import Met

if TYPE_CHECKING:
    from narwhals.typing import IntoDataFrame


class Study:
    """Items, the questions asked about them, the answers, and the ordering that follows.

    >>> study = Study.create(Items(["a", "b", "c"]))
    >>> query = study.ask()
    >>> study.tell(query.id, "left")
    >>> study.ordering().ids[0] == query.left
    True
    """

    def __init__(self, storage: Storage, clock: Clock = now, only: Collection[str | None] | None = None) -> None:
        self._ledger = Ledger(storage, clock, only)
        self._questions = Questions(self._ledger)

    @classmethod
    def create(
        cls,
        items: Items,
        *,
        algorithm: str | None = None,
        question: str = "Which ranks higher?",
        seed: int = 0,
        storage: str | None = None,
        scaling: Scaling = "robust",
        refit_every: int | None = None,
        candidates: int | None = None,
        coefficient_variance: float | None = None,
        item_variance: float | None = None,
        likelihood: LikelihoodName | None = None,
        renew_covariance: bool = True,
        random: float = RANDOM_SHARE,
        weigh_annotators: bool = False,
        aim: str | Sequence[str] = ORDER,
        rules: Mapping[str, Any] | None = None,
        recipe: Recipe | None = None,
        clock: Clock = now,
    ) -> Study:
        """A new study of these items.

        algorithm             a name of the table in algorithms.py; None: guro-hybrid, without features
                              guro-independent, above 5,000 items guro-hybrid-factored
        storage               None: in memory; "sqlite:///study.db": a new file; "postgresql://HOST/DATABASE/STUDY": a
                              new schema of that database
        scaling               "robust": features are brought to one unit, and outlying ones are clipped; "standard":
                              they are brought to one unit; "none": they are only centred
        refit_every           answers between two fits of the model while asking; None: the schedule of schedule.py
        candidates            how many random pairs to look at for each question; None: all of them
        coefficient_variance  prior variance of each coefficient of the scaled features; the paper has 1
        item_variance         prior variance of each item's own term; the paper has 1. Where both are None, they are
                              fitted to the answers, and results are by expectation propagation; sequential models
                              have 2 and 1
        likelihood            of an answer as a function of the difference of scores; None: cumulative, which is
                              logistic with thresholds for ties and strengths once there are any
        renew_covariance      False: refits move the mean alone, and each answer updates the covariance, as in the paper
        random                share of questions whose pair is drawn at random: they cost a little, and tell how large
                              differences are and whether answers are better than coin tosses; the paper has 0
        weigh_annotators      whether the fit trusts annotators by how sharp their answers are, where three or more
                              have a name
        aim                   what is to be found out: "order", all of it; "top:10" or "bottom:10", the first or last
                              items of each group; "above:ITEM", those above an item, or several such texts, which make
                              grades. Then GURO asks about those items, at the cost of the whole order; it is a rule,
                              so `set_rules(aim=...)` changes it at any time
        rules                 more rules than the aim, as for `set_rules`; they are stored with the items, in one
                              transaction
        recipe                how `ordinate.embedding` made the features, kept so that new items get theirs in the same
                              way
        clock                 gives the time that the log notes and leases are counted by

        Warns (FeatureWarning) of features that have no effect, count twice or are far out; see `feature_notes`.
        """
        settings = creation.checked_settings(
            items,
            algorithm=algorithm,
            question=question,
            seed=seed,
            scaling=scaling,
            refit_every=refit_every,
            candidates=candidates,
            coefficient_variance=coefficient_variance,
            item_variance=item_variance,
            likelihood=likelihood,
            renew_covariance=renew_covariance,
            random=random,
            weigh_annotators=weigh_annotators,
            recipe=recipe,
        )
        changes = creation.checked_rules(items, settings.random, aim, rules)
        study = cls(storages.create(storage, settings, items, changes, acting()), clock)
        for note in feature_notes(items, scaling):
            warnings.warn(note, FeatureWarning, stacklevel=2)
        return study

    @classmethod
    def open(cls, url: str, *, clock: Clock = now) -> Study:
        """The study stored at an address such as "sqlite:///study.db". Raises StudyNotFound, NotAStudy."""
        storage = storages.open(url)
        try:
            return cls(storage, clock)
        except BaseException as error:
            storage.close()
            if isinstance(error, InvalidInput):
                shown = storages.place(url).shown
                raise NotAStudy(f"{shown} is damaged, or of a newer version of ordinate: {error}") from error
            raise

    def require_unmoved(self) -> None:
        """Raise StudyMoved where the study's file is not where it was when it was opened, so that nothing is stored."""
        self._ledger.storage.check()

    @contextmanager
    def unchanged(self) -> Iterator[None]:
        """While the block runs, all that is read is of one moment, and other threads are waited for once.

        The block only reads: a write inside it might wait for itself.
        """
        with self._ledger.reading():
            yield

    def close(self) -> None:
        self._ledger.storage.close()

    def __repr__(self) -> str:
        with self._ledger.reading() as state:
            items, answers = len(state.items), len(state.effective)
        return f"Study({items} items, {answers} answers, {self.settings.algorithm}: {self.question!r})"

    def _repr_html_(self) -> str:
        from ordinate.study.notebook_view import summary

        return summary(self)

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            "a study cannot be pickled or copied, because several processes would write to it as one. Keep it in a "
            "file, as in Study.create(items, storage='sqlite:///study.db'), and open that file with "
            "Study.open('sqlite:///study.db') where it is needed"
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    # Asking -----------------------------------------------------------------------------------------------------------

    @overload
    def ask(
        self, annotator: str | None = None, count: None = None, *, among: PairList | None = None, practise: bool = True
    ) -> Query: ...
    @overload
    def ask(
        self, annotator: str | None = None, *, count: int, among: PairList | None = None, practise: bool = True
    ) -> list[Query]: ...
    @overload
    def ask(
        self, annotator: str | None, count: int, *, among: PairList | None = None, practise: bool = True
    ) -> list[Query]: ...
    def ask(
        self,
        annotator: str | None = None,
        count: int | None = None,
        *,
        among: PairList | None = None,
        practise: bool = True,
    ) -> Query | list[Query]:
        """The annotator's open queries, oldest first, topped up with new ones to `count`; without a count, one query.

        An annotator gets no pair twice, and no pair that is open, until nothing else is left. Where the pairs run out,
        fewer than `count` come back; where none is left at all, PoolExhausted is raised. `among`: only pairs of a list.
        `practise` False, or a list: no practice pairs, as for a form that cannot say the right answer.
        Raises BudgetSpent where the budgets are spent, or a rule by which the study is finished is met; these are
        checked every 10 answers. Raises InvalidInput for the name of a model: see `ask_model`.
        """
        wanted = 1 if count is None else whole("count", count, 1)
        if (name := self.name_of(annotator)) in self.machines:
            raise InvalidInput(
                f"{name!r} is the name of a model, which ordinate judge asks; answer under a name of your own"
            )
        self._finish_if_met()
        queries = self._questions.ask(annotator, wanted, among, practise)
        return queries[0] if count is None else queries

    def ask_model(self, annotator: str, count: int) -> list[Query]:
        """`ask` for a model that `add_machine` has named. Raises InvalidInput for any other name."""
        if (name := self.name_of(annotator)) not in self.machines:
            raise InvalidInput(f"{name!r} is not the name of a model of this study; see Study.add_machine")
        self._finish_if_met()
        return self._questions.ask(annotator, whole("count", count, 1), None, False)

    def agreement_of_models(self) -> dict[str, Agreement]:
        """How often each model agrees with people, on the pairs that both decided."""
        with self._ledger.reading() as state:
            return mixing.agreement(state)

    def _finish_if_met(self) -> None:
        with self._ledger.reading() as state:
            due = stopping.is_due(state)
            met = stopping.rule_met(state, self._ledger.results, self._doubt(state)) if due else None
        if met is not None:
            self.finish(met)

    def pairs(self, left: Sequence[str], right: Sequence[str]) -> PairList:
        """The pairs left[k], right[k], each once, for `ask(among=...)`."""
        if len(left) != len(right):
            raise InvalidInput(f"there are {len(left)} left ids and {len(right)} right ids")
        with self._ledger.reading() as state:
            return next_pair.listed_pairs(state, left, right)

    def choose(self, annotators: Sequence[str | None], offered: Sequence[Offer] = ()) -> list[Offer | None]:
        """A pair for each annotator, to be passed to `take`; None where no pair is left. Nothing is written.

        Each choice treats the pairs chosen before it, and those already `offered`, as asked.
        """
        return self._questions.offer(annotators, offered)

    def compute_beside(self, beside: Beside) -> None:
        """Let somebody else renew covariances where that takes long; choices go on with an older one meanwhile."""
        self._ledger.inference.beside = beside

    @property
    def is_slow(self) -> bool:
        """Whether it takes so long to renew the covariance, or to compute results, that people would wait for it."""
        with self._ledger.reading() as state:
            return self._ledger.inference.is_slow(state) or len(state.items) > SLOW_ABOVE

    def is_practice(self, query_id: str) -> bool:
        """Whether this query is a practice pair, which never counts."""
        return practice.is_practice(query_id)

    def expected(self, query_id: str) -> Expected | None:
        """The right answer of a practice pair, to be told once it is answered; None: nobody knows it."""
        return self._questions.expected(query_id)

    def draw(self, annotator: str | None) -> Offer:
        """A random pair, to be passed to `take` where `choose` would take too long. Raises PoolExhausted, PairsHeld."""
        return self._questions.random_offer(annotator)

    def are_pairs_scarce(self, annotator: str | None) -> bool:
        """Whether so few pairs are left that `take` gives the annotator one at a time."""
        with self._ledger.reading() as state:
            return next_pair.are_scarce(state, state.name_of(annotator))

    def take(
        self, annotator: str | None, count: int, offers: Sequence[Offer] = (), *, tab: str | None = None
    ) -> list[Lease]:
        """The annotator's open queries, topped up to `count` with those offers that can still be taken.

        Queries that another browser tab of the annotator asked for come only where no new one may be given. Where few
        pairs are left, the annotator gets one at a time. Raises BudgetSpent, PairsHeld or StudyPaused where none is
        open either.
        """
        return self._questions.take(annotator, whole("count", count, 1), offers, tab)

    def held(self, annotator: str | None) -> list[Lease]:
        """The annotator's open queries, oldest first, whichever tab asked for them."""
        return self._questions.held(annotator)

    def end_leases_of(self, has_left: Callable[[str | None], bool]) -> bool:
        """End the leases of the pairs that browser tabs of annotators who have left hold; whether there were any."""
        return self._questions.end_leases_of(has_left)

    def open_queries(self) -> list[Query]:
        """Everybody's queries that wait for an answer, oldest first."""
        with self._ledger.reading() as state:
            return [self._questions.query(entry) for entry in state.open()]

    def asked(self) -> list[Query]:
        """Every query that was ever asked, oldest first, also those that are answered or withdrawn."""
        with self._ledger.reading() as state:
            return [self._questions.query(entry) for entry in state.queries]

    # Answering --------------------------------------------------------------------------------------------------------

    def tell(self, query_id: str, answer: Answer | str, details: AnswerDetails | None = None) -> None:
        """Answer a query: "left", "right", "tie" or "skip". Raises UnknownQuery, AlreadyAnswered.

        With a strength: "left-much", "left-slightly", "right-slightly", "right-much". "both-bad" is a tie that is told
        apart where answers are exported.

        The id of the item that won is an answer, too; the words go first, also where an item is called so. An answer
        with the key of an earlier one is the same answer sent again: nothing is added.
        """
        side = next((one for one in ANSWERS if one == answer), None) or self._questions.side_of(query_id, answer)
        self._questions.tell(query_id, *_checked_answer(side, details))

    def answer(
        self,
        query_id: str,
        answer: Answer | str,
        details: AnswerDetails | None = None,
        *,
        annotator: str | None,
        for_others: bool = False,
        count: int = 0,
        offers: Sequence[Offer] = (),
        tab: str | None = None,
    ) -> Answered:
        """`tell`, then `take` up to `count` queries for the annotator, in one transaction.

        Raises NotYourQuery where the query is another annotator's, unless `for_others`, and even then where it is a
        model's.
        """
        side = next((one for one in ANSWERS if one == answer), None)
        if side is None:
            if not for_others:
                self.require_own(query_id, annotator)
            side = self._questions.side_of(query_id, answer)
        return self._questions.answer(
            query_id,
            *_checked_answer(side, details),
            annotator,
            for_others=for_others,
            wanted=whole("count", count, 0),
            offers=offers,
            tab=tab,
        )

    def show(self, query_id: str, shown_at: str | None = None) -> Lease:
        """Say that a query is on the screen: where less than half of its lease is left, the lease starts again."""
        return self._questions.show(query_id, checked(AnswerDetails(shown_at=shown_at)).shown_at)

    def require_own(self, query_id: str, annotator: str | None) -> None:
        """Raise NotYourQuery where the query was given to another annotator; raise UnknownQuery."""
        with self._ledger.reading() as state:
            self._questions.require_own(state, query_id, annotator)

    def require_person(self, query_id: str) -> None:
        """Raise NotYourQuery where the query was given to a model; raise UnknownQuery."""
        with self._ledger.reading() as state:
            self._questions.require_person(state, query_id)

    def withdraw(self, query_id: str) -> None:
        """Close a query without an answer; its pair may be asked again."""
        self._questions.withdraw(query_id)

    def undo(self, annotator: str | None = None) -> Query:
        """Take back the annotator's newest answer or skip; its query, returned, is open again."""
        try:
            return self.take_back(annotator)[0].query
        except NothingToUndo as error:
            others = [repr(name) if name else "nobody named" for name in self.annotators()]
            raise NothingToUndo(
                f"{error}; there are answers of {', '.join(others[:5])}" if others else str(error)
            ) from None

    def take_back(self, annotator: str | None, key: str | None = None) -> tuple[Lease, Answer]:
        """`undo`, with the end of the query's new lease, and the answer that was taken back.

        With a key it is the answer that came with it. Raises NothingToUndo where that one was taken back already.
        """
        return self._questions.take_back(annotator, key)

    def record(
        self,
        comparisons: Comparison | tuple[str, ...] | Iterable[tuple[str | None, ...]] | IntoDataFrame,
        *more: object,
        answered: Collection[str] = (),
    ) -> int:
        """Add comparisons that were made elsewhere, all or none; returns how many.

        The queries `answered`, by their ids, are closed with them, where they are open or their lease has ended.

        One comparison, several, or a pandas, polars or arrow frame in any of the forms that docs/files.md lists. A
        comparison is (left, right, winner) or (left, right, winner, annotator); the winner is a side or an id.
        """
        if more:
            raise InvalidInput(
                f"record takes one argument; for one comparison write record({(comparisons, *more)!r}), for several a "
                "list of these"
            )
        one: Any = comparisons
        several = not (isinstance(one, tuple) and len(one) in (3, 4) and isinstance(one[0], str))
        given = comparisons_of(one, self.items) if several else [check_comparison(Comparison(*one))]
        if given:
            self._ledger.write(lambda transaction: self._record(transaction, given, several, answered))
        return len(given)

    def _record(
        self, transaction: Transaction, given: Sequence[Comparison], several: bool, answered: Collection[str]
    ) -> None:
        owner.record(transaction, given, several)
        self._questions.close(transaction, answered)

    # Results ----------------------------------------------------------------------------------------------------------

    def ordering(self, items: Items | None = None, *, cuts: Sequence[int] | None = None) -> Ordering:
        """The study's items, or the given ones, from the highest score to the lowest, group after group.

        Given items that the study holds keep their scores there; others are placed by their features. `cuts`: the last
        rank of each grade but the last one, to say how surely items are in their grades; None: those of the rules.
        Given items have no grades: raises InvalidInput for cuts of theirs.
        """
        if items is not None and not isinstance(items, Items):
            raise InvalidInput(f"what is ordered are Items, with ids and features, not {type(items).__name__}")
        chosen = None if cuts is None else checked_cuts(cuts)
        if chosen and items is not None:
            raise InvalidInput("cuts put the study's own items in grades; leave them out where others are ordered")
        with self._ledger.reading() as state:
            if chosen:
                require_more(chosen[0], f"the cut {chosen[0]}", state.active, state.items.group or ())
            return self._ledger.results.ordering(state, items, chosen, self._doubt(state))

    def leaderboard(self, by: str = "model") -> Leaderboard:
        """A score for each value of a label of the items, such as the model that made them; see `Leaderboard`.

        All answers about items of two models count, as comparisons of these models. Errors are clustered by group: by
        the prompt that the items answer. Raises InvalidInput where answers do not connect the models.
        """
        with self._ledger.reading() as state:
            return leaderboards.leaderboard(state, self._ledger.results.answers(state), by, self.settings.seed)

    def posterior(self) -> Posterior:
        """What all answers say of the scores: means, covariances, draws. Do not change its arrays."""
        with self._ledger.reading() as state:
            return self._ledger.results.posterior(state)

    def compare(self, left: str, right: str) -> Compared:
        """How sure the order of two items is, and which answers say so; see `Compared`. It takes a fit."""
        with self._ledger.reading() as state:
            return pair.compared(state, self._ledger.results.posterior(state), left, right)

    def prior_variances(self) -> Prior:
        """Of the coefficients of the scaled features and of the items' own terms: fitted to the answers, or given.

        Raises InvalidInput where the algorithm's model has none.
        """
        with self._ledger.reading() as state:
            model = self._ledger.inference.newest_model(state)
        if not isinstance(model, SiteModel):
            raise InvalidInput(f"{self.settings.algorithm} has no prior variances")
        return model.prior

    def likelihood(self) -> Likelihood:
        """Of an answer given the difference of scores, with the thresholds that were fitted to the answers.

        Raises InvalidInput where the algorithm's model has a likelihood of its own.
        """
        with self._ledger.reading() as state:
            model = self._ledger.inference.newest_model(state)
        if not isinstance(model, SiteModel):
            raise InvalidInput(f"{self.settings.algorithm} has a likelihood of its own")
        return model.likelihood

    def scores(self) -> Floats:
        """(n,) the posterior mean of every item, excluded ones too, from all answers; not centred."""
        with self._ledger.reading() as state:
            return self._ledger.results.posterior(state).mean

    def reliability(self) -> Reliability:
        """Whether the answers can be told from coin tosses, how wrong the ordering is expected to be, and whether that
        is to be believed: where a check fails that it presumes, `withheld` says why not."""
        with self._ledger.reading() as state:
            return checking.reliability(state, self._ledger.results, self._data(state))

    def consistency(self) -> Consistency:
        """How consistent the answers are: random pairs predicted, halves of the annotators, separation of the scores.

        It takes some fits. Raises InvalidInput without answers.
        """
        with self._ledger.reading() as state:
            if not len(state.effective):
                raise InvalidInput("there are no answers yet whose consistency could be told")
            return self._ledger.results.consistency(state)

    def check(self) -> Verdict:
        """Whether the order can be relied on: a sentence, and what each check of the answers found; see `Verdict`.

        It takes seconds where there are many items or answers.
        """
        with self._ledger.reading() as state:
            return checking.verdict(state, self._ledger.results, self._data(state))

    def connection(self) -> tuple[Finding, Finding] | None:
        """Whether answers connect all items, and whether a single pair alone connects several; None without answers."""
        with self._ledger.reading() as state:
            data = self._data(state)
            return None if data is None else checking.connection(data)

    def _data(self, state: State) -> StudyData | None:
        """What checks look at; None without answers."""
        return checking.study_data(state, self._ledger.results, self.settings.seed) if len(state.effective) else None

    def _doubt(self, state: State) -> Callable[[], str | None]:
        """Says why the expected error is not to be believed; None where it is."""
        return lambda: checking.withheld(state, self._ledger.results, self._data(state))

    def expected_error(self) -> float:
        """How wrong the ordering is expected to be: the mean over pairs of the probability of the wrong order.

        It presumes answers that are not coin tosses, and more; `reliability` tells whether it is to be believed.
        """
        with self._ledger.reading() as state:
            return self._ledger.results.expected_error(state)

    def error_history(self, most: int = 21, *, steps: int = HISTORY_STEPS) -> list[tuple[int, float]]:
        """(answers, expected error by them) from none to all in up to so many even steps.

        A point that was not computed before takes a fit; `most` limits how many are computed now.
        """
        with self._ledger.reading() as state:
            return self._ledger.results.error_history(state, most, whole("steps", steps, 1))

    def forecast(self, target: float | None = None) -> Forecast:
        """How many more answers bring the expected error to the target, and how long these take; see `Forecast`.

        target  from 0.001 to 0.5; None: that of the rule `target`, or else the next round figure
        """
        with self._ledger.reading() as state:
            return stopping.forecast(state, self._ledger.results, target, self._doubt(state)())

    def selection(self) -> Selection | None:
        """Which items are wanted by the aim, in the order of `items`, and how surely; None: the aim is the whole order.

        Of excluded items the part is 0 and the membership nan. `Ordering.selection` has the same in order.
        """
        with self._ledger.reading() as state:
            return self._ledger.results.selection(state, self._doubt(state))

    def forecast_of_aim(self, recall: float | None = None) -> Forecast | None:
        """How many more answers bring the expected recall to this one; None: the aim is the whole order.

        The errors of the forecast are shares of the wanted items that are missed; with marks, shares of all items that
        are on the wrong side, and `recall` is the share on the right side.

        recall  from 0.5 to 0.999; None: the next round figure
        """
        with self._ledger.reading() as state:
            return stopping.forecast_of_aim(state, self._ledger.results, recall, self._doubt(state))

    def rule_met(self) -> Met | None:
        """The rule that the answers meet so that no more are needed, `target` or `misplaced`; None: none is met, or
        `reliability` says why the figures are not to be believed."""
        with self._ledger.reading() as state:
            return stopping.rule_met(state, self._ledger.results, self._doubt(state))

    def still_met(self, met: Met) -> bool:
        """Whether neither rules nor items have changed since the rule was met."""
        with self._ledger.reading() as state:
            return stopping.still_met(state, met)

    def finish(self, met: Met) -> None:
        """Give out no more pairs because of this rule; changing rules or items goes on with the study."""
        self._ledger.write(lambda transaction: stopping.finish(transaction, met))

    @property
    def finished(self) -> str | None:
        """The rule by which the study was finished, `target` or `misplaced`; None: it goes on."""
        with self._ledger.reading() as state:
            return state.finished

    def comparisons(self) -> list[Comparison]:
        """The comparisons that count, in the order in which they were added."""
        with self._ledger.reading() as state:
            return [Comparison(*one) for one in state.listed(state.effective)]  # type: ignore[arg-type]

    def history(self) -> dict[str, list[Any]]:
        """Every answer, skip and recorded comparison as columns, those that do not count too; see `history.py`."""
        with self._ledger.reading() as state, self._ledger.storage.reading() as log:
            # Others may write between the two reads.
            known = [entry for entry in log.entries(0) if entry.position <= state.position]
            return history.columns(known, state, self.token)

    def changes(self) -> list[Change]:
        """What owners did, newest first: items, exclusions, rules, links, answers taken back."""
        with self._ledger.reading() as state:
            return changes.changes(state.owners_entries, state.links)

    @property
    def owners(self) -> frozenset[str]:
        """Names of owners who did something, or let a program do it."""
        with self._ledger.reading() as state:
            return frozenset(state.owners)

    def known(self, comparisons: Iterable[Comparison]) -> int:
        """How many of these comparisons the study has already, from the same annotators and as often."""
        with self._ledger.reading() as state:
            return owner.count_known(state, comparisons)

    # Items ------------------------------------------------------------------------------------------------------------

    @property
    def items(self) -> Items:
        """All items, also excluded ones, in the order in which they were added."""
        with self._ledger.reading() as state:
            return state.items

    def feature_notes(self) -> list[str]:
        """Sentences about features that have no effect, count twice, differ for few items only, or are far out."""
        with self._ledger.reading() as state:
            return feature_notes(state.items, self.settings.scaling, state.active >= 0)

    def row(self, item: str) -> int:
        """The place of an item among `items`. Raises UnknownItem."""
        with self._ledger.reading() as state:
            return state.row(item)

    def rows(self, items: Iterable[str]) -> list[int]:
        """The place of each of several items among `items`. Raises UnknownItem."""
        with self._ledger.reading() as state:
            return [state.row(item) for item in items]

    def add_items(self, items: Items) -> None:
        """Add items with the same feature columns as the others; from now on they are asked about and ordered."""
        if len(items):
            self._ledger.write(lambda transaction: owner.add_items(transaction, self.settings, items))

    def require_addable(self, items: Items) -> None:
        """Raise InvalidInput where `add_items` would refuse these items."""
        with self._ledger.reading() as state:
            owner.require_addable(state, self.settings, items)

    @property
    def excluded_items(self) -> tuple[str, ...]:
        with self._ledger.reading() as state:
            return tuple(state.excluded_items)

    def exclude_item(self, item: str) -> None:
        """Leave an item, and all comparisons with it, out of everything until it is included again."""
        self._ledger.write(lambda transaction: owner.exclude_item(transaction, item, True))

    def include_item(self, item: str) -> None:
        """Undo `exclude_item`."""
        self._ledger.write(lambda transaction: owner.exclude_item(transaction, item, False))

    # Annotators -------------------------------------------------------------------------------------------------------

    def annotators(self) -> dict[str | None, int]:
        """Answers by annotator (None: without a name), also excluded ones, without skips and answers taken back."""
        with self._ledger.reading() as state:
            return state.annotators()

    def only(self, annotators: Iterable[str | None]) -> Study:
        """This study, with the answers of these annotators alone (None: those without a name); for results, not to be
        asked. It shares the storage of this one, which is closed once for both. Raises InvalidInput."""
        with self._ledger.reading() as state:
            names = [state.name_of(one) for one in annotators]
            known = state.annotators()
        if not names:
            raise InvalidInput("name the annotators whose answers are to count")
        for name in names:
            if name not in known:
                others = [one for one in known if one is not None]
                raise InvalidInput(f"there are no answers of {name!r}{suggestion(str(name), others)}")
        return Study(self._ledger.storage, self._ledger.clock, frozenset(names))

    def answered(self) -> list[Entry]:
        """Answers and skips that were not taken back, with all that is known of each, in the order of the log."""
        with self._ledger.reading() as state:
            return sorted(state.answered.values(), key=lambda entry: entry.position)

    def name_of(self, given: str | None) -> str | None:
        """The annotator whom a given name stands for: spaces and case do not matter. Raises InvalidInput."""
        with self._ledger.reading() as state:
            return state.name_of(given)

    def skips(self, annotator: str | None) -> int:
        """How many pairs the annotator skipped."""
        with self._ledger.reading() as state:
            return owner.skips(state, state.name_of(annotator))

    def progress(self, annotator: str | None, present: Collection[str | None] | None = None) -> Progress:
        """How far the study and this annotator are; with `present`, only pairs that these annotators hold are open."""
        with self._ledger.reading() as state:
            return owner.progress(state, annotator, present)

    def people(self) -> list[Person]:
        """Everybody who was asked, or whose answers were recorded, by name."""
        with self._ledger.reading() as state:
            return owner.people(state)

    def annotator_quality(self, fewest: int | None = None) -> Annotators:
        """What the answers say of each annotator: sharpness, agreement, side, whether they may be coin tosses.

        fewest  decided answers from which on the probability of coin tosses is given; None: 30, and none is given while
                the answers of all together cannot be told from coin tosses

        It takes some fits. Raises InvalidInput without answers.
        """
        with self._ledger.reading() as state:
            if not len(state.effective):
                raise InvalidInput("there are no answers yet by which annotators could be told apart")
            asked = None if fewest is None else whole("fewest", fewest, 1)
            return self._ledger.results.annotators(state, asked)

    def given_answers(
        self, *, annotator: str | None = None, item: str | None = None, other: str | None = None
    ) -> list[tuple[Query, Entry]]:
        """The answers and skips that were not taken back, of an annotator or with an item (and another one), newest
        first, each with its query; without imported comparisons. Raises InvalidInput for a name that nobody has."""
        with self._ledger.reading() as state:
            if annotator is not None:
                if (name := state.name_of(annotator)) not in state.names:
                    raise InvalidInput(f"nobody is called {annotator!r}{suggestion(annotator, state.names)}")
                asked = state.answered_by(name)
            else:
                asked = [state.queries[number - 1] for number in state.answered]
            wanted = {one for one in (item, other) if one is not None}
            for one in wanted:
                state.row(one)
            found = [
                (self._questions.query(one), state.answered[one.query or 0])
                for one in asked
                if wanted <= {one.left, one.right}
            ]
        return sorted(found, key=lambda one: -one[1].position)

    def discard_answers(self, queries: Sequence[str]) -> int:
        """Take answers back for good: the queries are withdrawn, and their pairs may be asked again. All or none."""
        return self._questions.discard(
            lambda state: list(dict.fromkeys(self._questions.answered_query(state, one) for one in queries))
        )

    def discard_answers_of(self, annotator: str | None, since: str | None = None) -> int:
        """`discard_answers` of all that an annotator answered or skipped, perhaps only from a time with its zone on."""
        from_ = "" if since is None else timestamp(datetime.fromisoformat(since))
        return self._questions.discard(
            lambda state: [
                state.answered[one.query or 0]
                for one in state.answered_by(state.name_of(annotator))
                if state.answered[one.query or 0].at >= from_
            ]
        )

    def add_machine(self, annotator: str, machine: Machine) -> str:
        """Say that a model answers under this name from now on; returns the name as it is stored.

        Again with the same model and prompt, it changes nothing. Raises InvalidInput where the name is a person's or
        another judge's.
        """
        given = machine.checked()
        return self._ledger.write(lambda transaction: owner.add_machine(transaction, annotator, given))

    @property
    def machines(self) -> dict[str, Machine]:
        """The models that answer, by the name under which they do."""
        with self._ledger.reading() as state:
            return dict(state.machines)

    def is_model(self, annotator: str | None) -> bool:
        """Whether a model answers under this name."""
        with self._ledger.reading() as state:
            return annotator in state.machines

    def tokens(self, annotator: str) -> int:
        """How many tokens the replies of a model took so far."""
        with self._ledger.reading() as state:
            return state.tokens.get(annotator, 0)

    def let_rest(self, annotator: str, resting: bool = True) -> None:
        """Give this annotator no pairs for now, or go on; their answers count either way."""
        self._ledger.write(lambda transaction: owner.let_rest(transaction, annotator, resting))

    def agreement(self) -> tuple[int, int]:
        """Of the pairs that annotators answered twice: how many got the same answer, and how many there are."""
        with self._ledger.reading() as state:
            found = leases.agreement(state).values()
            return sum(same for same, _ in found), sum(total for _, total in found)

    @property
    def excluded_annotators(self) -> tuple[str, ...]:
        with self._ledger.reading() as state:
            return tuple(state.excluded_annotators)

    def exclude_annotator(self, annotator: str) -> None:
        """Leave an annotator's answers out of everything until the annotator is included again."""
        self._ledger.write(lambda transaction: owner.exclude_annotator(transaction, annotator, True))

    def include_annotator(self, annotator: str) -> None:
        """Undo `exclude_annotator`."""
        self._ledger.write(lambda transaction: owner.exclude_annotator(transaction, annotator, False))

    # Settings, rules and links ----------------------------------------------------------------------------------------

    @property
    def settings(self) -> Settings:
        """What was decided when the study was created."""
        return self._ledger.storage.settings

    @property
    def question(self) -> str:
        """What annotators are asked now: the rule `question`, or else what the study was created with."""
        return self.rules.question or self.settings.question

    def answers_since(self, time: datetime) -> int:
        """How many answers, without skips and those taken back, were stored from this time on."""
        since = timestamp(time)
        with self._ledger.reading() as state:
            newest = takewhile(lambda entry: entry.at >= since, reversed(state.answered.values()))
            return sum(entry.answer != "skip" for entry in newest)

    @property
    def stage(self) -> Stage:
        """Whether pairs are given out ("running") or not: "paused", "over" after the deadline, or "finished"."""
        with self._ledger.reading() as state:
            return leases.stage(state, self._ledger.clock())

    def answers_until(self, time: datetime) -> int | None:
        """How many more answers come until this time at the pace of the last day, or of all days since the first answer
        if these are fewer, nights and pauses included; None: there are too few answers to tell."""
        with self._ledger.reading() as state:
            return stopping.answers_until(state, time, datetime.fromisoformat(self._ledger.clock()))

    @property
    def entries(self) -> int:
        """How many entries the log has."""
        with self._ledger.reading() as state:
            return state.position

    @property
    def newest_answer(self) -> Entry | None:
        """The newest answer or skip of a query that was not taken back."""
        with self._ledger.reading() as state:
            return next(reversed(state.answered.values()), None)

    @property
    def token(self) -> str:
        """What the ids of this study's queries begin with."""
        return self._ledger.storage.token

    def serving(self) -> AbstractContextManager[None]:
        """A block in which many people use the study at once; see Storage."""
        return self._ledger.storage.serving()

    @property
    def folder(self) -> Path | None:
        """Where relative paths of items start: the folder of the study's file; None: it is in no file."""
        return self._ledger.storage.folder

    @property
    def rules(self) -> Rules:
        """What the owner may change while people answer."""
        with self._ledger.reading() as state:
            return state.rules

    def set_rules(self, **changes: Any) -> None:
        """Change rules by name, for instance `set_rules(paused=True, budget=500)`; all or none."""
        self._ledger.write(lambda transaction: owner.set_rules(transaction, changes))

    def set_first_rules(self, rules: Mapping[str, Any]) -> None:
        """Set those of these rules that were never set, here or when the study was created."""
        self._ledger.write(lambda transaction: owner.set_first_rules(transaction, rules))

    def links_of(self, name: str) -> list[Link]:
        """The links that owners made for whoever has this very name, newest first."""
        with self._ledger.reading() as state:
            return owner.links_of(state, name)

    def make_link(
        self, role: Role, annotator: str | None = None, expires_at: datetime | None = None, *, name: str | None = None
    ) -> Link:
        """A new link for an owner, for viewers, or for annotators, perhaps for one person; a server signs its id.

        `name` is its id; None: a random one. Where a link has this name already, that link is returned unchanged.
        """
        if role not in get_args(Role):
            raise InvalidInput(f"unknown role {role!r}; it is {' or '.join(get_args(Role))}")
        until = None if expires_at is None else timestamp(expires_at)
        chosen = secrets.token_hex(6) if name is None else text("the link's name", name)
        return self._ledger.write(lambda transaction: owner.make_link(transaction, chosen, role, annotator, until))

    def make_links(self, annotators: Sequence[str], expires_at: datetime | None = None) -> list[Link]:
        """A link for each of these annotators, all or none; a valid one of their own that is there stays theirs."""
        until = None if expires_at is None else timestamp(expires_at)
        return self._ledger.write(lambda transaction: owner.make_links(transaction, annotators, until))

    def claim_name(
        self, given: str, link_for: Callable[[str, str], str], shared: str, earlier: str | None = None
    ) -> Link:
        """The personal link of somebody who came by the shared link and gave this name; see `owner.claim_name`."""
        return self._ledger.write(lambda transaction: owner.claim_name(transaction, given, link_for, shared, earlier))

    def has_link(self, name: str | None, role: Role | None = None) -> bool:
        """Whether an owner has made a link for this person alone; with `role`, one of that role."""
        with self._ledger.reading() as state:
            roles = state.linked.get(name, set()) if name is not None else set()
            return bool(roles) if role is None else role in roles

    def is_claimed(self, annotator: str | None) -> bool:
        """Whether somebody who came by a shared link has given this name."""
        with self._ledger.reading() as state:
            return annotator in state.claimed

    def revoke_link(self, name: str) -> None:
        """Close a link: nobody comes in by it any more, and sessions that began with it end."""
        self._ledger.write(lambda transaction: owner.revoke_link(transaction, name))

    def link(self, name: str) -> Link:
        """Raises InvalidInput where there is none of this name."""
        with self._ledger.reading() as state:
            return owner.find_link(state, name)

    def links(self) -> list[Link]:
        """All links, oldest first."""
        with self._ledger.reading() as state:
            return [owner.find_link(state, name) for name in state.links]


def _checked_answer(answer: Answer, details: AnswerDetails | None) -> tuple[Answer, AnswerDetails]:
    if answer not in ANSWERS:
        raise InvalidInput(f"unknown answer {answer!r}; it is {', '.join(ANSWERS)}")
    return answer, AnswerDetails() if details is None else checked(details)
