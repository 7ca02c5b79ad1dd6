"""Errors go from process to process, as those of a study that is made do, and stay what they are."""

import pickle

import pytest

from ordinate import errors
from ordinate.data.media import NotShown

MADE = [
    errors.InvalidInput("row 3 is empty"),
    errors.StudyExists("there is one"),
    errors.StorageFailed("the disk is full"),
    errors.BudgetSpent("all answers are given", total=True),
    errors.MissingExtra("torch", "text", "embedding texts"),
    errors.WeightsMissing("no network"),
    NotShown("is a TIFF", convertible=True),
]


@pytest.mark.parametrize("error", MADE, ids=lambda error: type(error).__name__)
def test_an_error_arrives_as_it_was_sent(error: errors.OrdinateError) -> None:
    arrived = pickle.loads(pickle.dumps(error))
    assert type(arrived) is type(error)
    assert (str(arrived), arrived.args, vars(arrived)) == (str(error), error.args, vars(error))
