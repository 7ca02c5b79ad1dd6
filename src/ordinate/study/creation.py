"""What a new study is told: its options and first rules, checked before anything is stored."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, get_args

import numpy as np

from ordinate import algorithms
from ordinate.algorithms import LikelihoodName
from ordinate.data.cells import between, text, whole
from ordinate.data.items import Items
from ordinate.data.lengths import log_lengths
from ordinate.data.recipe import Recipe
from ordinate.data.scaling import Scaling, require_differences
from ordinate.errors import InvalidInput
from ordinate.learning.likelihoods.by_kind import ByKind
from ordinate.learning.models import SiteModel
from ordinate.storage import Settings
from ordinate.study import practice
from ordinate.study.aim import checked_aim, require_more, require_possible
from ordinate.study.rules import Rules, differences, require_known

LEAST_VARIANCE, MOST_VARIANCE = 1e-6, 1e6
"""Prior variances outside this range leave too few digits of the numbers that a fit computes with."""


def checked_settings(
    items: Items,
    *,
    algorithm: str | None,
    question: str,
    seed: int,
    scaling: Scaling,
    refit_every: int | None,
    candidates: int | None,
    coefficient_variance: float | None,
    item_variance: float | None,
    likelihood: LikelihoodName | None,
    renew_covariance: bool,
    random: float,
    weigh_annotators: bool,
    recipe: Recipe | None,
) -> Settings:
    """The settings of a new study of these items; for the options see `Study.create`. Raises InvalidInput."""
    name = algorithms.default_algorithm(items) if algorithm is None else algorithm
    algorithms.require_size(name, len(items))
    if scaling not in get_args(Scaling):
        raise InvalidInput(f"unknown scaling {scaling!r}; it is {', '.join(get_args(Scaling))}")
    if scaling == "none":
        require_differences(items.features)
    if likelihood is not None and likelihood not in algorithms.LIKELIHOODS:
        raise InvalidInput(f"unknown likelihood {likelihood!r}; it is {', '.join(algorithms.LIKELIHOODS)}")
    if likelihood is None and algorithms.takes(name, "likelihood"):
        likelihood = "cumulative"
    model = algorithms.model_of(
        name,
        coefficient_variance=_variance("coefficient_variance", coefficient_variance),
        item_variance=_variance("item_variance", item_variance),
        likelihood=likelihood,
    )
    if weigh_annotators and not (isinstance(model, SiteModel) and isinstance(model.likelihood, ByKind)):
        raise InvalidInput(
            "weigh_annotators needs a model that is refitted, with the likelihood cumulative or davidson; "
            f"{name} with the likelihood {likelihood or 'of its own'} weighs all answers alike"
        )
    if not renew_covariance and not algorithms.takes(name, "renew_covariance"):
        raise InvalidInput(f"{name} is never refitted, so there is no covariance to renew; leave renew_covariance out")
    # Variances that nobody gives are fitted to the answers, where the model can.
    given = coefficient_variance is not None or item_variance is not None
    can_be_fitted = isinstance(model, SiteModel) and renew_covariance and likelihood != "probit"
    fitted = can_be_fitted and not given
    biases = fitted and isinstance(getattr(model, "likelihood", None), ByKind)
    settings = Settings(
        algorithm=name,
        question=text("the question", question),
        seed=whole("seed", seed, 0),
        scaling=scaling,
        refit_every=None if refit_every is None else whole("refit_every", refit_every, 1),
        candidates=None if candidates is None else whole("candidates", candidates, 1),
        recipe=recipe,
        coefficient_variance=None if fitted else getattr(model, "coefficient_variance", None),
        item_variance=None if fitted else getattr(model, "item_variance", None) or None,
        renew_covariance=bool(renew_covariance),
        features_alone=0.0,
        random=between("random", random, 0.0, 1.0),
        weigh_annotators=bool(weigh_annotators),
        side_bias=biases,
        length_bias=biases and log_lengths(items) is not None,
        likelihood=likelihood,
    )
    if recipe is not None:
        recipe.require_made(items)
    _require_pair(items)
    return settings


def checked_rules(
    items: Items, random: float, aim: str | Sequence[str], rules: Mapping[str, Any] | None
) -> list[tuple[str, str]]:
    """How the first rules of a study of these items differ from the usual ones. Raises InvalidInput."""
    if not isinstance(rules or {}, Mapping):
        raise InvalidInput(f"rules are given by name, such as {{'budget': 500}}, not as {rules!r}")
    changes = differences(Rules(random=random), {"aim": aim, **(rules or {})})
    rows = dict(zip(items.ids, range(len(items)), strict=True))
    require_known({name: json.loads(value) for name, value in changes}, rows)
    groups = items.group or ()
    codes = np.unique(groups, return_inverse=True)[1] if groups else np.zeros(len(items), dtype=np.int64)
    wanted = checked_aim((rules or {}).get("aim", aim))
    require_possible(wanted, rows, codes, groups)
    first = replace(Rules(random=random), **(rules or {}))
    if first.cuts:
        require_more(first.cuts[0], f"the cut {first.cuts[0]}", codes, groups)
    practice.require_possible(first.practice, first.ties, rows, items.group)
    return changes


def _variance(name: str, given: float | None) -> float | None:
    return None if given is None else between(name, given, LEAST_VARIANCE, MOST_VARIANCE)


def _require_pair(items: Items) -> None:
    groups = items.group or ("",) * len(items)
    if len(set(groups)) == len(groups):
        within = "" if items.group is None else " of the same group"
        raise InvalidInput(f"a study needs at least two items{within} to compare; it was given {len(items)}")
