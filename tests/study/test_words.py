"""Numbers in words."""

from __future__ import annotations

import math
import re
from pathlib import Path

import pytest

import ordinate
from ordinate.study.results import Reliability
from ordinate.study.words import error_in_short, grade_in_words, reliability_in_words

COINS = "the answers cannot be told from coin tosses yet"


@pytest.mark.parametrize(
    ("share", "said"), [(0.1, "0 of 3 items belong"), (0.3, "1 of 3 items belongs"), (0.6, "2 of 3 items belong")]
)
def test_one_item_belongs_elsewhere_and_several_belong_there(share: float, said: str) -> None:
    grade = {
        "grade": 1,
        "items": 3,
        "first": 1,
        "last": 3,
        "misplaced": share,
        "misplaced_low": 0.0,
        "misplaced_high": 1.0,
    }
    assert grade_in_words(grade) == f"Grade 1 (ranks 1 to 3): about {said} elsewhere (0 to 3)."


@pytest.mark.parametrize(
    ("known", "short", "long"),
    [
        (Reliability(True, 0.08, 0.04, 0.12), "8.0 %", "8.0 % (4.0 to 12.0 %): about 1 in 12 pairs is likely to be in"),
        (Reliability(None, 0.08, 0.04, 0.12), "8.0 %", "8.0 % (4.0 to 12.0 %): about 1 in 12 pairs is likely to be in"),
        (
            Reliability(False, 0.08, 0.04, 0.12, COINS),
            "not known yet",
            f"unknown: {COINS} (if people answered sensibly, 8.0 %",
        ),
        (
            Reliability(True, 0.08, 0.04, 0.12, "they miss it"),
            "withheld",
            "withheld: they miss it; `ordinate check` says what to",
        ),
        (Reliability(None, math.nan, math.nan, math.nan, "no pair"), "not known yet", "unknown: no pair"),
    ],
)
def test_the_expected_error_or_why_it_is_withheld(known: Reliability, short: str, long: str) -> None:
    assert error_in_short(known) == short
    assert reliability_in_words(known, 40).startswith(long)


def test_percentages_have_a_space_in_all_texts() -> None:
    package = Path(ordinate.__file__).parent
    found = [path.name for path in package.rglob("*.py") if re.search(r":\.\d%}", path.read_text(encoding="utf-8"))]
    assert found == []
