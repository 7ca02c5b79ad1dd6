"""Draw the figures of an experiment from its rows: PDF and SVG for a paper, PNG for a web page."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ordinate.data.formats.files import read_bytes
from ordinate.data.tables import Columns
from ordinate.errors import InvalidInput
from ordinate.experiments.experiment import Figure, Panel
from ordinate.experiments.rows import part_of
from ordinate.simulation import plot
from ordinate.simulation.names import look
from ordinate.simulation.summary import curves, numbers_of_seeds


def draw_figure(
    figure: Figure, rows: Mapping[str, Columns], folder: Path, extra: Sequence[plot.Panel] = ()
) -> list[Path]:
    """Write FOLDER/NAME.png, .svg and .pdf from the rows of each setting, and each panel alone; returns the paths.

    NAME.pdf is as wide as two columns of a page, and NAME-1.pdf, NAME-2.pdf, ..., a panel each, are as wide as one.

    extra  more panels, to the right of the experiment's own
    """
    shown = [(panel, panel_rows(panel, rows)) for panel in figure.panels]
    panels = [*(_panel(panel, chosen, figure.band) for panel, chosen in shown), *extra]
    explanation = plot.explain(set().union(*(numbers_of_seeds(chosen) for _, chosen in shown)), figure.band)
    paths = [folder / f"{figure.name}{suffix}" for suffix in plot.SUFFIXES]
    for path in paths:
        if path.suffix == ".pdf":
            plot.draw(panels, path, title="", explanation="", width=plot.TWO_COLUMNS)
        else:
            plot.draw(panels, path, title=figure.title, explanation=explanation)
    for number, panel in enumerate(panels, start=1):
        paths.append(folder / f"{figure.name}-{number}.pdf")
        plot.draw([panel], paths[-1], title="", explanation="", width=plot.ONE_COLUMN)
    return paths


def panel_rows(panel: Panel, rows: Mapping[str, Columns]) -> dict[str, list[Any]]:
    """What the panel draws, as rows; `step` is the number on its horizontal axis."""
    wanted = (*panel.algorithms, panel.minus) if panel.algorithms and panel.minus else panel.algorithms
    if panel.across:
        parts = [_last(part_of(rows[name], panel.part, wanted), number) for number, name in panel.across]
        chosen = {name: [value for part in parts for value in part[name]] for name in parts[0]}
    else:
        chosen = part_of(rows[panel.setting], panel.part, wanted)
    return _without(chosen, panel.minus) if panel.minus else chosen


def _last(rows: Columns, number: int) -> dict[str, list[Any]]:
    """The last row of each run, with this number as its step."""
    runs = list(zip(rows["algorithm"], rows["seed"], strict=True))
    last = {run: place for place, run in enumerate(runs)}  # rows of a run are in the order of their steps
    return {name: [values[place] for place in last.values()] for name, values in rows.items()} | {
        "step": [number] * len(last)
    }


def _without(rows: Columns, algorithm: str) -> dict[str, list[Any]]:
    """The errors of the other algorithms minus the error of this one with the same seed and step."""
    runs = list(zip(rows["algorithm"], rows["seed"], rows["step"], rows["error"], strict=True))
    base = {(seed, step): error for name, seed, step, error in runs if name == algorithm}
    places = [k for k, (name, seed, step, _) in enumerate(runs) if name != algorithm and (seed, step) in base]
    found = {name: [values[place] for place in places] for name, values in rows.items()}
    return found | {"error": [runs[place][3] - base[runs[place][1], runs[place][2]] for place in places]}


def _panel(panel: Panel, rows: Columns, band: plot.Band) -> plot.Panel:
    lines = [plot.line(curve, band, number) for number, curve in enumerate(curves(rows))]
    from_zero = not (panel.log or panel.minus) and all(np.nanmin(one.mean, initial=0.0) >= 0.0 for one in lines)
    return plot.Panel(
        lines, panel.ylabel, panel.title, from_zero=from_zero, xlabel=panel.xlabel, log=panel.log and bool(lines)
    )


# Name in a file of reference curves -> our name of the algorithm.
_REFERENCE = {
    "GURO": "guro-contextual",
    "BayesGURO": "bayes-guro-contextual-sequential",
    "BALD": "bald-paper-contextual-sequential",
    "NormMin": "norm-min-contextual",
    "CoLSTIM": "colstim-contextual",
    "TrueSkill": "trueskill",
    "Uniform": "uniform-contextual",
}


def read_reference(path: str | Path) -> dict[str, dict[str, Any]]:
    """Reference curves, such as those of the authors' scripts: our name of the algorithm -> step, mean and se.

    The file is JSON: {"algorithms": {NAME: {"step": [...], "mean": [...], "se": [...]}}}.
    """
    data = read_bytes(path)
    try:
        curves_by_name = json.loads(data)["algorithms"]
        return {
            _REFERENCE[name]: {key: np.asarray(curve[key], dtype=np.float64) for key in ("step", "mean", "se")}
            for name, curve in curves_by_name.items()
            if name in _REFERENCE
        }
    except (ValueError, KeyError, TypeError) as error:
        raise InvalidInput(
            f"{path} holds no reference curves ({error!r}); it must have algorithms -> NAME -> step, mean, se"
        ) from None


def reference_table(path: str | Path, steps: Sequence[int]) -> dict[str, list[str]]:
    """The reference curves as a table like `error_table`, at these steps or the nearest measured ones."""
    reference = read_reference(path)
    table: dict[str, list[str]] = {"algorithm": list(reference)}
    for step in steps:
        places = [int(np.abs(curve["step"] - step).argmin()) for curve in reference.values()]
        table[f"{step:,}"] = [
            f"{curve['mean'][place]:.3f} ± {curve['se'][place]:.3f}"
            for curve, place in zip(reference.values(), places, strict=True)
        ]
    return table


def reference_panel(path: str | Path, ylabel: str) -> plot.Panel:
    lines = [
        plot.Line(
            look(name),
            curve["step"].astype(np.int64),
            curve["mean"],
            curve["mean"] - curve["se"],
            curve["mean"] + curve["se"],
        )
        for name, curve in read_reference(path).items()
    ]
    return plot.Panel(lines, ylabel, "Reference: the authors' scripts")
