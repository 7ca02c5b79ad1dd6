"""What a study says of the answers that are still needed, and how fast they come."""

from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ordinate.data.items import Items
from ordinate.errors import BudgetSpent, InvalidInput
from ordinate.learning.forecast import Decline
from ordinate.storage import timestamp
from ordinate.study.stopping import CHECK_EVERY
from ordinate.study.study import Study

SCORES = np.random.default_rng(0).normal(size=(20, 3))
ITEMS = Items([f"item {row:02}" for row in range(20)], SCORES)
QUICK: dict[str, Any] = {"algorithm": "guro-contextual", "coefficient_variance": 2.0, "random": 0.3}


class Stopwatch:
    """A clock that stands still until it is moved."""

    def __init__(self) -> None:
        self.time = datetime(2025, 1, 31, 12, tzinfo=UTC)

    def __call__(self) -> str:
        return timestamp(self.time)

    def wait(self, seconds: float) -> None:
        self.time += timedelta(seconds=seconds)


def answer(study: Study, times: int, coins: np.random.Generator | None = None) -> None:
    for number in range(times):
        query = study.ask(f"somebody {number}")
        left, right = (SCORES[study.row(item)].sum() for item in (query.left, query.right))
        right_answer = left > right if coins is None else coins.random() < 0.5
        study.tell(query.id, "left" if right_answer else "right")


def test_the_forecast_follows_from_the_expected_error_now_and_half_way() -> None:
    study = Study.create(ITEMS, **QUICK)
    answer(study, 60)
    assert study.reliability().better_than_coins
    forecast = study.forecast(0.01)
    history = dict(study.error_history())
    assert forecast.decline is not None
    assert forecast.decline == Decline.of([(30, history[30]), (60, history[60])], forecast.decline.spread)
    assert forecast.more_answers == forecast.decline.answers_for(0.01)
    assert forecast.withheld is None
    assert not forecast.presumes_sense


def test_nothing_is_forecast_from_coin_tosses_or_from_nothing() -> None:
    study = Study.create(ITEMS, **QUICK)
    assert study.forecast(0.1).withheld == "there are no answers yet"
    answer(study, 40, np.random.default_rng(1))
    forecast = study.forecast(0.1)
    assert forecast.withheld == "the answers cannot be told from coin tosses yet"
    assert forecast.more_answers is None
    assert forecast.seconds is None
    assert forecast.fields()["more_answers_high"] is None


def test_without_random_pairs_it_presumes_that_people_answered_sensibly() -> None:
    study = Study.create(ITEMS, **QUICK | {"random": 0.0})
    answer(study, 5)
    assert study.reliability().better_than_coins is None
    assert study.forecast(0.1).presumes_sense


def test_the_target_is_the_given_one_or_the_rule_or_the_next_round_one() -> None:
    study = Study.create(ITEMS, **QUICK)
    answer(study, 3)
    assert study.forecast().target == max(
        target for target in (0.4, 0.3, 0.25, 0.2, 0.15, 0.1) if target < 0.85 * study.expected_error()
    )
    study.set_rules(target=0.07)
    assert study.forecast().target == 0.07
    assert study.forecast(0.2).target == 0.2
    for target in (0.0, 0.6, "much"):
        with pytest.raises(InvalidInput, match="target must be a number"):
            study.forecast(target)  # type: ignore[arg-type]


def finished_by(**rules: Any) -> tuple[Study, int]:
    """A study with these rules, and the number of answers after which it gave out no more pairs."""
    study = Study.create(ITEMS, **QUICK)
    study.set_rules(**rules)
    for given in range(300):
        try:
            answer(study, 1)
        except BudgetSpent:
            return study, given
    raise AssertionError("the study never finished")


def test_a_target_finishes_a_study_once_the_error_is_below_it_with_confidence() -> None:
    study, given = finished_by(target=0.1)
    assert study.finished == "target"
    assert given % CHECK_EVERY == 0
    reliability = study.reliability()
    assert reliability.better_than_coins
    assert reliability.error_high <= 0.1
    assert reliability.expected_error < reliability.error_high


def test_grades_finish_a_study_once_few_enough_items_are_misplaced() -> None:
    study, _ = finished_by(cuts=[5, 10], misplaced=0.3)
    grades = study.ordering().grades
    assert study.finished == "misplaced"
    assert grades is not None
    assert grades.misplaced.high <= 0.3
    assert study.ordering(cuts=()).grades is None
    with pytest.raises(InvalidInput, match=f"the cut {len(study.items)} leaves nothing to find out: there are only"):
        study.ordering(cuts=[len(study.items)])
    with pytest.raises(InvalidInput, match=f"the cut {len(study.items)} leaves nothing to find out"):
        study.set_rules(cuts=[len(study.items)])
    with pytest.raises(InvalidInput, match="the cut 2 leaves nothing to find out"):
        Study.create(Items(["a", "b"]), rules={"cuts": [2]})
    with pytest.raises(InvalidInput, match="a cut must be a whole number from 1 on, not 0"):
        study.ordering(cuts=[0])


def test_a_finished_study_still_takes_answers_and_goes_on_when_its_rules_change() -> None:
    study = Study.create(ITEMS, **QUICK)
    answer(study, 40)
    waiting = study.ask("late")
    study.set_rules(target=0.2)
    met = study.rule_met()
    assert met is not None
    study.finish(met)
    study.finish(met)
    study.tell(waiting.id, "left")
    with pytest.raises(BudgetSpent, match="the ordering is as good as its target asks for"):
        study.take("somebody", 1)
    assert len(study.comparisons()) == 41
    study.set_rules(target=0.01)
    assert study.finished is None
    study.finish(met)  # was met by other rules
    assert study.finished is None
    answer(study, 1)


def test_new_items_go_on_with_a_finished_study() -> None:
    study, _ = finished_by(target=0.2)
    study.add_items(Items(["new"], SCORES[:1]))
    assert study.finished is None


def test_a_finished_study_goes_on_when_answers_are_taken_back() -> None:
    study, given = finished_by(target=0.2)
    assert sum(study.discard_answers_of(name) for name in study.annotators()) == given
    assert study.finished is None
    answer(study, 1)


def test_coin_tosses_finish_no_study() -> None:
    study = Study.create(ITEMS, **QUICK)
    study.set_rules(target=0.5, cuts=[10], misplaced=1.0)
    answer(study, 40, np.random.default_rng(1))
    assert study.reliability().better_than_coins is False
    assert study.rule_met() is None


def test_a_study_that_is_opened_again_is_still_finished(tmp_path: Path) -> None:
    address = f"sqlite:///{tmp_path / 'study.db'}"
    with Study.create(ITEMS, storage=address, **QUICK) as study:
        answer(study, 40)
        study.set_rules(target=0.3)
        with pytest.raises(BudgetSpent):
            study.ask("one more")
    with Study.open(address) as study:
        assert study.finished == "target"


def test_answers_to_random_pairs_are_told_apart() -> None:
    study = Study.create(ITEMS, **QUICK | {"random": 0.5})
    with pytest.raises(InvalidInput, match="no answers yet"):
        study.consistency()
    answer(study, 120)
    found = study.consistency()
    assert found.held_out is not None
    assert 15 < found.held_out_answers < 45
    assert found.held_out.low < found.held_out.estimate < found.held_out.high
    assert found.held_out.estimate > 0.8
    assert found.separation > found.separation_of_coins
    assert found.split_half is not None
    assert found == study.consistency()
    alone = Study.create(ITEMS, **QUICK | {"random": 0.0})
    answer(alone, 20)
    assert alone.consistency().held_out is None


def test_pauses_are_no_part_of_the_pace() -> None:
    clock = Stopwatch()
    study = Study.create(ITEMS, clock=clock, **QUICK)
    assert study.forecast(0.1).seconds_per_answer is None
    for _ in range(3):
        clock.wait(10.0)
        answer(study, 1)
    assert study.forecast(0.1).seconds_per_answer == 10.0
    clock.wait(8 * 3600)
    answer(study, 1)
    clock.wait(4.0)
    answer(study, 1)
    assert study.forecast(0.1).seconds_per_answer == pytest.approx(8.0)
    study.undo("somebody 0")
    assert study.forecast(0.1).seconds_per_answer == 10.0


@pytest.mark.parametrize("answers", [1, 2, 3, 4, 5])
def test_of_the_first_answers_there_is_a_forecast_too(answers: int) -> None:
    study = Study.create(ITEMS, **QUICK | {"random": 0.0})
    answer(study, answers)
    forecast = study.forecast(0.1)
    assert forecast.withheld is None
    assert forecast.more_answers is not None
    assert forecast.decline == Decline.of([(answers, study.expected_error())], study.forecast(0.2).decline.spread)  # type: ignore[union-attr]


@pytest.mark.parametrize(("batch", "recorded"), [(10, 5), (4, 1), (3, 0)])
def test_rules_are_looked_at_although_answers_come_in_batches(batch: int, recorded: int) -> None:
    study = Study.create(ITEMS, **QUICK, rules={"target": 0.3})
    sums = dict(zip(ITEMS.ids, SCORES.sum(axis=1), strict=True))
    for left, right in [("item 00", "item 01"), ("item 02", "item 03"), ("item 04", "item 05")][:recorded] * 2:
        study.record([(left, right, "left" if sums[left] > sums[right] else "right")])
    while study.finished is None:
        assert len(study.comparisons()) < 200
        with suppress(BudgetSpent):
            for query in study.ask("ann", batch):
                study.tell(query.id, "left" if sums[query.left] > sums[query.right] else "right")
    assert study.finished == "target"
