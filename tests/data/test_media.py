"""What files hold by their first bytes, and which of them browsers show."""

from __future__ import annotations

import base64
import io
import struct
import zlib
from pathlib import Path

import pytest
from PIL import Image

from ordinate.data.media import HEAD, NotShown, check_shown, data_url, is_address, media_type


def picture(kind: str, mode: str = "RGB", size: tuple[int, int] = (40, 30)) -> bytes:
    file = io.BytesIO()
    image = Image.effect_noise(size, 80).convert(mode)
    image.save(file, kind)
    return file.getvalue()


def huge_png(width: int, height: int) -> bytes:
    """A few bytes that promise very many pixels."""

    def chunk(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    header = struct.pack(">IIBBBBB", width, height, 1, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(bytes(9))) + chunk(b"IEND", b"")


HEIC = b"\0\0\0\x18ftypheic\0\0\0\0mif1heic" + bytes(60)

REFUSED = [
    ("a.tif", picture("TIFF"), "is a TIFF picture, which browsers do not show"),
    ("a.jpg", picture("TIFF"), "is a TIFF picture"),
    ("a.heic", HEIC, "is a HEIC picture"),
    ("b.heic", HEIC.replace(b"ftypheic", b"ftypmif1"), "is a HEIC picture"),
    ("a.jp2", picture("JPEG2000"), "is a JPEG 2000 picture"),
    ("a.dcm", bytes(128) + b"DICM" + bytes(40), "is a DICOM picture"),
    ("a.jxl", b"\xff\x0a" + bytes(40), "is a JPEG XL picture"),
    ("a.psd", b"8BPS" + bytes(40), "is a Photoshop picture"),
    ("a.svg", b"<?xml version='1.0'?>\n<svg xmlns='http://www.w3.org/2000/svg'/>", "is an SVG drawing"),
    ("b.png", b"<svg xmlns='http://www.w3.org/2000/svg'/>", "is an SVG drawing"),
    ("c.png", b"<!DOCTYPE html><html><body>Log in</body></html>", "is an HTML page"),
    ("d.png", b"", "is empty"),
    ("e.png", b"no picture", "is text, which browsers do not show"),
    ("f.png", "no picture".encode("utf-16"), "is of an unknown kind"),
    ("g.png", b"BMW is a maker of cars", "is text"),
    ("a.pdf", b"%PDF-1.7", "is a PDF document"),
    (".DS_Store", b"\0\0\0\1Bud1" + bytes(40), "is a folder's settings of macOS"),
    ("Thumbs.db", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(40), "is a Windows file"),
    ("h.png", picture("PNG")[:-40], "is a picture that is cut short or damaged"),
    ("h.jpg", picture("JPEG")[:-40], "is a picture that is cut short or damaged"),
    ("h.gif", picture("GIF")[:-40], "is a picture that is cut short or damaged"),
    ("h.webp", picture("WEBP")[:-40], "is a (damaged picture|picture that is cut short)"),
    ("h.bmp", picture("BMP")[:-40], "is a picture that is cut short or damaged"),
    ("i.png", picture("PNG")[:20], "is a (damaged picture|picture that is cut short)"),
    ("j.png", huge_png(60_000, 60_000), "is too large a picture .*60000|is too large a picture .*3600000000"),
    ("k.png", b"ID3\4" + bytes(40), "is audio/mpeg, which belongs in a column 'audio'"),
    ("gone.png", None, "is no file in .*; paths start there"),
]


@pytest.mark.parametrize(("name", "data", "message"), REFUSED, ids=[f"{row[0]}-{row[2][:20]}" for row in REFUSED])
def test_a_picture_that_no_browser_shows_is_refused(
    tmp_path: Path, name: str, data: bytes | None, message: str
) -> None:
    if data is not None:
        (tmp_path / name).write_bytes(data)
    with pytest.raises(NotShown, match=f"^{message}"):
        check_shown("image", name, tmp_path)


@pytest.mark.parametrize("name", ["a.tif", "a.jpg", "a.heic", "a.jp2", "a.psd"])
def test_what_can_be_converted_is_told(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(next(data for one, data, _ in REFUSED if one == name and data is not None))
    with pytest.raises(NotShown) as caught:
        check_shown("image", name, tmp_path)
    assert caught.value.convertible


@pytest.mark.parametrize(
    ("kind", "data"),
    [
        *(("image", picture(kind)) for kind in ("PNG", "JPEG", "GIF", "WEBP", "BMP", "AVIF")),
        ("image", picture("JPEG", "CMYK")),
        ("image", picture("PNG", "I;16")),
        ("image", picture("JPEG") + bytes(100)),
        ("image", picture("JPEG") + b"more of the camera's"),
        ("image", picture("PNG") + b"more"),
        ("image", huge_png(12_000, 12_000)),
        ("audio", b"ID3\4" + bytes(40)),
        ("audio", b"\x1aE\xdf\xa3" + bytes(40)),
        ("video", b"\0\0\0\x20ftypisom" + bytes(40)),
    ],
)
def test_what_browsers_show_passes(tmp_path: Path, kind: str, data: bytes) -> None:
    (tmp_path / "file.x").write_bytes(data)
    check_shown(kind, "file.x", tmp_path)
    check_shown(kind, str(tmp_path / "file.x"), "/")


@pytest.mark.parametrize(
    ("kind", "place", "message"),
    [
        ("image", "file:///etc/passwd", "an address that annotators cannot open"),
        ("image", "s3://bucket/a.png", "an address that annotators cannot open"),
        ("link", "javascript:alert(1)", "an address that annotators cannot open"),
        ("link", "example.org", "an address that annotators cannot open"),
        ("image", "data:text/html,<b>", "a data: URL that holds no image"),
        ("audio", "data:image/gif;base64," + base64.b64encode(picture("GIF")).decode(), "holds no audio"),
        ("image", ".", "is a folder"),
    ],
)
def test_addresses_that_cannot_be_opened(tmp_path: Path, kind: str, place: str, message: str) -> None:
    with pytest.raises(NotShown, match=message):
        check_shown(kind, place, tmp_path)


@pytest.mark.parametrize(
    ("kind", "place"),
    [
        ("image", "https://example.org/a.png"),
        ("link", "HTTP://example.org"),
        ("image", "data:image/gif;base64," + base64.b64encode(picture("GIF")).decode()),
    ],
)
def test_addresses_that_can_be_opened(tmp_path: Path, kind: str, place: str) -> None:
    assert is_address(place)
    check_shown(kind, place, tmp_path)


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "GIF", "WEBP", "BMP", "AVIF"])
def test_what_pillow_writes_is_known(kind: str) -> None:
    assert media_type(picture(kind)[:HEAD]) == f"image/{kind.lower()}"


@pytest.mark.parametrize(
    ("head", "kind"),
    [
        (b"RIFF\x00\x00\x00\x00WAVEfmt ", "audio/wav"),
        (b"ID3\x04", "audio/mpeg"),
        (b"\xff\xfb\x90\x00", "audio/mpeg"),
        (b"\xff\xf1\x50\x80", "audio/aac"),
        (b"fLaC", "audio/flac"),
        (b"OggS\x00\x02" + bytes(20) + b"\x01vorbis", "audio/ogg"),
        (b"OggS\x00\x02" + bytes(20) + b"\x80theora", "video/ogg"),
        (b"\x00\x00\x00\x20ftypisom", "video/mp4"),
        (b"\x00\x00\x00\x20ftypM4A ", "audio/mp4"),
        (b"\x00\x00\x00\x20ftypavif", "image/avif"),
        (b"\x00\x00\x00\x1cftypmif1\0\0\0\0mif1avif", "image/avif"),
        (b"\x00\x00\x00\x18ftypheic\0\0\0\0mif1heic", None),
        (b"\x00\x00\x00\x18ftyphevc\0\0\0\0msf1hevc", None),
        (b"\x1aE\xdf\xa3", "video/webm"),
        (b"\xff\xfei\0d\0", None),
        (b"BMW", None),
        (b"<svg ", None),
        (b"%PDF-1.7", None),
        (b"", None),
    ],
)
def test_files_are_known_by_their_first_bytes(head: bytes, kind: str | None) -> None:
    assert media_type(head) == kind


def test_a_data_url_that_is_none() -> None:
    assert data_url("data:image/png;base64,%%%") is None
    assert data_url("data:") is None
