"""What an experiment is: settings to run, and figures to draw from their rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from ordinate.datasets import Dataset
from ordinate.simulation.plot import Band
from ordinate.simulation.run import Plan
from ordinate.simulation.tasks import Task


@dataclass(frozen=True, eq=False)
class Setting:
    """Runs that are alike: each of the algorithms, with seeds 0, 1, ..., on one task by one plan."""

    name: str
    task: Task
    plan: Plan
    algorithms: tuple[str, ...]
    seeds: int


class Wishes(NamedTuple):
    """What the person who runs an experiment decides; None: the experiment's own number."""

    seeds: int | None = None
    budget: int | None = None
    candidates: int | None = None

    def budget_or(self, usual: int) -> int:
        return usual if self.budget is None else self.budget

    def applied(self, setting: Setting) -> Setting:
        plan = setting.plan
        if self.candidates is not None:
            plan = replace(plan, candidates=self.candidates)
        return replace(setting, plan=plan, seeds=setting.seeds if self.seeds is None else self.seeds)


class Panel(NamedTuple):
    """Curves of one setting.

    part        the measure that is drawn
    algorithms  those that are drawn; none: all
    """

    setting: str
    part: str
    ylabel: str
    title: str = ""
    algorithms: tuple[str, ...] = ()


class Figure(NamedTuple):
    """A figure of an experiment.

    shows      which figure of the paper it is
    reference  whether curves that somebody else measured may stand beside it
    """

    name: str
    title: str
    shows: str
    band: Band
    panels: tuple[Panel, ...]
    reference: bool = False


class Data(NamedTuple):
    """A data set that the experiment can run on.

    load      makes it from its folder, or from nothing where there is none to read
    stand_in  what it is in place of the paper's; empty where it is the paper's
    figures   what is drawn of its rows
    """

    load: Callable[[Path], Dataset]
    stand_in: str
    build: Callable[[Dataset, Wishes], list[Setting]]
    figures: tuple[Figure, ...]
    needs_folder: bool = True


Experiment = Mapping[str, Data]
"""By name, what the experiment can run on; the paper's own first."""
