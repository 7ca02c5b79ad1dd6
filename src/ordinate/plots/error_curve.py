"""The expected error by number of answers, and how it will fall."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ordinate.learning.forecast import Forecast
from ordinate.plots.theme import Theme, figure_of, legend, nothing, prepared

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_FURTHEST = 4.0
"""Times the answers so far, up to which the forecast is drawn."""
_LEAST = 1.5


def expected_error(
    history: Sequence[tuple[int, float]],
    forecast: Forecast | None = None,
    *,
    axes: Axes | None = None,
    theme: Theme = "light",
) -> Figure:
    """history: (answers, expected error), as `Study.error_history` gives it; the forecast with its band of 80 %."""
    drawn, colours = prepared(axes, theme, (7.0, 3.4))
    if len(history) < 2:
        nothing(drawn, colours, "There are too few answers for a curve.")
        return figure_of(drawn)
    answers, error = np.array(history).T
    drawn.plot(
        answers, 100.0 * error, color=colours.first, linewidth=2.0, marker="o", markersize=3.5, label="expected error"
    )
    decline = None if forecast is None else forecast.decline
    if forecast is not None and decline is not None:
        needed = decline.answers + decline.answers_for(forecast.target).high
        last = int(min(max(needed, _LEAST * decline.answers), _FURTHEST * decline.answers))
        ahead = np.linspace(decline.answers, last, 40)
        course = np.array([decline.error_after(int(one)) for one in ahead])
        drawn.fill_between(
            ahead, 100.0 * course[:, 1], 100.0 * course[:, 2], color=colours.second, alpha=0.2, linewidth=0
        )
        drawn.plot(
            ahead, 100.0 * course[:, 0], color=colours.second, linewidth=2.0, linestyle=(0, (4, 2)),
            label="forecast, likely within the band (80 %)",
        )  # fmt: skip
        drawn.axhline(100.0 * forecast.target, color=colours.muted, linewidth=1.0, linestyle=(0, (1, 2)))
        drawn.annotate(
            f"target {100.0 * forecast.target:g} %",
            (1.0, 100.0 * forecast.target),
            xycoords=("axes fraction", "data"),
            xytext=(-2, 3),
            textcoords="offset points",
            ha="right",
            color=colours.muted,
            fontsize=9,
        )
    drawn.set_ylim(0, None)
    drawn.set_xlim(0, None)
    drawn.set_xlabel("Answers")
    drawn.set_ylabel("Pairs in the wrong order (%)")
    drawn.grid(axis="y", color=colours.grid, linewidth=0.7)
    legend(drawn, colours, "upper right")
    return figure_of(drawn)
