"""The figures: what is drawn is what was given, in light and dark, into axes of the caller's too."""

import io
from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure
from PIL import Image

from ordinate import plots
from ordinate.data.comparisons import Comparison
from ordinate.data.ordering import Interval, Ordering, RankIntervals
from ordinate.errors import InvalidInput
from ordinate.learning.calibration import Bin
from ordinate.learning.forecast import Decline, Forecast
from ordinate.plots.rank_intervals import chosen_lines
from ordinate.plots.theme import COLOURS, prepared
from ordinate.study.checking import AnnotatorFigures


def inside(figure: Figure) -> Any:
    """The only axes of a figure."""
    (axes,) = figure.axes
    return axes


def ordering(items: int, groups: int = 1) -> Ordering:
    each = items // groups
    rank = np.tile(np.arange(1, each + 1), groups)
    return Ordering(
        ids=tuple(f"item $x_{row}$" for row in range(items)),
        scores=-rank.astype(float),
        standard_errors=np.ones(items),
        group=None if groups == 1 else tuple(f"group {row // each}" for row in range(items)),
        intervals=RankIntervals(
            np.maximum(rank - 1, 1), np.minimum(rank + 2, each), (rank == 1).astype(float), (rank + 1) // 2, rank
        ),
    )


BINS = (Bin(0.5, 0.6, 8, 0.55, Interval(0.5, 0.3, 0.7)), Bin(0.9, 1.0, 20, 0.95, Interval(0.9, 0.8, 1.0)))
PEOPLE = (AnnotatorFigures("ada $", 20, -0.5, 2.5, 0.01), AnnotatorFigures(None, 50, 3.0, 2.5, None))
DECLINE = Decline(answers=200, error=0.15, exponent=0.5, spread=0.1)
FORECAST = Forecast(0.1, 200, 0.15, DECLINE, 3.0, False, None)
HISTORY = [(0, 0.5), (100, 0.2), (200, 0.15)]
ANSWERS = [Comparison("item $x_0$", "item $x_1$", "left"), Comparison("item $x_0$", "item $x_2$", "right")]
DRAWN: dict[str, Any] = {
    "caterpillar": lambda **given: plots.caterpillar(ordering(12), **given),
    "groups": lambda **given: plots.caterpillar(ordering(12, 3), **given),
    "expected_error": lambda **given: plots.expected_error(HISTORY, FORECAST, **given),
    "calibration": lambda **given: plots.calibration(BINS, **given),
    "annotators": lambda **given: plots.annotators(PEOPLE, **given),
    "comparisons": lambda **given: plots.comparisons(ordering(12), ANSWERS, **given),
    "no history": lambda **given: plots.expected_error([(0, 0.5)], **given),
    "no bins": lambda **given: plots.calibration([], **given),
    "nobody": lambda **given: plots.annotators([], **given),
    "no answers": lambda **given: plots.comparisons(ordering(12), [], **given),
    "no items": lambda **given: plots.caterpillar(ordering(0), **given),
}


@pytest.mark.parametrize("theme", COLOURS)
@pytest.mark.parametrize("name", DRAWN)
def test_every_figure_can_be_drawn_on_either_ground(name: str, theme: Any, tmp_path: Any) -> None:
    figure = DRAWN[name](theme=theme)
    figure.savefig(tmp_path / "figure.png", dpi=40)
    assert figure.get_facecolor() == pytest.approx(rgba(COLOURS[theme].ground))


@pytest.mark.parametrize("name", DRAWN)
def test_axes_of_the_caller_are_drawn_into(name: str) -> None:
    figure = Figure()
    axes = figure.subplots(1, 2)
    assert DRAWN[name](axes=axes[0]) is figure
    assert not axes[1].lines


def rgba(colour: str) -> tuple[float, ...]:
    return (*(int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)), 1.0)


@pytest.mark.parametrize("colours", COLOURS.values(), ids=COLOURS)
def test_texts_stand_out_from_their_ground(colours: Any) -> None:
    """A contrast of 4.5, as WCAG asks for; 3 of what is drawn."""
    for colour, least in ((colours.ink, 4.5), (colours.muted, 4.5), (colours.first, 3.0), (colours.second, 3.0)):
        for ground in (colours.ground, colours.band):
            high, low = sorted((luminance(colour), luminance(ground)), reverse=True)
            assert (high + 0.05) / (low + 0.05) >= least, colour


def luminance(colour: str) -> float:
    parts = [part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in rgba(colour)[:3]]
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]


def test_the_caterpillar_has_each_items_interval_and_rank() -> None:
    axes = inside(plots.caterpillar(ordering(6)))
    (lines,) = axes.collections
    assert [tuple(segment[:, 0]) for segment in lines.get_segments()] == [
        (1, 3),
        (1, 4),
        (2, 5),
        (3, 6),
        (4, 6),
        (5, 6),
    ]
    assert axes.lines[0].get_xdata().tolist() == [1, 2, 3, 4, 5, 6]
    assert axes.get_yticklabels()[0].get_text() == r"item \$x_0\$", "no formula"


def test_of_many_items_the_first_and_last_of_each_group_are_drawn_and_the_rest_counted() -> None:
    lines = chosen_lines(ordering(40, 2), 12)
    assert [line.place for line in lines] == [None, 0, 1, 2, 3, None, 18, 19, None, 20, 21, 22, 23, None, 38, 39]
    assert [line.said for line in lines if line.place is None] == ["group 0:", "14 more", "group 1:", "14 more"]
    assert [line.place for line in chosen_lines(ordering(5), 5)] == [0, 1, 2, 3, 4]


def test_a_notebook_shows_a_figure() -> None:
    figure: Any = plots.caterpillar(ordering(12))
    data, shown = figure._repr_png_()
    with Image.open(io.BytesIO(data)) as picture:
        assert picture.format == "PNG"
        assert picture.width > 1.5 * shown["width"]  # sharp on fine screens
    assert shown["width"] == 672


def test_an_ordering_without_intervals_has_no_caterpillar() -> None:
    with pytest.raises(InvalidInput, match="no intervals of ranks"):
        plots.caterpillar(Ordering(("a",), np.zeros(1), np.ones(1)))


def test_the_error_is_in_percent_and_the_forecast_starts_where_it_ends() -> None:
    past, ahead = inside(plots.expected_error(HISTORY, FORECAST)).lines[:2]
    assert past.get_ydata().tolist() == [50, 20, 15]
    assert (ahead.get_xdata()[0], ahead.get_ydata()[0]) == pytest.approx((200, 15.0))
    assert ahead.get_ydata()[-1] <= 15.0


def test_the_diagram_has_predicted_and_observed_shares() -> None:
    _, *points = inside(plots.calibration(BINS)).lines
    found = [place for point in points for place in (point.get_xdata()[0], point.get_ydata()[0])]
    assert found == pytest.approx([55, 50, 95, 90])


def test_who_surprises_too_much_has_a_mark_of_its_own() -> None:
    fitting, odd = inside(plots.annotators(PEOPLE)).lines[:2]
    assert fitting.get_marker() != odd.get_marker()
    assert (fitting.get_xdata().tolist(), odd.get_xdata().tolist()) == ([-0.5], [3.0])


def test_answers_against_the_order_are_above_the_diagonal() -> None:
    agree, against = inside(plots.comparisons(ordering(12), ANSWERS)).collections
    assert agree.get_offsets().tolist() == [[1, 2]]
    assert against.get_offsets().tolist() == [[3, 1]]


def test_by_how_much_somebody_preferred_an_item_changes_no_point_and_two_bad_items_are_a_tie() -> None:
    stronger = [
        Comparison("item $x_0$", "item $x_1$", "left-much"),
        Comparison("item $x_3$", "item $x_2$", "right-slightly"),
        Comparison("item $x_0$", "item $x_2$", "right-much"),
        Comparison("item $x_1$", "item $x_0$", "left-slightly"),
        Comparison("item $x_4$", "item $x_5$", "both-bad"),
    ]
    agree, against = inside(plots.comparisons(ordering(12), stronger)).collections
    assert agree.get_offsets().tolist() == [[1, 2], [3, 4]]
    assert against.get_offsets().tolist() == [[3, 1], [2, 1]]
    assert not inside(plots.comparisons(ordering(12), stronger[-1:])).collections


def test_an_unknown_theme_is_refused():
    with pytest.raises(InvalidInput, match="unknown theme 'blue'; it is light or dark"):
        prepared(None, "blue", (4.0, 4.0))  # type: ignore[arg-type]
