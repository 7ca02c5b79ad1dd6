"""`ordinate reproduce`: the paper's experiments, each with one command."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ordinate.cli.options import Backend, Processes, Scheduler, workers
from ordinate.cli.screen import console, count, note, progress_bar, say

if TYPE_CHECKING:
    from ordinate.experiments.reproduce import Done
    from ordinate.simulation.parallel import Progress


def reproduce(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME",
            help="synthetic, x-ray-age, image-clarity, wisc-ads, imdb-wiki-sbs; all; report: what is there so far.",
            show_default=False,
        ),
    ],
    out: Annotated[
        str, typer.Option("--out", "-o", metavar="FOLDER", help="Where rows and figures are, and go.")
    ] = "reproduction",
    data: Annotated[
        str | None,
        typer.Option(
            metavar="NAME|FOLDER",
            help="Another data set: a name, or a folder with items.csv, comparisons.csv, features.npy.",
            show_default=False,
        ),
    ] = None,
    folder: Annotated[
        str | None,
        typer.Option(metavar="FOLDER", help="The folder that holds data sets, by name.", show_default=False),
    ] = None,
    task: Annotated[
        str | None,
        typer.Option(metavar="FILE.npz", help="Features and theta of the synthetic experiment.", show_default=False),
    ] = None,
    reference: Annotated[
        str | None,
        typer.Option(
            metavar="FILE.json", help="Curves to show beside those of the synthetic experiment.", show_default=False
        ),
    ] = None,
    seeds: Annotated[
        int | None,
        typer.Option(min=1, help="Runs of each algorithm; without it, as the experiment has it.", show_default=False),
    ] = None,
    budget: Annotated[
        int | None,
        typer.Option(min=1, help="Comparisons in each run; likewise.", show_default=False),
    ] = None,
    candidates: Annotated[
        int | None,
        typer.Option(min=1, help="Look at so many random pairs per question; likewise.", show_default=False),
    ] = None,
    page: Annotated[
        str | None,
        typer.Option(
            metavar="FILE.md",
            help="Put tables, figures and claims between the markers of this page.",
            show_default=False,
        ),
    ] = None,
    jobs: Processes = 1,
    backend: Backend = "processes",
    scheduler: Scheduler = None,
) -> None:
    """Run an experiment of the paper: its rows as Parquet, and its figures.

    Every run that has ended is kept. Interrupted, or asked for more seeds, the same command makes what is missing.
    """
    from ordinate.data.formats import parquet
    from ordinate.data.formats.files import require_file
    from ordinate.experiments import Wishes
    from ordinate.experiments.figures import read_reference
    from ordinate.experiments.page import write_page
    from ordinate.experiments.reproduce import REPORT, Sources, chosen, report_case, run_case

    parquet.encode({"step": []})  # refuse at once where the extra is missing
    if page is not None:
        require_file(page)
    if reference is not None:
        read_reference(reference)
    who = workers(jobs, backend, scheduler)
    sources = Sources(data, folder, task, reference)
    with progress_bar() as bar:

        def watch(what: str) -> Progress:
            shown = bar.add_task(what, total=None)
            return lambda made, total: bar.update(shown, completed=made, total=total)

        found = chosen(name, sources, Wishes(seeds, budget, candidates), lambda missing: note(f"Left out: {missing}"))
        all_done = [
            report_case(case, sources, Path(out)) if name == REPORT else run_case(case, sources, Path(out), who, watch)
            for case in found
        ]
    for done in all_done:
        _tell(done)
    if page is not None:
        write_page(page, all_done)
        say(f"Wrote {page}.")


def _tell(done: Done) -> None:
    from rich.table import Table

    from ordinate.experiments.reproduce import shown
    from ordinate.experiments.rows import part_of
    from ordinate.simulation.names import look
    from ordinate.simulation.summary import error_table

    case = done.case
    instead = f", in place of {case.data.stand_in}" if case.data.stand_in else ""
    say(f"{case.experiment} on {case.name}{instead}: {count(done.made, 'run')} made")
    for figure in shown(case.data.figures, done.rows):
        for panel in figure.panels:
            table = error_table(part_of(done.rows[panel.setting], panel.part, panel.algorithms))
            title = " · ".join(filter(None, (figure.title, panel.title, panel.ylabel)))
            drawn = Table(title=title, title_justify="left")
            for column in table:
                drawn.add_column(column, justify="left" if column == "algorithm" else "right", no_wrap=True)
            for row in zip(*table.values(), strict=True):
                drawn.add_row(look(row[0]).name, *row[1:])
            console().print(drawn)
        say(f"Wrote {done.figures[figure.name][0].with_suffix('')}.png, .svg and .pdf.")
