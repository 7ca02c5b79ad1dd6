"""The annotators side by side: how many answers each gave, and how surprising these are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ordinate.plots.theme import Theme, figure_of, nothing, prepared, short
from ordinate.study.checking import AnnotatorFigures

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def annotators(
    figures: Sequence[AnnotatorFigures], *, most: int = 40, axes: Axes | None = None, theme: Theme = "light"
) -> Figure:
    """figures: as `Study.check().annotators` has them; the `most` with the most answers, whose number is in brackets.
    Right of the dotted line, answers surprise more than chance explains."""
    shown = sorted(figures, key=lambda one: -one.answers)[:most]
    drawn, colours = prepared(axes, theme, (7.0, 0.9 + 0.24 * max(len(shown), 3)))
    if not shown:
        nothing(drawn, colours, "There are no annotators.")
        return figure_of(drawn)
    height = np.arange(len(shown))
    surprise = np.array([one.surprise for one in shown])
    odd = np.array([one.surprise > one.limit for one in shown])
    drawn.hlines(height, np.minimum(surprise, 0.0), np.maximum(surprise, 0.0), color=colours.grid, linewidth=2.0)
    for mask, colour, marker in ((~odd, colours.first, "o"), (odd, colours.second, "D")):
        drawn.plot(surprise[mask], height[mask], marker, color=colour, markersize=7, markeredgecolor=colours.ground)
    drawn.axvline(0.0, color=colours.grid, linewidth=1.0)
    drawn.axvline(shown[0].limit, color=colours.muted, linewidth=1.0, linestyle=(0, (1, 2)))
    drawn.set_yticks(height, [f"{short(one.name or 'unnamed', 20)} ({one.answers:,})" for one in shown])
    drawn.set_ylim(len(shown) - 0.4, -0.6)
    reach = 1.15 * max(float(np.abs(surprise).max()), shown[0].limit, 1.0)
    drawn.set_xlim(-reach, reach)
    drawn.set_xlabel("Surprise of the answers, in standard deviations; dotted: the most that chance explains")
    drawn.spines["left"].set_visible(False)
    drawn.grid(axis="x", color=colours.grid, linewidth=0.7)
    return figure_of(drawn)
