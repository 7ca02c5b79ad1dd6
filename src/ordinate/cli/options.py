"""What several commands share: their options, the panels of `--help`, and how a study is opened."""

from __future__ import annotations

import functools
import inspect
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import MISSING, dataclass, fields, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args, get_type_hints

import typer
from typer.core import TyperCommand

from ordinate.errors import InvalidInput, MissingExtra

if TYPE_CHECKING:
    from ordinate.client import Client
    from ordinate.cluster import Cluster
    from ordinate.data.comparison_formats import Reading
    from ordinate.data.comparisons import Comparison
    from ordinate.data.tables import Columns
    from ordinate.simulation.parallel import Jobs
    from ordinate.study.study import Study

CHANGE = "Make and change a study"
ANSWER = "Ask and answer"
RESULT = "See the result"
TRY = "Try it out"

WRITTEN = ("out", "destination", "plot")
"""The parameters of commands that name a file to write."""
Command = Callable[..., None]


def take_passwords(given: Any) -> Any:
    """The addresses without passwords: these go to where the driver and helper processes look for one.

    So nothing that is printed or logged can contain a password.
    """
    if isinstance(given, str):
        return take_passwords([given])[0]
    pairs = [_without_password(one) for one in given or ()]
    passwords = {password for _, password in pairs if password is not None}
    if len(passwords) > 1:
        raise InvalidInput("the addresses have different passwords; leave them out, and put them into ~/.pgpass")
    if passwords:
        os.environ["PGPASSWORD"] = passwords.pop()
    return given and [address for address, _ in pairs]


def _without_password(address: str) -> tuple[str, str | None]:
    from ordinate.storage.places import without_password

    return without_password(address) if address.startswith("postgres") else (address, None)


StudyFile = Annotated[
    str,
    typer.Argument(
        metavar="STUDY.db",
        help="The file of the study, or postgresql://HOST/DATABASE/STUDY.",
        show_default=False,
        callback=take_passwords,
    ),
]
StudyFileOrLink = Annotated[
    str,
    typer.Argument(
        metavar="STUDY.db|LINK",
        help="The file of the study, its address in PostgreSQL, or a link that `ordinate serve` printed.",
        show_default=False,
        callback=take_passwords,
    ),
]
Annotator = Annotated[
    str | None,
    typer.Option("--annotator", "-a", metavar="NAME", help="Who answers. Leave it out if only one person does."),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print only JSON on standard output.")]
ItemsFile = Annotated[
    str,
    typer.Option(
        "--items",
        metavar="FILE|FOLDER",
        help="Table of items: .csv, .tsv, .json, .jsonl, .parquet or .xlsx. It has a column of ids, and may have the "
        "columns group, text, image, audio, video, link and html. Relative paths start at the folder of the table. Or "
        "a folder: each file in it is an item; a .txt file: each line is one; or a data set on disk (Hugging Face).",
        show_default=False,
    ),
]
ItemsFileIfAny = Annotated[str | None, *get_args(ItemsFile)[1:]]
PrincipalComponents = Annotated[
    float | None,
    typer.Option(
        "--pca",
        metavar="SHARE|NUMBER",
        min=0,
        help="Reduce the features to the principal components that explain this share of their variance (0.9), or to "
        "this many (35).",
        show_default=False,
    ),
]
IdColumn = Annotated[str, typer.Option("--id-column", metavar="NAME", help="The column of ids.")]


@dataclass(frozen=True)
class TableOptions:
    """How to read items from a table: their ids and their features."""

    features: Annotated[
        str | None,
        typer.Option(
            metavar="FILE|NAME=FILE",
            help="Features: a .npy matrix with one row per item, or a .npz file from `ordinate embed`. Several "
            "matrices, text=a.npy,image=b.npy, or one beside --feature-columns, have a scale each.",
            show_default=False,
        ),
    ] = None
    feature_columns: Annotated[
        str | None,
        typer.Option(
            metavar="NAMES",
            help="Columns of the table to use as features: length,brightness. Or one column of vectors. In all such "
            "lists, a name that holds a comma is in double quotes: 'width,\"length, cm\"'.",
            show_default=False,
        ),
    ] = None
    categorical: Annotated[
        str | None,
        typer.Option(
            metavar="NAMES",
            help="Columns of categories to use as features; each value becomes a column of 0 and 1.",
            show_default=False,
        ),
    ] = None
    content: Annotated[
        str | None,
        typer.Option(
            metavar="KIND=COLUMN",
            help="The columns of what is shown, if they have other names: text=review,image=file.",
            show_default=False,
        ),
    ] = None
    id_column: IdColumn = "id"
    pca: PrincipalComponents = None

    def matrices(self) -> str | dict[str, str] | None:
        """The file of features, or several by the names of their blocks."""
        if self.features is None or "=" not in self.features or Path(self.features).exists():
            return self.features
        return _assignments("--features", split_names(self.features))

    def feature_names(self) -> list[str]:
        """The columns of the table that are features."""
        return split_names(self.feature_columns) + split_names(self.categorical)

    def options(self) -> dict[str, Any]:
        """For `Items.from_columns`: all but the features."""
        return {"id_column": self.id_column, "content": _assignments("--content", split_names(self.content))}

    def named(self) -> dict[str, list[str]]:
        """The columns that are features, for `Items.from_columns`."""
        return {"feature_columns": split_names(self.feature_columns), "categorical": split_names(self.categorical)}

    def refuse_without(self) -> None:
        """Raise InvalidInput where these are given although there is no table of items to read."""
        if self != TableOptions():
            raise InvalidInput(
                "--features, --feature-columns, --categorical, --content, --id-column and --pca say how to read a "
                "table of items; there is none: name it with --items"
            )

    def used(self, columns: Columns) -> list[str]:
        """Those of the columns that the options name."""
        named = {self.id_column, *self.feature_names(), *self.options()["content"].values()}
        return [name for name in columns if name in named]


@dataclass(frozen=True)
class ReadingOptions:
    """How to read a table of comparisons."""

    format: Annotated[
        str | None,
        typer.Option(
            "--format",
            metavar="NAME",
            help="The form of the comparisons, such as crowd-kit, arena or label-studio (docs/files.md lists all). "
            "Default: the form is recognised by the columns.",
            show_default=False,
        ),
    ] = None
    columns: Annotated[
        list[str] | None,
        typer.Option(
            "--map",
            metavar="FIELD=COLUMN",
            help="The column of the comparisons that holds left, right, winner, strength, annotator, group or count, "
            "if it has another name. May be repeated.",
            show_default=False,
        ),
    ] = None
    answers: Annotated[
        str | None,
        typer.Option(
            "--answers",
            metavar="WORDS",
            help="What the words in the column of winners mean: A=left,B=right,same=tie,none=skip.",
            show_default=False,
        ),
    ] = None
    models: Annotated[
        str | None,
        typer.Option(
            "--models",
            metavar="NAMES",
            help="Which annotators of the comparisons are models: judge-1,judge-2. Each is weighed, and compared with "
            "people.",
            show_default=False,
        ),
    ] = None

    def refuse_without(self) -> None:
        """Raise InvalidInput where these are given although there is no table of comparisons to read."""
        if self.format is not None or self.columns or self.answers is not None or self.models is not None:
            raise InvalidInput(
                "--format, --map, --answers and --models say how to read a table of comparisons; there is none"
            )

    def name_models(self, study: Study, comparisons: Sequence[Comparison]) -> None:
        """Say which annotators are models, before their comparisons are recorded. Raises InvalidInput for others."""
        from ordinate.data.lookalikes import suggestion
        from ordinate.study.machines import Machine

        named = [] if self.models is None else split_names(self.models)
        known = {one.annotator for one in comparisons if one.annotator is not None}
        for name in named:
            if name not in known:
                raise InvalidInput(f"--models: no comparison is by {name!r}{suggestion(name, known)}")
        for name in named:
            study.add_machine(name, Machine(name, ""))

    def reading(self) -> Reading:
        from ordinate.data.comparison_formats import Reading
        from ordinate.data.comparisons import ANSWERS

        # A word may hold the sign, which no answer does.
        words = None if self.answers is None else _assignments("--answers", split_names(self.answers), last=True)
        if words and (wrong := [side for side in words.values() if side not in ANSWERS]):
            raise InvalidInput(f"--answers: {wrong[0]!r} is none of {', '.join(ANSWERS)}")
        return Reading(self.format, _assignments("--map", self.columns or []), words)


@dataclass(frozen=True)
class MethodOptions:
    """How a study learns from answers and chooses questions."""

    refit_every: Annotated[
        int | None,
        typer.Option(
            min=1, help="Number of answers between two fits. Default: the study's refit schedule.", show_default=False
        ),
    ] = None
    candidates: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Number of random pairs to choose from at each question. Default: all pairs.",
            show_default=False,
        ),
    ] = None
    scaling: Annotated[
        Literal["robust", "standard", "none"],
        typer.Option(
            help="Bring the features to one unit and clip outlying ones (robust), only bring them to one unit "
            "(standard), or use them as they are (none)."
        ),
    ] = "robust"
    random: Annotated[
        float,
        typer.Option(min=0.0, max=1.0, metavar="SHARE", help="Share of questions whose pair is drawn at random."),
    ] = 0.1
    coefficient_variance: Annotated[
        float | None,
        typer.Option(
            metavar="NUMBER",
            help="Prior variance of each coefficient of the features; the paper has 1. Default: fitted to the answers, "
            "or 2 where --item-variance is given.",
            show_default=False,
        ),
    ] = None
    item_variance: Annotated[
        float | None,
        typer.Option(
            metavar="NUMBER",
            help="Prior variance of each item's own term; the paper has 1. Default: fitted to the answers, or 1 where "
            "--coefficient-variance is given.",
            show_default=False,
        ),
    ] = None
    likelihood: Annotated[
        Literal["cumulative", "davidson", "logistic", "probit"] | None,
        typer.Option(
            help="The chance of each answer, given the difference of scores. Default: cumulative.", show_default=False
        ),
    ] = None
    renew_covariance: Annotated[
        bool,
        typer.Option(help="Recompute the covariance when the model is refitted, or only update it by each answer."),
    ] = True


@dataclass(frozen=True)
class ClusterOptions:
    """Where the work runs: on this machine, or on a Dask cluster."""

    backend: Annotated[
        Literal["processes", "dask"],
        typer.Option(help="Run in processes on this machine, or on the workers of a Dask cluster."),
    ] = "processes"
    scheduler: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS",
            help="The address of the Dask scheduler, with --backend dask: tcp://HOST:8786.",
            show_default=False,
        ),
    ] = None

    def cluster(self) -> Cluster | None:
        """The cluster, if one is named."""
        if (self.backend == "dask") != (self.scheduler is not None):
            raise InvalidInput("--backend dask and --scheduler ADDRESS go together; give both, or neither")
        if self.scheduler is None:
            return None
        from ordinate.cluster import Cluster

        return Cluster(self.scheduler)


@dataclass(frozen=True)
class WorkerOptions(ClusterOptions):
    """Who does the work: several processes, or the workers of a cluster."""

    jobs: Annotated[
        int, typer.Option(min=1, help="Number of processes that share the work. It does not change the result.")
    ] = 1

    def workers(self) -> Jobs:
        cluster = self.cluster()
        if cluster is not None and self.jobs != 1:
            raise InvalidInput("--jobs is the number of processes on this machine; leave it out with --backend dask")
        return cluster or self.jobs


def add_command(app: typer.Typer, name: str, command: Command, *lines: str, panel: str | None = None) -> None:
    """Add a function as a command: its docstring is the help, `lines` are the examples below it."""
    add = app.command(name, cls=_Command, help=_help_text(command), epilog=examples(*lines), rich_help_panel=panel)
    add(_with_flat_options(command))


class _Command(TyperCommand):
    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        try:
            return super().parse_args(ctx, args)
        except Exception as error:
            # The parser does not say which command lacks the value of an option.
            if getattr(error, "ctx", ctx) is None:
                error.ctx = ctx  # type: ignore[attr-defined]
            raise


def _with_flat_options(command: Command) -> Command:
    """The command with the fields of its dataclass parameters as parameters of its own.

    Typer makes an option of every parameter and knows no groups; the command takes each group as one object.
    """
    flat: list[inspect.Parameter] = []
    groups: dict[str, Any] = {}
    for parameter in inspect.signature(command, eval_str=True).parameters.values():
        group = parameter.annotation
        if not is_dataclass(group):
            flat.append(parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY))
            continue
        groups[parameter.name] = group
        types = get_type_hints(group, include_extras=True)
        for field in fields(group):
            default = inspect.Parameter.empty if field.default is MISSING else field.default
            flat.append(
                inspect.Parameter(
                    field.name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=types[field.name]
                )
            )

    @functools.wraps(command)
    def called(**given: Any) -> None:
        refuse_overwriting(
            [given.get(name) for name in WRITTEN], [value for name, value in given.items() if name not in WRITTEN]
        )
        made = {
            name: group(**{field.name: given.pop(field.name) for field in fields(group)})
            for name, group in groups.items()
        }
        command(**given, **made)

    called.__signature__ = inspect.Signature(flat)  # type: ignore[attr-defined]  # read by inspect, unknown to mypy
    called.__annotations__ = {parameter.name: parameter.annotation for parameter in flat}
    return called


def refuse_overwriting(written: Iterable[Any], read: Iterable[Any]) -> None:
    """Raise InvalidInput where a file to write is one that the command reads, however its path is spelled.

    Of a study, that is also what SQLite keeps beside its file. Values that name no file are passed over.
    """
    values = [one for value in read for one in (value if isinstance(value, list) else [value])]
    names = [one.removeprefix("sqlite:///") for one in values if isinstance(one, str)]
    for target in written:
        if not isinstance(target, str) or not _is_file(target):
            continue
        for name in names:
            if any(_is_file(one) and os.path.samefile(one, target) for one in (name, f"{name}-wal", f"{name}-shm")):
                raise InvalidInput(
                    f"{target} is a file that this command reads; give another name to write to, such as results.csv "
                    "or results.html"
                )


def _is_file(path: str) -> bool:
    try:
        return os.path.isfile(path)
    except ValueError:  # a NUL in a text that is no path
        return False


def examples(*lines: str, title: str = "Examples") -> str:
    """The end of a command's help: a title, and one example per line."""
    return "\n\n".join([f"[bold]{title}[/bold]", *(f"[cyan]{line}[/cyan]" for line in lines)])


def _help_text(command: Command) -> str:
    """The command's docstring with each paragraph on one line, so that the terminal wraps it to its own width."""
    paragraphs = inspect.cleandoc(command.__doc__ or "").split("\n\n")
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)


def study_url(address: str) -> str:
    """The URL of a study that is given as a file; a URL is returned as it is. Raises InvalidInput for a link."""
    if is_link(address):  # which is not repeated: it lets in whoever reads it
        raise InvalidInput(
            "this command needs the file of a study, not a link; besides annotators and judge, "
            "only ask, tell and order take a link"
        )
    return address if "://" in address else f"sqlite:///{address}"


def is_link(address: str) -> bool:
    """Whether the address is a link to a server rather than a file."""
    return address.startswith(("http://", "https://"))


def open_client(link: str) -> Client:
    try:
        from ordinate.client import Client
    except ModuleNotFoundError as error:
        raise MissingExtra("httpx", "app", "a study on a server") from error
    return Client(link)


def open_study(address: str) -> Study:
    from ordinate.study.study import Study

    return Study.open(study_url(address))


def _assignments(option: str, given: list[str], *, last: bool = False) -> dict[str, str]:
    """{"a": "b"} of "a=b"; where there are several signs, the first divides, or the `last` one."""
    found: dict[str, str] = {}
    for one in given:
        name, sign, value = one.rpartition("=") if last else one.partition("=")
        if not (name and sign and value):
            raise InvalidInput(f"{option} takes NAME=VALUE, not {one!r}")
        if found.setdefault(name, value) != value:
            raise InvalidInput(f"{option} names {name!r} twice, with {found[name]} and with {value}; give one of them")
    return found


def split_names(given: str | None) -> list[str]:
    """The names in `a,b,c`; one that holds a comma is in double quotes."""
    from ordinate.data.name_lists import names_in

    return [] if given is None else names_in(given)
