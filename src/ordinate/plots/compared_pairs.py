"""Which pairs were compared, by the ranks of their items, and which answers the order contradicts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ordinate.data.comparisons import Comparison, plain_outcome
from ordinate.data.ordering import Ordering
from ordinate.plots.theme import Theme, figure_of, nothing, prepared

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_MOST = 2000
"""Answers; of more, as many are drawn at even steps."""


def comparisons(
    ordering: Ordering, answers: Sequence[Comparison], *, axes: Axes | None = None, theme: Theme = "light"
) -> Figure:
    """A point for each answer. Near the diagonal, items are close in rank; ties are left out."""
    from matplotlib.ticker import MaxNLocator

    drawn, colours = prepared(axes, theme, (4.6, 4.2))
    rank = dict(zip(ordering.ids, ordering.ranks.tolist(), strict=True))
    known = [one for one in answers if one.left in rank and one.right in rank]
    decided = [one for one in known if plain_outcome(one.outcome) != "tie"]
    if not decided:
        nothing(drawn, colours, "There are no answers but ties.")
        return figure_of(drawn)
    decided = [decided[place] for place in np.linspace(0, len(decided) - 1, min(len(decided), _MOST)).astype(int)]
    pairs = [one[:2] if plain_outcome(one.outcome) == "left" else (one.right, one.left) for one in decided]
    winner, loser = np.array([(rank[one], rank[other]) for one, other in pairs]).T
    agrees = winner < loser
    for mask, colour, marker, said in (
        (agrees, colours.first, "o", "as the order has it"),
        (~agrees, colours.second, "x", "against the order"),
    ):
        shape = {"linewidth": 1.2} if marker == "x" else {"linewidth": 0}
        drawn.scatter(winner[mask], loser[mask], s=14, color=colour, marker=marker, alpha=0.7, label=said, **shape)
    last = max(rank.values()) + 1
    drawn.plot([0, last], [0, last], color=colours.grid, linewidth=1.0, zorder=0)
    for axis in (drawn.xaxis, drawn.yaxis):
        axis.set_major_locator(MaxNLocator(integer=True))
    drawn.set_xlim(0, last)
    drawn.set_ylim(last, 0)
    drawn.set_xlabel("Rank of the item that won")
    drawn.set_ylabel("Rank of the other one")
    drawn.legend(
        loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2, frameon=False, fontsize=9, labelcolor=colours.ink
    )
    return figure_of(drawn)
