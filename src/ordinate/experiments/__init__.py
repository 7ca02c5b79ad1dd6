"""The experiments of the paper, one file each, and three of our own: `EXPERIMENTS` has them by name."""

from __future__ import annotations

from ordinate.errors import InvalidInput
from ordinate.experiments.experiment import Data, Experiment, Figure, Panel, Setting, Wishes
from ordinate.experiments.image_clarity import IMAGE_CLARITY
from ordinate.experiments.imdb_wiki_sbs import IMDB_WIKI_SBS
from ordinate.experiments.synthetic import SYNTHETIC
from ordinate.experiments.wisc_ads import WISC_ADS
from ordinate.experiments.worlds import ACTIVE_CHOICE, FEATURE_MIXTURE, FEATURE_SHARE
from ordinate.experiments.x_ray_age import X_RAY_AGE

EXPERIMENTS: dict[str, Experiment] = {
    "synthetic": SYNTHETIC,
    "x-ray-age": X_RAY_AGE,
    "image-clarity": IMAGE_CLARITY,
    "wisc-ads": WISC_ADS,
    "imdb-wiki-sbs": IMDB_WIKI_SBS,
    "feature-share": FEATURE_SHARE,
    "feature-mixture": FEATURE_MIXTURE,
    "active-choice": ACTIVE_CHOICE,
}


def experiment(name: str) -> Experiment:
    """The experiment of this name. Raises InvalidInput, listing all names."""
    if name not in EXPERIMENTS:
        raise InvalidInput(f"unknown experiment {name!r}; choose {', '.join(EXPERIMENTS)} or all")
    return EXPERIMENTS[name]


__all__ = ["EXPERIMENTS", "Data", "Experiment", "Figure", "Panel", "Setting", "Wishes", "experiment"]
