"""`ordinate reproduce`: run the experiments of the paper."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ordinate.cli.options import WorkerOptions
from ordinate.cli.screen import count, note, print_table, progress_bar, say
from ordinate.errors import InvalidInput

if TYPE_CHECKING:
    from ordinate.experiments.reproduce import Done
    from ordinate.simulation.parallel import Progress


@dataclass(frozen=True)
class SourceOptions:
    """Where the data are."""

    data: Annotated[
        str | None,
        typer.Option(
            metavar="NAME|FOLDER",
            help="Use another data set: a name, or a folder with items.csv, comparisons.csv and features.npy.",
            show_default=False,
        ),
    ] = None
    folder: Annotated[
        str | None,
        typer.Option(
            metavar="FOLDER", help="The folder of the data sets, each in a folder of its name.", show_default=False
        ),
    ] = None
    task: Annotated[
        str | None,
        typer.Option(metavar="FILE.npz", help="Features and theta for the synthetic experiment.", show_default=False),
    ] = None
    reference: Annotated[
        str | None,
        typer.Option(
            metavar="FILE.json",
            help="Curves to show beside those of the synthetic experiment.",
            show_default=False,
        ),
    ] = None


@dataclass(frozen=True)
class SizeOptions:
    """Numbers to use instead of the experiment's own."""

    seeds: Annotated[
        int | None,
        typer.Option(min=1, help="Number of runs of each algorithm. Default: the experiment's.", show_default=False),
    ] = None
    budget: Annotated[
        int | None,
        typer.Option(min=1, help="Number of comparisons in each run. Default: the experiment's.", show_default=False),
    ] = None
    candidates: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Number of random pairs to choose from at each question. Default: the experiment's.",
            show_default=False,
        ),
    ] = None


def reproduce(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME",
            help="synthetic, x-ray-age, image-clarity, wisc-ads, imdb-wiki-sbs, feature-share, feature-mixture or "
            "active-choice; all, for every experiment; report, for the figures of the rows made so far.",
            show_default=False,
        ),
    ],
    *,
    out: Annotated[
        str, typer.Option("--out", "-o", metavar="FOLDER", help="Folder for rows and figures.")
    ] = "reproduction",
    source: SourceOptions,
    sizes: SizeOptions,
    page: Annotated[
        str | None,
        typer.Option(
            metavar="FILE.md",
            help="Write tables, figures and claims between the markers of this page.",
            show_default=False,
        ),
    ] = None,
    workers: WorkerOptions,
) -> None:
    """Run an experiment of the paper: write its rows, as Parquet, and its figures.

    Every finished run is kept. After an interruption, or with more seeds, the same command makes only the missing runs.
    """
    from ordinate.data.formats import parquet
    from ordinate.data.formats.files import require_file
    from ordinate.experiments import Wishes
    from ordinate.experiments.figures import read_reference
    from ordinate.experiments.page import write_page
    from ordinate.experiments.reproduce import REPORT, Sources, chosen, report_case, run_case

    parquet.encode({"step": []})  # refuse at once if the extra is missing
    if page is not None:
        require_file(page)
    if source.reference is not None:
        read_reference(source.reference)
    jobs = workers.workers()
    sources, wishes = Sources(**vars(source)), Wishes(**vars(sizes))
    with progress_bar() as bar:

        def watch(what: str) -> Progress:
            shown = bar.add_task(what, total=None)
            return lambda made, total: bar.update(shown, completed=made, total=total)

        def left_out(missing: InvalidInput) -> None:
            note(f"Left out: {missing}{f'; {missing.option}' if missing.option else ''}")

        found = chosen(name, sources, wishes, left_out)
        all_done = [
            report_case(case, sources, Path(out)) if name == REPORT else run_case(case, sources, Path(out), jobs, watch)
            for case in found
        ]
    for done in all_done:
        _show(done)
    if page is not None:
        write_page(page, all_done)
        say(f"Wrote {page}.")


def _show(done: Done) -> None:
    from rich.table import Table

    from ordinate.experiments.figures import panel_rows
    from ordinate.experiments.reproduce import measured_figures
    from ordinate.simulation.names import look
    from ordinate.simulation.summary import error_table

    case = done.case
    instead = f", in place of {case.data.stand_in}" if case.data.stand_in else ""
    say(f"{case.experiment} on {case.name}{instead}: {count(done.made, 'run')} made")
    for figure in measured_figures(case.data.figures, done.rows):
        for panel in figure.panels:
            table = error_table(panel_rows(panel, done.rows))
            title = " · ".join(filter(None, (figure.title, panel.title, panel.ylabel)))
            drawn = Table(title=title, title_justify="left")
            for column in table:
                drawn.add_column(column, justify="left" if column == "algorithm" else "right", no_wrap=True)
            for row in zip(*table.values(), strict=True):
                drawn.add_row(look(row[0]).name, *row[1:])
            print_table(drawn)
        say(f"Wrote {done.figures[figure.name][0].with_suffix('')}.png, .svg and .pdf.")
