"""Images, sounds and links of items: where they lie, and showing them outside the terminal."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from pathlib import Path
from shutil import which
from typing import TYPE_CHECKING

from ordinate.errors import InvalidInput

if TYPE_CHECKING:
    from PIL.Image import Image

    from ordinate.data.items import Items

FILE_KINDS = ("image", "audio", "video")
LARGEST_SIDE = 900
GAP = 24


def is_url(place: str) -> bool:
    return "://" in place or place.startswith("data:")


def study_folder(address: str) -> Path:
    """The folder that the relative paths of a study start at: that of the file itself, however it is addressed."""
    return Path(os.path.realpath(address.removeprefix("sqlite:///"))).parent


def from_study_folder(items: Items, items_file: str, address: str) -> Items:
    """The items with the paths of their media, given from the items' file, as seen from the study's folder.

    So the study and its media can move together. URLs and absolute paths stay. Raises InvalidInput where a file is
    missing.
    """
    start = os.path.realpath(Path(items_file).parent)
    target = str(study_folder(address))
    content = dict(items.content)
    for kind in set(FILE_KINDS) & set(content):
        content[kind] = [
            place if place is None or is_url(place) else _moved(place, start, target, f"row {row}: {kind}")
            for row, place in enumerate(content[kind], start=1)
        ]
    return replace(items, content=content)


def _moved(place: str, start: str, target: str, what: str) -> str:
    path = os.path.join(start, place)
    if not os.path.isfile(path):
        raise InvalidInput(f"{what} {place!r} is no file in {start}; paths in the table start at the table's folder")
    if os.path.isabs(place):
        return place
    try:
        return Path(os.path.relpath(path, target)).as_posix()
    except ValueError:  # Windows: on another drive there is no relative path.
        return path


def resolved(place: str, folder: Path) -> str:
    """A stored path as one to open now; a URL stays what it is."""
    return place if is_url(place) else str((folder / place).absolute())


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

    try:
        if len(places) == 2 and not any(is_url(place) for place in places):
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
