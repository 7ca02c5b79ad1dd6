"""Run an experiment: find the data, make the missing rows, draw the figures.

OUT/EXPERIMENT/DATA/SETTING/    rows, see rows.py
OUT/figures/                    NAME.png, .svg, .pdf, and NAME-1.pdf, NAME-2.pdf, ... for each panel
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from ordinate.data.formats.files import failures
from ordinate.data.tables import Columns
from ordinate.datasets import DATASETS, Dataset, read_dataset, read_synthetic
from ordinate.datasets.recorded import read_recorded_folder
from ordinate.errors import InvalidInput
from ordinate.experiments import EXPERIMENTS, Data, Experiment, Figure, Setting, Wishes, experiment
from ordinate.experiments.figures import draw_figure, reference_panel
from ordinate.experiments.rows import make_rows, read_rows
from ordinate.simulation.parallel import Jobs, Progress
from ordinate.study.threads import one_thread


class Sources(NamedTuple):
    """Where the data are.

    data       a data set, by name or by folder; None: the paper's own, or its stand-ins
    folder     the folder of data sets, each in a folder of its name
    task       a file with features and theta, for the synthetic experiment
    reference  a file of reference curves to draw beside those of the synthetic experiment
    """

    data: str | None = None
    folder: str | None = None
    task: str | None = None
    reference: str | None = None


@dataclass(frozen=True)
class Case:
    """An experiment on one data set."""

    experiment: str
    name: str
    data: Data
    settings: tuple[Setting, ...]


class Done(NamedTuple):
    """The outcome of an experiment on one data set.

    rows       setting -> columns
    made       number of runs that were made now
    figures    figure -> its files
    reference  the file of reference curves, if any
    """

    case: Case
    rows: Mapping[str, Columns]
    made: int
    figures: Mapping[str, list[Path]]
    reference: str | None = None


ALL = "all"  # every experiment whose data are present
REPORT = "report"  # the same, from the rows made so far

Watch = Callable[[str], Progress | None]  # description of what runs -> its progress callback, if any


class DataMissing(InvalidInput):
    """None of the data sets of an experiment is present."""


def cases(name: str, sources: Sources, wishes: Wishes) -> Iterator[Case]:
    """The experiment on each data set that is present: the paper's own if it is, otherwise the stand-ins.

    Raises DataMissing if none is present.
    """
    row = experiment(name)
    with one_thread():  # so that what is computed of the data does not depend on the number of cores
        found = list(_found(name, row, sources))
    if not found:
        known = ", ".join(f"{one} (in place of {data.stand_in})" if data.stand_in else one for one, data in row.items())
        if sources.folder:
            raise DataMissing(f"{name} runs on {known}; {sources.folder} has none of these folders")
        raise DataMissing(f"{name} runs on {known}; name the folder that holds one").with_option(
            "the option is --folder FOLDER"
        )
    for data_name, data, dataset in found:
        with one_thread():
            settings = tuple(wishes.applied(setting) for setting in data.build(dataset, wishes))
        yield Case(name, data_name, data, settings)


def chosen(name: str, sources: Sources, wishes: Wishes, left_out: Callable[[DataMissing], None]) -> Iterator[Case]:
    """The cases of one experiment or, for ALL and REPORT, of every experiment; `left_out` is called for those without
    data.

    Raises InvalidInput if the name is unknown, or if a task or reference is given to an experiment that cannot use it;
    DataMissing if the named experiment has no data.
    """
    if name not in (ALL, REPORT):
        experiment(name)
        for what, file in (("a task", sources.task), ("a reference", sources.reference)):
            if file is not None and name != "synthetic":
                raise InvalidInput(f"{what} is only for the synthetic experiment; leave {file} out for {name}")
        yield from cases(name, sources, wishes)
        return
    for each in EXPERIMENTS:
        try:
            yield from cases(each, sources, wishes)
        except DataMissing as missing:
            left_out(missing)


def _found(name: str, row: Experiment, sources: Sources) -> Iterator[tuple[str, Data, Dataset]]:
    own = next(iter(row.values()))
    if sources.task is not None and name == "synthetic":
        yield "synthetic", own, read_synthetic(sources.task)
        return
    if sources.data is not None and sources.data not in row:
        if sources.data in DATASETS and sources.folder is not None:
            yield sources.data, own, read_dataset(sources.data, sources.folder)
        elif Path(sources.data).is_dir():
            yield Path(sources.data).resolve().name, own, read_recorded_folder(sources.data)
        else:
            raise InvalidInput(f"the data of {name} are a folder or one of {', '.join(row)}; got {sources.data!r}")
        return
    for data_name, data in row.items():
        if sources.data not in (None, data_name):
            continue
        place = Path(sources.folder or ".") / data_name
        if not data.needs_folder or (sources.folder is not None and place.is_dir()):
            yield data_name, data, data.load(place)
        elif sources.folder is not None and sources.data == data_name:
            yield data_name, data, data.load(Path(sources.folder))
        else:
            continue
        if not data.stand_in:
            return


def run_case(case: Case, sources: Sources, out: Path, jobs: Jobs, watch: Watch) -> Done:
    """Make the missing runs, then draw; existing rows are kept."""
    made = 0
    for setting in case.settings:
        what = f"{case.experiment} on {case.name}: {setting.name}"
        made += make_rows(setting, _folder(out, case, setting), jobs, watch(what))
    return report_case(case, sources, out)._replace(made=made)


def report_case(case: Case, sources: Sources, out: Path) -> Done:
    """Draw the figures from the rows made so far."""
    rows = {setting.name: read_rows(setting, _folder(out, case, setting)) for setting in case.settings}
    pictures = out / "figures"
    with failures("written", pictures):
        pictures.mkdir(parents=True, exist_ok=True)
    drawn = {
        figure.name: _draw(figure, rows, pictures, sources) for figure in measured_figures(case.data.figures, rows)
    }
    return Done(case, rows, 0, drawn, sources.reference)


def _folder(out: Path, case: Case, setting: Setting) -> Path:
    return out / case.experiment / case.name / setting.name


def _draw(figure: Figure, rows: Mapping[str, Columns], folder: Path, sources: Sources) -> list[Path]:
    extra = []
    if figure.reference and sources.reference is not None:
        extra.append(reference_panel(sources.reference, figure.panels[0].ylabel))
    return draw_figure(figure, rows, folder, extra)


def measured_figures(figures: Sequence[Figure], rows: Mapping[str, Columns]) -> Iterator[Figure]:
    """The figures with the panels that have rows. Without a true order, for example, its panel is left out."""
    for figure in figures:
        panels = tuple(
            panel
            for panel in figure.panels
            if all(name in rows and panel.part in rows[name]["part"] for name in panel.settings)
        )
        if panels:
            yield figure._replace(panels=panels)
