"""`ordinate plan`: how many answers an ordering will need, before the first one is given."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ordinate.cli.create import read_items, read_items_like
from ordinate.cli.options import AsJson, TableOptions, WorkerOptions, open_study
from ordinate.cli.screen import count, print_json, print_table, progress_bar, rough, say
from ordinate.cli.simulate import require_plot, require_table
from ordinate.errors import InvalidInput

if TYPE_CHECKING:
    from ordinate.data.items import Items
    from ordinate.simulation.planning import Budgets, World
    from ordinate.study.study import Study


_MANY_RUNS = 20
"""Means of fewer simulated studies are said to be noisy."""


def plan(
    items: Annotated[
        str | None,
        typer.Option(
            "--items",
            metavar="FILE|FOLDER",
            help="Table or folder of the items to order. With --from they may be left out: then they are the pilot's.",
            show_default=False,
        ),
    ] = None,
    *,
    table: TableOptions,
    target: Annotated[
        float, typer.Option(min=0.001, max=0.5, help="Share of pairs in the wrong order that you accept.")
    ] = 0.1,
    correct: Annotated[
        float | None,
        typer.Option(
            min=0.51,
            max=0.99,
            metavar="SHARE",
            help="Share of answers about random pairs that you expect to be correct. Default: 0.8.",
            show_default=False,
        ),
    ] = None,
    pilot: Annotated[
        str | None,
        typer.Option(
            "--from",
            metavar="STUDY.db",
            help="Take how much the features say, and how noisy people are, from this study.",
            show_default=False,
        ),
    ] = None,
    runs: Annotated[int, typer.Option(min=1, help="Simulated studies in each world.")] = 3,
    seed: Annotated[
        int, typer.Option(min=0, help="Seed of the simulated studies; another one draws other scores.")
    ] = 0,
    most: Annotated[int, typer.Option(min=1, max=100, help="Answers per item up to which to simulate.")] = 10,
    workers: WorkerOptions,
    out: Annotated[
        str | None,
        typer.Option(
            "--out",
            "-o",
            metavar="FILE",
            help="Write all measurements to .parquet, .csv, .tsv, .json, .jsonl or .xlsx.",
            show_default=False,
        ),
    ] = None,
    plot: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Write a plot of the error to .png, .svg or .pdf.", show_default=False),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Plan how many answers to ask for, by simulating studies of your items.

    Nobody knows yet how far the features tell which item ranks higher, so there are three worlds: they say all of it,
    half of it, or nothing. These are examples, not bounds: the middle one can take more answers than the last. A pilot
    study of some 100 answers tells more: --from.

    Each figure is a mean of three simulated studies, or of --runs. Means of so few are noisy.

    Of more than 200 items a random sample is simulated, and the answers are scaled to all.
    """
    from ordinate.data.formats import write_columns
    from ordinate.simulation.planning import World, plan, worlds
    from ordinate.simulation.plot import plot_error

    if out is not None:
        require_table(out)
    if plot is not None:
        require_plot(plot)
    if items is None:
        table.refuse_without()
    if pilot is None:
        if items is None:
            raise InvalidInput("name the items to order with --items, or a study with --from")
        given = _read(items, table)
        tried = worlds(given, 0.8 if correct is None else correct)
    else:
        if correct is not None:
            raise InvalidInput("--from says how noisy people are; leave out --correct")
        with open_study(pilot) as opened:
            if opened.reliability().better_than_coins is not True:
                raise InvalidInput(
                    f"the answers in {pilot} cannot be told from coin tosses yet, so they tell nothing of how people "
                    "will answer; collect more of them, some with random pairs, or plan without --from"
                )
            given = _in_use(opened) if items is None else _read_like(opened, items, table)
            tried = [World(f"as in {Path(pilot).name}", *opened.prior_variances())]
    if not len(given):
        raise InvalidInput(f"{items} has no items to plan for")
    with progress_bar() as bar:
        shown = bar.add_task("Answers", total=None)
        budgets = plan(
            given,
            tried,
            runs=runs,
            most=most,
            seed=seed,
            jobs=workers.workers(),
            progress=lambda made, total: bar.update(shown, completed=made, total=total),
        )
    if out is not None:
        write_columns(out, budgets.rows)
    if plot is not None:
        plot_error(
            budgets.columns(),
            plot,
            title=f"Expected course of a study of {count(len(given), 'item')}",
            ylabel="Share of pairs in the wrong order",
            target=target,
        )
    needed = budgets.needed(target)
    if as_json:
        print_json(
            {
                "items": budgets.items,
                "simulated_items": budgets.simulated,
                "runs": budgets.runs,
                "seed": seed,
                "target": target,
                "answers": {world: round(answers) for world, (answers, _) in needed.items()},
                "worlds": [world._asdict() for world in tried],
                "errors": [
                    dict(zip(budgets.rows, values, strict=True)) for values in zip(*budgets.rows.values(), strict=True)
                ],
            }
        )
        return
    _show(budgets, tried, needed, target)
    for path in (out, plot):
        if path is not None:
            say(f"Wrote {path}.")


def _read(items: str, table: TableOptions) -> Items:
    from ordinate.data.items import read_item_columns

    return read_items(read_item_columns(items), items, table)[0]


def _in_use(opened: Study) -> Items:
    """The items of a study without those that are excluded."""
    excluded = set(opened.excluded_items)
    if not excluded:
        return opened.items
    return opened.items.take([row for row, item in enumerate(opened.items.ids) if item not in excluded])


def _read_like(opened: Any, items: str, table: TableOptions) -> Items:
    from ordinate.data.items import read_item_columns

    return read_items_like(opened, read_item_columns(items), items, table)


def _show(budgets: Budgets, tried: list[World], needed: dict[str, tuple[float, bool]], target: float) -> None:
    import numpy as np
    from rich.table import Table

    from ordinate.simulation.planning import PER_ITEM

    shown = Table(title="Share of pairs in the wrong order after so many answers", title_justify="left")
    shown.add_column("world")
    budgets_shown = [per * budgets.items for per in PER_ITEM if per * budgets.items <= budgets.answers[-1]]
    for budget in budgets_shown:
        shown.add_column(f"{budget:,}", justify="right")
    shown.add_column(f"answers to {100 * target:g} %", justify="right")
    for world in tried:
        errors = np.interp(budgets_shown, budgets.answers, budgets.errors[world.name])
        answers, beyond = needed[world.name]
        shown.add_row(
            world.name, *(f"{100 * error:.1f} %" for error in errors), f"{'~' if beyond else ''}{rough(answers)}"
        )
    print_table(shown)
    sample = "" if budgets.simulated == budgets.items else f" of a sample of {budgets.simulated} items"
    noisy = " Means of so few are noisy; simulate more with --runs." if budgets.runs < _MANY_RUNS else ""
    say(f"Means of {count(budgets.runs, 'simulated study', 'simulated studies')}{sample} for each row.{noisy}")
    if any(beyond for _, beyond in needed.values()):
        say("~: beyond what was simulated, so continued as the error fell last; simulate further with --most.")
