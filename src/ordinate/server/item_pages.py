"""Pages of HTML that are items, before they are sent: without what makes a browser connect to other servers.

The headers of such a page let no script run and nothing be loaded (see ITEM_PAGE in headers.py). Yet a browser connects
ahead of time to where a hint, a frame or a link leads, before it asks the policy whether it may. So these get names
that mean nothing.

Where tags are is for a browser to know: what looks like one may be in a comment or in a style. Therefore each "<" with
a letter behind it counts as the beginning of a tag, and only names change, so nothing becomes a tag that was none.
"""

from __future__ import annotations

import re
from functools import lru_cache

_TAGS = re.compile(
    r"(?<=<)(?=(?:link|meta|base|i?frame|frameset|object|embed|portal|fencedframe)[\s/>])", re.IGNORECASE
)
_BEGINNING = re.compile(r"<[a-zA-Z][^\s/>]*")
_GAP = re.compile(r"[\s/]*")
_ATTRIBUTE = re.compile(r"""[^\s/>][^\s/>=]*(?:\s*=\s*(?:"[^"]*"?|'[^']*'?|[^\s>"'][^\s>]*)?)?""")
_LEADING = re.compile(r"(?:xlink:)?href|ping|action|formaction|srcdoc", re.IGNORECASE)
_NAME = re.compile(r"[^\s/>][^\s/>=]*")


@lru_cache(maxsize=64)
def disarmed(page: str) -> str:
    """The page with other names for the tags and attributes by which it would lead elsewhere."""
    renamed = sorted(_leading(page))
    parts = [page[start:end] for start, end in zip([0, *renamed], [*renamed, len(page)], strict=True)]
    return _TAGS.sub("not-", "not-".join(parts))


def _leading(page: str) -> set[int]:
    """Where attributes begin that lead elsewhere."""
    found, seen = set(), set()
    for beginning in _BEGINNING.finditer(page):
        at = beginning.end()
        # What begins within the attributes of another tag may be a tag of its own, and goes on as that one does.
        while at not in seen:
            seen.add(at)
            at = _end(_GAP, page, at)
            if (attribute := _ATTRIBUTE.match(page, at)) is None:
                break
            if _LEADING.fullmatch(page, at, _end(_NAME, page, at)):
                found.add(at)
            at = attribute.end()
    return found


def _end(pattern: re.Pattern[str], page: str, at: int) -> int:
    match = pattern.match(page, at)
    return at if match is None else match.end()
