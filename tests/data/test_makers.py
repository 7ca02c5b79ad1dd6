"""Who made which item."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ordinate.data.makers import makers_of
from ordinate.errors import InvalidInput

IDS = ("a", "b", "c", "d")


@pytest.mark.parametrize(
    "column",
    [[7, None, "8; 9", 8], [7.0, None, "8; 9", 8.0], np.array([7.0, np.nan, "8; 9", 8.0], dtype=object).tolist()],
)
def test_numbers_are_the_names_that_annotators_give(column: list[Any]) -> None:
    assert makers_of({"maker": column}, IDS) == [("a", "7"), ("c", "8"), ("c", "9"), ("d", "8")]


def test_a_column_of_a_frame_with_a_gap_has_whole_numbers() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"by": [7, None, 8, 8.5]})
    assert makers_of({"by": frame["by"].to_list()}, IDS, "by") == [("a", "7"), ("c", "8"), ("d", "8.5")]


def test_a_list_in_a_cell_is_refused_by_row() -> None:
    with pytest.raises(InvalidInput, match=r"row 2 of column 'maker' holds .* a nested value"):
        makers_of({"maker": ["x", ["x", "y"]]}, IDS)
