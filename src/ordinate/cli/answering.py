"""`ordinate ask`, `tell`, `withdraw`, `undo`: one step each, for scripts and for the curious."""

from __future__ import annotations

from shlex import quote
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ordinate.cli.options import Annotator, AsJson, StudyFile, open_study
from ordinate.cli.screen import console, one_line, print_json, say

if TYPE_CHECKING:
    from ordinate.study import Study
    from ordinate.types import Items, Query

QueryId = Annotated[
    str, typer.Argument(metavar="QUERY", help="The id of the query, as `ask` printed it.", show_default=False)
]
PREVIEW = 60


def ask(
    study: StudyFile,
    annotator: Annotator = None,
    count: Annotated[int, typer.Option("--count", "-n", min=1, help="How many queries to have open.")] = 1,
    as_json: AsJson = False,
) -> None:
    """Print the next pairs to ask about.

    A query stays open, and is printed again, until it is answered, skipped or withdrawn.
    """
    with open_study(study) as opened:
        queries = opened.ask(annotator=annotator, count=count)
        contents = item_contents(opened.items)
        if as_json:
            print_json(
                {
                    "study": study,
                    "question": opened.settings.question,
                    "queries": [query_json(query, contents) for query in queries],
                }
            )
            return
        from rich.table import Table

        table = Table("query", "left", "right", title=one_line(opened.settings.question), title_justify="left")
        for query in queries:
            table.add_row(query.id, _preview(query.left, contents), _preview(query.right, contents))
        console().print(table)
        say(f"Answer with: ordinate tell {quote(study)} {queries[0].id} left|right|tie|skip")


def tell(
    study: StudyFile,
    query: QueryId,
    answer: Annotated[str, typer.Argument(metavar="ANSWER", help="left, right, tie or skip.", show_default=False)],
    as_json: AsJson = False,
) -> None:
    """Answer a query. The answer is on disk when the command returns."""
    with open_study(study) as opened:
        opened.tell(query, answer)  # type: ignore[arg-type]  # refused by `tell` when it is none
        _report(opened, study, as_json, {"query": query, "answer": answer}, f"Stored: {answer} for {query}.")


def withdraw(study: StudyFile, query: QueryId, as_json: AsJson = False) -> None:
    """Take an open query back, unanswered; its pair may be asked again."""
    with open_study(study) as opened:
        opened.withdraw(query)
        _report(opened, study, as_json, {"query": query}, f"Withdrawn: {query}.")


def undo(study: StudyFile, annotator: Annotator = None, as_json: AsJson = False) -> None:
    """Take the annotator's newest answer back; its query is open again."""
    with open_study(study) as opened:
        query = opened.undo(annotator=annotator)
        _report(
            opened,
            study,
            as_json,
            {"reopened": query_json(query, item_contents(opened.items))},
            f"Taken back. Open again: {query.id} ({query.left} or {query.right}).",
        )


def _report(study: Study, address: str, as_json: bool, values: dict[str, Any], sentence: str) -> None:
    answers = len(study.comparisons())
    if as_json:
        print_json({"study": address, **values, "comparisons": answers})
    else:
        say(f"{sentence} Comparisons so far: {answers}.")


def item_contents(items: Items) -> dict[str, dict[str, str]]:
    """Id to what there is to show of the item, by kind."""
    return {
        name: {kind: shown for kind, values in items.content.items() if (shown := values[row]) is not None}
        for row, name in enumerate(items.ids)
    }


def query_json(query: Query, contents: dict[str, dict[str, str]]) -> dict[str, Any]:
    return {
        "id": query.id,
        "annotator": query.annotator,
        "left": {"id": query.left, **contents[query.left]},
        "right": {"id": query.right, **contents[query.right]},
    }


def _preview(name: str, contents: dict[str, dict[str, str]]) -> str:
    shown = next(iter(contents[name].values()), "")
    text = one_line(f"{name}: {shown}" if shown else name)
    return text if len(text) <= PREVIEW else text[: PREVIEW - 1] + "…"
