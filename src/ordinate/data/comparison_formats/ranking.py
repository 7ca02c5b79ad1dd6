"""Rankings of several items: a column `ranking` ("a > b = c", or a list from the best), or columns rank1, rank2, ...

A list within such a list is a place that several items share.
"""

from __future__ import annotations

import re
from itertools import combinations

from ordinate.data.cells import id_text, is_missing, require_single
from ordinate.data.comparison_formats.best_worst import PAIRS_OF_A_ROW
from ordinate.data.comparison_formats.source import LEFT_OUT, ComparisonFormat, Source, Translated
from ordinate.data.tables import Columns
from ordinate.errors import InvalidInput

_RANK = re.compile(r"rank[_ ]?(\d+)", re.IGNORECASE)


def _recognise(columns: Columns) -> bool:
    return "ranking" in columns or len(_ranks(columns)) > 1


def _translate(source: Source) -> Translated:
    together, names = source.get("ranking", "ranking"), _ranks(source.columns)
    people = source.get("annotator", "annotator", "worker")
    source.use(*(names if together is None else ()))
    columns: dict[str, list[object]] = {"left": [], "right": [], "winner": [], "annotator": []}
    rows = []
    for row in range(len(source)):
        given = [source.columns[name][row] for name in names] if together is None else [together[row]]
        if all(map(is_missing, given)):
            for name, value in zip(columns, (None, None, LEFT_OUT, None), strict=True):
                columns[name].append(value)
            rows.append(row + 1)
            continue
        if together is None:
            steps = [[_id(value, f"row {row + 1}: the ranking")] for value in given if not is_missing(value)]
        else:
            if any(isinstance(value, str) and (">=" in value or "=>" in value) for value in given):
                raise InvalidInput(f"row {row + 1}: {together[row]!r} must say either > or = between two items")
            steps = _steps(together[row], f"row {row + 1}: the ranking")
        placed = [(item, place) for place, step in enumerate(steps) for item in step]
        if len({item for item, _ in placed}) < len(placed) or len(placed) < 2:
            raise InvalidInput(
                f"row {row + 1}: a ranking has two or more items, each once: {together[row] if together else steps}"
            )
        for (left, above), (right, below) in combinations(placed, 2):
            columns["left"].append(left)
            columns["right"].append(right)
            columns["winner"].append("tie" if above == below else "left")
            columns["annotator"].append(None if people is None else people[row])
            rows.append(row + 1)
    pairs = sum(winner is not LEFT_OUT for winner in columns["winner"])
    answered = len(source) - (len(rows) - pairs)
    return Translated(columns, rows, [PAIRS_OF_A_ROW.format(rows=answered, pairs=pairs)])


def _ranks(columns: Columns) -> list[str]:
    found = [(int(match[1]), name) for name in columns if (match := _RANK.fullmatch(name))]
    return [name for _, name in sorted(found)]


def _steps(value: object, where: str) -> list[list[str]]:
    """The items from the best, those that share a place together."""
    if isinstance(value, str):
        return [[item for part in step.split("=") if (item := part.strip())] for step in value.split(">")]
    steps = value if isinstance(value, list | tuple) else [value]
    return [[_id(one, where) for one in (step if isinstance(step, list | tuple) else [step])] for step in steps]


def _id(value: object, where: str) -> str:
    require_single(value, where)
    return id_text(value)


FORMAT = ComparisonFormat(
    'rankings: "a > b = c", lists, or rank1, rank2, ...', _recognise, _translate, fields=("annotator",)
)
