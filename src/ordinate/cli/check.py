"""`ordinate check`: whether the order of a study can be relied on, and what each check of its answers found."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from ordinate.cli.options import AsJson, StudyFile, open_study
from ordinate.cli.screen import one_line, print_json, print_table, say

if TYPE_CHECKING:
    from ordinate.study.checking import Verdict

FAILED = 3
"""The exit code where a check failed."""


def check(study: StudyFile, as_json: AsJson = False) -> None:
    """Say whether the order can be relied on, and check the answers.

    Under one sentence there is a row for each check: what was found, the value, the threshold, and what to do. If a
    check fails on which the figures depend, the expected error is withheld.

    The exit code is 0 where no check failed, and 3 where one did.
    """
    with open_study(study) as opened:
        verdict = opened.check()
    if as_json:
        print_json({"study": study, **verdict.fields()})
    else:
        say(verdict.sentence)
        say()
        _show(verdict)
    if verdict.failed:
        raise typer.Exit(FAILED)


def _show(verdict: Verdict) -> None:
    from rich.table import Table

    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False)
    table.add_column("check", no_wrap=True)
    table.add_column("state", no_wrap=True)
    table.add_column("value", justify="right")
    table.add_column("threshold", justify="right")
    table.add_column("what was found, and what to do", overflow="fold")
    for row in verdict.rows:
        said = f"{row.found} {row.advice}".strip()
        table.add_row(row.check, row.state, _number(row.value), _number(row.threshold), one_line(said))
    print_table(table)


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:z.3g}"
