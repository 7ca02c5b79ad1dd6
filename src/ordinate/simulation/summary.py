"""Summaries of runs: mean and standard error over seeds, and the comparisons needed to reach an error."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

import numpy as np

from ordinate.data.arrays import Floats, Integers
from ordinate.data.tables import Columns


class Curve(NamedTuple):
    """One algorithm's error by number of comparisons; all arrays have one entry per step.

    standard_error  of the mean over seeds; NaN if there is a single seed
    seeds           number of runs that reached the step
    """

    algorithm: str
    step: Integers
    mean: Floats
    standard_error: Floats
    seeds: Integers


def parts(rows: Columns) -> dict[str, dict[str, list[Any]]]:
    """The rows of each measure, in order of appearance."""
    return {
        part: {
            name: [value for value, own in zip(values, rows["part"], strict=True) if own == part]
            for name, values in rows.items()
        }
        for part in dict.fromkeys(rows["part"])
    }


def curves(rows: Columns) -> list[Curve]:
    """One curve per algorithm, in order of appearance, from the columns of `simulate`."""
    errors: dict[str, dict[int, list[float]]] = {}
    for algorithm, step, error in zip(rows["algorithm"], rows["step"], rows["error"], strict=True):
        errors.setdefault(algorithm, {}).setdefault(int(step), []).append(float(error))
    return [_curve(algorithm, by_step) for algorithm, by_step in errors.items()]


def numbers_of_seeds(rows: Columns) -> set[int]:
    """The numbers of runs of the algorithms: several numbers if some algorithms have fewer runs than others."""
    runs = set(zip(rows["algorithm"], rows["seed"], strict=True))
    return set(Counter(algorithm for algorithm, _ in runs).values())


def span(numbers: Collection[int]) -> str:
    """The range of the numbers in words: "4", or "2 to 4"."""
    least, most = min(numbers, default=0), max(numbers, default=0)
    return f"{most}" if least == most else f"{least} to {most}"


def _curve(algorithm: str, by_step: dict[int, list[float]]) -> Curve:
    steps = sorted(by_step)
    values = [np.array(by_step[step]) for step in steps]
    return Curve(
        algorithm=algorithm,
        step=np.array(steps, dtype=np.int64),
        mean=np.array([value.mean() for value in values]),
        standard_error=np.array(
            [value.std(ddof=1) / np.sqrt(len(value)) if len(value) > 1 else np.nan for value in values]
        ),
        seeds=np.array([len(value) for value in values], dtype=np.int64),
    )


def error_table(rows: Columns, steps: Sequence[int] | None = None) -> dict[str, list[str]]:
    """A table to read: a row per algorithm, a column per step, "mean ± standard error" in the cells.

    The default is about five steps, from a tenth of the run to its end. A cell is empty if nothing was measured then.
    """
    found = curves(rows)
    chosen = _few_steps(found) if steps is None else list(steps)
    table: dict[str, list[str]] = {"algorithm": [curve.algorithm for curve in found]}
    for step in chosen:
        table[f"{step:,}"] = [_cell(curve, step) for curve in found]
    return table


def _few_steps(found: Sequence[Curve]) -> list[int]:
    steps = np.unique(np.concatenate([curve.step for curve in found]))
    wanted = steps[-1] * np.array([0.1, 0.25, 0.5, 0.75, 1.0])
    nearest = np.abs(steps[:, None] - wanted).argmin(axis=0)
    return [int(step) for step in np.unique(steps[nearest])]


def _cell(curve: Curve, step: int) -> str:
    place = np.flatnonzero(curve.step == step)
    if not place.size:
        return ""
    mean, deviation = curve.mean[place[0]], curve.standard_error[place[0]]
    return f"{mean:.3f}" if np.isnan(deviation) else f"{mean:.3f} ± {deviation:.3f}"


def comparisons_needed(rows: Columns, error: float) -> dict[str, float | None]:
    """Algorithm -> number of comparisons until its mean error is at most `error`; None if it never is.

    The curve is interpolated linearly between measurements.
    """
    return {curve.algorithm: _first_crossing(curve, error) for curve in curves(rows)}


def _first_crossing(curve: Curve, error: float) -> float | None:
    reached = np.flatnonzero(curve.mean <= error)
    if not reached.size:
        return None
    after = int(reached[0])
    if after == 0:
        return float(curve.step[0])
    before = after - 1
    share = (curve.mean[before] - error) / (curve.mean[before] - curve.mean[after])
    return float(curve.step[before] + share * (curve.step[after] - curve.step[before]))
