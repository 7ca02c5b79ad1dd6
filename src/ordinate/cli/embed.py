"""`ordinate embed` and `ordinate encoders`: features from pre-trained networks."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ordinate.cli.options import AsJson, Backend, IdColumn, ItemsFile, PrincipalComponents, Scheduler, cluster_of
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
            help=".npz: ids, features and recipe, for `ordinate create`. .npy: the matrix alone, and a list of ids.",
            show_default=False,
        ),
    ],
    encoder: Annotated[
        str, typer.Option(metavar="NAME", help="See `ordinate encoders`; auto: the one for texts, or for images.")
    ] = AUTO,
    pca: PrincipalComponents = None,
    id_column: IdColumn = "id",
    batch: Annotated[int, typer.Option(min=1, help="How many items go through the network at once.")] = 32,
    device: Annotated[
        str | None,
        typer.Option(
            metavar="DEVICE", help="cpu, cuda or mps; without it, the fastest that is here.", show_default=False
        ),
    ] = None,
    cache: Annotated[
        str | None,
        typer.Option(
            metavar="FOLDER",
            help="Where computed vectors are kept; without it, ORDINATE_CACHE or the user's cache folder.",
            show_default=False,
        ),
    ] = None,
    backend: Backend = "processes",
    scheduler: Scheduler = None,
    as_json: AsJson = False,
) -> None:
    """Make features from the texts or images of a table, by a pre-trained network.

    Vectors are kept by content, so a run that was interrupted goes on where it stopped, and nothing is computed twice.
    """
    from ordinate.data.items import Items
    from ordinate.embedding import require_suffix, write_embedding

    require_suffix(out)
    table = Items.read(items, id_column=id_column)
    cluster = cluster_of(backend, scheduler)
    made, recipe = embedded(table, items, encoder, pca, batch=batch, device=device, cache=cache, cluster=cluster)
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
    say(f"What to type next: ordinate create study.db --items {quote(items)} --features {quote(out)}")


def encoders(as_json: AsJson = False) -> None:
    """List the networks that features can come from, and what installs them."""
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
    say("@untrained behind a name stands for the same network with random weights, @untrained=7 for those of seed 7.")


def embedded(table: Items, items_file: str, encoder: str, pca: float | None, **options: Any) -> tuple[Items, Recipe]:
    """The items of a table with features by an encoder, and the recipe."""
    from ordinate.data.items import content_folder
    from ordinate.embedding import embed as make

    with naming(items_file), _progress("embedding") as progress:
        name = None if encoder == AUTO else encoder
        return make(table, name, pca=pca, folder=content_folder(items_file), progress=progress, **options)


def embedded_like(recipe: Recipe, table: Items, items_file: str) -> Items:
    """The items of a table with features by the recipe of a study."""
    from ordinate.data.items import content_folder
    from ordinate.embedding import embed_like

    with naming(items_file), _progress("embedding") as progress:
        return embed_like(recipe, table, folder=content_folder(items_file), progress=progress)


@contextmanager
def _progress(what: str) -> Iterator[Progress]:
    with progress_bar() as bar:
        task = bar.add_task(what, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)
