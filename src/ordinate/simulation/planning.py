"""How many answers an ordering will need, before the first one: simulated studies of the very items.

Nobody knows yet how far the features tell which item ranks higher, so there are three worlds: they tell all of it, half
of it, or nothing. In each, true scores are drawn anew for each run, and simulated people answer as noisily as stated. A
pilot study, where there is one, says how far they do and how noisy its people are: then there is one world.

c, z  variances of the coefficients of scaled features and of items' own terms     V  variance of the true scores
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ordinate.algorithms import default_algorithm
from ordinate.data.arrays import Floats, Integers
from ordinate.data.feature_blocks import feature_map
from ordinate.data.items import Items
from ordinate.data.pairs import members
from ordinate.errors import InvalidInput
from ordinate.learning.forecast import Decline
from ordinate.simulation.annotators import LogisticAnnotators
from ordinate.simulation.metrics import ordering_error
from ordinate.simulation.parallel import Jobs, Progress, run_all
from ordinate.simulation.run import Plan, run_once
from ordinate.simulation.summary import comparisons_needed, curves
from ordinate.simulation.tasks import Trial, group_codes

MOST_ITEMS = 200
"""Of more items a sample is simulated, and the answers are scaled."""
PER_ITEM = (1, 2, 3, 5, 10)
_POINTS = 40


class World(NamedTuple):
    """How true scores come about: scores = X theta + zeta, where X theta has the variance c over the items, and zeta z.

    blocks  what the variance of a coefficient is multiplied by, in each block of features; none: there is one block
    """

    name: str
    coefficient_variance: float
    item_variance: float
    blocks: tuple[float, ...] = ()


@dataclass(frozen=True, eq=False)
class DrawnTask:
    """True scores of given items, drawn anew for each seed; X (n, k) scaled features.

    Both parts are brought to their variances within groups. Else a draw of few coefficients would often make all scores
    alike, and no number of answers could tell such items apart; the runs would differ more than the worlds.
    """

    items: Items
    scaled: Floats
    world: World

    def build(self, seed: int) -> Trial:
        rng = np.random.default_rng([seed, 0x9A17])
        theta, own = rng.standard_normal(self.scaled.shape[1]), rng.standard_normal(len(self.items))
        group = group_codes(self.items)
        truth = np.zeros(len(self.items))
        for part, variance in ((self.scaled @ theta, self.world.coefficient_variance), (own, self.world.item_variance)):
            truth += np.sqrt(variance) * _of_variance_one(part, group)
        return Trial(
            items=self.items,
            annotators=LogisticAnnotators(truth, 1.0, seed),
            evaluate=lambda study: {"ordering error": ordering_error(study.scores(), truth, group)},
        )


def _of_variance_one(scores: Floats, group: Integers | None) -> Floats:
    """The scores (n,) with variance 1 within groups; 0 where all are equal."""
    centred = scores.copy()
    for rows in members(np.zeros(len(scores), dtype=np.int64) if group is None else group):
        centred[rows] -= scores[rows].mean()
    spread = float(np.sqrt(np.square(centred).mean()))
    return centred / spread if spread > 0.0 else centred


class Budgets(NamedTuple):
    """What was simulated.

    items    how many will be ordered; with more than `simulated`, answers are scaled by their ratio
    runs     in each world
    answers  (a,) numbers of answers to all items
    errors   world -> mean ordering error after these, (a,)
    rows     the columns world, seed, answers and error of every measurement
    """

    items: int
    simulated: int
    runs: int
    answers: Integers
    errors: dict[str, Floats]
    rows: dict[str, list[Any]]

    def needed(self, target: float) -> dict[str, tuple[float, bool]]:
        """World -> answers until the mean error is at most the target, and whether that is beyond what was simulated
        and so continued as a forecast is."""
        found: dict[str, tuple[float, bool]] = {}
        for world, answers in comparisons_needed(self.columns(), target).items():
            errors = self.errors[world]
            history = list(zip(self.answers.tolist(), errors.tolist(), strict=True))
            more = Decline.of(history, 0.0).answers_for(target).estimate
            found[world] = (float(self.answers[-1]) + more, True) if answers is None else (answers, False)
        return found

    def columns(self) -> dict[str, list[Any]]:
        """The rows as `summary` and `plot` take them."""
        return {
            "algorithm": self.rows["world"],
            "seed": self.rows["seed"],
            "step": self.rows["answers"],
            "error": self.rows["error"],
        }


def worlds(items: Items, correct: float) -> list[World]:
    """The three worlds, or the one that items without features have; `correct`: see `variance_of`."""
    total = variance_of(correct)
    if not items.features.shape[1]:
        return [World("no features", 0.0, total)]
    names = ("features say everything", "features say half of it", "features say nothing")
    return [World(name, share * total, (1.0 - share) * total) for name, share in zip(names, (1, 0.5, 0), strict=True)]


def variance_of(correct: float) -> float:
    """V for which this share of the answers about random pairs names the item with the higher score."""
    from scipy.integrate import quad
    from scipy.optimize import brentq
    from scipy.special import expit
    from scipy.stats import norm

    if not 0.51 <= correct <= 0.99:
        raise InvalidInput(f"the share of correct answers must be from 0.51 to 0.99; got {correct}")

    def excess(deviation: float) -> float:
        """Of the share, where differences have this standard deviation."""
        half, _ = quad(lambda z: expit(deviation * z) * norm.pdf(z), 0.0, 10.0)
        return 2.0 * float(half) - correct

    return float(brentq(excess, 1e-3, 1e3)) ** 2 / 2.0


def plan(
    items: Items,
    worlds: Sequence[World],
    *,
    runs: int = 3,
    most: int = max(PER_ITEM),
    seed: int = 0,
    jobs: Jobs = 1,
    progress: Progress | None = None,
) -> Budgets:
    """Simulate studies of these items with the default algorithm, up to `most` answers per item."""
    sample = _sample(items, np.random.default_rng(seed))
    count = len(sample)
    active = np.ones(count, dtype=np.bool_)
    scaling = feature_map(sample.features, items.feature_names, items.blocks, "robust", active)
    scaled = scaling.transform(sample.features)
    budget = most * count
    settings = Plan(budget, max(1, budget // _POINTS))
    tasks = [
        (world.name, DrawnTask(sample, _in_blocks(scaled, scaling.widths, world), world), run)
        for world in worlds
        for run in range(runs)
    ]
    made = run_all(
        [partial(run_once, task, settings, default_algorithm(items), seed + run) for _, task, run in tasks],
        budget,
        jobs,
        progress,
    )
    rows: dict[str, list[Any]] = {"world": [], "seed": [], "answers": [], "error": []}
    for (name, _, _), measured in zip(tasks, made, strict=True):
        for row in measured:
            values = (name, row.seed, round(row.step * len(items) / count), row.error)
            for column, value in zip(rows.values(), values, strict=True):
                column.append(value)
    found = Budgets(len(items), count, runs, np.empty(0, dtype=np.int64), {}, rows)
    lines = curves(found.columns())
    return found._replace(answers=lines[0].step, errors={line.algorithm: line.mean for line in lines})


def _in_blocks(scaled: Floats, widths: tuple[int, ...], world: World) -> Floats:
    """(n, k) features whose coefficients have one variance in this world."""
    if len(world.blocks) != len(widths):
        return scaled
    return np.asarray(scaled * np.sqrt(np.repeat(world.blocks, widths)))


def _sample(items: Items, rng: np.random.Generator) -> Items:
    """At most `MOST_ITEMS` items, of whole groups while these fit."""
    if len(items) <= MOST_ITEMS:
        return items
    codes = group_codes(items)
    division = members(np.zeros(len(items), dtype=np.int64) if codes is None else codes)
    chosen = np.empty(0, dtype=np.int64)
    for place in rng.permutation(len(division)):
        room = MOST_ITEMS - len(chosen)
        group = division[place]
        if len(group) <= room or not len(chosen):
            chosen = np.concatenate([chosen, rng.permutation(group)[:room]])
    return items.take(sorted(chosen.tolist()))
