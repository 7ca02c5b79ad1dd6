"""`ordinate status`: where a study stands."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ordinate.cli.answering import item_contents, query_json
from ordinate.cli.exclusion import include_command
from ordinate.cli.options import AsJson, StudyFile, open_study
from ordinate.cli.screen import (
    connection_in_words,
    console,
    count,
    forecast_in_words,
    listed,
    one_line,
    percent,
    print_json,
    reliability_in_words,
    say,
)
from ordinate.errors import InvalidInput
from ordinate.study.words import STAGES, aim_in_words, found_in_words

if TYPE_CHECKING:
    from ordinate.data.comparisons import Query
    from ordinate.data.ordering import Selection
    from ordinate.learning.consistency import Consistency
    from ordinate.learning.forecast import Forecast
    from ordinate.storage import Settings
    from ordinate.study.rules import Rules

OPEN_SHOWN = 4


def status(
    study: StudyFile,
    target: Annotated[
        float | None,
        typer.Option(
            metavar="ERROR",
            help="Forecast the answers until this expected error, e.g. 0.1; default: the study's rule, or the next "
            "round figure.",
            show_default=False,
        ),
    ] = None,
    recall: Annotated[
        float | None,
        typer.Option(
            metavar="SHARE",
            help="Forecast the answers until this share of the wanted items is expected to be found, e.g. 0.9; "
            "default: the next round figure.",
            show_default=False,
        ),
    ] = None,
    consistency: Annotated[
        bool, typer.Option("--consistency", help="Also say how consistent the answers are, which takes longer.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Show where a study stands: answers, annotators, expected error, forecast, what is open."""
    with open_study(study) as opened:
        items, settings = opened.items, opened.settings
        groups = 1 if items.group is None else len(set(items.group))
        answers = len(opened.comparisons())
        annotators = opened.annotators()
        waiting = opened.open_queries()
        reliability, forecast = opened.reliability(), opened.forecast(target)
        connection = opened.connection()
        selection, of_aim = opened.selection(), opened.forecast_of_aim(recall)
        if recall is not None and selection is None:
            raise InvalidInput("--recall goes with an aim, and this study is about the whole order; see: ordinate aim")
        consistent = opened.consistency() if consistency and answers else None
        if as_json:
            contents = item_contents(items)
            print_json(
                {
                    "study": study,
                    "question": opened.question,
                    "algorithm": settings.algorithm,
                    "state": opened.stage,
                    "seed": settings.seed,
                    "coefficient_variance": settings.coefficient_variance,
                    "item_variance": settings.item_variance,
                    "likelihood": settings.likelihood,
                    "rules": asdict(opened.rules),
                    "items": len(items) - len(opened.excluded_items),
                    "features": int(items.features.shape[1]),
                    "groups": groups,
                    "comparisons": answers,
                    **reliability.fields(),
                    "unconnected_items": 0 if connection is None else int(connection[0].value or 0),
                    "forecast": forecast.fields(),
                    **({} if selection is None or of_aim is None else {"found": _found(selection, of_aim)}),
                    **({} if consistent is None else {"consistency": _fields(consistent)}),
                    "annotators": [{"name": name, "answers": given} for name, given in annotators.items()],
                    "open": [query_json(query, contents) for query in waiting],
                    "excluded_items": list(opened.excluded_items),
                    "excluded_annotators": list(opened.excluded_annotators),
                }
            )
            return
        features = items.features.shape[1]
        named = "" if items.feature_names is None else f" ({listed(items.feature_names)})"
        if items.blocks is not None:
            named = f" in {count(len(items.blocks), 'block')}: {', '.join(map(str, items.blocks))}"
        inside = f" in {groups:,} groups" if items.group is not None else ""
        known = f"{count(features, 'feature column')}{named}" if features else "no features"
        excluded = opened.excluded_items
        aside = f"; {len(excluded):,} more excluded" if excluded else ""
        rows = {
            "question": opened.question,
            "state": STAGES[opened.stage],
            "items": f"{len(items) - len(excluded):,}{inside}, {known}{aside}",
            "algorithm": settings.algorithm,
            "comparisons": f"{answers:,}",
            "annotators": listed([f"{name or 'unnamed'}: {given:,}" for name, given in annotators.items()])
            or "none yet",
            "expected error": reliability_in_words(reliability, answers),
            "connection": "no answers" if connection is None else connection_in_words(connection),
            "forecast": forecast_in_words(forecast),
            **({} if selection is None else {"aim": aim_in_words(selection.aim, items.group is not None)}),
            **({} if selection is None else {"found": found_in_words(selection, of_aim)}),
            "open": _open(waiting),
            "drawn at random": f"{100 * opened.rules.random:g} % of the questions",
            **_prior_in_words(settings),
            **_goals_in_words(opened.rules),
        }
        if consistent is not None:
            rows |= _consistency_in_words(consistent)
        if excluded:
            rows["excluded items"] = listed(excluded)
        if opened.excluded_annotators:
            rows["excluded annotators"] = listed(opened.excluded_annotators)
        if back := include_command(opened, study):
            rows["take back in"] = back
        _show(rows)


def _show(rows: Mapping[str, str]) -> None:
    """The rows as a table, or as lines where they go to no terminal."""
    width = max(map(len, rows)) + 2
    if not sys.stdout.isatty():
        for name, value in rows.items():
            say(f"{name:<{width}}{one_line(value)}")
        return
    from rich.table import Table

    table = Table(show_header=False, box=None, padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in rows.items():
        table.add_row(name, one_line(value))
    console().print(table)


def _found(selection: Selection, forecast: Forecast) -> dict[str, Any]:
    """For scripts. The forecast's target is a recall, not an error."""
    return selection.fields() | {"forecast": forecast.fields() | {"target": 1.0 - forecast.target}}


def _prior_in_words(settings: Settings) -> dict[str, str]:
    """How the scores are learned, where the algorithm has a prior and a likelihood to choose."""
    if settings.likelihood is None:
        return {}
    given = {"features": settings.coefficient_variance, "items": settings.item_variance}
    variances = ", ".join(f"{value:g} ({name})" for name, value in given.items() if value is not None)
    return {"prior variances": variances or "fitted to the answers", "likelihood": settings.likelihood}


def _goals_in_words(rules: Rules) -> dict[str, str]:
    """The rules by which the study is finished, as far as they are set."""
    goals = {
        "answers in all": None if rules.budget is None else f"{rules.budget:,}",
        "target": None if rules.target is None else f"{100 * rules.target:g} % of pairs in the wrong order",
        "grades": f"cut after the ranks {', '.join(map(str, rules.cuts))}" if rules.cuts else None,
        "misplaced": None if rules.misplaced is None else f"{100 * rules.misplaced:g} % of items in the wrong grade",
    }
    return {name: value for name, value in goals.items() if value}


def _fields(consistent: Consistency) -> dict[str, float | None]:
    """For scripts: the interval as fields of their own."""
    share, low, high = consistent.held_out or (None, None, None)
    return consistent._asdict() | {"held_out": share, "held_out_low": low, "held_out_high": high}


def _consistency_in_words(consistent: Consistency) -> dict[str, str]:
    share, half = consistent.held_out, consistent.split_half
    predicted = "none in the later half of the answers"
    if share is not None:
        interval = f"{100 * share.low:.0f} to {100 * share.high:.0f} %"
        answers = count(consistent.held_out_answers, "answer")
        predicted = f"{percent(share.estimate)} of {answers} were predicted by the answers before them ({interval})"
    return {
        "random pairs": predicted,
        "halves of annotators": "unknown: it takes two annotators, three items, and answers that tell items apart"
        if half is None
        else f"their scores correlate by {half:z.2f}",
        "separation": f"{consistent.separation:.2f}; of coin tosses for the same pairs "
        f"{consistent.separation_of_coins:.2f}",
    }


def _open(waiting: list[Query]) -> str:
    """The oldest open queries, and how many more there are: a study that is served has several for each annotator."""
    shown = [
        f"{query.id} ({query.left} or {query.right}{f', {query.annotator}' if query.annotator else ''})"
        for query in waiting[:OPEN_SHOWN]
    ]
    more = len(waiting) - len(shown)
    return ", ".join(shown) + (f", and {more:,} more (all of them: --json)" if more else "") if shown else "nothing"
