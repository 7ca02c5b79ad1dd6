"""Run algorithms on a task over several seeds, through the same Study that real annotators use.

One run is one algorithm with one seed. Runs share nothing, so they can run in several processes. The number of
processes does not change the rows: each run has its own generators and uses one thread for linear algebra.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from ordinate.data.scaling import Scaling
from ordinate.errors import FeatureWarning, InvalidInput, PoolExhausted
from ordinate.simulation.parallel import Jobs, Progress, Report, finished
from ordinate.simulation.tasks import Task
from ordinate.study.aim import ORDER
from ordinate.study.rules import RANDOM_SHARE

if TYPE_CHECKING:
    from ordinate.algorithms import LikelihoodName


class Row(NamedTuple):
    """The value of one measure in one run after `step` comparisons.

    part     the name of the measure, such as "held-out error": a task may have several
    error    the value of the measure
    seconds  the time that the study has taken so far to ask and learn
    """

    algorithm: str
    seed: int
    step: int
    part: str
    error: float
    seconds: float


@dataclass(frozen=True)
class Plan:
    """The parameters that all runs share.

    budget       comparisons in a run
    every        the error is measured after 0, every, 2 * every, ... comparisons, and at the end
    aim          what algorithms that ask for an aim ask for; the others ask for the whole order
    all others   are passed to Study.create; those in `model_options` only where the algorithm has the option
    """

    budget: int
    every: int
    refit_every: int | None = None
    scaling: Scaling = "robust"
    candidates: int | None = None
    coefficient_variance: float | None = None
    item_variance: float | None = None
    renew_covariance: bool = True
    random: float = RANDOM_SHARE
    likelihood: LikelihoodName | None = None
    aim: tuple[str, ...] = ORDER

    def __post_init__(self) -> None:
        for name in ("budget", "every"):
            if getattr(self, name) < 1:
                raise InvalidInput(f"{name} must be at least 1; got {getattr(self, name)}")

    @property
    def model_options(self) -> dict[str, Any]:
        """Those that are given."""
        options = {
            "coefficient_variance": self.coefficient_variance,
            "item_variance": self.item_variance,
            "likelihood": self.likelihood,
        }
        given = {option: value for option, value in options.items() if value is not None}
        return given if self.renew_covariance else {**given, "renew_covariance": False}


def simulate(
    task: Task,
    algorithms: Sequence[str],
    seeds: Sequence[int],
    budget: int,
    every: int = 100,
    *,
    jobs: Jobs = 1,
    progress: Progress | None = None,
    refit_every: int | None = None,
    scaling: Scaling = "robust",
    candidates: int | None = None,
    coefficient_variance: float | None = None,
    item_variance: float | None = None,
    renew_covariance: bool = True,
    random: float = RANDOM_SHARE,
    likelihood: LikelihoodName | None = None,
    aim: tuple[str, ...] = ORDER,
    keep: Callable[[dict[str, list[Any]]], None] | None = None,
) -> dict[str, list[Any]]:
    """The columns of `Row`: in the order of `algorithms`, then `seeds`, then step.

    `keep` is called after each run with the columns of all that have ended.

    A run that uses all recorded answers ends early; its last row is at that step. `jobs` (a number of processes, or a
    cluster) changes no column but `seconds`. An interrupt stops all processes.
    """
    from ordinate.algorithms import takes

    plan = Plan(
        budget,
        every,
        refit_every,
        scaling,
        candidates,
        coefficient_variance,
        item_variance,
        renew_covariance,
        random,
        likelihood,
        aim,
    )
    check_names(algorithms, seeds)
    for option in plan.model_options:
        if not any(takes(name, option) for name in algorithms):
            raise InvalidInput(f"none of the algorithms takes {option}; leave it out")
    runs = [partial(run_once, task, plan, algorithm, seed) for algorithm in algorithms for seed in seeds]
    ended: dict[int, list[Row]] = {}
    for place, run in finished(runs, budget, jobs, progress):
        ended[place] = run
        if keep is not None:
            keep(_columns(ended))
    return _columns(ended)


def _columns(ended: Mapping[int, list[Row]]) -> dict[str, list[Any]]:
    """The rows of these runs, which are numbered, as columns in the order of the runs."""
    rows = [row for _, run in sorted(ended.items()) for row in run]
    return {name: [row[k] for row in rows] for k, name in enumerate(Row._fields)}


def run_once(task: Task, plan: Plan, algorithm: str, seed: int, report: Report = lambda step: None) -> list[Row]:
    """One run. `report` is called after each comparison with the number of comparisons so far."""
    from threadpoolctl import threadpool_limits

    from ordinate.compiled import interrupted

    try:
        with threadpool_limits(limits=1), warnings.catch_warnings():
            warnings.simplefilter("ignore", FeatureWarning)  # once a run would be too often
            return list(_rows(task, plan, algorithm, seed, report))
    except SystemError as error:
        if interrupted(error):
            raise KeyboardInterrupt from error
        raise


def _rows(task: Task, plan: Plan, algorithm: str, seed: int, report: Report) -> Iterator[Row]:
    from ordinate.algorithms import AIMED, for_budget, takes
    from ordinate.algorithms import algorithm as row_of_table
    from ordinate.study.study import Study

    trial = task.build(seed)
    everyone = [item for items in (trial.items, *(arrival.items for arrival in trial.arrivals)) for item in items.ids]
    row_of = {item: k for k, item in enumerate(everyone)}
    waiting = sorted(trial.arrivals, key=lambda arrival: arrival.after)
    study = Study.create(
        trial.items,
        algorithm=for_budget(algorithm, plan.budget),
        seed=seed,
        scaling=plan.scaling,
        refit_every=plan.refit_every,
        candidates=plan.candidates,
        random=plan.random,
        aim=plan.aim if row_of_table(algorithm).strategy == AIMED else ORDER,
        **{option: value for option, value in plan.model_options.items() if takes(algorithm, option)},
    )
    seconds = 0.0
    measured = -1

    def measure(step: int) -> Iterator[Row]:
        for part, error in trial.evaluate(study).items():
            yield Row(algorithm, seed, step, part, error, seconds)

    for step in range(plan.budget + 1):
        while waiting and waiting[0].after <= step:
            study.add_items(waiting.pop(0).items)
        if step % plan.every == 0 or step == plan.budget:
            yield from measure(step)
            measured = step
        if step == plan.budget:
            break
        # The study leaves out pairs with items that have not been added yet.
        pool = trial.annotators.pool()
        begun = time.perf_counter()
        try:
            # A new annotator for each answer, as in a crowd, so that a pair may be asked again.
            query = study.ask(f"simulated-{step + 1}", among=pool)
        except PoolExhausted:
            if measured != step:
                yield from measure(step)
            break
        asked = time.perf_counter()
        answer = trial.annotators.answer(row_of[query.left], row_of[query.right])
        answered = time.perf_counter()
        study.tell(query.id, answer)
        seconds += asked - begun + time.perf_counter() - answered
        report(step + 1)
    study.close()


def check_names(algorithms: Sequence[str], seeds: Sequence[int]) -> None:
    """Raise InvalidInput if a name or a seed is invalid.

    An unknown algorithm is refused here, not by a process after minutes of other work.
    """
    from ordinate.algorithms import algorithm

    for name, values in (("algorithm", algorithms), ("seed", seeds)):
        if not values:
            raise InvalidInput(f"give at least one {name}")
        if len(set(values)) < len(values):
            raise InvalidInput(f"the same {name} is given twice: {', '.join(map(str, values))}")
    if min(seeds) < 0:
        raise InvalidInput(f"seeds are whole numbers that are not negative; got {min(seeds)}")
    for name in algorithms:
        algorithm(name)
