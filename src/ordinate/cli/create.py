"""`ordinate create` and `ordinate add-items`: from a table of items to a study."""

from __future__ import annotations

from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ordinate.cli import media
from ordinate.cli.embed import embedded, embedded_like
from ordinate.cli.options import (
    AsJson,
    ItemsFile,
    PrincipalComponents,
    StudyFile,
    TableOptions,
    open_study,
    split_names,
    study_url,
)
from ordinate.cli.screen import count, print_json, say
from ordinate.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ordinate.data.items import Items
    from ordinate.data.recipe import Recipe
    from ordinate.study.study import Study


def create(
    study: StudyFile,
    items: ItemsFile,
    table: TableOptions,
    embed: Annotated[
        str | None,
        typer.Option(
            metavar="ENCODER",
            help="Make the features from the texts or images: auto, or a name that `ordinate encoders` lists.",
            show_default=False,
        ),
    ] = None,
    pca: PrincipalComponents = None,
    question: Annotated[str, typer.Option(metavar="TEXT", help="What annotators are asked.")] = "Which ranks higher?",
    algorithm: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="See `ordinate algorithms`; without it, the one that suits the items.",
            show_default=False,
        ),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of every random choice of the study.")] = 0,
    as_json: AsJson = False,
) -> None:
    """Make a study from a table of items.

    Features are numbers that say something about each item: an embedding of its text or image, or measurements. With
    them the study learns what makes an item rank high, needs fewer questions, and can order new items. A matrix
    (--features) is scaled as a whole; named columns (--feature-columns) each on their own. With --embed, or features
    from `ordinate embed`, the study keeps how they were made, and new items get theirs in the same way.

    Paths of images and sounds are kept as seen from the study's folder, so the folder can move as a whole.
    """
    from ordinate.study.study import Study

    names = split_names(table.feature_columns)
    read, recipe = read_items(items, table.id_column, table.features, names, embed, pca)
    aside = read.numbers_left_aside(items, table.id_column) if table.features is None and embed is None else []
    made = Study.create(
        media.from_study_folder(read, items, study),
        algorithm=algorithm,
        question=question,
        seed=seed,
        storage=study_url(study),
        recipe=recipe,
    )
    with made:
        if as_json:
            print_json({"study": study, **_summary(made), "numbers_left_aside": aside})
            return
        say(f"Made {study}: {_described(made.items)}.")
        if aside:
            say(f"Not used: {', '.join(aside)}. To learn from such numbers, make it with")
            say(f"  --feature-columns {quote(','.join([*names, *aside]))}")
        if recipe is not None:
            say(f"Features: by {recipe.encoder}; new items get theirs in the same way")
        say(f"Question: {made.settings.question}")
        say(f"Algorithm: {made.settings.algorithm} ({_reason(algorithm, made.items)})")
        say()
        say("What to type next:")
        say(f"  ordinate annotate {quote(study)}    answer in this terminal")
        say(f"  ordinate order {quote(study)}       see the ordering so far")


def add_items(
    study: StudyFile,
    items: ItemsFile,
    table: TableOptions,
    as_json: AsJson = False,
) -> None:
    """Add items to a study; what was answered stays.

    The new items need the same features as the others. Feature columns that the study was made with are read by
    name from the new table; a study made with an encoder embeds the new texts or images itself.
    """
    with open_study(study) as opened:
        read = read_items_like(opened, items, table)
        opened.add_items(media.from_study_folder(read, items, study))
        if as_json:
            print_json({"study": study, "added": len(read), **_summary(opened)})
        else:
            say(f"Added {count(len(read), 'item')}; {study} now has {_described(opened.items)}.")


def read_items(
    path: str,
    id_column: str,
    features: str | None,
    feature_columns: Sequence[str],
    encoder: str | None,
    pca: float | None,
) -> tuple[Items, Recipe | None]:
    """The items of a table and, where an encoder makes or made their features, the recipe."""
    from ordinate.data.items import Items

    if encoder is None:
        if pca is not None:
            raise InvalidInput("--pca goes with --embed; give `ordinate embed` a --pca, or reduce the matrix yourself")
        if features is None or Path(features).suffix != ".npz":
            return Items.read(path, id_column=id_column, features=features, feature_columns=feature_columns), None
    if encoder is not None and (features is not None or feature_columns):
        raise InvalidInput("--embed makes the features; leave out --features and --feature-columns")
    if feature_columns:
        raise InvalidInput("give features as a file or as named columns, not both")
    table = Items.read(path, id_column=id_column)
    if encoder is not None:
        return embedded(table, path, encoder, pca)
    from ordinate.embedding import read_embedding

    return read_embedding(str(features), table)


def read_items_like(study: Study, path: str, table: TableOptions) -> Items:
    """Items for a study that exists: without other word, with features made as the study's own were."""
    from ordinate.data.items import Items

    features = table.features
    if features is not None and Path(features).suffix == ".npz":
        raise InvalidInput(
            f"{features} has principal components of its own; leave it out, then the study's encoder is used"
        )
    names = split_names(table.feature_columns)
    if features is None and not names:
        names = list(study.items.feature_names or ())
    read = Items.read(path, id_column=table.id_column, features=features, feature_columns=names)
    recipe = study.settings.recipe
    return read if recipe is None or features is not None else embedded_like(recipe, read, path)


def _summary(study: Study) -> dict[str, Any]:
    items = study.items
    return {
        "items": len(items),
        "features": int(items.features.shape[1]),
        "encoder": None if study.settings.recipe is None else study.settings.recipe.encoder,
        "feature_names": None if items.feature_names is None else list(items.feature_names),
        "groups": 1 if items.group is None else len(set(items.group)),
        "algorithm": study.settings.algorithm,
        "question": study.settings.question,
        "seed": study.settings.seed,
    }


def _described(items: Items) -> str:
    parts = [count(len(items), "item")]
    columns = items.features.shape[1]
    if items.feature_names:
        parts.append(f"{count(columns, 'feature column')} ({', '.join(items.feature_names)})")
    else:
        parts.append(count(columns, "feature column") if columns else "no features")
    if items.group is not None:
        parts.append(count(len(set(items.group)), "group"))
    return ", ".join(parts)


def _reason(asked_for: str | None, items: Items) -> str:
    if asked_for is not None:
        return "as you asked"
    if items.features.shape[1]:
        return "it learns from the features and from each item's own answers; `ordinate algorithms` lists others"
    return "without features only the answers tell the items apart; `ordinate algorithms` lists others"
