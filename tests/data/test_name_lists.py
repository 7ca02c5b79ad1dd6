"""Several names in one text."""

from __future__ import annotations

import csv

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ordinate.data.name_lists import as_text, names_in

NAMES = st.lists(st.text(min_size=1).filter(str.strip))


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("a,b", ["a", "b"]),
        (" a , b ,, ", ["a", "b"]),
        ("", []),
        ('"length, cm",w', ["length, cm", "w"]),
        ('w , "length, cm" ', ["w", "length, cm"]),
        ('"a ""b""",c', ['a "b"', "c"]),
        ('5" pipe,6" pipe', ['5" pipe', '6" pipe']),
        ('"a"b,c', ['"a"b', "c"]),
        ("a\nb,c", ["a\nb", "c"]),
        ('" a ",""', [" a "]),
    ],
)
def test_names_between_commas(text: str, names: list[str]) -> None:
    assert names_in(text) == names


@given(NAMES)
def test_any_names_come_back(names: list[str]) -> None:
    assert names_in(as_text(names)) == names


@given(st.lists(st.text('ab," ', min_size=1).map(str.strip).filter(bool), min_size=1))
def test_what_a_spreadsheet_program_writes_is_read(names: list[str]) -> None:
    quoted = ",".join('"' + name.replace('"', '""') + '"' for name in names)
    assert names_in(quoted) == next(csv.reader([quoted])) == names
