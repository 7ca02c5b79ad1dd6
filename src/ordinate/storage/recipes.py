"""The row that says how a study's features were made; see recipe.py."""

from __future__ import annotations

import numpy as np

from ordinate.data.projection import Projection
from ordinate.data.recipe import Recipe
from ordinate.errors import NotAStudy
from ordinate.storage.connection import Connection

_NUMBER = np.dtype("<f8")


def write(connection: Connection, token: str, recipe: Recipe) -> None:
    numbers: tuple[int | bytes | None, ...] = (None, None, None)
    if (projection := recipe.projection) is not None:
        mean, components = (part.astype(_NUMBER).tobytes() for part in (projection.mean, projection.components))
        numbers = (len(projection.mean), mean, components)
    connection.execute(
        "INSERT INTO recipe (token, encoder, content, fingerprint, columns, mean, components) "
        "VALUES (?, ?, ?, ?, ?, ?, ?)",
        (token, recipe.encoder, recipe.content, recipe.fingerprint, *numbers),
    )


def read(connection: Connection) -> Recipe | None:
    rows = connection.execute("SELECT encoder, content, fingerprint, columns, mean, components FROM recipe").fetchall()
    if not rows:
        return None
    if len(rows) > 1:
        raise NotAStudy("its table recipe must have one row at most")
    ((encoder, content, fingerprint, columns, mean, components),) = rows
    projection = None
    if columns is not None:
        width = columns * _NUMBER.itemsize
        if width <= 0 or len(mean or b"") != width or not components or len(components) % width:
            raise NotAStudy("the principal components of its recipe are damaged")
        projection = Projection(np.frombuffer(mean, _NUMBER), np.frombuffer(components, _NUMBER).reshape(-1, columns))
    return Recipe(encoder, content, fingerprint, projection)
