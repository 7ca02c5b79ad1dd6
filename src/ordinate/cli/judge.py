"""`ordinate judge`: a model answers, over a chat endpoint."""

from __future__ import annotations

import json
import os
from contextlib import ExitStack
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from ordinate.cli.media import study_folder
from ordinate.cli.options import AsJson, StudyFileOrLink, is_link, open_client, open_study
from ordinate.cli.screen import count, note, print_json, progress_bar, say
from ordinate.errors import InvalidInput, MissingExtra, naming

if TYPE_CHECKING:
    from ordinate.judges.endpoint import Endpoint
    from ordinate.judges.judging import Tally, Task
    from ordinate.judges.places import InFile, OnServer

_SHORT = 60
"""Characters of a picture that a dry run prints."""


def judge(
    study: StudyFileOrLink,
    *,
    endpoint: Annotated[
        str,
        typer.Option(
            metavar="URL", help="A chat endpoint with OpenAI's protocol: http://localhost:8000/v1.", show_default=False
        ),
    ],
    model: Annotated[str, typer.Option(metavar="NAME", help="The model's name there.", show_default=False)],
    prompt: Annotated[
        str, typer.Option(metavar="FILE", help="A text that says what the model is to look for.", show_default=False)
    ],
    annotator: Annotated[
        str | None,
        typer.Option("--annotator", "-a", metavar="NAME", help="The name to answer under. Default: that of the model."),
    ] = None,
    answers: Annotated[
        int | None,
        typer.Option(
            min=0, metavar="NUMBER", help="Stop when this judge has given so many answers in all.", show_default=False
        ),
    ] = None,
    tokens: Annotated[
        int | None,
        typer.Option(
            min=0, metavar="NUMBER", help="Stop when its replies have taken so many tokens in all.", show_default=False
        ),
    ] = None,
    orders: Annotated[
        Literal["one", "both"],
        typer.Option(
            help="One request per pair, with sides as drawn; or both orders, which must agree, else it is a tie."
        ),
    ] = "one",
    concurrency: Annotated[int, typer.Option(min=1, max=64, help="Pairs that are judged at once.")] = 4,
    parameter: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=VALUE",
            help="Put this into each request: temperature=0, max_tokens=500. May be repeated.",
            show_default=False,
        ),
    ] = None,
    key_variable: Annotated[
        str, typer.Option(metavar="NAME", help="The environment variable that holds the key, if one is needed.")
    ] = "OPENAI_API_KEY",
    timeout: Annotated[float, typer.Option(min=0.1, metavar="SECONDS", help="Time for one reply.")] = 120.0,
    patience: Annotated[
        float, typer.Option(min=0.0, metavar="SECONDS", help="Time for which a request that fails is repeated.")
    ] = 300.0,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print the first request, and send nothing to the endpoint.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Let a model judge pairs, over a chat endpoint of your choice.

    The texts and pictures of each pair, the name of its group, the question and the prompt are sent to the endpoint, of
    an item without a text or picture its id, and nothing else. The key is read from the environment, and neither stored
    nor shown.

    Each answer is stored as it comes. A run that was stopped goes on when it is started again. A reply that holds no
    verdict is counted, never guessed; the log keeps the pair as skipped.

    A model is an annotator with a sharpness of its own, as `ordinate annotators` shows. docs/model-judges.md has an
    example.
    """
    try:
        import httpx  # noqa: F401
    except ModuleNotFoundError as error:
        raise MissingExtra("httpx", "judge", "a model judge") from error
    import asyncio

    from ordinate.judges.endpoint import Endpoint, checked_key, is_unprotected
    from ordinate.judges.judging import Task
    from ordinate.judges.prompt import Prompt
    from ordinate.study.machines import Machine

    text, parameters = Prompt.read(prompt), _parameters(parameter or [])
    with naming(key_variable):
        key = checked_key(given) if (given := os.environ.get(key_variable)) else None
    machine = Machine(model, text.sha256, orders, json.dumps(parameters, sort_keys=True)).checked()
    task = Task(text, machine, annotator or model, concurrency, answers, tokens)
    with ExitStack() as stack:
        place: InFile | OnServer
        if is_link(study):
            from ordinate.judges.places import MOST_AT_ONCE, OnServer

            if concurrency > MOST_AT_ONCE:
                raise InvalidInput(f"a server gives {MOST_AT_ONCE} pairs at once; take --concurrency {MOST_AT_ONCE}")
            place = OnServer(stack.enter_context(open_client(study)))
        else:
            from ordinate.judges.places import InFile

            place = InFile(stack.enter_context(open_study(study)), study_folder(study))
        to = Endpoint(endpoint, model, parameters, key, timeout, patience, key_variable=key_variable)
        if dry_run:
            _show_first(place, to, task, key_variable)
            return
        if key is not None and is_unprotected(to.url):
            note(f"{to.url} is reached without encryption: the key and the items can be read on the way.")
        tally = asyncio.run(_run(place, to, task))
    if as_json:
        print_json({"study": study, "judged": tally.kinds, **_totals(tally)})
        return
    say(f"{_in_words(tally)} Stopped: {tally.ended}.")
    say(f"{task.annotator} has given {count(tally.answers, 'answer')} in all, for {tally.tokens:,} tokens.")


async def _run(place: InFile | OnServer, to: Endpoint, task: Task) -> Tally:
    from ordinate.judges.judging import judge

    with progress_bar() as bar:
        row = bar.add_task("Judging", total=task.answers)

        def told(tally: Tally) -> None:
            done = tally.judged if task.answers is None else tally.answers
            bar.update(row, completed=done, total=task.answers)

        async with to:
            return await judge(place, to, task, told)


def _show_first(place: InFile | OnServer, to: Endpoint, task: Task, key_variable: str) -> None:
    from ordinate.judges.prompt import messages

    pair = place.look(task.annotator)
    body = to.body(messages(task.prompt, pair.question, pair.left(), pair.right(), pair.group, ties=pair.ties))
    headers = to.headers(None if to.key is None else f"(from {key_variable})")
    print_json({"method": "POST", "url": to.url, "headers": headers, "body": _short(body)})


def _short(value: Any) -> Any:
    """Without most of the letters of pictures."""
    if isinstance(value, dict):
        return {name: _short(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [_short(inner) for inner in value]
    if isinstance(value, str) and value.startswith("data:") and len(value) > _SHORT:
        return f"{value[:_SHORT]}... ({len(value):,} characters)"
    return value


def _parameters(given: list[str]) -> dict[str, Any]:
    """Values as JSON where they are, else as texts."""
    found: dict[str, Any] = {}
    for one in given:
        name, equals, value = one.partition("=")
        if not equals or not name.strip():
            raise InvalidInput(f"--parameter takes NAME=VALUE, not {one!r}")
        if name in ("model", "messages", "stream"):
            raise InvalidInput(f"--parameter {name} is set by this command; leave it out")
        try:
            found[name] = json.loads(value)
        except (ValueError, RecursionError):
            found[name] = value
        try:
            json.dumps(found[name], ensure_ascii=False, allow_nan=False).encode()
        except ValueError:
            raise InvalidInput(f"--parameter {name}: JSON has no NaN, no infinite number and no half letter") from None
    return found


def _totals(tally: Tally) -> dict[str, Any]:
    return {"answers": tally.answers, "tokens": tally.tokens, "stopped": tally.ended}


def _in_words(tally: Tally) -> str:
    """ "Judged 12 pairs: 9 decided, 2 tie, 1 unreadable." """
    kinds = ", ".join(f"{number:,} {kind}" for kind, number in sorted(tally.kinds.items()))
    return f"Judged {count(tally.judged, 'pair')}" + (f": {kinds}." if kinds else ".")
