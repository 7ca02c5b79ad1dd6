"""The commands: each parses its arguments, calls the library, and formats the result.

Heavy libraries are imported inside the commands, so that `ordinate --help` is quick.
"""

from __future__ import annotations

from typing import Annotated

import typer

from ordinate.cli import (
    algorithms,
    annotate,
    answering,
    create,
    datasets,
    db,
    demo,
    embed,
    exchange,
    exclusion,
    link,
    order,
    reproduce,
    serve,
    simulate,
    status,
)
from ordinate.cli.options import ANSWER, CHANGE, RESULT, TRY, Command, add_command, examples

app = typer.Typer(
    name="ordinate",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
    # An exception that escapes a command is a bug: show Python's own traceback.
    pretty_exceptions_enable=False,
)


def _version(wanted: bool) -> None:
    if wanted:
        from ordinate import __version__

        print(f"ordinate {__version__}")
        raise typer.Exit


@app.callback(
    epilog=examples(
        "ordinate demo",
        "ordinate create study.db --items items.csv --features features.npy",
        "ordinate annotate study.db",
        "ordinate order study.db --out ordering.csv",
        title="From items to an ordering",
    )
)
def ordinate(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Order a collection of items by asking people which of two they prefer, with as few questions as possible."""


def _add(panel: str, name: str, command: Command, *lines: str) -> None:
    add_command(app, name, command, *lines, panel=panel)


_add(
    CHANGE,
    "create",
    create.create,
    "ordinate create study.db --items essays.csv --features embeddings.npy",
    'ordinate create study.db --items photos.csv --feature-columns sharpness,contrast --question "Which is clearer?"',
    "ordinate create study.db --items essays.csv --embed auto --pca 0.9",
    "ordinate create study.db --items names.csv --id-column name",
    "ordinate create study.db --items photos/ --convert",
)
_add(
    CHANGE,
    "embed",
    embed.embed,
    "ordinate embed --items essays.csv --out essays.npz --pca 0.9",
    "ordinate embed --items x-rays.csv --encoder xray:densenet121-res224-all --out x-rays.npz --pca 35",
    "ordinate embed --items photos.csv --encoder timm:resnet34@untrained=7 --out untrained.npy",
)
_add(CHANGE, "encoders", embed.encoders, "ordinate encoders", "ordinate encoders --json")
_add(
    CHANGE,
    "add-items",
    create.add_items,
    "ordinate add-items study.db --items more.csv --features more.npy",
)
_add(
    CHANGE,
    "exclude",
    exclusion.exclude,
    "ordinate exclude study.db --item essay-17",
    "ordinate exclude study.db --annotator mallory",
)
_add(
    CHANGE,
    "include",
    exclusion.include,
    "ordinate include study.db --item essay-17",
)
_add(
    ANSWER,
    "annotate",
    annotate.annotate,
    "ordinate annotate study.db",
    "ordinate annotate study.db --annotator anna",
)
_add(
    ANSWER,
    "serve",
    serve.serve,
    "ordinate serve study.db",
    "ordinate serve --demo",
    "ordinate serve essays.db photos.db --host 0.0.0.0 --secret-file judges.secret --budget 2000",
)
_add(
    ANSWER,
    "link",
    link.link,
    "ordinate link study.db",
    "ordinate link study.db --annotator anna --url https://example.org/judging",
)
_add(
    ANSWER,
    "ask",
    answering.ask,
    "ordinate ask study.db",
    "ordinate ask study.db --annotator anna --count 5 --json",
)
_add(
    ANSWER,
    "tell",
    answering.tell,
    "ordinate tell study.db k3x9af-1 left",
    "ordinate tell study.db k3x9af-2 tie",
)
_add(ANSWER, "withdraw", answering.withdraw, "ordinate withdraw study.db k3x9af-3")
_add(
    ANSWER,
    "undo",
    answering.undo,
    "ordinate undo study.db",
    "ordinate undo study.db --annotator anna",
)
_add(
    ANSWER,
    "import",
    exchange.import_,
    "ordinate import study.db comparisons.csv",
)
_add(
    RESULT,
    "order",
    order.order,
    "ordinate order study.db",
    "ordinate order study.db --out ordering.csv",
    "ordinate order study.db --items new.csv --features new.npy --out new-ordering.json",
)
_add(
    RESULT,
    "status",
    status.status,
    "ordinate status study.db",
    "ordinate status study.db --json",
)
_add(
    RESULT,
    "export",
    exchange.export,
    "ordinate export study.db --out comparisons.csv",
    "ordinate export study.db --full --out answers.csv",
)
_add(
    TRY,
    "demo",
    demo.demo,
    "ordinate demo",
    "ordinate demo --folder my-demo",
)
app.add_typer(db.app, name="db", rich_help_panel=CHANGE)
app.add_typer(simulate.app, name="simulate", rich_help_panel=TRY)
_add(
    TRY,
    "reproduce",
    reproduce.reproduce,
    "ordinate reproduce synthetic --jobs 2",
    "ordinate reproduce wisc-ads --folder data --seeds 20 --jobs 2 --out reproduction",
    "ordinate reproduce all --folder data --jobs 2",
    "ordinate reproduce all --folder data --backend dask --scheduler tcp://10.0.0.5:8786",
)
app.add_typer(datasets.app, name="datasets", rich_help_panel=TRY)
_add(TRY, "algorithms", algorithms.algorithms, "ordinate algorithms", "ordinate algorithms --json")
