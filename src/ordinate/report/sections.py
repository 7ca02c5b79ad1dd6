"""The sections of a report, for whoever ordered the items first and for a statistician below."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ordinate import plots
from ordinate.data.embedded_pictures import embedded, is_outside
from ordinate.data.formats import FORMATS
from ordinate.data.html import Html, joined, tag
from ordinate.learning.checks import listed
from ordinate.plots.rank_intervals import chosen_lines
from ordinate.report import figures
from ordinate.report.contents import Contents
from ordinate.study.words import (
    aim_in_words,
    caution,
    count,
    error_in_words,
    forecast_in_words,
    found_in_words,
    next_in_words,
    part_in_words,
    percent,
    span,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ordinate.learning.models.map_estimate import Prior

MOST_ROWS, MOST_LINES = 200, 60
"""Items of the table, and of the caterpillar plot; of more, the first and the last ones of each group."""
_LONGEST = 280
"""Letters of an item's text."""
STATES = {"passed": "✓", "failed": "✕", "not run": "–"}


def drawn(contents: Contents) -> dict[str, Callable[[], Figure]]:
    """The figures by their names; those of what is withheld are not there."""
    verdict = contents.verdict
    made: dict[str, Callable[[], Figure]] = {
        "ranks": lambda: plots.caterpillar(contents.ordering, most=MOST_LINES),
        "calibration": lambda: plots.calibration(verdict.calibration),
        "annotators": lambda: plots.annotators(verdict.annotators),
        "comparisons": lambda: plots.comparisons(contents.ordering, contents.comparisons),
    }
    if verdict.error is not None:
        made["error"] = lambda: plots.expected_error(contents.history, contents.forecast)
    return made


def summary(contents: Contents) -> Html:
    """The verdict and the figures that matter most."""
    verdict, names = contents.verdict, {row.check for row in contents.verdict.failed}
    level, word = "good", "No check failed"
    if verdict.error is None or "enough answers" in names:
        level, word = "bad", "Not yet to be relied on"
    elif names:
        level, word = "care", "To be used with care"
    groups = contents.ordering.group
    items = count(len(contents.ordering), "item") + ("" if groups is None else f" in {len(set(groups)):,} groups")
    facts = {
        "Items": items,
        "Answers": f"{contents.asked:,} by {count(len(verdict.annotators), 'annotator')}",
        "Pairs in the wrong order": _error(contents),
        "Forecast": _forecast(contents),
        **_aim(contents),
    }
    return tag(
        "section",
        tag("p", tag("strong", word), tag("span", verdict.sentence), class_=f"verdict {level}"),
        tag("dl", *(tag("div", tag("dt", name), tag("dd", value)) for name, value in facts.items())),
        class_="summary",
    )


def doubt(contents: Contents) -> str:
    """What stands above ranks that may be due to chance, or less sure than they look; "" where nothing says so."""
    said = caution(contents.reliability.better_than_coins, contents.verdict.withheld)
    return f"{said} " if said else ""


def _error(contents: Contents) -> str:
    error = contents.verdict.error
    if error is None:
        return f"withheld: {contents.verdict.withheld}"
    presumed = ", if people answered sensibly" if contents.reliability.better_than_coins is None else ""
    return error_in_words(error.estimate, (error.low, error.high)) + presumed


def _forecast(contents: Contents) -> str:
    return "withheld" if contents.verdict.error is None else forecast_in_words(contents.forecast)


def _aim(contents: Contents) -> dict[str, str]:
    """What the study was to find, and how much of it is found; nothing where that is the whole order."""
    ordering = contents.ordering
    if ordering.selection is None:
        return {}
    said = aim_in_words(ordering.selection.aim, ordering.group is not None)
    found = found_in_words(ordering.selection, contents.forecast_of_aim)
    candidates = next_in_words(ordering)
    return {"Aim": said, "Found": found} | ({"Next candidates": candidates} if candidates else {})


def order(contents: Contents, folders: Sequence[Path]) -> Html:
    """The table of items, with pictures and texts."""
    ordering, lines = contents.ordering, chosen_lines(contents.ordering, MOST_ROWS)
    shown = sum(line.place is not None for line in lines)
    rows = {item: place for place, item in enumerate(contents.items.ids)}
    ranks = ordering.ranks
    names = ["Rank", "Item", "Likely ranks", "Score"]
    if ordering.selection is not None:
        names.append("Grade by marks" if ordering.selection.measure == "right grade" else "Wanted")
    bodies = [
        _item(contents, line.place, int(ranks[line.place]), rows, folders)
        if line.place is not None
        else tag("tr", tag("th", line.said, colspan=len(names), scope="colgroup"), class_="between")
        for line in lines
    ]
    head = tag("tr", *(tag("th", name, scope="col") for name in names))
    shortened = ""
    if shown < len(ordering):
        of_each = "" if ordering.group is None else " of each group"
        shortened = f" Of {len(ordering):,} items, {shown:,} are shown here: the first and the last ones{of_each}."
    table = base64.b64encode(FORMATS[".csv"].encode(ordering.to_columns())).decode("ascii")
    save = tag(
        "a", "Save the whole order as a table (CSV)", href=f"data:text/csv;base64,{table}", download="ordering.csv"
    )
    if contents.reliability.better_than_coins is False:
        sure = "would be among its likely ranks if people answered sensibly"
    elif contents.verdict.withheld is not None:
        sure = "would be among its likely ranks with a probability of 90 % if all checks held"
    else:
        sure = "is among its likely ranks with a probability of 90 %"
    return section(
        "The order",
        f"{doubt(contents)}The rank is the item’s place by score; its true rank {sure}.{shortened}",
        tag("p", save),
        _left_out(contents, [ordering.ids[line.place] for line in lines if line.place is not None], rows, folders),
        tag("div", tag("table", tag("thead", head), tag("tbody", *bodies), class_="order"), class_="wide", tabindex=0,
            role="region", aria_label="The order"),
    )  # fmt: skip


def _left_out(contents: Contents, shown: Sequence[str], rows: dict[str, int], folders: Sequence[Path]) -> Html:
    """Of which items the pictures are not shown because their files lie elsewhere; nothing where there are none."""
    places = contents.items.content.get("image", [None] * len(rows))
    outside = [item for item in shown if (at := places[rows[item]]) is not None and is_outside(str(at), folders)]
    if not outside:
        return joined()
    return tag(
        "p",
        f"Left out: {count(len(outside), 'picture')} in files outside the study’s folder, of {listed(outside)}. To "
        "show such pictures, make the report with `ordinate report --media FOLDER`.",
        class_="withheld",
    )


def _item(contents: Contents, place: int, rank: int, rows: dict[str, int], folders: Sequence[Path]) -> Html:
    ordering, item = contents.ordering, contents.ordering.ids[place]
    assert ordering.intervals is not None
    intervals = ordering.intervals
    low, high = int(intervals.low[place]), int(intervals.high[place])
    size = max(int(intervals.high.max()), 1)
    bar = Html(
        f'<svg class="bar" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">'
        f'<rect class="rail" width="100" y="3" height="2"/>'
        f'<rect x="{100 * (low - 1) / size:.2f}" width="{max(100 * (high - low + 1) / size, 1):.2f}" height="8"/></svg>'
    )
    return tag(
        "tr",
        tag("td", str(rank), class_="number"),
        tag("td", tag("div", *_content(contents, rows[item], item, folders)), class_="item"),
        tag("td", bar, tag("span", span(low, high)), class_="likely"),
        tag("td", f"{ordering.scores[place]:+z.2f} ± {ordering.standard_errors[place]:.2f}", class_="number"),
        *([] if ordering.selection is None else [tag("td", part_in_words(ordering.selection, place), class_="number")]),
    )


def _content(contents: Contents, row: int, item: str, folders: Sequence[Path]) -> Iterable[Html]:
    content = contents.items.content
    given = {kind: values[row] for kind, values in content.items() if values[row] is not None}
    picture = None if "image" not in given else embedded(str(given["image"]), folders)
    if picture is not None:
        yield tag("img", src=picture, alt="")
    text = None
    if "text" in given:
        words = " ".join(str(given["text"]).split())
        text = tag("span", words if len(words) <= _LONGEST else f"{words[:_LONGEST]}…", class_="text")
    yield tag("div", tag("span", item, class_="id"), text)


def figure(contents: dict[str, Callable[[], Figure]], name: str, description: str) -> Html:
    """A figure in the page, or a sentence where it is withheld."""
    if name not in contents:
        return tag("p", "This figure is withheld: a check failed that it presumes.", class_="withheld")
    return tag(
        "figure", tag("div", figures.inline(contents[name](), name, description), class_="wide", tabindex=0,
        role="region", aria_label=description)
    )  # fmt: skip


def section(title: str, said: str, *inside: Html) -> Html:
    return tag("section", tag("h2", title), tag("p", said), *inside)


def checks(contents: Contents) -> Html:
    """The table of checks."""
    head = tag("tr", *(tag("th", name, scope="col") for name in ("Check", "Result", "Value", "Threshold", "Found")))
    body = [
        tag(
            "tr",
            tag("th", row.check, scope="row"),
            tag(
                "td",
                tag("span", STATES[row.state], aria_hidden="true"),
                f" {row.state}",
                class_=row.state.replace(" ", "-"),
            ),
            tag("td", _number(row.value), class_="number"),
            tag("td", _number(row.threshold), class_="number"),
            tag("td", row.found, " " if row.advice else "", tag("em", row.advice) if row.advice else None),
        )
        for row in contents.verdict.rows
    ]
    return section(
        "Checks of the answers",
        "What each means, its formula and its source are in docs/statistics.md of ordinate. Checks against chance fail "
        "with a probability of about 1 % where nothing is wrong. A passed check is no proof.",
        tag("div", tag("table", tag("thead", head), tag("tbody", *body), class_="checks"), class_="wide", tabindex=0,
            role="region", aria_label="Checks"),
    )  # fmt: skip


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:z.3g}"


def people(contents: Contents) -> Html:
    """The annotators as a table."""
    shown = sorted(contents.verdict.annotators, key=lambda one: -one.answers)
    leans = any(one.prefers for one in shown)
    names = ["Annotator", "Answers", "Surprise", "Pairs that change without"]
    names += ["Of equal items chooses"] if leans else []
    head = tag("tr", *(tag("th", name, scope="col") for name in names))
    body = [
        tag(
            "tr",
            tag("th", one.name or "without a name", scope="row"),
            tag("td", f"{one.answers:,}", class_="number"),
            tag("td", f"{one.surprise:+.1f}" + (" (too much)" if one.surprise > one.limit else ""), class_="number"),
            tag("td", "" if one.influence is None else percent(one.influence), class_="number"),
            tag("td", one.prefers) if leans else None,
        )
        for one in shown[:MOST_ROWS]
    ]
    more = len(shown) - MOST_ROWS
    return joined(
        tag("div", tag("table", tag("thead", head), tag("tbody", *body)), class_="wide", tabindex=0, role="region",
            aria_label="Annotators"),
        tag("p", f"{more:,} more annotators, with fewer answers, are not listed.") if more > 0 else None,
        tag("p", "The order is what is left when preferences for a side or a length are taken out.") if leans else None,
    )  # fmt: skip


def _variances(contents: Contents, prior: Prior) -> str:
    """Of the coefficients, or of those of each block."""
    if not prior.blocks:
        return f"{prior.coefficients:.3g} of coefficients"
    named = zip(contents.items.blocks or (), prior.blocks, strict=True)
    return ", ".join(f"{prior.coefficients * variance:.3g} of those of {block.name}" for block, variance in named)


def made(contents: Contents) -> Html:
    """How the order was made: what somebody needs to make it again."""
    settings, prior = contents.settings, contents.prior
    same, repeated = contents.repeats
    facts = {
        "Question": settings.question,
        "Algorithm": settings.algorithm,
        "Features": count(int(contents.items.features.shape[1]), "column") + f", scaling {settings.scaling}",
        "Likelihood": settings.likelihood or "the algorithm’s own",
        "Prior variances": "the algorithm has none"
        if prior is None
        else f"{_variances(contents, prior)}, {prior.items:.3g} of terms per item"
        + (" (fitted)" if settings.coefficient_variance is None and settings.item_variance is None else " (given)"),
        "Random pairs": f"{100 * contents.rules.random:.0f} % of the questions",
        "Seed": f"{settings.seed}",
        "Answers": f"{contents.asked:,} that count; {contents.skips:,} skipped",
        "First and last answer": "not known: all comparisons were recorded"
        if contents.first is None or contents.last is None
        else f"{_time(contents.first)} and {_time(contents.last)} UTC",
        "Asked twice": f"{repeated:,} pairs, {same:,} with the same answer" if repeated else "no pair",
        "Excluded": ", ".join([*contents.excluded_items[:20], *contents.excluded_annotators[:20]]) or "nothing",
        "Versions": ", ".join(f"{name} {number}" for name, number in contents.versions.items()),
    }
    return section(
        "How it was made",
        "With the study’s file and these versions, the command “ordinate order” gives this order again.",
        tag("dl", *(tag("div", tag("dt", name), tag("dd", value)) for name, value in facts.items()), class_="made"),
    )


def _time(stamp: str) -> str:
    return stamp[:16].replace("T", " ")
