"""HTML pages that are items, before they are sent: without what makes a browser connect to other servers.

The headers of such a page let no script run and nothing be loaded (see ITEM_PAGE in headers.py). Yet a browser connects
ahead of time to where a hint, a frame or a link leads, before it asks the policy whether it may, and a click on a link
leads away. So a page is taken apart and written again without these.

Where tags are may depend on what is around them: in a style, in a drawing, in a comment. What is written leaves no
choice: names are plain, values are in quotes, comments are gone, and every "<" that a tag could begin with begins one
of the tags that were looked at here. So however wrongly a page was read, what a browser finds in it was allowed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_CONNECTING = ["applet", "base", "bgsound", "embed", "fencedframe", "frame", "frameset", "iframe", "link", "meta"]
_READ_OTHERWISE = ["noembed", "noframes", "plaintext", "script", "xmp"]
_DROPPED = frozenset([*_CONNECTING, *_READ_OTHERWISE, "object", "param", "portal", "webview"])
"""Elements that connect, lead elsewhere, or change how the rest of the page is read."""
_WITH_CONTENT = frozenset(["iframe", "noembed", "noframes", "script"])
"""Of these, the ones whose content nobody sees."""
_OF_TEXT = frozenset(["style", "textarea", "title"]) | _WITH_CONTENT
"""Elements in which browsers look for no tag but the one at their end."""
_ADDRESS = re.compile(
    r"(?!data-).*(?:href|src|srcset|srcdoc|action|data)|ping|poster|background|cite|longdesc|manifest|archive|classid|codebase|code|"
    r"profile|icon|xml:base|target|on.*",
    re.DOTALL,
)
"""Attributes that lead elsewhere, or that run."""
_LINKS = frozenset(["href", "xlink:href"])
_HELD = re.compile(r"data:(?:image|audio|video)/", re.IGNORECASE)
"""The beginning of an address that is itself what it leads to."""
_HOLDING = frozenset(["audio", "body", "feimage", "image", "img", "input", "source", "video"])
_HELD_IN = _LINKS | {"background", "poster", "src"}
"""Elements and attributes that may have such an address."""
_ANIMATED = re.compile(r"[a-zA-Z-]+")
"""What an animation may change, except links."""

_NAME = re.compile(r"[a-zA-Z_][a-zA-Z0-9_:.-]*")
_TEXT = re.compile(r"[^<]+")
_COMMENT = re.compile(r"<!--(?:-?>|.*?--!?>)", re.DOTALL)
_DOCTYPE = re.compile(r"<!doctype[^<>]*>", re.IGNORECASE)
_TAG = re.compile(r"<(/?)([a-zA-Z][^\t\n\f\r />]*+)")
_GAP = re.compile(r"[\t\n\f\r /]*+")
_SPACE = "[\t\n\f\r ]*+"
_VALUE = r"""(?:"([^"]*+)"|'([^']*+)'|([^\t\n\f\r >"'][^\t\n\f\r >]*+)|(?=>)|(["']))"""
_ATTRIBUTE = re.compile(rf"([^\t\n\f\r />][^\t\n\f\r />=]*+)(?:{_SPACE}={_SPACE}{_VALUE})?")
"""Its name; its value in quotes, in single quotes or in none; a quote that is never closed."""
_ENDS = {name: re.compile(rf"</{name}(?=[\t\n\f\r />])", re.IGNORECASE | re.ASCII) for name in _OF_TEXT}
_OPENING = re.compile(r"<(?=[a-zA-Z/!?]|\Z)")
_MARKS = re.compile(r"<!\[CDATA\[|\]\]>|<!--|-->")
"""What styles may stand between, and browsers pass over."""


def disarmed(page: str) -> str:
    """The page without what would lead or connect elsewhere. Takes time in proportion to its length."""
    return "".join(_written(page))


def _written(page: str) -> Iterator[str]:
    at = 0
    while at < len(page):
        if text := _TEXT.match(page, at):
            yield text.group()
            at = text.end()
        elif tag := _TAG.match(page, at):
            closing, name = tag.group(1) != "", tag.group(2)
            at, attributes, empty = _attributes(page, tag.end(), name.lower())
            kept = _NAME.fullmatch(name) is not None and name.lower() not in _DROPPED and at <= len(page)
            if closing or name.lower() not in _OF_TEXT:
                if kept:
                    yield f"</{name}>" if closing else f"<{name}{attributes}{' /' if empty else ''}>"
                continue
            # An empty one is meant as such, as in a drawing.
            end = at if empty else _place(_ENDS[name.lower()].search(page, at), page)
            if kept:
                yield f"<{name}{attributes}>{_content(name.lower(), page[at:end])}{f'</{name}>' if empty else ''}"
            at = end
        elif page.startswith(("<!", "<?", "</"), at):
            if doctype := _DOCTYPE.match(page, at):
                yield doctype.group()
            if page.startswith("<!--", at):
                comment = _COMMENT.match(page, at)
                at = len(page) if comment is None else comment.end()
            else:
                at = page.find(">", at) + 1 or len(page)
        else:
            yield "&lt;"
            at += 1


def _attributes(page: str, at: int, tag: str) -> tuple[int, str, bool]:
    """Where a tag ends, what of its attributes is written, and whether it ends with "/>". One without an end is none,
    as for browsers: it ends behind the page."""
    kept: list[str] = []
    while True:
        gap = _GAP.match(page, at)
        assert gap is not None  # it may be empty
        at = gap.end()
        if page.startswith(">", at):
            return at + 1, "".join(kept), gap.group().endswith("/")
        attribute = _ATTRIBUTE.match(page, at)
        if attribute is None or attribute[5]:
            return len(page) + 1, "", False
        name, value = attribute[1], attribute[2] or attribute[3] or attribute[4] or ""
        if _is_harmless(tag, name.lower(), value):
            value = value.replace('"', "&quot;").replace("<", "&lt;").replace(">", "&gt;")
            kept.append(f' {name}="{value}"' if value else f" {name}")
        at = attribute.end()


def _is_harmless(tag: str, name: str, value: str) -> bool:
    if _NAME.fullmatch(name) is None:
        return False
    if name == "attributename":
        return _ANIMATED.fullmatch(value) is not None and not _ADDRESS.fullmatch(value.lower())
    if _ADDRESS.fullmatch(name) is None:
        return True
    if name in _LINKS and value.startswith("#"):  # a part of the page
        return True
    return tag in _HOLDING and name in _HELD_IN and _HELD.match(value) is not None


def _content(tag: str, text: str) -> str:
    """The content of an element of text without anything that could be a tag elsewhere."""
    if tag == "style":
        return _OPENING.sub(r"\\3c ", _MARKS.sub("", text))
    return text.replace("<", "&lt;")


def _place(found: re.Match[str] | None, page: str) -> int:
    return len(page) if found is None else found.start()
