"""HTML that is safe by its type: what is not `Html` is text, and is escaped where it goes in."""

from __future__ import annotations

from html import escape

_EMPTY = frozenset({"br", "img", "meta"})


class Html(str):
    """Markup, not text."""

    __slots__ = ()


def tag(name: str, *inside: str | None, **attributes: str | int | None) -> Html:
    """An element. `class_` and `for_` stand for the attributes of that name, `data_x` for data-x; None is left out."""
    given = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(str(value), quote=True)}"'
        for key, value in attributes.items()
        if value is not None
    )
    if name in _EMPTY:
        return Html(f"<{name}{given}>")
    return Html(f"<{name}{given}>{joined(*inside)}</{name}>")


def joined(*parts: str | None) -> Html:
    """Markup and texts after each other."""
    return Html("".join(part if isinstance(part, Html) else escape(part, quote=False) for part in parts if part))
