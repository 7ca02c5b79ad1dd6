"""`ordinate demo`: the whole thing in under a minute, on photographs that it makes itself."""

from __future__ import annotations

from dataclasses import asdict
from shlex import quote
from typing import TYPE_CHECKING, Annotated

import typer

from ordinate.cli.options import AsJson
from ordinate.cli.screen import console, percent, print_json, progress_bar, say

if TYPE_CHECKING:
    from ordinate.simulation.demo import DemoSummary

DESCRIPTIONS = {
    "guro-hybrid": "pairs chosen by ordinate",
    "uniform-hybrid": "pairs at random, same model",
    "uniform-independent": "pairs at random, nothing known about the photos",
}


def demo(
    folder: Annotated[
        str, typer.Option(metavar="FOLDER", help="Where to leave the results: a new folder.")
    ] = "ordinate-demo",
    seed: Annotated[int, typer.Option(min=0, help="Another seed makes other photos and other answers.")] = 0,
    as_json: AsJson = False,
) -> None:
    """Order 100 versions of one photograph, and see how few questions that takes.

    The people who answer are simulated, and err as people do. It takes under a minute and needs no network.
    """
    from ordinate.simulation.demo import run_demo

    with progress_bar() as bar:
        shown = bar.add_task("Asking simulated people", total=None)
        summary = run_demo(
            folder, seed=seed, progress=lambda made, total: bar.update(shown, completed=made, total=total)
        )
    if as_json:
        print_json(asdict(summary))
    else:
        _tell(summary)


def _tell(summary: DemoSummary) -> None:
    folder = summary.folder
    say("What happened")
    say(f"  There are {summary.photos} versions of one photo, each more or less blurred, noisy and compressed.")
    say(f'  Simulated people were asked "Which photo is clearer?" {summary.answers:,} times.')
    say(f"  They were wrong {summary.wrong_answers:,} times, mostly where two photos are much alike.")
    say(f"  Even so the study now has {percent(1 - summary.study_error)} of all pairs of photos in the right order,")
    say(f"  and it says so itself: it expects {percent(1 - summary.expected_error)}.")
    say()
    say(f"How many questions it takes until only {percent(summary.target_error)} of the pairs stand in the wrong order")
    say("(what random pairs reach with all their questions, by the same model;")
    say(f"the mean of {summary.seeds} repetitions of up to {summary.budget:,} questions each)")
    _show_questions(summary)
    say()
    say(f"What is in the folder {folder}")
    for name, what in (
        (summary.contact_sheet.name, "the photos in the order that was learned: look at this first"),
        (summary.plot.name, "error against number of questions, for each way of asking"),
        (summary.ordering.name, "the ordering as a table"),
        (summary.study.name, "the study: questions and answers"),
        (f"{summary.items.name}, photos", "what the study was made from"),
        ("rows.csv", "the numbers behind the plot"),
    ):
        say(f"  {name:<20} {what}")
    say()
    say("What to type next")
    say(f"  ordinate annotate {quote(str(summary.study))}    answer some questions yourself")
    say(f"  ordinate order {quote(str(summary.study))}       see the ordering")
    say()
    say("To order items of your own, list them in a table items.csv: a column id, a column text or image, and, better,")
    say("columns of numbers that describe them (or a matrix of embeddings, --features features.npy)")
    say("  ordinate create study.db --items items.csv --feature-columns length,brightness")
    say("  ordinate annotate study.db")
    say("  ordinate order study.db --out ordering.csv")


def _show_questions(summary: DemoSummary) -> None:
    from rich.table import Table

    table = Table(show_header=False, box=None, padding=(0, 2, 0, 0))
    table.add_column()
    table.add_column(justify="right")
    table.add_column()
    for name, needed in summary.questions_needed.items():
        questions = f"more than {summary.budget:,}" if needed is None else f"{round(needed):,}"
        table.add_row(f"  {DESCRIPTIONS.get(name, '')}", questions, f"({name})")
    console().print(table)
