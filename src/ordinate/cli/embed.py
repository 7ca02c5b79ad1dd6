"""`ordinate embed` and `ordinate encoders`: features from pre-trained networks."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ordinate.cli.options import AsJson, ClusterOptions, IdColumn, ItemsFile, PrincipalComponents, refuse_overwriting
from ordinate.cli.screen import count, print_json, progress_bar, say
from ordinate.errors import naming

if TYPE_CHECKING:
    from ordinate.data.items import Items
    from ordinate.embedding import Progress, Recipe

AUTO = "auto"


def embed(
    items: ItemsFile,
    out: Annotated[
        str,
        typer.Option(
            "--out",
            "-o",
            metavar="FILE",
            help="Write a .npz file (ids, features and recipe, for `ordinate create`) or a .npy file (the matrix "
            "alone, with a list of ids beside it).",
            show_default=False,
        ),
    ],
    *,
    encoder: Annotated[
        str,
        typer.Option(metavar="NAME", help="An encoder from `ordinate encoders`; auto chooses one for texts or images."),
    ] = AUTO,
    pca: PrincipalComponents = None,
    id_column: IdColumn = "id",
    batch: Annotated[int, typer.Option(min=1, help="Number of items that the network encodes at once.")] = 32,
    device: Annotated[
        str | None,
        typer.Option(
            metavar="DEVICE", help="cpu, cuda or mps. Default: the fastest one available.", show_default=False
        ),
    ] = None,
    cache: Annotated[
        str | None,
        typer.Option(
            metavar="FOLDER",
            help="The folder that keeps computed vectors. Default: $ORDINATE_CACHE, or the user's cache folder.",
            show_default=False,
        ),
    ] = None,
    where: ClusterOptions,
    as_json: AsJson = False,
) -> None:
    """Compute features from the texts or images of a table with a pre-trained network.

    Computed vectors are kept in a cache. Nothing is computed twice, and an interrupted run continues where it stopped.
    """
    from ordinate.data.items import Items
    from ordinate.embedding import require_suffix, write_embedding

    if require_suffix(out).suffix == ".npy":
        refuse_overwriting([str(Path(out).with_suffix(".ids.txt"))], [items])
    table = Items.read(items, id_column=id_column)
    made, recipe = embedded(
        table, items, encoder, pca, batch=batch, device=device, cache=cache, cluster=where.cluster()
    )
    files = [str(path) for path in write_embedding(out, made, recipe)]
    columns = made.features.shape[1]
    if as_json:
        print_json(
            {
                "items": len(made),
                "features": columns,
                "encoder": recipe.encoder,
                "fingerprint": recipe.fingerprint,
                "files": files,
            }
        )
        return
    say(f"Wrote {' and '.join(files)}: {count(len(made), 'item')}, {count(columns, 'feature column')}.")
    say(f"Encoder: {recipe.encoder}")
    named = id_column_option(id_column)
    say(f"What to type next: ordinate create study.db --items {quote(items)}{named} --features {quote(out)}")


def encoders(as_json: AsJson = False) -> None:
    """List the networks that can compute features, and how to install them."""
    from ordinate.embedding import DEFAULTS, FAMILIES

    rows = [
        {
            "family": name,
            "example": f"{name}:{family.example}",
            "reads": family.content,
            "summary": family.summary,
            "install": family.install,
            "default": f"{name}:{family.example}" in DEFAULTS.values(),
        }
        for name, family in FAMILIES.items()
    ]
    if as_json:
        print_json(rows)
        return
    for row in rows:
        say(f"{row['example']}  (auto for {row['reads']}s)" if row["default"] else f"{row['example']}")
        say(f"    {row['summary']}")
        say(f"    needs: {row['install']}")
    say()
    say("Add @untrained to a name for the same network with random weights, or @untrained=7 for the weights of seed 7.")


def id_column_option(column: str) -> str:
    """The option of an advised command that names the column of ids; nothing where it is called as usual."""
    return "" if column == "id" else f" --id-column {quote(column)}"


def embedded(table: Items, items_file: str, encoder: str, pca: float | None, **options: Any) -> tuple[Items, Recipe]:
    """The items of a table with features from an encoder, and the recipe."""
    from ordinate.data.items import content_folder
    from ordinate.embedding import embed as make

    with naming(items_file), _progress("embedding") as progress:
        name = None if encoder == AUTO else encoder
        return make(table, name, pca=pca, folder=content_folder(items_file), progress=progress, **options)


def embedded_like(recipe: Recipe, table: Items, items_file: str) -> Items:
    """The items of a table with features that follow the recipe of a study."""
    from ordinate.data.items import content_folder
    from ordinate.embedding import embed_like

    with naming(items_file), _progress("embedding") as progress:
        return embed_like(recipe, table, folder=content_folder(items_file), progress=progress)


@contextmanager
def _progress(what: str) -> Iterator[Progress]:
    with progress_bar() as bar:
        task = bar.add_task(what, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)
