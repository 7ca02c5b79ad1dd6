"""How figures look: colours for light and dark ground, and axes without clutter.

Blue and orange of both themes are of Okabe and Ito (2008): they differ in lightness, too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

from ordinate.errors import InvalidInput

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Theme = Literal["light", "dark"]
Place = Literal["upper right", "lower right"]


class Colours(NamedTuple):
    """ground  behind the figure     ink, muted  of texts     grid  of lines behind     band  behind rows
    first, second  of what is drawn"""

    ground: str
    ink: str
    muted: str
    grid: str
    band: str
    first: str
    second: str


COLOURS: dict[Theme, Colours] = {
    "light": Colours("#fefefe", "#1b1b1d", "#56565c", "#dededf", "#f0f0f2", "#0072b2", "#c94f00"),
    "dark": Colours("#18181b", "#ededee", "#a9a9b0", "#3a3a40", "#242428", "#56b4e9", "#e69f00"),
}


def prepared(axes: Axes | None, theme: Theme, size: tuple[float, float]) -> tuple[Axes, Colours]:
    """The given axes or those of a new figure of this size in inches, in the theme's colours."""
    from ordinate.plots.shown import ShownFigure

    if theme not in COLOURS:
        raise InvalidInput(f"unknown theme {theme!r}; it is {' or '.join(COLOURS)}")
    colours = COLOURS[theme]
    if axes is None:
        # A figure without pyplot: it has no global state and needs no window system.
        axes = ShownFigure(figsize=size, dpi=160, layout="constrained").subplots()
    figure_of(axes).set_facecolor(colours.ground)
    axes.set_facecolor(colours.ground)
    axes.tick_params(colors=colours.muted, labelcolor=colours.ink, length=0, labelsize=9)
    for side, spine in axes.spines.items():
        spine.set_visible(side in ("left", "bottom"))
        spine.set_color(colours.grid)
    for label in (axes.xaxis.label, axes.yaxis.label):
        label.set_color(colours.muted)
        label.set_fontsize(9)
    axes.set_axisbelow(True)
    return axes, colours


def figure_of(axes: Axes) -> Figure:
    """The figure that the axes are in."""
    figure = axes.get_figure(root=True)
    assert figure is not None
    return figure


def legend(axes: Axes, colours: Colours, place: Place) -> None:
    axes.legend(loc=place, frameon=False, fontsize=9, labelcolor=colours.ink)


def nothing(axes: Axes, colours: Colours, said: str) -> None:
    """A sentence where there is nothing to draw."""
    axes.set_axis_off()
    axes.text(0.5, 0.5, said, ha="center", va="center", color=colours.muted, transform=axes.transAxes)


def short(text: str, most: int = 28) -> str:
    """On one line, at most so many letters, and no formulas for Matplotlib."""
    line = " ".join(text.split())
    line = line if len(line) <= most else f"{line[: most - 1]}…"
    return line.replace("$", r"\$")
