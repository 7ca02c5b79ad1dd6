"""The study: asking, telling, taking back, leaving out, ordering, and the errors of each."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from ordinate import algorithms
from ordinate.data.arrays import Integers
from ordinate.data.comparisons import Answer, Comparison, Query
from ordinate.data.items import Items
from ordinate.data.pairs import PairList
from ordinate.errors import AlreadyAnswered, InvalidInput, NothingToUndo, PoolExhausted, UnknownItem, UnknownQuery
from ordinate.study.study import Study

FEATURES = np.random.default_rng(0).normal(size=(12, 3))
IDS = [f"item {row:02}" for row in range(12)]
ITEMS = Items(IDS, FEATURES)
TRUTH = dict(zip(IDS, FEATURES @ [1.0, -2.0, 0.5], strict=True))


@pytest.fixture(params=["memory", "sqlite"])
def storage(request: pytest.FixtureRequest, tmp_path: Path) -> str | None:
    return None if request.param == "memory" else f"sqlite:///{tmp_path / 'study.db'}"


@pytest.fixture
def study(storage: str | None) -> Iterator[Study]:
    with Study.create(ITEMS, storage=storage) as study:
        yield study


def right_answer(query: Query) -> Answer:
    return "left" if TRUTH[query.left] > TRUTH[query.right] else "right"


def pair(query: Query) -> frozenset[str]:
    return frozenset((query.left, query.right))


# Creating --------------------------------------------------------------------------------------------------------


def test_the_default_algorithm_depends_on_the_features() -> None:
    assert Study.create(ITEMS).settings.algorithm == "guro-hybrid"
    assert Study.create(Items(["a", "b"])).settings.algorithm == "guro-independent"


def test_settings_are_kept(storage: str | None) -> None:
    given = {
        "algorithm": "guro-contextual",
        "question": "Which is older?",
        "seed": 5,
        "scaling": "none",
        "refit_every": 10,
        "candidates": 7,
        "recipe": None,
        "coefficient_variance": 0.5,
        "item_variance": None,
        "renew_covariance": False,
        "random": 0.25,
        "weigh_annotators": False,
        "likelihood": "probit",
    }
    with Study.create(ITEMS, storage=storage, **given) as study:  # type: ignore[arg-type]
        assert vars(study.settings) == {**given, "side_bias": False, "length_bias": False, "features_alone": 0.0}
        assert study.items.ids == ITEMS.ids
        assert pair(study.ask()) <= set(IDS)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"algorithm": "astrology"}, "unknown algorithm 'astrology'; there are guro-hybrid"),
        ({"seed": -1}, "seed must be a whole number from 0 on"),
        ({"seed": 2**64}, "seed must be"),
        ({"seed": 1.5}, "seed must be a whole number, not 1.5"),
        ({"refit_every": 0}, "refit_every must be a whole number from 1 on"),
        ({"candidates": "many"}, "candidates must be a whole number, not 'many'"),
        ({"scaling": "whiten"}, "unknown scaling 'whiten'; it is robust, standard, none"),
        ({"storage": "study.db"}, "sqlite:///study.db"),
        ({"item_variance": 0}, "item_variance must be a number from 1e-06 to 1e\\+06, not 0"),
        ({"coefficient_variance": float("nan")}, "coefficient_variance must be a number from .*, not nan"),
        ({"coefficient_variance": "wide"}, "coefficient_variance must be a number, not 'wide'"),
        ({"algorithm": "guro-contextual", "item_variance": 1}, "takes no item_variance: it has no term per item"),
        ({"algorithm": "bald-contextual-sequential", "item_variance": 1}, "takes no item_variance"),
        (
            {"algorithm": "guro-independent", "coefficient_variance": 1},
            "takes no coefficient_variance: it does not use",
        ),
        ({"algorithm": "trueskill", "item_variance": 1}, "takes no item_variance"),
        ({"algorithm": "trueskill", "renew_covariance": False}, "trueskill is never refitted"),
        ({"random": -0.1}, "random must be a number from 0 to 1, not -0.1"),
        ({"random": 10}, "random must be a number from 0 to 1, not 10"),
        ({"random": float("nan")}, "random must be a number from 0 to 1, not nan"),
        ({"random": "often"}, "random must be a number, not 'often'"),
        ({"likelihood": "cauchit"}, "unknown likelihood 'cauchit'; it is cumulative, davidson"),
        ({"algorithm": "bald-contextual-sequential", "likelihood": "probit"}, "takes no likelihood: it takes one"),
    ],
)
def test_wrong_settings_are_refused(options: dict[str, Any], words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        Study.create(ITEMS, **options)


@pytest.mark.parametrize(
    ("algorithm", "given", "variances"),
    [
        ("guro-hybrid", {}, (None, None)),
        ("guro-hybrid-factored", {}, (None, None)),
        ("colstim-contextual:500", {}, (None, None)),
        ("guro-independent", {}, (None, None)),
        ("guro-hybrid", {"coefficient_variance": 0.5}, (0.5, 1.0)),
        ("guro-hybrid-factored", {"item_variance": 3}, (2.0, 3.0)),
        ("colstim-contextual:500", {"coefficient_variance": 2}, (2.0, None)),
        ("guro-independent", {"item_variance": 0.5}, (None, 0.5)),
        ("guro-hybrid", {"renew_covariance": False}, (2.0, 1.0)),
        ("bayes-guro-hybrid-sequential", {}, (2.0, 1.0)),
        ("bald-contextual-sequential", {}, (2.0, None)),
        ("trueskill", {}, (None, None)),
    ],
)
def test_a_study_stores_prior_variances_unless_they_are_fitted_to_the_answers(
    algorithm: str, given: dict[str, Any], variances: tuple[float | None, float | None]
) -> None:
    settings = Study.create(ITEMS, algorithm=algorithm, **given).settings
    assert (settings.coefficient_variance, settings.item_variance) == variances


def test_prior_variances_are_those_of_the_scores(storage: str | None) -> None:
    """Before any answer the score of an item is x theta + zeta, of variance |x|^2 c + t."""
    items = Items(["a", "b", "c"], np.array([[3.0, 4.0], [0.0, 0.0], [0.0, 1.0]]))
    given: dict[str, Any] = {"scaling": "none", "coefficient_variance": 0.25, "item_variance": 3.0, "random": 0.0}
    with Study.create(items, storage=storage, **given) as study:
        left, right = study.ask().left, study.ask().right
        assert {left, right} == {"a", "b"}, "the pair of the largest variance"
        ordering = study.ordering()
    contrast = items.features - items.features.mean(axis=0)
    variance = 0.25 * np.square(contrast).sum(axis=1) + 3.0 * 2.0 / 3.0
    errors = dict(zip(ordering.ids, ordering.standard_errors, strict=True))
    np.testing.assert_allclose([errors[item] for item in items.ids], np.sqrt(variance))


@pytest.mark.parametrize("algorithm", ["guro-contextual", "guro-hybrid", "guro-hybrid-factored"])
def test_an_offset_of_features_that_are_not_scaled_changes_nothing(algorithm: str) -> None:
    rng = np.random.default_rng(0)
    features = np.round(rng.normal(size=(12, 3)), 3)
    rows = [(str(left), str((left + step) % 12)) for left, step in rng.integers(1, 12, (40, 2))]
    made = []
    for offset in (0.0, 1e7):
        study = Study.create(Items([str(k) for k in range(12)], features + offset), algorithm=algorithm, scaling="none")
        study.record([Comparison(left, right, "left") for left, right in rows])
        ordering = study.ordering()
        made.append((ordering.ids, study.expected_error(), [*ordering.scores, *ordering.standard_errors]))
    assert made[0][0] == made[1][0]
    assert made[0][1] == pytest.approx(made[1][1], abs=1e-6)
    np.testing.assert_allclose(made[0][2], made[1][2], atol=1e-5)


def test_features_that_are_not_scaled_and_would_overflow_are_refused(storage: str | None) -> None:
    items = Items(["a", "b", "c"], np.array([[1e155], [0.0], [1.0]]))
    with pytest.raises(InvalidInput, match="feature column 1 runs from 0 to 1e"):
        Study.create(items, scaling="none", storage=storage)
    assert Study.create(items).ask()
    with Study.create(Items(["b", "c"], np.array([[0.0], [1.0]])), scaling="none", storage=storage) as study:
        with pytest.raises(InvalidInput, match="too far apart"):
            study.add_items(Items(["a"], np.array([[1e155]])))
        assert study.items.ids == ("b", "c")


@pytest.mark.parametrize(
    "items", [Items([]), Items(["a"]), Items(["a", "b"], group=["x", "y"]), Items(["a"], np.ones((1, 4)))]
)
def test_a_study_needs_two_items_to_compare(items: Items, storage: str | None, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="at least two items"):
        Study.create(items, storage=storage)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("columns", [0, 1])
def test_thousands_of_items_have_an_algorithm_without_a_full_covariance(columns: int) -> None:
    def default(count: int) -> str:
        return algorithms.default_algorithm(Items([str(k) for k in range(count)], np.zeros((count, columns))))

    assert default(5_000) == ("guro-hybrid" if columns else "guro-independent")
    assert default(5_001) == "guro-hybrid-factored"


def test_a_full_covariance_is_refused_above_twenty_thousand_items() -> None:
    algorithms.require_size("guro-independent", 20_000)
    with pytest.raises(InvalidInput, match="3 GB for 20,001 items; above 20,000 take guro-hybrid-factored"):
        algorithms.require_size("guro-independent", 20_001)
    algorithms.require_size("guro-contextual", 20_001)


# Asking ----------------------------------------------------------------------------------------------------------


def test_the_same_query_comes_until_it_is_closed(study: Study) -> None:
    query = study.ask()
    assert study.ask() == query
    study.tell(query.id, "left")
    assert study.ask().id != query.id
    assert study.comparisons() == [Comparison(query.left, query.right, "left")]


def test_a_count_tops_up_the_open_queries(study: Study) -> None:
    first = study.ask("Ann", 2)
    more = study.ask("Ann", 5)
    assert more[:2] == first
    assert len({pair(query) for query in more}) == 5
    assert study.ask("Ann", count=3) == more[:3]
    assert study.ask("Ann") == more[0]
    assert study.open_queries() == more
    assert study.ask(count=1)[0].annotator is None


@pytest.mark.parametrize("count", [0, -1, 1.5, "3"])
def test_a_count_is_a_positive_whole_number(study: Study, count: Any) -> None:
    with pytest.raises(InvalidInput, match="count must be"):
        study.ask(count=count)


def test_nobody_gets_a_pair_that_is_open_for_another(study: Study) -> None:
    queries = [query for who in ("Ann", "Bob", None) for query in study.ask(who, 20)]
    assert len({pair(query) for query in queries}) == 60


@pytest.mark.parametrize("name", algorithms.ALGORITHMS)
def test_pairs_run_out_in_the_stated_order(name: str) -> None:
    study = Study.create(Items(["a", "b", "c"], np.eye(3)), algorithm=name)
    seen = set()
    for answer in ("left", "skip", "tie"):
        query = study.ask("Ann")
        seen.add(pair(query))
        study.tell(query.id, answer)
    assert len(seen) == 3, "new pairs first"
    assert len({pair(query) for query in study.ask("Ann", 2)}) == 2, "then own ones again"
    (of_bob,) = study.ask("Bob", 1)
    assert pair(of_bob) not in {pair(query) for query in study.ask("Ann", 2)}
    assert len(study.ask("Ann", 10)) == 3, "then what others have open; fewer than wanted where no more are left"
    assert len(study.ask("Bob", 10)) == 3
    for query in study.ask("Ann", 3):
        study.withdraw(query.id)
    assert pair(study.ask("Ann")) <= {"a", "b", "c"}


def test_an_empty_pool_is_an_error(study: Study) -> None:
    for item in IDS[1:]:
        study.exclude_item(item)
    with pytest.raises(PoolExhausted, match="no pair is left to ask; add or include items"):
        study.ask()
    with pytest.raises(PoolExhausted):
        study.ask(count=4)


def test_groups_are_never_mixed(storage: str | None) -> None:
    group = ["x", "y", "z", "x"] * 3
    with Study.create(Items(IDS, FEATURES, group=group), storage=storage) as study:
        queries = study.ask(count=100)
        assert len(queries) == 15 + 3 + 3
        of = dict(zip(IDS, group, strict=True))
        assert all(of[query.left] == of[query.right] for query in queries)


def test_among_allows_the_listed_pairs_alone(study: Study) -> None:
    study.ask()
    listed = study.pairs([IDS[0], IDS[3], IDS[5], IDS[1]], [IDS[1], IDS[4], IDS[2], IDS[0]])
    assert listed.size == 3
    queries = study.ask("Ann", 10, among=listed)
    assert {pair(query) for query in queries} == {
        frozenset((IDS[0], IDS[1])),
        frozenset((IDS[3], IDS[4])),
        frozenset((IDS[2], IDS[5])),
    }
    other = study.pairs([IDS[7]], [IDS[8]])
    assert pair(study.ask("Ann", among=other)) == {IDS[7], IDS[8]}, "an open query outside the list does not count"
    study.exclude_item(IDS[0])
    assert len(study.ask("Ann", 10, among=listed)) == 2
    with pytest.raises(PoolExhausted, match=r"none of the given pairs is left to ask; .*give others"):
        study.ask("Bob", among=study.pairs([], []))


def test_wrong_pairs_are_refused(study: Study) -> None:
    with pytest.raises(UnknownItem, match="'nobody'"):
        study.pairs([IDS[0]], ["nobody"])
    with pytest.raises(InvalidInput, match="paired with itself"):
        study.pairs([IDS[0]], [IDS[0]])
    with pytest.raises(InvalidInput, match="2 left ids and 1 right ids"):
        study.pairs(IDS[:2], IDS[:1])


def test_the_screen_side_is_random_and_the_seed_decides() -> None:
    def sides(seed: int) -> list[tuple[str, str]]:
        study = Study.create(ITEMS, algorithm="uniform-independent", seed=seed)
        return [(query.left, query.right) for query in study.ask(count=60)]

    assert sides(1) == sides(1)
    assert sides(1) != sides(2)
    swapped = sum(left > right for left, right in sides(1))
    assert 15 < swapped < 45


def test_a_choice_depends_on_the_number_of_the_query_and_not_on_the_rest_of_the_log() -> None:
    calm, busy = (Study.create(ITEMS, algorithm="uniform-independent") for _ in range(2))
    busy.exclude_item(IDS[0])
    busy.include_item(IDS[0])
    assert [query[1:] for query in calm.ask(count=10)] == [query[1:] for query in busy.ask(count=10)]


# Telling ---------------------------------------------------------------------------------------------------------


def test_a_second_answer_is_refused(study: Study) -> None:
    query = study.ask("Ann")
    study.tell(query.id, "skip")
    for again in (lambda: study.tell(query.id, "left"), lambda: study.withdraw(query.id)):
        with pytest.raises(AlreadyAnswered, match=rf"'{query.id}' is answered already \(skip\)"):
            again()
    withdrawn = study.ask("Ann")
    study.withdraw(withdrawn.id)
    for again in (lambda: study.tell(withdrawn.id, "left"), lambda: study.withdraw(withdrawn.id)):
        with pytest.raises(AlreadyAnswered, match="was withdrawn"):
            again()
    assert study.comparisons() == []


@pytest.mark.parametrize(
    "change",
    [
        lambda query_id: "",
        lambda query_id: "17",
        lambda query_id: query_id + "0",
        lambda query_id: query_id.replace("-", "-0"),
        lambda query_id: query_id.replace("-1", "-0"),
        lambda query_id: query_id.replace("-1", "--1"),
        lambda query_id: query_id.replace("-1", "-²"),
        lambda query_id: query_id.replace("-1", "-" + "9" * 5000),
        lambda query_id: " " + query_id,
    ],
)
def test_an_unknown_query_is_refused_by_name(study: Study, change: Callable[[str], str]) -> None:
    wrong = change(study.ask().id)
    for use in (lambda: study.tell(wrong, "left"), lambda: study.withdraw(wrong)):
        with pytest.raises(UnknownQuery, match="unknown query '"):
            use()


def test_a_query_of_another_study_is_refused(study: Study) -> None:
    other = Study.create(ITEMS)
    study.ask()
    with pytest.raises(UnknownQuery, match="it is of another study"):
        study.tell(other.ask().id, "left")


@pytest.mark.parametrize("answer", ["LEFT", "", None, "item 01", 1])
def test_an_unknown_answer_is_refused(study: Study, answer: Any) -> None:
    query = study.ask()
    with pytest.raises(InvalidInput, match=r"unknown answer .* left, right, tie, left-much.*, skip"):
        study.tell(query.id, answer)
    assert study.open_queries() == [query]


def test_undo_reopens_the_newest_query_of_that_annotator(study: Study) -> None:
    of_ann, of_bob = study.ask("Ann", 3), study.ask("Bob")
    for query in of_ann:
        study.tell(query.id, "left")
    study.tell(of_bob.id, "tie")
    assert study.undo("Ann") == of_ann[2]
    assert study.undo("Ann") == of_ann[1]
    assert study.ask("Ann", 2) == of_ann[1:]
    study.tell(of_ann[1].id, "right")
    assert study.undo("Ann") == of_ann[1]
    assert study.undo("Ann") == of_ann[0]
    with pytest.raises(NothingToUndo, match="'Ann'"):
        study.undo("Ann")
    with pytest.raises(NothingToUndo):
        study.undo()
    assert study.comparisons() == [Comparison(of_bob.left, of_bob.right, "tie", "Bob")]
    assert study.annotators() == {"Bob": 1}


def test_an_empty_annotator_is_nobody(study: Study) -> None:
    query = study.ask("")
    assert study.ask() == query
    study.tell(query.id, "left")
    assert study.annotators() == {None: 1}
    assert study.undo("") == query


# Recording -------------------------------------------------------------------------------------------------------

RECORDED = [
    Comparison(IDS[0], IDS[1], "left", "Ann"),
    Comparison(IDS[2], IDS[3], "tie", None),
    Comparison(IDS[1], IDS[0], "right", "Bob"),
]
TABLE = {
    "left": [IDS[0], IDS[2], IDS[1]],
    "right": [IDS[1], IDS[3], IDS[0]],
    "winner": ["left", "tie", IDS[0]],
    "annotator": ["Ann", None, "Bob"],
}


@pytest.mark.parametrize(
    "given",
    [RECORDED, iter(RECORDED), [tuple(one) for one in RECORDED], pd.DataFrame(TABLE), pl.DataFrame(TABLE)],
    ids=["list", "iterator", "tuples", "pandas", "polars"],
)
def test_many_comparisons_in_any_form(given: Any) -> None:
    study = Study.create(ITEMS)
    assert study.record(given) == 3
    assert study.comparisons() == RECORDED
    assert study.annotators() == {"Ann": 1, None: 1, "Bob": 1}


def test_one_comparison_or_none(study: Study) -> None:
    assert study.record(RECORDED[0]) == 1
    assert study.record([]) == 0
    assert study.comparisons() == RECORDED[:1]


@pytest.mark.parametrize(
    ("wrong", "error", "words"),
    [
        (Comparison(IDS[0], "nobody", "left"), UnknownItem, "no item 'nobody'"),
        (Comparison(IDS[0], IDS[0], "left"), InvalidInput, "compared with itself"),
        (Comparison("", IDS[0], "left"), InvalidInput, "id of the left item is empty"),
        (Comparison(IDS[0], IDS[1], "perhaps"), InvalidInput, "unknown winner 'perhaps'"),  # type: ignore[arg-type]
        (Comparison(IDS[0], IDS[1], "skip"), InvalidInput, "unknown winner 'skip'"),  # type: ignore[arg-type]
    ],
)
def test_a_wrong_comparison_is_named_and_nothing_is_recorded(
    study: Study, wrong: Comparison, error: type[InvalidInput], words: str
) -> None:
    with pytest.raises(error, match=rf"^(?!row).*{words}"):
        study.record(wrong)
    with pytest.raises(error, match=rf"^row 4: .*{words}"):
        study.record([*RECORDED, wrong])
    assert study.comparisons() == []


@pytest.mark.parametrize("wrong", [17, [17], [("a",)], "ab", [tuple("abcde")], None])
def test_what_is_no_comparison_is_refused(study: Study, wrong: Any) -> None:
    with pytest.raises(InvalidInput):
        study.record(wrong)


def test_items_of_two_groups_are_not_compared(storage: str | None) -> None:
    with Study.create(Items(["a", "b", "c"], group=["x", "x", "y"]), storage=storage) as study:
        with pytest.raises(InvalidInput, match=r"row 2: item 'a' is in group 'x' and 'c' in 'y'"):
            study.record([Comparison("a", "b", "left"), Comparison("a", "c", "left")])
        assert study.comparisons() == []


# Adding and leaving out ------------------------------------------------------------------------------------------


def test_added_items_are_asked_about_and_ordered(study: Study) -> None:
    before = study.ask(count=3)
    study.add_items(Items(["new"], np.array([[9.0, -9.0, 9.0]])))
    assert study.items.ids == (*IDS, "new")
    assert study.ask(count=3) == before
    assert "new" in study.ordering().ids
    assert len(study.scores()) == 13
    study.record(Comparison("new", IDS[0], "left"))
    study.add_items(Items([]))
    assert any("new" in pair(query) for query in study.ask(count=75))


def test_items_that_do_not_fit_are_refused_and_nothing_is_added(study: Study) -> None:
    with pytest.raises(InvalidInput, match="'item 03' already"):
        study.add_items(Items(["new", "item 03"], np.ones((2, 3))))
    with pytest.raises(InvalidInput, match="2 feature columns"):
        study.add_items(Items(["new"], np.ones((1, 2))))
    assert study.items.ids == ITEMS.ids


def test_an_excluded_item_leaves_and_comes_back(study: Study) -> None:
    study.record([Comparison(IDS[0], IDS[1], "left"), Comparison(IDS[2], IDS[1], "left")])
    queries = study.ask(count=10)
    ordering, error = study.ordering(), study.expected_error()
    study.exclude_item(IDS[0])
    study.exclude_item(IDS[0])
    assert list(study.excluded_items) == [IDS[0]]
    assert len(study.comparisons()) == 1
    assert IDS[0] not in study.ordering().ids
    assert study.expected_error() != error
    assert study.open_queries() == [query for query in queries if IDS[0] not in pair(query)]
    study.include_item(IDS[0])
    study.include_item(IDS[0])
    assert study.excluded_items == ()
    assert study.open_queries() == queries
    assert study.ordering().ids == ordering.ids
    assert study.ordering().scores.tolist() == ordering.scores.tolist()
    for use in (study.exclude_item, study.include_item):
        with pytest.raises(UnknownItem, match="'nobody'"):
            use("nobody")


def test_an_answer_to_a_query_of_an_excluded_item_is_kept_for_later(study: Study) -> None:
    query = study.ask()
    study.exclude_item(query.left)
    study.tell(query.id, "left")
    assert study.comparisons() == []
    study.include_item(query.left)
    assert study.comparisons() == [Comparison(query.left, query.right, "left")]


def test_an_excluded_annotator_leaves_and_comes_back(study: Study) -> None:
    study.record(RECORDED)
    query = study.ask("Ann")
    study.exclude_annotator("Ann")
    assert study.excluded_annotators == ("Ann",)
    assert study.comparisons() == RECORDED[1:]
    assert study.open_queries() == []
    with pytest.raises(InvalidInput, match="'Ann' is excluded"):
        study.ask("Ann")
    study.include_annotator("Ann")
    assert study.comparisons() == RECORDED
    assert study.ask("Ann") == query
    for use in (study.exclude_annotator, study.include_annotator):
        with pytest.raises(InvalidInput, match="no annotator 'Anne'"):
            use("Anne")


# The result ------------------------------------------------------------------------------------------------------


def test_answers_lead_to_the_true_order(study: Study) -> None:
    errors = [study.expected_error()]
    for _ in range(30):
        query = study.ask()
        study.tell(query.id, right_answer(query))
    errors.append(study.expected_error())
    ordering = study.ordering()
    truth = [TRUTH[item] for item in ordering.ids]
    wrong = sum(truth[i] < truth[j] for i in range(12) for j in range(i + 1, 12))
    assert wrong <= 6, "of 66 pairs"
    assert errors[0] == pytest.approx(0.5)
    assert errors[1] < 0.25
    assert ordering.scores.tolist() == sorted(ordering.scores, reverse=True)
    assert ordering.scores.sum() == pytest.approx(0, abs=1e-9)
    assert (ordering.standard_errors > 0).all()
    by_id = dict(zip(ordering.ids, ordering.scores, strict=True))
    scores = study.scores()
    assert [by_id[item] for item in IDS] == pytest.approx(scores - scores.mean())


def test_groups_are_ordered_one_after_another(storage: str | None) -> None:
    with Study.create(Items(["a", "b", "c", "d"], group=["y", "x", "x", "y"]), storage=storage) as study:
        study.record([Comparison("a", "d", "right"), Comparison("b", "c", "right")])
        ordering = study.ordering()
        assert ordering.ids == ("d", "a", "c", "b")
        assert ordering.group == ("y", "y", "x", "x")
        assert ordering.ranks.tolist() == [1, 2, 1, 2]
        study.exclude_item("d")
        assert study.ordering().ids == ("a", "c", "b")


def test_given_items_are_placed_by_what_is_known_or_by_their_features(study: Study) -> None:
    study.record([Comparison(*((a, b) if TRUTH[a] > TRUTH[b] else (b, a)), "left") for a in IDS for b in IDS if a < b])
    own = study.ordering()
    assert study.ordering(ITEMS).ids == own.ids
    assert study.ordering(ITEMS).scores.tolist() == own.scores.tolist()
    direction = np.array([1.0, -2.0, 0.5])
    placed = study.ordering(Items(["worst", IDS[3], "best"], np.array([-9 * direction, 0 * direction, 9 * direction])))
    assert placed.ids == ("best", IDS[3], "worst")
    assert placed.scores[1] == own.scores[own.ids.index(IDS[3])]
    study.exclude_item(IDS[3])
    (score,) = study.ordering(ITEMS.take([3])).scores
    assert np.isfinite(score)
    with pytest.raises(InvalidInput, match="1 feature columns"):
        study.ordering(Items(["a"], np.array([[1.0]])))
    assert len(study.ordering(Items([], np.empty((0, 3))))) == 0


def test_items_without_features_can_be_placed_too() -> None:
    study = Study.create(Items(["a", "b"]))
    study.record(Comparison("a", "b", "left"))
    assert study.ordering(Items(["b", "new", "a"])).ids == ("a", "new", "b")


def test_nothing_left_to_order(study: Study) -> None:
    for item in IDS:
        study.exclude_item(item)
    assert len(study.ordering()) == 0
    assert np.isnan(study.expected_error())
    study.include_item(IDS[0])
    assert study.ordering().ids == (IDS[0],)


def test_another_study_on_the_file_sees_everything_at_once(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'study.db'}"
    with Study.create(ITEMS, storage=url) as one, Study.open(url) as other:
        query = one.ask("Ann")
        assert other.ask("Ann") == query
        other.tell(query.id, "left")
        assert one.comparisons() == [Comparison(query.left, query.right, "left", "Ann")]
        with pytest.raises(AlreadyAnswered):
            one.tell(query.id, "left")
        other.add_items(Items(["new"], np.ones((1, 3))))
        one.exclude_item("new")
        assert other.excluded_items == ("new",)
        assert other.undo("Ann") == query
        assert one.open_queries() == [query]


def test_a_choice_is_repeated_when_another_wrote_meanwhile(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'study.db'}"
    with Study.create(ITEMS, storage=url) as one, Study.open(url) as other:
        choices = []

        class Overtaken(PairList):
            """During the first three choices another process writes; the fourth is made inside the transaction."""

            def within(self, group: Integers) -> PairList:
                choices.append(len(other.comparisons()))
                if len(choices) <= 3:
                    other.record(RECORDED[0])
                return super().within(group)

        query = one.ask(among=Overtaken.of(*np.triu_indices(len(ITEMS), 1)))
        assert choices == [0, 1, 2, 3]
        assert other.open_queries() == [query]
        assert len(one.comparisons()) == 3


def test_an_interrupt_while_entries_are_taken_in_loses_nothing(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    study.record(RECORDED)
    apply = study._ledger._state.apply

    def interrupted(entries: Any, items: Any) -> None:
        apply(entries[:1], items)
        raise KeyboardInterrupt

    monkeypatch.setattr(study._ledger._state, "apply", interrupted)
    with pytest.raises(KeyboardInterrupt):
        study.record(RECORDED)
    assert study.comparisons() == RECORDED, "the call failed, so none of its entries count"


def test_unnamed_answers_cannot_be_excluded_and_nothing_reaches_the_log(tmp_path):
    url = f"sqlite:///{tmp_path / 'study.db'}"
    study = Study.create(Items(["a", "b", "c"]), storage=url)
    study.tell(study.ask().id, "left")
    for name in study.annotators():
        with pytest.raises(InvalidInput, match="without a name"):
            study.exclude_annotator(name)  # type: ignore[arg-type]  # None: refused
    assert len(Study.open(url).comparisons()) == 1


def test_an_entry_that_cannot_be_taken_in_is_not_stored(tmp_path, monkeypatch):
    url = f"sqlite:///{tmp_path / 'study.db'}"
    study = Study.create(Items(["a", "b", "c"]), storage=url)
    query = study.ask()

    def fails(self, entries, items):
        raise ZeroDivisionError

    with monkeypatch.context() as broken:
        broken.setattr("ordinate.study.fold.State.apply", fails)
        with pytest.raises(ZeroDivisionError):
            study.tell(query.id, "left")
    assert study.comparisons() == Study.open(url).comparisons() == []
    study.tell(query.id, "left")
    assert len(Study.open(url).comparisons()) == 1


@pytest.mark.parametrize("storage", [None, "sqlite"])
@pytest.mark.parametrize("name", ["\0", "a\ud800", b"x", ["l"]])
def test_names_that_are_no_text_are_refused_alike(storage, name, tmp_path):
    url = storage and f"sqlite:///{tmp_path / 'study.db'}"
    study = Study.create(Items(["a", "b"]), storage=url)
    with pytest.raises(InvalidInput, match="annotator's name"):
        study.ask(name)
    with pytest.raises(InvalidInput, match="question"):
        Study.create(Items(["a", "b"]), question=name)


def test_a_known_item_in_another_group_is_refused_by_name():
    study = Study.create(Items(list("abcd"), group=list("gghh")))
    study.record([Comparison("a", "b", "left")] * 9)
    with pytest.raises(InvalidInput, match="'a' is in another group"):
        study.ordering(Items(["z", "a"], group=["h", "h"]))


def test_the_basis_of_the_results_changes_with_what_counts_alone(study: Study) -> None:
    seen = [study.progress(None).basis]

    def is_new() -> bool:
        seen.append(study.progress(None).basis)
        return seen[-1] not in seen[:-1]

    query = study.ask("Ann")
    assert not is_new()
    study.tell(query.id, "left")
    assert is_new()
    study.tell(study.ask("Ann").id, "skip")
    assert not is_new()
    study.undo("Ann")
    assert not is_new()
    study.undo("Ann")
    study.tell(query.id, "right")
    assert is_new(), "as many answers, but others"
    for change in (
        lambda: study.exclude_annotator("Ann"),
        lambda: study.include_annotator("Ann"),
        lambda: study.exclude_item(query.left),
        lambda: study.include_item(query.left),
        lambda: study.set_rules(cuts=(1,)),
        lambda: study.record([(query.left, query.right, "left")]),
    ):
        change()
        assert is_new()


def test_undo_without_a_name_says_who_has_answers():
    study = Study.create(Items(["a", "b", "c"]))
    study.tell(study.ask("ada").id, "left")
    with pytest.raises(NothingToUndo, match=r"without a name.*'ada'"):
        study.undo()


def test_items_alike_to_the_model_count_half_in_the_expected_error_and_share_a_score():
    rng = np.random.default_rng(2)
    kinds = rng.normal(size=(2, 6))
    features = kinds[rng.integers(0, 2, 37)]
    items = Items([f"i{k:03d}" for k in range(37)], features=features)
    study = Study.create(items, algorithm="guro-contextual", coefficient_variance=2.0)
    first, other = 0, int(np.flatnonzero((features != features[0]).any(axis=1))[0])
    study.record([Comparison(f"i{first:03d}", f"i{other:03d}", "left")] * 300)
    alike = sum(int(np.sum((features[k + 1 :] == features[k]).all(axis=1))) for k in range(37))
    assert len(set(study.scores().tolist())) == 2
    assert study.expected_error() == pytest.approx(0.5 * alike / (37 * 36 / 2), abs=2e-3)


def test_threads_may_share_a_study(study: Study) -> None:
    def judge(name: str) -> None:
        for _ in range(15):
            study.tell(study.ask(name).id, "left")

    with ThreadPoolExecutor(6) as people:
        list(people.map(judge, "abcdef"))
    assert study.annotators() == dict.fromkeys("abcdef", 15)


def test_what_is_no_item_and_no_rule_is_refused():
    items = Items(["a", "b", "c"])
    with pytest.raises(InvalidInput, match=r"rules are given by name, such as .*, not as 5"):
        Study.create(items, rules=5)  # type: ignore[arg-type]
    with Study.create(items) as study, pytest.raises(InvalidInput, match=r"what is ordered are Items, .* not str"):
        study.ordering("a")  # type: ignore[arg-type]
