"""`ordinate simulate`: try algorithms on answers that people once gave, or on a synthetic task."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ordinate.cli.options import (
    Backend,
    FeatureColumns,
    FeaturesFile,
    IdColumn,
    ItemsFile,
    Processes,
    Scheduler,
    examples,
    help_text,
    split_names,
    workers,
)
from ordinate.cli.screen import console, count, print_json, progress_bar, say
from ordinate.errors import InvalidInput

if TYPE_CHECKING:
    from ordinate.simulation.parallel import Jobs
    from ordinate.simulation.tasks import Task

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="rich",
    help="Try algorithms on recorded or synthetic answers.",
    epilog=examples(
        "ordinate simulate synthetic --algorithms guro-contextual,uniform-contextual",
        "ordinate simulate recorded --items items.csv --comparisons comparisons.csv --features features.npy",
    ),
)
Algorithms = Annotated[
    str, typer.Option("--algorithms", metavar="NAMES", help="Names from `ordinate algorithms`: a,b,c.")
]
Budget = Annotated[int, typer.Option(min=1, help="Comparisons in each run.")]
Every = Annotated[int, typer.Option(min=1, help="Measure the error each time after this many comparisons.")]
Seeds = Annotated[int, typer.Option(min=1, help="How many times each algorithm runs: seeds 0, 1, ...")]
Out = Annotated[
    str | None,
    typer.Option(
        "--out", "-o", metavar="FILE", help="Write the rows: .parquet, .csv, .tsv, .json or .jsonl.", show_default=False
    ),
]
Plot = Annotated[
    str | None,
    typer.Option("--plot", metavar="FILE", help="Write a plot of the error: .png, .svg or .pdf.", show_default=False),
]
RefitEvery = Annotated[
    int | None,
    typer.Option(min=1, help="Answers between two fits; without it, as a study does it.", show_default=False),
]
Candidates = Annotated[
    int | None,
    typer.Option(
        min=1, help="Look at so many random pairs for each question; without it, at all of them.", show_default=False
    ),
]
Scaling = Annotated[str, typer.Option(help="auto, or none to take the features as they are.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print the rows as JSON, and nothing else, on standard output.")]


def _command(*lines: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    return lambda command: app.command(help=help_text(command), epilog=examples(*lines))(command)


@_command(
    "ordinate simulate recorded --items items.csv --comparisons comparisons.csv --features features.npy --pca 0.9 "
    "--algorithms guro-hybrid,uniform-contextual --budget 3000 --every 100 --seeds 10 --jobs 2 --out rows.parquet",
    "ordinate simulate recorded --items items.csv --comparisons comparisons.csv --holdout pairs --plot error.png",
)
def recorded(
    items: ItemsFile,
    comparisons: Annotated[
        str,
        typer.Option(
            metavar="FILE",
            help="Table of answers: left, right, winner and, where known, annotator.",
            show_default=False,
        ),
    ],
    features: FeaturesFile = None,
    feature_columns: FeatureColumns = None,
    id_column: IdColumn = "id",
    pca: Annotated[
        float | None,
        typer.Option(
            help="Reduce the features to their principal components: a share of the variance such as 0.9, or a number "
            "of components.",
            show_default=False,
        ),
    ] = None,
    algorithms: Algorithms = "guro-hybrid,uniform-hybrid",
    budget: Budget = 1000,
    every: Every = 100,
    seeds: Seeds = 10,
    jobs: Processes = 1,
    backend: Backend = "processes",
    scheduler: Scheduler = None,
    holdout: Annotated[
        str, typer.Option(help="Measure the error on answers held out, or on all answers of pairs held out.")
    ] = "answers",
    share: Annotated[float, typer.Option(help="The share that is held out.")] = 0.1,
    refit_every: RefitEvery = None,
    candidates: Candidates = None,
    scaling: Scaling = "auto",
    out: Out = None,
    plot: Plot = None,
    as_json: AsJson = False,
) -> None:
    """Let algorithms choose among answers that people once gave.

    The error is the share of held-out answers that the learned ordering gets wrong. Where several people answered a
    pair, hold out whole pairs: --holdout pairs.
    """
    from ordinate.datasets import read_recorded
    from ordinate.simulation.tasks import RecordedTask

    _one_of("--holdout", holdout, ("answers", "pairs"))
    dataset = read_recorded(
        items,
        comparisons,
        features=features,
        feature_columns=split_names(feature_columns),
        id_column=id_column,
        pca=pca,
    )
    sizes = dataset.describe()
    inside = f" in {sizes['groups']:,} groups" if sizes["groups"] > 1 else ""
    described = (
        f"{count(sizes['items'], 'item')}{inside}, {count(sizes['features'], 'feature column')}, "
        f"{count(sizes['answers'], 'answer')} on {count(sizes['pairs'], 'pair')}; "
        f"{100 * share:g} % of the {holdout} held out"
    )
    _run(
        RecordedTask(dataset, share=share, by=holdout),  # type: ignore[arg-type]  # checked above
        described,
        "held-out error",
        algorithms,
        (budget, every, seeds),
        workers(jobs, backend, scheduler),
        {"refit_every": refit_every, "candidates": candidates, "scaling": scaling},
        out,
        plot,
        as_json,
    )


@_command(
    "ordinate simulate synthetic --n 100 --d 10 --noise 0.5 --budget 2000 --seeds 20 --jobs 2 --plot error.png",
    "ordinate simulate synthetic --seeds 200 --backend dask --scheduler tcp://10.0.0.5:8786",
    "ordinate simulate synthetic --task task.npz --scaling none --refit-every 1 --algorithms guro-contextual",
)
def synthetic(
    n: Annotated[int, typer.Option("--n", min=2, help="Items.")] = 100,
    d: Annotated[int, typer.Option("--d", min=1, help="Features of each.")] = 10,
    noise: Annotated[
        float, typer.Option(min=0, help="How reliable the answers are: 0 is coin flips, large is without error.")
    ] = 0.5,
    task: Annotated[
        str | None,
        typer.Option(
            metavar="FILE.npz",
            help="Take features (n, d) and theta (d,) from this .npz file instead of drawing them.",
            show_default=False,
        ),
    ] = None,
    task_seed: Annotated[int, typer.Option(min=0, help="Seed of the drawn features and theta.")] = 0,
    algorithms: Algorithms = "guro-contextual,uniform-contextual",
    budget: Budget = 1000,
    every: Every = 100,
    seeds: Seeds = 10,
    jobs: Processes = 1,
    backend: Backend = "processes",
    scheduler: Scheduler = None,
    refit_every: RefitEvery = None,
    candidates: Candidates = None,
    scaling: Scaling = "auto",
    out: Out = None,
    plot: Plot = None,
    as_json: AsJson = False,
) -> None:
    """Let algorithms order items whose scores are a linear function of their features.

    Answers are drawn: left wins with probability 1 / (1 + exp(-noise * difference)). The error is the share of
    pairs that stand in the wrong order.
    """
    import numpy as np

    from ordinate.datasets import draw_synthetic, read_synthetic
    from ordinate.simulation.tasks import SimulatedTask

    dataset = draw_synthetic(n, d, np.random.default_rng(task_seed)) if task is None else read_synthetic(task)
    sizes = dataset.describe()
    described = f"{count(sizes['items'], 'item')}, {count(sizes['features'], 'feature column')}, noise {noise:g}"
    _run(
        SimulatedTask(dataset, noise=noise),
        described,
        "ordering error",
        algorithms,
        (budget, every, seeds),
        workers(jobs, backend, scheduler),
        {"refit_every": refit_every, "candidates": candidates, "scaling": scaling},
        out,
        plot,
        as_json,
    )


def _run(
    task: Task,
    described: str,
    measure: str,
    algorithms: str,
    sizes: tuple[int, int, int],
    jobs: Jobs,
    options: dict[str, Any],
    out: str | None,
    plot: str | None,
    as_json: bool,
) -> None:
    """Simulate, show the summary, leave the files."""
    from ordinate.data.formats import write_columns
    from ordinate.simulation.plot import SUFFIXES, plot_error
    from ordinate.simulation.run import simulate
    from ordinate.simulation.summary import error_table

    budget, every, seeds = sizes
    _one_of("--scaling", options["scaling"], ("auto", "none"))
    for path in (out, plot):
        # A run takes long; a name that cannot be written is refused before it.
        if path is not None and not Path(path).parent.is_dir():
            raise InvalidInput(f"there is no folder {Path(path).parent} to write {Path(path).name} to; make it first")
    if out is not None:
        _require_format(out)
    if plot is not None and Path(plot).suffix.lower() not in SUFFIXES:
        raise InvalidInput(f"a plot is written to {', '.join(SUFFIXES)}; got {plot}")
    with progress_bar() as bar:
        shown = bar.add_task("Comparisons", total=None)
        rows = simulate(
            task,
            split_names(algorithms),
            range(seeds),
            budget,
            every,
            jobs=jobs,
            progress=lambda made, total: bar.update(shown, completed=made, total=total),
            **options,
        )
    if out is not None:
        write_columns(out, rows)
    if plot is not None:
        plot_error(rows, plot, ylabel=measure.capitalize())
    if as_json:
        print_json([dict(zip(rows, values, strict=True)) for values in zip(*rows.values(), strict=True)])
        return
    say(described)
    _show(error_table(rows), measure, seeds)
    for path in (out, plot):
        if path is not None:
            say(f"Wrote {path}.")


def _one_of(option: str, value: str, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise InvalidInput(f"{option} is {' or '.join(allowed)}; got {value!r}")


def _require_format(path: str) -> None:
    """Refuse an unknown suffix, or a format whose extra is not installed."""
    from ordinate.data.formats import FORMATS
    from ordinate.errors import naming

    suffix = Path(path).suffix.lower()
    if suffix not in FORMATS:
        raise InvalidInput(f"{path}: unknown suffix {suffix!r}; tables are {', '.join(FORMATS)}")
    with naming(path):
        FORMATS[suffix].encode({"step": []})


def _show(table: dict[str, list[str]], measure: str, seeds: int) -> None:
    from rich.table import Table

    runs = count(seeds, "run")
    shown = Table(title=f"{measure.capitalize()} after so many comparisons: mean of {runs}", title_justify="left")
    for name in table:
        shown.add_column(name, justify="left" if name == "algorithm" else "right", no_wrap=True)
    for row in zip(*table.values(), strict=True):
        shown.add_row(*row)
    console().print(shown)
    if seeds > 1:
        say("± is one standard error of the mean.")
