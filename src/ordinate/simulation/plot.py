"""The figure of error against the number of comparisons."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np

from ordinate.errors import InvalidInput
from ordinate.formats.files import write_bytes
from ordinate.simulation.summary import comparisons_needed, curves
from ordinate.types import Columns

# Okabe and Ito's colours, which colour-blind people can tell apart; line styles say the same again.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
STYLES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)))
SUFFIXES = (".png", ".svg", ".pdf")


def plot_error(
    rows: Columns,
    path: str | Path,
    *,
    title: str = "Error against number of comparisons",
    ylabel: str = "Error",
    target: float | None = None,
) -> None:
    """Draw the columns of `simulate`: mean over seeds, with a band of one standard error either way.

    path    .png, .svg or .pdf
    target  an error to mark, with the number of comparisons that each algorithm needs for it
    """
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    path = Path(path)
    if path.suffix.lower() not in SUFFIXES:
        raise InvalidInput(f"a plot is written to {', '.join(SUFFIXES)}; got {path.name!r}")
    found = curves(rows)
    # A Figure of its own, without pyplot: no global state, and no window system is asked for.
    figure = Figure(figsize=(8.6, 4.6), dpi=160, layout=ConstrainedLayoutEngine(w_pad=0.12, h_pad=0.12))
    axes = figure.add_subplot()
    for number, curve in enumerate(found):
        colour = COLOURS[number % len(COLOURS)]
        style = STYLES[(number + number // len(COLOURS)) % len(STYLES)]
        axes.plot(curve.step, curve.mean, color=colour, linestyle=style, linewidth=1.9, label=curve.algorithm, zorder=3)
        if not np.isnan(curve.standard_error).all():
            low, high = curve.mean - curve.standard_error, curve.mean + curve.standard_error
            axes.fill_between(curve.step, low, high, color=colour, alpha=0.18, linewidth=0, zorder=2)
    if target is not None:
        axes.axhline(target, color="#555555", linewidth=0.9, linestyle=(0, (1, 2)), zorder=1)
        for number, needed in enumerate(comparisons_needed(rows, target).values()):
            if needed is not None:
                axes.plot([needed], [target], "o", color=COLOURS[number % len(COLOURS)], markersize=5, zorder=4)
    last = max(int(curve.step[-1]) for curve in found)
    seeds = max(int(curve.seeds.max()) for curve in found)
    axes.set_xlim(0, last)
    axes.set_ylim(bottom=0)
    axes.set_xlabel("Number of comparisons")
    axes.set_ylabel(ylabel)
    axes.set_title(title, loc="left", fontsize=12, fontweight="bold", pad=22)
    axes.text(0, 1.025, _explanation(seeds), transform=axes.transAxes, fontsize=9, color="#555555")
    axes.grid(axis="y", color="#e3e3e3", linewidth=0.8)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    figure.legend(loc="outside right upper", frameon=False, handlelength=3.2)
    picture = io.BytesIO()
    figure.savefig(picture, format=path.suffix[1:].lower())
    write_bytes(path, picture.getvalue())


def _explanation(seeds: int) -> str:
    return f"Mean over {seeds} runs; the band is one standard error either way" if seeds > 1 else "One run"
