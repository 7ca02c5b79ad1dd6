"""The commands: each parses its arguments, calls the library, and formats the result.

Only the module of the command that is called is imported, and heavy libraries inside the commands, so that each starts
quickly.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Annotated, Any, NamedTuple

import typer

from ordinate.cli.options import ANSWER, CHANGE, RESULT, TRY, add_command, examples


class Row(NamedTuple):
    """A command: the panel of `--help` that lists it, its name, and its function, as "module.function".

    The name `app` of a function stands for a group of commands. `lines` are the examples.
    """

    panel: str
    name: str
    function: str
    lines: tuple[str, ...]


def _row(panel: str, name: str, function: str, *lines: str) -> Row:
    return Row(panel, name, function, lines)


COMMANDS = (
    _row(
        CHANGE,
        "create",
        "create.create",
        "ordinate create study.db --items essays.csv --features embeddings.npy",
        "ordinate create study.db --items photos.csv --feature-columns sharpness,contrast "
        '--question "Which is clearer?"',
        "ordinate create study.db --items essays.csv --embed auto --pca 0.9",
        "ordinate create study.db --items names.csv --id-column name",
        "ordinate create study.db --items photos/ --convert",
        "ordinate create study.db --items essays.csv --features embeddings.npy --aim top:10",
        "ordinate create study.db --comparisons battles.csv",
    ),
    _row(
        CHANGE,
        "embed",
        "embed.embed",
        "ordinate embed --items essays.csv --out essays.npz --pca 0.9",
        "ordinate embed --items x-rays.csv --encoder xray:densenet121-res224-all --out x-rays.npz --pca 35",
        "ordinate embed --items photos.csv --encoder timm:resnet34@untrained=7 --out untrained.npy",
    ),
    _row(CHANGE, "encoders", "embed.encoders", "ordinate encoders", "ordinate encoders --json"),
    _row(CHANGE, "add-items", "create.add_items", "ordinate add-items study.db --items more.csv --features more.npy"),
    _row(
        CHANGE,
        "exclude",
        "exclusion.exclude",
        "ordinate exclude study.db --item essay-17",
        "ordinate exclude study.db --annotator mallory",
    ),
    _row(
        CHANGE,
        "aim",
        "aim.aim",
        "ordinate aim study.db",
        "ordinate aim study.db --aim top:10",
        "ordinate aim study.db --aim above:essay-17",
    ),
    _row(CHANGE, "include", "exclusion.include", "ordinate include study.db --item essay-17"),
    _row(
        ANSWER,
        "annotate",
        "annotate.annotate",
        "ordinate annotate study.db",
        "ordinate annotate study.db --annotator anna",
        "ordinate annotate study.db --after-models",
    ),
    _row(
        ANSWER,
        "serve",
        "serve.serve",
        "ordinate serve study.db",
        "ordinate serve --demo",
        "ordinate serve essays.db photos.db --host 0.0.0.0 --secret-file judges.secret --budget 2000",
    ),
    _row(
        ANSWER,
        "judge",
        "judge.judge",
        "ordinate judge study.db --endpoint http://localhost:8000/v1 --model llama-3.1-8b --prompt prompt.txt",
        "ordinate judge study.db --endpoint https://api.openai.com/v1 --model gpt-4o --prompt prompt.txt --dry-run",
        "ordinate judge study.db --endpoint http://localhost:8000/v1 --model llama-3.1-8b --prompt prompt.txt "
        "--orders both --answers 500 --parameter temperature=0",
    ),
    _row(
        ANSWER,
        "link",
        "link.link",
        "ordinate link study.db",
        "ordinate link study.db --shared --url https://example.org/judging",
        "ordinate link study.db --annotator anna --url https://example.org/judging",
    ),
    _row(
        ANSWER,
        "ask",
        "answering.ask",
        "ordinate ask study.db",
        "ordinate ask study.db --annotator anna --count 5 --json",
        "ordinate ask study.db --count 100 --format label-studio --out tasks.json",
    ),
    _row(
        ANSWER, "tell", "answering.tell", "ordinate tell study.db k3x9af-1 left", "ordinate tell study.db k3x9af-2 tie"
    ),
    _row(ANSWER, "withdraw", "answering.withdraw", "ordinate withdraw study.db k3x9af-3"),
    _row(ANSWER, "undo", "answering.undo", "ordinate undo study.db", "ordinate undo study.db --annotator anna"),
    _row(
        ANSWER,
        "import",
        "exchange.import_",
        "ordinate import study.db comparisons.csv",
        "ordinate import study.db results.csv --map left=Photo1 --map right=Photo2 --map winner=Choice "
        "--answers A=left,B=right",
    ),
    _row(
        RESULT,
        "order",
        "order.order",
        "ordinate order study.db",
        "ordinate order study.db --out ordering.csv",
        "ordinate order study.db --annotators people",
        "ordinate order study.db --trust 0.7",
        "ordinate order study.db --by model",
        "ordinate order battles.csv",
        "ordinate order study.db --items new.csv --features new.npy --out new-ordering.json",
    ),
    _row(
        RESULT,
        "annotators",
        "annotators.annotators",
        "ordinate annotators study.db",
        "ordinate annotators study.db --out annotators.csv",
    ),
    _row(RESULT, "status", "status.status", "ordinate status study.db", "ordinate status study.db --json"),
    _row(RESULT, "check", "check.check", "ordinate check study.db", "ordinate check study.db --json"),
    _row(
        RESULT,
        "report",
        "report.report",
        "ordinate report study.db",
        "ordinate report study.db --out report.html --figures figures",
    ),
    _row(
        RESULT,
        "export",
        "exchange.export",
        "ordinate export study.db --out comparisons.csv",
        "ordinate export study.db --full --out answers.csv",
        "ordinate export study.db --format crowd-kit --out crowd-kit.csv",
    ),
    _row(
        TRY,
        "plan",
        "plan.plan",
        "ordinate plan --items items.csv --features features.npy --target 0.1",
        "ordinate plan --from study.db --target 0.05 --plot plan.png",
    ),
    _row(TRY, "demo", "demo.demo", "ordinate demo", "ordinate demo --folder my-demo"),
    _row(CHANGE, "db", "db.app"),
    _row(TRY, "simulate", "simulate.app"),
    _row(
        TRY,
        "reproduce",
        "reproduce.reproduce",
        "ordinate reproduce synthetic --jobs 2",
        "ordinate reproduce wisc-ads --folder data --seeds 20 --jobs 2 --out reproduction",
        "ordinate reproduce all --folder data --jobs 2",
        "ordinate reproduce all --folder data --backend dask --scheduler tcp://10.0.0.5:8786",
    ),
    _row(TRY, "datasets", "datasets.app"),
    _row(TRY, "doctor", "doctor.doctor", "ordinate doctor", "ordinate doctor --json"),
    _row(TRY, "algorithms", "algorithms.algorithms", "ordinate algorithms", "ordinate algorithms --json"),
)


def application(words: Sequence[str] = ()) -> typer.Typer:
    """The Typer application for these arguments: with the command that they call alone, or with all of them."""
    app = typer.Typer(
        name="ordinate",
        no_args_is_help=True,
        add_completion=not words or words[0].startswith("-"),
        rich_markup_mode="rich",
        context_settings={"help_option_names": ["-h", "--help"]},
        # An exception that escapes a command is a bug: show Python's own traceback.
        pretty_exceptions_enable=False,
    )
    app.callback(
        epilog=examples(
            "ordinate demo",
            "ordinate create study.db --items items.csv --features features.npy",
            "ordinate annotate study.db",
            "ordinate order study.db --out ordering.csv",
            title="From items to an ordering",
        )
    )(_ordinate)
    called = [row for row in COMMANDS if [row.name] == list(words[:1])]
    for panel, name, function, lines in called or COMMANDS:
        module, _, attribute = function.partition(".")
        command: Any = getattr(import_module(f"ordinate.cli.{module}"), attribute)
        if attribute == "app":
            app.add_typer(command, name=name, rich_help_panel=panel)
        else:
            add_command(app, name, command, *lines, panel=panel)
    return app


def _version(wanted: bool) -> None:
    if wanted:
        from ordinate import __version__

        print(f"ordinate {__version__}")
        raise typer.Exit


def _ordinate(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Order a collection of items by asking people which of two they prefer, with as few questions as possible."""
