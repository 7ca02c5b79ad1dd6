"""The table of attacks in SECURITY.md names tests that are there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

HERE = Path(__file__).parent
ROWS = re.findall(r"^\|.*\|(.*)\|$", (HERE.parents[1] / "SECURITY.md").read_text(encoding="utf-8"), re.MULTILINE)
NAMED = [name for row in ROWS for name in re.findall(r"`(test_[\w.]+(?:::\w+)?)`", row)]


@pytest.mark.parametrize("named", NAMED)
def test_every_attack_has_its_test(named: str) -> None:
    file, _, name = named.partition("::")
    sources = [path.read_text(encoding="utf-8") for path in HERE.parent.rglob(file)]
    assert any(f"def {name}(" in source if name else source for source in sources)


def test_every_row_names_a_test() -> None:
    assert len(ROWS) > 40
    assert all("`test_" in row for row in ROWS[2:])
