"""`ordinate demo`: a study from items to ordering in under a minute, on generated photographs."""

from __future__ import annotations

from dataclasses import asdict
from shlex import quote
from typing import TYPE_CHECKING, Annotated

import typer

from ordinate.cli.options import AsJson
from ordinate.cli.screen import percent, print_json, print_table, progress_bar, say

if TYPE_CHECKING:
    from ordinate.simulation.demo import DemoSummary

DESCRIPTIONS = {
    "guro-hybrid": "pairs chosen by ordinate",
    "uniform-hybrid": "random pairs, same model",
    "uniform-independent": "random pairs, no features",
}


def demo(
    folder: Annotated[str, typer.Option(metavar="FOLDER", help="A new folder for the results.")] = "ordinate-demo",
    seed: Annotated[int, typer.Option(min=0, help="Seed of the photos and the answers.")] = 1,
    as_json: AsJson = False,
) -> None:
    """Order 100 versions of one photograph, and show how few questions that takes.

    The answers are simulated, with errors as people make them. It takes under a minute and needs no network.
    """
    from ordinate.simulation.demo import run_demo

    with progress_bar() as bar:
        shown = bar.add_task("Asking simulated people", total=None)
        summary = run_demo(
            folder, seed=seed, progress=lambda made, total: bar.update(shown, completed=made, total=total)
        )
    report(summary, as_json)


def report(summary: DemoSummary, as_json: bool) -> None:
    """Print what happened, and what to type next."""
    if as_json:
        print_json(asdict(summary))
        return
    folder = summary.folder
    say("What happened")
    say(f"  There are {summary.photos} versions of one photo, each more or less blurred, noisy and compressed.")
    say(f'  Simulated people were asked "Which photo is clearer?" {summary.answers:,} times.')
    say(f"  They were wrong {summary.wrong_answers:,} times, mostly on pairs of similar photos.")
    say(f"  The study still has {percent(1 - summary.study_error)} of all pairs of photos in the right order;")
    if summary.expected_error is None:
        say(f"  its own estimate is withheld: {summary.withheld}.")
    else:
        say(f"  its own estimate is {percent(1 - summary.expected_error)}.")
    say()
    say(f"Questions needed until only {percent(summary.target_error)} of the pairs are in the wrong order")
    say("(the error of random pairs with the same model at the end;")
    say(f"mean of {summary.seeds} runs of up to {summary.budget:,} questions each)")
    _show_questions(summary)
    say()
    say(f"Files in the folder {folder}")
    for name, what in (
        (summary.contact_sheet.name, "the photos in the learned order: look at this first"),
        (summary.plot.name, "error by number of questions, for each way of asking"),
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
    say("To order your own items, list them in a table items.csv with a column id, a column text or image, and, if")
    say("possible, columns of numbers that describe them (or give a matrix of embeddings: --features features.npy)")
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
    print_table(table)
