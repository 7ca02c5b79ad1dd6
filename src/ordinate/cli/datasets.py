"""`ordinate datasets`: read the data sets of the paper from their published files, and export them as tables."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ordinate.cli.options import AsJson, add_command, examples
from ordinate.cli.screen import count, note, print_json, print_table, progress_bar, say
from ordinate.errors import InvalidInput

if TYPE_CHECKING:
    from rich.table import Table

    from ordinate.datasets import Dataset, Source

app = typer.Typer(
    invoke_without_command=True,
    rich_markup_mode="rich",
    epilog=examples(
        "ordinate datasets",
        "ordinate datasets download imdb-wiki-sbs --folder faces",
        "ordinate datasets check imdb-wiki-sbs faces",
        "ordinate datasets export imdb-wiki-sbs faces --out tables",
    ),
)
Name = Annotated[str, typer.Argument(metavar="NAME", help="The name of a data set, from `ordinate datasets`.")]
Folder = Annotated[str, typer.Argument(metavar="FOLDER", help="The folder of the published files.")]


@app.callback()
def datasets(context: typer.Context, as_json: AsJson = False) -> None:
    """List, check, export and download the data sets of the paper."""
    if context.invoked_subcommand is not None:
        if as_json:
            raise InvalidInput(f"put --json at the end: ordinate datasets {context.invoked_subcommand} ... --json")
        return
    from ordinate.datasets import DATASETS

    if as_json:
        print_json([_row_json(name, row) for name, row in DATASETS.items()])
        return
    for name, row in DATASETS.items():
        say(f"{name}: {row.summary}")
        print_table(_row_table(row))
        say()
    say("What to type next:")
    say("  ordinate datasets check NAME FOLDER                 read a folder and report what it contains")
    say("  ordinate datasets export NAME FOLDER --out FOLDER   write tables that create and simulate read")


def check(name: Name, folder: Folder, as_json: AsJson = False) -> None:
    """Read a data set from a folder, and compare it with the paper's numbers.

    If a file or a column is missing, the error lists what was found and what was expected. With a matrix of features in
    features.npy, its principal components are computed as in the paper's experiment. If the paper has a regression of
    the true scores on them, that is fitted too.
    """
    from ordinate.datasets import dataset_source, read_dataset
    from ordinate.experiments.sources import measured_features

    dataset, row = read_dataset(name, folder), dataset_source(name)
    features = measured_features(dataset, Path(folder), row)
    if as_json:
        paper = {"items": row.items, "answers": row.answers, "columns": row.columns, "r_squared": row.r_squared}
        measured = {} if features is None else features._asdict()
        print_json({**_found_json(name, folder, dataset), **measured, "paper": paper})
        return
    say(f"{folder} holds {name}: {_found(dataset)}.")
    for each in dataset.notes:
        say(f"Note: {each}.")
    if row.items is not None:
        sizes = dataset.describe()
        same = (sizes["items"], sizes["answers"]) == (row.items, row.answers)
        answers = count(row.answers, "answer") if row.answers else "no recorded answers"
        if row.sampled:
            say(f"The paper's experiment draws {count(row.items, 'item')} for each run, and has {answers}.")
        else:
            say(f"The paper's experiment has {count(row.items, 'item')} and {answers}{': the same' if same else ''}.")
    if row.columns is None:
        return
    if features is None:
        say(f"There is no features.npy; the paper has {row.columns} principal components of features.")
        return
    same = features.components == row.columns
    say(
        f"features.npy has {count(features.matrix_columns, 'column')}, reduced to {features.components} principal "
        f"components; the paper has {row.columns}{': the same' if same else ''}."
    )
    if features.r_squared is not None and row.r_squared is not None:
        explained, expected = (f"{100 * share:.0f} %" for share in (features.r_squared, row.r_squared))
        say(f"They explain {explained} of the variance of the truth; in the paper, {expected}.")


def export(
    name: Name,
    folder: Folder,
    out: Annotated[
        str,
        typer.Option(
            "--out", "-o", metavar="FOLDER", help="The folder to write to. Existing files are not overwritten."
        ),
    ],
    as_json: AsJson = False,
) -> None:
    """Write a data set as items.csv and comparisons.csv.

    `ordinate create` and `ordinate simulate recorded` read these tables. Images are not copied: the new table refers
    to them. If the true order is known, it is in a column truth, which both commands ignore.
    """
    from ordinate.datasets import export_dataset, read_dataset

    dataset = read_dataset(name, folder)
    written = [path.as_posix() for path in export_dataset(dataset, folder, out)]
    if as_json:
        print_json({**_found_json(name, folder, dataset), "files": written})
        return
    say(f"Wrote {', '.join(written)}: {_found(dataset)}.")
    for each in dataset.notes:
        say(f"Note: {each}.")
    if not dataset.comparisons:
        say("Nobody compared these items, so there is no comparisons.csv.")


def download(
    name: Name,
    folder: Annotated[
        str | None,
        typer.Option(
            metavar="FOLDER",
            help="The folder to download to. Default: a folder with the name of the data set.",
            show_default=False,
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Download the files of a data set, if its licence allows it.

    Each file is compared with the SHA-256 of the published one. Existing files are not overwritten.
    """
    from ordinate.datasets import DATASETS, dataset_source
    from ordinate.datasets import download as fetch

    row = dataset_source(name)
    if not row.remote:
        offered = ", ".join(known for known, other in DATASETS.items() if other.remote)
        raise InvalidInput(
            f"{name} cannot be downloaded by this command; get it from {row.origin} (licence: {row.licence}). "
            f"These can be downloaded: {offered}"
        )
    place = name if folder is None else folder
    if not as_json:
        note(f"From {row.origin}. Licence: {row.licence}.")
    with progress_bar() as bar:
        shown = {file.name: bar.add_task(file.name, total=None) for file in row.remote}
        sizes = fetch(row.remote, place, lambda file, done, total: bar.update(shown[file], completed=done, total=total))
    if as_json:
        print_json({"dataset": name, "folder": place, "licence": row.licence, "bytes": sizes})
        return
    for file, size in sizes.items():
        say(f"{place}/{file}: {size:,} bytes")
    say(f"What to type next: ordinate datasets check {name} {place}")


def _row_json(name: str, row: Source) -> dict[str, Any]:
    return {
        "name": name,
        "summary": row.summary,
        "items": row.items,
        "answers": row.answers,
        "licence": row.licence,
        "origin": row.origin,
        "expects": [
            {"name": file.name, "columns": list(file.columns), "optional": file.optional, "note": file.note}
            for file in row.expects
        ],
        "downloads": [file.url for file in row.remote],
    }


def _row_table(row: Source) -> Table:
    from rich.table import Table

    table = Table(show_header=False, box=None, padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    if row.items is not None:
        answers = f", {row.answers:,} answers" if row.answers else ""
        table.add_row("  in the paper", f"{row.items:,} items{answers}")
    table.add_row("  from", row.origin)
    table.add_row("  licence", row.licence)
    for file in row.expects:
        table.add_row("  expects", f"{file}. {file.note}".rstrip(". "))
    return table


def _found(dataset: Dataset) -> str:
    sizes = dataset.describe()
    parts = [count(sizes["items"], "item")]
    parts += list(dataset.items.content)
    if sizes["features"]:
        parts.append(count(sizes["features"], "feature column"))
    if sizes["groups"] > 1:
        parts.append(count(sizes["groups"], "group"))
    parts.append("true scores" if dataset.truth is not None else "no true scores")
    answers = f"{count(sizes['answers'], 'answer')} on {count(sizes['pairs'], 'pair')}"
    parts.append(answers if sizes["answers"] else "no answers")
    return ", ".join(parts)


def _found_json(name: str, folder: str, dataset: Dataset) -> dict[str, Any]:
    return {
        "dataset": name,
        "folder": folder,
        **dataset.describe(),
        "truth": dataset.truth is not None,
        "notes": list(dataset.notes),
    }


add_command(
    app,
    "check",
    check,
    "ordinate datasets check x-ray-age x-rays",
    "ordinate datasets check wisc-ads APSRReplication --json",
)
add_command(
    app,
    "export",
    export,
    "ordinate datasets export wisc-ads APSRReplication --out ads",
    "ordinate simulate recorded --items ads/items.csv --comparisons ads/comparisons.csv --algorithms guro-independent",
)
add_command(
    app,
    "download",
    download,
    "ordinate datasets download imdb-wiki-sbs",
    "ordinate datasets download imdb-wiki-sbs --folder faces",
)
