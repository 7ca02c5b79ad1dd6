"""What several commands share: their options, the panels of `--help`, and how a study is found."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated

import typer

from ordinate.errors import InvalidInput, MissingExtra

if TYPE_CHECKING:
    from ordinate.client import Client
    from ordinate.cluster import Cluster
    from ordinate.simulation.parallel import Jobs
    from ordinate.study.study import Study

CHANGE = "Make and change a study"
ANSWER = "Ask and answer"
RESULT = "See the result"
TRY = "Try it out"

StudyFile = Annotated[str, typer.Argument(metavar="STUDY.db", help="The file of the study.", show_default=False)]
StudyOrServer = Annotated[
    str | None,
    typer.Argument(metavar="STUDY.db", help="The file of the study, unless --server names one.", show_default=False),
]
Server = Annotated[
    str | None,
    typer.Option("--server", metavar="LINK", help="A link that `ordinate serve` printed, instead of a file."),
]
Annotator = Annotated[
    str | None,
    typer.Option("--annotator", "-a", metavar="NAME", help="Who answers; leave it out if only one person does."),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, and nothing else, on standard output.")]
ItemsFile = Annotated[
    str,
    typer.Option(
        "--items",
        metavar="FILE|FOLDER",
        help="Table of items: .csv, .tsv, .json, .jsonl or .parquet, with a column of ids and optional columns "
        "group, text, image, audio, video, link. Paths start at the table's folder. Or a folder: each file is an item.",
        show_default=False,
    ),
]
FeaturesFile = Annotated[
    str | None,
    typer.Option(
        "--features",
        metavar="FILE",
        help="Features as a .npy matrix, one row per item; or a .npz file of `ordinate embed`.",
        show_default=False,
    ),
]
FeatureColumns = Annotated[
    str | None,
    typer.Option(
        "--feature-columns", metavar="NAMES", help="Features as columns of the table: a,b,c.", show_default=False
    ),
]
Processes = Annotated[
    int, typer.Option("--jobs", min=1, help="How many processes share the work; the rows are the same.")
]
Backend = Annotated[
    str,
    typer.Option(metavar="processes|dask", help="Who does the work: processes here, or the workers of a Dask cluster."),
]
Scheduler = Annotated[
    str | None,
    typer.Option(
        metavar="ADDRESS", help="With --backend dask: where its scheduler listens, tcp://HOST:8786.", show_default=False
    ),
]
PrincipalComponents = Annotated[
    float | None,
    typer.Option(
        "--pca",
        metavar="SHARE|NUMBER",
        min=0,
        help="Keep the principal components that hold this share of the variance (0.9), or that many of them (35).",
        show_default=False,
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


def one_of(study: str | None, server: str | None) -> str:
    """The address of the study, or the link, whichever was given."""
    if (study is None) == (server is None):
        raise typer.BadParameter("name the file of a study, STUDY.db, or else a link with --server")
    return study or server or ""


def open_client(link: str) -> Client:
    try:
        from ordinate.client import Client
    except ModuleNotFoundError as error:
        raise MissingExtra("httpx", "app", "--server") from error
    return Client(link)


def open_study(address: str) -> Study:
    from ordinate.study.study import Study

    return Study.open(study_url(address))


def cluster_of(backend: str, scheduler: str | None) -> Cluster | None:
    """The cluster that --backend and --scheduler name, if they name one."""
    if backend not in ("processes", "dask"):
        raise InvalidInput(f"--backend is processes or dask; got {backend!r}")
    if (backend == "dask") != (scheduler is not None):
        raise InvalidInput("--backend dask and --scheduler ADDRESS go together; give both, or neither")
    if scheduler is None:
        return None
    from ordinate.cluster import Cluster

    return Cluster(scheduler)


def workers(processes: int, backend: str, scheduler: str | None) -> Jobs:
    """Who does the work, from the options --jobs, --backend and --scheduler."""
    cluster = cluster_of(backend, scheduler)
    if cluster is not None and processes != 1:
        raise InvalidInput("--jobs counts processes here; on a cluster its workers count, so leave --jobs out")
    return cluster or processes


def split_names(given: str | None) -> list[str]:
    """The names in "a,b,c"."""
    return [] if given is None else [name.strip() for name in given.split(",") if name.strip()]
