"""The experiments of the paper, one file each: `EXPERIMENTS` maps a name to what is run, on what, and what is drawn."""

from __future__ import annotations

from ordinate.errors import InvalidInput
from ordinate.experiments.experiment import Data, Experiment, Figure, Panel, Setting, Wishes
from ordinate.experiments.synthetic import SYNTHETIC

EXPERIMENTS: dict[str, Experiment] = {
    "synthetic": SYNTHETIC,
}


def experiment(name: str) -> Experiment:
    """The row of the table. Raises InvalidInput with the names there are."""
    if name not in EXPERIMENTS:
        raise InvalidInput(f"unknown experiment {name!r}; there are {', '.join(EXPERIMENTS)}, and all")
    return EXPERIMENTS[name]


__all__ = ["EXPERIMENTS", "Data", "Experiment", "Figure", "Panel", "Setting", "Wishes", "experiment"]
