"""Names that look alike: which they are, and what is suggested for a name that is unknown."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ordinate.data.lookalikes import appearance, lookalikes, suggestion

PAIRS = [
    ("caf\u00e9", "cafe\u0301"),
    ("Photo", "photo"),
    ("stra\u00dfe", "STRASSE"),
    ("a b", "a  b"),
    ("a", " a "),
    ("a b", "a\u00a0b"),
    ("ab", "a\u200bb"),
    ("ab", "\u202eab"),
    ("\uff11", "1"),
    ("7", "007"),
    ("7.jpg", "007.jpg"),
    ("1", "1.0"),
    ("1.5", "1.50"),
    ("a/b", "a\\b"),
    ("a/b", "a//b"),
    ("a/b", "./a/b"),
    ("a/b", "a/./b"),
]
DIFFERENT = [("7", "70"), ("1.5", "15"), ("a/b", "ab"), ("a-b", "a_b"), ("1.0.2", "1.2"), ("10", "1"), ("x.05", "x.5")]


@pytest.mark.parametrize(("one", "other"), PAIRS)
def test_they_look_alike(one: str, other: str) -> None:
    assert lookalikes(["x", one, other]) == [(one, other)]
    assert "looks alike" in suggestion(other, ["x", one])


def test_what_would_look_the_same_on_the_screen_is_written_in_ascii() -> None:
    assert suggestion("caf\u00e9", ["cafe\u0301"]) == r"; 'cafe\u0301' looks alike"
    assert suggestion("CAF\u00c9", ["caf\u00e9"]) == "; 'caf\u00e9' looks alike"


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_they_do_not(one: str, other: str) -> None:
    assert lookalikes([one, other]) == []


@given(st.text())
def test_the_appearance_of_an_appearance_is_itself(name: str) -> None:
    assert lookalikes([name, name]) == []
    assert appearance(appearance(name)) == appearance(name)


def test_a_misspelt_name() -> None:
    assert suggestion("esay-17", ["essay-16", "essay-17", "photo"]) == "; 'essay-17' is the nearest"
    assert suggestion("zebra", ["essay-16", "photo"]) == ""
    assert suggestion("a", []) == ""


def test_among_very_many_only_lookalikes_are_suggested() -> None:
    names = [f"item-{number}" for number in range(30_000)]
    assert suggestion("itm-17", names) == ""
    assert "'item-17'" in suggestion("Item-017", names)
