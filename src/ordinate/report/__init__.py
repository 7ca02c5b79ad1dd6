"""A report of a study: one HTML file that needs nothing else, with the figures of `ordinate.plots`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple

from ordinate.data.formats.files import write_bytes
from ordinate.data.html import Html, joined, tag
from ordinate.errors import InvalidInput
from ordinate.report import figures, sections
from ordinate.report.contents import Contents, gather
from ordinate.report.pictures import Pictures, thumbnails
from ordinate.study.study import Study

_POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'"
"""The page runs nothing and loads nothing, whatever the items hold."""

SUFFIXES = (".html", ".htm")

__all__ = ["Contents", "Written", "gather", "page", "write_report"]


class Written(NamedTuple):
    """files     those that were written
    left_out  sentences about pictures that the report does not show
    """

    files: list[Path]
    left_out: list[str]


def write_report(
    study: Study,
    path: str | Path,
    *,
    folder: Path | None,
    media: Sequence[Path] = (),
    pictures: Path | None = None,
) -> Written:
    """Write the report to a file, and with `pictures`, a folder, each figure as SVG and PNG.

    folder  where relative paths of the items' pictures start, and whose pictures are shown; None: nowhere
    media   more folders whose pictures are shown

    Raises InvalidInput where the file's suffix is another than .html or .htm.
    """
    if Path(path).suffix.lower() not in SUFFIXES:
        raise InvalidInput(f"{path}: a report is an HTML page; its name ends with {' or '.join(SUFFIXES)}")
    contents = gather(study)
    folders = [one for one in (folder, *media) if one is not None]
    shown = thumbnails(sections.places_of_pictures(contents), folders)
    written = [Path(path)]
    write_bytes(path, _document(contents, shown).encode("utf-8"))
    if pictures is not None:
        for name, draw in sections.drawn(contents).items():
            written += figures.write(draw(), pictures, name)
    return Written(written, shown.left_out)


def page(contents: Contents, folders: Sequence[Path]) -> str:
    """The HTML document, with pictures from these folders; relative paths start at the first."""
    return _document(contents, thumbnails(sections.places_of_pictures(contents), folders))


def _document(contents: Contents, pictures: Pictures) -> str:
    drawn = sections.drawn(contents)
    title, details = _question(contents.question)
    style = (files("ordinate.report") / "style.css").read_text(encoding="utf-8")
    body = joined(
        tag(
            "header",
            tag("h1", title),
            tag("p", details, class_="details") if details else None,
            tag("p", f"Report of an ordering by pairwise comparisons, {contents.made:%d %B %Y, %H:%M} UTC"),
        ),
        tag(
            "main",
            sections.summary(contents),
            sections.order(contents, pictures),
            sections.section(
                "How sure the ranks are",
                f"{sections.doubt(contents)}The dot is an item’s rank; the line covers its likely ranks. The "
                "answers cannot tell items on one band apart.",
                sections.figure(drawn, "ranks", "Ranks of the items with intervals of 90 percent"),
            ),
            sections.section(
                "What more answers would bring",
                "The share of all pairs of items that are expected to be in the wrong order, after so many answers, "
                "and how it is likely to fall. It is an expectation under the model, not a comparison with the truth.",
                sections.figure(drawn, "error", "Expected error by number of answers, with a forecast"),
            ),
            sections.predictions(contents, drawn),
            sections.section(
                "Annotators",
                "Surprise is how far somebody’s answers are from what all other answers say, in standard deviations. "
                "Those right of the dotted line answered unlike the others.",
                sections.figure(drawn, "annotators", "Surprise of the answers of each annotator"),
                *sections.people(contents),
            ),
            sections.section(
                "Which pairs were compared",
                "Each point is an answer; crosses are answers that the order contradicts. Near the diagonal, items are "
                f"close in rank. {sections.sources_in_words(contents)}.",
                sections.figure(drawn, "comparisons", "Ranks of the items of each compared pair"),
            ),
            sections.checks(contents),
            sections.made(contents),
            sections.section(
                "What to keep in mind",
                "All figures presume the model: people who agree in what they see, up to noise, and scores that follow "
                "from the features and the answers. An order by all answers ever given (Bradley and Terry) is itself "
                "an estimate and can be further from the truth than this one; the distance to it measures no error.",
            ),
        ),
    )
    head = joined(
        tag("meta", charset="utf-8"),
        tag("meta", name_="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", http_equiv="Content-Security-Policy", content=_POLICY),
        tag("title", f"{title} – report"),
        tag("style", Html(style)),
    )
    return f"<!doctype html>\n{tag('html', tag('head', head), tag('body', body), lang='en')}\n"


def _question(markdown: str) -> tuple[str, str]:
    """Its first line and the others, without the marks of Markdown, which the report has no reader of."""
    lines = re.sub(r"\*\*|__|`|^#+ *", "", markdown.strip(), flags=re.MULTILINE).split("\n", 1)
    return lines[0].strip(), lines[1].strip() if len(lines) > 1 else ""
