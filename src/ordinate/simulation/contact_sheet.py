"""A contact sheet: small pictures in order, each with its rank, to check an ordering by eye."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont

from ordinate.data.formats.files import write_bytes

COLUMNS = 10
TILE = (112, 134)  # width and height of a picture
GAP = 10
CAPTION = 22  # below each picture
MARGIN = 36
HEADER = 92
PAPER, INK, GREY = "#ffffff", "#1a1a1a", "#6b6b6b"


def contact_sheet(
    files: Sequence[bytes], captions: Sequence[tuple[str, str]], path: str | Path, *, title: str, subtitle: str
) -> None:
    """Draw the image files row by row. A caption is a pair (bold text, grey text), such as ("1", "true 3")."""
    rows = -(-len(files) // COLUMNS)
    width = 2 * MARGIN + COLUMNS * TILE[0] + (COLUMNS - 1) * GAP
    height = HEADER + rows * (TILE[1] + CAPTION) + (rows - 1) * GAP + MARGIN
    sheet = Image.new("RGB", (width, height), PAPER)
    draw = ImageDraw.Draw(sheet)
    draw.text((MARGIN, 26), title, INK, _font(24, "DejaVuSans-Bold.ttf"))
    draw.text((MARGIN, 59), subtitle, GREY, _font(14))
    for place, (file, (strong, weak)) in enumerate(zip(files, captions, strict=True)):
        row, column = divmod(place, COLUMNS)
        left = MARGIN + column * (TILE[0] + GAP)
        top = HEADER + row * (TILE[1] + CAPTION + GAP)
        with Image.open(io.BytesIO(file)) as image:
            sheet.paste(image.convert("RGB").resize(TILE, Image.Resampling.LANCZOS), (left, top))
        below = top + TILE[1] + 4
        draw.text((left, below), strong, INK, _font(14, "DejaVuSans-Bold.ttf"))
        draw.text((left + TILE[0], below + 2), weak, GREY, _font(11), anchor="ra")
    picture = io.BytesIO()
    sheet.save(picture, format="PNG", optimize=True)
    write_bytes(path, picture.getvalue())


def _font(size: int, name: str = "DejaVuSans.ttf") -> ImageFont.FreeTypeFont:
    from matplotlib import get_data_path

    # matplotlib includes these fonts, so the sheet looks the same everywhere.
    return ImageFont.truetype(Path(get_data_path(), "fonts", "ttf", name), size)
