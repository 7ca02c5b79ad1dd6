import numpy as np
import pytest
from PIL import Image

from ordinate.errors import InvalidInput
from ordinate.simulation.contact_sheet import contact_sheet
from ordinate.simulation.plot import plot_error

ROWS = {
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
        shown = [tuple(colour) for _, colour in sheet.getcolors(1 << 20)]
        assert set(colours) <= set(shown)
        pixels = np.asarray(sheet)
    places = [tuple(np.argwhere((pixels == colour).all(axis=2))[0]) for colour in colours]
    assert places == sorted(places)
    assert places[10][0] > places[9][0]
