"""The row that says how a study's features were made; see recipe.py."""

from __future__ import annotations

from typing import Any

import numpy as np
from sqlalchemy import Connection, insert, select

from ordinate.data.projection import Projection
from ordinate.data.recipe import Recipe
from ordinate.errors import NotAStudy
from ordinate.storage import tables

_NUMBER = np.dtype("<f8")


def write(connection: Connection, token: str, recipe: Recipe) -> None:
    row: dict[str, Any] = {"token": token, "encoder": recipe.encoder, "content": recipe.content}
    row |= {"fingerprint": recipe.fingerprint, "columns": None, "mean": None, "components": None}
    if (projection := recipe.projection) is not None:
        mean, components = (part.astype(_NUMBER).tobytes() for part in (projection.mean, projection.components))
        row |= {"columns": len(projection.mean), "mean": mean, "components": components}
    connection.execute(insert(tables.recipe), [row])


def read(connection: Connection) -> Recipe | None:
    row = connection.execute(select(tables.recipe)).one_or_none()
    if row is None:
        return None
    projection = None
    if row.columns is not None:
        width = row.columns * _NUMBER.itemsize
        if width <= 0 or len(row.mean or b"") != width or not row.components or len(row.components) % width:
            raise NotAStudy("the principal components of its recipe are damaged")
        components = np.frombuffer(row.components, _NUMBER).reshape(-1, row.columns)
        projection = Projection(np.frombuffer(row.mean, _NUMBER), components)
    return Recipe(row.encoder, row.content, row.fingerprint, projection)
