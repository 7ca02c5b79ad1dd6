"""What an owner writes in Markdown, as HTML that holds neither scripts nor styles nor anything from elsewhere: the
question of a study and, where its rules say so, the texts of its items."""

from __future__ import annotations

from functools import lru_cache

import nh3
from markdown_it import MarkdownIt

TAGS = {"a", "blockquote", "br", "code", "em", "h1", "h2", "h3", "h4", "hr", "li", "ol", "p", "pre", "strong", "ul"}
_LONGEST_KEPT = 20_000
"""Characters; longer texts are rendered each time, so that they do not fill the memory."""


def rendered(markdown: str) -> str:
    return _kept(markdown) if len(markdown) <= _LONGEST_KEPT else _rendered(markdown)


def _rendered(markdown: str) -> str:
    html = MarkdownIt("commonmark", {"html": False}).render(markdown)
    return nh3.clean(
        html,
        tags=TAGS,
        attributes={"a": {"href", "title"}},
        url_schemes={"http", "https", "mailto"},
        link_rel="noopener noreferrer",
        set_tag_attribute_values={"a": {"target": "_blank"}},
    )


_kept = lru_cache(maxsize=1024)(_rendered)
