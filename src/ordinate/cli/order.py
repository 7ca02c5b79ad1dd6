"""`ordinate order`: the result, of the study's items or of items that nobody has compared."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from math import isnan
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from ordinate.cli.answering import item_contents
from ordinate.cli.create import is_table_of_comparisons, read_items_like, study_of_comparisons
from ordinate.cli.exclusion import include_command
from ordinate.cli.options import (
    AsJson,
    ReadingOptions,
    TableOptions,
    is_link,
    open_client,
    open_study,
    split_names,
    take_passwords,
)
from ordinate.cli.screen import (
    connection_in_words,
    count,
    grade_in_words,
    note,
    one_line,
    percent,
    print_json,
    print_table,
    reliability_in_words,
    say,
)
from ordinate.errors import InvalidInput
from ordinate.study.words import aim_in_words, caution, found_in_words, next_in_words, part_in_words

if TYPE_CHECKING:
    from ordinate.data.items import Items
    from ordinate.data.ordering import Ordering
    from ordinate.learning.forecast import Forecast
    from ordinate.study.leaderboard import Leaderboard
    from ordinate.study.study import Study

PREVIEW = 60


def order(
    study: Annotated[
        str,
        typer.Argument(
            metavar="STUDY.db|LINK|FILE",
            help="The file of the study, its address in PostgreSQL, a link of a server, or a table of comparisons.",
            show_default=False,
            callback=take_passwords,
        ),
    ],
    *,
    out: Annotated[
        str | None,
        typer.Option(
            "--out",
            "-o",
            metavar="FILE",
            help="Write the ordering to .csv, .tsv, .json, .jsonl, .parquet or .xlsx.",
            show_default=False,
        ),
    ] = None,
    items: Annotated[
        str | None,
        typer.Option(
            "--items",
            metavar="FILE",
            help="Order the items of this table instead, by their features. With a table of comparisons: the items "
            "that are compared, with their features.",
            show_default=False,
        ),
    ] = None,
    table: TableOptions,
    cuts: Annotated[
        str | None,
        typer.Option(
            metavar="RANKS",
            help="Put items in grades that end at these ranks, and say how sure that is: 10 for the ten best, 25,50,75 "
            "for four grades of 100 items. Default: the study's rule.",
            show_default=False,
        ),
    ] = None,
    annotators: Annotated[
        str | None,
        typer.Option(
            metavar="NAMES",
            help="Count the answers of these annotators alone: ann,bob; or those of all people, or all models.",
            show_default=False,
        ),
    ] = None,
    trust: Annotated[
        float | None,
        typer.Option(
            min=0.0,
            max=1.0,
            metavar="SHARE",
            help="Leave out models that agree with people on fewer of the pairs that both judged, such as 0.7.",
            show_default=False,
        ),
    ] = None,
    by: Annotated[
        Literal["model"] | None,
        typer.Option(
            help="Order the models that made the items instead, by the column model of the items' table.",
            show_default=False,
        ),
    ] = None,
    reading: ReadingOptions,
    as_json: AsJson = False,
) -> None:
    """Show the ordering that follows from all answers, highest first. Without answers there is none.

    A table of comparisons is enough: `ordinate order battles.csv` orders the items in it, and stores nothing.

    A score is a difference to the mean of the study's items, in units in which one point means odds of about 2.7 to
    1 in a comparison. The standard error says how sure the score is.

    Rank "4 (2 to 7)" says that the item is fourth by its score, and that its true rank is from 2 to 7 with 90 %
    probability. Items of another table are also given the ranks that they would have among the study's items. The file
    of --out says in addition which neighbours in the order cannot be told apart (rank_tied_low, rank_tied_high).

    With `--by model` there is one score per model, with errors that are clustered by the items' group: by the prompt
    that they answer. docs/model-judges.md has an example.

    Where the study has an aim (`ordinate aim`), the table says which items are wanted, each with the probability that
    it is.
    """
    ends = _ranks(cuts)
    if is_link(study):
        if annotators is not None or by is not None or trust is not None:
            raise InvalidInput("--annotators, --trust and --by need the file of a study")
        if (table, reading) != (TableOptions(), ReadingOptions()):
            raise InvalidInput("a server orders its own items: leave out what says how to read tables")
        _order_served(study, out, items, ends, as_json)
        return
    with _opened(study, items, table, reading) as (opened, given):
        if annotators is not None:
            if trust is not None:
                raise InvalidInput("--annotators says whose answers count, so leave --trust out")
            opened = _only(opened, annotators)
        elif trust is not None:
            opened = _trusted(opened, trust)
        contents = item_contents(given or opened.items)
        known, groups = set(opened.items.ids), set(opened.items.group or ())
        answers = len(opened.comparisons())
        if not answers:
            advice = (
                f"Answer with ordinate annotate {quote(study)}, or in the browser with ordinate serve {quote(study)}."
            )
            asked = {opened.name_of(name) for name in split_names(annotators)}
            if back := include_command(opened, study, asked):
                advice = f"Take what is excluded back in, for instance with {back}"
            _say_no_answers(study, out, as_json, f" {advice}")
            return
        if by is not None:
            if given is not None or ends is not None:
                raise InvalidInput("--by orders models; leave --items and --cuts out")
            _show_leaderboard(opened.leaderboard(by), study, by, out, as_json)
            return
        blind = given is not None and not opened.items.features.size and not known.issuperset(given.ids)
        ordering = opened.ordering(given, cuts=ends)
        known_of_study = opened.reliability()
        # Asked for new items, the error between the study's own would be beside the point.
        reliability = known_of_study if given is None else None
        connection = opened.connection() if given is None else None
        forecast = opened.forecast_of_aim() if given is None else None
    if out is not None:
        ordering.save(out)
    if as_json:
        known_of_it = {} if reliability is None else reliability.fields()
        summary = {"study": study, "comparisons": answers, "expected_error": None, **known_of_it, "file": out}
        grades = {} if ordering.grades is None else {"grades": ordering.grades.rows()}
        chosen = {} if ordering.selection is None else {"selection": ordering.selection.fields()}
        print_json({**summary, **grades, **chosen, "items": _rows(ordering)})
        return
    if doubt := caution(known_of_study.better_than_coins, known_of_study.withheld):
        say(doubt)
    if out is not None:
        say(f"Wrote {count(len(ordering), 'item')} in order to {out}.")
    else:
        _show(ordering, contents)
    if ordering.grades is not None:
        for grade in ordering.grades.rows():
            say(grade_in_words(grade))
        if ordering.grades.withheld is not None:
            say(f"How many items belong in another grade is not known: {ordering.grades.withheld}.")
    _say_aim(ordering, forecast)
    if given is not None and (unknown := [name for name in dict.fromkeys(given.group or ()) if name not in groups]):
        rest = "" if len(unknown) == 1 else f" and {count(len(unknown) - 1, 'other')}"
        say(f"The study has no group {unknown[0]!r}{rest}; the ranks of such items are among the given ones alone.")
    if blind:
        say("The study has no features, so items that nobody compared cannot be told apart: their places mean nothing.")
    if reliability is None:
        say(f"From {count(answers, 'comparison')}.")
    else:
        say(f"From {count(answers, 'comparison')}. Expected error {reliability_in_words(reliability, answers)}.")
    if connection is not None and any(one.state == "failed" for one in connection):
        say(connection_in_words(connection))


def _only(study: Study, given: str) -> Study:
    """With the answers of these annotators alone; the words people and models stand for all of a kind."""
    known, machines = study.annotators(), study.machines
    kinds: dict[str, list[str | None]] = {
        "people": [name for name in known if name not in machines],
        "models": [name for name in known if name in machines],
    }
    names = kinds.get(given)
    if names == []:
        raise InvalidInput(f"there are no answers of {given} yet")
    return study.only(names or split_names(given))


def _trusted(study: Study, bound: float) -> Study:
    """Without the models that agree with people too rarely; says of each whether it counts."""
    kept: list[str | None] = list(study.annotators())
    if not study.machines:
        note(
            "No annotator is known to be a model, so --trust leaves nobody out. Say which are when the comparisons are "
            "read: --models NAMES."
        )
    for name, found in study.agreement_of_models().items():
        if name not in kept:  # it has no answers that could count
            continue
        if found.share is None:
            note(f"{name}: no pair was judged by people too, so it counts unchecked.")
            continue
        left_out = found.is_below(bound)
        share = f"{percent(found.share.estimate)} ({100 * found.share.low:.0f} to {100 * found.share.high:.0f} %)"
        note(
            f"{name}: agrees with people on {share} of {count(found.pairs, 'pair')}, so it "
            f"{'is left out' if left_out else 'counts'}."
        )
        if left_out:
            kept.remove(name)
    return study.only(kept) if kept else study


def _show_leaderboard(found: Leaderboard, study: str, by: str, out: str | None, as_json: bool) -> None:
    from rich.table import Table

    from ordinate.data.ordering import rank_in_words

    columns = found.to_columns()
    if out is not None:
        from ordinate.data.formats import write_columns

        write_columns(out, columns)
    rows = [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]
    if as_json:
        known = {"study": study, "by": by, "comparisons": found.compared, "prompts": found.prompts, "file": out}
        print_json({**known, "unbounded": found.unbounded, "few_prompts": found.few_prompts, "items": rows})
        return
    if out is not None:
        say(f"Wrote {count(len(rows), 'row')} to {out}.")
    else:
        table = Table()
        table.add_column("rank (likely)", justify="right")
        table.add_column(by)
        for title in ("score", "standard error", "answers", "won"):
            table.add_column(title, justify="right")
        for row in rows:
            table.add_row(
                rank_in_words(row["rank"], row["rank_low"], row["rank_high"]),
                one_line(row["id"]),
                f"{row['score']:z.2f}",
                "not known" if isnan(row["standard_error"]) else f"{row['standard_error']:.2f}",
                f"{row['answers']:,}",
                f"{100 * row['share']:.1f} %",
            )
        print_table(table)
    by_what = "each answer on its own" if found.prompts is None else f"clustered by {count(found.prompts, 'group')}"
    say(f"From {count(found.compared, 'comparison')} of items whose {by} differs. Errors are {by_what}.")
    if never := found.unbounded:
        say(
            one_line(
                f"{', '.join(never)}: won, or lost, all comparisons with the others, so how far from them, with what "
                "error, and at which rank is not known."
            )
        )
    if few := found.few_prompts:
        what = "answers" if found.prompts is None else "groups"
        say(
            one_line(
                f"{', '.join(few)}: compared in fewer than three {what}, or in one or two almost alone, so with what "
                "error, and at which rank is not known."
            )
        )


@contextmanager
def _opened(
    address: str, items: str | None, table: TableOptions, reading: ReadingOptions
) -> Iterator[tuple[Study, Items | None]]:
    """The study, and the items to order where these are not its own; of a table of comparisons, one in memory."""
    from ordinate.data.items import read_item_columns

    if is_table_of_comparisons(address):
        with study_of_comparisons(address, items, table, reading) as made:
            yield made, None
        return
    reading.refuse_without()
    if items is None:
        table.refuse_without()
    with open_study(address) as opened:
        yield opened, None if items is None else read_items_like(opened, read_item_columns(items), items, table)


def _say_aim(ordering: Ordering, forecast: Forecast | None) -> None:
    if ordering.selection is None:
        return
    aim = aim_in_words(ordering.selection.aim, ordering.group is not None)
    say(one_line(f"Aim: {aim}; {found_in_words(ordering.selection, forecast)}."))
    if candidates := next_in_words(ordering):
        say(one_line(f"Next candidates: {candidates}."))


def _ranks(cuts: str | None) -> list[int] | None:
    """The numbers in "10,50"; the study checks that they are ranks."""
    if cuts is None:
        return None
    try:
        return [int(one) for one in split_names(cuts)]
    except ValueError:
        raise InvalidInput(f"--cuts are ranks such as 10,50, not {cuts!r}") from None


def _order_served(link: str, out: str | None, items: str | None, cuts: list[int] | None, as_json: bool) -> None:
    if items is not None:
        raise InvalidInput("--items orders items by a study in a file; add them to the server's study instead")
    if cuts is not None:
        raise InvalidInput("a server grades items by the study's rule; set the rule cuts instead of --cuts")
    with open_client(link) as client:
        status = client.status()
        rows = client.ordering() if status["answers"] else []
        found = client.selection() if rows else None
    if not rows:
        _say_no_answers(link, out, as_json, "")
        return
    import numpy as np

    from ordinate.data.ordering import Interval, Ordering, RankIntervals, Selection

    def column(name: str) -> Any:
        return np.array([getattr(row, name) for row in rows])

    selection = None
    if found is not None:
        shares = (found["expected"], found["expected_low"], found["expected_high"])
        right = None if found["withheld"] else Interval(*shares)
        parts = column("part"), column("membership")
        selection = Selection(tuple(found["aim"]), found["measure"], *parts, right, found["withheld"])
    ordering = Ordering(
        ids=tuple(row.id for row in rows),
        scores=column("score"),
        standard_errors=column("standard_error"),
        group=tuple(str(row.group) for row in rows) if any(row.group is not None for row in rows) else None,
        intervals=RankIntervals(*(column(f"rank_{name}") for name in RankIntervals._fields)),
        selection=selection,
    )
    if out is not None:
        ordering.save(out)
    if as_json:
        known = {name: status.get(name) for name in ("expected_error", "withheld")}
        summary = {"study": link, "comparisons": status["answers"], **known}
        print_json({**summary, "file": out, "items": _rows(ordering)})
        return
    if doubt := caution(status["better_than_coins"], status["withheld"]):
        say(doubt)
    if out is None:
        _show(ordering, {})
    _say_aim(ordering, None)
    say(f"From {count(status['answers'], 'comparison')}." + ("" if out is None else f" Wrote {out}."))


def _say_no_answers(study: str, out: str | None, as_json: bool, advice: str) -> None:
    if out is not None:
        raise InvalidInput(f"{study} has no answers that count yet, so there is no order to write to {out}")
    if as_json:
        print_json({"study": study, "comparisons": 0, "expected_error": None, "file": None, "items": []})
    else:
        say(f"No answers count yet, so there is no order: all places would be by chance.{advice}")


def _rows(ordering: Ordering) -> list[dict[str, Any]]:
    columns = ordering.to_columns()
    return [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]


def _show(ordering: Ordering, contents: dict[str, dict[str, str]]) -> None:
    from rich.table import Table

    from ordinate.data.ordering import rank_in_words

    grouped = ordering.group is not None
    kinds = list(dict.fromkeys(kind for shown in contents.values() for kind in shown))
    table = Table()
    if grouped:
        table.add_column("group")
    intervals = ordering.intervals
    table.add_column("rank" if intervals is None else "rank (likely)", justify="right")
    table.add_column("id", overflow="fold")
    table.add_column("score", justify="right")
    table.add_column("standard error", justify="right")
    if ordering.grades is not None:
        table.add_column("grade", justify="right")
    if ordering.selection is not None:
        table.add_column("grade by marks" if ordering.selection.measure == "right grade" else "wanted", justify="right")
    if ordering.study_ranks is not None:
        table.add_column("rank in the study (likely)", justify="right")
    if kinds:
        table.add_column(kinds[0], no_wrap=True, overflow="ellipsis", max_width=PREVIEW)
    previous: str | None = None
    for place, row in enumerate(_rows(ordering)):
        if grouped and previous not in (None, row["group"]):
            table.add_section()
        previous = row.get("group")
        rank = str(row["rank"])
        if intervals is not None:
            rank = rank_in_words(row["rank"], row["rank_low"], row["rank_high"])
        cells = [rank, one_line(row["id"]), f"{row['score']:z.2f}", f"{row['standard_error']:.2f}"]
        if ordering.grades is not None:
            cells.append(f"{row['grade']} ({100 * row['grade_probability']:.0f} %)")
        if ordering.selection is not None:
            cells.append(part_in_words(ordering.selection, place))
        if ordering.study_ranks is not None:
            cells.append(rank_in_words(row["study_rank"], row["study_rank_low"], row["study_rank_high"]))
        if kinds:
            cells.append(one_line(contents.get(row["id"], {}).get(kinds[0], "")))
        table.add_row(*([one_line(row["group"])] if grouped else []), *cells)
    print_table(table)
