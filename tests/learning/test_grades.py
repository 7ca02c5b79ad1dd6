"""Grades and the items that may be in the wrong one, against ranks counted by hand."""

import numpy as np
import pytest

from ordinate.learning.grades import grades_of

SCORES = np.array([3.0, 1.0, 2.0, 0.0, 5.0, 4.0])
GROUP = np.array([0, 0, 0, 0, 1, -1])


def test_grades_are_stretches_of_ranks_within_a_group():
    found = grades_of(np.tile(SCORES, (4, 1)), SCORES, GROUP, (1, 3))
    assert found.grade.tolist() == [1, 2, 2, 3, 1, 0]
    assert np.nan_to_num(found.probability, nan=-1).tolist() == [1, 1, 1, 1, 1, -1]
    assert found.misplaced == (0.0, 0.0, 0.0)


def test_an_item_is_misplaced_where_its_rank_is_in_another_grade():
    swapped = SCORES.copy()
    swapped[[0, 1]] = 1.0, 3.0  # the first and the third change places
    draws = np.array([SCORES, SCORES, SCORES, swapped])
    found = grades_of(draws, SCORES, GROUP, (2,))
    assert found.probability[:5].tolist() == [0.75, 0.75, 1.0, 1.0, 1.0]
    assert found.misplaced.estimate == pytest.approx(0.25 * 2 / 5)
    assert found.misplaced.high == pytest.approx(2 / 5)
    # Grade 1 has two items of the one group and one of the other.
    assert [share.estimate for share in found.by_grade] == pytest.approx([0.25 * 1 / 3, 0.25 * 1 / 2])
    assert [(row["grade"], row["first"], row["last"], row["items"]) for row in found.rows()] == [
        (1, 1, 2, 3),
        (2, 3, None, 2),
    ]


def test_a_grade_that_no_group_reaches_is_left_out():
    assert len(grades_of(np.tile(SCORES, (2, 1)), SCORES, GROUP, (2, 50)).by_grade) == 2
