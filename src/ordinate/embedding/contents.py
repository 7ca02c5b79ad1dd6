"""The content of each item that an encoder reads: its text, or the bytes of its image file."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Literal, NamedTuple

from ordinate.data.formats.files import read_bytes
from ordinate.data.items import Items
from ordinate.data.media import data_url
from ordinate.errors import InvalidInput, naming


class Content(NamedTuple):
    """The content of one item: `where` starts an error message, `read` returns the bytes."""

    where: str
    read: Callable[[], bytes]


def contents(items: Items, kind: Literal["text", "image"], folder: str | Path) -> list[Content]:
    """The contents in the order of the items. Relative paths of images start at `folder`.

    Raises InvalidInput, which names the item, if an item has no content, and where there is no item.
    """
    if not len(items):
        raise InvalidInput("there are no items, so there is nothing to embed")
    if kind not in items.content:
        has = " and ".join(items.content) or "no content"
        raise InvalidInput(f"this encoder reads {_WHAT[kind]}, and the items have {has}; add a column {kind!r}")
    listed = []
    for row, (name, value) in enumerate(zip(items.ids, items.content[kind], strict=True), start=1):
        where = f"item {name!r} (row {row})"
        if value is None or not value.strip():
            raise InvalidInput(f"{where} has no {kind}, so there is nothing to embed; fill it in or leave the item out")
        if kind == "text":
            listed.append(Content(where, partial(value.encode, "utf-8")))
        elif value.startswith("data:"):
            listed.append(Content(where, partial(_within, where, value)))
        elif "://" in value:
            raise InvalidInput(f"{where}: the image is a URL; download it and give the path of the file")
        else:
            listed.append(Content(where, partial(_file, where, os.path.join(folder, value))))
    return listed


def _file(where: str, path: str) -> bytes:
    with naming(where):
        return read_bytes(path)


def _within(where: str, address: str) -> bytes:
    """The bytes that a data: URL holds, as those of pictures within a table are."""
    found = data_url(address)
    if found is None:
        raise InvalidInput(f"{where}: this data: URL holds no image that is read")
    return found[1]


_WHAT = {"text": "texts", "image": "images"}
