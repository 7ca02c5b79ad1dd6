"""`ordinate ask`, `tell`, `withdraw`, `undo`: one step each, for scripts and for the curious."""

from __future__ import annotations

from shlex import quote
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ordinate.cli.options import Annotator, AsJson, Server, StudyFile, StudyOrServer, one_of, open_client, open_study
from ordinate.cli.screen import console, one_line, print_json, say
from ordinate.errors import InvalidInput

if TYPE_CHECKING:
    from ordinate.data.comparisons import Query
    from ordinate.data.items import Items
    from ordinate.study.study import Study

QueryId = Annotated[
    str, typer.Argument(metavar="QUERY", help="The id of the query, as `ask` printed it.", show_default=False)
]
PREVIEW = 60


def ask(
    study: StudyOrServer = None,
    server: Server = None,
    annotator: Annotator = None,
    count: Annotated[int, typer.Option("--count", "-n", min=1, help="How many queries to have open.")] = 1,
    as_json: AsJson = False,
) -> None:
    """Print the next pairs to ask about.

    A query stays open, and is printed again, until it is answered, skipped or withdrawn.
    """
    address = one_of(study, server)
    if server is not None:
        with open_client(server) as client:
            from ordinate.client import as_query

            question, given = client.status(annotator)["question"], client.ask_shown(annotator, count)
            queries = [as_query(one) for one in given]
            contents = {item["id"]: _shown(item) for one in given for item in (one["left"], one["right"])}
    else:
        with open_study(address) as opened:
            queries, question = opened.ask(annotator=annotator, count=count), opened.settings.question
            contents = item_contents(opened.items)
    if as_json:
        print_json(
            {
                "study": address,
                "question": question,
                "queries": [query_json(query, contents) for query in queries],
            }
        )
        return
    from rich.table import Table

    table = Table("query", "left", "right", title=one_line(question), title_justify="left")
    for query in queries:
        table.add_row(query.id, _preview(query.left, contents), _preview(query.right, contents))
    console().print(table)
    place = quote(address) if server is None else f"--server {quote(server)}"
    say(f"Answer with: ordinate tell {place} {queries[0].id} left|right|tie|skip")


def tell(
    first: Annotated[
        str,
        typer.Argument(
            metavar="[STUDY.db]", help="The file of the study, unless --server names one.", show_default=False
        ),
    ],
    second: QueryId,
    third: Annotated[
        str | None, typer.Argument(metavar="ANSWER", help="left, right, tie or skip.", show_default=False)
    ] = None,
    server: Server = None,
    annotator: Annotator = None,
    as_json: AsJson = False,
) -> None:
    """Answer a query. The answer is on disk when the command returns."""
    words = [word for word in (first, second, third) if word is not None]
    if len(words) != (3 if server is None else 2):
        raise InvalidInput("name the file of a study (or a link with --server), the query and the answer")
    query, answer = words[-2:]
    sentence = f"Stored: {answer} for {query}."
    if server is None:
        with open_study(first) as opened:
            opened.tell(query, answer)  # type: ignore[arg-type]  # refused by `tell` when it is none
            _report(opened, first, as_json, {"query": query, "answer": answer}, sentence)
        return
    with open_client(server) as client:
        given = client.tell(query, answer, annotator)  # type: ignore[arg-type]  # refused by the server
    if as_json:
        print_json({"study": server, "query": query, "answer": answer, "your_answers": given})
    else:
        say(f"{sentence} Answers of this annotator so far: {given}.")


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


def _shown(item: dict[str, Any]) -> dict[str, str]:
    return {kind: value for kind, value in item.items() if kind != "id" and value is not None}


def _preview(name: str, contents: dict[str, dict[str, str]]) -> str:
    shown = next(iter(contents[name].values()), "")
    text = one_line(f"{name}: {shown}" if shown else name)
    return text if len(text) <= PREVIEW else text[: PREVIEW - 1] + "…"
