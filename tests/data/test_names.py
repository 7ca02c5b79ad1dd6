"""The rule for names of annotators."""

from __future__ import annotations

import pytest

from ordinate.data.names import annotator_name, caseless
from ordinate.errors import InvalidInput


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ("Ann", "Ann"),
        ("  Ann \u00a0 Lee\t", "Ann Lee"),
        ("Jose\u0301", "Jos\u00e9"),
        ("\u674e \u96f7", "\u674e \u96f7"),
        ("\u0639\u0644\u06cc\u200c\u0631\u0636\u0627", "\u0639\u0644\u06cc\u200c\u0631\u0636\u0627"),
        ("x" * 80, "x" * 80),
        (None, None),
        ("", None),
    ],
)
def test_names_as_they_are_stored(given: str | None, name: str | None) -> None:
    assert annotator_name(given) == name
    assert annotator_name(name) == name


@pytest.mark.parametrize(
    "given", [" ", "\u200b", "x" * 81, "An\0n", "\u202egpj.exe", "Ann\u2066", "\ud800", "\x1b[2J", 7, ["Ann"], b"Ann"]
)
def test_what_is_no_name_is_refused(given: object) -> None:
    with pytest.raises(InvalidInput, match=r"row 3: .*name"):
        annotator_name(given, "row 3: ")


def test_case_does_not_matter() -> None:
    assert caseless("STRASSE") == caseless("stra\u00dfe")
    assert caseless("\u00c9va") == caseless("\u00e9va")
    assert caseless("Ann") != caseless("Anna")
