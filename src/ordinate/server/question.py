"""The owner's question in Markdown, as HTML that can hold neither scripts nor styles nor anything from elsewhere."""

from __future__ import annotations

from functools import lru_cache

import nh3
from markdown_it import MarkdownIt

TAGS = {"a", "blockquote", "br", "code", "em", "h1", "h2", "h3", "h4", "hr", "li", "ol", "p", "pre", "strong", "ul"}


@lru_cache(maxsize=256)
def rendered(markdown: str) -> str:
    html = MarkdownIt("commonmark", {"html": False}).render(markdown)
    return nh3.clean(
        html,
        tags=TAGS,
        attributes={"a": {"href", "title"}},
        url_schemes={"http", "https", "mailto"},
        link_rel="noopener noreferrer",
    )
