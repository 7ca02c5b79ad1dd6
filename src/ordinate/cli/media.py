"""Images, sounds and links of items: where they lie, and showing them outside the terminal."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from shutil import which
from typing import TYPE_CHECKING

from ordinate.cli.options import study_url
from ordinate.errors import naming

if TYPE_CHECKING:
    from PIL.Image import Image

    from ordinate.data.items import Items
    from ordinate.data.showing import Shown

LARGEST_SIDE = 900
GAP = 24


def study_folder(address: str) -> Path:
    """The folder that the relative paths of a study start at: that of the file itself, however it is addressed.

    A study in a database has none, and absolute paths: this folder is then the one in which the command runs.
    """
    from ordinate.storage.places import place

    return place(study_url(address)).folder or Path.cwd()


def web_folder(address: str) -> Path:
    """The folder for versions of a study's pictures that browsers show: beside the study, and named after it."""
    from ordinate.data.folders import WEB_VERSIONS
    from ordinate.storage.places import place

    return study_folder(address) / f"{place(study_url(address)).name}{WEB_VERSIONS}"


@contextmanager
def in_study(items: Items, source: str, address: str, convert: bool) -> Iterator[Shown]:
    """The items of a table or folder, `source`, if annotators can be shown all of them, perhaps after conversion.

    Relative paths of media are rewritten to start at the study's folder, so the study and its media can move together,
    or, for a study in a database, to be absolute.
    URLs and absolute paths stay. Raises InvalidInput, naming the items that cannot be shown. What was converted is
    removed if the block fails.
    """
    from ordinate.data.items import content_folder
    from ordinate.data.media import KINDS, is_address
    from ordinate.data.showing import shown
    from ordinate.storage.places import place

    start, web = os.path.realpath(content_folder(source)), web_folder(address)
    target = place(study_url(address)).folder
    with ExitStack() as stack:
        with naming(source):
            checked = stack.enter_context(shown(items, start, web if convert else None))
        content = dict(checked.items.content)
        for kind in set(KINDS) & set(content):
            content[kind] = [
                path
                if path is None or is_address(path) or (os.path.isabs(path) and not Path(path).is_relative_to(web))
                else _moved(os.path.join(start, path), target)
                for path in content[kind]
            ]
        yield checked._replace(items=replace(items, content=content))


def _moved(path: str, target: Path | None) -> str:
    if target is None:
        return os.path.normpath(path)
    try:
        return Path(os.path.relpath(path, target)).as_posix()
    except ValueError:  # Windows: on another drive there is no relative path.
        return path


def resolved(path: str, folder: Path) -> str:
    """A stored path as one to open now; a URL stays what it is."""
    from ordinate.data.media import is_address

    return path if is_address(path) else str((folder / path).absolute())


def has_viewer() -> bool:
    """Whether this terminal stands beside a screen that can show a picture."""
    if sys.platform in ("darwin", "win32"):
        return True
    on_screen = os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    return bool(on_screen) and which("xdg-open") is not None


def open_outside(places: list[str], scratch: Path) -> str | None:
    """Show two images side by side in one window of the viewer, anything else each on its own.

    Returns what went wrong, or None.
    """
    import typer

    from ordinate.data.media import is_address

    try:
        if len(places) == 2 and not any(is_address(place) for place in places):
            places = [_side_by_side(places[0], places[1], scratch)]
        for place in places:
            if typer.launch(place) != 0:
                return f"the viewer did not open {place}"
    except (OSError, ValueError) as error:
        return f"cannot show the images: {error}"
    return None


def _side_by_side(left: str, right: str, scratch: Path) -> str:
    """One picture of both, left and right, so that the window keeps the sides of the question."""
    from PIL import Image

    pictures = [_load(left), _load(right)]
    height = max(picture.height for picture in pictures)
    both = Image.new("RGB", (sum(picture.width for picture in pictures) + GAP, height), "white")
    both.paste(pictures[0], (0, (height - pictures[0].height) // 2))
    both.paste(pictures[1], (pictures[0].width + GAP, (height - pictures[1].height) // 2))
    # One name for all questions: viewers that watch the file then show the new pair in the window they have.
    path = scratch / "left-and-right.png"
    both.save(path)
    return str(path)


def _load(path: str) -> Image:
    from PIL import Image, ImageOps

    try:
        with Image.open(path) as opened:
            picture = ImageOps.exif_transpose(opened).convert("RGB")
    except Image.DecompressionBombError as error:
        raise ValueError(f"{path} is too large: {error}") from error
    picture.thumbnail((LARGEST_SIDE, LARGEST_SIDE))
    return picture
