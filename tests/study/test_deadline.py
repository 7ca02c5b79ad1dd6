"""A deadline: from then on nobody is given a pair, and what was asked before is still answered."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from ordinate.data.items import Items
from ordinate.errors import InvalidInput, StudyPaused
from ordinate.storage import timestamp
from ordinate.study.study import Study

START = datetime(2025, 3, 1, 12, tzinfo=UTC)


class Clock:
    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> str:
        return timestamp(self.now)


def make(clock: Clock) -> Study:
    return Study.create(Items([str(row) for row in range(9)], np.eye(9)), clock=clock)


def test_judging_ends_at_the_deadline_in_every_client() -> None:
    clock = Clock()
    study = make(clock)
    study.set_rules(deadline="2025-03-01T14:00:00+01:00")
    assert study.rules.deadline == "2025-03-01T13:00:00.000+00:00"
    query = study.ask("Ann")
    stages = [study.stage]
    clock.now = START + timedelta(hours=1)
    assert [*stages, study.stage] == ["running", "over"]
    assert study.ask("Ann") == query, "who holds a pair may go on with it"
    study.tell(query.id, "left")
    offers = [one for one in study.choose(["Ann"]) if one is not None]
    with pytest.raises(StudyPaused, match="the time for this study was over on 2025-03-01T13"):
        study.ask("Ann")
    with pytest.raises(StudyPaused):
        study.take("Ann", 1, offers)
    study.set_rules(deadline=None)
    assert study.ask("Ann")


def test_how_many_answers_come_until_then() -> None:
    """60 answers in two hours, then a day of rest: the pace is that of the last day, nights included."""
    clock = Clock()
    study = make(clock)
    later = START + timedelta(hours=10)
    assert study.answers_until(later) is None
    for number in range(60):
        clock.now = START + timedelta(minutes=2 * number)
        study.tell(study.ask(f"person {number % 6}").id, "skip" if number % 6 == 5 else "left")
        if number == 8:
            assert study.answers_until(later) is None, "too few"
    clock.now = START + timedelta(hours=2)
    assert study.answers_until(START + timedelta(hours=4)) == 50
    assert study.answers_until(START) == 0
    clock.now = START + timedelta(hours=20)
    assert study.answers_until(START + timedelta(hours=22)) == 5
    clock.now = START + timedelta(hours=25)
    assert study.answers_until(START + timedelta(hours=49)) == pytest.approx(25, abs=1)
    clock.now = START + timedelta(days=3)
    assert study.answers_until(START + timedelta(days=4)) is None


@pytest.mark.parametrize("wrong", ["2025-03-01T13:00", "tomorrow", 5, True])
def test_a_deadline_is_a_time_with_its_zone(wrong: object) -> None:
    with pytest.raises(InvalidInput, match="deadline must be a time with its zone"):
        make(Clock()).set_rules(deadline=wrong)
