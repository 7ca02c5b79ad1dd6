"""Figures of a study for notebooks and papers; `ordinate report` shows the same ones. A figure per file.

Each function returns a Matplotlib figure. With `axes` it draws into them, and returns their figure. `theme` is "light"
or "dark". Colours can be told apart by people who see few of them, and lines by more than their colour.

    >>> from ordinate import plots
    >>> plots.caterpillar(study.ordering()).savefig("order.svg")                 # doctest: +SKIP
    >>> plots.expected_error(study.error_history(), study.forecast())            # doctest: +SKIP
"""

from __future__ import annotations

from ordinate.plots.annotator_panel import annotators
from ordinate.plots.compared_pairs import comparisons
from ordinate.plots.error_curve import expected_error
from ordinate.plots.rank_intervals import caterpillar
from ordinate.plots.reliability_diagram import calibration

__all__ = ["annotators", "calibration", "caterpillar", "comparisons", "expected_error"]
