"""What files of items hold, known by their first bytes whatever their names say, and whether a browser shows it."""

from __future__ import annotations

import base64
import binascii
import io
import os
import re
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import unquote_to_bytes

from ordinate.data.formats.files import failures
from ordinate.data.lookalikes import suggestion
from ordinate.errors import InvalidInput

KINDS = ("image", "audio", "video")
LONGEST_PAGE = 2_000_000
"""Characters of an HTML page."""
HEAD = 512
"""As many first bytes of a file tell its type."""
DEEP_MODES = ("I", "F", "I;16", "I;16L", "I;16B", "I;16N")
"""Pillow's modes with more than 8 bits per pixel, all of them grey."""

_SHOWN = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"ID3", "audio/mpeg"),
    (b"fLaC", "audio/flac"),
    (b"\x1aE\xdf\xa3", "video/webm"),
)
_NOT_SHOWN = (
    (b"II*\0", "a TIFF picture"),
    (b"MM\0*", "a TIFF picture"),
    (b"II+\0", "a TIFF picture"),
    (b"MM\0+", "a TIFF picture"),
    (b"\0\0\0\x0cjP  ", "a JPEG 2000 picture"),
    (b"\xff\x4f\xff\x51", "a JPEG 2000 picture"),
    (b"\0\0\0\x0cJXL ", "a JPEG XL picture"),
    (b"\xff\x0a", "a JPEG XL picture"),
    (b"8BPS", "a Photoshop picture"),
    (b"%PDF", "a PDF document"),
    (b"\0\0\0\1Bud1", "a folder's settings of macOS (.DS_Store)"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "a Windows file (Thumbs.db, or an old Office document)"),
    (b"PK\3\4", "a ZIP archive or an Office document"),
    (b"MThd", "a MIDI file"),
    (b"FORM", "an AIFF sound"),
    (b"0&\xb2u\x8ef\xcf\x11", "a Windows Media file"),
)
_AVIF = (b"avif", b"avis")
_HEIF = (b"heic", b"heix", b"heim", b"heis", b"hevc", b"hevx", b"hevm", b"hevs", b"mif1", b"msf1")
_AUDIO = (b"M4A ", b"M4B ")
_CONTAINERS = ("video/mp4", "video/webm", "video/ogg")
"""Types of videos that may hold sound alone."""
_CONVERTED = ("a TIFF picture", "a HEIC picture", "a JPEG 2000 picture", "a Photoshop picture", "a DICOM picture")
"""What Pillow or pydicom reads and browsers do not show."""
_ENDS = {"image/png": b"IEND\xaeB`\x82", "image/jpeg": b"\xff\xd9", "image/gif": b"\x3b"}
_TAIL = 4096


def media_type(head: bytes) -> str | None:
    """The type of what browsers show, from the first bytes of a file; None for everything else, SVG and HTML too."""
    for start, name in _SHOWN:
        if head.startswith(start):
            return name
    if head[:2] == b"BM" and head[6:10] == bytes(4):
        return "image/bmp"
    if head[:4] == b"RIFF":
        return {b"WEBP": "image/webp", b"WAVE": "audio/wav"}.get(head[8:12])
    if head[4:8] == b"ftyp":
        return _ftyp(head)
    if head[:4] == b"OggS":
        return "video/ogg" if b"theora" in head[:64] else "audio/ogg"
    if len(head) > 1 and head[0] == 0xFF:
        if head[1] & 0xF6 == 0xF0:
            return "audio/aac"
        # Layers II and III. Layer I is not played, and a text in UTF-16 begins like it.
        if head[1] & 0xE0 == 0xE0 and head[1] & 0x06 in (0x02, 0x04):
            return "audio/mpeg"
    return None


def _ftyp(head: bytes) -> str | None:
    major, others = head[8:12], head[16 : int.from_bytes(head[:4], "big")]
    if major in _AVIF or (major in _HEIF and any(brand in others for brand in _AVIF)):
        return "image/avif"
    if major in _HEIF:
        return None
    return "audio/mp4" if major in _AUDIO else "video/mp4"


def described(head: bytes) -> str:
    """What a file that browsers do not show holds, in words."""
    if head[128:132] == b"DICM":  # first: it may begin as a TIFF picture does
        return "a DICOM picture"
    for start, words in _NOT_SHOWN:
        if head.startswith(start):
            return words
    if head[4:8] == b"ftyp" and head[8:12] in _HEIF:
        return "a HEIC picture"
    if head[:4] == b"RIFF" and head[8:12] == b"AVI ":
        return "an AVI video"
    text = head.removeprefix(b"\xef\xbb\xbf").lstrip().lower()
    if b"<svg" in text:
        return "an SVG drawing"
    if text.startswith((b"<!doctype", b"<html", b"<head", b"<body")):
        return "an HTML page"
    if b"\0" not in head and all(byte > 31 or byte in b"\t\n\r\f\x1b" for byte in head):
        return "text"
    return "of an unknown kind"


def read_head(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(HEAD)


def is_address(place: str) -> bool:
    """Whether a place is an address, such as https://example.org/a.png or data:..., rather than a path."""
    return "://" in place or place.startswith("data:")


def inside(place: str, folders: Sequence[Path]) -> Path | None:
    """The file of a stored path, symbolic links followed; None outside all folders. Paths start at the first one."""
    path = Path(os.path.realpath(Path(*folders[:1], place)))
    return path if any(path.is_relative_to(os.path.realpath(folder)) for folder in folders) else None


def data_url(place: str) -> tuple[str, bytes] | None:
    """The type and the bytes of a data: URL that holds a picture, a sound or a video."""
    header, comma, body = place.removeprefix("data:").partition(",")
    try:
        data = base64.b64decode(body, validate=True) if header.endswith(";base64") else unquote_to_bytes(body)
    except (binascii.Error, ValueError):
        return None
    kind = media_type(data[:HEAD])
    return (kind, data) if comma and kind is not None else None


def place_within(value: Mapping[str, Any], where: str) -> str | None:
    """The place of a picture or sound that a table holds itself, as Hugging Face's do: a data: URL, or the path."""
    data = value.get("bytes")
    if not data:
        return value.get("path")
    if (kind := media_type(data[:HEAD])) is None:
        raise InvalidInput(f"{where} is {described(data[:HEAD])}, which browsers do not show")
    return f"data:{kind};base64,{base64.b64encode(data).decode()}"


class NotShown(InvalidInput):
    """A file of an item that browsers do not show; `convertible` if `converted` makes a picture of it that they do."""

    def __init__(self, message: str, convertible: bool = False) -> None:
        super().__init__(message)
        self.convertible = convertible


def check_shown(kind: str, place: str, folder: str | Path) -> bool:
    """Raise NotShown, saying why, unless browsers show what is at `place`: a path that starts at `folder`, an address
    in the web, or a data: URL. `kind` is image, audio, video, link, or html, of which `place` is the page itself.

    Returns whether it is shown as it should be: a picture of more than 8 bits comes out too dark in a browser, and one
    in CMYK in other colours.
    """
    if kind == "html":
        _check_page(place)
    elif place.startswith("data:") and kind in KINDS:
        found = data_url(place)
        if found is None or not _is_of(kind, found[0]):
            raise NotShown(f"is a data: URL that holds no {kind} that browsers show")
    elif "://" in place or kind == "link":
        if not place.lower().startswith(("http://", "https://")):
            raise NotShown(
                "is an address that annotators cannot open; give a path or an address that begins with https://"
            )
    else:
        return _check_file(kind, os.path.join(folder, place), folder)
    return True


def _check_page(page: str) -> None:
    if len(page) > LONGEST_PAGE:
        raise NotShown(f"has {len(page):,} characters; a page may have {LONGEST_PAGE:,}")
    if re.search("<[a-zA-Z!]", page) is None:
        raise NotShown("has no tag of HTML; give the page itself, or a text in a column 'text'")


def _check_file(kind: str, path: str, folder: str | Path) -> bool:
    if os.path.isdir(path):
        raise NotShown("is a folder; name a file in it")
    if not os.path.isfile(path):
        raise NotShown(f"is no file in {folder}; paths start there{_suggested(path)}")
    with failures("read", path):
        head = read_head(Path(path))
    found = media_type(head)
    if found is None:
        words = described(head)
        if not head:
            raise NotShown("is empty; save or copy it again")
        raise NotShown(f"is {words}, which browsers do not show", kind == "image" and words in _CONVERTED)
    if not _is_of(kind, found):
        raise NotShown(f"is {found}, which belongs in a column {found.partition('/')[0]!r}")
    if kind != "image":
        return True
    with failures("read", path):
        return _check_picture(path, found) not in (*DEEP_MODES, "CMYK")


def _suggested(path: str) -> str:
    """A file beside the missing one that may be meant."""
    if os.path.isfile(slashed := path.replace("\\", "/")):
        return f"; write the path with / as in {os.path.basename(os.path.dirname(slashed))}/{os.path.basename(slashed)}"
    beside, name = os.path.split(path)
    return suggestion(name, os.listdir(beside)) if os.path.isdir(beside) else ""


def _is_of(kind: str, found: str) -> bool:
    return found.startswith(f"{kind}/") or (kind == "audio" and found in _CONTAINERS)


def _check_picture(path: str, found: str) -> str:
    """The mode of a picture. Raises NotShown if it is damaged, cut short, or too large to open safely."""
    from PIL import Image, UnidentifiedImageError

    try:
        with warnings.catch_warnings():
            # Pillow warns from half the size on that it refuses.
            warnings.simplefilter("ignore")
            with Image.open(path) as picture:
                if not _ends_well(path, found):
                    # It may still be whole: some cameras write more behind the end.
                    picture.load()
                return picture.mode
    except Image.DecompressionBombError as error:
        raise NotShown(f"is too large a picture ({error}); make it smaller") from None
    except UnidentifiedImageError:
        raise NotShown("is a damaged picture; save or copy it again") from None
    except (SyntaxError, ValueError, EOFError, TypeError, IndexError, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise NotShown(f"is a picture that is cut short or damaged ({error}); save or copy it again") from None


def _ends_well(path: str, found: str) -> bool:
    """Whether the file ends as a whole one of its type does: quicker than decoding it."""
    with open(path, "rb") as file:
        size = file.seek(0, io.SEEK_END)
        if found == "image/webp":
            file.seek(4)
            return size >= int.from_bytes(file.read(4), "little") + 8
        file.seek(max(size - _TAIL, 0))
        tail = file.read().rstrip(b"\0")
    end = _ENDS.get(found)
    return end is not None and tail.endswith(end)
