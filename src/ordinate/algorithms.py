"""The table of algorithms: name -> the model that learns, the strategy that asks, a line for people."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal, NamedTuple

from ordinate.choosing.search import CurvaturePower
from ordinate.choosing.strategies import Strategy
from ordinate.choosing.strategies.aimed import Aimed
from ordinate.choosing.strategies.bayes_guro import BayesGuro
from ordinate.choosing.strategies.colstim import Colstim
from ordinate.choosing.strategies.greedy import Greedy
from ordinate.choosing.strategies.overlap import Overlap
from ordinate.choosing.strategies.subsampled import Subsampled
from ordinate.choosing.strategies.uniform import Uniform
from ordinate.choosing.utilities.bald import Information
from ordinate.choosing.utilities.bald_paper import PaperInformation
from ordinate.data.items import Items
from ordinate.errors import InvalidInput
from ordinate.learning.likelihoods import Likelihood
from ordinate.learning.likelihoods.cumulative import Cumulative
from ordinate.learning.likelihoods.davidson import Davidson
from ordinate.learning.likelihoods.logistic import LOGISTIC
from ordinate.learning.likelihoods.probit import Probit
from ordinate.learning.models import Model
from ordinate.learning.models.contextual import Contextual
from ordinate.learning.models.factored import FactoredHybrid
from ordinate.learning.models.hybrid import Hybrid
from ordinate.learning.models.independent import Independent
from ordinate.learning.models.sequential import Sequential
from ordinate.learning.models.trueskill import TrueSkill


class Algorithm(NamedTuple):
    """refit_every  overrides the study's schedule, for models that take one answer after another."""

    model: Model
    strategy: Strategy
    summary: str
    refit_every: int | None = None


GURO = Greedy(CurvaturePower(2))
AIMED = Aimed()
NORM_MIN = Greedy(CurvaturePower(0))
BALD = Greedy(Information())
BALD_PAPER = Greedy(PaperInformation())

ALGORITHMS: dict[str, Algorithm] = {
    "guro-hybrid": Algorithm(
        Hybrid(), GURO, "Asks where the order is least certain; learns from features and per item. The default."
    ),
    "guro-hybrid-factored": Algorithm(
        FactoredHybrid(), GURO, "guro-hybrid with the paper's factored covariance, for thousands of items."
    ),
    "guro-contextual": Algorithm(
        Contextual(), GURO, "Learns from features alone: fast, and right only as far as features tell the order."
    ),
    "guro-independent": Algorithm(
        Independent(),
        GURO,
        "A score per item and no features (Bradley-Terry); the default without features, up to 5,000 items.",
    ),
    "aim-hybrid": Algorithm(
        Hybrid(), AIMED, "guro-hybrid for an aim: asks where it is open which items are wanted, such as the best ten."
    ),
    "aim-hybrid-factored": Algorithm(FactoredHybrid(), AIMED, "guro-hybrid-factored for an aim."),
    "aim-contextual": Algorithm(Contextual(), AIMED, "guro-contextual for an aim."),
    "aim-independent": Algorithm(Independent(), AIMED, "guro-independent for an aim."),
    "bayes-guro-hybrid": Algorithm(
        Hybrid(), BayesGuro(), "Asks where 50 draws of the scores disagree most about the answer: GURO with chance."
    ),
    "bayes-guro-hybrid-factored": Algorithm(
        FactoredHybrid(), BayesGuro(), "bayes-guro-hybrid with the paper's factored covariance."
    ),
    "bayes-guro-contextual": Algorithm(Contextual(), BayesGuro(), "BayesGURO, contextual model."),
    "bayes-guro-independent": Algorithm(Independent(), BayesGuro(), "BayesGURO, a score per item."),
    "bayes-guro-contextual-sequential": Algorithm(
        Sequential(), BayesGuro(), "bayes-guro-contextual without refits: each posterior is the next one's prior.", 1
    ),
    "bayes-guro-hybrid-sequential": Algorithm(
        Sequential(item_variance=1.0), BayesGuro(), "bayes-guro-hybrid-factored without refits.", 1
    ),
    "bald-hybrid": Algorithm(
        Hybrid(), BALD, "Asks for the answer that tells the most bits about the scores, computed exactly."
    ),
    "bald-hybrid-factored": Algorithm(FactoredHybrid(), BALD, "bald-hybrid with the paper's factored covariance."),
    "bald-contextual": Algorithm(Contextual(), BALD, "Exact BALD, contextual model."),
    "bald-independent": Algorithm(Independent(), BALD, "Exact BALD, a score per item."),
    "bald-contextual-sequential": Algorithm(Sequential(), BALD, "bald-contextual without refits.", 1),
    "bald-paper-hybrid": Algorithm(
        Hybrid(), BALD_PAPER, "BALD by the paper's approximation, which overrates pairs that are far apart."
    ),
    "bald-paper-hybrid-factored": Algorithm(
        FactoredHybrid(), BALD_PAPER, "bald-paper-hybrid with the paper's factored covariance."
    ),
    "bald-paper-contextual": Algorithm(Contextual(), BALD_PAPER, "BALD by the paper's approximation, contextual."),
    "bald-paper-independent": Algorithm(
        Independent(), BALD_PAPER, "BALD by the paper's approximation, a score per item."
    ),
    "bald-paper-contextual-sequential": Algorithm(
        Sequential(), BALD_PAPER, "bald-paper-contextual without refits, as in the paper's experiments.", 1
    ),
    "bald-paper-hybrid-sequential": Algorithm(
        Sequential(item_variance=1.0), BALD_PAPER, "bald-paper-hybrid-factored without refits.", 1
    ),
    "norm-min-hybrid": Algorithm(Hybrid(), NORM_MIN, "NormMin, hybrid model."),
    "norm-min-contextual": Algorithm(
        Contextual(), NORM_MIN, "Asks where the model knows least, however easy the answer; a baseline of the paper."
    ),
    "norm-min-independent": Algorithm(Independent(), NORM_MIN, "NormMin, a score per item."),
    "colstim-contextual": Algorithm(
        Contextual(),
        Colstim(horizon=2_000),
        "A bandit that looks for the best item, for 2,000 comparisons; colstim-contextual:500 is for 500. A baseline.",
    ),
    "colstim-noiseless-contextual": Algorithm(
        Contextual(),
        Colstim(horizon=2_000, noise="none"),
        "colstim-contextual whose first item has the best score, without noise, as in the authors' scripts.",
    ),
    "colstim-unscaled-contextual": Algorithm(
        Contextual(),
        Colstim(horizon=2_000, noise="one"),
        "colstim-contextual with noise of one size for every item, which ends where the authors' curve ends.",
    ),
    "trueskill": Algorithm(
        TrueSkill(), Overlap(), "TrueSkill, a rating per item and no features; asks where two ratings overlap most.", 1
    ),
    "uniform-hybrid": Algorithm(Hybrid(), Uniform(), "Random pairs, hybrid model: what active choice is measured by."),
    "uniform-hybrid-factored": Algorithm(
        FactoredHybrid(), Uniform(), "uniform-hybrid with the paper's factored covariance."
    ),
    "uniform-contextual": Algorithm(Contextual(), Uniform(), "Random pairs, contextual model."),
    "uniform-independent": Algorithm(Independent(), Uniform(), "Random pairs, a score per item: plain Bradley-Terry."),
}

_PER_ITEM = "TrueSkill rates each item by its own answers and has no place for features; it is called trueskill"
_LINEAR = (
    "CoLSTIM's confidence widths are those of scores that are linear in the features; "
    "with a term per item there are none, so it comes as colstim-contextual"
)
NO_MEANING = {
    "colstim": _LINEAR,
    "colstim-hybrid": _LINEAR,
    "colstim-independent": _LINEAR,
    "trueskill-contextual": _PER_ITEM,
    "trueskill-hybrid": _PER_ITEM,
    "trueskill-independent": _PER_ITEM,
}
"""Names that people may look for, and why there is no such algorithm."""

MOST_DRAWS = 10_000
"""Of BayesGURO: each question takes time and memory for the scores of every item in every draw."""
MANY_ITEMS = 20_000
"""Above this, features are kept in float32 and no (n, n) covariance is computed."""
DENSE_BY_DEFAULT = 5_000
"""Above this, only who asks for it by name has an (n, n) covariance: whoever opens the study waits for its inverse,
which takes seconds here and minutes at 20,000 items."""


def algorithm(name: str) -> Algorithm:
    """The row of the table; a number may follow the name.

    "colstim-contextual:500" has a horizon of 500 comparisons, and "bayes-guro-hybrid:200" takes 200 draws. Raises
    InvalidInput with the reason, or with the names there are.
    """
    plain, given, number = name.partition(":")
    if plain in NO_MEANING:
        raise InvalidInput(f"there is no algorithm {plain!r}: {NO_MEANING[plain]}")
    if plain not in ALGORITHMS:
        raise InvalidInput(f"unknown algorithm {plain!r}; there are {', '.join(ALGORITHMS)}")
    row = ALGORITHMS[plain]
    if not given:
        return row
    if not isinstance(row.strategy, Colstim | BayesGuro):
        raise InvalidInput(f"{plain} has neither a horizon nor draws, so no number can follow its name; got {name!r}")
    value = int(number) if number.isascii() and number.isdigit() and len(number) < 20 else 0
    if isinstance(row.strategy, Colstim):
        if not 0 < value < 2**63:
            raise InvalidInput(f"the horizon is a number of comparisons, as in {plain}:2000; got {name!r}")
        return row._replace(strategy=replace(row.strategy, horizon=value))
    if not 2 <= value <= MOST_DRAWS:
        raise InvalidInput(f"the draws are a number from 2 to {MOST_DRAWS:,}, as in {plain}:200; got {name!r}")
    return row._replace(strategy=replace(row.strategy, draws=value))


LIKELIHOODS: dict[str, Likelihood] = {
    "cumulative": Cumulative(),
    "davidson": Davidson(),
    "logistic": LOGISTIC,
    "probit": Probit(),
}
LikelihoodName = Literal["cumulative", "davidson", "logistic", "probit"]

_LACKS = {
    "coefficient_variance": "it does not use features, so it has no coefficients",
    "item_variance": "it has no term per item",
    "likelihood": "it takes one answer after another, with a likelihood of its own",
}
"""Options of models, which are fields of theirs, and why some models do not take them."""


def takes(name: str, option: str) -> bool:
    """Whether the algorithm has this option."""
    if option == "renew_covariance":
        return algorithm(name).refit_every is None
    return bool(getattr(algorithm(name).model, option, 0.0))


def model_of(name: str, **options: float | str | None) -> Model:
    """The algorithm's model with these prior variances and this likelihood; None: the algorithm's own.

    Raises InvalidInput where the model has no such option.
    """
    model: Any = algorithm(name).model
    for option, value in options.items():
        if value is None:
            continue
        if not takes(name, option):
            raise InvalidInput(f"{name} takes no {option}: {_LACKS[option]}")
        model = replace(model, **{option: LIKELIHOODS[str(value)] if option == "likelihood" else value})
    return model  # type: ignore[no-any-return]


def for_budget(name: str, budget: int) -> str:
    """The algorithm with this budget as its horizon, where it has a horizon and the name does not give one."""
    fits = ":" not in name and isinstance(algorithm(name).strategy, Colstim)
    return f"{name}:{budget}" if fits else name


def default_algorithm(items: Items) -> str:
    """The algorithm of a study for which nobody chose one."""
    if len(items) > DENSE_BY_DEFAULT:
        return "guro-hybrid-factored"
    return "guro-hybrid" if items.features.shape[1] else "guro-independent"


def require_size(name: str, items: int) -> None:
    """Raise InvalidInput for an unknown algorithm, and where its (n, n) covariance would not fit into memory."""
    dense = algorithm(name).model.dense
    if items > MANY_ITEMS and dense:
        gigabytes = round(items * items * 8 / 1e9)
        raise InvalidInput(
            f"{name} keeps the covariance of every item with every other: {gigabytes} GB for {items:,} items; above "
            f"{MANY_ITEMS:,} take guro-hybrid-factored or guro-contextual; see: ordinate algorithms"
        )


def strategy_of(name: str, candidates: int | None, aimed: bool = False) -> Strategy:
    """The algorithm's strategy, on a random part of the pool where `candidates` limits it.

    aimed  the study has an aim other than the whole order, for which GURO gives way to its variant
    """
    strategy = algorithm(name).strategy
    strategy = AIMED if aimed and strategy == GURO else strategy
    return strategy if candidates is None else Subsampled(strategy, candidates)
