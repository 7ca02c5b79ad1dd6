"""A reliability diagram: answers about random pairs, by how sure the answers before them were."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ordinate.learning.calibration import Bin
from ordinate.plots.theme import Theme, figure_of, legend, nothing, prepared

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def calibration(bins: Sequence[Bin], *, axes: Axes | None = None, theme: Theme = "light") -> Figure:
    """bins: as `Study.check().calibration` has them. On the diagonal, predictions hold."""
    drawn, colours = prepared(axes, theme, (4.6, 4.2))
    if not bins:
        nothing(drawn, colours, "No answers about random pairs could be predicted.")
        return figure_of(drawn)
    drawn.plot([50, 100], [50, 100], color=colours.muted, linewidth=1.2, linestyle=(0, (4, 3)), label="as predicted")
    for number, one in enumerate(bins):
        place, low, high = (100.0 * share for share in (one.predicted, one.observed.low, one.observed.high))
        drawn.vlines(place, low, high, color=colours.first, linewidth=2.0)
        drawn.plot(
            place,
            100.0 * one.observed.estimate,
            "o",
            color=colours.first,
            markersize=7,
            markeredgecolor=colours.ground,
            label="observed, with an interval of 90 %" if number == 0 else None,
        )
        drawn.annotate(
            f"{one.answers:,}", (place, high), xytext=(0, 3), textcoords="offset points", ha="center",
            fontsize=8, color=colours.muted,
        )  # fmt: skip
    drawn.set_xlim(48, 102)
    drawn.set_ylim(0, 108)
    drawn.set_xlabel("Predicted chance of the likelier answer (%)")
    drawn.set_ylabel("Share that gave it (%)")
    drawn.grid(color=colours.grid, linewidth=0.7)
    legend(drawn, colours, "lower right")
    return figure_of(drawn)
