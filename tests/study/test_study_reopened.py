"""Whatever is called in whatever order: memory and SQLite, closed and opened between any two calls, with caches dropped
at random, give the same pairs, the same orderings and the same errors."""

import tempfile
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from ordinate.algorithms import takes
from ordinate.data.comparisons import Comparison, Query
from ordinate.data.items import Items
from ordinate.errors import OrdinateError
from ordinate.storage import timestamp
from ordinate.study.leases import Lease
from ordinate.study.study import Study

COUNT = 5
FEATURES = np.random.default_rng(3).normal(size=(40, 2))
# Thousands of commits wait for no disk here; that they reach it is tested elsewhere.
QUICK = next((folder for folder in ("/dev/shm",) if Path(folder).is_dir()), None)
CHANGES: list[dict[str, Any]] = [
    {"lease": 60.0},
    {"lease": None},
    {"repeat": 0.5},
    {"repeat": 0.0},
    {"again": False, "variety": 0.8},
    {"again": True, "variety": None},
    {"budget": 12},
    {"annotator_budget": 5},
    {"budget": None, "annotator_budget": None},
    {"paused": True},
    {"paused": False},
    {"ties": False},
    {"ties": True},
    {"random": 0.5},
    {"random": 0.0},
    {"aim": "order"},
    {"aim": "top:1"},
    {"aim": "bottom:2"},
    {"aim": ["above:0", "above:1"]},
]
annotators = st.sampled_from([None, "Ann", "Bob"])
tabs = st.sampled_from([None, "a tab", "another"])


def items(first: int, count: int, grouped: bool) -> Items:
    rows = range(first, first + count)
    group = [f"group {row % 2}" for row in rows] if grouped else None
    return Items([str(row) for row in rows], FEATURES[first : first + count], group=group)


class Reopened(RuleBasedStateMachine):
    """`plain` lives in memory and is never disturbed; `stored` is closed, opened and loses its caches at any time. Both
    have one clock, which stands still unless a step moves it."""

    def __init__(self) -> None:
        super().__init__()
        self.time = datetime(2025, 1, 1, tzinfo=UTC)

    def clock(self) -> str:
        return timestamp(self.time)

    @initialize(
        algorithm=st.sampled_from(
            ["guro-hybrid", "guro-hybrid-factored", "guro-contextual", "aim-independent", "uniform-independent"]
        ),
        refit_every=st.sampled_from([None, 1, 4]),
        candidates=st.sampled_from([None, 3]),
        grouped=st.booleans(),
        variance=st.sampled_from([None, 0.5]),
    )
    def create(
        self, algorithm: str, refit_every: int | None, candidates: int | None, grouped: bool, variance: float | None
    ) -> None:
        self.folder = tempfile.TemporaryDirectory(dir=QUICK)
        self.url = f"sqlite:///{self.folder.name}/study.db"
        self.grouped = grouped
        self.count = COUNT
        options: dict[str, Any] = {"algorithm": algorithm, "refit_every": refit_every, "candidates": candidates}
        # Without a variance, prior variances are fitted to the answers.
        options["coefficient_variance" if takes(algorithm, "coefficient_variance") else "item_variance"] = variance
        self.plain = Study.create(items(0, COUNT, grouped), seed=7, clock=self.clock, **options)
        self.stored = Study.create(items(0, COUNT, grouped), seed=7, clock=self.clock, storage=self.url, **options)

    def teardown(self) -> None:
        if hasattr(self, "folder"):
            self.stored.close()
            self.folder.cleanup()

    def both(self, call: Callable[[Study], Any]) -> Any:
        """The result of a call on both studies, query ids without the token, or the error."""
        plain, stored = (outcome(call, study) for study in (self.plain, self.stored))
        assert plain == stored
        return plain

    @rule()
    def reopen(self) -> None:
        self.stored.close()
        self.stored = Study.open(self.url, clock=self.clock)

    @rule()
    def drop_caches(self) -> None:
        self.stored._ledger.drop_caches()

    @rule(annotator=annotators)
    def ask(self, annotator: str | None) -> None:
        self.both(lambda study: study.ask(annotator))

    @rule(annotator=annotators, count=st.integers(1, 4))
    def ask_for_several(self, annotator: str | None, count: int) -> None:
        self.both(lambda study: study.ask(annotator, count))

    @rule(annotator=annotators, first=st.integers(0, COUNT - 2))
    def ask_among(self, annotator: str | None, first: int) -> None:
        ids = [str(row) for row in range(COUNT)]
        self.both(lambda study: study.ask(annotator, among=study.pairs(ids[first:-1], ids[first + 1 :])))

    @rule(annotator=annotators, answer=st.sampled_from(["left", "right", "tie", "skip"]), times=st.integers(1, 6))
    def ask_and_tell(self, annotator: str | None, answer: Any, times: int) -> None:
        for _ in range(times):
            self.both(lambda study: study.tell(study.ask(annotator).id, answer))

    @rule(number=st.integers(0, 30), answer=st.sampled_from(["left", "right", "tie", "skip"]))
    def tell_any(self, number: int, answer: Any) -> None:
        self.both(lambda study: study.tell(f"{study.token}-{number}", answer))

    @rule(number=st.integers(0, 30))
    def withdraw_any(self, number: int) -> None:
        self.both(lambda study: study.withdraw(f"{study.token}-{number}"))

    @rule(seconds=st.sampled_from([1, 30, 600]))
    def wait(self, seconds: int) -> None:
        self.time += timedelta(seconds=seconds)

    @rule(change=st.sampled_from(CHANGES))
    def set_rules(self, change: dict[str, Any]) -> None:
        self.both(lambda study: study.set_rules(**change))

    @rule(annotator=annotators, others=st.lists(annotators, max_size=3), count=st.integers(1, 3), tab=tabs)
    def take(self, annotator: str | None, others: list[str | None], count: int, tab: str | None) -> None:
        """As a server does that chooses ahead, for others as well."""
        asked = [annotator, *others]
        offers = self.both(lambda study: study.choose(asked))
        if isinstance(offers, list):
            made = [offer for offer in offers if offer is not None]
            self.both(lambda study: study.take(annotator, count, made, tab=tab))

    @rule(number=st.integers(0, 30))
    def show_any(self, number: int) -> None:
        self.both(lambda study: study.show(f"{study.token}-{number}"))

    @rule(name=st.sampled_from(["one", "two"]), role=st.sampled_from(["owner", "annotator"]), annotator=annotators)
    def make_link(self, name: str, role: Any, annotator: str | None) -> None:
        self.both(lambda study: study.make_link(role, annotator, name=name)._replace(made_at=""))

    @rule(name=st.sampled_from(["one", "two"]))
    def revoke_link(self, name: str) -> None:
        self.both(lambda study: study.revoke_link(name))

    @rule(annotator=annotators)
    def undo(self, annotator: str | None) -> None:
        self.both(lambda study: study.undo(annotator))

    @rule(
        left=st.integers(0, 9), right=st.integers(0, 9), winner=st.sampled_from(["left", "tie"]), annotator=annotators
    )
    def record(self, left: int, right: int, winner: Any, annotator: str | None) -> None:
        comparison = Comparison(str(left), str(right), winner, annotator)
        self.both(lambda study: study.record([comparison, comparison]))

    @rule(item=st.integers(0, 7), include=st.booleans())
    def switch_item(self, item: int, include: bool) -> None:
        self.both(lambda study: (study.include_item if include else study.exclude_item)(str(item)))

    @rule(annotator=annotators.filter(bool), include=st.booleans())
    def switch_annotator(self, annotator: str, include: bool) -> None:
        self.both(lambda study: (study.include_annotator if include else study.exclude_annotator)(annotator))

    @rule(count=st.integers(1, 2))
    def add_items(self, count: int) -> None:
        if self.count < 10:
            added = items(self.count, count, self.grouped)
            self.both(lambda study: study.add_items(added))
            self.count += count

    @rule()
    def add_items_again(self) -> None:
        self.both(lambda study: study.add_items(items(3, 1, self.grouped)))

    @rule()
    def results(self) -> None:
        self.both(lambda study: study.ordering().to_columns())
        self.both(lambda study: study.ordering(items(3, 10, self.grouped)).to_columns())
        self.both(lambda study: study.scores().tolist())
        self.both(lambda study: repr(study.reliability()))

    @invariant()
    def same_log(self) -> None:
        if not hasattr(self, "folder"):
            return
        self.both(Study.comparisons)
        self.both(Study.open_queries)
        self.both(Study.annotators)
        self.both(Study.agreement)
        self.both(Study.people)
        self.both(lambda study: study.rules)
        self.both(lambda study: [study.held(name) for name in (None, "Ann", "Bob")])
        self.both(lambda study: [(link.id, link.revoked) for link in study.links()])
        self.both(lambda study: (study.excluded_items, study.excluded_annotators, study.items.ids))


def outcome(call: Callable[[Study], Any], study: Study) -> Any:
    try:
        return without_token(call(study), study.token)
    except OrdinateError as error:
        return type(error), str(error).replace(study.token, "token")


def without_token(value: Any, token: str) -> Any:
    if isinstance(value, Query):
        return value._replace(id=value.id.replace(token, "token"))
    if isinstance(value, Lease):
        return value._replace(query=without_token(value.query, token))
    if isinstance(value, list):
        return [without_token(one, token) for one in value]
    return value


FEW, MANY = (settings(max_examples=examples, stateful_step_count=40) for examples in (10, 60))
TestReopened = Reopened.TestCase
TestReopened.settings = FEW
TestReopenedOften = pytest.mark.slow(type("TestReopenedOften", (TestReopened,), {"settings": MANY}))


class ReopenedBetweenRenewals(Reopened):
    """The same where a refit seldom renews the covariance, as in a study of thousands of items."""

    def __init__(self) -> None:
        super().__init__()
        self.patch = pytest.MonkeyPatch()
        self.patch.setattr(
            "ordinate.study.inference.last_renewal", lambda model, refit, items, every: seldom(refit, every)
        )

    def teardown(self) -> None:
        self.patch.undo()
        super().teardown()


def seldom(refit: int, every: int | None) -> int:
    step = 5 * (every or 1)
    return refit - refit % step


TestReopenedBetweenRenewals = ReopenedBetweenRenewals.TestCase
TestReopenedBetweenRenewals.settings = FEW
TestReopenedBetweenRenewalsOften = pytest.mark.slow(
    type("TestReopenedBetweenRenewalsOften", (TestReopenedBetweenRenewals,), {"settings": MANY})
)
