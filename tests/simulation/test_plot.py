from typing import Any

import numpy as np
import pytest
from PIL import Image

from ordinate.algorithms import ALGORITHMS
from ordinate.errors import InvalidInput
from ordinate.simulation.contact_sheet import contact_sheet
from ordinate.simulation.names import look
from ordinate.simulation.plot import Line, Panel, figure, half_width, line, plot_error
from ordinate.simulation.summary import curves

ROWS: dict[str, list[Any]] = {
    "algorithm": ["one"] * 6 + ["two"] * 3,
    "seed": [0, 0, 0, 1, 1, 1, 0, 0, 0],
    "step": [0, 50, 100] * 3,
    "error": [0.5, 0.3, 0.1, 0.5, 0.2, 0.1, 0.5, 0.4, 0.3],
    "seconds": [0.0] * 9,
}


@pytest.mark.parametrize(
    ("suffix", "magic"), [("png", b"\x89PNG"), ("svg", b"<?xml"), ("pdf", b"%PDF"), ("PNG", b"\x89PNG")]
)
def test_a_plot_is_written_in_the_format_of_its_suffix(tmp_path, suffix, magic):
    path = tmp_path / f"error.{suffix}"
    plot_error(ROWS, path, target=0.35)
    assert path.read_bytes().startswith(magic)
    assert list(tmp_path.iterdir()) == [path]


def test_a_plot_says_what_its_axes_bands_and_lines_are(tmp_path):
    import matplotlib

    with matplotlib.rc_context({"svg.fonttype": "none"}):
        plot_error(ROWS, tmp_path / "error.svg", title="A title", ylabel="Wrong pairs")
    text = (tmp_path / "error.svg").read_text()
    for words in ("A title", "Wrong pairs", "Number of comparisons", "one standard error", "one", "two"):
        assert words in text


def test_the_legend_is_beside_the_curves_and_names_every_line():
    lines = [line(curve, "one standard deviation", number) for number, curve in enumerate(curves(ROWS))]
    several = [Panel(lines, "Error", f"Panel {k}") for k in range(5)]
    drawn = figure(several, "A title that is long enough to need a second line above the panels " * 3, "Explained")
    drawn.canvas.draw()
    (legend,) = drawn.legends
    title = drawn.texts[0]
    assert [text.get_text() for text in legend.get_texts()] == ["one", "two"]
    inside = [axes for axes in drawn.axes if axes.axison]
    assert len(inside) == 5
    for axes in inside:
        assert axes.get_xlabel()
        assert axes.get_ylabel()
        assert not axes.get_window_extent().overlaps(legend.get_window_extent())
        assert not axes.title.get_window_extent().overlaps(title.get_window_extent())
    assert not legend.get_window_extent().overlaps(title.get_window_extent())


def test_the_same_rows_give_the_same_file(tmp_path):
    for suffix in ("svg", "pdf", "png"):
        for name in ("one", "two"):
            plot_error(ROWS, tmp_path / f"{name}.{suffix}")
        assert (tmp_path / f"one.{suffix}").read_bytes() == (tmp_path / f"two.{suffix}").read_bytes()


def test_bands_are_what_they_are_called():
    (one, _) = curves(ROWS)
    assert np.allclose(half_width(one, "one standard deviation"), [0.0, float(np.std([0.3, 0.2], ddof=1)), 0.0])
    assert np.allclose(half_width(one, "one standard error"), half_width(one, "one standard deviation") / np.sqrt(2))
    assert np.allclose(
        half_width(one, "95 % confidence interval"), 12.7062 * half_width(one, "one standard error"), rtol=1e-4
    )
    with pytest.raises(InvalidInput, match="unknown band"):
        half_width(one, "two sigma")  # type: ignore[arg-type]  # refused


@pytest.mark.parametrize("name", ALGORITHMS)
def test_every_algorithm_has_a_name_for_people(name):
    assert look(name).name != name
    assert len({look(other).name for other in ALGORITHMS}) == len(ALGORITHMS)


def test_another_suffix_is_refused_and_nothing_is_written(tmp_path):
    with pytest.raises(InvalidInput, match=r"\.png, \.svg, \.pdf"):
        plot_error(ROWS, tmp_path / "error.bmp")
    assert not list(tmp_path.iterdir())


def test_a_plot_leaves_pyplot_alone(tmp_path):
    import sys

    before = "matplotlib.pyplot" in sys.modules
    plot_error(ROWS, tmp_path / "error.png")
    assert ("matplotlib.pyplot" in sys.modules) == before


def test_the_contact_sheet_shows_the_pictures_row_by_row(tmp_path):
    colours = [(20 * k, 100, 255 - 20 * k) for k in range(12)]
    files = []
    for k, colour in enumerate(colours):
        Image.new("RGB", (24, 30), colour).save(tmp_path / f"{k}.png")
        files.append((tmp_path / f"{k}.png").read_bytes())
    contact_sheet(files, [(str(k), "") for k in range(12)], tmp_path / "sheet.png", title="T", subtitle="S")
    with Image.open(tmp_path / "sheet.png") as sheet:
        pixels = np.asarray(sheet)
        assert set(colours) <= set(map(tuple, pixels.reshape(-1, 3).tolist()))
    places = [tuple(np.argwhere((pixels == colour).all(axis=2))[0]) for colour in colours]
    assert places == sorted(places)
    assert places[10][0] > places[9][0]


def test_bands_are_seen_whole_unless_they_are_far_higher_than_the_curves():
    def top(high):
        step, mean = np.array([0, 10]), np.array([0.5, 0.9])
        one = Line(look("guro-hybrid"), step, mean, mean - 0.1, np.full(2, high))
        return figure([Panel([one], "Found")], "", "").axes[0].get_ylim()[1]

    assert top(1.0) == pytest.approx(1.05)
    assert top(30.0) == pytest.approx(1.05 * 1.5 * 0.9)
    assert top(np.nan) == pytest.approx(1.05 * 0.9)
