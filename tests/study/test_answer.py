"""An answer and the next pairs in one transaction."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from ordinate.data.comparisons import Comparison
from ordinate.data.items import Items
from ordinate.errors import (
    AlreadyAnswered,
    AnnotatorExcluded,
    BudgetSpent,
    InvalidInput,
    KeyReused,
    NothingToUndo,
    NotYourQuery,
    PairsHeld,
    PoolExhausted,
    StudyPaused,
    UnknownQuery,
)
from ordinate.storage import AnswerDetails, Entry
from ordinate.storage import open as open_storage
from ordinate.study.leases import Lease, Offer
from ordinate.study.study import Study

ITEMS = Items([str(row) for row in range(12)], np.random.default_rng(0).normal(size=(12, 3)))


class Ticking:
    """A clock that is a second later whenever it is read."""

    def __init__(self) -> None:
        self.seconds = 0

    def __call__(self) -> str:
        self.seconds += 1
        return f"2030-01-01T{self.seconds // 3600:02}:{self.seconds // 60 % 60:02}:{self.seconds % 60:02}.000+00:00"


@pytest.fixture
def study(tmp_path: Path) -> Iterator[Study]:
    with Study.create(ITEMS, storage=f"sqlite:///{tmp_path / 'study.db'}", clock=Ticking()) as study:
        study.set_rules(lease=3000.0, again=False)
        yield study


def take(study: Study, annotator: str, count: int = 1) -> list[Lease]:
    offers = [offer for offer in study.choose([annotator] * count) if offer is not None]
    return study.take(annotator, count, offers)


def log(tmp_path: Path, after: int = 0) -> list[Entry]:
    with closing(open_storage(f"sqlite:///{tmp_path / 'study.db'}")) as storage, storage.reading() as log:
        return list(log.entries(after))


def test_the_answer_and_the_next_pairs_are_one_transaction(study: Study, tmp_path: Path) -> None:
    (held,) = take(study, "Ann")
    offers = [offer for offer in study.choose(["Ann", "Bob"]) if offer is not None]
    before = len(log(tmp_path))
    answered = study.answer(held.query.id, "left", annotator="Ann", count=2, offers=offers, tab="a tab")
    answer, *asked = log(tmp_path, before)
    assert (answer.kind, answer.query, answer.answer) == ("answer", 1, "left")
    assert [(one.kind, one.left, one.right, one.tab) for one in asked] == [
        ("ask", offer.left, offer.right, "a tab") for offer in offers
    ]
    assert len({one.at for one in (answer, *asked)}) == 1, "the clock is read once for each transaction"
    assert tuple(answered) == (study.held("Ann"), 1, 1, None, True, False)
    assert [lease.expires_at for lease in answered.queries] == [one.expires_at for one in asked]


def test_it_does_what_tell_and_take_do(tmp_path: Path) -> None:
    """The same log, whether an answer and the next pair are one call or two."""
    logs = []
    for name in ("one", "two"):
        with Study.create(ITEMS, storage=f"sqlite:///{tmp_path / name}.db") as study:
            for number in range(30):
                annotator = ("Ann", "Bob")[number % 2]
                (held,) = study.held(annotator)[:1] or take(study, annotator)
                offers = [offer for offer in study.choose([annotator]) if offer is not None]
                answer = ("left", "right", "skip")[number % 3]
                if name == "one":
                    study.answer(held.query.id, answer, annotator=annotator, count=1, offers=offers)
                else:
                    study.tell(held.query.id, answer)
                    study.take(annotator, 1, offers)
        with closing(open_storage(f"sqlite:///{tmp_path / name}.db")) as storage, storage.reading() as log:
            logs.append([entry._replace(at="") for entry in log.entries(0)])
    assert logs[0] == logs[1]


def test_nothing_is_taken_unless_it_is_wanted(study: Study) -> None:
    (held,) = take(study, "Ann")
    answered = study.answer(held.query.id, "skip", annotator="Ann", offers=study.choose(["Ann"]))  # type: ignore[arg-type]
    assert answered == ([], 0, 0, None, True, False)
    assert study.open_queries() == []


def test_the_answer_stays_where_the_rules_give_no_more(study: Study) -> None:
    first, second, third, fourth = take(study, "Ann", 4)
    study.set_rules(annotator_budget=2)
    answered = study.answer(first.query.id, "left", annotator="Ann", count=4)
    assert (answered.queries, answered.refusal) == ([second, third, fourth], None), "what is held stays"
    for held in (second, third):
        study.tell(held.query.id, "left")
    answered = study.answer(fourth.query.id, "left", annotator="Ann", count=1)
    assert answered[:3] == ([], 4, 4)
    assert isinstance(answered.refusal, BudgetSpent)
    assert not answered.refusal.total

    (held,) = take(study, "Bob")
    study.set_rules(paused=True)
    answered = study.answer(held.query.id, "left", annotator="Bob", count=1)
    assert (answered.answers, answered.total, type(answered.refusal)) == (1, 5, StudyPaused)

    study.set_rules(paused=False)
    (held,) = take(study, "Cem")
    study.exclude_annotator("Cem")
    answered = study.answer(held.query.id, "left", annotator="Cem", count=1)
    assert (answered.answers, answered.total, type(answered.refusal)) == (1, 5, AnnotatorExcluded)


def test_only_whom_a_query_was_given_to_may_answer_it(study: Study) -> None:
    (held,) = take(study, "Ann")
    for somebody in ("Bob", None, ""):
        with pytest.raises(NotYourQuery, match=f"'{held.query.id}' was given to somebody else"):
            study.answer(held.query.id, "left", annotator=somebody, count=1)
    with pytest.raises(UnknownQuery):
        study.answer("nothing-1", "left", annotator="Ann")
    assert study.open_queries() == [held.query]
    answered = study.answer(held.query.id, "left", annotator="Bob", for_others=True)
    assert (answered.answers, answered.total) == (0, 1)
    assert study.annotators() == {"Ann": 1}


def test_a_refused_answer_takes_nothing(study: Study) -> None:
    one, two = take(study, "Ann", 2)
    offers = [offer for offer in study.choose(["Ann"]) if offer is not None]
    study.answer(one.query.id, "left", AnswerDetails(key="k"), annotator="Ann")

    def refused(error: type[Exception], query: str, answer: str, details: AnswerDetails | None = None) -> None:
        with pytest.raises(error):
            study.answer(query, answer, details, annotator="Ann", count=3, offers=offers)

    refused(AlreadyAnswered, one.query.id, "left")
    refused(KeyReused, two.query.id, "left", AnswerDetails(key="k"))
    refused(InvalidInput, two.query.id, "neither")
    study.set_rules(ties=False)
    refused(InvalidInput, two.query.id, "tie")
    assert study.open_queries() == [two.query]
    again = study.answer(one.query.id, "left", AnswerDetails(key="k"), annotator="Ann", count=3, offers=offers)
    assert (len(again.queries), again.total) == (2, 1), "the same answer sent again"


def test_random_pairs_are_new_to_the_annotator_and_share_no_item_with_the_newest(tmp_path: Path) -> None:
    study = Study.create(Items(["a", "b", "c", "d", "e"]))
    study.set_rules(again=False, variety=1.0)
    seen: list[set[str]] = []
    for _ in range(10):
        (held,) = study.take("Ann", 1, [study.draw("Ann")])
        pair = {held.query.left, held.query.right}
        assert pair not in seen
        disjoint = [{one, other} for one in "abcde" for other in "abcde" if one < other]
        disjoint = [two for two in disjoint if two not in seen and not (seen and two & seen[-1])]
        assert pair in disjoint or not disjoint
        seen.append(pair)
        study.tell(held.query.id, "left")
    with pytest.raises(PoolExhausted):
        study.draw("Ann")


def test_an_answer_is_taken_back_by_its_key_once_and_by_whoever_gave_it(study: Study) -> None:
    one, two = take(study, "Ann", 2)
    study.answer(one.query.id, "left", AnswerDetails(key="first"), annotator="Ann")
    study.answer(two.query.id, "right", AnswerDetails(key="second"), annotator="Ann")
    for annotator, key in (("Bob", "first"), (None, "first"), ("Ann", "third")):
        with pytest.raises(NothingToUndo, match="no such answer of yours"):
            study.take_back(annotator, key)
    lease, answer = study.take_back("Ann", "first")
    assert (lease.query, answer) == (one.query, "left")
    with pytest.raises(NothingToUndo, match="taken back already"):
        study.take_back("Ann", "first")
    study.answer(one.query.id, "right", AnswerDetails(key="third"), annotator="Ann")
    with pytest.raises(NothingToUndo):
        study.take_back("Ann", "first")
    assert study.take_back("Ann", "third")[1] == "right"


def test_a_query_whose_time_is_over_is_neither_shown_nor_withdrawn(study: Study) -> None:
    (late,) = overdue(study, "Ann", 1)
    for use in (study.show, study.withdraw):
        with pytest.raises(AlreadyAnswered, match=r"the time for query .* is over"):
            use(late.query.id)


def test_a_repeat_whose_first_answer_was_taken_back_says_nothing_about_agreement(tmp_path: Path) -> None:
    study = Study.create(ITEMS)
    study.set_rules(repeat=1.0, again=False)
    first = study.ask("Ann")
    study.tell(first.id, "left", AnswerDetails(key="k"))
    while True:
        query = study.ask("Ann")
        if {query.left, query.right} == {first.left, first.right}:
            break
        study.tell(query.id, "skip")
    assert study.people()[0].repeats == 0
    study.tell(query.id, "left" if query.left == first.left else "right")
    (ann,) = study.people()
    assert (ann.repeats, ann.repeats_agreed) == (1, 1)
    study.take_back("Ann", "k")
    (ann,) = study.people()
    assert (ann.repeats, ann.repeats_agreed) == (0, 0)


# Late answers and budgets --------------------------------------------------------------------------------------------


def overdue(study: Study, annotator: str, count: int) -> list[Lease]:
    """Queries of the annotator whose lease has ended."""
    study.set_rules(lease=1.0)
    held = take(study, annotator, count)
    study._ledger.clock()
    study.take("somebody", 1, [])
    study.set_rules(lease=3000.0)
    assert study.held(annotator) == []
    return held


def test_who_was_asked_before_there_were_leases_has_one_from_then_on() -> None:
    study = Study.create(Items(["a", "b"]), clock=Ticking())
    gone = study.ask("gone")
    study.set_rules(lease=5.0, again=False)
    with pytest.raises(PairsHeld):
        study.ask("Ann")
    for _ in range(5):
        study._ledger.clock()
    asked = study.ask("Ann")
    assert {asked.left, asked.right} == {gone.left, gone.right}


def test_a_query_whose_answer_came_in_a_table_takes_no_late_one(study: Study, tmp_path: Path) -> None:
    (late,) = overdue(study, "Ann", 1)
    given = [(late.query.left, late.query.right, "left", "Ann")]
    assert study.record(given, answered=[late.query.id]) == 1
    for opened in (study, Study.open(f"sqlite:///{tmp_path / 'study.db'}")):
        with pytest.raises(AlreadyAnswered, match="was withdrawn"):
            opened.answer(late.query.id, "left", annotator="Ann")
        assert len(opened.comparisons()) == 1


def test_a_late_answer_counts_only_while_the_annotators_budget_has_room(study: Study) -> None:
    study.set_rules(annotator_budget=2)
    first, second = overdue(study, "Ann", 2)
    (third, _) = overdue(study, "Ann", 2)
    answers = [study.answer(one.query.id, "left", annotator="Ann") for one in (first, third, second)]
    assert [(one.answers, one.total, one.counts) for one in answers] == [(1, 1, True), (2, 2, True), (2, 2, False)]
    assert study.annotators() == {"Ann": 2}
    assert len(study.comparisons()) == 2
    assert study.history()["status"] == ["counts", "counts", "beyond the budget"]
    assert study.take("Bob", 1, [offer for offer in study.choose(["Bob"]) if offer is not None])


def test_a_late_answer_does_not_take_the_room_of_an_open_query(study: Study) -> None:
    first, second = overdue(study, "Ann", 2)
    study.set_rules(budget=2)
    known = {frozenset((one.query.left, one.query.right)) for one in (first, second)}
    offers = [offer for offer in study.choose(["Bob"] * 3) if offer is not None]
    (held,) = study.take("Bob", 1, [one for one in offers if frozenset((one.left, one.right)) not in known])
    assert study.answer(first.query.id, "left", annotator="Ann").counts
    assert not study.answer(second.query.id, "left", annotator="Ann").counts, "Bob's answer is the second"
    assert study.answer(held.query.id, "left", annotator="Bob").total == 2


def test_answers_that_are_left_out_are_asked_for_again(study: Study) -> None:
    study.set_rules(budget=3, annotator_budget=2)
    for name in ("Ann", "Ann", "Bob"):
        (lease,) = take(study, name)
        answered = study.answer(lease.query.id, "left", annotator=name)
    assert (answered.total, study.stage) == (3, "finished")
    study.exclude_annotator("Ann")
    progress = study.progress("Ann")
    assert (progress.total, progress.answers, study.stage) == (1, 2, "running")
    (lease,) = take(study, "Bob")
    study.exclude_item(lease.query.left)
    others = [take(study, name)[0].query for name in ("Cem", "Dan", "Eva")[: 3 - len(study.comparisons())]]
    totals = [study.answer(query.id, "left", annotator=query.annotator).total for query in others]
    assert (totals[-1], study.stage) == (3, "finished")
    with pytest.raises(BudgetSpent, match="all 3 answers"):
        take(study, "Fay")
    study.include_annotator("Ann")
    with pytest.raises(BudgetSpent, match="Ann has given all 2"):
        take(study, "Ann")


def test_taking_a_late_answer_back_makes_no_room(study: Study) -> None:
    study.set_rules(budget=1)
    first, second = overdue(study, "Ann", 1) + overdue(study, "Ann", 1)
    assert study.answer(first.query.id, "left", annotator="Ann").counts
    assert not study.answer(second.query.id, "left", annotator="Ann").counts
    for _ in range(2):
        assert study.take_back("Ann")[0].query == second.query
        assert not study.answer(second.query.id, "right", annotator="Ann").counts
    study.take_back("Ann")
    study.take_back("Ann")
    assert study.answer(first.query.id, "right", annotator="Ann").counts is False, "the other one is open"
    assert study.annotators() == {}
    study.set_rules(budget=None)
    assert study.answer(second.query.id, "right", annotator="Ann").counts


@pytest.mark.parametrize("first", ["an answer", "a question"])
def test_late_answers_settle_the_pairs_that_the_same_annotator_got_again(study: Study, first: str) -> None:
    """A browser comes back after the leases have ended, and sends an answer first or asks for pairs."""
    held = overdue(study, "Ann", 4)
    study.set_rules(annotator_budget=4)
    offers = [Offer(query.right, query.left, "Ann") for query, *_ in held]
    if first == "a question":
        assert len(study.take("Ann", 4, offers)) == 4
    given = [study.answer(one.query.id, "left", annotator="Ann", count=4, offers=offers) for one in held]
    assert [(one.answers, one.counts) for one in given] == [(1, True), (2, True), (3, True), (4, True)]
    assert study.open_queries() == []
    assert [(one.left, one.right) for one in study.comparisons()] == [(one.left, one.right) for one, *_ in held]


def test_a_late_answer_to_a_pair_that_was_answered_again_does_not_count(study: Study) -> None:
    (held,) = overdue(study, "Ann", 1)
    (again,) = study.take("Ann", 1, [Offer(held.query.right, held.query.left, "Ann")])
    study.tell(again.query.id, "left")
    with pytest.raises(AlreadyAnswered, match="you answered it again meanwhile"):
        study.tell(held.query.id, "left")
    study.take_back("Ann")
    study.tell(held.query.id, "right")
    assert study.open_queries() == []
    assert [one.outcome for one in study.comparisons()] == ["right"]


def test_a_skip_needs_no_room(study: Study) -> None:
    study.set_rules(budget=1)
    first, second = overdue(study, "Ann", 1) + overdue(study, "Ann", 1)
    study.tell(first.query.id, "left")
    assert study.answer(second.query.id, "skip", annotator="Ann").counts
    assert study.history()["status"] == ["counts", "skipped"]


def test_a_log_says_which_answers_are_beyond_the_budget(study: Study, tmp_path: Path) -> None:
    """So an older log, in which late answers counted, means what it did."""
    study.set_rules(budget=1)
    first, second = overdue(study, "Ann", 1) + overdue(study, "Ann", 1)
    for one in (first, second):
        study.tell(one.query.id, "left")
    study.close()
    path = tmp_path / "study.db"
    with Study.open(f"sqlite:///{path}") as again:
        assert again.annotators() == {"Ann": 1}
    with closing(sqlite3.connect(path)) as connection, connection:
        assert connection.execute("UPDATE log SET value = NULL WHERE kind = 'answer'").rowcount == 2
    with Study.open(f"sqlite:///{path}") as older:
        assert older.annotators() == {"Ann": 2}
        assert len(older.comparisons()) == 2
        assert older.history()["status"] == ["counts"] * 2


def test_the_answers_of_some_annotators_alone():
    study = Study.create(Items(["a", "b", "c"]), algorithm="guro-independent")
    study.record([Comparison("a", "b", "left", "Ann"), Comparison("b", "c", "left", "Ann")] * 4)
    study.record([Comparison("a", "c", "right", "Bob"), Comparison("a", "b", "right", "bob")] * 4)
    study.record([Comparison("a", "c", "left")])
    alone = Study.create(Items(["a", "b", "c"]), algorithm="guro-independent")
    alone.record([Comparison("a", "b", "left", "Ann"), Comparison("b", "c", "left", "Ann")] * 4)
    assert study.only(["ann"]).comparisons() == alone.comparisons()
    assert study.only(["ann"]).ordering().scores.tolist() == alone.ordering().scores.tolist()
    assert len(study.only([None, "Bob"]).comparisons()) == 9
    assert study.only(["Ann", "Bob", None]).ordering().scores.tolist() == study.ordering().scores.tolist()
    # It follows what is written later, and who is excluded.
    view = study.only(["Ann"])
    study.record([Comparison("a", "c", "left", "Ann"), Comparison("a", "c", "left", "Bob")])
    assert len(view.comparisons()) == 9
    study.exclude_annotator("Ann")
    assert view.comparisons() == []
    with pytest.raises(InvalidInput, match=r"no answers of 'Bop'.*Bob"):
        study.only(["Bop"])
    with pytest.raises(InvalidInput, match="name the annotators"):
        study.only([])
