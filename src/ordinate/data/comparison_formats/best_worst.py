"""Best-worst scaling: several items shown together, of which one was called best and one worst.

The items are in a column `items` (a list, or a text with | between them) or in columns item1, item2, ...
"""

from __future__ import annotations

import re

from ordinate.data.cells import id_text, is_missing, require_single
from ordinate.data.comparison_formats.source import LEFT_OUT, ComparisonFormat, Source, Translated
from ordinate.data.tables import Columns
from ordinate.errors import InvalidInput

_ITEM = re.compile(r"(?:item|option)[_ ]?\d+", re.IGNORECASE)
PAIRS_OF_A_ROW = (
    "The pairs of a row count as answers that are independent of each other, which they are not: with {rows} rows as "
    "{pairs} comparisons, the intervals are too narrow."
)


def _recognise(columns: Columns) -> bool:
    return {"best", "worst"} <= columns.keys()


def _translate(source: Source) -> Translated:
    best, worst = source.need("best", "best"), source.need("worst", "worst")
    people = source.get("annotator", "annotator", "worker")
    shown = listed_items(source)
    columns: dict[str, list[object]] = {"left": [], "right": [], "winner": [], "annotator": []}
    rows = []
    for row, given in enumerate(shown, start=1):
        if is_missing(best[row - 1]) and is_missing(worst[row - 1]):
            for name, value in zip(columns, (*given[:2], LEFT_OUT, None), strict=True):
                columns[name].append(value)
            rows.append(row)
            continue
        top, last = id_text(best[row - 1]), id_text(worst[row - 1])
        for what, item in (("best", top), ("worst", last)):
            if item not in given:
                raise InvalidInput(f"row {row}: the {what} item {item!r} is none of those shown: {', '.join(given)}")
        if top == last:
            raise InvalidInput(f"row {row}: item {top!r} is the best and the worst")
        others = [item for item in given if item not in (top, last)]
        for left, right in [(top, last), *((top, item) for item in others), *((item, last) for item in others)]:
            columns["left"].append(left)
            columns["right"].append(right)
            columns["winner"].append("left")
            columns["annotator"].append(None if people is None else people[row - 1])
            rows.append(row)
    pairs = sum(winner is not LEFT_OUT for winner in columns["winner"])
    answered = len(shown) - (len(rows) - pairs)
    return Translated(columns, rows, [PAIRS_OF_A_ROW.format(rows=answered, pairs=pairs)])


def listed_items(source: Source) -> list[list[str]]:
    """The items of each row. Raises InvalidInput for one that is there twice."""
    together = source.get("items", "items")
    names = [name for name in source.columns if _ITEM.fullmatch(name)]
    if together is None and len(names) < 2:
        raise InvalidInput("the items that were shown are missing: a column 'items', or columns 'item1', 'item2', ...")
    found = []
    for row in range(len(source)):
        values = [source.columns[name][row] for name in names] if together is None else _split(together[row])
        for value in values:
            require_single(value, f"row {row + 1}: an item")
        given = [id_text(value) for value in values if not is_missing(value)]
        if len(set(given)) < len(given) or len(given) < 2:
            raise InvalidInput(f"row {row + 1}: the items must be two or more, and differ: {', '.join(given)}")
        found.append(given)
    if together is None:
        source.use(*names)
    return found


def _split(value: object) -> list[object]:
    if isinstance(value, str):
        return [part.strip() for part in value.split("|")]
    return list(value) if isinstance(value, list | tuple) else [value]


FORMAT = ComparisonFormat("best-worst scaling: items, best, worst", _recognise, _translate, fields=("annotator",))
