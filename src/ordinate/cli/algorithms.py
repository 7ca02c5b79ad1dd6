"""`ordinate algorithms`: the names that --algorithm accepts."""

from __future__ import annotations

from ordinate.cli.options import AsJson
from ordinate.cli.screen import print_json, print_table


def algorithms(as_json: AsJson = False) -> None:
    """List the algorithms, each with a one-line summary."""
    from ordinate.algorithms import ALGORITHMS

    if as_json:
        print_json([{"name": name, "summary": row.summary} for name, row in ALGORITHMS.items()])
        return
    from rich.table import Table

    table = Table("name", "what it does")
    for name, row in ALGORITHMS.items():
        table.add_row(name, row.summary)
    print_table(table)
