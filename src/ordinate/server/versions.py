"""What browsers are sent of pictures that they do not show rightly: greys of more than 8 bits, and CMYK colours."""

from __future__ import annotations

import asyncio
import io
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from PIL import Image

from ordinate.data.media import DEEP_MODES, HEAD, media_type
from ordinate.data.pictures import web_version
from ordinate.errors import OrdinateError

_KEPT = 32
"""Versions that are kept in memory; browsers keep theirs for an hour."""
# Converting a large picture takes a second, so it has threads of its own, and whoever waits for it takes none.
_converting = ThreadPoolExecutor(2, "pictures")


class Source(NamedTuple):
    """The file of a picture, or its bytes; `state` changes when the file does."""

    content: Path | bytes
    state: tuple[int, int] = (0, 0)

    @classmethod
    def of_file(cls, path: Path) -> Source:
        found = path.stat()
        return cls(path, (found.st_mtime_ns, found.st_size))


def is_needed(source: Source) -> bool:
    """Whether browsers show something else than what the picture holds."""
    return _file_is_misshown(source) if isinstance(source.content, Path) else _is_misshown(io.BytesIO(source.content))


@lru_cache(maxsize=4096)
def _file_is_misshown(source: Source) -> bool:
    return isinstance(source.content, Path) and _is_misshown(source.content)


def _is_misshown(opened: Path | io.BytesIO) -> bool:
    try:
        with Image.open(opened) as picture:
            return picture.mode in (*DEEP_MODES, "CMYK")
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError):
        return False


async def made(source: Source) -> tuple[str, bytes] | None:
    """The type and the bytes of a version for browsers; None where none can be made."""
    return await asyncio.get_running_loop().run_in_executor(_converting, _made, source)


@lru_cache(maxsize=_KEPT)
def _made(source: Source) -> tuple[str, bytes] | None:
    try:
        data = source.content.read_bytes() if isinstance(source.content, Path) else source.content
        version = web_version(data)
    except (OSError, OrdinateError):
        return None
    return None if version is None else (str(media_type(version.data[:HEAD])), version.data)
