"""`ordinate simulate`: try algorithms on answers that people gave, or on a synthetic task."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from ordinate.cli.options import (
    ItemsFile,
    MethodOptions,
    ReadingOptions,
    TableOptions,
    WorkerOptions,
    add_command,
    examples,
    split_names,
)
from ordinate.cli.screen import count, note, print_json, print_table, progress_bar, say
from ordinate.errors import InvalidInput

if TYPE_CHECKING:
    from ordinate.datasets import Dataset
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
Aim = Annotated[
    list[str] | None,
    typer.Option(
        "--aim",
        metavar="AIM",
        help="Also measure which share of these items is found: top:10, bottom:10 or above:ID, as in `ordinate aim`. "
        "Algorithms whose names begin with aim ask for them, all others for the whole order.",
        show_default=False,
    ),
]
Algorithms = Annotated[
    str, typer.Option("--algorithms", metavar="NAMES", help="Algorithms to compare, from `ordinate algorithms`: a,b,c.")
]


@dataclass(frozen=True)
class RunOptions:
    """How long the runs are, and how many there are."""

    budget: Annotated[int, typer.Option(min=1, help="Number of comparisons in each run.")] = 1000
    every: Annotated[int, typer.Option(min=1, help="Measure the error each time after this many comparisons.")] = 100
    seeds: Annotated[int, typer.Option(min=1, help="Number of runs of each algorithm, with seeds 0, 1, ...")] = 10


@dataclass(frozen=True)
class OutputOptions:
    """What to write and print."""

    out: Annotated[
        str | None,
        typer.Option(
            "--out",
            "-o",
            metavar="FILE",
            help="Write the rows to .parquet, .csv, .tsv, .json, .jsonl or .xlsx, after each run those made so far.",
            show_default=False,
        ),
    ] = None
    plot: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Write a plot of the error to .png, .svg or .pdf.", show_default=False),
    ] = None
    as_json: Annotated[bool, typer.Option("--json", help="Print only the rows, as JSON, on standard output.")] = False


def recorded(
    items: ItemsFile,
    comparisons: Annotated[
        str,
        typer.Option(
            metavar="FILE",
            help="Table of answers with the columns left, right, winner and, if known, annotator, or of another form.",
            show_default=False,
        ),
    ],
    *,
    table: TableOptions,
    reading: ReadingOptions,
    algorithms: Algorithms = "guro-hybrid,uniform-hybrid",
    aim: Aim = None,
    runs: RunOptions,
    method: MethodOptions,
    holdout: Annotated[
        Literal["answers", "pairs"],
        typer.Option(help="Hold out single answers, or all answers about some of the pairs."),
    ] = "answers",
    share: Annotated[float, typer.Option(help="The share to hold out.")] = 0.1,
    workers: WorkerOptions,
    output: OutputOptions,
) -> None:
    """Let algorithms choose among answers that people gave.

    The error is the share of held-out answers that the learned ordering predicts wrong. If several people answered the
    same pair, hold out whole pairs: --holdout pairs.

    With an --aim, what is to be found are the items that are wanted by a fit of all answers, also the held-out ones.
    The output says how many of them that fit itself expects to be right.
    """
    from ordinate.datasets import read_recorded
    from ordinate.simulation.tasks import RecordedTask

    if reading.models is not None:
        raise InvalidInput("--models has no effect here: a simulation takes all answers alike; leave it out")
    dataset = read_recorded(
        items,
        comparisons,
        features=table.matrices(),
        pca=table.pca,
        reading=reading.reading(),
        **table.named(),
        **table.options(),
    )
    sizes = dataset.describe()
    inside = f" in {sizes['groups']:,} groups" if sizes["groups"] > 1 else ""
    described = (
        f"{count(sizes['items'], 'item')}{inside}, {count(sizes['features'], 'feature column')}, "
        f"{count(sizes['answers'], 'answer')} on {count(sizes['pairs'], 'pair')}; "
        f"{100 * share:g} % of the {holdout} held out"
    )
    task: Task = RecordedTask(dataset, share=share, by=holdout)
    if aim is not None:
        task, expected = _by_all_answers(task, dataset, aim)
        described += expected
    _run(task, described, "held-out error", split_names(algorithms), aim, runs, method, workers, output)
    for one in dataset.notes:
        note(f"{one}.")


def synthetic(
    *,
    n: Annotated[
        int | None, typer.Option("--n", min=2, help="Number of items. Default: 100.", show_default=False)
    ] = None,
    d: Annotated[
        int | None,
        typer.Option("--d", min=1, help="Number of features of each item. Default: 10.", show_default=False),
    ] = None,
    noise: Annotated[
        float, typer.Option(min=0, help="Reliability of the answers: 0 means coin flips, a large value no errors.")
    ] = 0.5,
    task: Annotated[
        str | None,
        typer.Option(
            metavar="FILE.npz",
            help="Read the features (n, d) and theta (d,) from this .npz file instead of drawing them.",
            show_default=False,
        ),
    ] = None,
    task_seed: Annotated[
        int | None,
        typer.Option(min=0, help="Seed for drawing the features and theta. Default: 0.", show_default=False),
    ] = None,
    algorithms: Algorithms = "guro-contextual,uniform-contextual",
    aim: Aim = None,
    runs: RunOptions,
    method: MethodOptions,
    workers: WorkerOptions,
    output: OutputOptions,
) -> None:
    """Let algorithms order items whose scores are a linear function of their features.

    Answers are drawn: left wins with probability 1 / (1 + exp(-noise * difference)). The error is the share of
    pairs that are in the wrong order.
    """
    import numpy as np

    from ordinate.datasets import draw_synthetic, read_synthetic
    from ordinate.simulation.tasks import AimedTask, SimulatedTask

    if task is None:
        dataset = draw_synthetic(n or 100, d or 10, np.random.default_rng(task_seed or 0))
    elif n is None and d is None and task_seed is None:
        dataset = read_synthetic(task)
    else:
        raise InvalidInput(f"--n, --d and --task-seed are about a task that is drawn; {task} says how large it is")
    sizes = dataset.describe()
    described = f"{count(sizes['items'], 'item')}, {count(sizes['features'], 'feature column')}, noise {noise:g}"
    simulated: Task = SimulatedTask(dataset, noise=noise)
    if aim is not None and dataset.truth is not None:
        simulated = AimedTask(simulated, tuple(aim), dataset.truth)
    _run(simulated, described, "ordering error", split_names(algorithms), aim, runs, method, workers, output)


def _by_all_answers(task: Task, dataset: Dataset, aim: list[str]) -> tuple[Task, str]:
    """The task with the items that a fit of all answers says are wanted, and how many are expected to be right."""
    from ordinate.simulation.tasks import AimedTask
    from ordinate.study.study import Study

    study = Study.create(dataset.items, aim=aim)
    study.record(dataset.comparisons)
    selection = study.selection()
    right = None if selection is None else selection.right
    words = f"; by all answers, {100 * right.estimate:.0f} % of what is wanted is expected right" if right else ""
    return AimedTask(task, tuple(aim), study.scores()), words


def _run(
    task: Task,
    described: str,
    measure: str,
    algorithms: list[str],
    aim: list[str] | None,
    runs: RunOptions,
    method: MethodOptions,
    workers: WorkerOptions,
    output: OutputOptions,
) -> None:
    """Simulate, write the files, and print a summary or the rows."""
    from ordinate.data.formats import write_columns
    from ordinate.simulation.plot import plot_error, plot_measures
    from ordinate.simulation.run import simulate
    from ordinate.simulation.summary import error_table, parts
    from ordinate.study.aim import ORDER

    if output.out is not None:
        require_table(output.out)
    if output.plot is not None:
        require_plot(output.plot)
    with progress_bar() as bar:
        shown = bar.add_task("Comparisons", total=None)
        rows = simulate(
            task,
            algorithms,
            range(runs.seeds),
            runs.budget,
            runs.every,
            jobs=workers.workers(),
            progress=lambda made, total: bar.update(shown, completed=made, total=total),
            aim=ORDER if aim is None else tuple(aim),
            keep=None if output.out is None else partial(write_columns, output.out),
            **asdict(method),
        )
    if output.plot is not None and aim is not None:
        plot_measures(rows, output.plot, title=f"Aim: {', '.join(aim)}")
    elif output.plot is not None:
        plot_error(rows, output.plot, ylabel=measure.capitalize())
    if output.as_json:
        print_json([dict(zip(rows, values, strict=True)) for values in zip(*rows.values(), strict=True)])
        return
    say(described)
    for part, measured in parts(rows).items():
        _show(error_table(measured), part, runs.seeds)
    if runs.seeds > 1:
        say("± is one standard error of the mean.")
    for path in (output.out, output.plot):
        if path is not None:
            say(f"Wrote {path}.")


def require_plot(path: str) -> None:
    """Refuse a plot that could not be written: before the runs, which take long."""
    from ordinate.simulation.plot import SUFFIXES

    _require_folder(path)
    if Path(path).suffix.lower() not in SUFFIXES:
        raise InvalidInput(f"a plot is a {', '.join(SUFFIXES)} file; got {path}")


def _require_folder(path: str) -> None:
    if not Path(path).parent.is_dir():
        raise InvalidInput(f"there is no folder {Path(path).parent} to write {Path(path).name} to; make it first")


def require_table(path: str) -> None:
    """Likewise a table, also where its suffix is unknown or the format's extra is not installed."""
    from ordinate.data.formats import FORMATS
    from ordinate.errors import naming

    _require_folder(path)
    suffix = Path(path).suffix.lower()
    if suffix not in FORMATS:
        raise InvalidInput(f"{path}: unknown suffix {suffix!r}; tables are {', '.join(FORMATS)}")
    with naming(path):
        FORMATS[suffix].encode({"step": []})


def _show(table: dict[str, list[str]], measure: str, seeds: int) -> None:
    from rich.table import Table

    runs = count(seeds, "run")
    title = f"{measure.capitalize()} by number of comparisons, mean of {runs}"
    shown = Table(title=title, title_justify="left")
    for name in table:
        shown.add_column(name, justify="left" if name == "algorithm" else "right", no_wrap=True)
    for row in zip(*table.values(), strict=True):
        shown.add_row(*row)
    print_table(shown)


add_command(
    app,
    "recorded",
    recorded,
    "ordinate simulate recorded --items items.csv --comparisons comparisons.csv --features features.npy --pca 0.9 "
    "--algorithms guro-hybrid,uniform-contextual --budget 3000 --every 100 --seeds 10 --jobs 2 --out rows.parquet",
    "ordinate simulate recorded --items items.csv --comparisons comparisons.csv --holdout pairs --plot error.png",
)
add_command(
    app,
    "synthetic",
    synthetic,
    "ordinate simulate synthetic --n 100 --d 10 --noise 0.5 --budget 2000 --seeds 20 --jobs 2 --plot error.png",
    "ordinate simulate synthetic --aim top:10 --algorithms guro-contextual,aim-contextual --budget 500 --every 50",
    "ordinate simulate synthetic --seeds 200 --backend dask --scheduler tcp://10.0.0.5:8786",
    "ordinate simulate synthetic --task task.npz --scaling none --refit-every 1 --algorithms guro-contextual",
)
