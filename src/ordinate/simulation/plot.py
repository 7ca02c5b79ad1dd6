"""Figures of a measure by number of comparisons: one panel or several, with one legend beside them."""

from __future__ import annotations

import io
from collections.abc import Collection, Sequence
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

import numpy as np

from ordinate.data.arrays import Floats, Integers
from ordinate.data.formats.files import write_bytes
from ordinate.data.tables import Columns
from ordinate.errors import InvalidInput
from ordinate.simulation.names import Look, look
from ordinate.simulation.summary import Curve, comparisons_needed, curves, numbers_of_seeds, parts, span

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Band = Literal["one standard error", "one standard deviation", "95 % confidence interval"]
SUFFIXES = (".png", ".svg", ".pdf")

ONE_COLUMN, TWO_COLUMNS = 3.4, 7.0  # inches, as in most journals

_MAX_COLUMNS = 3  # panels side by side
_WIDEST, _THINNEST = 3.0, 1.2  # points
_MARKERS = 8  # on each line
_ROOM = 1.5  # times the highest point of the curves, at most, for their bands
_GREY = "#555555"
_LETTERS_PER_INCH = 9  # of a title


class Line(NamedTuple):
    """A curve with a band. The arrays step, mean, low and high have one length; a band of NaN is not drawn.

    reached  the number of comparisons at which the curve reaches the panel's target, marked in the figure
    """

    look: Look
    step: Integers
    mean: Floats
    low: Floats
    high: Floats
    reached: float | None = None


class Panel(NamedTuple):
    """One pair of axes.

    target  a value to mark with a line
    log     whether the vertical axis is logarithmic
    """

    lines: Sequence[Line]
    ylabel: str
    title: str = ""
    target: float | None = None
    from_zero: bool = True
    xlabel: str = "Number of comparisons"
    log: bool = False


def line(curve: Curve, band: Band, number: int = 0) -> Line:
    """The line of an algorithm's curve."""
    half = half_width(curve, band)
    return Line(look(curve.algorithm, number), curve.step, curve.mean, curve.mean - half, curve.mean + half)


def half_width(curve: Curve, band: Band) -> Floats:
    """Half the width of the band at each step."""
    from scipy.stats import t

    if band not in get_args(Band):
        raise InvalidInput(f"unknown band {band!r}; there are {', '.join(get_args(Band))}")
    if band == "one standard deviation":
        deviation: Floats = curve.standard_error * np.sqrt(curve.seeds)
        return deviation
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
    """Draw the columns of `simulate`: the mean over seeds, plus and minus one standard error.

    path    .png, .svg or .pdf
    target  an error to mark, with the number of comparisons that each algorithm needs to reach it
    """
    needed = {} if target is None else comparisons_needed(rows, target)
    lines = [
        line(curve, "one standard error", number)._replace(reached=needed.get(curve.algorithm))
        for number, curve in enumerate(curves(rows))
    ]
    explanation = explain(numbers_of_seeds(rows), "one standard error")
    draw([Panel(lines, ylabel, target=target)], path, title=title, explanation=explanation)


def plot_measures(rows: Columns, path: str | Path, *, title: str) -> None:
    """Draw each part of the columns of `simulate` in a panel of its own, as `plot_error` does."""
    panels = []
    for part, measured in parts(rows).items():
        lines = [line(curve, "one standard error", number) for number, curve in enumerate(curves(measured))]
        panels.append(Panel(lines, part.capitalize()))
    draw(panels, path, title=title, explanation=explain(numbers_of_seeds(rows), "one standard error"))


def explain(seeds: Collection[int], band: Band) -> str:
    """The explanation below a figure. `seeds`: the numbers of runs that the lines are means of."""
    if max(seeds, default=0) < 2:
        return "One run"
    said = f"the {band}" if band == "95 % confidence interval" else f"{band} either way"
    return f"Mean over {span(seeds)} runs; the band is {said}"


def draw(
    panels: Sequence[Panel], path: str | Path, *, title: str, explanation: str, width: float | None = None
) -> None:
    """Write the figure as .png, .svg or .pdf. The same panels give the same bytes.

    width  in inches, of a figure to be printed; the legend is below it then
    """
    import matplotlib

    path = Path(path)
    if path.suffix.lower() not in SUFFIXES:
        raise InvalidInput(f"a plot is written to {', '.join(SUFFIXES)}; got {path.name!r}")
    picture = io.BytesIO()
    printed: dict[Any, Any] = {} if width is None else {"font.size": 7, "axes.titlesize": 7, "figure.titlesize": 7}
    with matplotlib.rc_context({"svg.hashsalt": "ordinate", "axes.titlesize": 10, **printed}):
        figure(panels, title, explanation, width).savefig(
            picture, format=path.suffix[1:].lower(), metadata=_undated(path)
        )
    write_bytes(path, picture.getvalue())


def figure(panels: Sequence[Panel], title: str, explanation: str, width: float | None = None) -> Figure:
    """The panels, up to three in a row, with the legend to their right or, if the width is given, below them."""
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    columns = min(len(panels), _MAX_COLUMNS)
    rows = -(-len(panels) // columns)
    if width is None:
        size = (3.0 + (5.6 if len(panels) == 1 else 4.2) * columns, 0.6 + (4.0 if rows == 1 else 3.4) * rows)
    else:
        entries = len({one.look.name for panel in panels for one in panel.lines})
        size = (width, 0.75 * width / columns * rows + 0.16 * -(-entries // _legend_columns(width)))
    # A Figure without pyplot: it has no global state and needs no window system.
    drawn = Figure(figsize=size, dpi=160, layout=ConstrainedLayoutEngine(w_pad=0.1, h_pad=0.1))
    handles: dict[str, Any] = {}
    places = list(drawn.subplots(rows, columns, squeeze=False).flat)
    for axes, panel in zip(places, panels, strict=False):
        _draw_panel(axes, panel, handles, 1.0 if width is None else 0.5)
    for axes in places[len(panels) :]:
        axes.set_axis_off()
    if title:
        drawn.suptitle(fill(title, int(_LETTERS_PER_INCH * size[0])), x=0.01, ha="left", fontsize=12, fontweight="bold")
    if explanation:
        drawn.supxlabel(explanation, x=0.01, ha="left", fontsize=9, color=_GREY)
    # Outside the axes, so that it covers no curve.
    place: Literal["outside right center", "outside lower left"]
    place = "outside right center" if width is None else "outside lower left"
    columns = 1 if width is None else _legend_columns(width)
    drawn.legend(list(handles.values()), list(handles), loc=place, frameon=False, handlelength=3.6, ncols=columns)
    return drawn


def _legend_columns(width: float) -> int:
    """Of the legend below a printed figure; the longest names take half a page."""
    return max(1, int(width / ONE_COLUMN))


def _undated(path: Path) -> dict[str, None]:
    """The metadata that leave the date out of the file."""
    return {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}.get(path.suffix.lower(), {})


def _draw_panel(axes: Any, panel: Panel, handles: dict[str, Any], thickness: float) -> None:
    last = max((int(one.step[-1]) for one in panel.lines), default=1)
    for number, one in enumerate(panel.lines):
        # The markers of different lines are at different steps, so that none covers another.
        count = len(one.step)
        every = max(1, count // _MARKERS)
        (handle,) = axes.plot(
            one.step,
            one.mean,
            color=one.look.colour,
            linestyle=one.look.style,
            marker=one.look.marker,
            markevery=(number * every // max(1, len(panel.lines)), every),
            markersize=5.5 * thickness,
            markeredgecolor="white",
            markeredgewidth=0.6 * thickness,
            # Each line is thinner than the one before, so that a curve beneath another can be seen on both sides of it.
            linewidth=thickness * (_WIDEST + (_THINNEST - _WIDEST) * number / max(1, len(panel.lines) - 1)),
            zorder=3,
        )
        handles.setdefault(one.look.name, handle)
        if not np.isnan(one.low).all():
            axes.fill_between(one.step, one.low, one.high, color=one.look.colour, alpha=0.15, linewidth=0, zorder=2)
    if panel.target is not None:
        axes.axhline(panel.target, color=_GREY, linewidth=0.9, linestyle=(0, (1, 2)), zorder=1)
        for one in panel.lines:
            if one.reached is not None:
                axes.plot([one.reached], [panel.target], "o", color=one.look.colour, markersize=6, zorder=4)
    axes.set_xlim(0, last)
    if panel.log:
        axes.set_yscale("log")
    elif panel.from_zero:
        # The axes are scaled to the curves, with room for their bands: that of two runs can be many times as high.
        highest = max((float(np.nanmax(one.mean)) for one in panel.lines), default=1.0)
        band = max((float(np.fmax.reduce(one.high)) for one in panel.lines), default=1.0)
        room = min(band, _ROOM * highest) if band > highest else highest
        axes.set_ylim(0, 1.05 * max(room, panel.target or 0.0) or 1.0)
    axes.set_xlabel(panel.xlabel)
    axes.set_ylabel(panel.ylabel)
    if panel.title:
        axes.set_title(panel.title, loc="left")
    axes.grid(axis="y", color="#e3e3e3", linewidth=0.8)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
