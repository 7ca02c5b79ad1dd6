"""The parts of an experiment: settings to run, and figures to draw from their rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from ordinate.datasets import Dataset
from ordinate.simulation.plot import Band
from ordinate.simulation.run import Plan
from ordinate.simulation.tasks import Task

DEFAULTS = "-defaults"  # ends the name of a setting that repeats another one with a study's default options


@dataclass(frozen=True, eq=False)
class Setting:
    """A group of runs: each of the algorithms, with seeds 0, 1, ..., on one task with one plan.

    hybrid_candidates  random pairs to choose from at each question, for hybrid models only
    """

    name: str
    task: Task
    plan: Plan
    algorithms: tuple[str, ...]
    seeds: int
    hybrid_candidates: int | None = None

    def plan_of(self, algorithm: str) -> Plan:
        if self.hybrid_candidates is None or "-hybrid" not in algorithm:
            return self.plan
        return replace(self.plan, candidates=self.hybrid_candidates)

    def with_defaults(self, algorithms: tuple[str, ...], seeds: int) -> Setting:
        """The same task with the default options of a study instead of the paper's."""
        plan = Plan(self.plan.budget, self.plan.every)
        return Setting(self.name + DEFAULTS, self.task, plan, algorithms, seeds, self.hybrid_candidates)


def as_the_paper(budget: int, every: int, refit_every: int) -> Plan:
    """The paper's options: prior variance 1, features as they are, a covariance that is updated by Sherman-Morrison
    alone. Sequential algorithms take every answer at once, whatever `refit_every` is."""
    return Plan(
        budget,
        max(1, every),
        refit_every,
        scaling="none",
        coefficient_variance=1.0,
        item_variance=1.0,
        renew_covariance=False,
        random=0.0,
    )


class Wishes(NamedTuple):
    """Numbers that the user gives instead of the experiment's own; None keeps the experiment's."""

    seeds: int | None = None
    budget: int | None = None
    candidates: int | None = None

    def budget_or(self, usual: int) -> int:
        return usual if self.budget is None else self.budget

    def applied(self, setting: Setting) -> Setting:
        if self.candidates is not None:
            plan = replace(setting.plan, candidates=self.candidates)
            setting = replace(setting, plan=plan, hybrid_candidates=self.candidates)
        return setting if self.seeds is None else replace(setting, seeds=self.seeds)


class Panel(NamedTuple):
    """Curves of one setting, or of several settings that differ in one number.

    setting     the setting; of several, the first
    part        the measure to draw
    algorithms  the algorithms to draw; empty: all
    across      the number and the name of each setting: the last errors are drawn against the number
    xlabel      what the number is
    minus       an algorithm whose error is subtracted from the others', seed by seed
    log         whether the errors have a logarithmic axis, on which small late differences can be seen
    """

    setting: str
    part: str
    ylabel: str
    title: str = ""
    algorithms: tuple[str, ...] = ()
    across: tuple[tuple[int, str], ...] = ()
    xlabel: str = "Number of comparisons"
    minus: str = ""
    log: bool = False

    @property
    def settings(self) -> tuple[str, ...]:
        return tuple(name for _, name in self.across) or (self.setting,)


class Figure(NamedTuple):
    """A figure of an experiment.

    shows      the figure of the paper that it reproduces
    reference  whether reference curves can be drawn beside it
    """

    name: str
    title: str
    shows: str
    band: Band
    panels: tuple[Panel, ...]
    reference: bool = False


class Data(NamedTuple):
    """A data set that the experiment can run on.

    load          reads it from its folder, or generates it if it needs none
    stand_in      the data of the paper that it stands in for; empty if it is the paper's own
    build         data set -> the settings to run
    figures       the figures to draw from the rows
    needs_folder  whether it is read from a folder
    """

    load: Callable[[Path], Dataset]
    stand_in: str
    build: Callable[[Dataset, Wishes], list[Setting]]
    figures: tuple[Figure, ...]
    needs_folder: bool = True


Experiment = Mapping[str, Data]
"""Name -> data set that the experiment can run on; the paper's own first."""
