"""`ordinate ask`, `tell`, `withdraw`, `undo`: one step each, for scripts."""

from __future__ import annotations

from shlex import quote
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from ordinate.cli.options import Annotator, AsJson, StudyFile, StudyFileOrLink, is_link, open_client, open_study
from ordinate.cli.screen import one_line, print_json, print_table, say
from ordinate.errors import InvalidInput, NothingToUndo

if TYPE_CHECKING:
    from ordinate.data.comparisons import Query
    from ordinate.data.items import Items
    from ordinate.study.study import Study

QueryId = Annotated[
    str, typer.Argument(metavar="QUERY", help="The id of the query, from `ordinate ask`.", show_default=False)
]
PREVIEW = 60


def ask(
    study: StudyFileOrLink,
    annotator: Annotator = None,
    count: Annotated[int, typer.Option("--count", "-n", min=1, help="Number of open queries to return.")] = 1,
    out: Annotated[
        str | None,
        typer.Option(
            "--out",
            "-o",
            metavar="FILE",
            help="Write the pairs to a table with an empty column winner, to be filled in and imported.",
            show_default=False,
        ),
    ] = None,
    form: Annotated[
        Literal["plain", "label-studio"],
        typer.Option("--format", help="What to write: a table, or tasks to import into Label Studio (.json)."),
    ] = "plain",
    as_json: AsJson = False,
) -> None:
    """Print the next pairs to ask about, or write them for another program.

    A query stays open, and `ask` prints it again, until it is answered, skipped or withdrawn. `ordinate import` closes
    the queries that its table answers.
    """
    if out is not None:
        _write_questions(study, annotator, count, out, form, as_json)
        return
    if form != "plain":
        raise InvalidInput(f"--format {form} is for a file; name one with --out")
    if is_link(study):
        with open_client(study) as client:
            from ordinate.client import as_query

            question, given = client.status(annotator)["question"], client.ask_shown(annotator, count)
            queries = [as_query(one) for one in given]
            contents = {item["id"]: _shown(item) for one in given for item in (one["left"], one["right"])}
    else:
        with open_study(study) as opened:
            queries, question = opened.ask(annotator=annotator, count=count), opened.question
            contents = item_contents(opened.items)
    if as_json:
        print_json(
            {
                "study": study,
                "question": question,
                "queries": [query_json(query, contents) for query in queries],
            }
        )
        return
    from rich.table import Table

    table = Table("query", "left", "right", title=one_line(question), title_justify="left")
    for query in queries:
        table.add_row(query.id, _preview(query.left, contents), _preview(query.right, contents))
    print_table(table)
    say(f"Answer with: ordinate tell {quote(study)} {queries[0].id} left|right|tie|skip")


def _write_questions(
    study: str, annotator: str | None, count: int, out: str, form: Literal["plain", "label-studio"], as_json: bool
) -> None:
    from ordinate.data.comparison_formats.label_studio import CONFIGURATION, tasks
    from ordinate.data.comparison_formats.plain import questions
    from ordinate.data.formats import write_columns

    with open_study(study) as opened:
        # A table cannot say which answer was right, and its answers would count.
        queries = opened.ask(annotator=annotator, count=count, practise=False)
        write = tasks if form == "label-studio" else questions
        write_columns(out, write(queries, opened.items, opened.question))
    if as_json:
        print_json({"study": study, "file": out, "queries": [query.id for query in queries]})
        return
    say(f"Wrote {len(queries)} open queries to {out}.")
    if form == "label-studio":
        say("Import it into a Label Studio project with this labelling interface, and its JSON export with")
        say(f"  ordinate import {quote(study)} EXPORT.json")
        say(CONFIGURATION)
    else:
        say(f"Fill in the column winner (left, right or tie), then: ordinate import {quote(study)} {quote(out)}")


def tell(
    study: StudyFileOrLink,
    query: QueryId,
    answer: Annotated[
        str,
        typer.Argument(
            metavar="ANSWER",
            help="left, right, tie or skip; left-much, left-slightly, right-slightly, right-much; both-bad. Or, of a "
            "study in a file, the id of the item that won.",
            show_default=False,
        ),
    ],
    annotator: Annotated[
        str | None,
        typer.Option("--annotator", "-a", metavar="NAME", help="Who answers; with a link that several people share."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Answer a query. The answer is on disk when the command returns."""
    sentence = f"Stored: {answer} for {query}."
    if not is_link(study):
        with open_study(study) as opened:
            opened.require_person(query)
            opened.tell(query, answer)
            _report(opened, study, as_json, {"query": query, "answer": answer}, sentence)
        return
    from ordinate.data.comparisons import ANSWERS

    side = next((one for one in ANSWERS if one == answer), None)
    if side is None:
        raise InvalidInput(f"unknown answer {answer!r}; it is {', '.join(ANSWERS)}")
    with open_client(study) as client:
        given = client.tell(query, side, annotator)
    if as_json:
        print_json({"study": study, "query": query, "answer": answer, "your_answers": given})
    else:
        say(f"{sentence} Answers of this annotator so far: {given}.")


def withdraw(study: StudyFile, query: QueryId, as_json: AsJson = False) -> None:
    """Withdraw an open query. Its pair may be asked again."""
    with open_study(study) as opened:
        opened.withdraw(query)
        _report(opened, study, as_json, {"query": query}, f"Withdrawn: {query}.")


def undo(study: StudyFile, annotator: Annotator = None, as_json: AsJson = False) -> None:
    """Take back the newest answer of an annotator. Its query is open again.

    Imported comparisons are no answers to a query, so they cannot be taken back.
    """
    with open_study(study) as opened:
        try:
            query = opened.take_back(annotator)[0].query
        except NothingToUndo as error:
            raise NothingToUndo(_why_not(opened, study, annotator, error)) from None
        _report(
            opened,
            study,
            as_json,
            {"reopened": query_json(query, item_contents(opened.items))},
            f"Answer taken back. Open again: {query.id} ({query.left} or {query.right}).",
        )


def _why_not(study: Study, address: str, annotator: str | None, error: NothingToUndo) -> str:
    """Why there is nothing to take back: all was imported, or the answers are of others; and what to do."""
    name = study.name_of(annotator)
    whose = "without a name" if name is None else f"of {name!r}"
    if name in study.annotators():
        advice = "To be without them, make the study again, and import only what is right"
        if name is not None:
            advice += (
                f"; or leave all of {name!r} out with: ordinate exclude {quote(address)} --annotator {quote(name)}"
            )
        return (
            f"all comparisons {whose} were imported, and `ordinate undo` takes back answers to queries alone. {advice}"
        )
    given = dict.fromkeys(entry.annotator for entry in study.answered())
    others = [repr(one) if one else "nobody named" for one in given if one != name]
    return f"{error}; there are answers of {', '.join(others[:5])}" if others else str(error)


def _report(study: Study, address: str, as_json: bool, values: dict[str, Any], sentence: str) -> None:
    answers = len(study.comparisons())
    if as_json:
        print_json({"study": address, **values, "comparisons": answers})
    else:
        say(f"{sentence} Comparisons so far: {answers}.")


def item_contents(items: Items) -> dict[str, dict[str, str]]:
    """Item id -> kind of content -> content."""
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
