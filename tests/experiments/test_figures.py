"""What a panel draws: curves of a setting, last errors of several settings, or differences; and the files."""

import numpy as np
import pytest

from ordinate.experiments import Figure, Panel
from ordinate.experiments.figures import draw_figure, panel_rows

A, B = [[0.5, 0.4, 0.1], [0.5, 0.3, 0.2]], [[0.5, 0.45, 0.3], [0.5, 0.5, 0.25]]


@pytest.fixture(scope="module")
def rows(rows_of):
    return {
        "near": rows_of({"guro-contextual": A, "uniform-contextual": B}),
        "far": rows_of({"guro-contextual": B, "uniform-contextual": A}),
    }


def drawn(rows, panel):
    found = panel_rows(panel, rows)
    return list(zip(found["algorithm"], found["seed"], found["step"], np.round(found["error"], 9), strict=True))


def test_a_setting_is_drawn_step_by_step(rows):
    found = drawn(rows, Panel("near", "x", "", algorithms=("guro-contextual",)))
    assert [error for *_, error in found] == [error for run in A for error in run]


def test_several_settings_are_drawn_by_their_number_with_the_last_errors(rows):
    across = ((3, "near"), (7, "far"))
    assert drawn(rows, Panel("near", "x", "", across=across)) == [
        ("guro-contextual", 0, 3, 0.1),
        ("guro-contextual", 1, 3, 0.2),
        ("uniform-contextual", 0, 3, 0.3),
        ("uniform-contextual", 1, 3, 0.25),
        ("guro-contextual", 0, 7, 0.3),
        ("guro-contextual", 1, 7, 0.25),
        ("uniform-contextual", 0, 7, 0.1),
        ("uniform-contextual", 1, 7, 0.2),
    ]


def test_differences_are_taken_seed_by_seed(rows):
    panel = Panel("near", "x", "", algorithms=("uniform-contextual",), minus="guro-contextual")
    assert drawn(rows, panel) == [
        ("uniform-contextual", 0, 0, 0.0),
        ("uniform-contextual", 0, 50, 0.05),
        ("uniform-contextual", 0, 100, 0.2),
        ("uniform-contextual", 1, 0, 0.0),
        ("uniform-contextual", 1, 50, 0.2),
        ("uniform-contextual", 1, 100, 0.05),
    ]


def test_a_figure_is_written_whole_and_panel_by_panel_with_the_width_of_a_page_s_columns(rows, tmp_path):
    panels = (Panel("near", "x", "Error"), Panel("near", "x", "Error", log=True))
    paths = draw_figure(Figure("name", "Title", "", "one standard error", panels), rows, tmp_path)
    assert [path.name for path in paths] == ["name.png", "name.svg", "name.pdf", "name-1.pdf", "name-2.pdf"]
    widths = {path.name: _width(path) for path in paths[2:]}
    assert widths == {"name.pdf": 7.0 * 72, "name-1.pdf": 3.4 * 72, "name-2.pdf": 3.4 * 72}


def _width(path):
    box = path.read_bytes().split(b"/MediaBox [")[1].split(b"]")[0].split()
    return pytest.approx(float(box[2]), abs=0.1)
