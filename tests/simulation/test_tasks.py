"""Tasks refuse what would only show as nan at the end."""

from itertools import pairwise

import numpy as np
import pytest

from ordinate.data.comparisons import Comparison
from ordinate.data.items import Items
from ordinate.datasets import Dataset
from ordinate.errors import InvalidInput, UnknownItem
from ordinate.simulation.tasks import AimedTask, RecordedTask, SimulatedTask
from ordinate.study.study import Study


@pytest.mark.parametrize("noise", [-1.0, float("inf"), float("nan")])
def test_noise_levels_that_mean_nothing_are_refused(noise):
    dataset = Dataset(Items(["a", "b"]), truth=np.array([0.0, 1.0]))
    with pytest.raises(InvalidInput, match="the noise must be 0"):
        SimulatedTask(dataset, noise)


def test_without_signal_answers_are_coin_flips():
    trial = SimulatedTask(Dataset(Items(["a", "b"]), truth=np.array([0.0, 9.0])), 0.0).build(0)
    answers = [trial.annotators.answer(0, 1) for _ in range(400)]
    assert 150 < answers.count("left") < 250


def test_only_pairs_within_a_group_count_as_errors():
    for group, error in ((["x", "x", "y", "y"], 0.5), (None, 2 / 6)):
        study = Study.create(Items(["a", "b", "c", "d"]), algorithm="uniform-independent")
        study.record([Comparison(better, worse, "left") for better, worse in pairwise("cdba")])
        dataset = Dataset(Items(["a", "b", "c", "d"], group=group), truth=np.array([2.0, 3.0, 2.5, 4.0]))
        found = SimulatedTask(dataset).build(0).evaluate(study)
        assert list(found.values()) == [pytest.approx(error)]


def test_held_out_answers_that_are_all_ties_are_refused():
    ties = (Comparison("a", "b", "tie"),) * 20
    with pytest.raises(InvalidInput, match="all 2 held-out answers are ties"):
        RecordedTask(Dataset(Items(["a", "b"]), comparisons=ties)).build(0)


def test_an_aimed_task_measures_the_aim_besides() -> None:
    truth = np.array([3.0, 2.0, 1.0, 0.0])
    task = AimedTask(SimulatedTask(Dataset(Items(list("abcd")), truth=truth)), ("top:2",), truth)
    with Study.create(Items(list("abcd"))) as study:
        study.record([Comparison(one, other, "left") for one, other in ("ab", "bc", "cd")] * 5)
        assert task.build(0).evaluate(study) == {"ordering error": 0.0, "share found": 1.0}


@pytest.mark.parametrize("aim", ["order", "top:4", "above:e"])
def test_an_aim_that_the_task_cannot_have_is_refused(aim: str) -> None:
    truth = np.array([3.0, 2.0, 1.0, 0.0])
    task = AimedTask(SimulatedTask(Dataset(Items(list("abcd")), truth=truth)), (aim,), truth)
    with pytest.raises((InvalidInput, UnknownItem)):
        task.build(0)
