"""What a notebook shows of items and of an ordering: a table of the first and last ones, with pictures and bars.

Ids and texts come from anywhere, so they are escaped; a picture is shown as a thumbnail if it is inside the table of
items itself or in a file in the study's folder or, without a study, the working one, and nothing is fetched.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ordinate.data.html import Html, joined, tag
from ordinate.data.ordering import REACH, Ordering, rank_in_words

if TYPE_CHECKING:
    from ordinate.data.items import Items

FIRST, LAST = 15, 5
"""Rows that are shown of more than these."""
_LONGEST = 120
"""Characters of a text, and of an id."""
_STYLE = Html(
    "<style>.ordinate table{border-collapse:collapse}.ordinate td,.ordinate th{text-align:left;vertical-align:middle;"
    "padding:.25em .75em;overflow-wrap:anywhere;max-width:32em}.ordinate td.number{text-align:right;white-space:nowrap;"
    "font-variant-numeric:tabular-nums}.ordinate img{max-width:64px;max-height:64px;border-radius:4px;display:block}"
    ".ordinate caption{text-align:left;caption-side:top}.ordinate svg{display:block;width:12em;height:1em}"
    ".ordinate rect{fill:#0072b2}.ordinate line{stroke:currentColor;stroke-opacity:.4}</style>"
)


def items_table(items: Items, folder: Path | None = None) -> Html:
    """`folder`: where paths of pictures start; None: the working folder."""
    shown, left_out = _ends(len(items))
    groups = [] if items.group is None else ["group"]
    head = [*groups, "id", *_kinds(items)]
    rows = [
        [
            *([_cell(items.group[row])] if items.group is not None else []),
            _cell(items.ids[row]),
            *_content(items, row, folder),
        ]
        for row in shown
    ]
    return _table(repr(items), head, rows, left_out)


def ordering_table(ordering: Ordering, folder: Path | None = None) -> Html:
    """Each score with a bar over the range in which the true one is with a probability of 90 %."""
    shown, left_out = _ends(len(ordering))
    items, intervals, ranks = ordering.items, ordering.intervals, ordering.ranks
    places = {} if items is None else {item: row for row, item in enumerate(items.ids)}
    reach = REACH * ordering.standard_errors
    low, high = (np.min(ordering.scores - reach, initial=0.0), np.max(ordering.scores + reach, initial=0.0))
    rows = []
    for place in shown:
        rank = str(ranks[place])
        if intervals is not None:
            rank = rank_in_words(int(ranks[place]), int(intervals.low[place]), int(intervals.high[place]))
        score, error = float(ordering.scores[place]), float(ordering.standard_errors[place])
        cells = [] if ordering.group is None else [_cell(ordering.group[place])]
        cells += [_number(rank), _cell(ordering.ids[place])]
        if items is not None:
            cells += _content(items, places[ordering.ids[place]], folder)
        bar = _bar(
            (score - reach[place] - low) / ((high - low) or 1.0), 2 * reach[place] / ((high - low) or 1.0), score
        )
        rows.append([*cells, _number(f"{score:+z.2f} ± {error:.2f}"), tag("td", bar)])
    head = [
        "rank" if intervals is None else "rank (likely)",
        "id",
        *([] if items is None else _kinds(items)),
        "score",
        "",
    ]
    if ordering.group is not None:
        head.insert(0, "group")
    return _table(f"{len(ordering):,} items, the highest score first", head, rows, left_out)


def _ends(count: int) -> tuple[list[int], int]:
    """The rows to show, and how many are left out after the first `FIRST` of them."""
    if count <= FIRST + LAST:
        return list(range(count)), 0
    return [*range(FIRST), *range(count - LAST, count)], count - FIRST - LAST


def _kinds(items: Items) -> list[str]:
    """Content that is shown in a table."""
    return [kind for kind in ("image", "text") if kind in items.content]


def _content(items: Items, row: int, folder: Path | None) -> Iterable[Html]:
    from ordinate.data.embedded_pictures import embedded

    for kind in _kinds(items):
        value = items.content[kind][row]
        if kind == "text" or value is None:
            yield _cell(value or "")
            continue
        picture = embedded(value, [folder or Path.cwd()])
        yield _cell(value) if picture is None else tag("td", tag("img", src=picture, alt=""))


def _cell(text: str) -> Html:
    line = " ".join(text.split())
    return tag("td", line if len(line) <= _LONGEST else f"{line[:_LONGEST]}…")


def _number(text: str) -> Html:
    return tag("td", text, class_="number")


def _bar(start: float, width: float, score: float) -> Html:
    rail = tag("line", x1=0, x2=100, y1=5, y2=5)
    bar = tag("rect", x=f"{100 * start:.1f}", width=f"{max(100 * width, 1):.1f}", y=1, height=8, rx=1)
    return tag(
        "svg", rail, bar, viewBox="0 0 100 10", preserveAspectRatio="none", role="img", aria_label=f"{score:+z.2f}"
    )


def _table(caption: str, head: Sequence[str], rows: list[list[Html]], left_out: int) -> Html:
    lines = [tag("tr", *row) for row in rows]
    if left_out:
        lines.insert(FIRST, tag("tr", tag("td", f"… {left_out:,} more …", colspan=len(head))))
    names = tag("thead", tag("tr", *(tag("th", name, scope="col") for name in head)))
    table = tag("table", tag("caption", caption), names, tag("tbody", *lines))
    return tag("div", joined(_STYLE, table), class_="ordinate")
