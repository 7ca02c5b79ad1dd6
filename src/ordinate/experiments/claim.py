"""Claims of the paper, and short names for the settings and algorithms that they refer to."""

from __future__ import annotations

from typing import NamedTuple

from ordinate.experiments.evidence import Check
from ordinate.experiments.human import CONTEXTUAL, HYBRIDS

LOSS = "synthetic/synthetic/loss-and-bounds"
AGE = "x-ray-age/gppl_humour/in-sample"
HALVES = "x-ray-age/gppl_humour/generalisation"
REVIEWS = "wisc-ads/sentimentit_movie_reviews/held-out"
PHOTO = "image-clarity/degraded-photo/held-out"
PHOTO_FEW = "image-clarity/degraded-photo/few-answers"
FIELDS = "image-clarity/pwcmp_light_field/held-out"
FIELDS_FEW = "image-clarity/pwcmp_light_field/few-answers"
JOKES = "imdb-wiki-sbs/gppl_humour/held-out"
ADDED = "imdb-wiki-sbs/gppl_humour/items-added"
UNTRAINED, SHUFFLED = (f"imdb-wiki-sbs/gppl_humour/{name}-features" for name in ("untrained", "shuffled"))
ALL_PAIRS = "imdb-wiki-sbs/gppl_humour/all-pairs"
UPDATES, RARELY, RENEWED = (
    f"x-ray-age/gppl_humour/{name}" for name in ("other-updates", "refit-every-25", "covariance-renewed")
)

GURO, BALD, PAPERS, UNIFORM = CONTEXTUAL
H_GURO, H_BALD, H_PAPERS, H_UNIFORM = HYBRIDS
BAYES, NORM, COLSTIM = "bayes-guro-contextual-sequential", "norm-min-contextual", "colstim-contextual"
TRUESKILL = "trueskill"


class Claim(NamedTuple):
    """A claim of the paper, in our words.

    where   the section, figure or caption of the paper
    check   the rule that decides whether it holds
    remark  a caveat that is right whatever the rows say
    """

    where: str
    text: str
    check: Check
    remark: str = ""
