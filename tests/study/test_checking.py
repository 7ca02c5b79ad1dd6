"""The verdict on a study: its sentence, and when the expected error is withheld."""

from typing import Any

import numpy as np
import pytest

from ordinate.data.items import Items
from ordinate.data.ordering import REACH, Interval
from ordinate.learning.checks import Finding
from ordinate.learning.checks.table import CHECKS
from ordinate.learning.error_spread import doubt, error_interval, error_spread
from ordinate.learning.ranks import draw_scores
from ordinate.study.checking import sentence
from ordinate.study.study import Study

FEATURES = np.random.default_rng(0).normal(size=(20, 3))
SCORES = FEATURES.sum(axis=1) + np.random.default_rng(1).normal(size=20)


def answered(times: int, blind: bool = False, **options: Any) -> Study:
    study = Study.create(Items([f"item {row:02}" for row in range(20)], FEATURES), **options)
    rng = np.random.default_rng(2)
    for number in range(times):
        query = study.ask(f"somebody {number % 4}")
        margin = 0.0 if blind else 1.5 * (SCORES[study.row(query.left)] - SCORES[study.row(query.right)])
        study.tell(query.id, "left" if rng.random() < 1.0 / (1.0 + np.exp(-margin)) else "right")
    return study


def test_without_answers_nothing_runs() -> None:
    study = answered(0)
    verdict = study.check()
    assert {row.state for row in verdict.rows} == {"not run"}
    assert [row.check for row in verdict.rows] == list(CHECKS)
    assert verdict.error is None
    assert verdict.withheld == study.reliability().withheld == "there are no answers yet"
    assert study.connection() is None


def test_what_withholds_the_error_is_looked_at_again_after_each_answer() -> None:
    def doubts() -> list[str]:
        return [row.check for row in study.check().failed if CHECKS[row.check].withholds]

    study = answered(80, blind=True, random=0.3)
    assert study.reliability().withheld is not None
    assert doubts()
    pairs = [(left, right) for left in range(20) for right in range(20) if SCORES[left] > SCORES[right]]
    names = study.items.ids
    study.record([(names[left], names[right], "left") for left, right in pairs])
    study.record([(names[left], names[right], "left") for left, right in pairs])
    assert (study.reliability().withheld is None) == (not doubts())
    study.set_rules(random=0.0)
    assert (study.reliability().withheld is None) == (not doubts())
    assert study.reliability().withheld == study.check().withheld


def test_of_sensible_answers_it_states_the_error_with_its_interval() -> None:
    study = answered(200, random=0.3)
    verdict = study.check()
    assert not verdict.failed, verdict.failed
    stated = study.reliability()
    assert stated.withheld is None
    assert verdict.error == Interval(stated.expected_error, stated.error_low, stated.error_high)
    assert stated.fields() == stated._asdict()
    assert verdict.sentence.startswith("This order can be relied on")
    assert verdict == study.check(), "the simulations have a seed"
    assert {one.name: one.answers for one in verdict.annotators} == study.annotators()
    assert sum(one.answers for one in verdict.calibration) > 20


def test_of_coin_tosses_no_error_is_stated() -> None:
    study = answered(80, blind=True, random=0.3)
    verdict = study.check()
    assert study.reliability().withheld == study.forecast().withheld == verdict.withheld
    assert verdict.withheld == "the answers cannot be told from coin tosses yet"
    assert verdict.sentence == "Do not rely on this order yet: the answers cannot be told from coin tosses."
    assert verdict.error is None
    assert verdict.fields()["expected_error"] is None


def test_of_a_contextual_study_whose_features_miss_something_no_error_is_stated() -> None:
    study = answered(240, algorithm="guro-contextual", random=0.3)
    verdict, stated = study.check(), study.reliability()
    assert verdict.withheld == stated.withheld == study.forecast().withheld
    assert str(stated.withheld).startswith("the features miss something that people see: the true error is larger than")
    assert stated.better_than_coins
    assert stated.expected_error == study.expected_error()
    withheld = dict.fromkeys(("expected_error", "error_low", "error_high"))
    assert stated.fields() == {"better_than_coins": True, **withheld, "withheld": stated.withheld}
    assert study.forecast().more_answers is None
    assert "features suffice" in [row.check for row in verdict.failed]
    assert verdict.error is None
    assert verdict.sentence.startswith("Do not rely on the figures of this order: ")
    # No figure that is withheld finishes a study, and the share found for an aim presumes as much.
    study.set_rules(target=0.3, cuts=[10], misplaced=0.4, aim="top:4")
    assert stated.error_high < 0.3
    ordering, selection, forecast = study.ordering(), study.selection(), study.forecast_of_aim()
    assert ordering.grades is not None
    assert ordering.grades.misplaced.high < 0.4
    assert ordering.grades.withheld == stated.withheld
    assert [row["misplaced"] for row in ordering.grades.rows()] == [None, None]
    assert study.rule_met() is None
    study.ask("somebody")
    assert study.finished is None
    assert selection is not None
    assert forecast is not None
    assert ordering.selection is not None
    assert selection.right is ordering.selection.right is None
    assert selection.withheld == forecast.withheld == stated.withheld


@pytest.mark.parametrize(
    "algorithm", ["guro-independent", "guro-hybrid-factored", "trueskill", "bald-paper-hybrid-sequential"]
)
def test_every_kind_of_model_is_checked(algorithm: str) -> None:
    study = answered(100, algorithm=algorithm, random=0.3)
    states = {row.check: row.state for row in study.check().rows}
    assert states["annotators fit"] == "passed"
    has_prior = algorithm in ("guro-independent", "guro-hybrid-factored")
    assert (states["firm top"] != "not run") == has_prior


def test_ties_excluded_items_and_groups() -> None:
    group = ["one"] * 10 + ["two"] * 10
    study = Study.create(Items([f"item {row:02}" for row in range(20)], FEATURES, group=group))
    for number in range(60):
        query = study.ask(f"somebody {number % 3}")
        study.tell(query.id, "tie" if number % 3 else "left")
    study.exclude_item("item 03")
    assert study.check().rows[0].value == pytest.approx(len(study.comparisons()) / 19)


def test_the_first_items_are_those_that_are_wanted() -> None:
    study = answered(60, algorithm="guro-independent")
    (row,) = [row for row in study.check().rows if row.check == "firm top"]
    assert "among the first 10" in row.found
    study.set_rules(aim="top:3")
    (row,) = [row for row in study.check().rows if row.check == "firm top"]
    assert "among the first 3" in row.found
    study.set_rules(aim="bottom:3")
    (row,) = [row for row in study.check().rows if row.check == "firm top"]
    assert f"among the first {len(study.items) - 3}" in row.found


def test_why_a_top_that_rests_on_one_answer_passes() -> None:
    (row,) = [row for row in answered(180, algorithm="guro-independent").check().rows if row.check == "firm top"]
    assert (row.state, row.value, row.threshold) == ("passed", 1.0, 1.8)
    assert row.found.endswith("do not separate these two with 90 % probability, so no order of them is claimed.")


def found(*failed: str) -> dict[str, Finding]:
    return {name: Finding("failed" if name in failed else "passed", 1.0, 1.0, "There is this.") for name in CHECKS}


def test_the_sentence_names_what_matters_most() -> None:
    error = Interval(0.123, 0.1, 0.15)
    assert sentence(found(), error) == (
        "This order can be relied on as far as its intervals say: no check failed, and about 12 % of the pairs are "
        "likely to be in the wrong order."
    )
    assert sentence(found("enough answers", "items fit"), error) == (
        "It is too early to rely on this order: there is this."
    )
    assert sentence(found("items fit", "no drift"), error) == (
        "Use this order with care: 2 of 14 checks failed (items fit, no drift); about 12 % of the pairs are likely to "
        "be in the wrong order."
    )
    assert sentence(found("features suffice"), None) == "Do not rely on the figures of this order: there is this."
    assert sentence(found("better than coins", "features suffice"), None).startswith("Do not rely on this order yet")


def test_without_random_pairs_the_sentence_says_what_it_presumes() -> None:
    verdict = answered(150, random=0.0).check()
    assert "better than coins" in [row.check for row in verdict.rows if row.state == "not run"]
    assert "if people answered sensibly" in verdict.sentence
    assert "if people answered sensibly" not in answered(200, random=0.3).check().sentence


def test_recorded_coin_tosses_are_told_whatever_is_asked_besides() -> None:
    study, rng = answered(0, random=0.0), np.random.default_rng(3)
    pairs = [rng.choice(20, 2, replace=False) for _ in range(60)]
    names = study.items.ids
    study.record([(names[left], names[right], "left" if rng.random() < 0.5 else "right") for left, right in pairs])
    assert study.reliability().better_than_coins is False
    for _ in range(61):
        study.tell(study.ask("Ann").id, "skip")
    for _ in range(61):
        study.tell(study.ask("Bob").id, "left")
    study.exclude_annotator("Bob")
    assert study.reliability().better_than_coins is False


def test_coin_tosses_that_are_stored_several_times_are_still_told() -> None:
    study, rng = answered(0, random=0.3), np.random.default_rng(4)
    names, given = study.items.ids, []
    pairs = [(left, right) for left in range(20) for right in range(left)]
    for person in range(3):
        for place in rng.choice(len(pairs), 70, replace=False):
            left, right = (names[row] for row in pairs[place])
            given += 5 * [(left, right, "left" if rng.random() < 0.5 else "right", f"person {person}")]
    study.record([given[place] for place in rng.permutation(len(given))])
    assert study.reliability().better_than_coins is False


def tosses(each: int, again: int, names: list[str | None]) -> list[tuple[str, str, str, str | None]]:
    """Of each of these people: pairs, of which some come twice."""
    rng = np.random.default_rng(5)
    pairs = [(left, right) for left in range(20) for right in range(left)]
    given = []
    for name in names:
        places = rng.choice(len(pairs), each, replace=False)
        for place in [*places, *places[:again]]:
            left, right = (f"item {row:02}" for row in pairs[place])
            given.append((left, right, "left" if rng.random() < 0.5 else "right", name))
    return given


@pytest.mark.parametrize("names", [["Ann"], [None], ["Ann", "Bob", "Cyd", "Dan"]])
@pytest.mark.parametrize("again", [0, 1, 3])
def test_coin_tosses_in_a_file_that_was_recorded_several_times_open_no_gate(
    names: list[str | None], again: int
) -> None:
    study = answered(0)
    study.record(tosses(120 // len(names), again, names) * 6)
    assert study.reliability().better_than_coins is False
    assert not any(one.better_than_coins for one in study.annotator_quality().people)


def test_answers_of_many_people_without_names_to_the_same_pairs_are_all_bet_on() -> None:
    study, rng = answered(0), np.random.default_rng(6)
    names, given = study.items.ids, []
    for left, right in zip(range(19), range(1, 20), strict=True):
        chance = 1.0 / (1.0 + np.exp(SCORES[right] - SCORES[left]))
        given += [(names[left], names[right], "left" if rng.random() < chance else "right") for _ in range(20)]
    study.record(given)
    assert study.reliability().better_than_coins


def test_answers_that_are_stored_thirty_times_make_no_figure_surer() -> None:
    given = tosses(6, 0, ["Ann", "Bob", "Cyd", "Dan"])
    once, often = (answered(0, aim="top:5") for _ in range(2))
    once.record(given)
    often.record(given * 30)
    for study in (once, often):
        stated = study.reliability()
        assert np.log(stated.expected_error / stated.error_low) > REACH * doubt(24 / 20)
    rows = [study.check().rows[0] for study in (once, often)]
    assert [row.state for row in rows] == ["failed", "failed"]
    assert rows[0].value == rows[1].value == 24 / 20
    assert rows[0].found == "There are 1.2 answers per item (24 for 20 items)."
    assert rows[1].found == rows[0].found + " Of all 720, repeats by the same person count in part."
    found = often.selection()
    assert found is not None
    assert found.withheld == "there are fewer than 3 answers per item"
    people = often.annotator_quality(fewest=10).people
    assert [(one.answers, one.coin) for one in people] == [(180, None)] * 4


def test_without_repeats_figures_rest_on_all_answers() -> None:
    study = answered(120)
    with study._ledger.reading() as state:
        results = study._ledger.results
        posterior = results.posterior(state)
        scores = draw_scores(posterior, state.active, np.random.default_rng(study.settings.seed)).scores
        error = results.expected_error(state)
        known = error_interval(error, error_spread(scores, posterior.mean, state.active, len(state.effective)))
        found = results.reliability(state)
    assert (found.expected_error, found.error_low, found.error_high) == known


def test_circles_of_people_who_weigh_little_are_to_be_expected() -> None:
    rng = np.random.default_rng(0)
    features = rng.normal(size=(30, 3))
    scores = features @ rng.normal(size=3) + rng.normal(size=30)
    study = Study.create(Items([f"item {row:02}" for row in range(30)], features), weigh_annotators=True)
    names, given = study.items.ids, []
    for number in range(480):
        left, right = rng.choice(30, 2, replace=False)
        margin = 0.0 if number % 6 < 3 else 2.0 * (scores[left] - scores[right])
        won = rng.random() < 1.0 / (1.0 + np.exp(-margin))
        given.append((names[left], names[right], "left" if won else "right", f"person {number % 6}"))
    study.record(given)
    assert [person.weight < 0.2 for person in study.annotator_quality().people] == [True] * 3 + [False] * 3
    (circles,) = [row for row in study.check().rows if row.check == "no circles"]
    assert circles.state == "passed"
