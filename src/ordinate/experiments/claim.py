"""Claims of the paper, and short names for the settings and algorithms that they refer to."""

from __future__ import annotations

from typing import NamedTuple

from ordinate.experiments.evidence import Check
from ordinate.experiments.human import CONTEXTUAL, HYBRIDS

LOSS = "synthetic/synthetic/loss-and-bounds"
AGE = "x-ray-age/gppl_humour/in-sample"
HALVES = "x-ray-age/gppl_humour/generalisation"
REVIEWS = "wisc-ads/sentimentit_movie_reviews/human-answers"
PHOTO = "image-clarity/degraded-photo/human-answers"
PHOTO_FEW = "image-clarity/degraded-photo/few-answers"
FIELDS = "image-clarity/pwcmp_light_field/human-answers"
FIELDS_FEW = "image-clarity/pwcmp_light_field/few-answers"
JOKES = "imdb-wiki-sbs/gppl_humour/human-answers"
ADDED = "imdb-wiki-sbs/gppl_humour/items-added"
UNTRAINED, SHUFFLED = (f"imdb-wiki-sbs/gppl_humour/{name}-features" for name in ("untrained", "shuffled"))
SOME_PAIRS, ALL_PAIRS = (f"imdb-wiki-sbs/gppl_humour/{name}" for name in ("some-pairs", "all-pairs"))
ALWAYS, RARELY = (f"x-ray-age/gppl_humour/refit-every-{every}" for every in (1, 25))
SEQUENTIAL = "x-ray-age/gppl_humour/sequential"

GURO, BALD, PAPERS, UNIFORM = CONTEXTUAL
H_GURO, H_BALD, H_PAPERS, H_UNIFORM = HYBRIDS
BAYES, NORM, COLSTIM = "bayes-guro-contextual", "norm-min-contextual", "colstim-contextual"
TRUESKILL = "trueskill"


class Claim(NamedTuple):
    """A claim of the paper, in our words.

    where   the section, figure or caption of the paper
    check   the rule that decides whether it holds
    remark  why it does not hold, or a caveat
    """

    where: str
    text: str
    check: Check
    remark: str = ""
