"""Figures of a report: inline in the page, in the colours of its theme, and as files."""

from __future__ import annotations

import io
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ordinate.data.formats.files import write_bytes
from ordinate.data.html import Html
from ordinate.plots.theme import COLOURS

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def inline(figure: Figure, name: str, description: str) -> Html:
    """As SVG whose colours are those of the page, light or dark, and whose texts can be read aloud and copied."""
    picture = _svg(figure, as_text=True)
    picture = picture[picture.index("<svg") :]
    picture = re.sub(r"<metadata>.*?</metadata>", "", picture, flags=re.DOTALL)
    # Figures of one page must not share the names of their parts.
    picture = re.sub(r'\bid="', f'id="{name}-', picture)
    picture = re.sub(r'(href="#|url\(#)', rf"\g<1>{name}-", picture)
    for part, colour in COLOURS["light"]._asdict().items():
        picture = picture.replace(colour, f"var(--figure-{part})")
    picture = re.sub(r"font: ([\d.]+)px [^;\"]*", r"font: \1px var(--font)", picture)
    width = re.search(r'<svg[^>]* width="([\d.]+)pt"', picture)
    style = "" if width is None else f' style="--width: {float(width[1]):.0f}px"'
    head, _, rest = picture.partition(">")
    head = re.sub(r' (width|height)="[^"]*"', "", head)
    label = description.replace('"', "&quot;").replace("<", "&lt;")
    return Html(f'{head} role="img" aria-label="{label}"{style}>{rest}')


def write(figure: Figure, folder: Path, name: str) -> list[Path]:
    """As SVG and PNG."""
    paths = [folder / f"{name}.svg", folder / f"{name}.png"]
    write_bytes(paths[0], _svg(figure, as_text=False).encode("utf-8"))
    drawn = io.BytesIO()
    figure.savefig(drawn, format="png")
    write_bytes(paths[1], drawn.getvalue())
    return paths


def _svg(figure: Figure, *, as_text: bool) -> str:
    """The same figure gives the same text."""
    import matplotlib

    settings: dict[Any, Any] = {"svg.hashsalt": "ordinate", "svg.fonttype": "none" if as_text else "path"}
    drawn = io.StringIO()
    with matplotlib.rc_context(settings):
        figure.savefig(drawn, format="svg", metadata={"Date": None})
    return drawn.getvalue()
