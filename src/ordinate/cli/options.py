"""What several commands share: their options, the panels of `--help`, and how a study is found."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from ordinate.study import Study

CHANGE = "Make and change a study"
ANSWER = "Ask and answer"
RESULT = "See the result"
TRY = "Try it out"

StudyFile = Annotated[str, typer.Argument(metavar="STUDY.db", help="The file of the study.", show_default=False)]
Annotator = Annotated[
    str | None,
    typer.Option("--annotator", "-a", metavar="NAME", help="Who answers; leave it out if only one person does."),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, and nothing else, on standard output.")]
ItemsFile = Annotated[
    str,
    typer.Option(
        "--items",
        metavar="FILE",
        help="Table of items: .csv, .tsv, .json, .jsonl or .parquet, with a column of ids and optional columns "
        "group, text, image, audio, link. Paths in it start at its own folder.",
        show_default=False,
    ),
]
FeaturesFile = Annotated[
    str | None,
    typer.Option(
        "--features", metavar="FILE.npy", help="Features as a .npy matrix, one row per item.", show_default=False
    ),
]
FeatureColumns = Annotated[
    str | None,
    typer.Option(
        "--feature-columns", metavar="NAMES", help="Features as columns of the table: a,b,c.", show_default=False
    ),
]
IdColumn = Annotated[str, typer.Option("--id-column", metavar="NAME", help="The column that holds the ids.")]


def examples(*lines: str, title: str = "Examples") -> str:
    """The end of a command's help: a title, and one example per line."""
    return "\n\n".join([f"[bold]{title}[/bold]", *(f"[cyan]{line}[/cyan]" for line in lines)])


def help_text(command: Callable[..., None]) -> str:
    """The command's docstring, each paragraph on one line: the screen then wraps it to its own width."""
    paragraphs = inspect.cleandoc(command.__doc__ or "").split("\n\n")
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)


def study_url(address: str) -> str:
    """The URL of a study given as a file; a URL stays what it is."""
    return address if "://" in address else f"sqlite:///{address}"


def open_study(address: str) -> Study:
    from ordinate.study import Study

    return Study.open(study_url(address))


def split_names(given: str | None) -> list[str]:
    """The names in "a,b,c"."""
    return [] if given is None else [name.strip() for name in given.split(",") if name.strip()]
