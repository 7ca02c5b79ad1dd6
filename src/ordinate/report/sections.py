"""The sections of a report, for whoever ordered the items first and for a statistician below."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from ordinate import plots
from ordinate.data.formats import FORMATS
from ordinate.data.html import Html, tag
from ordinate.plots.rank_intervals import chosen_lines
from ordinate.report import figures
from ordinate.report.contents import Contents
from ordinate.report.pictures import Pictures
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
    share_in_words,
    span,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ordinate.data.ordering import Interval
    from ordinate.learning.models.map_estimate import Prior
    from ordinate.study.annotator_quality import Annotator

MOST_ROWS, MOST_LINES = 200, 60
"""Items of the table, and of the caterpillar plot; of more, the first and the last ones of each group."""
_LONGEST = 280
"""Letters of an item's text."""
_AGREEMENT = {
    "Agrees with others": "with_others",
    "Agrees with themselves": "with_themselves",
    "Agrees with people": "with_people",
}
"""The columns of agreement; the last is of models."""
_AGREEMENT_MEANS = (
    "Agreement has intervals of 90 %. With others, it is the share of other people’s answers to the same pairs that "
    "were the same; with themselves, the share of pairs answered again that got the same answer. “Too few” stands "
    "where the interval is more than half as wide as from 0 to 100 %."
)
STATES = {"passed": "✓", "failed": "✕", "not run": "–"}


def drawn(contents: Contents) -> dict[str, Callable[[], Figure]]:
    """The figures by their names; those of what is withheld, or of what there is nothing to draw, are not there."""
    verdict = contents.verdict
    made: dict[str, Callable[[], Figure]] = {
        "ranks": lambda: plots.caterpillar(contents.ordering, most=MOST_LINES),
        "annotators": lambda: plots.annotators(verdict.annotators),
        "comparisons": lambda: plots.comparisons(contents.ordering, contents.comparisons),
    }
    if verdict.calibration:
        made["calibration"] = lambda: plots.calibration(verdict.calibration)
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
        "Answers": f"{len(contents.comparisons):,} by {count(len(verdict.annotators), 'annotator')}",
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


def places_of_pictures(contents: Contents) -> dict[str, str]:
    """Item -> the place of its picture, of the items that the report shows."""
    images = contents.items.content.get("image")
    if images is None:
        return {}
    of = dict(zip(contents.items.ids, images, strict=True))
    lines = chosen_lines(contents.ordering, MOST_ROWS)
    shown = [contents.ordering.ids[line.place] for line in lines if line.place is not None]
    return {item: str(place) for item in shown if (place := of[item]) is not None}


def order(contents: Contents, pictures: Pictures) -> Html:
    """The table of items, with pictures and texts."""
    ordering, lines = contents.ordering, chosen_lines(contents.ordering, MOST_ROWS)
    shown = sum(line.place is not None for line in lines)
    rows = {item: place for place, item in enumerate(contents.items.ids)}
    ranks = ordering.ranks
    names = ["Rank", "Item", "Likely ranks", "Score"]
    if ordering.selection is not None:
        names.append("Grade by marks" if ordering.selection.measure == "right grade" else "Wanted")
    bodies = [
        _item(contents, line.place, int(ranks[line.place]), rows, pictures)
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
        *(tag("p", said, class_="withheld") for said in pictures.left_out),
        tag("div", tag("table", tag("thead", head), tag("tbody", *bodies), class_="order"), class_="wide", tabindex=0,
            role="region", aria_label="The order"),
    )  # fmt: skip


def _item(contents: Contents, place: int, rank: int, rows: dict[str, int], pictures: Pictures) -> Html:
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
        tag("td", tag("div", *_content(contents, rows[item], item, pictures)), class_="item"),
        tag("td", bar, tag("span", span(low, high)), class_="likely"),
        tag("td", f"{ordering.scores[place]:+z.2f} ± {ordering.standard_errors[place]:.2f}", class_="number"),
        *([] if ordering.selection is None else [tag("td", part_in_words(ordering.selection, place), class_="number")]),
    )


def _content(contents: Contents, row: int, item: str, pictures: Pictures) -> Iterable[Html]:
    if item in pictures.of:
        yield tag("img", src=pictures.of[item], alt="")
    text = None
    given = contents.items.content.get("text")
    if given is not None and given[row] is not None:
        words = " ".join(str(given[row]).split())
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


def predictions(contents: Contents, drawn: dict[str, Callable[[], Figure]]) -> Html:
    """Whether answers about random pairs were as predicted, where there are some that could be."""
    title = "Do predictions hold?"
    if not contents.verdict.calibration:
        found = "there are too few" if contents.sources.random else "there are none"
        return section(title, f"This is seen from answers about pairs that were drawn at random, of which {found}.")
    return section(
        title,
        "Some pairs were drawn at random. How they would be answered was predicted from the answers before. Where "
        "predictions hold, the points are near the dashed line.",
        figure(drawn, "calibration", "Share of answers by their predicted chance"),
    )


def sources_in_words(contents: Contents) -> str:
    """Where the compared pairs are from."""
    total, (chosen, random, again, imported) = len(contents.comparisons), contents.sources
    if imported == total:
        return "All comparisons were imported"
    parts = [
        f"{number:,} {said}"
        for number, said in (
            (chosen, f"about pairs that {contents.settings.algorithm} chose, mostly of items close in rank"),
            (random, "about pairs drawn at random"),
            (again, "about pairs asked again"),
            (imported, "imported"),
        )
        if number
    ]
    return f"Of {count(total, 'answer')}, these are {', '.join(parts)}"


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


def people(contents: Contents) -> Iterable[Html]:
    """The annotators as a table, and what its columns mean."""
    shown = sorted(contents.verdict.annotators, key=lambda one: -one.answers)
    agreement = {one.name: one for one in contents.quality.people}
    shares = {
        title: field
        for title, field in _AGREEMENT.items()
        if any(getattr(one, field) is not None for one in agreement.values())
    }
    leans = any(one.prefers for one in shown)
    names = ["Annotator", "Answers", *shares, "Surprise", "Pairs that change without"]
    names += ["Of equal items chooses"] if leans else []
    head = tag("tr", *(tag("th", name, scope="col") for name in names))
    body = [
        tag(
            "tr",
            tag("th", one.name or "without a name", scope="row"),
            tag("td", f"{one.answers:,}", class_="number"),
            *(tag("td", _share(agreement.get(one.name), field), class_="number") for field in shares.values()),
            tag("td", f"{one.surprise:+.1f}" + (" (too much)" if one.surprise > one.limit else ""), class_="number"),
            tag("td", "" if one.influence is None else percent(one.influence), class_="number"),
            tag("td", one.prefers) if leans else None,
        )
        for one in shown[:MOST_ROWS]
    ]
    more = len(shown) - MOST_ROWS
    yield tag(
        "div", tag("table", tag("thead", head), tag("tbody", *body)), class_="wide", tabindex=0, role="region",
        aria_label="Annotators",
    )  # fmt: skip
    if more > 0:
        yield tag("p", f"{more:,} more annotators, with fewer answers, are not listed.")
    yield tag(
        "p", _AGREEMENT_MEANS if shares else "No pair was answered twice, so how far annotators agree is not known."
    )
    if leans:
        yield tag("p", "The order is what is left when preferences for a side or a length are taken out.")


def _share(one: Annotator | None, field: str) -> str:
    share: Interval | None = getattr(one, field, None)
    if share is None:
        return ""
    return f"{share_in_words(*share)} ({100 * share.low:.0f} to {100 * share.high:.0f} %)"


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
        "Question": contents.question,
        **({} if contents.question == settings.question else {"Asked first": settings.question}),
        "Algorithm": settings.algorithm,
        "Features": count(int(contents.items.features.shape[1]), "column") + f", scaling {settings.scaling}",
        "Likelihood": settings.likelihood or "the algorithm’s own",
        "Prior variances": "the algorithm has none"
        if prior is None
        else f"{_variances(contents, prior)}, {prior.items:.3g} of terms per item"
        + (" (fitted)" if settings.coefficient_variance is None and settings.item_variance is None else " (given)"),
        "Pairs": sources_in_words(contents),
        "Random pairs": "no question was asked"
        if contents.sources.imported == len(contents.comparisons)
        else f"{100 * contents.rules.random:.0f} % of the questions",
        "Seed": f"{settings.seed}",
        "Answers": f"{len(contents.comparisons):,} that count; {contents.skips:,} skipped",
        "First and last answer": "not known: all comparisons were imported"
        if contents.first is None or contents.last is None
        else f"{_time(contents.first)} and {_time(contents.last)} UTC",
        "Asked again on purpose": f"{count(repeated, 'pair')}, {same:,} with the same answer"
        if repeated
        else "no pair",
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
