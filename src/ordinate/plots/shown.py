"""A figure that a notebook shows: without pyplot, nothing else would."""

from __future__ import annotations

import io

from matplotlib.figure import Figure

_PER_INCH = 96
"""Pixels of a web page."""


class ShownFigure(Figure):
    """A figure that is the value of a cell is shown as a picture."""

    def _repr_png_(self) -> tuple[bytes, dict[str, int]]:
        """The picture, and the size at which to show it, so that it is sharp on fine screens."""
        written = io.BytesIO()
        self.savefig(written, format="png")
        width, height = self.get_size_inches()
        return written.getvalue(), {"width": round(_PER_INCH * width), "height": round(_PER_INCH * height)}
