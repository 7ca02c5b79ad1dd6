"""A caterpillar plot: each item's rank and the ranks that it may have; items that cannot be told apart are together."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ordinate.data.arrays import Integers
from ordinate.data.ordering import Ordering
from ordinate.errors import InvalidInput
from ordinate.plots.theme import Theme, figure_of, nothing, prepared, short

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_HEADER = 0.5
_ROW = 0.19
"""Inches."""


class Line(NamedTuple):
    """A line of the plot: an item's place in the ordering, the name of a group, or how many items are left out."""

    place: int | None = None
    said: str = ""


def caterpillar(ordering: Ordering, *, most: int = 60, axes: Axes | None = None, theme: Theme = "light") -> Figure:
    """At most `most` items, of each group its first and its last ones. Items
    that the answers cannot tell apart are on one band, shaded or not."""
    if ordering.intervals is None:
        raise InvalidInput("this ordering has no intervals of ranks; take that of the study's own items")
    from matplotlib.ticker import MaxNLocator

    lines = chosen_lines(ordering, most)
    drawn, colours = prepared(axes, theme, (7.0, _HEADER + _ROW * max(len(lines), 4)))
    if not len(ordering):
        nothing(drawn, colours, "There are no items.")
        return figure_of(drawn)
    intervals, ranks = ordering.intervals, ordering.ranks
    places = np.array([line.place for line in lines if line.place is not None], dtype=np.int64)
    height = np.array([number for number, line in enumerate(lines) if line.place is not None], dtype=np.float64)
    for low, high in _bands(intervals.tied_low[places], height):
        drawn.axhspan(low - 0.5, high + 0.5, color=colours.band, linewidth=0, zorder=0)
    drawn.hlines(height, intervals.low[places], intervals.high[places], color=colours.first, linewidth=2.0, zorder=2)
    drawn.plot(
        ranks[places], height, "o", color=colours.first, markersize=4.5, markeredgecolor=colours.ground, zorder=3
    )
    drawn.set_yticks(range(len(lines)), [_label(ordering, line) for line in lines])
    for tick, line in zip(drawn.get_yticklabels(), lines, strict=True):
        tick.set_fontsize(8)
        if line.place is None:
            tick.set_color(colours.muted)
    drawn.set_ylim(len(lines) - 0.4, -0.6)
    drawn.set_xlim(0.5, float(intervals.high.max()) + 0.5)
    drawn.xaxis.set_major_locator(MaxNLocator(integer=True))
    drawn.xaxis.tick_top()
    drawn.xaxis.set_label_position("top")
    drawn.set_xlabel("Rank, and the ranks that are likely (90 %)")
    drawn.grid(axis="x", color=colours.grid, linewidth=0.7)
    drawn.spines[["bottom", "left"]].set_visible(False)
    return figure_of(drawn)


def _label(ordering: Ordering, line: Line) -> str:
    return short(ordering.ids[line.place]) if line.place is not None else short(line.said)


def chosen_lines(ordering: Ordering, most: int) -> list[Line]:
    """Group after group, with the name of each where there are several; two in three lines are of first items."""
    names = ordering.group or ("",) * len(ordering)
    groups: dict[str, list[int]] = {}
    for place, name in enumerate(names):
        groups.setdefault(name, []).append(place)
    lines: list[Line] = []
    room = max(2, most // max(len(groups), 1))
    for name, inside in groups.items():
        if ordering.group is not None:
            lines.append(Line(said=f"{name}:"))
        if len(inside) <= room:
            lines += [Line(place) for place in inside]
            continue
        first = -(-2 * room // 3)
        lines += [Line(place) for place in inside[:first]]
        lines.append(Line(said=f"{len(inside) - room:,} more"))
        lines += [Line(place) for place in inside[len(inside) - (room - first) :]]
    return lines


def _bands(tied: Integers, height: np.ndarray[tuple[int], np.dtype[np.float64]]) -> list[tuple[float, float]]:
    """First and last line of every other set that cannot be told apart, so that neighbouring sets can be told apart."""
    starts = np.flatnonzero(np.r_[True, (np.diff(tied) != 0) | (np.diff(height) != 1)])
    ends = np.r_[starts[1:], len(tied)] - 1
    return [(float(height[a]), float(height[b])) for a, b in zip(starts[::2], ends[::2], strict=True)]
