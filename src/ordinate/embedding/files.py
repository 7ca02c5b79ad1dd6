"""Embeddings on disk: a .npz with ids, features and recipe; or, for other tools, a .npy and a list of ids."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from ordinate.data.formats.files import read_bytes, write_bytes
from ordinate.data.items import Items
from ordinate.data.projection import Projection
from ordinate.data.recipe import Recipe
from ordinate.errors import InvalidInput, naming

SUFFIXES = (".npz", ".npy")


def write_embedding(path: str | Path, items: Items, recipe: Recipe) -> list[Path]:
    """Write a .npz or .npy file; returns the files written. After an error each file is as it was before.

    .npz  ids, features, encoder, content, fingerprint and, after a projection, mean and components
    .npy  the features, and beside it NAME.ids.txt with one id per line in the order of the rows

    Features are those that the recipe made; named columns beside them stay in their table.
    """
    path, features = require_suffix(path), recipe.made_of(items)
    if path.suffix == ".npy":
        listed = path.with_suffix(".ids.txt")
        for name in items.ids:
            if len(name.splitlines()) != 1:
                raise InvalidInput(f"id {name!r} does not fit on one line of {listed}; write a .npz file instead")
        write_bytes(path, _saved(np.save, features))
        write_bytes(listed, "".join(f"{name}\n" for name in items.ids).encode())
        return [path, listed]
    arrays: dict[str, Any] = {"ids": np.array(items.ids, dtype=np.str_), "features": features}
    arrays |= {name: np.array(getattr(recipe, name)) for name in ("encoder", "content", "fingerprint")}
    if recipe.projection is not None:
        arrays |= {"mean": recipe.projection.mean, "components": recipe.projection.components}
    write_bytes(path, _saved(np.savez_compressed, **arrays))
    return [path]


def read_embedding(path: str | Path, items: Items) -> tuple[Items, Recipe]:
    """The items with their features, by id, from a .npz file of `write_embedding`, beside columns that they have by
    name; and the recipe."""
    data = read_bytes(path)
    with naming(path):
        try:
            with np.load(io.BytesIO(data), allow_pickle=False) as archive:
                arrays = {name: archive[name] for name in archive.files}
            ids, features = arrays["ids"].tolist(), arrays["features"]
            projection = None
            if "mean" in arrays:
                projection = Projection(arrays["mean"], arrays["components"])
            content: Any = str(arrays["content"])
            recipe = Recipe(str(arrays["encoder"]), content, str(arrays["fingerprint"]), projection)
            made = Items(ids, features)
        except InvalidInput:
            raise
        except (KeyError, ValueError, EOFError, OSError, zipfile.BadZipFile) as error:
            raise InvalidInput("not an embedding, or a damaged one; make one with: ordinate embed") from error
        recipe.require_made(made)
        row = {name: number for number, name in enumerate(made.ids)}
        missing = [name for name in items.ids if name not in row]
        if missing:
            raise InvalidInput(
                f"item {missing[0]!r} is not in this file ({len(missing):,} are missing); embed these items again, or "
                "name the column of ids that they were embedded with"
            )
    return recipe.beside_columns(items, made.features[[row[name] for name in items.ids]]), recipe


def require_suffix(path: str | Path) -> Path:
    """The path. Raises InvalidInput if its suffix is not that of an embedding."""
    if Path(path).suffix not in SUFFIXES:
        raise InvalidInput(f"{path}: an embedding is a .npz file (with its recipe) or a .npy file (the matrix alone)")
    return Path(path)


def _saved(save: Any, *matrix: Any, **arrays: Any) -> bytes:
    file = io.BytesIO()
    save(file, *matrix, **arrays)
    return file.getvalue()
