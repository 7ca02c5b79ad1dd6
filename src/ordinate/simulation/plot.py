"""Figures of something against the number of comparisons: one panel or several, with one legend beside them."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from textwrap import fill
from typing import Any, Literal, NamedTuple, get_args

import numpy as np

from ordinate.errors import InvalidInput
from ordinate.formats.files import write_bytes
from ordinate.simulation.names import Look, look
from ordinate.simulation.summary import Curve, comparisons_needed, curves
from ordinate.types import Columns, Floats, Integers

Band = Literal["one standard error", "one standard deviation", "95 % confidence interval"]
SUFFIXES = (".png", ".svg", ".pdf")

_ACROSS = 3  # panels side by side
_MARKS = 8  # markers on each line
_GREY = "#555555"
_LETTERS = 9  # of a title, per inch


class Line(NamedTuple):
    """A curve with a band; step, mean, low, high are all of one length, and a band of nan is not drawn."""

    look: Look
    step: Integers
    mean: Floats
    low: Floats
    high: Floats


class Panel(NamedTuple):
    """One pair of axes. `target` marks a value, with the number of comparisons at which each line gets there."""

    lines: Sequence[Line]
    ylabel: str
    title: str = ""
    target: float | None = None
    from_zero: bool = True


def line(curve: Curve, band: Band, number: int = 0) -> Line:
    """An algorithm's curve as it is drawn."""
    reach = spread(curve, band)
    return Line(look(curve.algorithm, number), curve.step, curve.mean, curve.mean - reach, curve.mean + reach)


def spread(curve: Curve, band: Band) -> Floats:
    """Half the width of the band at each step."""
    from scipy.stats import t

    if band not in get_args(Band):
        raise InvalidInput(f"unknown band {band!r}; there are {', '.join(get_args(Band))}")
    if band == "one standard deviation":
        return curve.standard_error * np.sqrt(curve.seeds)
    if band == "one standard error":
        return curve.standard_error
    quantile: Floats = t.ppf(0.975, np.maximum(curve.seeds - 1, 1))
    return quantile * curve.standard_error


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
    found = curves(rows)
    seeds = max(int(curve.seeds.max()) for curve in found)
    lines = [line(curve, "one standard error", number) for number, curve in enumerate(found)]
    panel = Panel(lines, ylabel, target=target)
    needed = {} if target is None else comparisons_needed(rows, target)
    marks = [(found_line.look.colour, at) for found_line, at in zip(lines, needed.values(), strict=False)]
    draw([panel], path, title=title, explanation=explain(seeds, "one standard error"), marks=marks)


def explain(seeds: int, band: Band) -> str:
    either = "" if band == "95 % confidence interval" else " either way"
    return f"Mean over {seeds} runs; the band is {_article(band)}{band}{either}" if seeds > 1 else "One run"


def _article(band: Band) -> str:
    return "the " if band == "95 % confidence interval" else ""


def draw(
    panels: Sequence[Panel],
    path: str | Path,
    *,
    title: str,
    explanation: str,
    marks: Sequence[tuple[str, float | None]] = (),
) -> None:
    """Write the figure as .png, .svg or .pdf. `marks` are the (colour, comparisons) of dots on the first target."""
    path = Path(path)
    if path.suffix.lower() not in SUFFIXES:
        raise InvalidInput(f"a plot is written to {', '.join(SUFFIXES)}; got {path.name!r}")
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    across = min(len(panels), _ACROSS)
    down = -(-len(panels) // across)
    size = (3.0 + (5.6 if len(panels) == 1 else 4.2) * across, 0.6 + (4.0 if down == 1 else 3.4) * down)
    # A Figure of its own, without pyplot: no global state, and no window system is asked for.
    figure = Figure(figsize=size, dpi=160, layout=ConstrainedLayoutEngine(w_pad=0.1, h_pad=0.1))
    handles: dict[str, Any] = {}
    places = figure.subplots(down, across, squeeze=False).flat
    for axes in list(places)[len(panels) :]:
        axes.set_axis_off()
    for axes, panel in zip(figure.axes, panels, strict=False):
        _draw_panel(axes, panel, handles)
        if panel.target is not None:
            for colour, at in marks:
                if at is not None:
                    axes.plot([at], [panel.target], "o", color=colour, markersize=5, zorder=4)
    figure.suptitle(fill(title, int(_LETTERS * size[0])), x=0.01, ha="left", fontsize=12, fontweight="bold")
    figure.supxlabel(explanation, x=0.01, ha="left", fontsize=9, color=_GREY)
    # Beside the curves, never over them.
    figure.legend(handles.values(), handles.keys(), loc="outside right center", frameon=False, handlelength=3.6)
    picture = io.BytesIO()
    figure.savefig(picture, format=path.suffix[1:].lower(), metadata=_undated(path))
    write_bytes(path, picture.getvalue())


def _undated(path: Path) -> dict[str, None]:
    """The same rows give the same bytes, so no date."""
    return {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}.get(path.suffix.lower(), {})


def _draw_panel(axes: Any, panel: Panel, handles: dict[str, Any]) -> None:
    last = max((int(one.step[-1]) for one in panel.lines), default=1)
    for number, one in enumerate(panel.lines):
        # Markers of different lines stand at different places, so that none hides another.
        count = len(one.step)
        every = max(1, count // _MARKS)
        (handle,) = axes.plot(
            one.step,
            one.mean,
            color=one.look.colour,
            linestyle=one.look.style,
            marker=one.look.marker,
            markevery=(number * every // max(1, len(panel.lines)), every),
            markersize=5.5,
            markeredgecolor="white",
            markeredgewidth=0.6,
            linewidth=1.8,
            zorder=3,
        )
        handles.setdefault(one.look.name, handle)
        if not np.isnan(one.low).all():
            axes.fill_between(one.step, one.low, one.high, color=one.look.colour, alpha=0.15, linewidth=0, zorder=2)
    if panel.target is not None:
        axes.axhline(panel.target, color=_GREY, linewidth=0.9, linestyle=(0, (1, 2)), zorder=1)
    axes.set_xlim(0, last)
    if panel.from_zero:
        # The curves fill the axes: a band of two runs can be many times as high.
        highest = max((float(np.nanmax(one.mean)) for one in panel.lines), default=1.0)
        axes.set_ylim(0, 1.05 * max(highest, panel.target or 0.0) or 1.0)
    axes.set_xlabel("Number of comparisons")
    axes.set_ylabel(panel.ylabel)
    if panel.title:
        axes.set_title(panel.title, loc="left", fontsize=10)
    axes.grid(axis="y", color="#e3e3e3", linewidth=0.8)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
